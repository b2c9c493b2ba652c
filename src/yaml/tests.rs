//! The fast reader against the full parser.

use super::{blanks, letters_of_keys, plain, read, run};
use crate::values::Values;
use serde_json::{Value, json};

/// The chart's default values, as a `linkerd-config` has them.
fn chart() -> Value {
    serde_json::from_str(include_str!("../../e2e-tests/conformance/chart-defaults.json")).unwrap()
}

/// A text as JSON has it, from behind its quote on.
fn escaped(text: &str) -> String {
    Value::from(text).to_string().split_off(1)
}

/// What stands at some paths, as values.
fn at(text: &str, paths: &[&str]) -> Option<Vec<Option<Value>>> {
    let escaped = escaped(text);
    let (found, behind) = read(&escaped, paths)?;
    assert_eq!(behind, "\"");
    Some(found.into_iter().map(|node| node.map(Value::from)).collect())
}

/// Whether the fast reader took the text. What it takes, the full parser reads alike, and in what is wanted of it.
fn agrees(text: &str) -> bool {
    let full = serde_norway::from_str::<Value>(text);
    let escaped = escaped(text);
    let Some((wanted, _)) = read(&escaped, Values::PATHS) else { return false };
    let full = full.unwrap_or_else(|error| panic!("{error}: {text}"));
    // A path has dots between its steps alone.
    let fields = full.as_object().unwrap().iter().filter(|(key, _)| !key.contains('.'));
    let (keys, all): (Vec<&str>, Vec<Option<Value>>) = fields.map(|(key, value)| (key.as_str(), Some(value.clone()))).unzip();
    // What is read otherwise when it is wanted: escapes in a literal block that nobody wants are nobody's matter.
    if let Some(found) = at(text, &keys) {
        assert_eq!(found, all, "{text}");
    } else {
        assert!(text.contains('|') && text.contains(['"', '\\']), "{text}");
    }
    let (mut put, mut layered) = (Values::default(), Values::default());
    assert_eq!((put.put(&wanted), put), (layered.layer(&full), layered), "{text}");
    true
}

#[test]
fn the_charts_values_are_read_fast() {
    let text = serde_norway::to_string(&chart()).unwrap();
    assert!(agrees(&text), "{text}");
    let wanted = at(&text, Values::PATHS).unwrap();
    for (path, found) in Values::PATHS.iter().zip(wanted) {
        assert_eq!(found.as_ref(), chart().pointer(&format!("/{}", path.replace('.', "/"))), "{path}");
    }
}

#[test]
fn what_is_read_fast() {
    for text in [
        "a: 1\n",
        "a:\n",
        "a: x\nb:\n  c: true\n  d: null\ne: {}\nf: []\n",
        "a:\n- 1\n- x\nb:\n  - c: 1\n    d:\n    - e\n  - f: 2\n",
        "a: \"\"\nb: ''\nc: \"x: y # z\"\nd: '{{ x }}'\n",
        "a: |\n  one\n    two\n\n  three\nb: |-\n  x\n",
        "a:\n  b: |\n    x\n\n\nc: 1\n",
        "a: 10.0.0.0/8,fd00::/8\nb: 100ms\nc: 20Mi\nd: 127.0.0.1\ne: 1.1.1.1:80\nf: -1\ng: 0\nh: 999999999999999999\n",
        "a: 1\na: 2\n",
        "true: x\nnull: y\n",
        "a: yes\nb: off\nc:\n- ::/0\nd: ::1\n",
        "proxy:\nidentity: {}\n",
        "proxy.uid: 1\nproxy-: 2\nproxy:\n  uid.x: 3\n",
        "proxy:\n  uid: 1\n  gid: 2\nproxy:\n  uid: 3\n",
    ] {
        assert!(agrees(text), "{text}");
    }
}

#[test]
fn what_is_left_to_the_full_parser() {
    for text in [
        "",
        "\n",
        "a",
        "a: 1",
        "- 1\n",
        " a: 1\n",
        "a: 1\n\nb: 2\n",
        "# x\na: 1\n",
        "a: 1 # x\n",
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: {b: 1}\n",
        "a: [1]\n",
        "a: >\n  x\n",
        "a: |+\n  x\n",
        "a: |2\n    x\n",
        "a: |\n\n  x\n",
        "a: |\n",
        "a: \"\\n\"\n",
        "a: 'it''s'\n",
        "a: x\n  y\n",
        "a:\n  x\n",
        "a: 0x1F\n",
        "a: 0o7\n",
        "a: 1e3\n",
        "a: 1.5\n",
        "a: .5\n",
        "a: +1\n",
        "a: 012\n",
        "a: -0\n",
        "a: 1_000\n",
        "a: ~\n",
        "a: b: c\n",
        "a: b:\n",
        "a:  1\n",
        "a: 1 \n",
        "a: \u{e9}\n",
        "a: \t1\n",
        "a: 1\r\n",
        "? a\n: 1\n",
        "\"a\": 1\n",
        "<<: 1\n",
        "---\na: 1\n",
        "a: 1\n...\n",
        "a:\n- - 1\n",
        "a:\n-\n",
        "a:\n  b: 1\n c: 2\n",
        "a: 1\n- 2\n",
        "a:\n- |\n  x\n",
        "a: @x\n",
        "a: %x\n",
        "a: `x\n",
        "a: - x\n",
        "a: ? x\n",
        "a: 365d\n",
        "a: 18446744073709551615\n",
        "a: it \"is\"\n",
        "a: 'it \"is\"'\n",
        "a: \"it's\"\n",
        "a: x\\y\n",
        "a: |\n  \"x\"\n",
        "a: x\u{7f}\n",
    ] {
        assert_eq!(at(text, &["a"]), None, "{text:?}");
    }
}

/// Numbers that look like chance, and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap().checked_rem(bound).unwrap()
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const KEYS: &[&str] = &[
    "a",
    "proxy.uid",
    "uid",
    "proxy",
    "image",
    "name",
    "ports",
    "admin",
    "clusterDomain",
    "x-y/z.w",
    "resources",
    "true",
    "_",
    "1",
];
const SCALARS: &[&str] = &[
    "x",
    "1",
    "0",
    "-1",
    "true",
    "null",
    "~",
    "\"\"",
    "\"q\"",
    "'q'",
    "{}",
    "[]",
    "10.0.0.0/8",
    "5s",
    "0x1F",
    "1e3",
    "1.5",
    ".5",
    "+1",
    "012",
    "a b",
    "a #b",
    "a: b",
    "*x",
    "&x 1",
    "!t 1",
    "|",
    ">",
    "-",
    "- x",
    "@",
    "it's",
    "\"a\\n\"",
    "'a''b'",
    "1.2.3",
    "-.inf",
    "No",
    "x:y",
    "",
    " ",
];
const LINES: &[&str] = &["", " ", "# c", "---", "...", "? k", ": v", "- - 1", "text", "\tx", "key : v", "'q': 1", "%TAG"];

/// A document of some lines, mostly right.
fn document(dice: &mut Dice) -> String {
    let (mut text, mut indent) = (String::new(), 0_usize);
    for _ in 0..=dice.below(9) {
        indent = match dice.below(6) {
            0 => indent.saturating_sub(2),
            1 => 0,
            2 => dice.below(7),
            _ => indent,
        };
        text.push_str(&" ".repeat(indent));
        match dice.below(12) {
            0 => text.push_str(dice.pick(LINES)),
            1 => text.push_str(&format!("- {}", dice.pick(SCALARS))),
            2 => text.push_str(&format!("- {}: {}", dice.pick(KEYS), dice.pick(SCALARS))),
            3 => {
                text.push_str(&format!("{}: |{}\n{}  block", dice.pick(KEYS), dice.pick(&["", "-", "+", "2"]), " ".repeat(indent)))
            }
            4 | 5 => {
                text.push_str(&format!("{}:", dice.pick(KEYS)));
                indent = indent.saturating_add(dice.below(2).saturating_mul(2));
            }
            _ => text.push_str(&format!("{}: {}", dice.pick(KEYS), dice.pick(SCALARS))),
        }
        text.push_str(if dice.below(40) == 0 { "" } else { "\n" });
    }
    text
}

#[test]
fn documents_by_chance_are_read_alike_or_left_alone() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let taken = (0..30_000).filter(|_| agrees(&document(&mut dice))).count();
    assert!(taken > 1_000, "only {taken} were read");
}

#[test]
fn the_charts_values_with_mistakes_are_read_alike_or_left_alone() {
    const LETTERS: &[&str] = &[
        " ", "  ", "\n", ":", ": ", "- ", "#", " #", "|", ">", "'", "\"", "{", "}", "[", "]", "&", "*", "!", "~", "\t", "x", "0",
        ".", "",
    ];
    let text = serde_norway::to_string(&chart()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let mut taken = 0;
    for _ in 0..10_000 {
        // Some lines in a row from the beginning of a part, with one or two changes.
        let starts: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].starts_with([' ', '-'])).collect();
        let from = starts[dice.below(starts.len())];
        let mut part = lines[from..lines.len().min(from + 1 + dice.below(20))].join("\n") + "\n";
        for _ in 0..=dice.below(2) {
            let at = dice.below(part.len());
            let until = part.len().min(at + dice.below(3));
            part.replace_range(at..until, dice.pick(LETTERS));
        }
        taken += usize::from(agrees(&part));
    }
    assert!(taken > 1_000, "only {taken} were read");
}

#[test]
fn what_stands_at_a_path() {
    let text = "a:\n  b: 1\n  c: 2\nd:\n- x\ne: |\n  text\nf:\ng: {}\nb: \"\"\n";
    for (paths, expected) in [
        (&["a.b"][..], vec![Some(json!(1))]),
        (&["a"], vec![Some(json!({"b": 1, "c": 2}))]),
        (&["d", "e", "ab"], vec![Some(json!(["x"])), Some(json!("text\n")), None]),
        (
            &["a.c", "a.x", "b", "f.a", "f.b.c", "g.a"],
            vec![Some(json!(2)), None, Some(json!("")), Some(json!(null)), Some(json!(null)), None],
        ),
        (&[], vec![]),
    ] {
        assert_eq!(at(text, paths), Some(expected), "{paths:?}");
    }
    // What is no mapping where a path leads through.
    for paths in [["a.b.c"], ["d.e"], ["e.x"], ["b.x"]] {
        assert_eq!(at(text, &paths), None, "{paths:?}");
    }
    // The last of two holds, with all that is in it.
    assert_eq!(at("a:\n  b: 1\n  c: 2\na:\n  c: 3\n", &["a.b", "a.c"]), Some(vec![None, Some(json!(3))]));
    assert_eq!(at("a:\n  b: 1\na: {}\n", &["a.b"]), Some(vec![None]));
}

#[test]
fn how_far_bytes_are_of_one_kind() {
    type Kind = (fn(u64) -> u64, fn(u8) -> bool);
    let kinds: [Kind; 3] = [
        (blanks, |byte| byte == b' '),
        (plain, |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'),
        (letters_of_keys, |byte| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte)),
    ];
    for (marks, is_of_kind) in kinds {
        let of_kind: Vec<u8> = (0..=u8::MAX).filter(|byte| is_of_kind(*byte)).collect();
        for length in 0..20 {
            let start: Vec<u8> = of_kind.iter().cycle().skip(length * 7).take(length).copied().collect();
            assert_eq!(run(&start, marks), length, "{start:?}");
            for odd in (0..=u8::MAX).filter(|byte| !is_of_kind(*byte)) {
                for behind in [&[][..], &of_kind, &[odd, of_kind[0], odd], &[0xff; 9]] {
                    assert_eq!(run(&[&start, &[odd][..], behind].concat(), marks), length, "{start:?} {odd}");
                }
            }
        }
        for byte in of_kind {
            assert_eq!(run(&[byte; 17], marks), 17, "{byte}");
        }
    }
}
