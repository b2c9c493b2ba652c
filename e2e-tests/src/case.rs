//! The conformance corpus' format: cases, results, and the way from one to the other through the policy.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    admission::Admission,
    cluster::{Cluster, Manifests},
    host::Host,
    policy::{Policy, PolicyError, Response},
    yaml,
};

pub mod corpus;
mod defaults;
mod lines;

pub use self::{
    defaults::{chart_defaults, config_values, deep_merge},
    lines::{LineError, read_lines},
};

/// One admission request and the cluster that it is made in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// `family/what`, unique in the corpus.
    pub name: String,
    /// What the case is about.
    #[serde(default)]
    pub family: String,
    /// Where the control plane runs.
    pub control_plane_namespace: String,
    /// Overrides on the chart's default values.
    #[serde(default)]
    pub values: Map<String, Value>,
    /// The trust bundle, as PEM.
    #[serde(default)]
    pub trust_anchors: String,
    /// The request's namespace.
    pub namespace: Namespace,
    /// Objects that a look-up may find.
    #[serde(default)]
    pub cluster: Vec<Value>,
    /// The admission request.
    pub request: Request,
}

/// A namespace of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

/// The admission request of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The object's kind.
    pub kind: String,
    /// The request's namespace.
    pub namespace: String,
    /// `CREATE`, `UPDATE`, …
    pub operation: String,
    /// The sub-resource that is asked for, empty for the object itself.
    #[serde(default, rename = "subResource", skip_serializing_if = "String::is_empty")]
    pub sub_resource: String,
    /// The object to be stored.
    pub object: Value,
}

impl Case {
    /// The cluster of the case: its namespace, the two ConfigMaps of the control plane, and the objects it lists.
    #[must_use]
    pub fn manifests(&self) -> Manifests {
        let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": self.namespace.name, "annotations": self.namespace.annotations, "labels": self.namespace.labels,
        }})];
        objects.extend(control_plane(&self.control_plane_namespace, &config_values(&self.values), &self.trust_anchors));
        objects.extend(self.cluster.iter().cloned());
        Manifests::new(objects)
    }

    /// The admission request, as a policy server sends it.
    #[must_use]
    pub fn admission_request(&self) -> Value {
        let Request { kind, namespace, operation, sub_resource, object } = &self.request;
        let request =
            Admission { kind, namespace, operation, object, user: "system:serviceaccount:kube-system:replicaset-controller" }
                .request();
        let Value::Object(mut request) = request else { return request };
        if !sub_resource.is_empty() {
            request.insert("subResource".to_owned(), json!(sub_resource));
            request.insert("requestSubResource".to_owned(), json!(sub_resource));
        }
        Value::Object(request)
    }

    /// The policy's settings: `base`, in which only the control-plane namespace is the case's.
    #[must_use]
    pub fn settings(&self, base: &Value) -> Value {
        let mut settings = base.as_object().cloned().unwrap_or_default();
        settings.insert("controlPlaneNamespace".to_owned(), json!(self.control_plane_namespace));
        settings.entry("source").or_insert_with(|| json!("cluster"));
        Value::Object(settings)
    }

    /// Asks `policy` what becomes of the case, in the case's own cluster.
    ///
    /// # Errors
    /// The policy gives no answer that can be read.
    pub fn run(&self, policy: &dyn Policy, settings: &Value) -> Result<CaseResult, PolicyError> {
        self.run_in(policy, settings, self.manifests())
    }

    /// Asks `policy` what becomes of the case in another cluster.
    ///
    /// # Errors
    /// The policy gives no answer that can be read.
    pub fn run_in(
        &self,
        policy: &dyn Policy,
        settings: &Value,
        cluster: impl Cluster + 'static,
    ) -> Result<CaseResult, PolicyError> {
        let host = Arc::new(Host::new(cluster));
        let response = policy.respond(&self.admission_request(), &self.settings(settings), &host)?;
        Ok(CaseResult::of(&self.name, &self.request.object, response))
    }
}

/// The ConfigMaps that the policy reads, as the control plane's chart writes them.
#[must_use]
pub fn control_plane(namespace: &str, values: &Value, trust_anchors: &str) -> [Value; 2] {
    let config = |name: &str, key: &str, value: String| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": {key: value}});
    // A tree of JSON values has no keys or numbers that YAML could not hold.
    let values = yaml::write(&serde_norway::to_value(values).unwrap_or_default());
    [config("linkerd-config", "values", values), config("linkerd-identity-trust-roots", "ca-bundle.crt", trust_anchors.to_owned())]
}

/// What becomes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It joins the mesh.
    Injected,
    /// It stays out of the mesh and gets an annotation.
    Annotated,
    /// It is stored as it is.
    Skipped,
    /// It is not stored, says the policy.
    Rejected,
    /// It is not stored, says Linkerd's injector.
    Error,
    /// Linkerd's injector answers with a patch that cannot be read.
    BadPatch,
}

impl Outcome {
    /// The word in results.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Injected => "injected",
            Self::Annotated => "annotated",
            Self::Skipped => "skipped",
            Self::Rejected => "rejected",
            Self::Error => "error",
            Self::BadPatch => "bad-patch",
        }
    }
}

/// The result of a case: ours, or Linkerd's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CaseResult {
    /// The case's name.
    pub name: String,
    /// What became of the object.
    pub outcome: Outcome,
    /// Why, in the words that machines read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What the person is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why the object is not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The object to store, where it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// The unreadable patch, of Linkerd's results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_patch: Option<String>,
}

impl CaseResult {
    /// Reads a response to a request for `object`. An object that comes back as it was is not a change, as in the
    /// policy server, whose patch would be empty.
    #[must_use]
    pub fn of(name: &str, object: &Value, response: Response) -> Self {
        let reasons = response.audit("reason").unwrap_or_default();
        let reasons = reasons.split(',').map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned).collect();
        let injected = response.audit("injected") == Some("true");
        let changed = response.mutated_object.filter(|mutated| mutated != object);
        let outcome = match &changed {
            _ if !response.accepted => Outcome::Rejected,
            Some(_) if injected => Outcome::Injected,
            Some(_) => Outcome::Annotated,
            None => Outcome::Skipped,
        };
        Self {
            name: name.to_owned(),
            outcome,
            reasons,
            warnings: response.warnings.unwrap_or_default(),
            message: response.message.filter(|_| outcome == Outcome::Rejected),
            object: changed.filter(|_| outcome != Outcome::Rejected),
            raw_patch: None,
        }
    }
}

#[cfg(test)]
mod tests;
