//! A read-only view of an admitted object.
//!
//! In: the object as the host sent it. Out: what decisions and rendering ask of it. Nothing here changes the object, and nothing
//! of it goes through a type. A `null` is as good as absent everywhere.

use crate::annotation;
use crate::gather;
use crate::warning::{quoted, shortened};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Kinds that are injected or annotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A pod.
    Pod,
    /// A service.
    Service,
}

impl Kind {
    /// The kind of that group and name, when it is one of ours.
    #[must_use]
    pub fn of(group: &str, kind: &str) -> Option<Kind> {
        match (group, kind) {
            ("", "Pod") => Some(Kind::Pod),
            ("", "Service") => Some(Kind::Service),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Pod => "Pod",
            Kind::Service => "Service",
        }
    }
}

/// An object whose shape is not that of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object cannot be read: {path}{} {problem}", self.indexed(KEY_ROOM))]
pub struct ShapeError {
    path: &'static str,
    /// The annotation or label, where it is about a single one.
    key: Option<String>,
    problem: String,
}

/// Of a key that may be as long as it likes, enough to find it by.
const KEY_ROOM: usize = 63;

impl ShapeError {
    /// What there is to say of an annotation or label in so many characters, where the object is at this place of a whole.
    #[must_use]
    pub fn of_text_at(&self, place: &str, room: usize) -> Option<String> {
        self.key.as_ref()?;
        let without_key = format!("{place}.{} {}", self.path, self.problem).chars().count().saturating_add(r#"[""]"#.len());
        let indexed = self.indexed(room.saturating_sub(without_key));
        Some(format!("{place}.{}{indexed} {}", self.path, self.problem))
    }

    fn indexed(&self, room: usize) -> String {
        self.key.as_ref().map(|key| format!("[{}]", quoted(key, room))).unwrap_or_default()
    }

    /// An annotation or label that is no text, as YAML makes of an unquoted number.
    fn no_text(map: &'static str, key: &str, value: &Value) -> ShapeError {
        let problem = match value {
            Value::Number(_) | Value::Bool(_) => format!("is {}, not text: quote it", shortened(&value.to_string(), 12)),
            Value::Null => "is null, not text: give it one, or take it out".to_owned(),
            _ => "is not text".to_owned(),
        };
        ShapeError { path: map, key: Some(key.to_owned()), problem }
    }
}

/// The view.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    kind: Kind,
    meta: &'a Value,
    spec: &'a Value,
}

/// One container of a pod.
#[derive(Clone, Copy, Debug)]
pub struct Container<'a>(&'a Value);

/// Which of a pod's lists a container is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `spec.initContainers`.
    Init,
    /// `spec.containers`.
    Main,
}

impl<'a> Workload<'a> {
    /// Views an object of that kind.
    ///
    /// # Errors
    /// [`ShapeError`] when a part that is read here has another shape than the API gives it.
    pub fn read(kind: Kind, object: &'a Value) -> Result<Workload<'a>, ShapeError> {
        let wrong = |path, expected: &str| Err(ShapeError { path, key: None, problem: format!("is not {expected}") });
        if !object.is_object() {
            return wrong("the object", "an object");
        }
        let meta = object.get("metadata").unwrap_or(&Value::Null);
        let spec = object.get("spec").unwrap_or(&Value::Null);
        if !(meta.is_object() || meta.is_null()) {
            return wrong("metadata", "an object");
        }
        for (path, map) in [("metadata.annotations", meta.get("annotations")), ("metadata.labels", meta.get("labels"))] {
            match map {
                None | Some(Value::Null) => {}
                Some(Value::Object(map)) => {
                    if let Some((key, value)) = map.iter().find(|(_, value)| !value.is_string()) {
                        return Err(ShapeError::no_text(path, key, value));
                    }
                }
                Some(_) => return wrong(path, "an object of texts"),
            }
        }
        if !(spec.is_object() || (spec.is_null() && kind == Kind::Service)) {
            return wrong("spec", "an object");
        }
        let lists: &[(&str, &str)] = match kind {
            Kind::Pod => {
                &[("containers", "spec.containers"), ("initContainers", "spec.initContainers"), ("volumes", "spec.volumes")]
            }
            Kind::Service => &[("ports", "spec.ports")],
        };
        for (key, path) in lists {
            let fine = |list: &Value| list.is_null() || list.as_array().is_some_and(|l| l.iter().all(Value::is_object));
            if !spec.get(key).is_none_or(fine) {
                return wrong(path, "a list of objects");
            }
        }
        if kind == Kind::Pod && !spec.get("containers").is_some_and(Value::is_array) {
            return wrong("spec.containers", "a list of objects");
        }
        Ok(Workload { kind, meta, spec })
    }

    /// The kind of the object.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its name, or the beginning of the one that the API server will make up.
    #[must_use]
    pub fn name(&self) -> &'a str {
        let text = |key: &str| self.meta.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        text("name").or_else(|| text("generateName")).unwrap_or_default()
    }

    /// Its namespace, where it names one itself.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.meta.get("namespace")?.as_str().filter(|n| !n.is_empty())
    }

    /// Its annotations.
    #[must_use]
    pub fn annotations(&self) -> Option<&'a Map<String, Value>> {
        self.meta.get("annotations")?.as_object()
    }

    /// One annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.annotations()?.get(key)?.as_str()
    }

    /// One label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.meta.get("labels")?.as_object()?.get(key)?.as_str()
    }

    /// A text or object of its spec.
    #[must_use]
    pub fn spec(&self, key: &str) -> Option<&'a Value> {
        self.spec.get(key).filter(|v| !v.is_null())
    }

    /// A field of its security context, which holds for the containers that do not say otherwise.
    #[must_use]
    pub fn security(&self, key: &str) -> Option<&'a Value> {
        self.spec("securityContext")?.get(key).filter(|v| !v.is_null())
    }

    /// The seconds after which a pod that is stopped is killed.
    #[must_use]
    pub fn grace_period_seconds(&self) -> u64 {
        // What the API server sets where nothing is.
        const DEFAULT: u64 = 30;
        self.spec("terminationGracePeriodSeconds").and_then(Value::as_u64).unwrap_or(DEFAULT)
    }

    /// Whether the pod ends when its containers do, as those of Jobs.
    #[must_use]
    pub fn runs_once(&self) -> bool {
        matches!(self.spec("restartPolicy").and_then(Value::as_str), Some("Never" | "OnFailure"))
    }

    /// Its owner references, as they are.
    #[must_use]
    pub fn owner_references(&self) -> &'a [Value] {
        items(self.meta, "ownerReferences")
    }

    /// The containers of one list.
    pub fn containers_of(&self, list: List) -> impl Iterator<Item = Container<'a>> + use<'a> {
        let key = match list {
            List::Init => "initContainers",
            List::Main => "containers",
        };
        items(self.spec, key).iter().map(Container)
    }

    /// All containers, those of `initContainers` first.
    pub fn containers(&self) -> impl Iterator<Item = Container<'a>> + use<'a> {
        self.containers_of(List::Init).chain(self.containers_of(List::Main))
    }

    /// The first of `spec.containers`, whose capabilities and token mount the proxy shares.
    #[must_use]
    pub fn first_container(&self) -> Option<Container<'a>> {
        self.containers_of(List::Main).next()
    }

    /// Whether the pod has an `emptyDir` volume of that name.
    #[must_use]
    pub fn has_empty_dir(&self, name: &str) -> bool {
        let is = |v: &Value| v.get("name").and_then(Value::as_str) == Some(name) && v.get("emptyDir").is_some_and(Value::is_object);
        items(self.spec, "volumes").iter().any(is)
    }

    /// Whether the pod shares its node's network.
    #[must_use]
    pub fn host_network(&self) -> bool {
        self.spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether the pod refuses its service account's token.
    #[must_use]
    pub fn token_refused(&self) -> bool {
        self.spec.get("automountServiceAccountToken").and_then(Value::as_bool) == Some(false)
    }

    /// Whether the pod can run on Windows only.
    #[must_use]
    pub fn is_windows(&self) -> bool {
        let selects = |key| self.spec.get("nodeSelector").and_then(|s| s.get(key)).and_then(Value::as_str) == Some("windows");
        let os = self.spec.get("os").and_then(|os| os.get("name")).and_then(Value::as_str);
        os == Some("windows") || selects(annotation::NODE_OS) || selects(annotation::NODE_OS_BETA)
    }

    /// The numbers of the named container ports; where several share a name, the last, as Linkerd takes it.
    #[must_use]
    pub fn named_ports(&self) -> BTreeMap<&'a str, u16> {
        let ports = self.containers().flat_map(|c| c.ports());
        let named = |port: &'a Value| Some((port.get("name")?.as_str()?, port_number(port.get("containerPort"))?));
        gather::map(ports.filter_map(named).filter(|(name, _)| !name.is_empty()))
    }

    /// The numbers of all container ports in order of appearance, of any protocol.
    pub fn container_ports(&self) -> impl Iterator<Item = u16> + use<'a> {
        self.containers().flat_map(|c| c.ports()).filter_map(|p| port_number(p.get("containerPort")))
    }

    /// The ports of a service.
    #[must_use]
    pub fn service_ports(&self) -> &'a [Value] {
        items(self.spec, "ports")
    }
}

impl<'a> Container<'a> {
    /// Views the JSON of a container.
    #[must_use]
    pub fn of(container: &'a Value) -> Self {
        Container(container)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.0.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Its image.
    #[must_use]
    pub fn image(&self) -> &'a str {
        self.0.get("image").and_then(Value::as_str).unwrap_or_default()
    }

    /// Its ports, as they are.
    #[must_use]
    pub fn ports(&self) -> &'a [Value] {
        items(self.0, "ports")
    }

    /// Its capabilities block, when it has one.
    #[must_use]
    pub fn capabilities(&self) -> Option<&'a Value> {
        self.0.get("securityContext")?.get("capabilities").filter(|c| !c.is_null())
    }

    /// A field of its own, as a probe.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|v| !v.is_null())
    }

    /// A field of its security context.
    #[must_use]
    pub fn security(&self, key: &str) -> Option<&'a Value> {
        self.field("securityContext")?.get(key).filter(|v| !v.is_null())
    }

    /// An amount of a resource, of `requests` or `limits`.
    #[must_use]
    pub fn amount(&self, list: &str, resource: &str) -> Option<Cow<'a, str>> {
        amount(self.field("resources")?, list, resource)
    }

    /// Whether it is an init container that goes on running beside the others.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.field("restartPolicy").and_then(Value::as_str) == Some("Always")
    }

    /// Its mount of the service account's token.
    #[must_use]
    pub fn token_mount(&self) -> Option<&'a Value> {
        let at = |m: &&Value| m.get("mountPath").and_then(Value::as_str) == Some("/var/run/secrets/kubernetes.io/serviceaccount");
        items(self.0, "volumeMounts").iter().find(at)
    }

    /// The ports on which it accepts TCP connections, as far as the pod says: its container ports, and those of its probes that
    /// are given as numbers. A named probe port is one of its container ports already.
    pub fn inbound_ports(&self) -> impl Iterator<Item = u16> + use<'a> {
        let tcp = |port: &&Value| matches!(port.get("protocol").and_then(Value::as_str), None | Some("" | "TCP"));
        let declared = self.ports().iter().filter(tcp).filter_map(|p| port_number(p.get("containerPort")));
        let probes = ["readinessProbe", "livenessProbe", "startupProbe"].into_iter().filter_map(|p| self.0.get(p));
        let probed = probes.flat_map(|probe| {
            let handlers = ["httpGet", "tcpSocket", "grpc"].into_iter();
            handlers.filter_map(|h| port_number(probe.get(h).and_then(|h| h.get("port"))))
        });
        declared.chain(probed)
    }
}

/// An amount in the lists of some resources, of which the API takes numbers, too.
#[must_use]
pub fn amount<'a>(lists: &'a Value, list: &str, resource: &str) -> Option<Cow<'a, str>> {
    match lists.get(list)?.get(resource)? {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// A port number as the API writes it: a whole number from 1 to 65535.
#[must_use]
pub fn port_number(value: Option<&Value>) -> Option<u16> {
    value?.as_u64().and_then(|n| u16::try_from(n).ok()).filter(|n| *n != 0)
}

/// A list of an object; empty when there is none.
fn items<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
