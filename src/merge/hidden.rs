//! The annotations that users may not set, taken out of an object before it is looked at.
//!
//! They are as good as absent: to the decision, to the rendering, and to a later call, which is told to forget that an annotation of
//! that name was ever written. What stays out of the mesh gets them back, for they mean nothing there; but for opaque ports, which
//! others read off every pod and Service.

use super::edit::set;
use super::record::Key;
use super::{Earlier, child};
use crate::annotation as key;
use crate::permitted::Permitted;
use crate::warning::Warning;
use serde_json::Value;
use std::collections::BTreeMap;

/// What was taken out, by its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden(BTreeMap<&'static str, (String, &'static str)>);

/// Takes out of an object's own annotations what is forbidden and is not of our own writing.
#[must_use]
pub fn hide(object: &mut Value, mut earlier: Option<&mut Earlier>, permitted: &Permitted) -> Hidden {
    let mut hidden = Hidden::default();
    if !permitted.restricts() {
        return hidden;
    }
    let annotations = object.get_mut("metadata").and_then(|meta| meta.get_mut("annotations"));
    let Some(Value::Object(annotations)) = annotations else { return hidden };
    annotations.retain(|name, value| {
        let (Some((known, list)), Some(text)) = (permitted.forbids(name), value.as_str()) else { return true };
        match &mut earlier {
            Some(earlier) if earlier.wrote("annotations", name, value) => return true,
            Some(earlier) => earlier.forget(Key::of(&["annotations", name])),
            None => {}
        }
        hidden.0.insert(known, (text.to_owned(), list));
        false
    });
    hidden
}

impl Hidden {
    /// Whether nothing is forbidden.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What there is to say of each that says something else than the namespace does, or than what is written in its place.
    #[must_use]
    pub fn forbidden(&self, written: &BTreeMap<&'static str, String>, namespace: &BTreeMap<String, String>) -> Vec<Warning> {
        let unlike = self.0.iter().filter(|(key, (text, _))| written.get(*key) != Some(text) && namespace.get(**key) != Some(text));
        unlike.map(|(key, (_, list))| Warning::forbidden(key, list)).collect()
    }

    /// The same of an object that gets no more than its opaque ports.
    #[must_use]
    pub fn forbidden_ports(&self, due: Option<&str>) -> Option<Warning> {
        let (text, list) = self.0.get(key::OPAQUE_PORTS)?;
        (due != Some(text)).then(|| Warning::forbidden(key::OPAQUE_PORTS, list))
    }

    /// Puts back into an object what means nothing on it, or all.
    pub fn put_back(&self, object: &mut Value, ports_too: bool) {
        for (key, (text, _)) in self.0.iter().filter(|(key, _)| ports_too || **key != key::OPAQUE_PORTS) {
            set(child(child(object, "metadata"), "annotations"), key, Some(text.as_str().into()));
        }
    }
}
