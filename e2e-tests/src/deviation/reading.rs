//! A case and what it says about configuration: annotations of the pod and of its namespace, values over the chart's
//! defaults.

use crate::case::{self, chart_defaults, config_values, deep_merge};
use serde_json::{Map, Value};
use std::ops::{Deref, DerefMut};

pub use crate::case::{CaseResult as LinkerdResult, Outcome};

/// A case whose values are merged over the chart's.
#[derive(Clone, Debug)]
pub struct Reading {
    case: case::Case,
    merged: Value,
}

impl Deref for Reading {
    type Target = case::Case;

    fn deref(&self) -> &case::Case {
        &self.case
    }
}

impl DerefMut for Reading {
    fn deref_mut(&mut self) -> &mut case::Case {
        &mut self.case
    }
}

impl From<case::Case> for Reading {
    fn from(case: case::Case) -> Self {
        let merged = config_values(&case.values);
        Self { case, merged }
    }
}

impl Reading {
    /// The same case under another name, to be changed.
    #[must_use]
    pub fn renamed(&self, name: String) -> Self {
        let mut renamed = self.clone();
        renamed.name = name;
        renamed
    }

    /// The value at a JSON pointer of the merged values.
    #[must_use]
    pub fn value(&self, pointer: &str) -> &Value {
        self.merged.pointer(pointer).unwrap_or(&Value::Null)
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
        read(self.value(pointer)).or_else(|| read(Self::default_value(pointer)))
    }

    /// The chart's default at a JSON pointer.
    #[must_use]
    pub fn default_value(pointer: &str) -> &'static Value {
        let mut keys = pointer.split('/').skip(1);
        let first = keys.next().and_then(|key| chart_defaults().get(key));
        first.and_then(|first| keys.try_fold(first, |at, key| at.get(key))).unwrap_or(&Value::Null)
    }

    /// The configured text, or the chart's where `good` refuses the configured one.
    pub fn configured_text(&self, pointer: &str, good: impl Fn(&str) -> bool) -> String {
        let read = |value: &Value| value.as_str().filter(|text| good(text)).map(str::to_owned);
        self.configured(pointer, read).unwrap_or_default()
    }

    /// Sets the values' override at a JSON pointer.
    pub fn set_value(&mut self, pointer: &str, value: Value) {
        let nest = |inner: Value, key: &str| Value::Object(Map::from_iter([(key.to_owned(), inner)]));
        if let Value::Object(over) = pointer.split('/').skip(1).collect::<Vec<_>>().into_iter().rfold(value, nest) {
            deep_merge(&mut self.case.values, &over);
        }
        self.merged = config_values(&self.case.values);
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
        let case::Case { request, namespace, .. } = &mut self.case;
        let own = request.object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
        for annotations in own.into_iter().chain([&mut namespace.annotations]) {
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
