//! Edits by other webhooks: what they do to pods, as a table.
//!
//! Each edit is as a webhook should be: done twice it is as done once, and what it needs and does not find it leaves alone. One that
//! edits the proxy does nothing to a pod without one.

use serde_json::{Map, Value, json};

mod application;
mod configuration;
mod sidecar;

/// What an edit touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touches {
    /// The application: its containers, volumes and labels.
    Application,
    /// Annotations that say how the pod is to be meshed.
    Configuration,
    /// Parts of the sidecar that others may change.
    Sidecar,
    /// Parts of the sidecar on which the mesh depends, which are set back with a warning.
    Asserted,
}

/// One edit.
#[derive(Debug, Clone, Copy)]
pub struct Edit {
    /// Its name in violations.
    pub name: &'static str,
    /// What it touches.
    pub touches: Touches,
    /// Edits a pod.
    pub apply: fn(&mut Value),
}

/// Every edit.
pub fn all() -> impl Iterator<Item = &'static Edit> {
    [application::EDITS, configuration::EDITS, sidecar::EDITS].into_iter().flatten()
}

/// The edit of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Edit> {
    all().find(|edit| edit.name == name)
}

const fn edit(name: &'static str, touches: Touches, apply: fn(&mut Value)) -> Edit {
    Edit { name, touches, apply }
}

fn map_at<'a>(of: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    super::api_server::child_mut(of, key)
}

fn list_at<'a>(of: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Vec<Value>> {
    let list = of.entry(key).or_insert_with(|| json!([]));
    if list.is_null() {
        *list = json!([]);
    }
    list.as_array_mut()
}

fn spec(pod: &mut Value) -> Option<&mut Map<String, Value>> {
    pod.get_mut("spec")?.as_object_mut()
}

fn set_text(pod: &mut Value, map: &str, key: &str, value: &str) {
    let metadata = pod.as_object_mut().and_then(|pod| map_at(pod, "metadata"));
    if let Some(texts) = metadata.and_then(|metadata| map_at(metadata, map)) {
        texts.insert(key.to_owned(), value.into());
    }
}

/// Sets an annotation.
fn annotate(pod: &mut Value, key: &str, value: &str) {
    set_text(pod, "annotations", key, value);
}

/// Puts an item into a list of the pod's specification, unless there is one of its name.
fn add(pod: &mut Value, list: &str, at: Option<usize>, item: Value) {
    let Some(items) = spec(pod).and_then(|spec| list_at(spec, list)) else { return };
    if !items.iter().any(|known| known.get("name") == item.get("name")) {
        items.insert(at.unwrap_or(items.len()).min(items.len()), item);
    }
}

/// The container of that name, of either list.
fn container<'a>(pod: &'a mut Value, name: &str) -> Option<&'a mut Map<String, Value>> {
    super::api_server::containers_mut(pod)
        .map(|(_, container)| container)
        .find(|container| container.get("name").and_then(Value::as_str) == Some(name))
}

/// The proxy, if the pod has one.
fn proxy(pod: &mut Value) -> Option<&mut Map<String, Value>> {
    container(pod, "linkerd-proxy")
}

/// The variable of a container.
fn variable<'a>(container: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Map<String, Value>> {
    super::api_server::items_mut(container.get_mut("env")).find(|v| v.get("name").and_then(Value::as_str) == Some(name))
}

/// Adds a variable that a container does not have.
fn add_variable(container: &mut Map<String, Value>, name: &str, value: &str) {
    if variable(container, name).is_none()
        && let Some(env) = list_at(container, "env")
    {
        env.push(json!({"name": name, "value": value}));
    }
}

/// Mounts a volume where nothing is mounted.
fn mount(container: &mut Map<String, Value>, volume: &str, path: &str) {
    if let Some(mounts) = list_at(container, "volumeMounts")
        && !mounts.iter().any(|m| m.get("mountPath").and_then(Value::as_str) == Some(path))
    {
        mounts.push(json!({"name": volume, "mountPath": path, "readOnly": true}));
    }
}

#[cfg(test)]
mod tests {
    use super::{Touches, all};
    use serde_json::{Value, json};

    fn mk_pod() -> Value {
        let proxy = json!({
            "name": "linkerd-proxy", "image": "cr.l5d.io/linkerd/proxy:edge", "args": [], "resources": {"limits": {"cpu": "1"}},
            "env": [
                {"name": "LINKERD2_PROXY_LOG", "value": "warn"},
                {"name": "LINKERD2_PROXY_INBOUND_PORTS", "value": "8080"},
                {"name": "LINKERD2_PROXY_DESTINATION_SVC_ADDR", "value": "dst:8086"},
                {"name": "LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "value": "0.0.0.0:4143"},
            ],
            "livenessProbe": {"httpGet": {"path": "/live", "port": 4191}, "timeoutSeconds": 1},
            "ports": [{"containerPort": 4143, "name": "linkerd-proxy"}],
            "securityContext": {"runAsUser": 2102},
        });
        let init = json!({"name": "linkerd-init", "image": "i", "args": ["--proxy-uid", "2102", "--inbound-ports-to-ignore", "4190,4191"]});
        json!({
            "metadata": {"annotations": {"linkerd.io/inject": "", "config.linkerd.io/access-log": "json", "linkerd.io/created-by": "x"}, "labels": {"a": "b"}},
            "spec": {
                "initContainers": [init, {"name": "i", "image": "r/i"}],
                "containers": [proxy, {"name": "app", "image": "r/app", "env": [{"name": "A", "value": "b"}]}, {"name": "b", "image": "r/b"}],
                    "volumes": [{"name": "linkerd-identity-token", "projected": {}}, {"name": "linkerd-identity-end-entity", "emptyDir": {}}],
            },
        })
    }

    #[test]
    fn an_edit_done_twice_is_as_done_once() {
        for edit in all() {
            let mut once = mk_pod();
            (edit.apply)(&mut once);
            let mut twice = once.clone();
            (edit.apply)(&mut twice);
            assert_eq!(once, twice, "{}", edit.name);
            assert_ne!(once, mk_pod(), "{} edits nothing", edit.name);
        }
    }

    #[test]
    fn an_edit_of_the_sidecar_needs_one() {
        let bare = json!({"spec": {"containers": [{"name": "app", "image": "r/app"}]}});
        for edit in all().filter(|e| e.touches == Touches::Asserted) {
            let mut pod = bare.clone();
            (edit.apply)(&mut pod);
            assert_eq!(pod, bare, "{}", edit.name);
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = all().map(|e| e.name).collect();
        names.sort_unstable();
        assert!(names.len() >= 40, "{}", names.len());
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
