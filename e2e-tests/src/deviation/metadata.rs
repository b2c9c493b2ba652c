//! Labels and annotations that say where a pod comes from: owner (D17, D28), default container (D23), creator (D25); and what is
//! written down of an injection, for the next one (D36) and for people (D37).

use super::object::{remove_label, set_metadata};
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, inherit, opaque};
use serde_json::Value;

const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";
const RECORD: &str = "linkerd.io/injection-record";
const ANY_RECORD: &str = "v1:*";
const WARNINGS: &str = "linkerd.io/injection-warnings";
const ANY_WARNINGS: &str = "*";
const CREATED_BY: &str = "linkerd.io/created-by";
const LONGEST_LABEL: usize = 63;

/// The label that names the owner: Linkerd's, then with D28 alone, then with D17 too.
fn label(case: &Reading, d17: bool, d28: bool) -> Option<(String, String)> {
    let references: Vec<&Value> =
        case.request.object.pointer("/metadata/ownerReferences").and_then(Value::as_array)?.iter().collect();
    let parent = match references.as_slice() {
        [only] => *only,
        several => several.iter().find(|owner| d17 && owner.get("controller") == Some(&Value::Bool(true)))?,
    };
    let (kind, name) = (field(parent, "kind"), field(parent, "name"));
    let owner = d28.then(|| deployment(case, kind, name)).flatten().map(|name| ("Deployment", name));
    let (kind, name) = owner.or_else(|| above(case, kind, name)).unwrap_or((kind, name));
    let label = match kind.to_lowercase().as_str() {
        "cronjob" if !d17 => return None,
        kind @ ("deployment" | "replicationcontroller" | "replicaset" | "job" | "daemonset" | "statefulset" | "cronjob") => {
            format!("linkerd.io/proxy-{kind}")
        }
        _ => return None,
    };
    (!d17 || is_label(name)).then(|| (label, name.to_owned()))
}

/// Whether the API server takes the name as the value of a label.
fn is_label(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric();
    name.len() <= LONGEST_LABEL
        && name.starts_with(plain)
        && name.ends_with(plain)
        && name.chars().all(|c| plain(c) || "-_.".contains(c))
}

fn field<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The owner of the pod's owner, where the cluster has one that Linkerd takes.
fn above<'a>(case: &'a Reading, kind: &str, name: &str) -> Option<(&'a str, &'a str)> {
    let is_it = |object: &&Value| {
        let metadata = |key: &str| object.get("metadata").map(|metadata| field(metadata, key)).unwrap_or_default();
        let namespace = metadata("namespace");
        field(object, "kind") == kind && metadata("name") == name && (namespace.is_empty() || namespace == case.request.namespace)
    };
    let found = case.cluster.iter().find(is_it).filter(|_| matches!(kind, "ReplicaSet" | "Job"))?;
    let [owner] = found.pointer("/metadata/ownerReferences")?.as_array()?.as_slice() else { return None };
    let taken =
        kind == "Job" || matches!(field(owner, "kind").to_lowercase().as_str(), "job" | "statefulset" | "daemonset" | "deployment");
    taken.then(|| (field(owner, "kind"), field(owner, "name")))
}

/// The Deployment whose name and pod template hash make up the ReplicaSet's name.
fn deployment<'a>(case: &Reading, kind: &str, name: &'a str) -> Option<&'a str> {
    let hash = case.request.object.get("metadata")?.get("labels")?.get("pod-template-hash")?.as_str()?;
    let deployment = name.strip_suffix(hash)?.strip_suffix('-')?;
    (kind == "ReplicaSet" && !hash.is_empty() && !deployment.is_empty()).then_some(deployment)
}

fn relabel(expected: &mut Expected, from: Option<(String, String)>, to: Option<(String, String)>, case: &Reading) {
    if let Some((key, _)) = from {
        remove_label(&mut expected.object, &key);
        if let Some(own) = case.request.object.get("metadata").and_then(|metadata| metadata.get("labels")?.get(&key)?.as_str()) {
            set_metadata(&mut expected.object, "labels", &key, own);
        }
    }
    if let Some((key, name)) = to {
        set_metadata(&mut expected.object, "labels", &key, &name);
    }
}

/// D28: the owner of a Deployment's pod is read off the names.
pub fn d28_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && label(case, false, false) != label(case, false, true)
}

/// Sets the label.
pub fn d28_apply(case: &Reading, expected: &mut Expected) {
    relabel(expected, label(case, false, false), label(case, false, true), case);
}

/// D17: labels that fit, CronJobs, and the owner that is the controller.
pub fn d17_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && label(case, false, true) != label(case, true, true)
}

/// Sets the label.
pub fn d17_apply(case: &Reading, expected: &mut Expected) {
    relabel(expected, label(case, false, true), label(case, true, true), case);
}

/// The application's first container, where the proxy pushes it to the second place.
fn pushed(case: &Reading) -> Option<&str> {
    let first = !inherit::native(case) && inherit::awaits(case) && case.own(DEFAULT_CONTAINER).is_none();
    case.spec_list("containers").next().filter(|_| first)?.get("name")?.as_str().filter(|name| !name.is_empty())
}

/// D23: the proxy in the first place is not what kubectl should show.
pub fn d23_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && pushed(case).is_some()
}

/// Sets the annotation.
pub fn d23_apply(case: &Reading, expected: &mut Expected) {
    if let Some(name) = pushed(case) {
        set_metadata(&mut expected.object, "annotations", DEFAULT_CONTAINER, name);
    }
}

/// D36: what a later call needs to know is written down.
pub fn d36_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) || opaque::annotates(case)
}

/// Asks for the annotation; its text is made of hashes, which only its form can be told of.
pub fn d36_apply(_: &Reading, expected: &mut Expected) {
    set_metadata(&mut expected.object, "annotations", RECORD, ANY_RECORD);
}

/// Asks for any record where there is one.
pub fn forget_record(object: &mut Value) {
    if let Some(record) = object.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations")?.get_mut(RECORD)) {
        *record = Value::from(ANY_RECORD);
    }
}

/// Puts the record of `ours` where any is expected, if it has the form of one: `v1:` and pairs of hashes, eight bytes
/// each, in the alphabet of URLs.
pub fn accept_record(expected: &mut Value, ours: &Value) {
    let record = |object: &Value| {
        object.get("metadata").and_then(|metadata| Some(metadata.get("annotations")?.get(RECORD)?.as_str()?.to_owned()))
    };
    let Some(text) = record(ours).filter(|_| record(expected).as_deref() == Some(ANY_RECORD)) else { return };
    let is_pairs = |text: &str| {
        let bytes = text.len().saturating_mul(6) / 8;
        bytes > 0 && bytes.is_multiple_of(8) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if text.strip_prefix("v1:").is_some_and(is_pairs) {
        set_metadata(expected, "annotations", RECORD, &text);
    }
}

/// D37: what a person is told stands on the pod, too.
pub fn d37_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case)
}

/// Asks for the annotation, whose text is for the answer to say.
pub fn d37_apply(_: &Reading, expected: &mut Expected) {
    expect_warnings(&mut expected.object);
}

/// Asks for the warnings of an answer.
pub fn expect_warnings(object: &mut Value) {
    set_metadata(object, "annotations", WARNINGS, ANY_WARNINGS);
}

/// Puts the warnings of an answer, a line each, where they are asked for. Whether there are any.
pub fn accept_warnings(expected: &mut Value, warnings: &[String]) -> bool {
    let annotations = expected.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    let Some(annotations) = annotations.filter(|map| map.get(WARNINGS).is_some_and(|text| text == ANY_WARNINGS)) else {
        return false;
    };
    // What gave way is gone, and cannot be told of again by a later call.
    let lasting: Vec<&str> =
        warnings.iter().map(String::as_str).filter(|line| !line.ends_with(" gave way to the sidecar's")).collect();
    if lasting.is_empty() {
        annotations.remove(WARNINGS);
    } else {
        annotations.insert(WARNINGS.to_owned(), Value::from(lasting.join("\n")));
    }
    !lasting.is_empty()
}

/// D25: the annotation names us.
pub fn d25_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case)
}

/// Sets the annotation.
pub fn d25_apply(_: &Reading, expected: &mut Expected) {
    let creator = concat!("linkerd-injector-policy ", env!("CARGO_PKG_VERSION"));
    set_metadata(&mut expected.object, "annotations", CREATED_BY, creator);
}
