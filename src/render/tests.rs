//! What is rendered for a pod, part by part. Whole pods are compared with Linkerd's own elsewhere.

use super::{Mesh, Place, PodPatch, pod_patch};
use crate::overrides::{Annotations, apply};
use crate::owner::Owner;
use crate::values::Values;
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};
use std::collections::BTreeMap;

mod environment;
mod init;
mod metadata;
mod proxy;

const ANCHORS: &str = "\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n\n";

/// A pod with these annotations and one container, `app`, with these fields.
fn mk_pod(annotations: Value, container: Value) -> Value {
    let mut pod = json!({"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "app"}]}});
    for (key, value) in container.as_object().unwrap() {
        pod["spec"]["containers"][0][key] = value.clone();
    }
    pod
}

fn plain() -> Value {
    mk_pod(json!({}), json!({}))
}

/// The chart's defaults with a layer over them.
fn values(layer: Value) -> Values {
    let mut values = Values { trust_anchors: ANCHORS.to_owned(), ..Values::default() };
    assert_eq!((values.layer(&layer), values.settle()), (vec![], vec![]), "{layer}");
    values
}

/// All that injection adds to the pod, in a namespace with these annotations.
fn rendered_in(namespace: &[(&str, &str)], layer: Value, pod: &Value) -> PodPatch {
    rendered_of(None, namespace, layer, pod)
}

fn rendered_of(owner: Option<Owner>, namespace: &[(&str, &str)], layer: Value, pod: &Value) -> PodPatch {
    let namespace: BTreeMap<_, _> = namespace.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let view = Workload::read(Kind::Pod, pod).unwrap();
    let values = values(layer);
    let annotations = Annotations::new(view, &namespace);
    let default_opaque_ports = values.proxy.opaque_ports.clone();
    let scope = apply(values, &annotations);
    let mesh = Mesh {
        control_plane: "linkerd",
        namespace: "shop",
        owner,
        annotations,
        added_by: &scope.added_by,
        uid_of_range: false,
        default_opaque_ports: &default_opaque_ports,
    };
    pod_patch(&scope.values, &view, &mesh).complete()
}

fn rendered(layer: Value, pod: &Value) -> PodPatch {
    rendered_in(&[], layer, pod)
}

/// The pod is one that this annotation alone tells from a plain one.
fn annotated(key: &str, value: &str) -> Value {
    mk_pod(json!({key: value}), json!({}))
}

/// The value of one variable of the proxy; `None` when it is not set.
fn env(patch: &PodPatch, name: &str) -> Option<String> {
    let entries = patch.proxy["env"].as_array().unwrap();
    let mut found = entries.iter().filter(|e| e["name"] == name);
    let entry = found.next()?;
    assert!(found.next().is_none(), "{name} twice");
    // A value that is empty may be left out.
    Some(entry.get("value").map_or("", |v| v.as_str().unwrap()).to_owned())
}

/// The value that follows a flag of the init container.
fn flag(patch: &PodPatch, name: &str) -> Option<String> {
    let arguments: Vec<&str> = patch.init["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    let at = arguments.iter().position(|a| *a == name)?;
    Some((*arguments.get(at.saturating_add(1)).unwrap()).to_owned())
}

#[test]
fn the_proxys_place_goes_by_mode() {
    for (native, waits, place) in
        [(true, true, Place::Native), (true, false, Place::Native), (false, true, Place::First), (false, false, Place::Last)]
    {
        let patch = rendered(json!({"proxy": {"nativeSidecar": native, "await": waits}}), &plain());
        assert_eq!(patch.place, place);
        // Only a native sidecar restarts, has a startup probe to wait for, and none of the hooks.
        let proxy = &patch.proxy;
        assert_eq!(proxy.get("restartPolicy"), native.then(|| json!("Always")).as_ref());
        assert_eq!(proxy.get("startupProbe").is_some(), native && waits);
        assert_eq!(proxy.get("lifecycle").is_some(), !native && waits);
        for key in ["livenessProbe", "readinessProbe", "startupProbe", "restartPolicy", "lifecycle"] {
            assert_eq!(patch.init.get(key), None, "{key}");
        }
    }
}

#[test]
fn volumes_go_by_mode_and_in_order() {
    let tracing = json!({"enabled": true, "collector": {"endpoint": "c.test:1", "meshIdentity": {"serviceAccountName": "c", "namespace": "t"}}});
    let names = |layer: Value| -> Vec<String> {
        rendered(layer, &plain()).volumes.iter().map(|v| v["name"].as_str().unwrap().to_owned()).collect()
    };
    let (lock, identity) = ("linkerd-proxy-init-xtables-lock", "linkerd-identity-end-entity");
    let (podinfo, token) = ("linkerd-podinfo", "linkerd-identity-token");
    assert_eq!(names(json!({})), [lock, identity, token]);
    assert_eq!(names(json!({"cniEnabled": true})), [identity, token]);
    assert_eq!(names(json!({"proxy": {"tracing": tracing}})), [lock, identity, podinfo, token]);
    assert_eq!(names(json!({"identity": {"serviceAccountTokenProjection": false}})), [lock, identity]);
    let patch = rendered(json!({"proxy": {"tracing": tracing}}), &plain());
    let expected = json!([
        {"name": lock, "emptyDir": {}},
        {"name": identity, "emptyDir": {"medium": "Memory"}},
        // The proxy is told of both files.
        {"name": podinfo, "downwardAPI": {"items": [
            {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
            {"path": "annotations", "fieldRef": {"fieldPath": "metadata.annotations"}},
        ]}},
        {"name": token, "projected": {"sources": [
            {"serviceAccountToken": {"path": token, "expirationSeconds": 86400, "audience": "identity.l5d.io"}},
        ]}},
    ]);
    assert_eq!(json!(patch.volumes), expected);
    let mounts = json!([
        {"name": identity, "mountPath": "/var/run/linkerd/identity/end-entity"},
        {"name": podinfo, "mountPath": "/var/run/linkerd/podinfo"},
        {"name": token, "mountPath": "/var/run/secrets/tokens"},
    ]);
    assert_eq!(patch.proxy["volumeMounts"], mounts);
}

#[test]
fn the_applications_token_mount_is_shared() {
    let path = "/var/run/secrets/kubernetes.io/serviceaccount";
    for (mount, expected) in [
        (json!({"name": "t", "mountPath": path, "readOnly": true}), json!({"name": "t", "mountPath": path, "readOnly": true})),
        (json!({"name": "t", "mountPath": path}), json!({"name": "t", "mountPath": path, "readOnly": false})),
    ] {
        let patch = rendered(json!({}), &mk_pod(json!({}), json!({"volumeMounts": [mount]})));
        for container in [&patch.proxy, &patch.init] {
            assert_eq!(container["volumeMounts"].as_array().unwrap().last().unwrap(), &expected);
        }
    }
    let patch = rendered(json!({"identity": {"serviceAccountTokenProjection": false}}), &plain());
    assert_eq!(env(&patch, "LINKERD2_PROXY_IDENTITY_TOKEN_FILE").unwrap(), format!("{path}/token"));
    assert_eq!(patch.init["volumeMounts"], json!([{"name": "linkerd-proxy-init-xtables-lock", "mountPath": "/run"}]));
}

#[test]
fn resources_are_the_same_on_all_injected_containers_but_debug() {
    let limits = json!({
        "config.linkerd.io/proxy-cpu-request": "0.2",
        "config.linkerd.io/proxy-cpu-limit": "1",
        "config.linkerd.io/proxy-memory-request": "64Mi",
        "config.linkerd.io/proxy-memory-limit": "128Mi",
        "config.linkerd.io/proxy-ephemeral-storage-request": "1e3",
        "config.linkerd.io/enable-debug-sidecar": "true",
    });
    let expected = json!({
        "requests": {"cpu": "0.2", "memory": "64Mi", "ephemeral-storage": "1e3"},
        "limits": {"cpu": "1", "memory": "128Mi"},
    });
    for cni in [false, true] {
        let patch = rendered(json!({"cniEnabled": cni}), &mk_pod(limits.clone(), json!({})));
        assert_eq!((&patch.proxy["resources"], &patch.init["resources"]), (&expected, &expected));
        assert_eq!(patch.debug.unwrap().get("resources"), None);
    }
    for (key, expected) in [
        ("config.linkerd.io/proxy-cpu-limit", json!({"limits": {"cpu": "0.5"}})),
        ("config.linkerd.io/proxy-cpu-request", json!({"requests": {"cpu": "0.5"}})),
        ("config.linkerd.io/proxy-memory-limit", json!({"limits": {"memory": "0.5"}})),
        ("config.linkerd.io/proxy-memory-request", json!({"requests": {"memory": "0.5"}})),
        ("config.linkerd.io/proxy-ephemeral-storage-limit", json!({"limits": {"ephemeral-storage": "0.5"}})),
        ("config.linkerd.io/proxy-ephemeral-storage-request", json!({"requests": {"ephemeral-storage": "0.5"}})),
    ] {
        assert_eq!(rendered(json!({}), &annotated(key, "0.5")).proxy["resources"], expected, "{key}");
    }
    assert_eq!(rendered(json!({}), &plain()).proxy.get("resources"), None);
    assert_eq!(rendered(json!({"proxy": {"resources": null}}), &plain()).init.get("resources"), None);
}

#[test]
fn the_debug_container_has_probes_that_never_fail() {
    assert_eq!(rendered(json!({}), &plain()).debug, None);
    let on = ("config.linkerd.io/enable-debug-sidecar", "true");
    let patch = rendered_in(
        &[on, ("config.linkerd.io/debug-image", "r.test/d")],
        json!({"debugContainer": {"image": {"version": ""}}}),
        &plain(),
    );
    let probe = json!({"exec": {"command": ["true"]}});
    let expected = json!({
        "name": "linkerd-debug",
        "image": "r.test/d:edge-26.8.1",
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": probe,
        "readinessProbe": probe,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    });
    assert_eq!(patch.debug, Some(expected));
}
