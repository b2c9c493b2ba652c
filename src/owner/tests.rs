//! The root owner: what the pod tells alone, and what one look at its owner adds.

use super::{LABELS, Owner, direct, root};
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};

fn mk_pod(owners: &Value, hash: Option<&str>) -> Value {
    let mut pod = json!({"metadata": {"ownerReferences": owners}, "spec": {"containers": []}});
    if let Some(hash) = hash {
        pod["metadata"]["labels"] = json!({"pod-template-hash": hash});
    }
    pod
}

fn view(pod: &Value) -> Workload<'_> {
    Workload::read(Kind::Pod, pod).unwrap()
}

fn named(kind: &str, name: &str) -> Owner {
    Owner { kind: kind.to_owned(), name: name.to_owned() }
}

fn one(kind: &str, name: &str) -> Value {
    json!([{"kind": kind, "name": name}])
}

/// The root owner, with the owners that were asked for.
fn ask(pod: &Value, answer: Option<&Value>) -> (Option<Owner>, Vec<Owner>) {
    let mut asked = Vec::new();
    let found = root(&view(pod), &mut |owner| {
        asked.push(owner.clone());
        answer.map(|references| references.as_array().unwrap().clone())
    });
    (found, asked)
}

#[test]
fn the_controller_counts_among_several() {
    for (references, expected) in [
        (json!(null), None),
        (json!([]), None),
        (one("StatefulSet", "db"), Some(named("StatefulSet", "db"))),
        (json!([{"kind": "Job", "name": "a", "controller": false}]), Some(named("Job", "a"))),
        (json!([{"kind": "Job", "name": "a"}, {"kind": "Job", "name": "b"}]), None),
        (json!([{"kind": "Job", "name": "a"}, {"kind": "Job", "name": "b", "controller": true}]), Some(named("Job", "b"))),
        (json!([{"kind": "Job", "name": "a", "controller": true}, {"kind": "Job", "name": "b"}]), Some(named("Job", "a"))),
        (json!([{"kind": "Job", "name": "a", "controller": "true"}, {"kind": "Job", "name": "b"}]), None),
        (json!([{"kind": "", "name": "a"}]), None),
        (json!([{"kind": "Job", "name": ""}]), None),
        (json!([{"kind": "Job"}]), None),
        (json!([{"kind": 1, "name": "a"}]), None),
        (json!(["Job"]), None),
        (json!("Job"), None),
    ] {
        assert_eq!(direct(&view(&mk_pod(&references, None))), expected, "{references}");
    }
}

#[test]
fn other_kinds_are_not_asked_for() {
    for kind in ["DaemonSet", "StatefulSet", "ReplicationController", "Deployment", "Node", "Widget", "job", "replicaset"] {
        let (found, asked) = ask(&mk_pod(&one(kind, "a"), None), Some(&one("Deployment", "b")));
        assert_eq!((found, asked), (Some(named(kind, "a")), vec![]), "{kind}");
    }
    let (found, asked) = ask(&mk_pod(&json!([]), Some("5d4f")), Some(&one("Deployment", "b")));
    assert_eq!((found, asked), (None, vec![]));
}

#[test]
fn a_replica_set_named_as_deployments_name_them_is_not_asked_for() {
    for (replica_set, hash, deployment) in [
        ("web-5d4f", Some("5d4f"), Some("web")),
        ("web-api-5d4f", Some("5d4f"), Some("web-api")),
        ("5d4f-5d4f", Some("5d4f"), Some("5d4f")),
        ("web-a-b", Some("a-b"), Some("web")),
        ("web-5d4f", Some("4f"), None),
        ("web-5d4f", Some("other"), None),
        ("web-5d4f", Some(""), None),
        ("web-", Some(""), None),
        ("web-5d4f", None, None),
        ("5d4f", Some("5d4f"), None),
        ("-5d4f", Some("5d4f"), None),
        ("web5d4f", Some("5d4f"), None),
    ] {
        let pod = mk_pod(&one("ReplicaSet", replica_set), hash);
        let (found, asked) = ask(&pod, Some(&one("StatefulSet", "asked")));
        let expected = match deployment {
            Some(name) => (Some(named("Deployment", name)), vec![]),
            None => (Some(named("StatefulSet", "asked")), vec![named("ReplicaSet", replica_set)]),
        };
        assert_eq!((found, asked), expected, "{replica_set} {hash:?}");
    }
    let (found, asked) = ask(&mk_pod(&one("Job", "web-5d4f"), Some("5d4f")), None);
    assert_eq!((found, asked), (Some(named("Job", "web-5d4f")), vec![named("Job", "web-5d4f")]));
}

#[test]
fn replica_sets_and_jobs_are_asked_once_for_their_owner() {
    let two = json!([{"kind": "Deployment", "name": "a"}, {"kind": "Deployment", "name": "b", "controller": true}]);
    for (kind, references, parent) in [
        ("ReplicaSet", Some(one("Deployment", "web")), Some(named("Deployment", "web"))),
        ("ReplicaSet", Some(one("deployment", "web")), Some(named("deployment", "web"))),
        ("ReplicaSet", Some(one("StatefulSet", "web")), Some(named("StatefulSet", "web"))),
        ("ReplicaSet", Some(one("DaemonSet", "web")), Some(named("DaemonSet", "web"))),
        ("ReplicaSet", Some(one("Job", "web")), Some(named("Job", "web"))),
        ("ReplicaSet", Some(one("Rollout", "web")), None),
        ("ReplicaSet", Some(one("CronJob", "web")), None),
        ("ReplicaSet", Some(json!([])), None),
        ("ReplicaSet", Some(two.clone()), None),
        ("ReplicaSet", Some(json!([{"kind": "Deployment"}])), None),
        ("ReplicaSet", None, None),
        ("Job", Some(one("CronJob", "nightly")), Some(named("CronJob", "nightly"))),
        ("Job", Some(one("Workflow", "build")), Some(named("Workflow", "build"))),
        ("Job", Some(json!([])), None),
        ("Job", Some(two), None),
        ("Job", None, None),
    ] {
        let (found, asked) = ask(&mk_pod(&one(kind, "own-1"), None), references.as_ref());
        let expected = parent.unwrap_or_else(|| named(kind, "own-1"));
        assert_eq!((found, asked), (Some(expected), vec![named(kind, "own-1")]), "{kind} {references:?}");
    }
}

#[test]
fn labels_go_by_kind_in_any_case() {
    for (kind, label) in [
        ("CronJob", Some("linkerd.io/proxy-cronjob")),
        ("DaemonSet", Some("linkerd.io/proxy-daemonset")),
        ("Deployment", Some("linkerd.io/proxy-deployment")),
        ("deployment", Some("linkerd.io/proxy-deployment")),
        ("Job", Some("linkerd.io/proxy-job")),
        ("ReplicaSet", Some("linkerd.io/proxy-replicaset")),
        ("ReplicationController", Some("linkerd.io/proxy-replicationcontroller")),
        ("StatefulSet", Some("linkerd.io/proxy-statefulset")),
        ("Pod", None),
        ("Node", None),
        ("Rollout", None),
        ("", None),
    ] {
        assert_eq!(named(kind, "a").label(), label, "{kind}");
    }
    assert_eq!(LABELS.len(), 7);
}
