//! What the policy asks of the host: look-ups in the cluster, and log lines.
//!
//! The only module that calls the host, always in the order namespace, `linkerd-config`, trust roots, owner, limit ranges, and each at
//! most once a request: a replayed session answers strictly in that order. Errors name what was asked for, why it failed and what to do.

use crate::limit_range::Item;
use crate::owner::Owner;
use crate::pem;
use crate::values::{ValueFault, Values};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

mod answer;

use answer::leaves_of;

/// What the host answers to one call: binding, namespace, operation, payload.
///
/// # Errors
/// The host's own error text.
pub type HostCall<'a> = &'a dyn Fn(&str, &str, &str, &[u8]) -> Result<Vec<u8>, String>;

/// The cluster behind the host.
#[derive(Clone, Copy)]
pub struct Cluster<'a> {
    host: HostCall<'a>,
}

/// An object of the cluster, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    kind: &'static str,
    namespace: Option<String>,
    name: String,
}

impl Target {
    /// What to do where there is no such object: of what the policy looks for, people create the control plane's configuration.
    fn remedy(&self) -> &'static str {
        if self.kind == "ConfigMap" { ": create it, or correct controlPlaneNamespace" } else { "" }
    }

    /// Whether all objects of the kind are meant.
    fn is_list(&self) -> bool {
        self.name.is_empty()
    }

    /// The verbs that reading it needs.
    fn verbs(&self) -> &'static str {
        if self.is_list() { "list and watch" } else { "get" }
    }

    /// Whether it is one or many.
    fn are(&self) -> &'static str {
        if self.is_list() { "are" } else { "is" }
    }

    /// One of it, or all.
    fn pronoun(&self) -> &'static str {
        if self.is_list() { "them" } else { "it" }
    }

    /// The host's call that reads it.
    fn call(&self) -> &'static str {
        if self.is_list() { "list_resources_all" } else { "get_resource" }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            _ if self.is_list() => write!(f, "{}s", self.kind),
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// Why a look-up gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// There is no such object.
    #[error("{0} not found{remedy}", remedy = .0.remedy())]
    NotFound(Target),
    /// The API server refuses.
    #[error("{0} {are} forbidden: grant {verbs} on {it} to the policy server's service account", are = .0.are(), verbs = .0.verbs(), it = .0.pronoun())]
    Forbidden(Target),
    /// Kubewarden refuses: the kind is not among the policy's `contextAwareResources`.
    #[error("{0} {are} not granted: list {kind} in the policy's contextAwareResources", are = .0.are(), kind = .0.kind)]
    NotGranted(Target),
    /// Kubewarden refuses: the call is not among the policy's `hostCapabilities`.
    #[error("{0} {are} not granted: allow kubernetes/{call} in the policy's hostCapabilities", are = .0.are(), call = .0.call())]
    NoCapability(Target),
    /// The host has no answer.
    #[error("{0} cannot be read: no answer from the API server")]
    NoAnswer(Target),
    /// The answer is not of the expected shape.
    #[error("{target} cannot be used: {problem}")]
    Unusable {
        /// The object.
        target: Target,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl LookupError {
    /// Whether it is an object of that kind that cannot be read.
    #[must_use]
    pub fn is_about(&self, kind: &str) -> bool {
        match self {
            LookupError::NotFound(target)
            | LookupError::Forbidden(target)
            | LookupError::NotGranted(target)
            | LookupError::NoCapability(target)
            | LookupError::NoAnswer(target)
            | LookupError::Unusable { target, .. } => target.kind == kind,
        }
    }
}

/// What a namespace says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    owner_references: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct ConfigMap {
    #[serde(default)]
    data: Option<BTreeMap<String, String>>,
}

/// What the host's `get_resource` is asked, with the fields in the order in which Kubewarden's SDK writes them.
#[derive(serde::Serialize)]
struct GetResource<'a> {
    api_version: &'a str,
    kind: &'a str,
    name: &'a str,
    namespace: Option<&'a str>,
    /// The host keeps an answer for five seconds, unless this is set.
    disable_cache: bool,
    /// The parts of the object that the answer is cut down to.
    field_masks: [&'a str; 1],
}

/// A mask that names no field: the answer is metadata alone, which every object has.
const METADATA_ONLY: &str = "metadata";

impl<'a> Cluster<'a> {
    /// The cluster that this host knows.
    #[must_use]
    pub fn new(host: HostCall<'a>) -> Self {
        Cluster { host }
    }

    /// A namespace's annotations and labels.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn namespace(&self, name: &str) -> Result<Namespace, LookupError> {
        let target = Target { kind: "Namespace", namespace: None, name: name.to_owned() };
        let object: Object = read(&self.get("v1", &target, true, METADATA_ONLY)?, &target)?;
        Ok(Namespace {
            annotations: object.metadata.annotations.unwrap_or_default(),
            labels: object.metadata.labels.unwrap_or_default(),
        })
    }

    /// The mesh's values: the chart's defaults with the ConfigMap `linkerd-config` over them.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn values(&self, control_plane: &str) -> Result<(Values, Vec<ValueFault>), LookupError> {
        let (target, answer) = self.config_map(control_plane, "linkerd-config")?;
        let mut values = Values::default();
        if let Some(leaves) = leaves_of(&answer) {
            let faults = values.put(&leaves);
            crate::leave(leaves);
            return Ok((values, faults));
        }
        let (target, text) = data_of(target, &answer, "values", "it has no values")?;
        let Ok(layer @ (Value::Object(_) | Value::Null)) = serde_norway::from_str(&text) else {
            return Err(LookupError::Unusable { target, problem: "its values are not a YAML object" });
        };
        let faults = values.layer(&layer);
        Ok((values, faults))
    }

    /// The mesh's trust anchors, as they stand in the ConfigMap `linkerd-identity-trust-roots`.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn trust_anchors(&self, control_plane: &str) -> Result<String, LookupError> {
        let (target, answer) = self.config_map(control_plane, "linkerd-identity-trust-roots")?;
        let (target, text) = data_of(target, &answer, "ca-bundle.crt", "it has no ca-bundle.crt")?;
        match pem::bundle(&text) {
            Ok(()) => Ok(text),
            Err(_) => Err(LookupError::Unusable { target, problem: "its ca-bundle.crt is not a bundle of PEM certificates" }),
        }
    }

    /// The owner references of a ReplicaSet or Job.
    ///
    /// # Errors
    /// [`LookupError`].
    pub fn owner_references(&self, namespace: &str, owner: &Owner) -> Result<Vec<Value>, LookupError> {
        let (api_version, kind) = if owner.kind == "Job" { ("batch/v1", "Job") } else { ("apps/v1", "ReplicaSet") };
        let target = Target { kind, namespace: Some(namespace.to_owned()), name: owner.name.clone() };
        // Not cached: each name is asked for in one burst and never again, and the host's cache would keep it for good.
        let object: Object = read(&self.get(api_version, &target, false, METADATA_ONLY)?, &target)?;
        Ok(object.metadata.owner_references.unwrap_or_default())
    }

    /// What the limit ranges of a namespace say.
    ///
    /// All limit ranges of the cluster are asked for, for the host keeps a watch for each question that differs.
    ///
    /// # Errors
    /// [`LookupError`]. A policy server without the right to list and watch does not answer at all.
    pub fn limit_ranges(&self, namespace: &str) -> Result<Vec<Item>, LookupError> {
        let target = Target { kind: "LimitRange", namespace: None, name: String::new() };
        let request = serde_json::json!({
            "api_version": "v1", "kind": target.kind, "label_selector": null, "field_selector": null, "field_masks": ["spec"],
        });
        let mut list: Value = read(&self.ask("list_resources_all", &request, &target)?, &target)?;
        let Some(Value::Array(ranges)) = list.get_mut("items").map(Value::take) else {
            return Err(LookupError::Unusable { target, problem: "the answer is not of its shape" });
        };
        let is_here = |range: &Value| range.pointer("/metadata/namespace").and_then(Value::as_str) == Some(namespace);
        let items = ranges.into_iter().filter(is_here).filter_map(|mut range| Some(range.pointer_mut("/spec/limits")?.take()));
        Ok(items.filter_map(|items| if let Value::Array(items) = items { Some(items) } else { None }).flatten().collect())
    }

    /// Writes one line to the host's log; a host that cannot log changes nothing.
    pub fn log(&self, level: &str, message: &str) {
        let message = serde_json::to_string(message).unwrap_or_default();
        let line = format!("{{\"column\":0,\"file\":\"\",\"level\":\"{level}\",\"line\":0,\"message\":{message}}}");
        let _ = (self.host)("kubewarden", "tracing", "log", line.as_bytes());
    }

    /// The answer to the question for a ConfigMap.
    fn config_map(&self, namespace: &str, name: &str) -> Result<(Target, Vec<u8>), LookupError> {
        let target = Target { kind: "ConfigMap", namespace: Some(namespace.to_owned()), name: name.to_owned() };
        let answer = self.get("v1", &target, true, "data")?;
        Ok((target, answer))
    }

    fn get(&self, api_version: &str, target: &Target, cached: bool, mask: &str) -> Result<Vec<u8>, LookupError> {
        let request = GetResource {
            api_version,
            kind: target.kind,
            name: &target.name,
            namespace: target.namespace.as_deref(),
            disable_cache: !cached,
            field_masks: [mask],
        };
        self.ask("get_resource", &request, target)
    }

    fn ask(&self, operation: &str, request: &impl serde::Serialize, target: &Target) -> Result<Vec<u8>, LookupError> {
        let unusable = |_| LookupError::Unusable { target: target.clone(), problem: "the request for it cannot be written" };
        let payload = serde_json::to_vec(request).map_err(unusable)?;
        (self.host)("kubewarden", "kubernetes", operation, &payload).map_err(|text| classify(&text, target))
    }
}

fn read<T: serde::de::DeserializeOwned>(answer: &[u8], target: &Target) -> Result<T, LookupError> {
    let unusable = |_| LookupError::Unusable { target: target.clone(), problem: "the answer is not of its shape" };
    serde_json::from_slice(answer).map_err(unusable)
}

/// One text of a ConfigMap.
fn data_of(target: Target, answer: &[u8], key: &str, missing: &'static str) -> Result<(Target, String), LookupError> {
    let map: ConfigMap = read(answer, &target)?;
    match map.data.and_then(|mut data| data.remove(key)) {
        Some(text) => Ok((target, text)),
        None => Err(LookupError::Unusable { target, problem: missing }),
    }
}

/// The host tells errors apart by their text alone.
fn classify(text: &str, target: &Target) -> LookupError {
    let has = |part: &str| text.contains(part);
    let target = target.clone();
    if has("Cannot find ") && has(" named '") {
        LookupError::NotFound(target)
    } else if has("has not been granted access to the '") {
        LookupError::NoCapability(target)
    } else if has("has not been granted access to Kubernetes") {
        LookupError::NotGranted(target)
    } else if has("forbidden") || has("Forbidden") {
        LookupError::Forbidden(target)
    } else {
        LookupError::NoAnswer(target)
    }
}

#[cfg(test)]
mod tests;
