//! What a policy can ask about the cluster.
//!
//! Names, fields and their order are those of Kubewarden's `CallbackRequestType` (policy-evaluator, `callback_requests.rs`):
//! kwctl writes them into session files as YAML, and their `Debug` form into its replay errors.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One question to the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub enum Query {
    /// All objects of a kind in one namespace.
    KubernetesListResourceNamespace {
        api_version: String,
        kind: String,
        namespace: String,
        label_selector: Option<String>,
        field_selector: Option<String>,
        field_masks: Option<BTreeSet<String>>,
    },
    /// All objects of a kind.
    KubernetesListResourceAll {
        api_version: String,
        kind: String,
        label_selector: Option<String>,
        field_selector: Option<String>,
        field_masks: Option<BTreeSet<String>>,
    },
    /// One object.
    KubernetesGetResource {
        api_version: String,
        kind: String,
        name: String,
        namespace: Option<String>,
        disable_cache: bool,
        field_masks: Option<BTreeSet<String>>,
    },
    /// Whether somebody may do something.
    KubernetesCanI {
        #[serde(alias = "subject_access_review")]
        request: SubjectAccessReview,
        disable_cache: bool,
    },
}

/// Who would like to do something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct SubjectAccessReview {
    pub groups: Option<Vec<String>>,
    pub resource_attributes: ResourceAttributes,
    pub user: String,
}

/// What somebody would like to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct ResourceAttributes {
    pub group: Option<String>,
    pub name: Option<String>,
    pub namespace: Option<String>,
    pub resource: String,
    pub subresource: Option<String>,
    pub verb: String,
    pub version: Option<String>,
}

/// The operations of the host's `kubernetes` namespace that are answered, and the variant that each becomes.
const OPERATIONS: &[(&str, &str)] = &[
    ("list_resources_by_namespace", "KubernetesListResourceNamespace"),
    ("list_resources_all", "KubernetesListResourceAll"),
    ("get_resource", "KubernetesGetResource"),
    ("can_i", "KubernetesCanI"),
];

impl Query {
    /// Reads the payload of one operation of the `kubernetes` namespace; `None` for an operation that does not exist.
    ///
    /// # Errors
    /// The payload is not JSON or lacks a field.
    pub fn parse(operation: &str, payload: &[u8]) -> Option<Result<Self, serde_json::Error>> {
        let (_, variant) = OPERATIONS.iter().find(|(name, _)| *name == operation)?;
        Some(serde_json::from_slice::<Value>(payload).and_then(|payload| {
            let tagged = [((*variant).to_owned(), payload)].into_iter().collect();
            serde_json::from_value(Value::Object(tagged))
        }))
    }

    /// The operation's name in the host's `kubernetes` namespace.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        match self {
            Self::KubernetesListResourceNamespace { .. } => "list_resources_by_namespace",
            Self::KubernetesListResourceAll { .. } => "list_resources_all",
            Self::KubernetesGetResource { .. } => "get_resource",
            Self::KubernetesCanI { .. } => "can_i",
        }
    }

    /// `apiVersion` and `kind` asked for; `None` for a question about rights.
    #[must_use]
    pub fn resource(&self) -> Option<(&str, &str)> {
        match self {
            Self::KubernetesListResourceNamespace { api_version, kind, .. }
            | Self::KubernetesListResourceAll { api_version, kind, .. }
            | Self::KubernetesGetResource { api_version, kind, .. } => Some((api_version, kind)),
            Self::KubernetesCanI { .. } => None,
        }
    }

    /// The name asked for, of a get.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::KubernetesGetResource { name, .. } => Some(name),
            _ => None,
        }
    }

    /// A get of one object, through the host's cache and without masks.
    #[must_use]
    pub fn get(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Self {
        Self::KubernetesGetResource {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            disable_cache: false,
            field_masks: None,
        }
    }

    /// The same question with `masks`.
    #[must_use]
    pub fn masked(mut self, masks: &[&str]) -> Self {
        let wanted = Some(masks.iter().map(|mask| (*mask).to_owned()).collect());
        match &mut self {
            Self::KubernetesListResourceNamespace { field_masks, .. }
            | Self::KubernetesListResourceAll { field_masks, .. }
            | Self::KubernetesGetResource { field_masks, .. } => *field_masks = wanted,
            Self::KubernetesCanI { .. } => {}
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_sdk_sends() {
        let get =
            br#"{"api_version":"v1","kind":"ConfigMap","name":"c","namespace":"n","disable_cache":false,"field_masks":["data"]}"#;
        assert_eq!(
            Query::parse("get_resource", get).unwrap().unwrap(),
            Query::get("v1", "ConfigMap", Some("n"), "c").masked(&["data"])
        );
        let rights = br#"{"subject_access_review":{"groups":null,"resource_attributes":{"resource":"pods","verb":"get"},"user":"u"},"disable_cache":true}"#;
        assert_eq!(Query::parse("can_i", rights).unwrap().unwrap().operation(), "can_i");
        assert!(Query::parse("get_resource", b"{}").unwrap().is_err());
        assert!(Query::parse("list", b"{}").is_none());
    }

    #[test]
    fn operations_are_named_as_they_are_called() {
        for (operation, variant) in OPERATIONS {
            assert!(variant.starts_with("Kubernetes"), "{operation}");
        }
        let all = br#"{"api_version":"v1","kind":"LimitRange"}"#;
        assert_eq!(Query::parse("list_resources_all", all).unwrap().unwrap().operation(), "list_resources_all");
    }
}
