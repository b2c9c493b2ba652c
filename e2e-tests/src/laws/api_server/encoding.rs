//! What is left of a pod when it went through the API server's types: a zero or empty value of most fields is as good as none.

use super::quantity;
use serde_json::{Map, Value, json};

/// Fields whose zero is kept: pointers, and those that every object of their type has.
const KEPT: &[&str] = &[
    "activeDeadlineSeconds",
    "allowPrivilegeEscalation",
    "automountServiceAccountToken",
    "blockOwnerDeletion",
    "containerPort",
    "controller",
    "defaultMode",
    "enableServiceLinks",
    "expirationSeconds",
    "fieldPath",
    "fsGroup",
    "hostUsers",
    "image-reference",
    "key",
    "maxSkew",
    "mode",
    "mountPath",
    "name",
    "optional",
    "path",
    "port",
    "priority",
    "privileged",
    "readOnlyRootFilesystem",
    "runAsGroup",
    "runAsNonRoot",
    "runAsUser",
    "seconds",
    "service",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "terminationGracePeriodSeconds",
    "tolerationSeconds",
    "topologyKey",
    "type",
    "weight",
    "whenUnsatisfiable",
];

/// Fields whose names are those of [`KEPT`] but that are let go where this field is beside them.
const LET_GO: &[(&str, &str)] = &[("path", "port"), ("name", "optional"), ("name", "containerPort"), ("type", "localhostProfile")];

/// Maps of texts: their entries say something even where they are empty, the maps themselves do not.
const MAPS: &[&str] =
    &["annotations", "labels", "nodeSelector", "matchLabels", "limits", "requests", "overhead", "volumeAttributes"];

/// Maps of amounts.
const AMOUNTS: &[&str] = &["limits", "requests", "overhead"];

/// The pod without what its types do not keep.
pub(super) fn encode(pod: &Value) -> Value {
    let mut stored = object(pod.as_object().unwrap_or(&Map::new()));
    if let Some(spec) = stored.get_mut("spec").and_then(Value::as_object_mut) {
        for list in ["initContainers", "containers", "ephemeralContainers"] {
            for container in super::items_mut(spec.get_mut(list)) {
                container.entry("resources").or_insert_with(|| json!({}));
            }
        }
    }
    Value::Object(stored)
}

fn object(map: &Map<String, Value>) -> Map<String, Value> {
    map.iter().filter_map(|(key, value)| Some((key.clone(), field(map, key, value)?))).collect()
}

fn field(of: &Map<String, Value>, key: &str, value: &Value) -> Option<Value> {
    let keeps_zero = || KEPT.contains(&key) && !LET_GO.iter().any(|(field, beside)| *field == key && of.contains_key(*beside));
    match value {
        Value::Null => None,
        Value::Bool(false) => keeps_zero().then(|| value.clone()),
        Value::Number(n) if n.as_f64() == Some(0.0) => keeps_zero().then(|| value.clone()),
        Value::String(text) if text.is_empty() => keeps_zero().then(|| value.clone()),
        Value::String(text) if key == "divisor" || key == "sizeLimit" => Some(quantity::canonical(text).into()),
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => Some(items.iter().map(item).collect()),
        Value::Object(map) if AMOUNTS.contains(&key) => {
            let amount = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let amounts: Map<_, _> = map.iter().map(|(k, v)| (k.clone(), quantity::canonical(&amount(v)).into())).collect();
            (!amounts.is_empty()).then_some(Value::Object(amounts))
        }
        Value::Object(map) if MAPS.contains(&key) => (!map.is_empty()).then(|| value.clone()),
        Value::Object(map) => Some(Value::Object(object(map))),
        other => Some(other.clone()),
    }
}

fn item(value: &Value) -> Value {
    value.as_object().map_or_else(|| value.clone(), |map| Value::Object(object(map)))
}
