//! Puts what was rendered into the object. The only code that writes it.
//!
//! In: the user's object, a [`PodPatch`], and on a later call what an earlier one left ([`Earlier`]). Out: the object with the patch
//! in it, and nothing of the user's removed or changed. A first call inserts; what bears the name of a thing that is added, a leftover
//! of an injection that nobody remembers, gives way (D19). A later call merges leaf by leaf, as [`three_way`] says.
//!
//! What is rendered depends on the *application view* alone, the object without our own parts, so a second call wants what the first
//! one wrote.
//!
//! Source: `charts/patch/templates/patch.json` of linkerd/linkerd2, for the places.

mod earlier;
mod edit;
mod env_order;
mod filled;
mod flags;
mod hidden;
mod injected;
mod leaf;
mod path;
mod place;
mod record;
mod resources;
mod three_way;

use crate::annotation as key;
use crate::gather;
use crate::owner;
use crate::render::{PodPatch, container, volume_source};
use crate::warning::{Place as WarningPlace, Warning};
pub use earlier::Earlier;
use edit::{child, items, name_of, put_named, set, take_out};
pub use hidden::{Hidden, hide};
pub use injected::Injected;
use path::Path;
use record::{Key, Record};
use serde_json::Value;
use std::collections::BTreeMap;
use three_way::{Merge, note, note_variable};

/// Annotations of ours that say what we did; whoever wrote them, they are ours.
const OWN_ANNOTATIONS: &[&str] = &[key::CREATED_BY, key::PROXY_VERSION, key::TRUST_ROOT_SHA256, key::WARNINGS, key::RECORD];
/// Labels of ours, beside those of the owner.
const OWN_LABELS: &[&str] = &[key::CONTROL_PLANE_NS, key::WORKLOAD_NS];
/// The field of a container with its environment.
const ENV: &str = "env";
/// Containers of ours.
const OWN_CONTAINERS: &[&str] = &[container::INIT, container::VALIDATOR, container::PROXY, container::DEBUG];
/// The lists of containers.
const LISTS: [&str; 2] = ["initContainers", "containers"];

/// Whether the record is that of an injection, not only of an annotation.
fn knows_the_proxy(record: &Record) -> bool {
    record.has(Key::of(&[container::PROXY, "name"]))
}

/// Whether an annotation or label is ours, whoever wrote it.
fn is_own(map: &str, name: &str) -> bool {
    match map {
        "annotations" => OWN_ANNOTATIONS.contains(&name),
        _ => OWN_LABELS.contains(&name) || owner::is_label(name),
    }
}

/// Notes what a patch writes, in an annotation of it.
pub fn remember(patch: &mut PodPatch) {
    let mut record = Record::default();
    for (map, entries) in [("annotations", &patch.annotations), ("labels", &patch.labels)] {
        for (key, text) in entries {
            note(&mut record, &Path::of(map).with(key), &text.as_str().into());
        }
    }
    for volume in &patch.volumes {
        note(&mut record, &Path::of("volumes").with(name_of(volume)), volume);
    }
    for added in [Some(&patch.init), Some(&patch.proxy), patch.debug.as_ref()].into_iter().flatten() {
        note(&mut record, &Path::of(name_of(added)), added);
    }
    let proxy = Path::of(container::PROXY);
    let env = proxy.with(ENV);
    for variable in &patch.env {
        note_variable(&mut record, &env.with(variable.name()), variable);
    }
    patch.annotations.insert(key::RECORD, record.write());
}

/// Puts an injection into a pod that has none, and says what of the user's gave way to it by name.
#[must_use]
pub fn apply(mut object: Value, mut patch: PodPatch) -> (Injected, Vec<Warning>) {
    let env = std::mem::take(&mut patch.env);
    if !env.is_empty() {
        // Its place: it is put there when the pod is written.
        set(&mut patch.proxy, ENV, Some(Value::Null));
    }
    let meta = child(&mut object, "metadata");
    for (map, entries) in [("annotations", patch.annotations), ("labels", patch.labels)] {
        let map = child(meta, map);
        for (key, value) in entries {
            set(map, key, Some(value.into()));
        }
    }
    let spec = child(&mut object, "spec");
    let mut warnings = Vec::new();
    for volume in patch.volumes {
        let name = name_of(&volume);
        // One of the same kind is a leftover of an injection.
        let is_leftover = |v: &Value| volume_source(name).is_some_and(|source| v.get(source).is_some());
        if items(spec, "volumes").iter().any(|v| name_of(v) == name && !is_leftover(v)) {
            warnings.push(said(format!("its volume {name} gave way to the sidecar's")));
        }
        put_named(spec, "volumes", volume);
    }
    for added in patch.debug.into_iter().chain([patch.init, patch.proxy]) {
        warnings.extend(give_way(spec, &added));
        place::put(spec, patch.place, added);
    }
    (Injected { object, env }, warnings)
}

/// Takes out what bears the name of a container that is added, and says so where it is no leftover of an injection, which runs a
/// program of ours.
fn give_way(spec: &mut Value, added: &Value) -> Option<Warning> {
    let name = name_of(added);
    let mut warning = None;
    for list in LISTS {
        let theirs = |c: &&Value| name_of(c) == name && image_name(c) != image_name(added);
        if items(spec, list).iter().any(|c| theirs(&c)) {
            warning = Some(said(format!("its container {name} gave way to the sidecar's")));
        }
        take_out(spec, list, name);
    }
    warning
}

/// The last part of an image's name, without tag and digest.
fn image_name(container: &Value) -> &str {
    let image = container.get("image").and_then(Value::as_str).unwrap_or_default();
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split([':', '@']).next().unwrap_or_default()
}

/// What the container that redirects traffic, or waits for that, takes over of the other one's when it takes its place.
const CARRIED: [&str; 4] = [ENV, "imagePullPolicy", "resources", "volumeMounts"];

/// Merges an injection with the one that an earlier call left.
#[must_use]
pub fn reapply(object: &mut Value, patch: PodPatch, earlier: &Earlier) -> Vec<Warning> {
    let patch = patch.complete();
    let mut merge = Merge::new(earlier, object);
    metadata(child(object, "metadata"), patch.annotations, &patch.labels, &mut merge);
    let spec = child(object, "spec");
    volumes(spec, patch.volumes, earlier, &mut merge);
    let mut init = patch.init;
    let init_name = name_of(&init).to_owned();
    let other = if init_name == container::INIT { container::VALIDATOR } else { container::INIT };
    if earlier.knowing().is_some()
        && own(spec, earlier, &init_name).is_none()
        && let Some((_, current)) = own(spec, earlier, other)
    {
        for part in CARRIED {
            let merged = merge.merge(&Path::of(other).with(part), current.get(part), init.get(part));
            set(&mut init, part, merged);
        }
    }
    let wanted = [Some(init), Some(patch.proxy), patch.debug];
    let mut warnings = Vec::new();
    for name in OWN_CONTAINERS {
        let want = wanted.iter().flatten().find(|w| name_of(w) == *name);
        match (own(spec, earlier, name), want) {
            (None, None) => {}
            (None, Some(want)) => {
                let wrote = earlier.record.as_ref().is_some_and(|r| r.has(Key::of(&[name, "name"])));
                warnings.extend(wrote.then(|| said(format!("{name} was taken out by others, and put back"))));
                warnings.extend(give_way(spec, want));
                place::put(spec, patch.place, want.clone());
            }
            (Some((list, current)), None) => {
                let changed = merge.changed(name, current);
                warnings.extend(changed.then(|| {
                    if *name == other {
                        said(format!("{name} gave way to {init_name}, which takes over its variables, resources and mounts alone"))
                    } else {
                        gone(name)
                    }
                }));
                take_out(spec, list, name);
            }
            (Some((list, current)), Some(want)) => {
                let path = &Path::of(name);
                let mut merged = merge.merge(path, Some(current), Some(want)).unwrap_or_else(|| want.clone());
                let lowered = resources::settle(&mut merged, current, want);
                warnings.extend(
                    lowered
                        .iter()
                        .map(|resource| said(format!("the {resource} request of {name} is above its limit, and lowered to it"))),
                );
                if place::list_of(patch.place, name) == list {
                    put_named(spec, list, merged);
                } else {
                    take_out(spec, list, name);
                    place::put(spec, patch.place, merged);
                }
            }
        }
    }
    place::settle(spec, patch.place, &init_name);
    merge.warnings().into_iter().chain(warnings).collect()
}

/// The container of that name which is ours, and the list that it is in.
fn own<'v>(spec: &'v Value, earlier: &Earlier, name: &str) -> Option<(&'static str, &'v Value)> {
    LISTS.into_iter().find_map(|list| {
        let ours = items(spec, list).iter().find(|c| name_of(c) == name && earlier.owns_container(list, c));
        Some((list, ours?))
    })
}

/// A warning on the pod.
fn said(sentence: impl std::fmt::Display) -> Warning {
    Warning::plain(WarningPlace::Pod, sentence)
}

fn metadata(meta: &mut Value, mut annotations: Texts, labels: &Texts, merge: &mut Merge<'_>) {
    // The record says what we want now, whatever stands there.
    let record = annotations.remove(key::RECORD);
    for (map, wanted) in [("annotations", texts(&annotations)), ("labels", texts(labels))] {
        let merged = merge.merge(&Path::of(map), Some(child(meta, map)), Some(&wanted));
        set(meta, map, merged);
    }
    if let Some(record) = record {
        set(child(meta, "annotations"), key::RECORD, Some(record.into()));
    }
}

fn volumes(spec: &mut Value, wanted: Vec<Value>, earlier: &Earlier, merge: &mut Merge<'_>) {
    let ours = |v: &&Value| wanted.iter().any(|w| name_of(w) == name_of(v)) || earlier.owns_volume(v);
    let own: Value = items(spec, "volumes").iter().filter(ours).cloned().collect();
    let merged = match merge.merge(&Path::of("volumes"), Some(&own), Some(&wanted.into())) {
        Some(Value::Array(merged)) => merged,
        _ => Vec::new(),
    };
    for gone in own.as_array().into_iter().flatten().filter(|o| !merged.iter().any(|m| name_of(m) == name_of(o))) {
        take_out(spec, "volumes", name_of(gone));
    }
    for volume in merged {
        put_named(spec, "volumes", volume);
    }
}

fn gone(name: &str) -> Warning {
    said(format!("{name} is gone, with what others changed in it"))
}

/// What is lost of others' edits when a pod becomes its application view, which takes out exactly what an earlier call put in.
#[must_use]
pub fn losses(object: &Value, earlier: &Earlier) -> Vec<Warning> {
    let merge = Merge::new(earlier, object);
    let spec = object.get("spec").unwrap_or(&Value::Null);
    let ours: Vec<(&str, &Value)> = OWN_CONTAINERS.iter().filter_map(|name| Some((*name, own(spec, earlier, name)?.1))).collect();
    if !earlier.can_tell() && !ours.is_empty() {
        return vec![said("the sidecar is gone, with what others may have changed in it")];
    }
    ours.iter().filter(|(name, c)| merge.changed(name, c)).map(|(name, _)| gone(name)).collect()
}

/// Sets one annotation of an object.
pub fn annotate(object: &mut Value, key: &str, value: String) {
    set(child(child(object, "metadata"), "annotations"), key, Some(value.into()));
}

/// Notes that an annotation is ours, on a pod that gets nothing else from us.
pub fn remember_annotation(object: &mut Value, key: &str, value: &str) {
    let mut record = Record::default();
    note(&mut record, &Path::of("annotations").with(key), &value.into());
    annotate(object, key::RECORD, record.write());
}

type Texts = BTreeMap<&'static str, String>;

fn texts(map: &Texts) -> Value {
    gather::object(map.iter().map(|(key, value)| ((*key).to_owned(), Value::from(value.clone())))).into()
}

#[cfg(test)]
mod tests;
