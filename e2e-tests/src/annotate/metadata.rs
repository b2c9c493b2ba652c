//! The metadata of a policy: which keys there are, in which order they are written, and what they may say.
//!
//! Keys, order and rules are those of Kubewarden's policy-evaluator (`policy_metadata.rs`), for a waPC policy.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What a policy needs and does. Unlike in kwctl, an unknown key is an error: here it can only be a slip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// The protocol that the module speaks; asked from the module.
    pub protocol_version: Option<String>,
    /// Which requests the policy is for.
    pub rules: Vec<Rule>,
    /// Title, version, author and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// Whether the policy changes objects.
    pub mutating: bool,
    /// Whether the audit scanner may use the policy.
    #[serde(default = "yes")]
    pub background_audit: bool,
    /// How the module is run.
    #[serde(default)]
    pub execution_mode: ExecutionMode,
    /// What the policy judges.
    #[serde(default)]
    pub policy_type: PolicyType,
    /// The kinds that the policy looks up.
    #[serde(default)]
    pub context_aware_resources: BTreeSet<ContextAwareResource>,
    /// What the policy asks of its host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_capabilities: Option<BTreeSet<String>>,
    /// The oldest Kubewarden that the policy works with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_kubewarden_version: Option<String>,
}

const fn yes() -> bool {
    true
}

/// How a module is run; this project's only way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionMode {
    /// As a waPC guest.
    #[default]
    #[serde(rename = "kubewarden-wapc")]
    KubewardenWapc,
}

/// What a policy judges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyType {
    /// Admission requests.
    #[default]
    Kubernetes,
    /// Any JSON.
    Raw,
}

/// Requests that a policy is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct Rule {
    pub api_groups: Vec<String>,
    pub api_versions: Vec<String>,
    pub resources: Vec<String>,
    pub operations: Vec<String>,
}

/// A kind that a policy looks up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct ContextAwareResource {
    pub api_version: String,
    pub kind: String,
}

/// Something in the metadata that a policy server would refuse.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// There is no rule, so no request would ever reach the policy.
    #[error("rules: there is none")]
    NoRules,
    /// A list of a rule is empty.
    #[error("rules[{rule}].{list}: it is empty")]
    Empty {
        /// Counted from 0.
        rule: usize,
        /// Which list.
        list: &'static str,
    },
    /// A list has `*` and something else.
    #[error("rules[{rule}].{list}: beside \"*\" there may be nothing else")]
    Wildcard {
        /// Counted from 0.
        rule: usize,
        /// Which list.
        list: &'static str,
    },
    /// An operation that there is not.
    #[error("rules[{rule}].operations: {operation:?} is none of CREATE, UPDATE, DELETE, CONNECT, *")]
    Operation {
        /// Counted from 0.
        rule: usize,
        /// Which one.
        operation: String,
    },
    /// A resource that another one of the list includes.
    #[error("rules[{rule}].resources: {resource:?} may not stand beside {wildcard:?}")]
    Resource {
        /// Counted from 0.
        rule: usize,
        /// Which one.
        resource: String,
        /// Which one includes it.
        wildcard: String,
    },
    /// A resource without a name.
    #[error("rules[{rule}].resources: one is empty")]
    NoResource {
        /// Counted from 0.
        rule: usize,
    },
    /// A kind to look up without version or name.
    #[error("contextAwareResources: apiVersion and kind may not be empty")]
    ContextAwareResource,
    /// A version that is not `MAJOR.MINOR.PATCH`.
    #[error("minimumKubewardenVersion: {0:?} is not MAJOR.MINOR.PATCH")]
    Version(String),
}

impl Metadata {
    /// What a policy server would refuse, and rules that there are none of.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.rules.is_empty() {
            faults.push(Fault::NoRules);
        }
        for (number, rule) in (0..).zip(&self.rules) {
            rule.faults(number, &mut faults);
        }
        if self.context_aware_resources.iter().any(|kind| kind.api_version.is_empty() || kind.kind.is_empty()) {
            faults.push(Fault::ContextAwareResource);
        }
        let version = |text: &&String| {
            let parts: Vec<&str> = text.split('.').collect();
            parts.len() != 3 || parts.iter().any(|part| part.parse::<u64>().is_err())
        };
        faults.extend(self.minimum_kubewarden_version.iter().filter(version).cloned().map(Fault::Version));
        faults
    }
}

impl Rule {
    fn faults(&self, rule: usize, faults: &mut Vec<Fault>) {
        let lists = [
            ("apiGroups", &self.api_groups, true),
            ("apiVersions", &self.api_versions, true),
            ("resources", &self.resources, false),
            ("operations", &self.operations, true),
        ];
        for (list, entries, exclusive) in lists {
            if entries.is_empty() {
                faults.push(Fault::Empty { rule, list });
            }
            if exclusive && entries.len() > 1 && entries.iter().any(|entry| entry == "*") {
                faults.push(Fault::Wildcard { rule, list });
            }
        }
        let known = ["CREATE", "UPDATE", "DELETE", "CONNECT", "*"];
        let unknown = self.operations.iter().filter(|operation| !known.contains(&operation.as_str()));
        faults.extend(unknown.cloned().map(|operation| Fault::Operation { rule, operation }));
        for resource in &self.resources {
            if resource.is_empty() {
                faults.push(Fault::NoResource { rule });
            }
            if let Some(wildcard) = self.resources.iter().find(|wildcard| includes(wildcard, resource)) {
                faults.push(Fault::Resource { rule, resource: resource.clone(), wildcard: wildcard.clone() });
            }
        }
    }
}

/// Whether `wildcard` is another entry that includes `resource`, which is what the API server refuses beside each other.
fn includes(wildcard: &str, resource: &str) -> bool {
    if wildcard == resource {
        return false;
    }
    match (wildcard.split_once('/'), resource.split_once('/')) {
        (None, None) => wildcard == "*",
        (None, Some(_)) | (Some(_), None) => wildcard == "*/*",
        (Some(("*", "*")), Some(_)) => true,
        (Some((of, "*")), Some((resource, _))) => of == resource,
        (Some(("*", of)), Some((_, sub_resource))) => of == sub_resource,
        (Some(_), Some(_)) => false,
    }
}
