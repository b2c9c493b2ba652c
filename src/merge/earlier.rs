//! What an earlier call left in an object, and what of the object is ours.

use super::edit::{items, name_of, named};
use super::leaf::{self, Kind};
use super::record::{Key, Record, RecordError};
use super::{LISTS, is_own, knows_the_proxy};
use crate::annotation as key;
use crate::gather;
use crate::overrides;
use crate::owner;
use crate::render::{container, volume_names, volume_source};
use crate::settings::ForeignInjection;
use crate::warning::{Place, Warning};
use serde_json::{Map, Value};

/// What an earlier call left in an object.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What it wrote, where that is known.
    pub(super) record: Option<Record>,
    /// Whether the record knows the proxy, or the proxy's own word is that we put it there.
    ours: bool,
    /// Whether others' injector put the proxy there, and it is taken over.
    adopted: bool,
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
        let by = |who: &str| annotation(key::CREATED_BY).is_some_and(|by| by.starts_with(who));
        let by_us = by("linkerd-injector-policy");
        let adopted = injected && !by_us && foreign == ForeignInjection::Adopt && by("linkerd/");
        let (record, unreadable) = match annotation(key::RECORD).map(Record::read) {
            None => (None, None),
            Some(Ok(record)) => (Some(record), None),
            Some(Err(error)) => (None, Some(error)),
        };
        let ours = (injected && by_us) || adopted || record.as_ref().is_some_and(knows_the_proxy);
        let owners = items(pod.get("metadata").unwrap_or(&Value::Null), "ownerReferences").iter().map(|o| name_of(o).to_owned());
        let there = ours || record.is_some() || unreadable.is_some();
        there.then(|| Earlier { record, ours, adopted, unreadable, owners: owners.collect() })
    }

    /// Whether the pod has a sidecar that is merged with, rather than one to be inserted.
    #[must_use]
    pub fn injected(&self) -> bool {
        self.ours
    }

    /// What a person should know of the record.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        self.unreadable.map(|error| Warning::plain(Place::Annotation(key::RECORD), error))
    }

    /// Whether edits by others can be told from what we wrote.
    pub(super) fn can_tell(&self) -> bool {
        self.record.is_some() || self.adopted
    }

    /// The pod without our own parts: what decisions and rendering see.
    #[must_use]
    pub fn application_view(&self, pod: &Value) -> Value {
        fields(pod, |key, value| match key {
            "spec" => Some(self.spec_view(value)),
            "metadata" => Some(self.metadata_view(value)),
            _ => Some(value.clone()),
        })
    }

    fn spec_view(&self, spec: &Value) -> Value {
        let theirs = |list: &'static str| items(spec, list).iter().filter(move |container| !self.owns_container(list, container));
        let mounts = LISTS.into_iter().flat_map(theirs).flat_map(|container| items(container, "volumeMounts"));
        let mounted: Vec<&str> = mounts.map(name_of).filter(|name| volume_names().contains(name)).collect();
        fields(spec, |key, value| match (key, value) {
            ("containers", Value::Array(list)) => Some(without(list, |c| self.owns_container(key, c))),
            ("initContainers", Value::Array(list)) => unless_emptied(list, without(list, |c| self.owns_container(key, c))),
            ("volumes", Value::Array(list)) => {
                unless_emptied(list, without(list, |v| self.owns_volume(v) && !mounted.contains(&name_of(v))))
            }
            _ => Some(value.clone()),
        })
    }

    fn metadata_view(&self, metadata: &Value) -> Value {
        fields(metadata, |map, value| match (map, value) {
            ("annotations" | "labels", Value::Object(entries)) if !entries.is_empty() => {
                let ours = |name: &str, text: &Value| self.owns_text(map, name, text) || self.wrote(map, name, text);
                let rest = fields(value, |name, text| (!ours(name, text)).then(|| text.clone()));
                (rest != Value::Object(Map::new())).then_some(rest)
            }
            _ => Some(value.clone()),
        })
    }

    /// Whether a container that bears a name of ours is ours.
    ///
    /// The proxy and what redirects traffic to it are, whatever the record says: it may be forged. The others may be the user's, where
    /// we had none to add; without a record that knows better, they go by what we would have written. So may any that stands where we
    /// put none.
    pub(super) fn owns_container(&self, list: &str, container: &Value) -> bool {
        let name = name_of(container);
        let has = |pointer: &str, text: &str| container.pointer(pointer).and_then(Value::as_str).is_some_and(|t| t.ends_with(text));
        let in_place = match name {
            container::PROXY => true,
            container::DEBUG => list == "containers",
            _ => list == "initContainers",
        };
        self.ours
            && in_place
            && match (name, self.knowing()) {
                (container::PROXY | container::INIT, _) => true,
                (container::VALIDATOR | container::DEBUG, Some(record)) => record.has(Key::of(&[name, "name"])),
                (container::VALIDATOR, None) => has("/command/0", "/linkerd2-network-validator"),
                (container::DEBUG, None) => has("/livenessProbe/exec/command/0", "true"),
                _ => false,
            }
    }

    /// The same of a volume.
    pub(super) fn owns_volume(&self, volume: &Value) -> bool {
        let name = name_of(volume);
        self.ours
            && match self.knowing() {
                Some(record) => volume_names().contains(&name) && record.has(Key::of(&["volumes", name])),
                None => volume_source(name).is_some_and(|source| volume.get(source).is_some()),
            }
    }

    /// The same of an annotation or label. Without a record, a label that names no owner of the pod is the user's.
    pub(super) fn owns_text(&self, map: &str, name: &str, value: &Value) -> bool {
        let owner = |label: &str| self.owners.iter().any(|owner| owner.starts_with(label));
        name == key::RECORD
            || (is_own(map, name)
                && self.ours
                && match self.knowing() {
                    Some(record) => record.has(Key::of(&[map, name])),
                    None => !owner::is_label(name) || value.as_str().is_some_and(owner),
                })
    }

    /// The record, where it knows the sidecar.
    pub(super) fn knowing(&self) -> Option<&Record> {
        self.record.as_ref().filter(|record| knows_the_proxy(record))
    }

    /// Knows no more of a leaf, be it as we wrote it or not.
    pub(super) fn forget(&mut self, path: Key) {
        if let Some(record) = &mut self.record {
            record.forget(path);
        }
    }

    /// Whether an annotation or label is as we wrote it: one that we write at all, for users can write the record.
    pub(super) fn wrote(&self, map: &str, name: &str, value: &Value) -> bool {
        let written =
            is_own(map, name) || (map == "annotations" && (name == key::DEFAULT_CONTAINER || overrides::is_inherited(name)));
        let is = |record: &Record| record.is(Key::of(&[map, name]), leaf::canonical(Kind::Exact, Some(value)).as_deref());
        written && value.is_string() && self.record.as_ref().is_some_and(is)
    }
}

/// A copy of an object with what is made of each of its fields; of anything else, a copy.
fn fields(of: &Value, make: impl Fn(&str, &Value) -> Option<Value>) -> Value {
    match of.as_object() {
        None => of.clone(),
        Some(map) => gather::object(map.iter().filter_map(|(key, value)| Some((key.clone(), make(key, value)?)))).into(),
    }
}

/// A copy of a list without some of its items.
fn without(list: &[Value], goes: impl Fn(&Value) -> bool) -> Value {
    list.iter().filter(|item| !goes(item)).cloned().collect()
}

/// What is left of a list; none where all of it is gone.
fn unless_emptied(list: &[Value], rest: Value) -> Option<Value> {
    (list.is_empty() || rest.as_array().is_some_and(|rest| !rest.is_empty())).then_some(rest)
}
