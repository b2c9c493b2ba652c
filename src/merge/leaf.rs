//! The leaves of what we add: how each is told apart, compared and decided.
//!
//! A leaf is the smallest part that is merged as a whole: a variable of the environment, a probe's handler, one flag of an argument
//! list. One table says which is which. Two leaves are compared in canonical form, for the API server rewrites what it stores: it
//! drops zeros and empty values, adds defaults and writes quantities its own way.

use super::env_order;
use super::path::Path;
use crate::parse::{ports, quantity};
use crate::render::Variable;
use serde_json::Value;
use std::borrow::Cow;

/// How two opinions on a leaf are settled when both changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Ours, whatever others write: mesh identity, addresses and ports on which parts of the mesh must agree.
    Asserted,
    /// Others may change it, and keep it.
    Defaulted,
}

/// What a part of an object is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An object, merged key by key.
    Map,
    /// A probe: like a map, but what it does is one leaf.
    Probe,
    /// A list whose items are told apart by these fields, each with its default.
    List(&'static [(&'static str, &'static str)]),
    /// A list of flags with their values, merged flag by flag.
    Flags,
    /// A leaf.
    Leaf(Kind),
}

/// How a leaf is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// As it is, but for what the API server drops or adds.
    Plain,
    /// As it is, where nothing, zero or an empty text says something, too.
    Exact,
    /// As an amount.
    Quantity,
    /// As a list whose order means nothing; entries that others add or take out are theirs to decide.
    Set,
    /// As such a list of ports, in a text or in the value of a variable.
    Ports,
}

/// One row: parts whose path matches the pattern are of that shape and class. A `*` stands for any step, or any end of a step.
pub(super) struct Row {
    pattern: &'static [&'static str],
    shape: Shape,
    class: Class,
}

impl Row {
    /// Whether its pattern has that step at that depth.
    pub(super) fn has_step(&self, depth: usize, step: &str) -> bool {
        self.pattern.get(depth).is_some_and(|pattern| is_step(pattern, step))
    }
}

const fn row(pattern: &'static [&'static str], shape: Shape, class: Class) -> Row {
    Row { pattern, shape, class }
}

use Class::{Asserted, Defaulted};

const PLAIN: Shape = Shape::Leaf(Kind::Plain);
const EXACT: Shape = Shape::Leaf(Kind::Exact);
const PORTS: Shape = Shape::Leaf(Kind::Ports);
const BY_NAME: Shape = Shape::List(&[("name", "")]);

/// The first row that matches counts.
#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row(&["annotations"], Shape::Map, Asserted),
    row(&["labels"], Shape::Map, Asserted),
    row(&["annotations", "*"], EXACT, Asserted),
    row(&["labels", "*"], EXACT, Asserted),
    row(&["volumes"], BY_NAME, Asserted),
    row(&["volumes", "*"], PLAIN, Asserted),
    // Of every container.
    row(&["*", "name"], PLAIN, Asserted),
    row(&["*", "command"], PLAIN, Asserted),
    row(&["*", "restartPolicy"], PLAIN, Asserted),
    row(&["*", "env"], BY_NAME, Defaulted),
    row(&["*", "volumeMounts"], Shape::List(&[("mountPath", "")]), Defaulted),
    row(&["linkerd-proxy", "volumeMounts", "/var/run/linkerd/identity/*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "volumeMounts", "/var/run/secrets/tokens"], PLAIN, Asserted),
    row(&["*", "volumeMounts", "*"], PLAIN, Defaulted),
    row(&["*", "ports"], Shape::List(&[("containerPort", ""), ("protocol", "TCP")]), Defaulted),
    row(&["*", "ports", "*"], PLAIN, Asserted),
    row(&["*", "resources", "limits", "*"], Shape::Leaf(Kind::Quantity), Defaulted),
    row(&["*", "resources", "requests", "*"], Shape::Leaf(Kind::Quantity), Defaulted),
    row(&["*", "securityContext", "runAsUser"], EXACT, Asserted),
    row(&["*", "securityContext", "runAsGroup"], EXACT, Asserted),
    row(&["*", "securityContext", "capabilities"], Shape::Map, Defaulted),
    row(&["*", "securityContext", "capabilities", "*"], Shape::Leaf(Kind::Set), Defaulted),
    row(&["*", "securityContext", "seccompProfile"], PLAIN, Defaulted),
    row(&["*", "securityContext", "*"], EXACT, Defaulted),
    row(&["*", "livenessProbe"], Shape::Probe, Defaulted),
    row(&["*", "readinessProbe"], Shape::Probe, Defaulted),
    row(&["*", "startupProbe"], Shape::Probe, Defaulted),
    row(&["*", "lifecycle", "*"], PLAIN, Defaulted),
    // The init container's flags.
    row(&["linkerd-init", "args"], Shape::Flags, Defaulted),
    row(&["linkerd-init", "args", "--incoming-proxy-port"], EXACT, Asserted),
    row(&["linkerd-init", "args", "--outgoing-proxy-port"], EXACT, Asserted),
    row(&["linkerd-init", "args", "--proxy-uid"], EXACT, Asserted),
    row(&["linkerd-init", "args", "--proxy-gid"], EXACT, Asserted),
    row(&["linkerd-init", "args", "--inbound-ports-to-ignore"], PORTS, Defaulted),
    row(&["linkerd-init", "args", "--outbound-ports-to-ignore"], PORTS, Defaulted),
    row(&["linkerd-init", "args", "*"], EXACT, Defaulted),
    // The proxy's environment.
    row(&["linkerd-proxy", "env", "_pod_*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "_l5d_*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_IDENTITY_*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_DESTINATION_SVC_*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_DESTINATION_CONTEXT"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_POLICY_SVC_*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_POLICY_WORKLOAD"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_CONTROL_LISTEN_ADDR"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_ADMIN_LISTEN_ADDR"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR*"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_INBOUND_LISTEN_ADDR"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_INBOUND_IPS"], PLAIN, Asserted),
    row(&["linkerd-proxy", "env", "LINKERD2_PROXY_INBOUND_PORTS*"], PORTS, Defaulted),
    row(&["*", "env", "*"], PLAIN, Defaulted),
];

/// Whether a path is of a pattern.
pub(super) fn matches(pattern: &[&str], path: &Path<'_>) -> bool {
    pattern.len() == path.len() && pattern.iter().zip(path.steps()).all(|(p, s)| is_step(p, s))
}

/// Whether a step is of a pattern's step.
fn is_step(pattern: &str, step: &str) -> bool {
    let step = step.as_bytes();
    let (start, begins) = match pattern.as_bytes().split_last() {
        Some((b'*', start)) => (start, step.get(..start.len())),
        _ => (pattern.as_bytes(), (step.len() == pattern.len()).then_some(step)),
    };
    // Names begin alike, and differ at the end.
    begins.is_some_and(|step| step.last() == start.last() && step == start)
}

/// The shape and class of a part that no row names: whatever it is, others may change it.
pub(crate) fn of(path: &Path<'_>, value: Option<&Value>) -> (Shape, Class) {
    match path.rows().find(|row| row.pattern.len() == path.len()) {
        Some(row) => (row.shape, row.class),
        None if value.is_some_and(Value::is_object) => (Shape::Map, Defaulted),
        None => (PLAIN, Defaulted),
    }
}

/// The identity of an item of a list.
pub(crate) fn identity<'v>(item: &'v Value, fields: &'static [(&'static str, &'static str)]) -> Cow<'v, str> {
    let of = |(field, default): &(&'static str, &'static str)| match item.get(field) {
        None | Some(Value::Null) => Cow::Borrowed(*default),
        Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
        Some(other) => Cow::Owned(text(other)),
    };
    match fields {
        [field] => of(field),
        fields => Cow::Owned(fields.iter().map(of).collect::<Vec<_>>().join("/")),
    }
}

/// What a leaf says, in a form in which all that means the same is the same; `None` when it says nothing.
pub(crate) fn canonical(kind: Kind, value: Option<&Value>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    write(kind, value?, &mut text).then_some(text)
}

/// What takes what a leaf says, piece by piece: a text, or its hash.
pub(crate) trait Sink {
    /// Takes the next piece.
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Writes what a leaf says, and whether it says anything.
pub(crate) fn write(kind: Kind, value: &Value, to: &mut impl Sink) -> bool {
    match kind {
        Kind::Exact => exact(value, to),
        Kind::Plain if says(value) => plain(value, to),
        Kind::Plain => return false,
        Kind::Quantity => {
            let text = value.as_str().map_or_else(|| text(value), str::to_owned);
            to.put(quantity::quantity(&text).map_or(text, |quantity| quantity.stored()).as_bytes());
        }
        Kind::Set => {
            let Some(names) = value.as_array().filter(|names| !names.is_empty()) else { return false };
            let names: Vec<String> = names.iter().map(text).collect();
            let names: Vec<&str> = env_order::places(names.iter().map(String::as_str)).into_keys().collect();
            to.put(names.join(",").as_bytes());
        }
        Kind::Ports => {
            let Some(text) = ports_text(value) else { return false };
            let mut list = ports::list(text, &|_| None);
            list.ranges.sort_unstable();
            list.ranges.dedup();
            let bad: Vec<&str> = list.bad.iter().map(|b| b.text.as_str()).collect();
            to.put(format!("{list}|{}", bad.join(",")).as_bytes());
        }
    }
    true
}

/// Defaults that the API server adds to what we write.
const DEFAULTS: &[(&str, &str)] = &[("apiVersion", "v1"), ("scheme", "HTTP"), ("protocol", "TCP")];
/// The mode that it gives the files of a volume.
const DEFAULT_MODE: u64 = 420;

fn is_default(key: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => DEFAULTS.contains(&(key, text.as_str())),
        Value::Number(number) => key == "defaultMode" && number.as_u64() == Some(DEFAULT_MODE),
        _ => false,
    }
}

/// Whether a value says anything; what does not, the API server drops.
fn says(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        // An object that says nothing by what is in it may say something by being there, as an empty `emptyDir` does.
        Value::Bool(true) | Value::Object(_) => true,
    }
}

/// What stands behind a text, and in none.
const END: &[u8] = b"\xff";

/// Writes a value without what the API server drops or adds.
fn plain(value: &Value, to: &mut impl Sink) {
    match value {
        Value::Array(items) => {
            to.put(b"[");
            for item in items {
                if says(item) {
                    plain(item, to)
                } else {
                    to.put(b"null")
                }
                to.put(b",");
            }
            to.put(b"]");
        }
        Value::Object(map) => fields(map.iter(), to),
        scalar => exact(scalar, to),
    }
}

/// Writes those of the fields of an object that say something.
pub(super) fn fields<'v>(of: impl Iterator<Item = (&'v String, &'v Value)>, to: &mut impl Sink) {
    to.put(b"{");
    for (key, value) in of.filter(|(key, value)| !is_default(key, value) && says(value)) {
        to.put(key.as_bytes());
        to.put(END);
        plain(value, to);
    }
    to.put(b"}");
}

/// Writes a variable as its value would be written.
pub(super) fn variable(variable: &Variable, to: &mut impl Sink) {
    if let Variable::Given(entry) = variable {
        return plain(entry, to);
    }
    to.put(b"{");
    field("name", variable.name(), to);
    match variable {
        Variable::Text { value, .. } => field("value", value, to),
        Variable::Field { path, .. } => {
            to.put(b"valueFrom\xff{fieldRef\xff{");
            field("fieldPath", path, to);
            to.put(b"}}");
        }
        Variable::Given(_) => {}
    }
    to.put(b"}");
}

/// Writes a field with a text, where that says something.
fn field(name: &str, value: &str, to: &mut impl Sink) {
    if !value.is_empty() {
        to.put(name.as_bytes());
        to.put(END);
        quoted(value, to);
    }
}

/// The text that a leaf is whose canonical form is this.
pub(super) fn as_text(canonical: &[u8]) -> Option<&str> {
    std::str::from_utf8(canonical.strip_prefix(b"\"")?.strip_suffix(END)?).ok()
}

/// Writes a value as it is.
fn exact(value: &Value, to: &mut impl Sink) {
    match value {
        Value::String(text) => quoted(text, to),
        other => to.put(text(other).as_bytes()),
    }
}

fn quoted(text: &str, to: &mut impl Sink) {
    to.put(b"\"");
    to.put(text.as_bytes());
    to.put(END);
}

/// A value as the text of its JSON.
fn text(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The text of a list of ports: a flag's, or that of a variable, which the API server drops where it is empty.
fn ports_text(value: &Value) -> Option<&str> {
    match value.as_object() {
        Some(variable) if variable.contains_key("valueFrom") => None,
        Some(variable) => variable.get("value").map_or(Some(""), Value::as_str),
        None => value.as_str(),
    }
}

/// The entries of a leaf that is a list whose order means nothing; `None` for any other leaf. What cannot be read of a list of ports
/// is left out.
pub(crate) fn entries(kind: Kind, value: &Value) -> Option<Vec<String>> {
    match kind {
        Kind::Ports => {
            let text = ports_text(value)?;
            Some(ports::list(text, &|_| None).ranges.iter().map(ToString::to_string).collect())
        }
        Kind::Set => Some(value.as_array()?.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()),
        Kind::Plain | Kind::Exact | Kind::Quantity => None,
    }
}

/// A leaf with other entries.
pub(crate) fn with_entries(kind: Kind, leaf: &Value, entries: &[String]) -> Value {
    let mut result = leaf.clone();
    match (kind, result.as_object_mut()) {
        (Kind::Set, _) => result = entries.into(),
        (_, Some(variable)) => {
            variable.insert("value".to_owned(), entries.join(",").into());
        }
        (_, None) => result = entries.join(",").into(),
    }
    result
}
