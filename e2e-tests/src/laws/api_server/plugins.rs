//! The plugins inside the API server that change pods.

use super::{CONTAINER_LISTS, Limits, child_mut, containers_mut, default_to, items_mut};
use serde_json::{Map, Value, json};

/// Where a service account's token is mounted.
pub(crate) const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// What the names of token volumes begin with.
const TOKEN_VOLUME: &str = "kube-api-access-";
/// The annotation in which LimitRanger says what it did.
const LIMIT_RANGER: &str = "kubernetes.io/limit-ranger";

/// LimitRanger: containers without resources get those of the namespace, and an annotation says which.
pub(super) fn limit_ranger(pod: &mut Value, limits: &Limits) {
    let mut said = Vec::new();
    // Its annotation names the containers before the init containers.
    for (list, word) in [("containers", "container"), ("initContainers", "init container")] {
        let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
        for container in items_mut(spec.get_mut(list)) {
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let Some(resources) = child_mut(container, "resources") else { continue };
            for (key, what, given) in [("requests", "request", &limits.default_request), ("limits", "limit", &limits.default)] {
                let set = fill_map(resources, key, given);
                if !set.is_empty() {
                    said.push(format!("{} {what} for {word} {name}", set.join(", ")));
                }
            }
        }
    }
    if !said.is_empty()
        && let Some(annotations) = annotations_mut(pod)
    {
        annotations.insert(LIMIT_RANGER.to_owned(), format!("LimitRanger plugin set: {}", said.join("; ")).into());
    }
}

/// Sets the entries that are not there, and returns their names.
fn fill_map(of: &mut Map<String, Value>, key: &str, given: &Map<String, Value>) -> Vec<String> {
    let Some(map) = child_mut(of, key) else { return Vec::new() };
    let missing: Vec<String> = given.keys().filter(|name| !map.contains_key(*name)).cloned().collect();
    map.extend(missing.iter().filter_map(|name| Some((name.clone(), given.get(name)?.clone()))));
    missing
}

fn annotations_mut(pod: &mut Value) -> Option<&mut Map<String, Value>> {
    child_mut(child_mut(pod.as_object_mut()?, "metadata")?, "annotations")
}

/// ServiceAccount: the account's name, and its token in every container that mounts nothing in its place.
pub(super) fn service_account(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let account = spec.get("serviceAccountName").or_else(|| spec.get("serviceAccount")).cloned();
    let account = account.unwrap_or_else(|| "default".into());
    spec.insert("serviceAccountName".to_owned(), account.clone());
    spec.insert("serviceAccount".to_owned(), account);
    if spec.get("automountServiceAccountToken") == Some(&Value::Bool(false)) {
        return;
    }
    let is_token = |name: &&str| name.starts_with(TOKEN_VOLUME);
    let names = spec.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let known = names.filter_map(|v| v.get("name")?.as_str()).find(is_token).map(str::to_owned);
    // The server draws the end of the name.
    let volume = known.clone().unwrap_or_else(|| format!("{TOKEN_VOLUME}p7v3w"));
    let mut needed = false;
    for list in CONTAINER_LISTS {
        for container in items_mut(spec.get_mut(list)) {
            let mounts = container.entry("volumeMounts").or_insert_with(|| json!([]));
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if !mounts.iter().any(|m| m.get("mountPath").and_then(Value::as_str) == Some(TOKEN_PATH)) {
                mounts.push(json!({"name": volume, "readOnly": true, "mountPath": TOKEN_PATH}));
                needed = true;
            }
        }
    }
    if needed && known.is_none() {
        let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
        let namespace = json!({"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}});
        volumes.as_array_mut().into_iter().for_each(|volumes| {
            volumes.push(json!({"name": volume, "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [namespace]}},
            ]}}));
        });
    }
}

/// AlwaysPullImages.
pub(super) fn always_pull_images(pod: &mut Value) {
    for (_, container) in containers_mut(pod) {
        container.insert("imagePullPolicy".to_owned(), "Always".into());
    }
}

/// Priority, where no class is named and none is the default.
pub(super) fn priority(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    default_to(spec, "priority", 0);
    default_to(spec, "preemptionPolicy", "PreemptLowerPriority");
}

/// DefaultTolerationSeconds.
pub(super) fn default_tolerations(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(tolerations) = tolerations.as_array_mut() else { return };
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let covers = |t: &Value| {
            let is = |field: &str, value: &str| {
                t.get(field).and_then(Value::as_str).is_none_or(|given| given.is_empty() || given == value)
            };
            is("key", key) && is("effect", "NoExecute")
        };
        if !tolerations.iter().any(covers) {
            tolerations.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
}
