//! Puts what was rendered into the object. The only code that writes it.
//!
//! In: the user's object and a [`PodPatch`]. Out: the object with the patch in it, and nothing of the user's removed or changed but
//! what bears the name of a thing that is added: such a leftover of an earlier injection gives way (D19).
//!
//! Source: `charts/patch/templates/patch.json` of linkerd/linkerd2, for the places.

use crate::render::{Place, PodPatch};
use serde_json::{Map, Value};

/// Puts an injection into a pod.
pub fn apply(object: &mut Value, patch: PodPatch) {
    let meta = child(object, "metadata");
    let annotations = child(meta, "annotations");
    for (key, value) in patch.annotations {
        put(annotations, key, value.into());
    }
    let labels = child(meta, "labels");
    for (key, value) in patch.labels {
        put(labels, key, value.into());
    }
    let spec = child(object, "spec");
    if let Some(volumes) = list(spec, "volumes") {
        for volume in patch.volumes {
            match volumes.iter_mut().find(|v| v.get("name") == volume.get("name")) {
                Some(leftover) => *leftover = volume,
                None => volumes.push(volume),
            }
        }
    }
    if let Some(containers) = list(spec, "containers") {
        if let Some(debug) = patch.debug {
            drop_named(containers, &debug);
            containers.push(debug);
        }
        match patch.place {
            Place::First => containers.insert(0, patch.proxy.clone()),
            Place::Last => containers.push(patch.proxy.clone()),
            Place::Native => {}
        }
    }
    if let Some(init_containers) = list(spec, "initContainers") {
        drop_named(init_containers, &patch.init);
        if patch.place == Place::Native {
            init_containers.splice(0..0, [patch.init, patch.proxy]);
        } else {
            init_containers.push(patch.init);
        }
    }
}

/// Sets one annotation of an object.
pub fn annotate(object: &mut Value, key: &str, value: String) {
    put(child(child(object, "metadata"), "annotations"), key, value.into());
}

/// The object at a key, made where there is none. What has another shape was refused when the object was read.
fn child<'a>(of: &'a mut Value, key: &str) -> &'a mut Value {
    if !of.is_object() {
        *of = Value::Object(Map::new());
    }
    static_child(of, key, || Value::Object(Map::new()), Value::is_object)
}

/// The list at a key, made where there is none.
fn list<'a>(of: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    static_child(of, key, || Value::Array(Vec::new()), Value::is_array).as_array_mut()
}

fn static_child<'a>(of: &'a mut Value, key: &str, empty: fn() -> Value, is: fn(&Value) -> bool) -> &'a mut Value {
    // Indexing inserts a null where there is no such key; the caller has made sure that this is an object.
    #[allow(clippy::indexing_slicing, reason = "a JSON object, which grows by indexing")]
    let at = &mut of[key];
    if !is(at) {
        *at = empty();
    }
    at
}

fn put(map: &mut Value, key: &str, value: Value) {
    if let Some(map) = map.as_object_mut() {
        map.insert(key.to_owned(), value);
    }
}

/// Takes out a container of the same name.
fn drop_named(containers: &mut Vec<Value>, container: &Value) {
    containers.retain(|c| c.get("name") != container.get("name"));
}

#[cfg(test)]
mod tests;
