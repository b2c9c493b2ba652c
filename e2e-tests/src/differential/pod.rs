//! Pods of all shapes that the API server takes, as it sends them to a webhook.

use serde_json::{Map, Value, json};

use super::{
    choice::Choice,
    container::{Role, Surroundings, container, leftover},
};

/// A pod's spec.
pub fn spec(choice: &mut Choice) -> Value {
    let mut spec = Map::new();
    let windows = choice.one_in(40);
    let host_network = choice.one_in(20);
    if windows {
        spec.insert("os".to_owned(), json!({"name": "windows"}));
    } else {
        choice.may_set(&mut spec, 20, "os", r#"[{"name": "linux"}]"#);
        choice.may_set(&mut spec, 4, "securityContext", POD_SECURITY);
        let shared = if choice.one_in(2) { "hostPID" } else { "shareProcessNamespace" };
        choice.may_set(&mut spec, 10, shared, "[true, false]");
    }
    if host_network && !windows {
        spec.insert("hostNetwork".to_owned(), json!(true));
    }
    let volumes = volumes(choice);
    let names: Vec<String> = volumes.iter().filter_map(|volume| volume.get("name")?.as_str().map(str::to_owned)).collect();
    let around = Surroundings { volumes: &names, windows, host_network: host_network && !windows, has_ports: true };
    if !volumes.is_empty() {
        spec.insert("volumes".to_owned(), Value::Array(volumes));
    }

    let mut names = choice.some(NAMES, NAMES.len()).into_iter();
    let mut left = leftovers(choice);
    let mut containers = vec![container(choice, names.next().unwrap_or("app"), Role::Regular, around)];
    // On the node's network, no port can be taken twice.
    let around = Surroundings { has_ports: !around.host_network, ..around };
    for name in names.by_ref().take(choice.below(3)) {
        containers.push(container(choice, name, Role::Regular, around));
    }
    let mut first = Vec::new();
    if choice.one_in(3) {
        for name in names.take(choice.below(3)) {
            let role = if choice.one_in(3) { Role::Sidecar } else { Role::Init };
            first.push(container(choice, name, role, around));
        }
    }
    while let Some(one) = left.pop() {
        let list = if choice.one_in(2) { &mut first } else { &mut containers };
        let at = choice.below(list.len().saturating_add(1));
        list.insert(at, one);
    }
    spec.insert("containers".to_owned(), Value::Array(containers));
    if !first.is_empty() || choice.one_in(20) {
        spec.insert("initContainers".to_owned(), Value::Array(first));
    }
    others(choice, &mut spec);
    Value::Object(spec)
}

const NAMES: &[&str] = &["app", "web", "c1", "logger", "a-b-c", "init", "boot", "main2", "db"];

/// At most one container a name.
fn leftovers(choice: &mut Choice) -> Vec<Value> {
    let mut left = Vec::new();
    while choice.one_in(20) {
        left.push(leftover(choice));
    }
    let mut seen: Vec<Value> = Vec::new();
    left.retain(|container| {
        let name = container.get("name").cloned().unwrap_or_default();
        let is_new = !seen.contains(&name);
        seen.push(name);
        is_new
    });
    left
}

fn volumes(choice: &mut Choice) -> Vec<Value> {
    let mut volumes = Vec::new();
    if choice.one_in(2) {
        volumes.push(json!({"name": "kube-api-access-7xk2p", "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
        ]}}));
    }
    let own = [
        json!({"name": "scratch", "emptyDir": {}}),
        json!({"name": "config", "configMap": {"name": "m"}}),
        json!({"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}),
        json!({"name": "secret", "secret": {"secretName": "s"}}),
        json!({"name": "host", "hostPath": {"path": "/var/log", "type": ""}}),
    ];
    volumes.extend(choice.some(&own, 4));
    if choice.one_in(25) {
        let left = [
            json!({"name": "linkerd-proxy-init-xtables-lock", "emptyDir": {}}),
            json!({"name": "linkerd-identity-end-entity", "emptyDir": {"medium": "Memory"}}),
            json!({"name": "linkerd-identity-token", "emptyDir": {}}),
            json!({"name": "linkerd-podinfo", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}),
        ];
        volumes.extend(choice.some(&left, 5));
    }
    volumes
}

/// What of a pod the injector need not look at.
fn others(choice: &mut Choice, spec: &mut Map<String, Value>) {
    choice.may_set(spec, 3, "serviceAccountName", r#"["default", "web"]"#);
    choice.may_set(spec, 8, "automountServiceAccountToken", "[true, false]");
    choice.may_set(spec, 4, "restartPolicy", r#"["Always", "OnFailure", "Never"]"#);
    choice.may_set(spec, 5, "terminationGracePeriodSeconds", "[5, 10, 30, 600]");
    choice.may_set(spec, 6, "dnsPolicy", r#"["ClusterFirst", "Default"]"#);
    choice.may_set(spec, 6, "nodeSelector", NODE_SELECTORS);
    choice.may_set(spec, 12, "nodeName", r#"["node-1"]"#);
    choice.may_set(spec, 12, "hostname", r#"["web-0"]"#);
    choice.may_set(spec, 10, "imagePullSecrets", r#"[[{"name": "pull"}]]"#);
    choice.may_set(
        spec,
        10,
        "tolerations",
        r#"[[{"operator": "Exists"}], [{"key": "os", "value": "windows", "effect": "NoSchedule"}]]"#,
    );
    choice.may_set(spec, 12, "affinity", AFFINITIES);
    choice.may_set(spec, 15, "enableServiceLinks", "[true, false]");
    choice.may_set(spec, 15, "hostAliases", r#"[[{"ip": "10.0.0.1", "hostnames": ["a.b"]}]]"#);
    choice.may_set(spec, 15, "readinessGates", r#"[[{"conditionType": "a.b/c"}]]"#);
    choice.may_set(spec, 15, "activeDeadlineSeconds", "[100]");
    choice.may_set(spec, 15, "schedulerName", r#"["default-scheduler"]"#);
}

const NODE_SELECTORS: &str = r#"[{"disk": "ssd"}, {}, {"kubernetes.io/os": "linux"}, {"kubernetes.io/os": "windows"},
    {"beta.kubernetes.io/os": "windows"}, {"beta.kubernetes.io/os": "linux"}]"#;

const AFFINITIES: &str = r#"[{}, {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]}]}}}]"#;

const POD_SECURITY: &str = r#"[{}, {"runAsNonRoot": true}, {"runAsUser": 1000, "fsGroup": 2000}, {"runAsUser": 0}, {"runAsGroup": 3000},
    {"seccompProfile": {"type": "RuntimeDefault"}}, {"runAsNonRoot": true, "runAsUser": 2102}, {"supplementalGroups": [1, 2]},
    {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "0"}]}]"#;
