//! Linkerd's truth table, its skip reasons one by one, and what counts as a sidecar.

use super::{Inject, SkipReason, by_namespace, by_object, by_values};
use crate::values::Values;
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn mk_pod(spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": "web-0"}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}});
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

fn with_inject(value: &str) -> Value {
    json!({"metadata": {"annotations": {"linkerd.io/inject": value}}, "spec": {"containers": []}})
}

fn view(pod: &Value) -> Workload<'_> {
    Workload::read(Kind::Pod, pod).unwrap()
}

#[test]
fn every_reason_has_its_own_word_and_a_short_sentence() {
    let words: BTreeSet<_> = SkipReason::ALL.iter().map(|r| r.as_str()).collect();
    let sentences: BTreeSet<_> = SkipReason::ALL.iter().map(ToString::to_string).collect();
    assert_eq!((words.len(), sentences.len()), (SkipReason::ALL.len(), SkipReason::ALL.len()));
    for sentence in sentences {
        assert!(sentence.chars().count() <= 120, "{sentence}");
        assert!(sentence.starts_with(|c: char| c.is_ascii_lowercase()), "{sentence}");
        assert!(!sentence.ends_with('.'), "{sentence}");
    }
}

#[test]
fn words_that_linkerd_has_are_its_own() {
    for (reason, word) in [
        (SkipReason::HostNetwork, "host_network_enabled"),
        (SkipReason::SidecarExists, "sidecar_already_exists"),
        (SkipReason::UnsupportedResource, "unsupported_resource"),
        (SkipReason::NotEnabled, "injection_enable_annotation_absent"),
        (SkipReason::Disabled, "injection_disable_annotation_present"),
        (SkipReason::InvalidAtWorkload, "invalid_inject_annotation_at_workload"),
        (SkipReason::InvalidAtNamespace, "invalid_inject_annotation_at_ns"),
        (SkipReason::NoToken, "disabled_automount_service_account_token_account"),
    ] {
        assert_eq!(reason.as_str(), word);
    }
}

/// The whole table: a row for each annotation of the namespace, in it a letter for each of the pod. `i` injected, `n` not enabled,
/// `d` disabled, `w` invalid at the workload, `s` invalid at the namespace.
#[test]
fn pod_and_namespace_decide_together() {
    let pods = [None, Some(""), Some("enabled"), Some("ingress"), Some("disabled"), Some("yes"), Some("Enabled"), Some("enabled ")];
    for (namespace, row) in [
        (None, "nniidwww"),
        (Some(""), "nniidwww"),
        (Some("enabled"), "iiiidwww"),
        (Some("ingress"), "iiiidwww"),
        (Some("disabled"), "nniidwww"),
        (Some("yes"), "ssiidwww"),
        (Some("Enabled"), "ssiidwww"),
        (Some("enabled "), "ssiidwww"),
    ] {
        for (pod, letter) in pods.iter().zip(row.chars()) {
            let expected = match letter {
                'i' => None,
                'n' => Some(SkipReason::NotEnabled),
                'd' => Some(SkipReason::Disabled),
                'w' => Some(SkipReason::InvalidAtWorkload),
                's' => Some(SkipReason::InvalidAtNamespace),
                other => panic!("{other}"),
            };
            let object = pod.map_or_else(|| mk_pod(json!({})), with_inject);
            let alone = by_object(&view(&object), &[]);
            let decided = alone.first().copied().or_else(|| by_namespace(&view(&object), Inject::read(namespace)));
            assert_eq!(decided, expected, "namespace {namespace:?}, pod {pod:?}");
            // What the pod decides alone, the namespace would not have decided otherwise.
            assert_eq!(by_namespace(&view(&object), Inject::read(namespace)), expected, "namespace {namespace:?}, pod {pod:?}");
        }
    }
}

#[test]
fn each_reason_of_the_object_stands_alone() {
    let job = [json!({"kind": "Job", "name": "once"})];
    let mut owned = mk_pod(json!({}));
    owned["metadata"]["ownerReferences"] = json!(job);
    for (pod, expected) in [
        (mk_pod(json!({})), vec![]),
        (with_inject("enabled"), vec![]),
        (with_inject("ingress"), vec![]),
        (mk_pod(json!({"hostNetwork": true})), vec![SkipReason::HostNetwork]),
        (mk_pod(json!({"hostNetwork": false})), vec![]),
        (mk_pod(json!({"hostNetwork": null})), vec![]),
        (mk_pod(json!({"containers": [{"name": "linkerd-proxy"}]})), vec![SkipReason::SidecarExists]),
        (with_inject("disabled"), vec![SkipReason::Disabled]),
        (with_inject("true"), vec![SkipReason::InvalidAtWorkload]),
        (mk_pod(json!({"os": {"name": "windows"}})), vec![SkipReason::Windows]),
        (owned, vec![SkipReason::OwnerKind]),
    ] {
        assert_eq!(by_object(&view(&pod), &["Job".to_owned()]), expected, "{pod}");
    }
}

#[test]
fn reasons_come_in_linkerds_order() {
    let pod = json!({
        "metadata": {
            "annotations": {"linkerd.io/inject": "disabled"},
            "ownerReferences": [{"kind": "Job", "name": "once"}],
        },
        "spec": {
            "hostNetwork": true,
            "containers": [{"name": "linkerd-proxy"}],
            "nodeSelector": {"kubernetes.io/os": "windows"},
        },
    });
    let expected =
        [SkipReason::HostNetwork, SkipReason::SidecarExists, SkipReason::Disabled, SkipReason::Windows, SkipReason::OwnerKind];
    assert_eq!(by_object(&view(&pod), &["Job".to_owned()]), expected);
}

#[test]
fn a_service_has_one_reason_whatever_it_says() {
    for service in
        [json!({}), json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}, "spec": {"hostNetwork": true}})]
    {
        let view = Workload::read(Kind::Service, &service).unwrap();
        assert_eq!(by_object(&view, &["Job".to_owned()]), [SkipReason::UnsupportedResource]);
    }
}

#[test]
fn windows_is_seen_by_the_os_and_by_both_selectors() {
    for (spec, windows) in [
        (json!({"os": {"name": "windows"}}), true),
        (json!({"os": {"name": "linux"}}), false),
        (json!({"os": {"name": "Windows"}}), false),
        (json!({"os": null}), false),
        (json!({"nodeSelector": {"kubernetes.io/os": "windows"}}), true),
        (json!({"nodeSelector": {"beta.kubernetes.io/os": "windows"}}), true),
        (json!({"nodeSelector": {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux"}}), false),
        (json!({"nodeSelector": {"example.com/os": "windows"}}), false),
    ] {
        let expected: &[_] = if windows { &[SkipReason::Windows] } else { &[] };
        assert_eq!(by_object(&view(&mk_pod(spec.clone())), &[]), expected, "{spec}");
    }
}

/// Name, image, and whether the container is a sidecar among init containers and among containers.
const SIDECARS: &[(&str, &str, bool, bool)] = &[
    ("linkerd-proxy", "any", true, true),
    ("istio-proxy", "any", true, true),
    ("linkerd-init", "any", true, true),
    ("istio-init", "any", true, false),
    ("linkerd-proxy-2", "any", false, false),
    ("linkerd-network-validator", "any", false, false),
    ("linkerd-debug", "any", false, false),
    ("sidecar", "cr.l5d.io/linkerd/proxy:edge-1", true, true),
    ("sidecar", "cr.l5d.io/linkerd/proxy@sha256:0123", true, true),
    ("sidecar", "cr.l5d.io/linkerd/proxy:edge-1@sha256:0123", true, true),
    ("sidecar", "cr.l5d.io/linkerd/proxy", false, false),
    ("sidecar", "cr.l5d.io/linkerd/proxy-api:1", false, false),
    ("sidecar", "mirror.test/cr.l5d.io/linkerd/proxy:edge-1", false, false),
    ("sidecar", "gcr.io/istio-release/proxyv2:1", true, true),
    ("sidecar", "gcr.io/istio-release/proxyv2@sha256:0123", true, true),
    ("sidecar", "docker.io/istio/proxyv2:1", false, false),
    ("sidecar", "cr.l5d.io/linkerd/proxy-init:v2", true, false),
    ("sidecar", "cr.l5d.io/linkerd/proxy-init@sha256:0123", true, false),
    ("sidecar", "gcr.io/istio-release/proxy_init:1", true, false),
    ("sidecar", "gcr.io/istio-release/proxy_init@sha256:0123", true, false),
    ("linkerd-network-validator", "cr.l5d.io/linkerd/proxy:edge-1", false, false),
    ("linkerd-debug", "cr.l5d.io/linkerd/proxy:edge-1", false, false),
    ("envoy-initconfig", "projectcontour/contour:v1", false, false),
];

#[test]
fn sidecars_are_known_by_name_or_image_and_list() {
    for (name, image, as_init, as_main) in SIDECARS {
        let container = json!([{"name": name, "image": image}]);
        for (list, known) in [("initContainers", as_init), ("containers", as_main)] {
            let expected: &[_] = if *known { &[SkipReason::SidecarExists] } else { &[] };
            assert_eq!(by_object(&view(&mk_pod(json!({list: container}))), &[]), expected, "{list} {name} {image}");
        }
    }
}

#[test]
fn the_configured_image_is_a_sidecar_too() {
    let mut values = Values::default();
    values.proxy.image.name = "mirror.test/l5d/proxy".to_owned();
    for (name, image, known) in [
        ("sidecar", "mirror.test/l5d/proxy:edge-1", true),
        ("sidecar", "mirror.test/l5d/proxy@sha256:0123", true),
        ("sidecar", "mirror.test/l5d/proxy", false),
        ("sidecar", "mirror.test/l5d/proxy-api:1", false),
        ("linkerd-network-validator", "mirror.test/l5d/proxy:edge-1", false),
        ("linkerd-debug", "mirror.test/l5d/proxy:edge-1", false),
    ] {
        for list in ["initContainers", "containers"] {
            let expected: &[_] = if known { &[SkipReason::SidecarExists] } else { &[] };
            let pod = mk_pod(json!({list: [{"name": name, "image": image}]}));
            assert_eq!(by_values(&view(&pod), &values, false), expected, "{list} {name} {image}");
            assert_eq!(by_object(&view(&pod), &[]), [], "{list} {name} {image}");
        }
    }
    values.proxy.image.name = String::new();
    assert_eq!(by_values(&view(&mk_pod(json!({"containers": [{"name": "app", "image": ":1"}]}))), &values, false), []);
}

#[test]
fn without_token_projection_a_pod_needs_its_token() {
    let mount = json!([{"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]);
    let mounted = json!([{"name": "app", "volumeMounts": mount}]);
    let later = json!([{"name": "first"}, {"name": "app", "volumeMounts": mount}]);
    let elsewhere = json!([{"name": "app", "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets"}]}]);
    for (spec, without_projection) in [
        (json!({"containers": mounted}), false),
        (json!({"containers": mounted, "automountServiceAccountToken": true}), false),
        (json!({"containers": mounted, "automountServiceAccountToken": null}), false),
        (json!({"containers": mounted, "automountServiceAccountToken": false}), true),
        (json!({}), true),
        (json!({"containers": []}), true),
        (json!({"containers": later}), true),
        (json!({"containers": elsewhere}), true),
    ] {
        let pod = mk_pod(spec);
        for (token_projection, refused) in [(false, without_projection), (true, false)] {
            let values = Values { token_projection, ..Values::default() };
            let expected: &[_] = if refused { &[SkipReason::NoToken] } else { &[] };
            assert_eq!(by_values(&view(&pod), &values, false), expected, "{token_projection} {pod}");
        }
    }
}

#[test]
fn values_give_both_reasons_in_order() {
    let mut values = Values { token_projection: false, ..Values::default() };
    values.proxy.image.name = "mirror.test/proxy".to_owned();
    let pod = mk_pod(json!({"containers": [{"name": "p", "image": "mirror.test/proxy:1"}]}));
    assert_eq!(by_values(&view(&pod), &values, false), [SkipReason::SidecarExists, SkipReason::NoToken]);
}

#[test]
fn owner_kinds_are_those_that_the_pod_names() {
    let owned = |references: Value| {
        let mut pod = mk_pod(json!({}));
        pod["metadata"]["ownerReferences"] = references;
        pod
    };
    let kinds = ["Job".to_owned(), "DaemonSet".to_owned()];
    for (references, skipped) in [
        (json!([{"kind": "Job", "name": "a"}]), true),
        (json!([{"kind": "DaemonSet", "name": "a"}]), true),
        (json!([{"kind": "ReplicaSet", "name": "a"}]), false),
        (json!([]), false),
        (json!([{"kind": "Job", "name": "a"}, {"kind": "Job", "name": "b"}]), false),
        (json!([{"kind": "Widget", "name": "a"}, {"kind": "Job", "name": "b", "controller": true}]), true),
    ] {
        let pod = owned(references);
        let expected: &[_] = if skipped { &[SkipReason::OwnerKind] } else { &[] };
        assert_eq!(by_object(&view(&pod), &kinds), expected, "{pod}");
        assert_eq!(by_object(&view(&pod), &[]), [], "{pod}");
    }
}
