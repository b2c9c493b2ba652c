//! Environment variables that users add to the proxy: JSON in, entries that the API server and the proxy accept out.
//!
//! The text is read as Linkerd reads it, into a list of Kubernetes' `EnvVar`, and written back the same way: unknown
//! fields go, and so do those left empty. Then each entry is checked as the API server (1.36) checks a container's
//! environment (D26), and as the proxy reads it (D27). No value of a variable ever shows in an error.

use crate::gather;
use crate::parse::proxy_env::{self, ProxyEnvError};
use crate::parse::quantity::quantity;
use serde_json::{Map, Value};
use thiserror::Error;

mod rules;
#[cfg(test)]
mod tests;

/// Why text is no list of environment variables.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum EnvListError {
    /// Not JSON at all.
    #[error("not JSON")]
    NotJson,
    /// JSON of another shape, be it in one place only.
    #[error("not a JSON list of environment variables")]
    NotEnv,
}

/// Why one environment variable cannot be used. Each reads on from `entry N is …`.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum EntryError {
    /// Not an object, or a field of it has the wrong type.
    #[error("not in the shape of an environment variable")]
    Shape,
    /// Without a name.
    #[error("without a name")]
    NoName,
    /// With a name that the API server refuses.
    #[error("not named in printable ASCII without an equals sign")]
    BadName,
    /// With a source of no kind that the API server knows.
    #[error("given a source of no known kind")]
    NoSource,
    /// With several sources.
    #[error("given more than one source")]
    ManySources,
    /// With a value and a source.
    #[error("given both a value and a source")]
    ValueAndSource,
    /// From a field that a container cannot refer to.
    #[error("taken from a field that containers cannot refer to")]
    BadField,
    /// From a resource that a container cannot refer to.
    #[error("taken from a resource that containers cannot refer to")]
    BadResource,
    /// From a resource, in a unit that there is not.
    #[error("taken from a resource with a divisor that it does not have")]
    BadDivisor,
    /// From a config map, a secret or a file without a proper name.
    #[error("taken from an object without a valid name")]
    BadObject,
    /// From a config map, a secret or a file under no proper key.
    #[error("taken from an object without a valid key")]
    BadKey,
    /// A setting that the proxy cannot read.
    #[error("not readable by the proxy: {0}")]
    Unreadable(#[from] ProxyEnvError),
}

/// What a list of environment variables holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdditionalEnv {
    /// The good entries in the order written, as Kubernetes writes them.
    pub entries: Vec<Value>,
    /// The others: the name, or the place where the name is none, and what is wrong.
    pub refused: Vec<(String, EntryError)>,
}

/// Reads a JSON list of environment variables; empty text and `null` are an empty list.
///
/// As in Go, one wrong type anywhere spoils the whole list, and field names are read in any letter case.
///
/// # Errors
/// [`EnvListError`]. An entry that has the right shape but cannot be used is set apart instead.
pub fn additional_env(text: &str) -> Result<AdditionalEnv, EnvListError> {
    if text.is_empty() {
        return Ok(AdditionalEnv::default());
    }
    let entries = match serde_json::from_slice(text.as_bytes()).map_err(|_| EnvListError::NotJson)? {
        Value::Null => Vec::new(),
        Value::Array(entries) => entries,
        _ => return Err(EnvListError::NotEnv),
    };
    let mut env = AdditionalEnv::default();
    for (index, written) in entries.iter().enumerate() {
        match entry(written) {
            Ok(entry) => env.entries.push(entry),
            Err(EntryError::Shape) => return Err(EnvListError::NotEnv),
            Err(error) => env.refused.push((label(written, index), error)),
        }
    }
    Ok(env)
}

/// Reads one environment variable and checks it; returns it as Kubernetes writes it.
///
/// # Errors
/// [`EntryError`].
pub fn entry(written: &Value) -> Result<Value, EntryError> {
    let env = normal(written)?;
    rules::check(&env)?;
    let name = text(&env, "name");
    if env.contains_key("valueFrom") {
        proxy_env::readable_from_elsewhere(name)?;
    } else {
        proxy_env::readable(name, text(&env, "value"))?;
    }
    Ok(Value::Object(env))
}

/// The name of the pod's volume that an entry reads a file of, which must be an `emptyDir`: the API server refuses the
/// pod otherwise. Nothing in the entry alone can tell.
#[must_use]
pub fn file_volume(entry: &Value) -> Option<&str> {
    entry.pointer("/valueFrom/fileKeyRef/volumeName").and_then(Value::as_str)
}

/// Lays entries over an environment: one of a name that is there takes its place, any other goes to the end.
pub fn lay_over(env: &mut Vec<Value>, entries: Vec<Value>) {
    if entries.is_empty() {
        return;
    }
    let name_of = |entry: &Value| entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    // Of variables that share a name, the first is the one whose place it is.
    let mut places = gather::map(env.iter().enumerate().rev().map(|(at, entry)| (name_of(entry), at)));
    for entry in entries {
        let at = *places.entry(name_of(&entry)).or_insert(env.len());
        match env.get_mut(at) {
            Some(below) => *below = entry,
            None => env.push(entry),
        }
    }
}

/// What a message calls an entry: its name where that is short and valid, else its place.
fn label(entry: &Value, index: usize) -> String {
    match entry.get("name").and_then(Value::as_str) {
        Some(name) if name.len() <= 64 && rules::is_name(name) => name.to_owned(),
        _ => format!("entry {index}"),
    }
}

/// How a field of a source is read and written.
#[derive(Clone, Copy)]
enum Field {
    /// Text, written even when empty.
    Text,
    /// Text, left out when empty.
    Optional,
    /// A boolean, left out when not given.
    Flag,
    /// A quantity, zero when not given.
    Divisor,
}

const KEY_OF_OBJECT: &[(&str, Field)] = &[("name", Field::Optional), ("key", Field::Text), ("optional", Field::Flag)];

/// The sources of a variable with their fields: `EnvVarSource` of Kubernetes' core API.
const SOURCES: &[(&str, &[(&str, Field)])] = &[
    ("fieldRef", &[("apiVersion", Field::Optional), ("fieldPath", Field::Text)]),
    ("resourceFieldRef", &[("containerName", Field::Optional), ("resource", Field::Text), ("divisor", Field::Divisor)]),
    ("configMapKeyRef", KEY_OF_OBJECT),
    ("secretKeyRef", KEY_OF_OBJECT),
    ("fileKeyRef", &[("volumeName", Field::Text), ("path", Field::Text), ("key", Field::Text), ("optional", Field::Flag)]),
];

/// Reads an entry as Go's JSON reader does, and writes it as Go's JSON writer does.
fn normal(written: &Value) -> Result<Map<String, Value>, EntryError> {
    let mut env = Map::new();
    let Some(given) = object(written)? else {
        env.insert("name".to_owned(), "".into());
        return Ok(env);
    };
    copy(&mut env, given, &[("name", Field::Text), ("value", Field::Optional)])?;
    if let Some(given) = field(given, "valueFrom").map(object).transpose()?.flatten() {
        let mut from = Map::new();
        for (name, fields) in SOURCES {
            if let Some(given) = field(given, name).map(object).transpose()?.flatten() {
                let mut source = Map::new();
                copy(&mut source, given, fields)?;
                from.insert((*name).to_owned(), Value::Object(source));
            }
        }
        env.insert("valueFrom".to_owned(), Value::Object(from));
    }
    Ok(env)
}

/// Reads fields of one object into another.
fn copy(to: &mut Map<String, Value>, given: &Map<String, Value>, fields: &[(&str, Field)]) -> Result<(), EntryError> {
    for (name, kind) in fields {
        let value = match (kind, field(given, name).unwrap_or(&Value::Null)) {
            (Field::Text, Value::Null) => "".into(),
            (Field::Text, value @ Value::String(_)) | (Field::Flag, value @ Value::Bool(_)) => value.clone(),
            (Field::Optional, value @ Value::String(text)) if !text.is_empty() => value.clone(),
            (Field::Optional, Value::Null | Value::String(_)) | (Field::Flag, Value::Null) => continue,
            (Field::Divisor, value) => divisor(value)?.into(),
            _ => return Err(EntryError::Shape),
        };
        to.insert((*name).to_owned(), value);
    }
    Ok(())
}

/// Reads a divisor: a quantity as text or number, written `0` when it is zero or not given.
fn divisor(value: &Value) -> Result<String, EntryError> {
    let text = match value {
        Value::Null => "0".to_owned(),
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(EntryError::Shape),
    };
    let (amount, zero) = quantity(&text).and_then(|amount| Ok((amount, quantity("0")?))).map_err(|_| EntryError::Shape)?;
    Ok(if amount == zero { "0".to_owned() } else { text })
}

/// A field by its name in any letter case, the exact one first.
fn field<'a>(given: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    given.get(name).or_else(|| given.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
}

/// An object, nothing for `null`, or the wrong type.
fn object(value: &Value) -> Result<Option<&Map<String, Value>>, EntryError> {
    match value {
        Value::Null => Ok(None),
        Value::Object(map) => Ok(Some(map)),
        _ => Err(EntryError::Shape),
    }
}

/// A text field of an object that [`normal`] wrote; empty when left out.
fn text<'a>(map: &'a Map<String, Value>, name: &str) -> &'a str {
    map.get(name).and_then(Value::as_str).unwrap_or_default()
}
