//! The table itself. What each check finds is tried on whole requests, natively and through the module.

use super::{CHECKS, Finding, Severity, worded};
use crate::warning::{MAX_CHARS, Place};
use std::collections::BTreeSet;

#[test]
fn every_check_has_its_own_name_and_sentence_and_the_worst_come_first() {
    let names: BTreeSet<&str> = CHECKS.iter().map(|check| check.name).collect();
    let sentences: BTreeSet<&str> = CHECKS.iter().map(|check| check.sentence).collect();
    assert_eq!((names.len(), sentences.len()), (CHECKS.len(), CHECKS.len()));
    assert!(CHECKS.is_sorted_by_key(|check| check.severity));
    for severity in Severity::ALL {
        assert!(CHECKS.iter().any(|check| check.severity == *severity), "{}", severity.as_str());
    }
    for check in CHECKS {
        assert!(check.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", check.name);
        assert!(check.sentence.starts_with(|c: char| c.is_ascii_lowercase() || c == '{'), "{}", check.name);
        assert!(!check.sentence.ends_with('.') && check.sentence.chars().count() + 5 <= MAX_CHARS, "{}", check.name);
        assert!(!check.reference.0.is_empty() && !check.reference.1.is_empty(), "{}", check.name);
    }
}

#[test]
fn words_stand_in_their_places() {
    let check = CHECKS.iter().find(|check| check.name == "wait-beyond-grace").unwrap();
    let warning = worded(check, Finding::new(Place::Pod, &["40", "30"]));
    let expected = "pod: the proxy waits 40 s when it is stopped, and terminationGracePeriodSeconds ends it after 30 s";
    assert_eq!(warning.to_string(), expected);
    let check = CHECKS.iter().find(|check| check.name == "unknown-annotation").unwrap();
    let warning = worded(check, Finding::of_value(Place::Annotations, "config.linkerd.io/x", &["; did you mean y"]));
    assert_eq!(warning.to_string(), "annotations: \"config.linkerd.io/x\" is unknown; did you mean y");
}

#[test]
fn a_name_gives_no_line_of_its_own() {
    let check = CHECKS.iter().find(|check| check.name == "wait-beyond-grace").unwrap();
    let warning = worded(check, Finding::new(Place::Pod, &["4\nWarning: x", "30"])).to_string();
    assert!(warning.contains(r"waits 4\nWarning: x s") && warning.lines().count() == 1, "{warning}");
}
