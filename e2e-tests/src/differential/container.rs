//! Containers as users write them, such as the API server takes.

use serde_json::{Map, Value, json};

use super::choice::Choice;

/// What kind of container it is, which decides what it may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Role {
    /// Runs beside others.
    Regular,
    /// Runs before the others and ends.
    Init,
    /// Starts before the others and stays.
    Sidecar,
}

/// What the pod has that its containers may use.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The names of its volumes.
    pub volumes: &'a [String],
    /// Whether it runs on Windows and says so.
    pub windows: bool,
    /// Whether it uses the node's network.
    pub host_network: bool,
    /// Whether its container may have ports.
    pub has_ports: bool,
}

const IMAGES: &[&str] = &["registry.test/app:1.4", "app", "registry.test/app@sha256:00", "a/b:c", "registry.test:5000/app"];

/// Images of sidecars, and such as are nearly those.
const SIDECAR_IMAGES: &[&str] = &[
    "cr.l5d.io/linkerd/proxy:edge-26.8.1",
    "cr.l5d.io/linkerd/proxy@sha256:00",
    "cr.l5d.io/linkerd/proxy",
    "cr.l5d.io/linkerd/proxy-init:v2.4.0",
    "cr.l5d.io/linkerd/proxy-api:v1",
    "gcr.io/istio-release/proxyv2:1.20",
    "gcr.io/istio-release/proxy_init:1.20",
    "gcr.io/istio-release/proxyv2@sha256:00",
    "mirror.test/linkerd/proxy:v1",
    "mirror.test/linkerd/proxy@sha256:00",
    "docker.io/istio/proxyv2:1.20",
];

const PORTS: &[u16] = &[80, 8080, 443, 3306, 25, 9090, 50051, 1, 65535, 4140, 4143, 4190, 4191, 6379, 8081, 10000, 2000];
const PORT_NAMES: &[&str] = &["http", "db", "grpc", "admin", "db-x", "a1", "linkerd-admin"];

/// A container of that name.
pub fn container(choice: &mut Choice, name: &str, role: Role, around: Surroundings<'_>) -> Value {
    let images = if choice.one_in(60) { SIDECAR_IMAGES } else { IMAGES };
    let image = choice.pick(images);
    let mut container = Map::from_iter([("name".to_owned(), json!(name)), ("image".to_owned(), json!(image))]);
    if around.has_ports && choice.one_in(2) {
        container.insert("ports".to_owned(), ports(choice, around));
    }
    if role != Role::Init {
        for (probe, many) in [("livenessProbe", 4), ("readinessProbe", 3), ("startupProbe", 6)] {
            if choice.one_in(many) {
                container.insert(probe.to_owned(), probe_of(choice));
            }
        }
        choice.may_set(&mut container, 10, "lifecycle", LIFECYCLES);
    }
    if role == Role::Sidecar {
        container.insert("restartPolicy".to_owned(), json!("Always"));
    }
    choice.may_set(&mut container, 4, "env", ENVIRONMENTS);
    choice.may_set(
        &mut container,
        20,
        "envFrom",
        r#"[[{"configMapRef": {"name": "m"}}], [{"prefix": "P_", "secretRef": {"name": "s", "optional": true}}]]"#,
    );
    choice.may_set(&mut container, 3, "resources", RESOURCES);
    if !around.windows {
        choice.may_set(&mut container, 2, "securityContext", SECURITY);
    }
    mounts(choice, &mut container, around);
    choice.may_set(&mut container, 8, "command", r#"[["/app"], ["sh", "-c", "echo \"a\" && exec app"], []]"#);
    choice.may_set(&mut container, 8, "args", r#"[["--port=8080"], ["},]", "\\"], ["<a>&b"]]"#);
    choice.may_set(&mut container, 8, "imagePullPolicy", r#"["Always", "IfNotPresent", "Never"]"#);
    choice.may_set(&mut container, 10, "workingDir", r#"["/srv", ""]"#);
    choice.may_set(&mut container, 10, "terminationMessagePolicy", r#"["File", "FallbackToLogsOnError"]"#);
    choice.may_set(&mut container, 20, "tty", "[true, false]");
    Value::Object(container)
}

/// A container that an earlier injection left, or that another mesh put there.
pub fn leftover(choice: &mut Choice) -> Value {
    let name =
        choice.pick(&["linkerd-debug", "linkerd-network-validator", "linkerd-proxy", "linkerd-init", "istio-proxy", "istio-init"]);
    let images = if choice.one_in(3) { IMAGES } else { SIDECAR_IMAGES };
    let image = choice.pick(images);
    json!({"name": name, "image": image})
}

fn ports(choice: &mut Choice, around: Surroundings<'_>) -> Value {
    let mut ports = Vec::new();
    let numbers = choice.some(PORTS, 5);
    let names = choice.some(PORT_NAMES, 6);
    let mut names = names.into_iter();
    for number in numbers {
        let mut port = Map::from_iter([("containerPort".to_owned(), json!(number))]);
        if let Some(name) = names.next() {
            port.insert("name".to_owned(), json!(name));
        }
        choice.may_set(&mut port, 3, "protocol", r#"["TCP", "TCP", "UDP", "SCTP"]"#);
        if around.host_network {
            port.insert("hostPort".to_owned(), json!(number));
        }
        ports.push(Value::Object(port));
    }
    Value::Array(ports)
}

fn probe_of(choice: &mut Choice) -> Value {
    let mut probe = Map::new();
    let handlers = r#"[{"httpGet": {"path": "/ready", "port": 8080}}, {"httpGet": {"path": "/", "port": "http", "scheme": "HTTPS"}},
        {"httpGet": {"port": "nosuch"}}, {"httpGet": {"path": "/x", "port": "admin", "host": "127.0.0.1"}}, {"tcpSocket": {"port": 3306}},
        {"tcpSocket": {"port": "db"}}, {"grpc": {"port": 50051}}, {"grpc": {"port": 9, "service": "a"}}, {"exec": {"command": ["true"]}},
        {"httpGet": {"port": 9999, "httpHeaders": [{"name": "X-A", "value": "\"b\""}]}}, {"tcpSocket": {"port": 65535, "host": "a.b"}},
        {"tcpSocket": {"port": "a1"}}]"#;
    if let Value::Object(handler) = choice.json(handlers) {
        probe.extend(handler);
    }
    choice.may_set(&mut probe, 3, "initialDelaySeconds", "[0, 5]");
    choice.may_set(&mut probe, 3, "periodSeconds", "[1, 10]");
    choice.may_set(&mut probe, 4, "timeoutSeconds", "[1, 3]");
    choice.may_set(&mut probe, 4, "failureThreshold", "[1, 30]");
    Value::Object(probe)
}

fn mounts(choice: &mut Choice, container: &mut Map<String, Value>, around: Surroundings<'_>) {
    let mut mounts = Vec::new();
    for volume in around.volumes {
        if volume.starts_with("kube-api-access-") {
            if !choice.one_in(8) {
                mounts
                    .push(json!({"name": volume, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}));
            }
        } else if choice.one_in(3) {
            mounts.push(json!({"name": volume, "mountPath": format!("/mnt/{volume}")}));
        }
    }
    if !mounts.is_empty() {
        container.insert("volumeMounts".to_owned(), Value::Array(mounts));
    }
}

const LIFECYCLES: &str = r#"[{"preStop": {"exec": {"command": ["sleep", "5"]}}}, {"postStart": {"exec": {"command": ["/start"]}}},
    {"preStop": {"httpGet": {"port": 8080, "path": "/bye"}}}, {"preStop": {"sleep": {"seconds": 3}}}]"#;

const ENVIRONMENTS: &str = r#"[[{"name": "A", "value": "b"}], [{"name": "A"}, {"name": "B", "value": "$(A)"}],
    [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}], [{"name": "Q", "value": "\"},]\\"}],
    [{"name": "LINKERD2_PROXY_LOG", "value": "mine"}], [],
    [{"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}]]"#;

const RESOURCES: &str = r#"[{}, {"requests": {"cpu": "100m", "memory": "64Mi"}}, {"limits": {"cpu": "1", "memory": "1Gi"}},
    {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "ephemeral-storage": "1Gi"}}, {"limits": {"nvidia.com/gpu": "1"}}]"#;

const SECURITY: &str = r#"[{}, {"runAsUser": 1000, "runAsGroup": 1000}, {"runAsNonRoot": true, "allowPrivilegeEscalation": false},
    {"readOnlyRootFilesystem": true}, {"capabilities": {"drop": ["ALL"]}}, {"capabilities": {"add": ["NET_ADMIN"]}},
    {"capabilities": {"drop": ["NET_RAW", "KILL"], "add": ["SYS_TIME"]}}, {"capabilities": {"drop": ["CAP_NET_RAW"]}},
    {"capabilities": {"drop": ["net_admin", "ALL"]}}, {"capabilities": {}}, {"capabilities": {"add": ["CHOWN"], "drop": []}},
    {"capabilities": {"drop": ["NET_ADMIN"]}}, {"capabilities": {"add": ["ALL"], "drop": ["CAP_NET_ADMIN", "Net_Raw"]}},
    {"privileged": true}, {"privileged": false, "runAsUser": 2102}, {"seccompProfile": {"type": "RuntimeDefault"}}, {"runAsUser": 0},
    {"seccompProfile": {"type": "Localhost", "localhostProfile": "p.json"}}, {"procMount": "Default"}, {"appArmorProfile": {"type": "Unconfined"}},
    {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}, "runAsNonRoot": true,
     "seccompProfile": {"type": "RuntimeDefault"}}]"#;
