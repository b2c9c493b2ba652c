//! What injection adds to an object, known by name, and how to take it away again.
//!
//! Written without the policy's own code: the tests hold the policy to this, so it may not share a mistake with it.

use serde_json::Value;

/// Containers that an injection adds.
pub const CONTAINERS: &[&str] = &["linkerd-init", "linkerd-network-validator", "linkerd-proxy", "linkerd-debug"];
/// Volumes that an injection adds.
pub const VOLUMES: &[&str] =
    &["linkerd-proxy-init-xtables-lock", "linkerd-identity-end-entity", "linkerd-podinfo", "linkerd-identity-token"];
/// Annotations that are set whatever was there.
const ANNOTATIONS: &[&str] = &[
    "linkerd.io/created-by",
    "linkerd.io/proxy-version",
    "linkerd.io/trust-root-sha256",
    "linkerd.io/injection-warnings",
    "linkerd.io/injection-record",
];
/// Labels that are set whatever was there, beside those of the owner.
const LABELS: &[&str] = &["linkerd.io/control-plane-ns", "linkerd.io/workload-ns"];
/// How the labels begin that name an owner.
const OWNER_LABEL: &str = "linkerd.io/proxy-";

/// Takes away what injection added to `input`: our containers and volumes, and every annotation and label that is not the input's.
/// What bears a name of ours is taken away from both sides, for an injection replaces it (D19). The two results are equal, to the
/// letter, when nothing of the user's was lost or changed.
#[must_use]
pub fn taken_away(input: &Value, output: &Value) -> (Value, Value) {
    (stripped(input, input), stripped(output, input))
}

fn stripped(object: &Value, input: &Value) -> Value {
    let mut object = object.clone();
    for (list, ours) in [("containers", CONTAINERS), ("initContainers", CONTAINERS), ("volumes", VOLUMES)] {
        let ours = |item: &Value| item.get("name").and_then(Value::as_str).is_some_and(|name| ours.contains(&name));
        let had = input.get("spec").and_then(|spec| spec.get(list));
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { continue };
        if let Some(items) = spec.get_mut(list).and_then(Value::as_array_mut) {
            items.retain(|item| !ours(item));
            if items.is_empty() {
                as_before(spec, list, had.filter(|had| had.as_array().is_none_or(Vec::is_empty)));
            }
        }
    }
    for map in ["annotations", "labels"] {
        let had = input.get("metadata").and_then(|metadata| metadata.get(map));
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { continue };
        if let Some(entries) = metadata.get_mut(map).and_then(Value::as_object_mut) {
            entries.retain(|key, _| had.is_some_and(|had| had.get(key).is_some()) && !is_set_anyway(map, key));
            if entries.is_empty() {
                as_before(metadata, map, had.filter(|had| had.as_object().is_none_or(serde_json::Map::is_empty)));
            }
        }
    }
    if let Some(object) = object.as_object_mut()
        && object.get("metadata").is_some_and(is_empty_object)
    {
        let had = input.get("metadata");
        as_before(object, "metadata", had.filter(|had| had.is_null() || is_empty_object(had)));
    }
    object
}

fn is_set_anyway(map: &str, key: &str) -> bool {
    match map {
        "annotations" => ANNOTATIONS.contains(&key),
        _ => LABELS.contains(&key) || key.starts_with(OWNER_LABEL),
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Puts the form of nothing back that was there: absent, null or empty.
fn as_before(of: &mut serde_json::Map<String, Value>, key: &str, had: Option<&Value>) {
    match had {
        Some(had) => drop(of.insert(key.to_owned(), had.clone())),
        None => drop(of.remove(key)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_injection_comes_away() {
        let input =
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "app", "x": null}], "volumes": null}});
        let output = json!({
            "metadata": {"annotations": {"linkerd.io/created-by": "x", "config.linkerd.io/inherited": "y"}, "labels": {"a": "b", "linkerd.io/workload-ns": "n"}},
            "spec": {
                "containers": [{"name": "linkerd-proxy"}, {"name": "app", "x": null}],
                "initContainers": [{"name": "linkerd-init"}],
                "volumes": [{"name": "linkerd-identity-token"}],
            },
        });
        let (before, after) = taken_away(&input, &output);
        assert_eq!(before, input);
        assert_eq!(after, input);
    }

    #[test]
    fn anything_else_does_not() {
        let input = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"name": "app"}]}});
        for output in [
            json!({"metadata": {"annotations": {"a": "c"}}, "spec": {"containers": [{"name": "app"}]}}),
            json!({"metadata": {"annotations": {}}, "spec": {"containers": [{"name": "app"}]}}),
            json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"name": "app", "env": []}]}}),
            json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"name": "app"}], "hostIPC": false}}),
            json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"name": "app"}, {"name": "other"}]}}),
        ] {
            let (before, after) = taken_away(&input, &output);
            assert_ne!(before, after, "{output}");
        }
    }
}
