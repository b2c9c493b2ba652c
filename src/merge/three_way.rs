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
//! An asserted leaf is never left to the record, which users can write; of the probes, it is the port alone.

use super::filled::{self, Limits};
use super::flags::{self, Flag};
use super::leaf::{self, Class, Kind, Shape, Sink};
use super::path::Path;
use super::record::{Record, Said};
use super::{Earlier, env_order};
use crate::annotation as key;
use crate::gather;
use crate::render::Variable;
use crate::warning::{Place, Warning};
use serde_json::{Map, Value};
use std::borrow::Cow;
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
    set_back: Vec<String>,
    /// Amounts that LimitRanger had filled in, or others in its place, and that gave way.
    dropped: Vec<String>,
    /// Whether an asserted leaf is not as it was, and nobody knows who changed it.
    reset: bool,
}

/// Notes every leaf of an object that we want.
pub(crate) fn note(record: &mut Record, path: &Path<'_>, wanted: &Value) {
    leaves(path, wanted, &mut |path, leaf| {
        let mut said = Said::default();
        if leaf.write(&mut said) {
            record.note(path.key(), said);
        }
    });
}

/// Notes a variable of the proxy.
pub(crate) fn note_variable(record: &mut Record, path: &Path<'_>, variable: &Variable) {
    match (leaf::of(path, None).0, variable) {
        (_, Variable::Given(entry)) => note(record, path, entry),
        (Shape::Leaf(Kind::Plain), variable) => {
            let mut said = Said::default();
            leaf::variable(variable, &mut said);
            record.note(path.key(), said);
        }
        _ => note(record, path, &variable.clone().into_value()),
    }
}

/// What a leaf is made of.
enum Leaf<'v> {
    /// A value.
    Of(Kind, &'v Value),
    /// What a probe does.
    Handler(&'v Value),
    /// An entry of a set, which says all by being there.
    Entry,
}

impl Leaf<'_> {
    /// Writes what it says, and whether it says anything.
    fn write(&self, to: &mut impl Sink) -> bool {
        match *self {
            Leaf::Of(kind, value) => return leaf::write(kind, value, to),
            Leaf::Handler(probe) => {
                let all = probe.as_object().into_iter().flatten();
                leaf::fields(all.filter(|(key, _)| HANDLERS.contains(&key.as_str())), to);
            }
            Leaf::Entry => {}
        }
        true
    }
}

/// Walks the leaves of an object.
fn leaves(path: &Path<'_>, value: &Value, each: &mut dyn FnMut(&Path<'_>, &Leaf<'_>)) {
    let (shape, _) = leaf::of(path, Some(value));
    match shape {
        Shape::Map | Shape::Probe => {
            let is_probe = shape == Shape::Probe;
            if is_probe {
                each(&path.with(HANDLER), &Leaf::Handler(value));
            }
            for (key, value) in value.as_object().into_iter().flatten() {
                if !(is_probe && HANDLERS.contains(&key.as_str())) {
                    leaves(&path.with(key), value, each);
                }
            }
        }
        Shape::List(fields) => {
            for item in value.as_array().into_iter().flatten() {
                leaves(&path.with(&leaf::identity(item, fields)), item, each);
            }
        }
        Shape::Flags => {
            for flag in flags::read(value).into_iter().flatten() {
                leaves(&path.with(&flag.name), &flag.value, each);
            }
        }
        Shape::Leaf(kind) => {
            each(path, &Leaf::Of(kind, value));
            for entry in leaf::entries(kind, value).into_iter().flatten() {
                each(&path.with(&entry), &Leaf::Entry);
            }
        }
    }
}

/// The one leaf of a probe that says what it does.
const HANDLER: &str = "handler";
/// The part of it that is not for others to change.
const PORT: &str = "/httpGet/port";
const HANDLERS: [&str; 4] = ["exec", "grpc", "httpGet", "tcpSocket"];

/// A probe as its handler and the rest.
fn probe(value: &Value) -> (Value, Map<String, Value>) {
    let mut rest = value.as_object().cloned().unwrap_or_default();
    let handler = gather::object(HANDLERS.iter().filter_map(|h| Some(((*h).to_owned(), rest.remove(*h)?))));
    (Value::Object(handler), rest)
}

impl<'a> Merge<'a> {
    /// A merge with what an earlier call left in a pod.
    pub(crate) fn new(earlier: &'a Earlier, pod: &Value) -> Self {
        Merge {
            record: earlier.record.as_ref().filter(|_| earlier.knowing().is_some() || !earlier.injected()),
            earlier,
            limits: Limits::of(pod),
            set_back: Vec::new(),
            dropped: Vec::new(),
            reset: false,
        }
    }

    /// What a person should know of the merge.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let pod = |sentence: String| Warning::plain(Place::Pod, sentence);
        let set_back = self.set_back.iter().map(|leaf| pod(format!("{leaf} was changed by others, and set back")));
        let dropped = self.dropped.iter().map(|leaf| pod(format!("{leaf}, which was filled in, gave way to what is asked for")));
        let reset = self.reset && !self.earlier.can_tell() && self.earlier.warning().is_none();
        let reset =
            reset.then(|| Warning::plain(Place::Annotation(key::RECORD), "is not there, and what the mesh relies on was set back"));
        set_back.chain(dropped).chain(reset).collect()
    }

    /// Whether others changed anything in a container of ours.
    pub(crate) fn changed(&self, name: &str, current: &Value) -> bool {
        self.record.is_some_and(|record| {
            let mut found = false;
            let amounts = self.limits.filled_in(record, name, current);
            leaves(&Path::of(name), current, &mut |path, leaf| {
                let mut canonical = Vec::new();
                if !leaf.write(&mut canonical) {
                    return;
                }
                let filled = || {
                    filled::is_of_plugin(path, &canonical)
                        || (!record.has(path.key()) && filled::is_default(path, Some(&canonical)))
                        || (path.len() == 4 && amounts.contains(&path.steps().join("/")))
                };
                found |= !record.is(path.key(), Some(&canonical)) && !filled();
            });
            found
        })
    }

    /// Merges a part of an object. What nobody changed stays as it is, to the letter.
    pub(crate) fn merge(&mut self, path: &Path<'_>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let current = current.filter(|c| !c.is_null());
        let (shape, class) = leaf::of(path, current.or(wanted));
        match shape {
            Shape::Map => match (path.steps().as_slice(), self.record, current) {
                ([name, "resources"], Some(record), Some(now)) => {
                    let (rest, dropped) = self.limits.without_filled(record, name, now, wanted);
                    self.dropped.extend(dropped);
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
        path: &Path<'_>,
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
                && match (path.steps().as_slice(), current) {
                    ([map, key], Some(text)) if is_map_of_texts(map) => self.earlier.owns_text(map, key, text),
                    _ => true,
                };
            if class == Class::Defaulted && kind == Kind::Ports {
                return merged_entries(&Record::default(), path, kind, current, wanted).or_else(|| current.or(wanted).cloned());
            }
            let keep = if wanted.is_none() { !ours || is_port(path) } else { class == Class::Defaulted && c.is_some() };
            self.reset |= !keep && c.is_some() && !path.steps().first().is_some_and(|map| is_map_of_texts(map));
            return if keep { current.cloned() } else { wanted.cloned() };
        };
        if w.is_some() && !record.has(path.key()) && filled::is_default(path, c.as_deref()) {
            return wanted.cloned();
        }
        let untouched = record.is(path.key(), c.as_deref());
        if class == Class::Asserted {
            // Outside of our containers, what we neither write nor wrote is not ours to assert, nor is a port of another number; nor is
            // an annotation that others changed and we no longer write: it was rendered from as theirs. In our containers nobody else
            // says what the mesh relies on, whatever the record knows.
            let map = path.steps().first().copied().unwrap_or_default();
            let theirs = !untouched && map == "annotations";
            let may_be_theirs = map == "volumes" || is_map_of_texts(map) || is_port(path);
            if wanted.is_none() && (theirs || (may_be_theirs && !record.has(path.key()))) {
                return current.cloned();
            }
            if !untouched {
                self.set_back.push(path.steps().join("."));
            }
            return wanted.cloned();
        }
        if untouched {
            wanted.cloned()
        } else if record.is(path.key(), w.as_deref()) {
            current.cloned()
        } else {
            merged_entries(record, path, kind, current, wanted).or_else(|| current.cloned())
        }
    }

    fn map(&mut self, path: &Path<'_>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let empty = Map::new();
        let (now, want) =
            (current.and_then(Value::as_object).unwrap_or(&empty), wanted.and_then(Value::as_object).unwrap_or(&empty));
        let mut merged = Map::new();
        for (key, before) in now {
            match self.merge(&path.with(key), Some(before), want.get(key)) {
                Some(value) => {
                    merged.insert(key.clone(), value);
                }
                None if before.is_null() => {
                    merged.insert(key.clone(), Value::Null);
                }
                None => {}
            }
        }
        for (key, wanted) in want.iter().filter(|(key, _)| !now.contains_key(*key)) {
            if let Some(value) = self.merge(&path.with(key), None, Some(wanted)) {
                merged.insert(key.clone(), value);
            }
        }
        let was_empty = current.and_then(Value::as_object).is_some_and(Map::is_empty);
        (!merged.is_empty() || was_empty).then_some(Value::Object(merged))
    }

    fn probe(&mut self, path: &Path<'_>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let parts = |value: Option<&Value>| value.map(probe).map(|(handler, rest)| (handler, Value::Object(rest)));
        let (now, want) = (parts(current), parts(wanted));
        let (handler_now, handler_wanted) = (now.as_ref().map(|n| &n.0), want.as_ref().map(|w| &w.0));
        let mut handler = self.leaf(&path.with(HANDLER), Kind::Plain, Class::Defaulted, handler_now, handler_wanted);
        // Whatever others ask of the proxy's own server, it listens on one port.
        let port = |handler: Option<&Value>| handler?.pointer(PORT).cloned();
        let (ours, theirs) = (port(want.as_ref().map(|w| &w.0)), port(handler.as_ref()));
        if let (Some(ours), Some(theirs)) = (ours, theirs)
            && ours != theirs
            && let Some(at) = handler.as_mut().and_then(|handler| handler.pointer_mut(PORT))
        {
            *at = ours;
            self.set_back.push(format!("{}.httpGet.port", path.steps().join(".")));
        }
        let timings = self.map(path, now.as_ref().map(|n| &n.1), want.as_ref().map(|w| &w.1));
        // Timings of a probe that does nothing mean nothing.
        let mut merged = handler?.as_object().cloned()?;
        merged.extend(timings.and_then(|t| t.as_object().cloned()).into_iter().flatten());
        Some(Value::Object(merged))
    }

    fn list<'v>(
        &mut self,
        path: &Path<'_>,
        current: Option<&'v Value>,
        wanted: Option<&'v Value>,
        fields: &'static [(&'static str, &'static str)],
    ) -> Option<Value> {
        let items = |value: Option<&'v Value>| -> Vec<(Cow<'v, str>, &'v Value)> {
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
        let wants = env_order::places(want.iter().map(|(id, _)| id.as_ref()));
        let mut stays: Vec<Option<Value>> = Vec::new();
        for (id, item) in &unique {
            let wanted = wants.get(id).and_then(|place| want.get(*place)).map(|(_, item)| *item);
            stays.push(self.merge(&path.with(id), Some(item), wanted));
        }
        // What is new goes after the nearest item that comes before it in what we want; where there is none, before the nearest that
        // comes after it.
        let mut comes: Vec<Vec<Value>> = vec![Vec::new(); stays.len().saturating_add(1)];
        let mut first: Vec<Value> = Vec::new();
        let mut before = None;
        for (id, item) in &want {
            match places.get(id.as_ref()) {
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
                    let new = self.merge(&path.with(id), None, Some(item));
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
        if path.steps().last().is_some_and(|step| *step == "env") {
            env_order::settle(&mut list, [&wants, &places]);
        }
        (!list.is_empty() || current.and_then(Value::as_array).is_some_and(Vec::is_empty)).then_some(Value::Array(list))
    }

    fn flags(&mut self, path: &Path<'_>, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
        let want = wanted.and_then(flags::read).unwrap_or_default();
        let Some(now) = current.and_then(flags::read) else {
            // A list that is none of flags means nothing to the program.
            let wrote = |record: &Record| want.first().is_some_and(|flag| record.has(path.key().with(&flag.name)));
            if wanted.is_some() && (current.is_some() || self.record.is_some_and(wrote)) {
                self.set_back.push(path.steps().join("."));
            }
            return wanted.cloned();
        };
        let (ours, theirs) = (flags::places(&want), flags::places(&now));
        let foreign = now.iter().filter(|flag| !ours.contains_key(flag.name.as_str()));
        let mut merged = Vec::new();
        for flag in want.iter().chain(foreign) {
            let now = theirs.get(flag.name.as_str()).and_then(|place| now.get(*place));
            let want = ours.get(flag.name.as_str()).and_then(|place| want.get(*place));
            let value = self.merge(&path.with(&flag.name), now.map(|f| &f.value), want.map(|f| &f.value));
            let joined = now.or(want).is_some_and(|f| f.joined);
            merged.extend(value.map(|value| Flag { name: flag.name.clone(), value, joined }));
        }
        if flags::same(&merged, &now) { current.cloned() } else { Some(flags::write(&merged)) }
    }
}

/// A set that others and we changed: of the entries that we wrote, those that both still have, and all that either added.
fn merged_entries(record: &Record, path: &Path<'_>, kind: Kind, current: Option<&Value>, wanted: Option<&Value>) -> Option<Value> {
    let wanted = wanted?;
    let (now, want) = (leaf::entries(kind, current?)?, leaf::entries(kind, wanted)?);
    let wrote = |entry: &String| record.has(path.key().with(entry));
    let (theirs, ours) = (env_order::places(now.iter().map(String::as_str)), env_order::places(want.iter().map(String::as_str)));
    let stay = want.iter().filter(|entry| theirs.contains_key(entry.as_str()) || !wrote(entry));
    let come = now.iter().filter(|entry| !ours.contains_key(entry.as_str()) && !wrote(entry));
    Some(leaf::with_entries(kind, wanted, &stay.chain(come).cloned().collect::<Vec<_>>()))
}

/// Whether a path is that of a port of a container.
fn is_port(path: &Path<'_>) -> bool {
    matches!(path.steps().as_slice(), [_, "ports", _])
}

fn is_map_of_texts(part: &str) -> bool {
    matches!(part, "annotations" | "labels")
}
