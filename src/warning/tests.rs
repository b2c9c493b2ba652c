//! The wording of warnings.

use super::{MAX_CHARS, Place, Warning, lines, parted, shortened};

const KEY: &str = "config.linkerd.io/proxy-uid";
const LONGEST: &str = "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout";

#[test]
fn a_line_says_where_what_and_why() {
    for (warning, expected) in [
        (
            Warning::unused(Place::Annotation(KEY), "0", "not a user id between 1 and 2147483647"),
            "config.linkerd.io/proxy-uid: \"0\" is not a user id between 1 and 2147483647",
        ),
        (
            Warning::unused(Place::NamespaceAnnotation(KEY), "", "not a user id between 1 and 2147483647"),
            "namespace's config.linkerd.io/proxy-uid: \"\" is not a user id between 1 and 2147483647",
        ),
        (
            Warning::unused_unseen(Place::Annotation("config.linkerd.io/proxy-additional-env"), "not a JSON list"),
            "config.linkerd.io/proxy-additional-env is not a JSON list",
        ),
        (Warning::plain(Place::Pod, "no label x"), "pod: no label x"),
        (Warning::plain(Place::Configuration, "values.x is y; not used"), "mesh: values.x is y; not used"),
    ] {
        assert_eq!(warning.to_string(), expected);
    }
}

#[test]
fn values_are_shown_in_quotes_and_on_one_line() {
    for (value, shown) in [
        ("a\nb", r#""a\nb""#),
        ("a\tb\u{7}", r#""a\tb\u{7}""#),
        ("say \"hi\"", r#""say \"hi\"""#),
        ("it's", r#""it's""#),
        ("a\\b", r#""a\\b""#),
        ("größe", "\"größe\""),
    ] {
        let line = Warning::unused(Place::Annotation(KEY), value, "bad").to_string();
        assert_eq!(line, format!("config.linkerd.io/proxy-uid: {shown} is bad"));
    }
}

#[test]
fn a_long_value_gives_way_to_its_problem() {
    let problem = "not a user id between 1 and 2147483647";
    let line = |length: usize| Warning::unused(Place::Annotation(KEY), &"9".repeat(length), problem).to_string();
    // 27 of the key, 8 around it and the value, 38 of the problem: 47 are left.
    assert_eq!(line(47), format!("{KEY}: \"{}\" is {problem}", "9".repeat(47)));
    assert_eq!(line(48), format!("{KEY}: \"{}…\" is {problem}", "9".repeat(46)));
    assert_eq!(line(5000), line(48));
    for length in [47, 48, 5000] {
        assert_eq!(line(length).chars().count(), MAX_CHARS);
    }
}

#[test]
fn no_line_is_longer_than_clients_show() {
    let problem = "a duration whose unit is none of ns, us, ms, s, m, h";
    let warning = Warning::unused(Place::NamespaceAnnotation(LONGEST), &"é".repeat(300), problem);
    let expected = format!("namespace's {LONGEST}: \"{}…\" is a duration whose unit is …", "é".repeat(7));
    assert_eq!(lines(&[warning]), [expected.as_str(), "… none of ns, us, ms, s, m, h"]);
    assert!(expected.chars().count() <= MAX_CHARS);
    assert_eq!(lines(&[Warning::plain(Place::Pod, "x".repeat(300))]), [format!("pod: {}…", "x".repeat(114))]);
}

#[test]
fn only_unused_annotations_of_the_object_are_invalid_annotations() {
    for (warning, expected) in [
        (Warning::unused(Place::Annotation(KEY), "x", "bad"), true),
        (Warning::unused(Place::Annotations, "x", "bad"), true),
        (Warning::unused(Place::NamespaceAnnotation(KEY), "x", "bad"), false),
        (Warning::unused(Place::NamespaceAnnotations, "x", "bad"), false),
        (Warning::unused(Place::Workload("Job"), "x", "bad"), false),
        (Warning::unused_unseen(Place::Annotation(KEY), "bad"), true),
        (Warning::unused(Place::Configuration, "x", "bad"), false),
        (Warning::plain(Place::Annotation(KEY), "so"), false),
        (Warning::plain(Place::Pod, "so"), false),
        (Warning::plain(Place::Configuration, "so"), false),
    ] {
        assert_eq!(warning.is_invalid_annotation(), expected, "{warning}");
    }
}

#[test]
fn a_long_sentence_goes_on_in_another_line() {
    let words = |count: usize| vec!["word"; count].join(" ");
    for (count, expected) in [(24, vec![24]), (25, vec![23, 2]), (46, vec![23, 23]), (47, vec![23, 23, 1])] {
        let lines = parted(&words(count));
        assert_eq!(lines.iter().map(|line| line.matches("word").count()).collect::<Vec<_>>(), expected, "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= MAX_CHARS), "{lines:?}");
        let together = lines.join("\n").replace(" …\n… ", " ");
        assert_eq!(together, words(count));
    }
    let cut = parted(&words(1000));
    assert!(cut.len() == 4 && cut.last().unwrap().ends_with('…'), "{cut:?}");
}

#[test]
fn each_warning_is_told_once_and_whole() {
    let long = |name: &str| Warning::plain(Place::Pod, format!("{name} {}", vec!["word"; 24].join(" ")));
    let told = lines(&[long("a"), long("b"), long("a")]);
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[1], told[3]);
    // There is room for one line, and not for two.
    let mut many: Vec<Warning> = (0..31).map(|n| Warning::plain(Place::Pod, n)).collect();
    many.extend([long("a"), Warning::plain(Place::Pod, "short")]);
    let told = lines(&many);
    assert_eq!((told.len(), told[31].as_str()), (32, "2 more warnings"));
}

#[test]
fn shortening_counts_characters() {
    for (text, room, expected) in
        [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("äöü", 3, "äöü"), ("äöüß", 3, "äö…"), ("ab", 1, "…"), ("", 0, "")]
    {
        assert_eq!(shortened(text, room), expected, "{text} {room}");
    }
}
