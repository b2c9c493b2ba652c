//! One object: what the policy is asked about it, and what it answers.

use std::sync::Arc;

use serde_json::Value;

use super::{
    Surroundings,
    input::is_admission_request,
    pod::{Workload, mount_token, unmount_token},
};
use crate::{
    admission::Admission,
    case::{CaseResult, Outcome},
    cluster::Manifests,
    host::{Host, Logs},
    policy::{Policy, PolicyError},
};

/// What would become of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// `Kind/name`.
    pub title: String,
    /// The object's type, namespace and name, for machines.
    pub identity: [(&'static str, String); 4],
    /// What the policy does.
    pub outcome: Outcome,
    /// Why.
    pub reasons: Vec<String>,
    /// What a person is told.
    pub warnings: Vec<String>,
    /// What was assumed.
    pub notes: Vec<String>,
    /// Why it is not admitted.
    pub rejected: Option<String>,
    /// The object as it was.
    pub before: Value,
    /// The object as it would be; absent if nothing changes, or nothing would be stored.
    pub after: Option<Value>,
}

/// Asks a policy about objects.
pub struct Previewer<'a> {
    policy: &'a dyn Policy,
    settings: &'a Value,
    surroundings: Surroundings,
    namespace: &'a str,
    logs: Logs,
}

const USER: &str = "kubernetes-admin";
const CONTROLLER: &str = "system:serviceaccount:kube-system:replicaset-controller";

impl<'a> Previewer<'a> {
    /// Objects without a namespace go to `namespace`.
    #[must_use]
    pub fn new(policy: &'a dyn Policy, settings: &'a Value, surroundings: Surroundings, namespace: &'a str, logs: Logs) -> Self {
        Self { policy, settings, surroundings, namespace, logs }
    }

    /// Previews an object or an admission request; `None` if the policy has nothing to do with its kind.
    ///
    /// # Errors
    /// The policy gives no answer.
    pub fn preview(&mut self, object: &Value) -> Result<Option<Preview>, PolicyError> {
        if is_admission_request(object) {
            return self.request(object).map(Some);
        }
        if !is_previewed(object) {
            return Ok(None);
        }
        let namespace = namespace(object).unwrap_or(self.namespace).to_owned();
        Ok(Some(match Workload::of(object) {
            Some(workload) => self.workload(workload, object, &namespace)?,
            None => self.single(object, &namespace)?,
        }))
    }

    /// A workload by its pod; what the policy says to the workload itself is heard first.
    fn workload(&mut self, workload: &Workload, object: &Value, namespace: &str) -> Result<Preview, PolicyError> {
        let synthetic = workload.pod(object, namespace);
        let (cluster, note) = self.surroundings.around(namespace, &synthetic.owners);
        let itself = self.ask(object, namespace, USER, cluster.clone())?;
        if itself.outcome == Outcome::Rejected {
            return Ok(Preview::new(object, namespace, itself, None, note));
        }
        let mut result = self.ask(&synthetic.pod, namespace, CONTROLLER, cluster)?;
        let after = result.object.take().map(|pod| workload.with_pod(object, &synthetic, pod));
        let mut warnings = itself.warnings;
        warnings.extend(result.warnings);
        result.warnings = distinct(warnings);
        Ok(Preview::new(object, namespace, result, after, note))
    }

    fn single(&mut self, object: &Value, namespace: &str) -> Result<Preview, PolicyError> {
        let (cluster, note) = self.surroundings.around(namespace, &[]);
        let is_pod = object.get("kind").and_then(Value::as_str) == Some("Pod");
        let mut admitted = object.clone();
        if is_pod {
            mount_token(&mut admitted);
        }
        let mut result = self.ask(&admitted, namespace, USER, cluster)?;
        let after = result.object.take().map(|mut after| {
            if is_pod {
                unmount_token(&mut after, object);
            }
            after
        });
        result.warnings = distinct(result.warnings);
        Ok(Preview::new(object, namespace, result, after, note))
    }

    fn request(&mut self, request: &Value) -> Result<Preview, PolicyError> {
        let object = request.get("object").cloned().unwrap_or_default();
        let given = request.get("namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty());
        let namespace = given.or_else(|| namespace(&object)).unwrap_or(self.namespace).to_owned();
        let (cluster, note) = self.surroundings.around(&namespace, &[]);
        let host = Arc::new(Host::new(cluster).with_logs(self.logs));
        let response = self.policy.respond(request, self.settings, &host)?;
        let mut result = CaseResult::of("", &object, response);
        let after = result.object.take();
        Ok(Preview::new(&object, &namespace, result, after, note))
    }

    fn ask(&self, object: &Value, namespace: &str, user: &str, cluster: Manifests) -> Result<CaseResult, PolicyError> {
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        let request = Admission { kind, namespace, operation: "CREATE", object, user }.request();
        let host = Arc::new(Host::new(cluster).with_logs(self.logs));
        let response = self.policy.respond(&request, self.settings, &host)?;
        Ok(CaseResult::of("", object, response))
    }
}

impl Preview {
    fn new(object: &Value, namespace: &str, result: CaseResult, after: Option<Value>, note: Option<String>) -> Self {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            title: title(object),
            identity: [
                ("apiVersion", text("/apiVersion")),
                ("kind", text("/kind")),
                ("namespace", namespace.to_owned()),
                ("name", name(object)),
            ],
            outcome: result.outcome,
            reasons: result.reasons,
            warnings: result.warnings,
            notes: note.into_iter().collect(),
            rejected: (result.outcome == Outcome::Rejected)
                .then(|| result.message.unwrap_or_else(|| "the policy does not say why".to_owned())),
            before: object.clone(),
            after: after.filter(|after| after != object),
        }
    }
}

/// Whether the policy has anything to do with the object's kind.
#[must_use]
pub fn is_previewed(object: &Value) -> bool {
    let of_core = object.get("apiVersion").and_then(Value::as_str) == Some("v1");
    let kind = object.get("kind").and_then(Value::as_str);
    is_admission_request(object) || (of_core && matches!(kind, Some("Pod" | "Service"))) || Workload::of(object).is_some()
}

/// `Kind/name`, as kubectl writes it.
#[must_use]
pub fn title(object: &Value) -> String {
    let object = if is_admission_request(object) { object.get("object").unwrap_or(object) } else { object };
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or("Object");
    format!("{kind}/{}", name(object))
}

fn name(object: &Value) -> String {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("/metadata/name").or_else(|| text("/metadata/generateName")).unwrap_or("unnamed").to_owned()
}

fn namespace(object: &Value) -> Option<&str> {
    object.pointer("/metadata/namespace").and_then(Value::as_str).filter(|namespace| !namespace.is_empty())
}

fn distinct(warnings: Vec<String>) -> Vec<String> {
    let mut seen = Vec::new();
    for warning in warnings {
        if !seen.contains(&warning) {
            seen.push(warning);
        }
    }
    seen
}
