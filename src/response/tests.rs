//! The exact bytes of every answer.

use super::{AskedBy, NotOurs, Outcome, respond, respond_to_settings};
use crate::decide::SkipReason;
use crate::settings::{OnError, SettingsError, SettingsErrors, Source};
use crate::warning::{Place, Warning};
use serde_json::json;
use std::collections::BTreeSet;

fn mk_warning(value: &str) -> Warning {
    Warning::unused(Place::Annotation("config.linkerd.io/proxy-uid"), value, "bad")
}

fn text(outcome: Outcome) -> String {
    String::from_utf8(respond(outcome)).unwrap()
}

#[test]
fn every_answer_is_these_bytes() {
    let error = || "Namespace shop not found".to_owned();
    for (outcome, expected) in [
        (
            Outcome::Injected {
                object: Some(json!({"b": 1, "a": null}).into()),
                asked_by: AskedBy::Pod,
                proxy_version: "edge-26.8.1".to_owned(),
                source: Source::Cluster,
                warnings: vec![],
            },
            r#"{"accepted":true,"mutated_object":{"a":null,"b":1},"audit_annotations":{"config-source":"cluster","injected":"true","proxy-version":"edge-26.8.1","reason":"enabled_at_workload"}}"#,
        ),
        (
            Outcome::Injected {
                object: None,
                asked_by: AskedBy::Namespace,
                proxy_version: "v".to_owned(),
                source: Source::Settings,
                warnings: vec![mk_warning("0")],
            },
            r#"{"accepted":true,"audit_annotations":{"config-source":"settings","injected":"true","proxy-version":"v","reason":"enabled_at_namespace"},"warnings":["config.linkerd.io/proxy-uid: \"0\" is bad"]}"#,
        ),
        (
            Outcome::Annotated { object: Some(json!({})), reasons: vec![SkipReason::UnsupportedResource], warnings: vec![] },
            r#"{"accepted":true,"mutated_object":{},"audit_annotations":{"injected":"false","reason":"unsupported_resource"}}"#,
        ),
        (
            Outcome::Skipped { object: None, reasons: vec![SkipReason::HostNetwork, SkipReason::Disabled], warnings: vec![] },
            r#"{"accepted":true,"audit_annotations":{"injected":"false","reason":"host_network_enabled,injection_disable_annotation_present"}}"#,
        ),
        (
            Outcome::Skipped {
                object: Some(json!({"was": "injected"})),
                reasons: vec![SkipReason::InvalidAtWorkload],
                warnings: vec![mk_warning("a"), mk_warning("b")],
            },
            r#"{"accepted":true,"mutated_object":{"was":"injected"},"audit_annotations":{"injected":"false","reason":"invalid_inject_annotation_at_workload"},"warnings":["config.linkerd.io/proxy-uid: \"a\" is bad","config.linkerd.io/proxy-uid: \"b\" is bad"]}"#,
        ),
        (
            Outcome::Checked { reasons: vec![], warnings: vec![mk_warning("a")] },
            r#"{"accepted":true,"audit_annotations":{"injected":"false","reason":"workload_checked"},"warnings":["config.linkerd.io/proxy-uid: \"a\" is bad"]}"#,
        ),
        (
            Outcome::Checked { reasons: vec![SkipReason::NotEnabled], warnings: vec![] },
            r#"{"accepted":true,"audit_annotations":{"injected":"false","reason":"injection_enable_annotation_absent"}}"#,
        ),
        (
            Outcome::NotOurs(NotOurs::Kind),
            r#"{"accepted":true,"audit_annotations":{"injected":"false","reason":"kind_not_handled"}}"#,
        ),
        (
            Outcome::Invalid(vec![mk_warning("a"), mk_warning("b")]),
            r#"{"accepted":false,"message":"linkerd-injector-policy: config.linkerd.io/proxy-uid: \"a\" is bad; config.linkerd.io/proxy-uid: \"b\" is bad","code":422,"audit_annotations":{"injected":"false","reason":"invalid_annotation"}}"#,
        ),
        (
            Outcome::Failed { error: error(), on_error: OnError::Reject },
            r#"{"accepted":false,"message":"linkerd-injector-policy: Namespace shop not found","code":500,"audit_annotations":{"injected":"false","reason":"error"}}"#,
        ),
        (
            Outcome::Failed { error: error(), on_error: OnError::Skip },
            r#"{"accepted":true,"audit_annotations":{"injected":"false","reason":"error"},"warnings":["not injected: Namespace shop not found"]}"#,
        ),
    ] {
        assert_eq!(text(outcome), expected);
    }
}

#[test]
fn warnings_keep_their_order_and_come_once() {
    let warnings = ["b", "a", "b", "c", "a"].map(mk_warning).to_vec();
    let answer = text(Outcome::Skipped { object: None, reasons: vec![SkipReason::NotEnabled], warnings });
    let expected = r#"{"accepted":true,"audit_annotations":{"injected":"false","reason":"injection_enable_annotation_absent"},"warnings":["config.linkerd.io/proxy-uid: \"b\" is bad","config.linkerd.io/proxy-uid: \"a\" is bad","config.linkerd.io/proxy-uid: \"c\" is bad"]}"#;
    assert_eq!(answer, expected);
}

#[test]
fn the_object_comes_back_with_every_digit() {
    let object: serde_json::Value =
        serde_json::from_str(r#"{"z":[18446744073709551615,0.30000000000000004,"ü\u0007"],"a":{}}"#).unwrap();
    let answer = text(Outcome::Annotated { object: Some(object), reasons: vec![], warnings: vec![] });
    let expected = r#"{"accepted":true,"mutated_object":{"a":{},"z":[18446744073709551615,0.30000000000000004,"ü\u0007"]},"audit_annotations":{"injected":"false","reason":""}}"#;
    assert_eq!(answer, expected);
}

#[test]
fn an_error_that_is_let_through_stays_a_short_line() {
    let error = "x".repeat(1000);
    let answer: serde_json::Value = serde_json::from_str(&text(Outcome::Failed { error, on_error: OnError::Skip })).unwrap();
    assert_eq!(answer["warnings"], json!([format!("not injected: {}…", "x".repeat(105))]));
}

#[test]
fn every_object_that_is_not_ours_has_its_own_word_and_a_short_sentence() {
    let words: BTreeSet<_> = NotOurs::ALL.iter().map(|n| n.as_str()).collect();
    let sentences: BTreeSet<_> = NotOurs::ALL.iter().map(ToString::to_string).collect();
    assert_eq!((words.len(), sentences.len()), (NotOurs::ALL.len(), NotOurs::ALL.len()));
    for sentence in sentences {
        assert!(sentence.chars().count() <= 120, "{sentence}");
        assert!(sentence.starts_with(|c: char| c.is_ascii_lowercase()), "{sentence}");
        assert!(!sentence.ends_with('.'), "{sentence}");
    }
    for (why, word) in [
        (NotOurs::Kind, "kind_not_handled"),
        (NotOurs::SubResource, "subresource_not_handled"),
        (NotOurs::Operation, "operation_not_handled"),
        (NotOurs::NoObject, "no_object"),
        (NotOurs::WorkloadsIgnored, "workloads_ignored"),
        (NotOurs::OwnedWorkload, "owned_workload_not_handled"),
    ] {
        let expected = format!(r#"{{"accepted":true,"audit_annotations":{{"injected":"false","reason":"{word}"}}}}"#);
        assert_eq!(text(Outcome::NotOurs(why)), expected);
    }
}

#[test]
fn settings_are_valid_or_all_their_faults_are_named() {
    let faults = SettingsErrors(vec![SettingsError::NotAnObject, SettingsError::Conflict("two things")]);
    for (checked, expected) in [
        (Ok(()), r#"{"valid":true,"message":null}"#),
        (Err(faults), r#"{"valid":false,"message":"the settings are not an object; two things"}"#),
    ] {
        assert_eq!(String::from_utf8(respond_to_settings(&checked)).unwrap(), expected);
    }
}

#[test]
fn no_more_lines_than_clients_show() {
    for (many, last) in [(32, "config.linkerd.io/proxy-uid: \"31\" is bad"), (33, "1 more warnings"), (40, "8 more warnings")] {
        let warnings: Vec<Warning> = (0..many).chain(0..5).map(|n| mk_warning(&n.to_string())).collect();
        let answer: serde_json::Value =
            serde_json::from_str(&text(Outcome::Skipped { object: None, reasons: vec![], warnings })).unwrap();
        let lines = answer["warnings"].as_array().unwrap();
        assert_eq!((lines.len(), lines.last().unwrap()), (many.min(33), &json!(last)));
    }
}
