//! The fast reader against the full parser.

use super::read;
use crate::values::Values;
use serde_json::{Value, json};

/// The chart's default values, as a `linkerd-config` has them.
fn chart() -> Value {
    serde_json::from_str(include_str!("../../e2e-tests/conformance/chart-defaults.json")).unwrap()
}

/// All of a document.
fn read_all(text: &str) -> Option<Value> {
    let full: Value = serde_norway::from_str(text).ok()?;
    let keys: Vec<String> = full.as_object()?.keys().cloned().collect();
    read(text, keys.iter().map(String::as_str))
}

/// Whether the fast reader took the text. What it takes, the full parser reads alike, and in what is wanted of it.
fn agrees(text: &str) -> bool {
    let full = serde_norway::from_str::<Value>(text);
    let Some(wanted) = read(text, Values::paths()) else { return false };
    let full = full.unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(read_all(text), Some(full.clone()), "{text}");
    let layered = |layer: &Value| {
        let mut values = Values::default();
        (values.layer(layer), values)
    };
    assert_eq!(layered(&wanted), layered(&full), "{text}");
    true
}

#[test]
fn the_charts_values_are_read_fast() {
    let text = serde_norway::to_string(&chart()).unwrap();
    assert!(agrees(&text), "{text}");
    let wanted = read(&text, Values::paths()).unwrap();
    assert_eq!(wanted.pointer("/proxy/image"), chart().pointer("/proxy/image"));
    assert_eq!(wanted.pointer("/proxyInjector"), None, "what the injector does not read is not kept");
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
        "proxy: x\nidentity:\n- 1\n",
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
    ] {
        assert_eq!(read(text, ["a"].into_iter()), None, "{text:?}");
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

const KEYS: &[&str] = &["a", "proxy", "image", "name", "ports", "admin", "clusterDomain", "x-y/z.w", "resources", "true", "_", "1"];
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
fn what_is_not_wanted_is_not_kept() {
    let text = "a:\n  b: 1\n  c: 2\nd:\n- x\ne: |\n  text\n";
    for (paths, expected) in [
        (&["a.b"][..], json!({"a": {"b": 1}})),
        (&["a"], json!({"a": {"b": 1, "c": 2}})),
        (&["a.b.c", "d.e"], json!({"a": {"b": 1}, "d": ["x"]})),
        (&["e", "ab"], json!({"e": "text\n"})),
        (&[], json!({})),
    ] {
        assert_eq!(read(text, paths.iter().copied()), Some(expected), "{paths:?}");
    }
}
