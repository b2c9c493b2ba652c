//! Who owns a pod, and what of its owners a look-up finds.

use serde_json::{Map, Value, json};

use super::choice::Choice;

/// A pod's owners.
#[derive(Debug, Default)]
pub struct Owners {
    /// The pod's `ownerReferences`.
    pub references: Vec<Value>,
    /// Objects in the cluster.
    pub cluster: Vec<Value>,
    /// Labels that the owner's controller sets on the pod.
    pub labels: Map<String, Value>,
    /// How the pod's name begins.
    pub prefix: String,
}

/// Names of workloads, of which some make labels that are too long, and one could be a number.
const NAMES: &[&str] = &[
    "web",
    "a",
    "web-5d4f",
    "123",
    "true",
    "a.b.c",
    "a-name-that-is-just-as-long-as-a-label-may-be-and-not-any-longe",
    "a-name-that-is-one-more-than-a-label-may-be-and-so-it-has-to-go",
    "a-name-that-is-two-more-than-a-label-may-be-and-so-it-has-to-go-x",
];

const HASHES: &[&str] = &["5d4f", "7b9c6d8f5", "66b6c48dd5", "1"];

/// The owners of a pod in a namespace.
pub fn owners(choice: &mut Choice, namespace: &str) -> Owners {
    let name = choice.pick(NAMES);
    let mut owners = Owners { prefix: name.to_owned(), ..Owners::default() };
    match choice.below(12) {
        0..3 => {}
        3..6 => replica_set(choice, &mut owners, name, namespace),
        6..8 => job(choice, &mut owners, name, namespace),
        8 => owners.references.push(reference("apps/v1", "StatefulSet", name, Some(true))),
        9 => owners.references.push(reference("apps/v1", "DaemonSet", name, Some(true))),
        _ => {
            let (api_version, kind) = OTHERS.get(choice.below(OTHERS.len())).copied().unwrap_or_default();
            let controller = if choice.one_in(4) { None } else { Some(choice.one_in(2)) };
            owners.references.push(reference(api_version, kind, name, controller));
        }
    }
    if choice.one_in(12) {
        let controller = owners.references.is_empty().then_some(true);
        let other = reference("apps/v1", choice.pick(&["ReplicaSet", "StatefulSet", "Deployment"]), "other", controller);
        let at = choice.below(owners.references.len().saturating_add(1));
        owners.references.insert(at, other);
    }
    owners
}

const OTHERS: &[(&str, &str)] = &[
    ("v1", "ReplicationController"),
    ("apps/v1", "Deployment"),
    ("v1", "Node"),
    ("apps.kruise.io/v1alpha1", "CloneSet"),
    ("batch/v1", "CronJob"),
    ("extensions/v1beta1", "ReplicaSet"),
    ("batch/v1beta1", "Job"),
    ("example.test/v1", "Job"),
    ("example.test/v1", "ReplicaSet"),
    ("v1", "Pod"),
];

fn reference(api_version: &str, kind: &str, name: &str, controller: Option<bool>) -> Value {
    let mut reference =
        json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": format!("{}-{name}", kind.to_lowercase())});
    if let (Some(controller), Some(members)) = (controller, reference.as_object_mut()) {
        members.insert("controller".to_owned(), json!(controller));
    }
    reference
}

/// A ReplicaSet that the Deployment controller made, or that nobody did.
fn replica_set(choice: &mut Choice, owners: &mut Owners, name: &str, namespace: &str) {
    let hash = choice.pick(HASHES);
    let set = if choice.one_in(5) { name.to_owned() } else { format!("{name}-{hash}") };
    if !choice.one_in(6) {
        let label = if choice.one_in(8) { "other" } else { hash };
        owners.labels.insert("pod-template-hash".to_owned(), json!(label));
    }
    let above = [
        vec![reference("apps/v1", "Deployment", name, Some(true))],
        vec![reference("argoproj.io/v1alpha1", "Rollout", name, Some(true))],
        vec![],
        vec![reference("apps/v1", "Deployment", "elsewhere", None), reference("apps/v1", "Deployment", name, Some(true))],
    ];
    let above = if choice.one_in(3) { choice.pick(&above) } else { above.into_iter().next().unwrap_or_default() };
    place(choice, owners, "ReplicaSet", "apps/v1", &set, namespace, &above);
}

/// A Job of a CronJob, or of nobody.
fn job(choice: &mut Choice, owners: &mut Owners, name: &str, namespace: &str) {
    let above = [
        vec![],
        vec![reference("batch/v1", "CronJob", name, Some(true))],
        vec![reference("argoproj.io/v1alpha1", "Workflow", name, Some(true))],
        vec![reference("batch/v1", "CronJob", name, None)],
    ];
    let above = choice.pick(&above);
    let name = format!("{name}-28901234");
    owners.labels.insert("job-name".to_owned(), json!(name.chars().take(63).collect::<String>().trim_end_matches(['-', '.'])));
    place(choice, owners, "Job", "batch/v1", &name, namespace, &above);
}

fn place(choice: &mut Choice, owners: &mut Owners, kind: &str, api_version: &str, name: &str, namespace: &str, above: &[Value]) {
    owners.references.push(reference(api_version, kind, name, Some(true)));
    if !choice.one_in(5) {
        let namespace = if choice.one_in(20) { "elsewhere" } else { namespace };
        let mut metadata = json!({"name": name, "namespace": namespace});
        if let Some(members) = metadata.as_object_mut().filter(|_| !above.is_empty()) {
            members.insert("ownerReferences".to_owned(), json!(above));
        }
        owners.cluster.push(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}));
    }
}
