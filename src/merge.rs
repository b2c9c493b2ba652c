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

mod edit;
mod env_order;
mod filled;
mod flags;
mod leaf;
mod place;
mod record;
mod resources;
mod three_way;

use crate::annotation as key;
use crate::gather;
use crate::owner;
use crate::render::{PodPatch, container, volume_names, volume_source};
use crate::settings::ForeignInjection;
use crate::warning::{Place as WarningPlace, Warning};
use edit::{child, existing, items, name_of, named, put_named, set, take_out};
use record::{Record, RecordError};
use serde_json::Value;
use std::collections::BTreeMap;
use three_way::{Merge, note};

/// Annotations of ours that say what we did; whoever wrote them, they are ours.
const OWN_ANNOTATIONS: &[&str] = &[key::CREATED_BY, key::PROXY_VERSION, key::TRUST_ROOT_SHA256, key::WARNINGS, key::RECORD];
/// Labels of ours, beside those of the owner.
const OWN_LABELS: &[&str] = &[key::CONTROL_PLANE_NS, key::WORKLOAD_NS];
/// Containers of ours.
const OWN_CONTAINERS: &[&str] = &[container::INIT, container::VALIDATOR, container::PROXY, container::DEBUG];
/// The lists of containers.
const LISTS: [&str; 2] = ["initContainers", "containers"];

/// What an earlier call left in an object.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What it wrote, where that is known.
    record: Option<Record>,
    /// Whether the record knows the proxy, or the proxy's own word is that we put it there.
    ours: bool,
    /// Whether there is a record that cannot be read.
    unreadable: Option<RecordError>,
    /// The names of the pod's owners.
    owners: Vec<String>,
}

impl Earlier {
    /// What an earlier call left in a pod: a record, or a sidecar that says that this policy, or with [`ForeignInjection::Adopt`]
    /// Linkerd itself, injected it. `None` for a pod that is seen for the first time, or that others injected.
    #[must_use]
    pub fn of(pod: &Value, foreign: ForeignInjection) -> Option<Earlier> {
        let annotation = |name| pod.get("metadata")?.get("annotations")?.get(name)?.as_str();
        let spec = pod.get("spec").unwrap_or(&Value::Null);
        let injected = LISTS.iter().any(|list| named(spec, list, container::PROXY).is_some());
        let by_us = annotation(key::CREATED_BY).is_some_and(|by| {
            by.starts_with("linkerd-injector-policy") || (foreign == ForeignInjection::Adopt && by.starts_with("linkerd/"))
        });
        let (record, unreadable) = match annotation(key::RECORD).map(Record::read) {
            None => (None, None),
            Some(Ok(record)) => (Some(record), None),
            Some(Err(error)) => (None, Some(error)),
        };
        let ours = (injected && by_us) || record.as_ref().is_some_and(knows_the_proxy);
        let owners = items(pod.get("metadata").unwrap_or(&Value::Null), "ownerReferences").iter().map(|o| name_of(o).to_owned());
        (ours || record.is_some()).then(|| Earlier { record, ours, unreadable, owners: owners.collect() })
    }

    /// Whether the pod has a sidecar that is merged with, rather than one to be inserted.
    #[must_use]
    pub fn injected(&self) -> bool {
        self.ours
    }

    /// What a person should know of the record.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        self.unreadable.map(|error| Warning::plain(WarningPlace::Annotation(key::RECORD), error))
    }

    /// The pod without our own parts: what decisions and rendering see.
    #[must_use]
    pub fn application_view(&self, pod: &Value) -> Value {
        let mut view = pod.clone();
        if let Some(spec) = view.get_mut("spec") {
            for list in LISTS {
                self.strip(spec, list, Earlier::owns_container);
            }
            self.strip(spec, "volumes", Earlier::owns_volume);
        }
        if let Some(meta) = view.get_mut("metadata") {
            for map in ["annotations", "labels"] {
                let Some(Value::Object(entries)) = meta.get_mut(map) else { continue };
                let before = entries.len();
                entries.retain(|name, value| !self.owns_text(map, name, value) && !self.wrote(map, name, value));
                if entries.is_empty() && before > 0 {
                    set(meta, map, None);
                }
            }
        }
        view
    }

    /// Takes our items out of a list, and the list with them where nothing else was in it.
    fn strip(&self, spec: &mut Value, list: &str, owns: fn(&Earlier, &Value) -> bool) {
        let Some(items) = existing(spec, list) else { return };
        let before = items.len();
        items.retain(|item| !owns(self, item));
        if items.is_empty() && before > 0 && list != "containers" {
            set(spec, list, None);
        }
    }

    /// Whether a container that bears a name of ours is ours.
    ///
    /// The proxy and what redirects traffic to it are, whatever the record says: it may be forged. The others may be the user's, where
    /// we had none to add; without a record that knows better, they go by what we would have written.
    fn owns_container(&self, container: &Value) -> bool {
        let name = name_of(container);
        let has = |pointer: &str, text: &str| container.pointer(pointer).and_then(Value::as_str).is_some_and(|t| t.ends_with(text));
        self.ours
            && match (name, self.knowing()) {
                (container::PROXY | container::INIT, _) => true,
                (container::VALIDATOR | container::DEBUG, Some(record)) => record.has(&path(&[name, "name"])),
                (container::VALIDATOR, None) => has("/command/0", "/linkerd2-network-validator"),
                (container::DEBUG, None) => has("/livenessProbe/exec/command/0", "true"),
                _ => false,
            }
    }

    /// The same of a volume.
    fn owns_volume(&self, volume: &Value) -> bool {
        let name = name_of(volume);
        self.ours
            && match self.knowing() {
                Some(record) => volume_names().contains(&name) && record.has(&path(&["volumes", name])),
                None => volume_source(name).is_some_and(|source| volume.get(source).is_some()),
            }
    }

    /// The same of an annotation or label. Without a record, a label that names no owner of the pod is the user's.
    fn owns_text(&self, map: &str, name: &str, value: &Value) -> bool {
        let owner = |label: &str| self.owners.iter().any(|owner| owner.starts_with(label));
        name == key::RECORD
            || (is_own(map, name)
                && self.ours
                && match self.knowing() {
                    Some(record) => record.has(&path(&[map, name])),
                    None => !owner::is_label(name) || value.as_str().is_some_and(owner),
                })
    }

    /// The record, where it knows the sidecar.
    fn knowing(&self) -> Option<&Record> {
        self.record.as_ref().filter(|record| knows_the_proxy(record))
    }

    /// Whether an annotation or label is as we wrote it.
    fn wrote(&self, map: &str, name: &str, value: &Value) -> bool {
        value.as_str().is_some_and(|text| self.record.as_ref().is_some_and(|r| r.is_text(&path(&[map, name]), text)))
    }
}

fn path(steps: &[&str]) -> Vec<String> {
    steps.iter().map(|step| (*step).to_owned()).collect()
}

/// Whether the record is that of an injection, not only of an annotation.
fn knows_the_proxy(record: &Record) -> bool {
    record.has(&path(&[container::PROXY, "name"]))
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
    for (map, entries) in [("annotations", texts(&patch.annotations)), ("labels", texts(&patch.labels))] {
        note(&mut record, &mut vec![map.to_owned()], &entries);
    }
    note(&mut record, &mut vec!["volumes".to_owned()], &patch.volumes.clone().into());
    for added in [Some(&patch.init), Some(&patch.proxy), patch.debug.as_ref()].into_iter().flatten() {
        note(&mut record, &mut vec![name_of(added).to_owned()], added);
    }
    patch.annotations.insert(key::RECORD, record.write());
}

/// Puts an injection into a pod that has none.
pub fn apply(object: &mut Value, patch: PodPatch) {
    let meta = child(object, "metadata");
    for (map, entries) in [("annotations", patch.annotations), ("labels", patch.labels)] {
        let map = child(meta, map);
        for (key, value) in entries {
            set(map, key, Some(value.into()));
        }
    }
    let spec = child(object, "spec");
    for volume in patch.volumes {
        put_named(spec, "volumes", volume);
    }
    for added in patch.debug.into_iter().chain([patch.init, patch.proxy]) {
        for list in LISTS {
            take_out(spec, list, name_of(&added));
        }
        place::put(spec, patch.place, added);
    }
}

/// Merges an injection with the one that an earlier call left.
#[must_use]
pub fn reapply(object: &mut Value, patch: PodPatch, earlier: &Earlier) -> Vec<Warning> {
    let mut merge = Merge::new(earlier, object);
    metadata(child(object, "metadata"), patch.annotations, &patch.labels, &mut merge);
    let spec = child(object, "spec");
    volumes(spec, patch.volumes, earlier, &mut merge);
    let init = name_of(&patch.init).to_owned();
    let wanted = [Some(patch.init), Some(patch.proxy), patch.debug];
    let mut warnings = Vec::new();
    for name in OWN_CONTAINERS {
        let want = wanted.iter().flatten().find(|w| name_of(w) == *name);
        let found = LISTS.into_iter().find_map(|l| Some((l, named(spec, l, name)?.clone())));
        match (found, want) {
            (None, None) => {}
            (None, Some(want)) => {
                let wrote = earlier.record.as_ref().is_some_and(|r| r.has(&path(&[name, "name"])));
                warnings.extend(
                    wrote.then(|| Warning::plain(WarningPlace::Pod, format!("{name} was taken out by others, and put back"))),
                );
                place::put(spec, patch.place, want.clone());
            }
            (Some((_, current)), None) if !earlier.owns_container(&current) => {}
            (Some((list, current)), None) => {
                warnings.extend(merge.changed(name, &current).then(|| gone(name)));
                take_out(spec, list, name);
            }
            // What bears our name and is not ours gives way, as in a first call.
            (Some((list, current)), Some(want)) if !earlier.owns_container(&current) => {
                take_out(spec, list, name);
                place::put(spec, patch.place, want.clone());
            }
            (Some((list, current)), Some(want)) => {
                let path = &mut vec![(*name).to_owned()];
                let mut merged = merge.merge(path, Some(&current), Some(want)).unwrap_or_else(|| want.clone());
                let lowered = resources::settle(&mut merged, &current, want);
                warnings.extend(lowered.iter().map(|resource| {
                    Warning::plain(
                        WarningPlace::Pod,
                        format!("the {resource} request of {name} is above its limit, and lowered to it"),
                    )
                }));
                if place::list_of(patch.place, name) == list {
                    put_named(spec, list, merged);
                } else {
                    take_out(spec, list, name);
                    place::put(spec, patch.place, merged);
                }
            }
        }
    }
    place::settle(spec, patch.place, &init);
    let set_back = |leaf: &String| Warning::plain(WarningPlace::Pod, format!("{leaf} was changed by others, and set back"));
    merge.set_back.iter().map(set_back).chain(warnings).collect()
}

fn metadata(meta: &mut Value, mut annotations: Texts, labels: &Texts, merge: &mut Merge<'_>) {
    // The record says what we want now, whatever stands there.
    let record = annotations.remove(key::RECORD);
    for (map, wanted) in [("annotations", texts(&annotations)), ("labels", texts(labels))] {
        let current = child(meta, map).clone();
        let merged = merge.merge(&mut vec![map.to_owned()], Some(&current), Some(&wanted));
        set(meta, map, merged);
    }
    if let Some(record) = record {
        set(child(meta, "annotations"), key::RECORD, Some(record.into()));
    }
}

fn volumes(spec: &mut Value, wanted: Vec<Value>, earlier: &Earlier, merge: &mut Merge<'_>) {
    let ours = |v: &&Value| wanted.iter().any(|w| name_of(w) == name_of(v)) || earlier.owns_volume(v);
    let own: Vec<Value> = items(spec, "volumes").iter().filter(ours).cloned().collect();
    let merged = merge.merge(&mut vec!["volumes".to_owned()], Some(&own.clone().into()), Some(&wanted.into()));
    let merged: Vec<Value> = merged.and_then(|m| m.as_array().cloned()).unwrap_or_default();
    for gone in own.iter().filter(|o| !merged.iter().any(|m| name_of(m) == name_of(o))) {
        take_out(spec, "volumes", name_of(gone));
    }
    for volume in merged {
        put_named(spec, "volumes", volume);
    }
}

fn gone(name: &str) -> Warning {
    Warning::plain(WarningPlace::Pod, format!("{name} is gone, with what others changed in it"))
}

/// What is lost of others' edits when a pod becomes its application view, which takes out exactly what an earlier call put in.
#[must_use]
pub fn losses(object: &Value, earlier: &Earlier) -> Vec<Warning> {
    let merge = Merge::new(earlier, object);
    let spec = object.get("spec").unwrap_or(&Value::Null);
    let containers = OWN_CONTAINERS.iter().filter_map(|name| LISTS.iter().find_map(|list| Some((*name, named(spec, list, name)?))));
    let ours = containers.filter(|(_, c)| earlier.owns_container(c));
    ours.filter(|(name, c)| merge.changed(name, c)).map(|(name, _)| gone(name)).collect()
}

/// Sets one annotation of an object.
pub fn annotate(object: &mut Value, key: &str, value: String) {
    set(child(child(object, "metadata"), "annotations"), key, Some(value.into()));
}

/// Notes that an annotation is ours, on a pod that gets nothing else from us.
pub fn remember_annotation(object: &mut Value, key: &str, value: &str) {
    let mut record = Record::default();
    note(&mut record, &mut vec!["annotations".to_owned(), key.to_owned()], &value.into());
    annotate(object, key::RECORD, record.write());
}

type Texts = BTreeMap<&'static str, String>;

fn texts(map: &Texts) -> Value {
    gather::object(map.iter().map(|(key, value)| ((*key).to_owned(), Value::from(value.clone())))).into()
}

#[cfg(test)]
mod tests;
