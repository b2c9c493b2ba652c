//! Every check of the table, on what it finds and on what looks much like it, natively and through the module: the exact words, the
//! same words on the pod and at a second call.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

#[path = "checks/tries.rs"]
mod tries;
#[path = "checks/workloads.rs"]
mod workloads;

use e2e_tests::{
    artefacts,
    ask::{Answer, Ask},
    policy::{Native, Policy},
};
use linkerd_injector_policy::checks::CHECKS;
use std::collections::BTreeMap;

/// The annotation on the pod.
const WARNINGS: &str = "linkerd.io/injection-warnings";

/// One thing that is tried of a check.
pub struct Try {
    /// The check.
    pub check: &'static str,
    /// The object, and what is around it.
    pub ask: Ask,
    /// All that is said.
    pub told: &'static [&'static str],
}

/// Whether a line is one of a check: it has the words of its sentence, in their order.
fn is_of(line: &str, sentence: &str) -> bool {
    let mut rest = line;
    sentence.split("{}").filter(|part| !part.trim().is_empty()).all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        // A line that is too long for its last words has as many of them as fit.
        None => line.ends_with('…'),
    })
}

#[test]
fn each_check_finds_what_it_is_for_and_nothing_else() {
    let policies = artefacts::policies_or_skip("each_check_finds_what_it_is_for_and_nothing_else").unwrap();
    let mut seen: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (number, Try { check, ask, told }) in tries::tries().iter().enumerate() {
        let row = CHECKS.iter().find(|row| row.name == *check).unwrap_or_else(|| panic!("no check {check}"));
        let found = told.iter().any(|line| is_of(line, row.sentence));
        seen.entry(check).or_default()[usize::from(found)] += 1;
        for policy in &policies {
            let context = format!("{check}, try {number}, {}", policy.name());
            let answer = ask.of(policy.as_ref()).unwrap();
            assert!(answer.response.accepted, "{context}");
            assert_eq!(answer.warnings(), *told, "{context}");
            for line in answer.warnings() {
                assert!(line.chars().count() <= 120 && !line.contains('\n'), "{context}: {line}");
            }
            stays(policy.as_ref(), ask, &answer, &context);
        }
    }
    for row in CHECKS {
        let [without, with] = seen.get(row.name).copied().unwrap_or_default();
        assert!(with > 0 && without > 0, "{}: {with} tries find it, {without} do not", row.name);
    }
}

/// What is said stands on an injected pod, and is said again at a second call that changes nothing; a workload never changes.
fn stays(policy: &dyn Policy, ask: &Ask, answer: &Answer, context: &str) {
    if answer.object["kind"] != "Pod" {
        assert_eq!(answer.response.mutated_object, None, "{context}");
    } else if answer.is_injected() {
        let told = answer.warnings().join("\n");
        assert_eq!(answer.annotation(WARNINGS).unwrap_or_default(), told, "{context}");
    } else {
        assert_eq!(answer.annotation(WARNINGS), None, "{context}");
    }
    let again = ask.about_object(policy, &answer.object).unwrap();
    assert_eq!(again.response.mutated_object, None, "{context}: a second call");
    assert_eq!(again.warnings(), answer.warnings(), "{context}: a second call");
}

#[test]
fn warnings_that_no_longer_hold_go() {
    for policy in artefacts::policies_or_skip("warnings_that_no_longer_hold_go").unwrap() {
        let told = Ask::meshed(serde_json::json!({"config.linkerd.io/proxy-uid": "0"}), serde_json::json!({}));
        let first = told.of(policy.as_ref()).unwrap();
        let line = "config.linkerd.io/proxy-uid: \"0\" is not a user id between 1 and 2147483647";
        assert_eq!(first.annotation(WARNINGS), Some(line));
        let mut mended = first.object.clone();
        mended["metadata"]["annotations"]["config.linkerd.io/proxy-uid"] = serde_json::json!("7");
        let second = told.about_object(policy.as_ref(), &mended).unwrap();
        assert_eq!((second.annotation(WARNINGS), second.warnings()), (None, vec![]));
        // And with the whole injection, where the pod leaves the mesh.
        let mut leaving = first.object.clone();
        leaving["metadata"]["annotations"]["linkerd.io/inject"] = serde_json::json!("disabled");
        let left = told.about_object(policy.as_ref(), &leaving).unwrap();
        assert_eq!(left.annotation(WARNINGS), None);
        assert_eq!(left.names("containers"), ["app"]);
    }
}

#[test]
fn a_decision_is_one_line_in_the_log() {
    let owned = |mut ask: Ask| {
        ask.object["metadata"]["ownerReferences"] = serde_json::json!([{"kind": "StatefulSet", "name": "web", "controller": true}]);
        ask
    };
    let nothing = || serde_json::json!({});
    let rejecting = serde_json::json!({"onInvalidAnnotation": "reject"});
    for policy in artefacts::policies_or_skip("a_decision_is_one_line_in_the_log").unwrap() {
        for (ask, line) in [
            (
                owned(Ask::meshed(nothing(), nothing())),
                "INFO Pod shop/web: injected, reason enabled_at_workload, owner StatefulSet/web",
            ),
            (Ask::meshed(nothing(), nothing()), "INFO Pod shop/web: injected, reason enabled_at_workload"),
            (
                Ask::pod(nothing(), nothing()).namespace(serde_json::json!({"linkerd.io/inject": "enabled"})),
                "INFO Pod shop/web: injected, reason enabled_at_namespace",
            ),
            (
                owned(Ask::pod(nothing(), serde_json::json!({"hostNetwork": true}))),
                "INFO Pod shop/web: not injected, reason host_network_enabled, owner StatefulSet/web",
            ),
            (
                Ask::meshed(serde_json::json!({"config.linkerd.io/proxy-uid": "0"}), nothing()).settings(rejecting.clone()),
                "INFO Pod shop/web: rejected, reason invalid_annotation",
            ),
        ] {
            assert_eq!(ask.of(policy.as_ref()).unwrap().logged, [line], "{}", policy.name());
        }
    }
}

#[test]
fn a_rejection_names_every_bad_annotation_at_once() {
    let mut annotations = serde_json::Map::new();
    let keys = [
        "control-port",
        "inbound-port",
        "outbound-port",
        "admin-port",
        "proxy-uid",
        "proxy-gid",
        "proxy-await",
        "close-wait-timeout",
    ];
    for key in keys {
        annotations.insert(format!("config.linkerd.io/{key}"), serde_json::json!("x"));
    }
    for number in 0..40 {
        annotations.insert(format!("config.linkerd.io/made-up-{number:02}"), serde_json::json!("x"));
    }
    let ask = Ask::meshed(annotations.into(), serde_json::json!({})).settings(serde_json::json!({"onInvalidAnnotation": "reject"}));
    for policy in artefacts::policies_or_skip("a_rejection_names_every_bad_annotation_at_once").unwrap() {
        let response = ask.of(policy.as_ref()).unwrap().response;
        assert_eq!((response.accepted, response.code), (false, Some(422)));
        assert_eq!(response.audit("reason"), Some("invalid_annotation"));
        let message = response.message.unwrap();
        for key in keys {
            assert!(message.contains(&format!("config.linkerd.io/{key}: \"x\" is ")), "{key}: {message}");
        }
        for number in 0..40 {
            assert!(message.contains(&format!("\"config.linkerd.io/made-up-{number:02}\" is unknown")), "{number}: {message}");
        }
        assert_eq!(message.split("; ").filter(|part| part.contains("config.linkerd.io/")).count(), 48, "{message}");
    }
    // What stands on the namespace and means nothing there is somebody else's.
    let namespace = Ask::meshed(serde_json::json!({}), serde_json::json!({}))
        .namespace(serde_json::json!({"config.linkerd.io/made-up": "x"}))
        .settings(serde_json::json!({"onInvalidAnnotation": "reject"}));
    let answer = namespace.of(&Native).unwrap();
    assert_eq!(answer.warnings(), ["namespace's annotations: \"config.linkerd.io/made-up\" is unknown"]);
}
