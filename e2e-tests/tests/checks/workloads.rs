//! Workloads: their authors are told in advance what their pods would be told, and nothing changes.

use e2e_tests::{artefacts, ask::Ask};
use serde_json::{Value, json};

const KINDS: [&str; 6] = ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Job", "CronJob"];

fn enabled() -> Value {
    json!({"linkerd.io/inject": "enabled"})
}

fn bad() -> Value {
    json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-uid": "0", "config.linkerd.io/proxy-cpu-limts": "1"})
}

const TOLD: &[&str] = &[
    "config.linkerd.io/proxy-uid: \"0\" is not a user id between 1 and 2147483647",
    "annotations: \"config.linkerd.io/proxy-cpu-limts\" is unknown; did you mean proxy-cpu-limit",
];

#[test]
fn every_kind_is_told_what_its_pods_are() {
    for policy in artefacts::policies_or_skip("every_kind_is_told_what_its_pods_are").unwrap() {
        assert_eq!(Ask::pod(bad(), json!({})).of(policy.as_ref()).unwrap().warnings(), TOLD);
        for kind in KINDS {
            for operation in ["CREATE", "UPDATE"] {
                let context = format!("{kind} {operation} {}", policy.name());
                let answer = Ask::workload(kind, json!({}), bad(), json!({})).operation(operation).of(policy.as_ref()).unwrap();
                assert_eq!((answer.response.accepted, answer.warnings()), (true, TOLD.to_vec()), "{context}");
                assert_eq!(answer.response.mutated_object, None, "{context}");
                let audit = (answer.response.audit("injected"), answer.response.audit("reason"));
                assert_eq!(audit, (Some("false"), Some("workload_checked")), "{context}");
                assert_eq!(answer.logged, Vec::<String>::new(), "{context}");
            }
        }
    }
}

#[test]
fn a_rejecting_policy_tells_the_author_and_rejects_the_pods() {
    let rejecting = json!({"onInvalidAnnotation": "reject"});
    for policy in artefacts::policies_or_skip("a_rejecting_policy_tells_the_author_and_rejects_the_pods").unwrap() {
        let answer =
            Ask::workload("Deployment", json!({}), bad(), json!({})).settings(rejecting.clone()).of(policy.as_ref()).unwrap();
        assert_eq!((answer.response.accepted, answer.warnings()), (true, TOLD.to_vec()));
        let pod = Ask::pod(bad(), json!({})).settings(rejecting.clone()).of(policy.as_ref()).unwrap();
        assert_eq!((pod.response.accepted, pod.response.code), (false, Some(422)));
        assert_eq!(pod.response.message, Some(format!("linkerd-injector-policy: {}", TOLD.join("; "))));
    }
}

#[test]
fn nothing_is_said_where_nobody_asked_or_nobody_reads() {
    let annotations = json!({"config.linkerd.io/proxy-uid": "0", "config.linkerd.io/proxy-cpu-limts": "1"});
    let owned = |kind: &'static str| {
        Ask::workload(kind, json!({"ownerReferences": [{"kind": "X", "name": "x", "controller": true}]}), bad(), json!({}))
    };
    let ignoring = json!({"workloads": "ignore"});
    for policy in artefacts::policies_or_skip("nothing_is_said_where_nobody_asked_or_nobody_reads").unwrap() {
        for kind in KINDS {
            let not_asked = Ask::workload(kind, json!({}), annotations.clone(), json!({}));
            let refusing = json!({"linkerd.io/inject": "disabled", "config.linkerd.io/proxy-uid": "0"});
            for (ask, reason) in [
                (not_asked, "injection_enable_annotation_absent"),
                (Ask::workload(kind, json!({}), refusing, json!({})).namespace(enabled()), "injection_disable_annotation_present"),
                (Ask::workload(kind, json!({}), bad(), json!({})).settings(ignoring.clone()), "workloads_ignored"),
                (Ask::workload(kind, json!({}), bad(), json!({})).operation("DELETE"), "operation_not_handled"),
            ] {
                let answer = ask.of(policy.as_ref()).unwrap();
                let context = format!("{kind} {reason} {}", policy.name());
                assert_eq!((answer.response.accepted, answer.warnings()), (true, vec![]), "{context}");
                assert_eq!((&answer.response.mutated_object, answer.response.audit("reason")), (&None, Some(reason)), "{context}");
            }
        }
        for (kind, reason, lines) in [
            ("ReplicaSet", "owned_workload_not_handled", 0),
            ("Job", "owned_workload_not_handled", 0),
            ("Deployment", "workload_checked", 2),
        ] {
            let answer = owned(kind).of(policy.as_ref()).unwrap();
            assert_eq!((answer.response.audit("reason"), answer.warnings().len()), (Some(reason), lines), "{kind}");
        }
        // The template of a pod in a ReplicationController, and what is no template, are left to the API server.
        let broken = Ask::about("Deployment", json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": []}}));
        assert_eq!(broken.of(policy.as_ref()).unwrap().warnings(), Vec::<&str>::new());
    }
}

#[test]
fn the_author_hears_of_a_mesh_that_cannot_be_read() {
    for policy in artefacts::policies_or_skip("the_author_hears_of_a_mesh_that_cannot_be_read").unwrap() {
        let elsewhere = json!({"controlPlaneNamespace": "none"});
        let asked = Ask::workload("Deployment", json!({}), enabled(), json!({})).settings(elsewhere.clone());
        let answer = asked.of(policy.as_ref()).unwrap();
        let error = "ConfigMap none/linkerd-config not found: create it, or correct controlPlaneNamespace";
        assert_eq!(
            answer.warnings(),
            [
                "Deployment: its pods cannot be injected: ConfigMap none/linkerd-config not found: create it, or correct …",
                "… controlPlaneNamespace",
            ]
        );
        assert_eq!(answer.logged, [format!("WARNING Deployment not checked: {error}")]);
        assert!(answer.response.accepted);
        let not_asked = Ask::workload("Deployment", json!({}), json!({}), json!({})).settings(elsewhere);
        assert_eq!(not_asked.of(policy.as_ref()).unwrap().warnings(), Vec::<&str>::new());
    }
}

#[test]
fn the_token_of_pods_to_come_is_not_missed() {
    let values = json!({"identity": {"serviceAccountTokenProjection": false}});
    for policy in artefacts::policies_or_skip("the_token_of_pods_to_come_is_not_missed").unwrap() {
        let told = |spec: Value| {
            let ask = Ask::workload("StatefulSet", json!({}), enabled(), spec).values(values.clone());
            ask.of(policy.as_ref()).unwrap().warnings().into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(told(json!({})), Vec::<String>::new());
        let refusing = told(json!({"automountServiceAccountToken": false}));
        assert_eq!(
            refusing,
            ["pod: asks for the mesh and stays out: the pod mounts no service account token, and token projection is off"]
        );
    }
}
