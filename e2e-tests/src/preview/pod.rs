//! The pod that a workload's controller would create, and the way back into the template.
//!
//! The policy sees pods, at creation, as the controllers and the API server's own admission made them: named and labelled
//! by their controller, owned by it, with the service account's token mounted. What only that pod has is taken away again
//! before the template is shown.

use serde_json::{Map, Value, json};

/// A kind whose pods can be previewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    group: &'static str,
    kind: &'static str,
    template: &'static str,
}

const WORKLOADS: &[Workload] = &[
    Workload { group: "", kind: "ReplicationController", template: "/spec/template" },
    Workload { group: "apps", kind: "DaemonSet", template: "/spec/template" },
    Workload { group: "apps", kind: "Deployment", template: "/spec/template" },
    Workload { group: "apps", kind: "ReplicaSet", template: "/spec/template" },
    Workload { group: "apps", kind: "StatefulSet", template: "/spec/template" },
    Workload { group: "batch", kind: "CronJob", template: "/spec/jobTemplate/spec/template" },
    Workload { group: "batch", kind: "Job", template: "/spec/template" },
];

/// Where controllers find the identifiers of their objects; any will do, and the same each time.
const UID: &str = "7d0e9d0a-2f2b-4c1c-9d57-0c8f5b1b6a3e";
const TOKEN_VOLUME: &str = "kube-api-access-p7v3w";
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A pod, the objects that own it, and what has to be taken away from it again.
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// The pod as it reaches the webhook.
    pub pod: Value,
    /// What a look-up of its owner has to find, beside the workload itself.
    pub owners: Vec<Value>,
    added_labels: Map<String, Value>,
}

impl Workload {
    /// The workload's entry, if `object` is one that has a pod template.
    #[must_use]
    pub fn of(object: &Value) -> Option<&'static Self> {
        let api_version = object.get("apiVersion")?.as_str()?;
        let (group, _) = crate::kinds::group_version(api_version);
        let kind = object.get("kind")?.as_str()?;
        let known = WORKLOADS.iter().find(|known| known.group == group && known.kind == kind)?;
        object.pointer(known.template)?.as_object()?;
        Some(known)
    }

    /// The first pod of the workload.
    #[must_use]
    pub fn pod(&self, workload: &Value, namespace: &str) -> Synthetic {
        let template = workload.pointer(self.template).cloned().unwrap_or_default();
        let name = workload.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let hash = hash(&template);
        let api_version = workload.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let own = reference(api_version, self.kind, name);
        let mut owners = Vec::new();
        let mut pod_name = None;
        let (owner, prefix, labels) = match self.kind {
            "Deployment" => {
                let set = format!("{name}-{hash}");
                owners.push(owned("apps/v1", "ReplicaSet", &set, namespace, own));
                (reference("apps/v1", "ReplicaSet", &set), format!("{set}-"), json!({"pod-template-hash": hash}))
            }
            "CronJob" => {
                let job = format!("{name}-29000000");
                owners.push(owned("batch/v1", "Job", &job, namespace, own));
                (reference("batch/v1", "Job", &job), format!("{job}-"), job_labels(&job))
            }
            "Job" => (own, format!("{name}-"), job_labels(name)),
            "StatefulSet" => {
                pod_name = Some(format!("{name}-0"));
                let labels = json!({
                    "apps.kubernetes.io/pod-index": "0", "controller-revision-hash": format!("{name}-{hash}"),
                    "statefulset.kubernetes.io/pod-name": format!("{name}-0"),
                });
                (own, format!("{name}-"), labels)
            }
            "DaemonSet" => {
                let labels = json!({"controller-revision-hash": hash, "pod-template-generation": "1"});
                (own, format!("{name}-"), labels)
            }
            _ => (own, format!("{name}-"), json!({})),
        };

        let mut metadata = object_at(&template, "metadata");
        let mut added_labels = Map::new();
        let mut pod_labels = object_at(&Value::Object(metadata.clone()), "labels");
        for (key, value) in labels.as_object().into_iter().flatten() {
            if !pod_labels.contains_key(key) {
                added_labels.insert(key.clone(), value.clone());
                pod_labels.insert(key.clone(), value.clone());
            }
        }
        if !pod_labels.is_empty() {
            metadata.insert("labels".to_owned(), Value::Object(pod_labels));
        }
        metadata.insert("generateName".to_owned(), json!(prefix));
        metadata.insert("namespace".to_owned(), json!(namespace));
        metadata.insert("ownerReferences".to_owned(), json!([owner]));
        match pod_name {
            Some(name) => metadata.insert("name".to_owned(), json!(name)),
            None => metadata.remove("name"),
        };
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
        if let (Some(fields), Some(spec)) = (pod.as_object_mut(), template.get("spec")) {
            fields.insert("spec".to_owned(), spec.clone());
        }
        mount_token(&mut pod);
        Synthetic { pod, owners, added_labels }
    }

    /// The workload whose template is what the policy made of the pod.
    #[must_use]
    pub fn with_pod(&self, workload: &Value, synthetic: &Synthetic, mut pod: Value) -> Value {
        unmount_token(&mut pod, workload.pointer(self.template).unwrap_or(&Value::Null));
        let mut changed = workload.clone();
        let Some(template) = changed.pointer_mut(self.template).and_then(Value::as_object_mut) else {
            return changed;
        };
        let mut metadata = object_at(&Value::Object(template.clone()), "metadata");
        let pod_metadata = object_at(&pod, "metadata");
        for key in ["labels", "annotations"] {
            let mut entries = object_at(&Value::Object(pod_metadata.clone()), key);
            if key == "labels" {
                entries.retain(|label, value| synthetic.added_labels.get(label) != Some(value));
            }
            if !entries.is_empty() {
                metadata.insert(key.to_owned(), Value::Object(entries));
            } else if metadata.get(key).is_some_and(|old| old.as_object().is_some_and(|old| !old.is_empty())) {
                metadata.remove(key);
            }
        }
        if !metadata.is_empty() {
            template.insert("metadata".to_owned(), Value::Object(metadata));
        }
        if let Some(spec) = pod.get("spec") {
            template.insert("spec".to_owned(), spec.clone());
        }
        changed
    }
}

/// Mounts the service account's token as the API server does, where the pod wants one and has none.
pub fn mount_token(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if spec.get("automountServiceAccountToken") == Some(&json!(false)) {
        return;
    }
    let mut mounted = false;
    for key in ["initContainers", "containers"] {
        let containers = spec.get_mut(key).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(mounts) = list_at(container, "volumeMounts")
                && !mounts.iter().any(|mount| mount.get("mountPath") == Some(&json!(TOKEN_PATH)))
            {
                mounts.push(json!({"name": TOKEN_VOLUME, "mountPath": TOKEN_PATH, "readOnly": true}));
                mounted = true;
            }
        }
    }
    if mounted && let Some(volumes) = list_at(spec, "volumes") {
        volumes.push(json!({"name": TOKEN_VOLUME, "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
            ]}}));
    }
}

/// Takes away what [`mount_token`] added to `original`, also where the policy copied it.
pub fn unmount_token(pod: &mut Value, original: &Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let original_spec = original.get("spec").cloned().unwrap_or_default();
    for key in ["initContainers", "containers"] {
        let originals = original_spec.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let containers = spec.get_mut(key).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let original = originals.iter().find(|original| original.get("name") == container.get("name"));
            remove_named(container, "volumeMounts", original);
        }
    }
    remove_named(spec, "volumes", Some(&original_spec));
}

/// Removes the token's entry from a list. A list that held nothing else becomes what it was at first, an empty one or null where it
/// was that; one that had entries has lost them to the policy.
fn remove_named(fields: &mut Map<String, Value>, key: &str, original: Option<&Value>) {
    let Some(list) = fields.get_mut(key).and_then(Value::as_array_mut) else {
        return;
    };
    let before = list.len();
    list.retain(|item| item.get("name") != Some(&json!(TOKEN_VOLUME)));
    if list.is_empty() && before > 0 {
        let is_nothing = |was: &&Value| was.is_null() || was.as_array().is_some_and(Vec::is_empty);
        match original.and_then(|original| original.get(key)).filter(is_nothing) {
            Some(was) => fields.insert(key.to_owned(), was.clone()),
            None => fields.remove(key),
        };
    }
}

/// The list under `key`, which is made where it is absent or null.
fn list_at<'a>(fields: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Vec<Value>> {
    let list = fields.entry(key).or_insert(Value::Null);
    if list.is_null() {
        *list = json!([]);
    }
    list.as_array_mut()
}

fn object_at(value: &Value, key: &str) -> Map<String, Value> {
    value.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

fn reference(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": UID, "controller": true, "blockOwnerDeletion": true})
}

fn owned(api_version: &str, kind: &str, name: &str, namespace: &str, owner: Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace, "uid": UID, "ownerReferences": [owner]}})
}

fn job_labels(name: &str) -> Value {
    json!({"batch.kubernetes.io/controller-uid": UID, "batch.kubernetes.io/job-name": name, "controller-uid": UID, "job-name": name})
}

/// A name part made from the template as controllers make theirs: from a hash, in letters that spell no words.
fn hash(template: &Value) -> String {
    const LETTERS: &[u8; 10] = b"bcdfghjklm";
    let mut state: u32 = 0x811c_9dc5;
    for byte in template.to_string().bytes() {
        state = (state ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    let digits = state.to_string();
    let letters = digits.bytes().filter_map(|digit| LETTERS.get(usize::from(digit & 0x0f)));
    letters.map(|letter| char::from(*letter)).collect()
}

#[cfg(test)]
mod tests;
