//! The defaults of a pod's fields.

use super::{CONTAINER_LISTS, child_mut, containers_mut, default_to, items_mut};
use serde_json::{Map, Value, json};

/// Fills in what a decoded pod does not say.
pub(super) fn fill_in(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    default_to(spec, "restartPolicy", "Always");
    default_to(spec, "dnsPolicy", "ClusterFirst");
    default_to(spec, "terminationGracePeriodSeconds", 30);
    default_to(spec, "schedulerName", "default-scheduler");
    default_to(spec, "securityContext", json!({}));
    default_to(spec, "enableServiceLinks", true);
    for volume in items_mut(spec.get_mut("volumes")) {
        fill_volume(volume);
    }
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        for list in CONTAINER_LISTS {
            for container in items_mut(spec.get_mut(list)) {
                for port in items_mut(container.get_mut("ports")) {
                    let number = port.get("containerPort").cloned().unwrap_or_default();
                    default_to(port, "hostPort", number);
                }
            }
        }
    }
    for (_, container) in containers_mut(pod) {
        fill_container(container);
    }
}

fn fill_container(container: &mut Map<String, Value>) {
    default_to(container, "terminationMessagePath", "/dev/termination-log");
    default_to(container, "terminationMessagePolicy", "File");
    let policy = pull_policy(container.get("image").and_then(Value::as_str).unwrap_or_default());
    default_to(container, "imagePullPolicy", policy);
    for port in items_mut(container.get_mut("ports")) {
        default_to(port, "protocol", "TCP");
    }
    for variable in items_mut(container.get_mut("env")) {
        let source = variable.get_mut("valueFrom").and_then(Value::as_object_mut);
        for (kind, reference) in source.into_iter().flatten() {
            let Some(reference) = reference.as_object_mut() else { continue };
            match kind.as_str() {
                "fieldRef" => default_to(reference, "apiVersion", "v1"),
                "resourceFieldRef" => default_to(reference, "divisor", "0"),
                "fileKeyRef" => default_to(reference, "optional", false),
                _ => {}
            }
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(probe).and_then(Value::as_object_mut) else { continue };
        for (key, value) in [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)] {
            default_to(probe, key, value);
        }
        fill_handler(probe);
    }
    for (_, hook) in container.get_mut("lifecycle").and_then(Value::as_object_mut).into_iter().flatten() {
        hook.as_object_mut().into_iter().for_each(fill_handler);
    }
    // A request that is not given is as its limit.
    let limits = container.get("resources").and_then(|r| r.get("limits")).and_then(Value::as_object).cloned().unwrap_or_default();
    if !limits.is_empty()
        && let Some(requests) = child_mut(container, "resources").and_then(|resources| child_mut(resources, "requests"))
    {
        for (resource, limit) in limits {
            requests.entry(resource).or_insert(limit);
        }
    }
}

fn fill_handler(handler: &mut Map<String, Value>) {
    if let Some(http) = handler.get_mut("httpGet").and_then(Value::as_object_mut) {
        default_to(http, "path", "/");
        default_to(http, "scheme", "HTTP");
    }
    if let Some(grpc) = handler.get_mut("grpc").and_then(Value::as_object_mut) {
        default_to(grpc, "service", "");
    }
}

fn fill_volume(volume: &mut Map<String, Value>) {
    if volume.keys().all(|key| key == "name") {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for (kind, source) in volume.iter_mut() {
        let Some(source) = source.as_object_mut() else { continue };
        match kind.as_str() {
            "secret" | "configMap" | "downwardAPI" | "projected" => default_to(source, "defaultMode", 420),
            "hostPath" => default_to(source, "type", ""),
            _ => {}
        }
        fill_fields(source);
        for projected in items_mut(source.get_mut("sources")) {
            if let Some(token) = projected.get_mut("serviceAccountToken").and_then(Value::as_object_mut) {
                default_to(token, "expirationSeconds", 3600);
            }
            projected.get_mut("downwardAPI").and_then(Value::as_object_mut).into_iter().for_each(fill_fields);
        }
    }
}

/// The items of a downward API volume.
fn fill_fields(source: &mut Map<String, Value>) {
    for item in items_mut(source.get_mut("items")) {
        if let Some(reference) = item.get_mut("fieldRef").and_then(Value::as_object_mut) {
            default_to(reference, "apiVersion", "v1");
        }
        if let Some(reference) = item.get_mut("resourceFieldRef").and_then(Value::as_object_mut) {
            default_to(reference, "divisor", "0");
        }
    }
}

/// An image that may change under its name is pulled each time: one of tag `latest`, which is also the tag where none is given.
fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or_default();
    let (name, has_digest) = name.split_once('@').map_or((name, false), |(name, _)| (name, true));
    match name.split_once(':') {
        Some((_, "latest")) => "Always",
        None if !has_digest => "Always",
        _ => "IfNotPresent",
    }
}
