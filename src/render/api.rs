//! The parts of the API that injected containers are made of, and their JSON.
//!
//! Own types, with the fields that are used here and no others: those of the whole API would copy every text once more and make the
//! module a tenth larger. What they write is held against Linkerd's own output, and given to a real API server.

use serde_json::{Map, Value};

/// A container. A field that is empty is not written.
#[derive(Default)]
pub(super) struct Container {
    pub(super) name: &'static str,
    pub(super) image: String,
    pub(super) image_pull_policy: String,
    /// The program, without arguments.
    pub(super) command: Option<&'static str>,
    pub(super) args: Vec<String>,
    /// Entries in the shape of the API's.
    pub(super) env: Vec<Value>,
    /// Names and numbers.
    pub(super) ports: Vec<(&'static str, u16)>,
    /// In the shape of the API's.
    pub(super) resources: Value,
    pub(super) liveness_probe: Option<Probe>,
    pub(super) readiness_probe: Option<Probe>,
    pub(super) startup_probe: Option<Probe>,
    pub(super) lifecycle: Lifecycle,
    /// In the shape of the API's.
    pub(super) security_context: Value,
    pub(super) termination_message_policy: Option<&'static str>,
    pub(super) volume_mounts: Vec<Mount>,
    pub(super) restart_policy: Option<&'static str>,
}

/// A probe; a timing that is none is not written.
pub(super) struct Probe {
    pub(super) handler: Handler,
    pub(super) initial_delay_seconds: Option<i32>,
    pub(super) timeout_seconds: Option<i32>,
    pub(super) period_seconds: Option<i32>,
    pub(super) failure_threshold: Option<i32>,
}

/// What a probe or a hook does.
pub(super) enum Handler {
    /// Runs a command.
    Exec(Vec<String>),
    /// Asks a server of the pod.
    HttpGet { path: &'static str, port: u16 },
}

/// The hooks of a container.
#[derive(Default)]
pub(super) struct Lifecycle {
    pub(super) post_start: Option<Handler>,
    pub(super) pre_stop: Option<Handler>,
}

/// A security context; what is none is not written.
#[derive(Default)]
pub(super) struct SecurityContext {
    pub(super) allow_privilege_escalation: bool,
    pub(super) privileged: Option<bool>,
    pub(super) add_capabilities: Vec<String>,
    pub(super) drop_capabilities: Vec<String>,
    pub(super) run_as_non_root: bool,
    pub(super) run_as_user: i64,
    pub(super) run_as_group: Option<i64>,
}

/// A mount of a volume.
pub(super) struct Mount {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) read_only: Option<bool>,
}

impl Container {
    pub(super) fn json(self) -> Value {
        let port = |(name, number): (&str, u16)| object([("containerPort", number.into()), ("name", name.into())]);
        let probe = |probe: Option<Probe>| probe.map_or(Value::Null, Probe::json);
        object([
            ("name", self.name.into()),
            ("image", self.image.into()),
            ("imagePullPolicy", self.image_pull_policy.into()),
            ("command", list(self.command)),
            ("args", list(self.args)),
            ("env", list(self.env)),
            ("ports", list(self.ports.into_iter().map(port))),
            ("resources", self.resources),
            ("livenessProbe", probe(self.liveness_probe)),
            ("readinessProbe", probe(self.readiness_probe)),
            ("startupProbe", probe(self.startup_probe)),
            ("lifecycle", self.lifecycle.json()),
            ("securityContext", self.security_context),
            ("terminationMessagePolicy", self.termination_message_policy.into()),
            ("volumeMounts", list(self.volume_mounts.into_iter().map(Mount::json))),
            ("restartPolicy", self.restart_policy.into()),
        ])
    }
}

impl Probe {
    /// A probe without timings.
    pub(super) fn of(handler: Handler) -> Probe {
        Probe { handler, initial_delay_seconds: None, timeout_seconds: None, period_seconds: None, failure_threshold: None }
    }

    fn json(self) -> Value {
        let (handler, action) = self.handler.json();
        object([
            (handler, action),
            ("initialDelaySeconds", self.initial_delay_seconds.into()),
            ("timeoutSeconds", self.timeout_seconds.into()),
            ("periodSeconds", self.period_seconds.into()),
            ("failureThreshold", self.failure_threshold.into()),
        ])
    }
}

impl Handler {
    /// Its field, and what is in it.
    fn json(self) -> (&'static str, Value) {
        match self {
            Handler::Exec(command) => ("exec", object([("command", list(command))])),
            Handler::HttpGet { path, port } => ("httpGet", object([("path", path.into()), ("port", port.into())])),
        }
    }
}

impl Lifecycle {
    fn json(self) -> Value {
        let hook = |handler: Option<Handler>| handler.map_or(Value::Null, |handler| object([handler.json()]));
        unless_empty(object([("postStart", hook(self.post_start)), ("preStop", hook(self.pre_stop))]))
    }
}

impl SecurityContext {
    /// With what every security context of ours has: a read-only root and the runtime's system call filter.
    pub(super) fn json(self) -> Value {
        let capabilities = [("add", list(self.add_capabilities)), ("drop", list(self.drop_capabilities))];
        object([
            ("allowPrivilegeEscalation", self.allow_privilege_escalation.into()),
            ("privileged", self.privileged.into()),
            ("capabilities", object(capabilities)),
            ("readOnlyRootFilesystem", true.into()),
            ("runAsNonRoot", self.run_as_non_root.into()),
            ("runAsUser", self.run_as_user.into()),
            ("runAsGroup", self.run_as_group.into()),
            ("seccompProfile", object([("type", "RuntimeDefault".into())])),
        ])
    }
}

impl Mount {
    fn json(self) -> Value {
        object([("name", self.name.into()), ("mountPath", self.path.into()), ("readOnly", self.read_only.into())])
    }
}

/// An object of these fields; what is `null` is left out.
pub(super) fn object<const N: usize>(mut fields: [(&'static str, Value); N]) -> Value {
    fn of(fields: &mut [(&'static str, Value)]) -> Value {
        let mut object = Map::new();
        for (name, value) in fields {
            if !value.is_null() {
                object.insert((*name).to_owned(), value.take());
            }
        }
        Value::Object(object)
    }
    of(&mut fields)
}

/// The object, unless nothing is in it.
pub(super) fn unless_empty(object: Value) -> Value {
    if object.as_object().is_some_and(Map::is_empty) { Value::Null } else { object }
}

/// A list, unless nothing is in it.
pub(super) fn list<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Value {
    let items: Vec<Value> = items.into_iter().map(Into::into).collect();
    if items.is_empty() { Value::Null } else { Value::Array(items) }
}
