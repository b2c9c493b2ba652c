//! Annotations and labels.

use super::{Owner, mk_pod, plain, rendered, rendered_in, rendered_of};
use crate::render::owner_label_warning;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HASH: &str = "8cf58b0c51ee3e89cba4df4e91a646615adf6925331a8d3cb9eb3a38062e2ebf";

fn owner(kind: &str, name: &str) -> Owner {
    Owner { kind: kind.to_owned(), name: name.to_owned() }
}

#[test]
fn annotations_say_who_what_version_and_which_anchors() {
    let patch = rendered(json!({"linkerdVersion": "v1"}), &plain());
    let keys: Vec<_> = patch.annotations.keys().copied().collect();
    assert_eq!(keys, ["linkerd.io/created-by", "linkerd.io/proxy-version", "linkerd.io/trust-root-sha256"]);
    assert_eq!(patch.annotations["linkerd.io/created-by"], concat!("linkerd-injector-policy ", env!("CARGO_PKG_VERSION")));
    assert_eq!(patch.annotations["linkerd.io/proxy-version"], "v1");
    assert_eq!(patch.annotations["linkerd.io/trust-root-sha256"], HASH);
    // A version that is not used is not named either.
    for (text, expected) in [("v9", "v9"), ("", "v1"), ("a b", "v1")] {
        let pod = mk_pod(json!({"config.linkerd.io/proxy-version": text}), json!({}));
        let patch = rendered(json!({"linkerdVersion": "v1"}), &pod);
        assert_eq!(patch.annotations["linkerd.io/proxy-version"], expected, "{text}");
    }
}

#[test]
fn what_a_pod_inherits_is_copied_to_the_letter() {
    let namespace = [
        ("linkerd.io/inject", "ingress"),
        ("config.linkerd.io/proxy-uid", "bad \"value\"\n},]"),
        ("config.linkerd.io/opaque-ports", "mysql, 25,"),
        ("config.linkerd.io/unknown", "x"),
        ("config.linkerd.io/proxy-log-level", "hidden"),
    ];
    let pod =
        mk_pod(json!({"config.linkerd.io/proxy-log-level": ""}), json!({"ports": [{"name": "mysql", "containerPort": 3306}]}));
    let patch = rendered_in(&namespace, json!({}), &pod);
    let own = ["linkerd.io/created-by", "linkerd.io/proxy-version", "linkerd.io/trust-root-sha256"];
    let copied: BTreeMap<_, _> =
        patch.annotations.iter().filter(|(k, _)| !own.contains(k)).map(|(k, v)| (*k, v.as_str())).collect();
    assert_eq!(copied, namespace[..3].iter().copied().collect());
}

#[test]
fn default_opaque_ports_are_those_exposed_and_not_annotated() {
    let exposing = |annotations: Value| {
        mk_pod(
            annotations,
            json!({"ports": [{"containerPort": 25}, {"containerPort": 80}, {"containerPort": 25, "protocol": "UDP"}]}),
        )
    };
    let key = "config.linkerd.io/opaque-ports";
    for (namespace, pod, expected) in [
        (vec![], exposing(json!({})), Some("25")),
        (vec![(key, "1")], exposing(json!({})), Some("1")),
        (vec![(key, "")], exposing(json!({})), Some("")),
        (vec![], exposing(json!({key: "2"})), None),
        (vec![], exposing(json!({key: ""})), None),
        (vec![], plain(), None),
    ] {
        let patch = rendered_in(&namespace, json!({}), &pod);
        assert_eq!(patch.annotations.get(key).map(String::as_str), expected, "{namespace:?} {pod}");
    }
}

#[test]
fn the_application_stays_the_default_container() {
    let key = "kubectl.kubernetes.io/default-container";
    let (first, last, native) =
        (json!({"proxy": {"nativeSidecar": false}}), json!({"proxy": {"nativeSidecar": false, "await": false}}), json!({}));
    for (layer, pod, expected) in [
        (&first, plain(), Some("app")),
        (&first, mk_pod(json!({}), json!({"name": ""})), None),
        (&first, mk_pod(json!({key: "other"}), json!({})), None),
        (&first, mk_pod(json!({key: ""}), json!({})), None),
        (&last, plain(), None),
        (&native, plain(), None),
    ] {
        let patch = rendered(layer.clone(), &pod);
        assert_eq!(patch.annotations.get(key).map(String::as_str), expected, "{layer} {pod}");
    }
}

#[test]
fn labels_name_mesh_namespace_and_owner() {
    let base = [("linkerd.io/control-plane-ns", "linkerd"), ("linkerd.io/workload-ns", "shop")];
    let (long, longer) = ("a".repeat(63), "a".repeat(64));
    for (owner, label) in [
        (None, None),
        (Some(owner("Deployment", "web")), Some(("linkerd.io/proxy-deployment", "web"))),
        (Some(owner("CronJob", "nightly")), Some(("linkerd.io/proxy-cronjob", "nightly"))),
        (Some(owner("Widget", "w")), None),
        (Some(owner("DaemonSet", &long)), Some(("linkerd.io/proxy-daemonset", long.as_str()))),
        (Some(owner("DaemonSet", &longer)), None),
    ] {
        let patch = rendered_of(owner.clone(), &[], json!({}), &plain());
        let labels: BTreeMap<_, _> = patch.labels.iter().map(|(k, v)| (*k, v.as_str())).collect();
        assert_eq!(labels, base.into_iter().chain(label).collect(), "{owner:?}");
    }
}

#[test]
fn a_name_that_is_no_label_is_a_warning() {
    let (long, longer) = ("a".repeat(63), "a".repeat(64));
    for (owner, expected) in [
        (
            owner("CronJob", &longer),
            Some("pod: no label linkerd.io/proxy-cronjob: the name of the CronJob is no label value of up to 63 characters"),
        ),
        (owner("CronJob", &long), None),
        (owner("Widget", &longer), None),
    ] {
        assert_eq!(owner_label_warning(&owner).map(|w| w.to_string()).as_deref(), expected, "{owner:?}");
    }
}
