//! Cases and results as the corpus writes them, and what a case says about configuration: annotations of the pod and
//! of its namespace, values over the chart's defaults.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{LazyLock, OnceLock};

/// The control-plane chart's default values.
static CHART_DEFAULTS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../conformance/chart-defaults.json")).unwrap_or_default());

/// One admission request and the cluster around it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Case {
    /// Unique name, `family/what`.
    pub name: String,
    /// The part of the corpus that it belongs to.
    #[serde(default)]
    pub family: String,
    /// Where the control plane runs.
    pub control_plane_namespace: String,
    /// Overrides on the chart's defaults.
    #[serde(default)]
    pub values: Value,
    /// The bundle of trust anchors, as PEM.
    #[serde(default)]
    pub trust_anchors: String,
    /// The namespace of the request.
    pub namespace: Namespace,
    /// What the owner look-up may find.
    #[serde(default)]
    pub cluster: Vec<Value>,
    /// The admission request.
    pub request: Request,
    #[serde(skip)]
    merged: OnceLock<Value>,
}

/// The namespace of a request.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Its annotations.
    #[serde(default)]
    pub annotations: Map<String, Value>,
    /// Its labels.
    #[serde(default)]
    pub labels: Map<String, Value>,
}

/// What is asked to be admitted.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The kind of the object.
    pub kind: String,
    /// The namespace that it is created in.
    #[serde(default)]
    pub namespace: String,
    /// `CREATE`, `UPDATE`, …
    #[serde(default)]
    pub operation: String,
    /// The sub-resource that the request is for, empty for the object itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sub_resource: String,
    /// The object.
    pub object: Value,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The object got the proxy.
    Injected,
    /// The object got the annotation of its opaque ports only.
    Annotated,
    /// The object is what it was.
    Skipped,
    /// The request was denied with a reason.
    Rejected,
    /// Linkerd's injector denied the request because it could not render.
    Error,
    /// Linkerd's injector answered with a patch that the API server cannot read.
    BadPatch,
}

/// What Linkerd's injector does with a case.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkerdResult {
    /// The name of the case.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The object after the patch, absent when nothing changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// The patch that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_patch: Option<String>,
    /// Why the request was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Case {
    /// The same case under another name, to be changed.
    #[must_use]
    pub fn renamed(&self, name: String) -> Self {
        Self { name, merged: OnceLock::new(), ..self.clone() }
    }

    /// The value at a JSON pointer of the merged values.
    #[must_use]
    pub fn value(&self, pointer: &str) -> &Value {
        let merged = self.merged.get_or_init(|| {
            let mut merged = CHART_DEFAULTS.clone();
            merge(&mut merged, &self.values);
            merged
        });
        merged.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// The text at a JSON pointer of the merged values, empty where there is none.
    #[must_use]
    pub fn value_text(&self, pointer: &str) -> &str {
        self.value(pointer).as_str().unwrap_or_default()
    }

    /// Whether the value at a JSON pointer is `true`.
    #[must_use]
    pub fn value_is_true(&self, pointer: &str) -> bool {
        self.value(pointer).as_bool() == Some(true)
    }

    /// What `read` makes of the configured value, or of the chart's where the configured one is bad.
    pub fn configured<T>(&self, pointer: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        read(self.value(pointer)).or_else(|| read(CHART_DEFAULTS.pointer(pointer)?))
    }

    /// The configured text, or the chart's where `good` refuses the configured one.
    pub fn configured_text(&self, pointer: &str, good: impl Fn(&str) -> bool) -> String {
        let read = |value: &Value| value.as_str().filter(|text| good(text)).map(str::to_owned);
        self.configured(pointer, read).unwrap_or_default()
    }

    /// Sets the values' override at a JSON pointer.
    pub fn set_value(&mut self, pointer: &str, value: Value) {
        let mut at = &mut self.values;
        for key in pointer.split('/').skip(1) {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            let Some(members) = at.as_object_mut() else { return };
            at = members.entry(key).or_insert(Value::Null);
        }
        *at = value;
        self.merged = OnceLock::new();
    }

    /// The pod's own annotation.
    #[must_use]
    pub fn own(&self, key: &str) -> Option<&str> {
        text(self.request.object.get("metadata")?.get("annotations")?.get(key)?)
    }

    /// The annotation of the pod's namespace.
    #[must_use]
    pub fn of_namespace(&self, key: &str) -> Option<&str> {
        text(self.namespace.annotations.get(key)?)
    }

    /// Replaces the text of an annotation wherever it stands.
    pub fn replace_annotation(&mut self, key: &str, replacement: &str) {
        let own = self.request.object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
        for annotations in own.into_iter().chain([&mut self.namespace.annotations]) {
            if let Some(value) = annotations.get_mut(key) {
                *value = Value::from(replacement);
            }
        }
    }

    /// The annotation that holds for the pod as Linkerd sees it: its own, or one that Linkerd inherits.
    #[must_use]
    pub fn linkerd_text(&self, key: &str) -> Option<&str> {
        self.own(key).or_else(|| INHERITED.contains(&key).then(|| self.of_namespace(key)).flatten())
    }

    /// The annotation that holds for the pod: its own, or its namespace's (D04).
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.linkerd_text(key).or_else(|| NOT_INHERITED.contains(&key).then(|| self.of_namespace(key)).flatten())
    }

    /// The elements of a list of the pod's spec.
    pub fn spec_list(&self, key: &str) -> impl Iterator<Item = &Value> {
        let list = self.request.object.get("spec").and_then(|spec| spec.get(key));
        list.and_then(Value::as_array).into_iter().flatten()
    }

    /// The init containers and then the containers.
    pub fn containers(&self) -> impl Iterator<Item = &Value> {
        self.spec_list("initContainers").chain(self.spec_list("containers"))
    }
}

/// Go reads a null as an empty string.
fn text(value: &Value) -> Option<&str> {
    if value.is_null() { Some("") } else { value.as_str() }
}

fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => base.clone_from(over),
    }
}

/// What a pod takes from its namespace in Linkerd (`pkg/inject`, `ProxyAnnotations` and the alpha list).
pub const INHERITED: &[&str] = &[
    "linkerd.io/inject",
    "config.alpha.linkerd.io/proxy-enable-native-sidecar",
    "config.alpha.linkerd.io/proxy-wait-before-exit-seconds",
    "config.linkerd.io/access-log",
    "config.linkerd.io/admin-port",
    "config.linkerd.io/control-port",
    "config.linkerd.io/default-inbound-policy",
    "config.linkerd.io/enable-debug-sidecar",
    "config.linkerd.io/enable-external-profiles",
    "config.linkerd.io/image-pull-policy",
    "config.linkerd.io/inbound-port",
    "config.linkerd.io/opaque-ports",
    "config.linkerd.io/outbound-port",
    "config.linkerd.io/pod-inbound-ports",
    "config.linkerd.io/proxy-additional-env",
    "config.linkerd.io/proxy-admin-shutdown",
    "config.linkerd.io/proxy-await",
    "config.linkerd.io/proxy-cpu-limit",
    "config.linkerd.io/proxy-cpu-request",
    "config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout",
    "config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout",
    "config.linkerd.io/proxy-enable-native-sidecar",
    "config.linkerd.io/proxy-ephemeral-storage-limit",
    "config.linkerd.io/proxy-ephemeral-storage-request",
    "config.linkerd.io/proxy-gid",
    "config.linkerd.io/proxy-image",
    "config.linkerd.io/proxy-inbound-connect-timeout",
    "config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout",
    "config.linkerd.io/proxy-log-format",
    "config.linkerd.io/proxy-log-http-headers",
    "config.linkerd.io/proxy-log-level",
    "config.linkerd.io/proxy-memory-limit",
    "config.linkerd.io/proxy-memory-request",
    "config.linkerd.io/proxy-metrics-hostname-labels",
    "config.linkerd.io/proxy-outbound-connect-timeout",
    "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout",
    "config.linkerd.io/proxy-require-identity-inbound-ports",
    "config.linkerd.io/proxy-uid",
    "config.linkerd.io/proxy-version",
    "config.linkerd.io/shutdown-grace-period",
    "config.linkerd.io/skip-inbound-ports",
    "config.linkerd.io/skip-outbound-ports",
    "config.linkerd.io/skip-subnets",
];

/// What works on a pod but is not taken from its namespace in Linkerd.
pub const NOT_INHERITED: &[&str] = &[
    "config.beta.linkerd.io/proxy-enable-native-sidecar",
    "config.linkerd.io/close-wait-timeout",
    "config.linkerd.io/debug-image",
    "config.linkerd.io/debug-image-pull-policy",
    "config.linkerd.io/debug-image-version",
    "config.linkerd.io/enable-gateway",
    "config.linkerd.io/proxy-cpu-ratio-limit",
];
