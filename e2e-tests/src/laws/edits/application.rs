//! Edits of the application.

use super::Touches::Application;
use super::{Edit, add, add_variable, annotate, container, edit, list_at, map_at, mount, set_text, spec};
use crate::laws::{api_server, is_ours};
use serde_json::{Map, Value, json};

#[rustfmt::skip]
pub(super) const EDITS: &[Edit] = &[
    edit("sidecar with ports, as OPA", Application, opa),
    edit("init container first, sidecar and secrets, as Vault", Application, vault),
    edit("sidecar with ports and variables in the application, as Dapr", Application, dapr),
    edit("init container last", Application, |pod| add(pod, "initContainers", None, json!({"name": "late-init", "image": "r.test/init:2"}))),
    edit("native sidecar first", Application, |pod| {
        let ports = json!([{"containerPort": 9090, "name": "http-own"}]);
        add(pod, "initContainers", Some(0), json!({"name": "logs", "image": "r.test/logs:1", "restartPolicy": "Always", "ports": ports}));
    }),
    edit("container before the application", Application, |pod| add(pod, "containers", Some(0), json!({"name": "ambassador", "image": "r.test/ambassador:1", "ports": [{"containerPort": 8443}]}))),
    edit("database beside the application", Application, |pod| add(pod, "containers", None, json!({"name": "db", "image": "r.test/mysql:8", "ports": [{"containerPort": 3306, "name": "mysql"}]}))),
    edit("application container taken out", Application, last_container_out),
    edit("labels", Application, |pod| {
        set_text(pod, "labels", "team", "payments");
        set_text(pod, "labels", "app.kubernetes.io/name", "billing");
    }),
    edit("capabilities of the application dropped", Application, drop_capabilities),
    edit("probes of the application", Application, probes),
    edit("host network", Application, |pod| { spec(pod).and_then(|s| s.insert("hostNetwork".to_owned(), true.into())); }),
    edit("another mesh's sidecar", Application, |pod| add(pod, "containers", None, json!({"name": "istio-proxy", "image": "gcr.io/istio-release/proxyv2:1.29"}))),
    edit("volume and pod settings", Application, |pod| {
        add(pod, "volumes", Some(0), json!({"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}));
        spec(pod).and_then(|s| s.insert("terminationGracePeriodSeconds".to_owned(), 75.into()));
    }),
];

fn opa(pod: &mut Value) {
    let probe = json!({"httpGet": {"path": "/health", "port": 8282}});
    let ports = json!([{"containerPort": 8181, "name": "http-opa"}, {"containerPort": 9191, "protocol": "TCP"}]);
    add(pod, "containers", None, json!({"name": "opa", "image": "r.test/opa:1.0", "ports": ports, "readinessProbe": probe}));
    add(pod, "volumes", None, json!({"name": "opa-policies", "configMap": {"name": "policies"}}));
}

fn vault(pod: &mut Value) {
    let agent = |name: &str| {
        let mounts = json!([{"name": "vault-secrets", "mountPath": "/vault/secrets"}]);
        json!({"name": name, "image": "r.test/vault:1.20", "args": ["agent"], "volumeMounts": mounts})
    };
    add(pod, "initContainers", Some(0), agent("vault-agent-init"));
    add(pod, "containers", None, agent("vault-agent"));
    add(pod, "volumes", None, json!({"name": "vault-secrets", "emptyDir": {"medium": "Memory"}}));
    annotate(pod, "vault.hashicorp.com/agent-inject-status", "injected");
}

fn dapr(pod: &mut Value) {
    for container in application(pod).filter(|c| c.get("name").and_then(Value::as_str) != Some("daprd")) {
        add_variable(container, "DAPR_HTTP_PORT", "3500");
        mount(container, "dapr-unix-domain-socket", "/var/run/dapr");
    }
    let ports = json!([{"containerPort": 3500, "name": "dapr-http"}, {"containerPort": 50001, "name": "dapr-grpc"}]);
    add(pod, "containers", None, json!({"name": "daprd", "image": "r.test/daprd:1.16", "ports": ports}));
    add(pod, "volumes", None, json!({"name": "dapr-unix-domain-socket", "emptyDir": {"medium": "Memory"}}));
    set_text(pod, "labels", "dapr.io/sidecar-injected", "true");
}

/// The containers that are not ours.
fn application(pod: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    api_server::containers_mut(pod)
        .filter(|(list, container)| *list == "containers" && !is_ours(container.get("name")))
        .map(|(_, container)| container)
}

/// A pod keeps its first container, so that it stays one.
fn last_container_out(pod: &mut Value) {
    let names: Vec<Value> = application(pod).filter_map(|c| c.get("name").cloned()).collect();
    let Some(containers) = spec(pod).and_then(|s| list_at(s, "containers")) else { return };
    if let Some(first) = names.first() {
        containers.retain(|c| is_ours(c.get("name")) || c.get("name") == Some(first));
    }
}

fn drop_capabilities(pod: &mut Value) {
    for container in application(pod) {
        if let Some(capabilities) = map_at(container, "securityContext").and_then(|c| map_at(c, "capabilities")) {
            capabilities.insert("drop".to_owned(), json!(["ALL"]));
        }
    }
}

fn probes(pod: &mut Value) {
    let first = application(pod).next().and_then(|c| c.get("name")?.as_str().map(str::to_owned));
    if let Some(first) = first.and_then(|name| container(pod, &name)) {
        first.insert("startupProbe".to_owned(), json!({"tcpSocket": {"port": 7070}}));
        first.insert("livenessProbe".to_owned(), json!({"grpc": {"port": 7071}}));
    }
}
