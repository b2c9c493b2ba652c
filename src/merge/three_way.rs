//! The merge of one object: what we wrote, what stands there now, and what we want.
//!
//! | current against the record | wanted | result |
//! |---|---|---|
//! | same | any | wanted |
//! | changed | as recorded | current |
//! | changed | equal to current | current |
//! | changed | another | an asserted leaf: wanted, with a warning; a set: entry by entry; any other: current |
//! | no record | | asserted: wanted, be it nothing; any other: current where there is one |
//!
//! An asserted leaf is never left to the record, which users can write.

use super::filled::{self, Limits};
use super::leaf::{self, Class, Kind, Shape};
use super::record::Record;
use super::{Earlier, env_order, flags};
use crate::gather;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One merge.
pub(crate) struct Merge<'a> {
    /// What an earlier call wrote; `None` when nothing is known of it.
    record: Option<&'a Record>,
    /// What is ours without it.
    earlier: &'a Earlier,
    /// What LimitRanger filled in.
    limits: Limits,
    /// Asserted leaves that others changed, and that were set back.
    pub(crate) set_back: Vec<String>,
}

/// Notes every leaf of an object that we want.
pub(crate) fn note(record: &mut Record, path: &mut Vec<String>, wanted: &Value) {
    leaves(path, wanted, &mut |path, canonical| record.note(path, canonical));
}

/// Walks the leaves of an object that say something.
fn leaves(path: &mut Vec<String>, value: &Value, each: &mut dyn FnMut(&[String], &str)) {
    let (shape, _) = leaf::of(path, Some(value));
    match shape {
        Shape::Map => {
            for (key, value) in value.as_object().into_iter().flatten() {
                within(path, key, |path| leaves(path, value, each));
            }
        }
        Shape::Probe => {
            let (handler, timings) = probe(value);
            within(path, HANDLER, |path| leaves_of(path, Kind::Plain, &handler, each));
            for (key, value) in &timings {
                within(path, key, |path| leaves(path, value, each));
            }
        }
        Shape::List(fields) => {
            for item in value.as_array().into_iter().flatten() {
                within(path, &leaf::identity(item, fields), |path| leaves(path, item, each));
            }
        }
        Shape::Flags => {
            for (flag, value) in flags::read(value).into_iter().flatten() {
                within(path, &flag, |path| leaves(path, &value.into(), each));
            }
        }
        Shape::Leaf(kind) => leaves_of(path, kind, value, each),
    }
}

fn leaves_of(path: &[String], kind: Kind, value: &Value, each: &mut dyn FnMut(&[String], &str)) {
    if let Some(canonical) = leaf::canonical(kind, Some(value)) {
        each(path, &canonical);
    }
    for entry in leaf::entries(kind, value).into_iter().flatten() {
        each(&entry_path(path, &entry), "");
    }
}

/// The path of one entry of a leaf that is a set.
fn entry_path(path: &[String], entry: &str) -> Vec<String> {
    path.iter().cloned().chain([entry.to_owned()]).collect()
}

/// The one leaf of a probe that says what it does.
const HANDLER: &str = "handler";
const HANDLERS: [&str; 4] = ["exec", "grpc", "httpGet", "tcpSocket"];

/// A probe as its handler and the rest.
fn probe(value: &Value) -> (Value, Map<String, Value>) {
    let mut rest = value.as_object().cloned().unwrap_or_default();
    let handler = gather::object(HANDLERS.iter().filter_map(|h| Some(((*h).to_owned(), rest.remove(*h)?))));
    (Value::Object(handler), rest)
}

/// Runs with one more step on the path.
fn within<T>(path: &mut Vec<String>, step: &str, run: impl FnOnce(&mut Vec<String>) -> T) -> T {
    path.push(step.to_owned());
    let result = run(path);
    path.pop();
    result
}

impl<'a> Merge<'a> {
    /// A merge with what an earlier call left in a pod.
    pub(crate) fn new(earlier: &'a Earlier, pod: &Value) -> Self {
        Merge { record: earlier.record.as_ref(), earlier, limits: Limits::of(pod), set_back: Vec::new() }
    }

    /// Whether others changed anything in a container of ours.
    pub(crate) fn changed(&self, name: &str, current: &Value) -> bool {
        self.record.is_some_and(|record| {
            let mut found = false;
            leaves(&mut vec![name.to_owned()], current, &mut |path, canonical| {
                let filled = filled::is_of_plugin(path, canonical)
                    || (!record.has(path) && filled::is_default(path, Some(canonical)))
                    || self.limits.has(record, name, current, path);
                found |= !record.is(path, Some(canonical)) && !filled;
            });
            found
        })
    }

    /// Merges a part of an object. What nobody changed stays as it is, to the letter.
    pub(crate) fn merge(&mut self, path: &mut Vec<String>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let current = current.filter(|c| !c.is_null());
        let (shape, class) = leaf::of(path, current.or(wanted));
        match shape {
            Shape::Map => match (path.as_slice(), self.record, current) {
                ([name, part], Some(record), Some(now)) if part == "resources" => {
                    let rest = self.limits.without_filled(record, name, now, wanted);
                    self.map(path, Some(&rest), wanted)
                }
                _ => self.map(path, current, wanted),
            },
            Shape::Probe => self.probe(path, current, wanted),
            Shape::List(fields) => self.list(path, current, wanted, fields),
            Shape::Flags => self.flags(path, current, wanted),
            Shape::Leaf(kind) => self.leaf(path, kind, class, current, wanted),
        }
    }

    fn leaf(
        &mut self,
        path: &[String],
        kind: Kind,
        class: Class,
        current: Option<&Value>,
        wanted: Option<&Value>,
    ) -> Option<Value> {
        let (c, w) = (leaf::canonical(kind, current), leaf::canonical(kind, wanted));
        if c == w {
            return current.cloned();
        }
        let Some(record) = self.record else {
            // An asserted leaf that we do not want may be one that we wrote; an annotation or label that is not ours is the user's.
            let ours = class == Class::Asserted
                && match (path, current) {
                    ([map, key], Some(text)) if is_map_of_texts(map) => self.earlier.owns_text(map, key, text),
                    _ => true,
                };
            let keep = if wanted.is_none() { !ours } else { class == Class::Defaulted && c.is_some() };
            return if keep { current.cloned() } else { wanted.cloned() };
        };
        if w.is_some() && !record.has(path) && filled::is_default(path, c.as_deref()) {
            return wanted.cloned();
        }
        let untouched = record.is(path, c.as_deref());
        if class == Class::Asserted {
            // What we neither write nor wrote is not ours to assert; nor is an annotation that others changed and we no longer
            // write: it was rendered from as theirs.
            let theirs = !untouched && path.first().is_some_and(|map| map == "annotations");
            if wanted.is_none() && (theirs || !record.has(path)) {
                return current.cloned();
            }
            if !untouched {
                self.set_back.push(path.join("."));
            }
            return wanted.cloned();
        }
        if untouched {
            wanted.cloned()
        } else if record.is(path, w.as_deref()) {
            current.cloned()
        } else {
            merged_entries(record, path, kind, current, wanted).or_else(|| current.cloned())
        }
    }

    fn map(&mut self, path: &mut Vec<String>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let empty = Map::new();
        let (now, want) = (current.and_then(Value::as_object), wanted.and_then(Value::as_object).unwrap_or(&empty));
        let mut merged = now.cloned().unwrap_or_default();
        let keys: Vec<String> = merged.keys().chain(want.keys().filter(|k| !merged.contains_key(*k))).cloned().collect();
        for key in keys {
            let before = now.and_then(|n| n.get(&key));
            match within(path, &key, |path| self.merge(path, before, want.get(&key))) {
                Some(value) => {
                    merged.insert(key, value);
                }
                None if before.is_some_and(Value::is_null) => {}
                None => {
                    merged.remove(&key);
                }
            }
        }
        let was_empty = now.is_some_and(Map::is_empty);
        (!merged.is_empty() || was_empty).then_some(Value::Object(merged))
    }

    fn probe(&mut self, path: &mut Vec<String>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let parts = |value: Option<&Value>| value.map(probe).map(|(handler, rest)| (handler, Value::Object(rest)));
        let (now, want) = (parts(current), parts(wanted));
        let handler = within(path, HANDLER, |path| {
            self.leaf(path, Kind::Plain, Class::Defaulted, now.as_ref().map(|n| &n.0), want.as_ref().map(|w| &w.0))
        });
        let timings = self.map(path, now.as_ref().map(|n| &n.1), want.as_ref().map(|w| &w.1));
        // Timings of a probe that does nothing mean nothing.
        let mut merged = handler?.as_object().cloned()?;
        merged.extend(timings.and_then(|t| t.as_object().cloned()).into_iter().flatten());
        Some(Value::Object(merged))
    }

    fn list<'v>(
        &mut self,
        path: &mut Vec<String>,
        current: Option<&'v Value>,
        wanted: Option<&'v Value>,
        fields: &[(&str, &str)],
    ) -> Option<Value> {
        let items = |value: Option<&'v Value>| -> Vec<(String, &'v Value)> {
            let list = value.and_then(Value::as_array).into_iter().flatten();
            list.map(|item| (leaf::identity(item, fields), item)).collect()
        };
        let (now, want) = (items(current), items(wanted));
        // Of items that share an identity the last counts, at the place of the first.
        let mut unique: Vec<(&str, &Value)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (id, item) in &now {
            let place = *places.entry(id).or_insert(unique.len());
            match unique.get_mut(place) {
                Some((_, first)) => *first = item,
                None => unique.push((id, item)),
            }
        }
        let wants = env_order::places(want.iter().map(|(id, _)| id.as_str()));
        let mut stays: Vec<Option<Value>> = Vec::new();
        for (id, item) in &unique {
            let wanted = wants.get(id).and_then(|place| want.get(*place)).map(|(_, item)| *item);
            stays.push(within(path, id, |path| self.merge(path, Some(item), wanted)));
        }
        // What is new goes after the nearest item that comes before it in what we want; where there is none, before the nearest that
        // comes after it.
        let mut comes: Vec<Vec<Value>> = vec![Vec::new(); stays.len().saturating_add(1)];
        let mut first: Vec<Value> = Vec::new();
        let mut before = None;
        for (id, item) in &want {
            match places.get(id.as_str()) {
                Some(place) if stays.get(*place).is_some_and(Option::is_some) => {
                    if before.is_none()
                        && let Some(comes) = comes.get_mut(*place)
                    {
                        comes.append(&mut first);
                    }
                    before = Some(place.saturating_add(1));
                }
                Some(_) => {}
                None => {
                    let new = within(path, id, |path| self.merge(path, None, Some(item)));
                    before.and_then(|place| comes.get_mut(place)).unwrap_or(&mut first).extend(new);
                }
            }
        }
        let mut list: Vec<Value> = Vec::new();
        for (place, new) in comes.into_iter().enumerate() {
            list.extend(new);
            list.extend(stays.get_mut(place).and_then(Option::take));
        }
        list.append(&mut first);
        if path.last().is_some_and(|step| step == "env") {
            env_order::settle(&mut list, [&wants, &places]);
        }
        (!list.is_empty() || current.and_then(Value::as_array).is_some_and(Vec::is_empty)).then_some(Value::Array(list))
    }

    fn flags(&mut self, path: &mut Vec<String>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let want = wanted.and_then(flags::read).unwrap_or_default();
        let Some(now) = current.and_then(flags::read) else {
            // A list that is none of flags means nothing to the program.
            if current.is_some() && wanted.is_some() {
                self.set_back.push(path.join("."));
            }
            return wanted.cloned();
        };
        let find =
            |list: &[(String, String)], flag: &str| list.iter().find(|(f, _)| f == flag).map(|(_, v)| Value::from(v.clone()));
        let foreign = now.iter().filter(|(flag, _)| !want.iter().any(|(f, _)| f == flag));
        let mut merged: Vec<(String, String)> = Vec::new();
        for (flag, _) in want.iter().chain(foreign) {
            let value = within(path, flag, |path| self.merge(path, find(&now, flag).as_ref(), find(&want, flag).as_ref()));
            merged.extend(value.and_then(|v| v.as_str().map(str::to_owned)).map(|v| (flag.clone(), v)));
        }
        let sorted = |list: &[(String, String)]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        if sorted(&merged) == sorted(&now) { current.cloned() } else { Some(flags::write(&merged)) }
    }
}

/// A set that others and we changed: of the entries that we wrote, those that both still have, and all that either added.
fn merged_entries(record: &Record, path: &[String], kind: Kind, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
    let wanted = wanted?;
    let (now, want) = (leaf::entries(kind, current?)?, leaf::entries(kind, wanted)?);
    let wrote = |entry: &String| record.has(&entry_path(path, entry));
    let ours = want.iter().filter(|entry| now.contains(entry) || !wrote(entry));
    let theirs = now.iter().filter(|entry| !want.contains(entry) && !wrote(entry));
    Some(leaf::with_entries(kind, wanted, &ours.chain(theirs).cloned().collect::<Vec<_>>()))
}

fn is_map_of_texts(part: &str) -> bool {
    matches!(part, "annotations" | "labels")
}
