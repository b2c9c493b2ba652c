//! Edits on the object after Linkerd's patch: containers by name, variables by name, arguments by flag.

use serde_json::{Value, json};

/// The proxy's container.
pub const PROXY: &str = "linkerd-proxy";
/// The container that sets up iptables.
pub const INIT: &str = "linkerd-init";
/// The container that checks what the CNI plugin set up.
pub const VALIDATOR: &str = "linkerd-network-validator";
/// The debug container.
pub const DEBUG: &str = "linkerd-debug";

/// The last variable that is always rendered; additional ones come behind it.
const LAST: &str = "LINKERD2_PROXY_POLICY_SVC_NAME";
/// The one variable of those edited here that is rendered behind it.
const BEHIND_LAST: &str = "LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD";

/// The lists of a pod that hold containers.
pub const LISTS: [&str; 2] = ["initContainers", "containers"];

/// The container of that name, in either list.
pub fn container<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let spec = object.get_mut("spec")?.as_object_mut()?;
    let lists = spec.iter_mut().filter(|(key, _)| LISTS.contains(&key.as_str()));
    lists.filter_map(|(_, list)| list.as_array_mut()).flatten().find(|container| is_named(container, name))
}

/// Whether that is the element's name.
pub fn is_named(element: &Value, name: &str) -> bool {
    element.get("name").and_then(Value::as_str) == Some(name)
}

/// Takes the container of that name out of its list.
pub fn take(object: &mut Value, name: &str) -> Option<Value> {
    LISTS.iter().find_map(|list| {
        let list = object.get_mut("spec")?.get_mut(list)?.as_array_mut()?;
        let at = list.iter().position(|container| is_named(container, name))?;
        Some(list.remove(at))
    })
}

/// Puts an element into a list of the pod's spec, at the index or at the end.
pub fn insert(object: &mut Value, list: &str, index: Option<usize>, element: Value) {
    if list_of(object, list).is_none() {
        put(object, &["spec", list], json!([]));
    }
    if let Some(list) = list_of(object, list) {
        list.insert(index.unwrap_or(list.len()).min(list.len()), element);
    }
}

/// A list of the pod's spec.
pub fn list_of<'a>(object: &'a mut Value, list: &str) -> Option<&'a mut Vec<Value>> {
    object.get_mut("spec")?.get_mut(list)?.as_array_mut()
}

/// The elements of a list of the pod's spec.
pub fn elements<'a>(object: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> {
    list_of(object, list).into_iter().flatten()
}

/// Puts a value where the keys lead, making the objects on the way.
pub fn put(value: &mut Value, keys: &[&str], new: impl Into<Value>) {
    let [key, rest @ ..] = keys else {
        *value = new.into();
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    if let Some(members) = value.as_object_mut() {
        put(members.entry(*key).or_insert(Value::Null), rest, new);
    }
}

/// Sets the rendered variable of that name of the proxy, takes it away, or adds it behind the last of those in `after`.
pub fn set_env(object: &mut Value, name: &str, text: Option<&str>, after: &[&str]) {
    let Some(env) = container(object, PROXY).and_then(|proxy| proxy.get_mut("env")?.as_array_mut()) else { return };
    let last = env.iter().position(|entry| is_named(entry, LAST)).filter(|_| name != BEHIND_LAST);
    let rendered = last.map_or(env.len(), |last| last.saturating_add(1));
    let at = env.iter().take(rendered).position(|entry| is_named(entry, name));
    match (at, text) {
        (Some(at), Some(text)) => {
            if let Some(entry) = env.get_mut(at) {
                put(entry, &["value"], text);
            }
        }
        (Some(at), None) => drop(env.remove(at)),
        (None, Some(text)) => {
            let before = env.get(..rendered).unwrap_or_default();
            let last = before.iter().rposition(|entry| after.iter().any(|name| is_named(entry, name)));
            env.insert(last.map_or(0, |last| last.saturating_add(1)), json!({"name": name, "value": text}));
        }
        (None, None) => {}
    }
}

/// Sets what follows a flag of linkerd-init, takes both away, or adds them before the first of the flags in `before`.
pub fn set_arg(object: &mut Value, flag: &str, text: Option<&str>, before: &[&str]) {
    let Some(args) = container(object, INIT).and_then(|init| init.get_mut("args")?.as_array_mut()) else { return };
    let at = args.iter().position(|arg| arg == flag);
    let value = at.map(|at| at.saturating_add(1));
    match (at, text) {
        (Some(_), Some(text)) => {
            if let Some(arg) = value.and_then(|value| args.get_mut(value)) {
                *arg = json!(text);
            }
        }
        (Some(at), None) => drop(args.drain(at..at.saturating_add(2).min(args.len()))),
        (None, Some(text)) => {
            let next = args.iter().position(|arg| before.iter().any(|flag| arg == flag)).unwrap_or(args.len());
            args.insert(next, json!(text));
            args.insert(next, json!(flag));
        }
        (None, None) => {}
    }
}

/// Sets an annotation or a label.
pub fn set_metadata(object: &mut Value, map: &str, key: &str, text: &str) {
    put(object, &["metadata", map, key], text);
}

/// Takes away a label.
pub fn remove_label(object: &mut Value, key: &str) {
    if let Some(labels) = object.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(key);
    }
}
