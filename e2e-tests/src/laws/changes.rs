//! What may change in the cluster between two calls: the mesh's values and the namespace's annotations, as a table.

use crate::case::{Case, deep_merge};
use serde_json::{Value, json};

/// One change.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// Its name in violations.
    pub name: &'static str,
    /// Changes the cluster of a case.
    pub apply: fn(&mut Case),
}

const fn change(name: &'static str, apply: fn(&mut Case)) -> Change {
    Change { name, apply }
}

/// Every change.
#[rustfmt::skip]
pub const CHANGES: &[Change] = &[
    change("CNI flipped", |case| flip(case, "/cniEnabled")),
    change("native sidecar flipped", |case| flip(case, "/proxy/nativeSidecar")),
    change("native sidecar and await off", |case| values(case, &json!({"proxy": {"nativeSidecar": false, "await": false}}))),
    change("await on without native sidecar", |case| values(case, &json!({"proxy": {"nativeSidecar": false, "await": true, "waitBeforeExitSeconds": 9}}))),
    change("IPv6 flipped", |case| flip(case, "/disableIPv6")),
    change("token projection flipped", |case| flip(case, "/identity/serviceAccountTokenProjection")),
    change("tracing on", |case| values(case, &json!({"proxy": {"tracing": {"enabled": true, "collector": {
        "endpoint": "collector.tracing:4317", "meshIdentity": {"serviceAccountName": "collector", "namespace": "tracing"}}}}}))),
    change("resources", |case| values(case, &json!({"proxy": {"resources": {
        "cpu": {"limit": "2", "request": ""}, "memory": {"limit": "250Mi", "request": "20Mi"}, "ephemeral-storage": {"limit": "", "request": "2Gi"}}}}))),
    change("no resources", |case| values(case, &json!({"proxy": {"resources": {
        "cpu": {"limit": "", "request": ""}, "memory": {"limit": "", "request": ""}, "ephemeral-storage": {"limit": "", "request": ""}}}}))),
    change("logs", |case| values(case, &json!({"proxy": {"logLevel": "debug", "logFormat": "json", "accessLog": "json"}}))),
    change("image", |case| values(case, &json!({"imagePullPolicy": "Always", "proxy": {"image": {"name": "r.test/proxy", "version": "next"}}}))),
    change("image of tag latest, pulled by default", |case| values(case, &json!({"imagePullPolicy": "", "proxy": {"image": {"version": "latest", "pullPolicy": ""}}}))),
    change("user and group", |case| values(case, &json!({"proxy": {"uid": 3333, "gid": 3334}}))),
    change("ports", |case| values(case, &json!({"proxy": {"ports": {"admin": 5191, "control": 5190, "inbound": 5143, "outbound": 5140}}}))),
    change("skipped ports", |case| values(case, &json!({"proxyInit": {"ignoreInboundPorts": "25,4567", "ignoreOutboundPorts": "25,587", "skipSubnets": "10.9.0.0/16"}}))),
    change("default opaque ports", |case| values(case, &json!({"proxy": {"opaquePorts": "8080,3306"}}))),
    change("legacy iptables, run as root", |case| values(case, &json!({"proxyInit": {"iptablesMode": "legacy", "runAsRoot": true, "closeWaitTimeoutSecs": 60}}))),
    change("probe timings", |case| values(case, &json!({"proxy": {"livenessProbe": {"initialDelaySeconds": 0, "timeoutSeconds": 5},
        "readinessProbe": {"initialDelaySeconds": 3, "timeoutSeconds": 0}, "startupProbe": {"failureThreshold": 0, "periodSeconds": 4}}}))),
    change("capabilities", |case| values(case, &json!({"proxy": {"capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["KILL"]}}}))),
    change("security contexts", |case| values(case, &json!({"proxy": {"securityContext": {"runAsUser": 77, "fsGroup": 0}},
        "networkValidator": {"enableSecurityContext": false}}))),
    change("variables", |case| values(case, &json!({"proxy": {"additionalEnv": [
        {"name": "REGION", "value": "$(ZONE)-a"}, {"name": "ZONE", "value": "z"}, {"name": "LINKERD2_PROXY_LOG_FORMAT", "value": "json"}]}}))),
    change("trust anchors", |case| case.trust_anchors = case.trust_anchors.replace("MIIB", "MIIC")),
    change("network policy and parameters", |case| values(case, &json!({"clusterNetworks": "10.0.0.0/8", "proxy": {
        "defaultInboundPolicy": "all-authenticated", "requireIdentityOnInboundPorts": "8080", "shutdownGracePeriod": "30s"}}))),
    change("namespace says nothing", |case| case.namespace.annotations.clear()),
    change("namespace refuses the mesh", |case| namespace(case, &json!({"linkerd.io/inject": "disabled"}))),
    change("namespace asks for the mesh", |case| namespace(case, &json!({"linkerd.io/inject": "enabled"}))),
    change("namespace's settings", |case| namespace(case, &json!({
        "config.linkerd.io/proxy-log-level": "trace", "config.linkerd.io/opaque-ports": "8080,25", "config.linkerd.io/proxy-memory-limit": "300Mi",
        "config.linkerd.io/skip-outbound-ports": "5432", "config.linkerd.io/enable-debug-sidecar": "true",
        "config.linkerd.io/proxy-additional-env": "[{\"name\":\"TEAM\",\"value\":\"shop\"}]"}))),
];

fn values(case: &mut Case, over: &Value) {
    if let Some(over) = over.as_object() {
        deep_merge(&mut case.values, over);
    }
}

fn namespace(case: &mut Case, annotations: &Value) {
    case.namespace.annotations.extend(annotations.as_object().cloned().unwrap_or_default());
}

/// Turns a switch of the values, from where it effectively stands.
fn flip(case: &mut Case, pointer: &str) {
    let now = crate::case::config_values(&case.values).pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
    let path: Vec<&str> = pointer.split('/').skip(1).collect();
    let over = path.iter().rev().fold(Value::from(!now), |inner, key| json!({*key: inner}));
    values(case, &over);
}
