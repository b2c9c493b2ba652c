//! The four laws of a second call, and what else must hold however often the policy is asked.
//!
//! In: a policy and cases. Out: violations, each with a reason in one line, and the number of times that a law held. A second call
//! changes nothing where nobody changed anything (fixpoint); it comes to what a first call would have made of the edited pod
//! (commutation); what others changed since stays, or a warning names it (no loss); what we wrote, nobody changed and we no longer
//! want goes (no stale). Each is tried as it stands and with an API server between the calls ([`api_server`]); what other webhooks do
//! is in [`edits`], what may change in the cluster in [`changes`].

use crate::admission::Admission;
use crate::case::{Case, control_plane};
use crate::cluster::Manifests;
use crate::host::Host;
use crate::policy::{Policy, PolicyError};
use api_server::ApiServer;
use leaves::changes_of_users;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

mod adoption;
pub mod api_server;
pub mod changes;
pub mod edits;
mod environment;
mod leaves;
pub mod matrix;
mod placement;
mod records;
mod rules;
mod trial;

pub use adoption::try_adoption;
pub use trial::{Extent, Report, try_case};

/// Names of the containers that the policy adds.
const OWN_CONTAINERS: [&str; 4] = ["linkerd-init", "linkerd-network-validator", "linkerd-proxy", "linkerd-debug"];
/// Names of the volumes that the policy adds.
const OWN_VOLUMES: [&str; 4] =
    ["linkerd-proxy-init-xtables-lock", "linkerd-identity-end-entity", "linkerd-podinfo", "linkerd-identity-token"];

/// Whether a container bears a name of ours.
fn is_ours(name: Option<&Value>) -> bool {
    name.and_then(Value::as_str).is_some_and(|name| OWN_CONTAINERS.contains(&name))
}

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// A second call changes nothing, and says nothing new.
    Fixpoint,
    /// Whether an edit comes before or after the first call makes no difference.
    Commutation,
    /// What others change stays, or a warning names it.
    NoLoss,
    /// What is no longer wanted goes.
    NoStale,
    /// A record that is missing, unreadable, forged or of another version does no harm.
    Record,
    /// The user's part of the pod is not touched.
    UsersPart,
    /// The environment of the proxy names each variable once, and defines what it refers to.
    Environment,
    /// What must start first stands first.
    Placement,
    /// Webhooks in any order give one pod, and none loses its effect.
    AnyOrder,
}

impl Law {
    /// Every law.
    pub const ALL: &[Law] = &[
        Law::Fixpoint,
        Law::Commutation,
        Law::NoLoss,
        Law::NoStale,
        Law::Record,
        Law::UsersPart,
        Law::Environment,
        Law::Placement,
        Law::AnyOrder,
    ];

    /// The law's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Law::Fixpoint => "fixpoint",
            Law::Commutation => "commutation",
            Law::NoLoss => "no loss",
            Law::NoStale => "no stale",
            Law::Record => "record",
            Law::UsersPart => "user's part",
            Law::Environment => "environment",
            Law::Placement => "placement",
            Law::AnyOrder => "any order",
        }
    }
}

/// A law that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The case's name.
    pub case: String,
    /// Which law.
    pub law: Law,
    /// What was done between the calls.
    pub between: String,
    /// Where it shows.
    pub reason: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.reason.replace('\n', "\\n");
        write!(f, "{}: {} ({}): {reason}", self.case, self.law.as_str(), self.between)
    }
}

/// What the policy answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The pod as it goes on.
    pub pod: Value,
    /// Whether it was changed.
    pub changed: bool,
    /// Whether the pod is in the mesh.
    pub injected: bool,
    /// Whether the pod may be stored.
    pub accepted: bool,
    /// What the person is told.
    pub warnings: Vec<String>,
}

/// A case's cluster with the policy in it.
pub struct Mesh<'a> {
    policy: &'a dyn Policy,
    settings: Value,
    host: Arc<Host>,
    case: &'a Case,
    server: Option<ApiServer>,
}

impl<'a> Mesh<'a> {
    /// The cluster of a case; pods go through `server` on their way, where there is one.
    #[must_use]
    pub fn new(policy: &'a dyn Policy, settings: &Value, case: &'a Case, server: Option<ApiServer>) -> Self {
        Self { policy, settings: case.settings(settings), host: Arc::new(Host::new(manifests(case))), case, server }
    }

    /// The pod of the case, as the first webhook gets it.
    #[must_use]
    pub fn pod(&self) -> Value {
        self.admitted(&self.case.request.object)
    }

    /// The pod after a webhook.
    #[must_use]
    pub fn stored(&self, pod: &Value) -> Value {
        self.server.as_ref().map_or_else(|| pod.clone(), |server| server.store(pod))
    }

    /// The pod as the first webhook of a round gets it.
    #[must_use]
    pub fn admitted(&self, pod: &Value) -> Value {
        self.server.as_ref().map_or_else(|| pod.clone(), |server| server.admit(pod))
    }

    /// What the policy makes of a pod.
    ///
    /// # Errors
    /// It gives no answer that can be read.
    pub fn call(&self, pod: &Value) -> Result<Answer, PolicyError> {
        let request = Admission {
            kind: &self.case.request.kind,
            namespace: &self.case.request.namespace,
            operation: &self.case.request.operation,
            object: pod,
            user: "system:serviceaccount:kube-system:replicaset-controller",
        };
        let response = self.policy.respond(&request.request(), &self.settings, &self.host)?;
        let injected = response.audit("injected") == Some("true");
        let changed = response.mutated_object.filter(|mutated| mutated != pod);
        Ok(Answer {
            changed: changed.is_some(),
            pod: changed.unwrap_or_else(|| pod.clone()),
            injected,
            accepted: response.accepted,
            warnings: response.warnings.unwrap_or_default(),
        })
    }

    /// The pod after a webhook, an edit and all that comes before the second call.
    fn edited(&self, pod: &Value, edit: impl FnOnce(&mut Value)) -> Value {
        let mut pod = self.stored(pod);
        edit(&mut pod);
        self.admitted(&pod)
    }
}

/// The cluster of a case, whose `linkerd-config` holds only what the case says: the policy has the chart's defaults built in, and most
/// of the time of a call goes into reading them.
fn manifests(case: &Case) -> Manifests {
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": case.namespace.name, "annotations": case.namespace.annotations, "labels": case.namespace.labels,
    }})];
    objects.extend(control_plane(&case.control_plane_namespace, &Value::Object(case.values.clone()), &case.trust_anchors));
    objects.extend(case.cluster.iter().cloned());
    Manifests::new(objects)
}

/// Whether it is said under several names whether the sidecar is a native one, and by the namespace at least once: without the record
/// nobody knows which word of a pod is inherited.
fn says_native_twice(case: &Case) -> bool {
    let keys = |of: &Map<String, Value>| -> BTreeSet<String> {
        of.keys().filter(|key| key.ends_with("linkerd.io/proxy-enable-native-sidecar")).cloned().collect()
    };
    let own = case.request.object.pointer("/metadata/annotations").and_then(Value::as_object).map(keys).unwrap_or_default();
    let inherited = keys(&case.namespace.annotations);
    !inherited.is_empty() && own.union(&inherited).count() > 1
}

/// What is wrong with an answer whatever was asked.
fn unsound(before: &Value, answer: &Answer) -> Vec<(Law, String)> {
    let mut wrong = Vec::new();
    let changed = changes_of_users(before, &answer.pod);
    if !changed.is_empty() {
        wrong.push((Law::UsersPart, format!("changed: {}", changed.join(", "))));
    }
    if answer.injected {
        wrong.extend(environment::faults(&answer.pod).into_iter().map(|fault| (Law::Environment, fault)));
        wrong.extend(placement::faults(&answer.pod).into_iter().map(|fault| (Law::Placement, fault)));
    }
    wrong
}
