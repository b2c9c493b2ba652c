//! Linkerd's rewriting, done and undone.

use super::*;

#[test]
fn trailing_commas_as_linkerd_takes_them_away() {
    for (text, rewritten) in [
        ("a},]b", "a}\n]b"),
        ("{}, \t\n]", "{}\n]"),
        ("},},]", "},}\n]"),
        ("}, x]", "}, x]"),
        ("},]{},]", "}\n]{}\n]"),
        ("plain", "plain"),
    ] {
        assert_eq!(without_commas(text), rewritten, "{text:?}");
    }
    assert_eq!(mangled("[{\"a\":1},]"), "[{\"a\":1}\n]");
    assert_eq!(mangled("{},\n]"), "{},\n]");
}

#[test]
fn line_breaks_are_escaped_inside_of_strings_only() {
    assert_eq!(escaped_line_breaks("{\n\"a\": \"b}\n]\\\"\n\"\n}"), "{\n\"a\": \"b}\\n]\\\"\\n\"\n}");
}

#[test]
fn names_that_yaml_reads_as_something_else() {
    for (text, other) in
        [("on", true), ("123", true), ("1e3", true), ("null", true), ("linkerd", false), ("e1", false), ("1-2", false)]
    {
        assert_eq!(is_no_yaml_text(text), other, "{text:?}");
    }
}

#[test]
fn disguises_come_off() {
    let hidden: String = "a\nb\x7f".chars().map(|c| if c.is_control() { disguised(c) } else { c }).collect();
    assert!(!hidden.contains(char::is_control));
    assert_eq!(undisguised(&hidden), "a\nb\x7f");
}
