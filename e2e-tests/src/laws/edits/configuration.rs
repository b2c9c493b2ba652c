//! Edits of what says how the pod is to be meshed.

use super::Touches::Configuration;
use super::{Edit, add, annotate, edit};
use serde_json::{Value, json};

#[rustfmt::skip]
pub(super) const EDITS: &[Edit] = &[
    edit("log level, as kubemod", Configuration, |pod| annotate(pod, "config.linkerd.io/proxy-log-level", "debug")),
    edit("sidecar with its skipped port, as Cloudstate", Configuration, cloudstate),
    edit("skipped inbound ports by name", Configuration, |pod| annotate(pod, "config.linkerd.io/skip-inbound-ports", "http,7000-7010")),
    edit("opaque ports", Configuration, |pod| annotate(pod, "config.linkerd.io/opaque-ports", "8080,9000-9010")),
    edit("mesh asked for late", Configuration, |pod| annotate(pod, "linkerd.io/inject", "enabled")),
    edit("ingress mode asked for late", Configuration, |pod| annotate(pod, "linkerd.io/inject", "ingress")),
    edit("mesh refused late", Configuration, |pod| annotate(pod, "linkerd.io/inject", "disabled")),
    edit("mesh asked for in words that mean nothing", Configuration, |pod| annotate(pod, "linkerd.io/inject", "yes, please")),
    edit("word on the mesh taken back", Configuration, |pod| unannotate(pod, "linkerd.io/inject")),
    edit("all of the mesh's settings taken back", Configuration, |pod| unannotate(pod, "config.linkerd.io/")),
    edit("native sidecar", Configuration, |pod| annotate(pod, "config.linkerd.io/proxy-enable-native-sidecar", "true")),
    edit("no native sidecar", Configuration, |pod| annotate(pod, "config.linkerd.io/proxy-enable-native-sidecar", "false")),
    edit("no native sidecar, and nobody waits", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/proxy-enable-native-sidecar", "false");
        annotate(pod, "config.linkerd.io/proxy-await", "disabled");
    }),
    edit("nobody waits", Configuration, |pod| annotate(pod, "config.linkerd.io/proxy-await", "disabled")),
    edit("resources asked for", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/proxy-cpu-limit", "2");
        annotate(pod, "config.linkerd.io/proxy-cpu-request", "0.25");
        annotate(pod, "config.linkerd.io/proxy-memory-limit", "1024Mi");
    }),
    edit("image and pull policy asked for", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/proxy-version", "latest");
        annotate(pod, "config.linkerd.io/image-pull-policy", "Never");
    }),
    edit("variables asked for", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/proxy-additional-env", r#"[{"name":"HOST","value":"$(_pod_nodeName)"},{"name":"LATE","value":"$(LATER)"},{"name":"LATER","value":"x"},{"name":"LINKERD2_PROXY_LOG","value":"trace"}]"#);
    }),
    edit("debug container asked for", Configuration, |pod| annotate(pod, "config.linkerd.io/enable-debug-sidecar", "true")),
    edit("user and group asked for", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/proxy-uid", "3102");
        annotate(pod, "config.linkerd.io/proxy-gid", "3103");
    }),
    edit("ports of the proxy asked for", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/admin-port", "9191");
        annotate(pod, "config.linkerd.io/inbound-port", "9143");
    }),
    edit("inbound ports given", Configuration, |pod| annotate(pod, "config.linkerd.io/pod-inbound-ports", "1000,2000-2010")),
    edit("wait before the end", Configuration, |pod| annotate(pod, "config.alpha.linkerd.io/proxy-wait-before-exit-seconds", "17")),
    edit("skipped networks and inbound policy", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/skip-subnets", "10.1.0.0/16");
        annotate(pod, "config.linkerd.io/default-inbound-policy", "deny");
    }),
    edit("settings that mean nothing", Configuration, |pod| {
        annotate(pod, "config.linkerd.io/proxy-cpu-limit", "much");
        annotate(pod, "config.linkerd.io/opaque-ports", "many");
        annotate(pod, "config.linkerd.io/proxy-enable-native-sidecar", "perhaps");
    }),
];

fn cloudstate(pod: &mut Value) {
    add(
        pod,
        "containers",
        None,
        json!({"name": "akka-sidecar", "image": "r.test/cloudstate:1", "ports": [{"containerPort": 9000}, {"containerPort": 2552}]}),
    );
    annotate(pod, "config.linkerd.io/skip-outbound-ports", "9000,2552");
    annotate(pod, "config.linkerd.io/skip-inbound-ports", "2552");
}

/// Takes annotations out: of this key, or of all keys that begin with it where it ends with a slash.
fn unannotate(pod: &mut Value, key: &str) {
    let annotations = pod.get_mut("metadata").and_then(|m| m.get_mut("annotations")).and_then(Value::as_object_mut);
    if let Some(annotations) = annotations {
        annotations.retain(|known, _| if key.ends_with('/') { !known.starts_with(key) } else { known != key });
    }
    annotate(pod, "example.test/mesh", "as you like");
}
