//! The workload that owns a pod.
//!
//! In: the pod's owner references and a way to read those of a ReplicaSet or Job. Out: kind and name of the root owner.
//! Source: `GetOwnerKindAndName` in `controller/k8s/metadata_api.go` of linkerd/linkerd2.

use crate::annotation;
use crate::workload::Workload;
use serde_json::Value;

/// An owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its kind, as `Deployment`.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// The owner labels by kind. Kinds without a row give no label.
const LABELS: &[(&str, &str)] = &[
    ("cronjob", "linkerd.io/proxy-cronjob"),
    ("daemonset", "linkerd.io/proxy-daemonset"),
    ("deployment", "linkerd.io/proxy-deployment"),
    ("job", "linkerd.io/proxy-job"),
    ("replicaset", "linkerd.io/proxy-replicaset"),
    ("replicationcontroller", "linkerd.io/proxy-replicationcontroller"),
    ("statefulset", "linkerd.io/proxy-statefulset"),
];

/// Whether a label is one that names an owner.
#[must_use]
pub fn is_label(name: &str) -> bool {
    LABELS.iter().any(|(_, label)| *label == name)
}

impl Owner {
    /// The label that names an owner of this kind.
    #[must_use]
    pub fn label(&self) -> Option<&'static str> {
        LABELS.iter().find(|(kind, _)| self.kind.eq_ignore_ascii_case(kind)).map(|(_, label)| *label)
    }

    fn of(reference: &Value) -> Option<Owner> {
        let text = |key| reference.get(key).and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
        Some(Owner { kind: text("kind")?, name: text("name")? })
    }
}

/// The owner that the pod itself names: its only one, or of several the one that controls it (D17).
#[must_use]
pub fn direct(pod: &Workload<'_>) -> Option<Owner> {
    match pod.owner_references() {
        [one] => Owner::of(one),
        several => several.iter().find(|r| r.get("controller").and_then(Value::as_bool) == Some(true)).and_then(Owner::of),
    }
}

/// The owner as far as the pod alone tells: the one that it names, or the Deployment of such a ReplicaSet.
#[must_use]
pub fn told(pod: &Workload<'_>) -> Option<Owner> {
    let owner = direct(pod)?;
    let deployment = if owner.kind == "ReplicaSet" { deployment_by_name(&owner.name, pod) } else { None };
    Some(deployment.unwrap_or(owner))
}

/// The Deployment of a ReplicaSet that bears the name the Deployment controller gives: `NAME-HASH`, with the pod labelled by the
/// same hash (D28).
fn deployment_by_name(replica_set: &str, pod: &Workload<'_>) -> Option<Owner> {
    let hash = pod.label(annotation::POD_TEMPLATE_HASH).filter(|h| !h.is_empty())?;
    let name = replica_set.strip_suffix(hash)?.strip_suffix('-').filter(|n| !n.is_empty())?;
    Some(Owner { kind: "Deployment".to_owned(), name: name.to_owned() })
}

/// The root owner of a pod. `references` reads the owner references of a ReplicaSet or Job, `None` when it cannot be read; it is
/// asked at most once, and only when the pod alone does not tell.
#[must_use]
pub fn root(pod: &Workload<'_>, references: &mut dyn FnMut(&Owner) -> Option<Vec<Value>>) -> Option<Owner> {
    let owner = direct(pod)?;
    let parent = match owner.kind.as_str() {
        "ReplicaSet" => match deployment_by_name(&owner.name, pod) {
            Some(deployment) => Some(deployment),
            None => only(references(&owner)).filter(|parent| {
                let kinds = ["deployment", "statefulset", "daemonset", "job"];
                kinds.iter().any(|k| parent.kind.eq_ignore_ascii_case(k))
            }),
        },
        "Job" => only(references(&owner)),
        _ => None,
    };
    Some(parent.unwrap_or(owner))
}

/// The owner where there is exactly one; a ReplicaSet or Job of several stands for itself, as in Linkerd.
fn only(references: Option<Vec<Value>>) -> Option<Owner> {
    match references?.as_slice() {
        [one] => Owner::of(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
