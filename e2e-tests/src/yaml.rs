//! Writes YAML that means the same to every reader.
//!
//! kubectl reads YAML 1.1, where `yes`, `off` or `1_000` are no strings; most libraries write YAML 1.2, where they are.
//! Here whatever could be read as something else is quoted.

use std::fmt::Write;

use serde_norway::Value;

/// A tree as a YAML document in block style.
#[must_use]
pub fn write(tree: &Value) -> String {
    let mut out = String::new();
    match tree {
        Value::Mapping(fields) if !fields.is_empty() => mapping(tree, 0, &mut out),
        Value::Sequence(items) if !items.is_empty() => sequence(items, 0, &mut out),
        scalar => {
            out.push_str(&inline(scalar, 1));
            out.push('\n');
        }
    }
    out
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Writes the fields of a mapping, each on its own line; the caller has indented the first one if it stands after a dash.
fn mapping(tree: &Value, depth: usize, out: &mut String) {
    let mut first = !out.is_empty() && !out.ends_with('\n');
    for (key, value) in tree.as_mapping().into_iter().flatten() {
        if !std::mem::take(&mut first) {
            indent(depth, out);
        }
        out.push_str(&key_text(key));
        out.push(':');
        match value {
            Value::Mapping(fields) if !fields.is_empty() => {
                out.push('\n');
                mapping(value, depth.saturating_add(1), out);
            }
            // A list stands at the depth of its key, as kubectl writes it.
            Value::Sequence(items) if !items.is_empty() => {
                out.push('\n');
                sequence(items, depth, out);
            }
            scalar => {
                let _ = writeln!(out, " {}", inline(scalar, depth.saturating_add(1)));
            }
        }
    }
}

fn sequence(items: &[Value], depth: usize, out: &mut String) {
    let mut first = !out.is_empty() && !out.ends_with('\n');
    for item in items {
        if !std::mem::take(&mut first) {
            indent(depth, out);
        }
        out.push_str("- ");
        match item {
            Value::Mapping(fields) if !fields.is_empty() => mapping(item, depth.saturating_add(1), out),
            Value::Sequence(below) if !below.is_empty() => sequence(below, depth.saturating_add(1), out),
            scalar => {
                out.push_str(&inline(scalar, depth.saturating_add(1)));
                out.push('\n');
            }
        }
    }
}

/// A scalar, or an empty collection; `depth` is that of a block's lines.
fn inline(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => block(text, depth).unwrap_or_else(|| string(text)),
        Value::Sequence(_) => "[]".to_owned(),
        Value::Mapping(_) => "{}".to_owned(),
        Value::Tagged(tagged) => format!("{} {}", tagged.tag, inline(&tagged.value, depth)),
    }
}

fn key_text(key: &Value) -> String {
    match key {
        Value::String(text) => string(text),
        other => inline(other, 0),
    }
}

/// Text of several lines as a literal block, where one can hold it.
fn block(text: &str, depth: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let fits = body.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && text.chars().all(|letter| letter == '\n' || letter == '\t' || is_printable(letter));
    if !fits {
        return None;
    }
    let chomp = match text.strip_prefix(body)? {
        "" => "-",
        "\n" => "",
        _ => "+",
    };
    let mut out = format!("|{chomp}");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            indent(depth, &mut out);
            out.push_str(line);
        }
    }
    Some(out)
}

fn string(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else if text.chars().all(is_printable) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        double_quoted(text)
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if is_printable(letter) => out.push(letter),
            letter => {
                let _ = match u32::from(letter) {
                    code @ ..=0xff => write!(out, "\\x{code:02x}"),
                    code @ ..=0xffff => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

fn is_printable(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether text is a string without quotes, for readers of YAML 1.1 too.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    // What is made of these alone may be a number or a date; a time of day may follow a date.
    let of_number = |letter: char| letter.is_ascii_hexdigit() || "xo_+-.,".contains(letter);
    // Options of a program look like a list's dash, and are none.
    let start = text.strip_prefix("--").unwrap_or(text);
    let word = start.starts_with(|letter: char| letter.is_alphabetic() || "_/$(".contains(letter))
        && !WORDS.contains(&text.to_lowercase().as_str());
    let quantity = text.starts_with(|letter: char| letter.is_ascii_digit()) && !text.chars().all(of_number) && !text.contains(':');
    (word || quantity)
        && text.chars().all(is_printable)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::case::corpus;

    fn written(value: serde_json::Value) -> String {
        write(&serde_norway::to_value(value).unwrap())
    }

    #[test]
    fn strings_that_others_read_as_something_else_are_quoted() {
        let table = [
            ("web", "web"),
            ("cr.l5d.io/linkerd/proxy:edge-26.8.1", "cr.l5d.io/linkerd/proxy:edge-26.8.1"),
            ("--ipv6=false", "--ipv6=false"),
            ("--", "'--'"),
            ("---a", "'---a'"),
            ("-a", "'-a'"),
            ("4190,4191", "'4190,4191'"),
            ("100m", "100m"),
            ("20Mi", "20Mi"),
            ("10.0.0.0/8,fd00::/8", "'10.0.0.0/8,fd00::/8'"),
            ("$(_pod_ns)", "$(_pod_ns)"),
            ("/var/run", "/var/run"),
            ("a b", "a b"),
            ("a: b", "'a: b'"),
            ("a #b", "'a #b'"),
            ("it's", "it's"),
            ("'it", "'''it'"),
            ("", "''"),
            (" a", "' a'"),
            ("yes", "'yes'"),
            ("Off", "'Off'"),
            ("y", "'y'"),
            ("~", "'~'"),
            ("null", "'null'"),
            ("1", "'1'"),
            ("1_000", "'1_000'"),
            ("0x1f", "'0x1f'"),
            ("0o7", "'0o7'"),
            ("1e3", "'1e3'"),
            ("12:30:45", "'12:30:45'"),
            ("2001-01-01", "'2001-01-01'"),
            ("2001-01-01T00:00:00Z", "'2001-01-01T00:00:00Z'"),
            (".5", "'.5'"),
            (".inf", "'.inf'"),
            ("*a", "'*a'"),
            ("<<", "'<<'"),
            ("=", "'='"),
            ("a\tb", "\"a\\tb\""),
            ("a\u{7f}\u{2028}", "\"a\\x7f\\u2028\""),
            ("{a}", "'{a}'"),
        ];
        for (text, expected) in table {
            assert_eq!(written(json!(text)), format!("{expected}\n"));
            assert_eq!(written(json!({text: 1})), format!("{expected}: 1\n"));
        }
    }

    #[test]
    fn collections_are_blocks() {
        let tree = json!({
            "a": {"b": [1, {"c": "x", "d": []}, [2, [3]], {}], "e": {}}, "f": "one\ntwo\n", "g": ["x\n\ny", "z\n\n\n", "\nn"], "h": null,
        });
        let expected = "\
a:
  b:
  - 1
  - c: x
    d: []
  - - 2
    - - 3
  - {}
  e: {}
f: |
  one
  two
g:
- |-
  x

  y
- \"z\\n\\n\\n\"
- \"\\nn\"
h: null
";
        assert_eq!(written(tree), expected);
    }

    #[test]
    fn everything_in_the_corpus_reads_back() {
        for result in corpus::linkerd().unwrap() {
            let Some(object) = result.object else {
                continue;
            };
            let tree = serde_norway::to_value(&object).unwrap();
            let back: serde_norway::Value = serde_norway::from_str(&write(&tree)).unwrap();
            assert_eq!(back, tree, "{}", result.name);
        }
        for text in ["a\nb", "a\nb\n", "a\n b\n\n\n", "a\n\tb ", "\na", " a\nb", "a\r\nb", "---\nx", "a\n---\nb", "#\n#"] {
            for tree in [json!({"k": text}), json!([text]), json!({"k": [{"l": text}]})] {
                let tree = serde_norway::to_value(tree).unwrap();
                let back: serde_norway::Value = serde_norway::from_str(&write(&tree)).unwrap();
                assert_eq!(back, tree, "{text:?}");
            }
        }
    }
}
