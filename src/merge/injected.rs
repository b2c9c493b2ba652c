//! An injected pod as it is written: the environment of a proxy that was put in stays typed until then, as
//! [`Variable`](crate::render::Variable) says.

use super::edit::name_of;
use super::{ENV, LISTS};
use crate::render::{Variable, container};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// An injected pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Injected {
    /// The pod.
    pub object: Value,
    /// The environment of its proxy, which stands in the place of the one in the object; none where the object has all.
    pub env: Vec<Variable>,
}

impl From<Value> for Injected {
    fn from(object: Value) -> Self {
        Injected { object, env: Vec::new() }
    }
}

impl Serialize for Injected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let part = if self.env.is_empty() { Part::Whole(&self.object) } else { Part::Pod(&self.object, &self.env) };
        part.serialize(serializer)
    }
}

/// A part of the pod: how far it is on the way to the environment.
enum Part<'a> {
    Whole(&'a Value),
    Pod(&'a Value, &'a [Variable]),
    Spec(&'a Value, &'a [Variable]),
    Containers(&'a Value, &'a [Variable]),
    Proxy(&'a Value, &'a [Variable]),
    Env(&'a [Variable]),
}

impl<'a> Part<'a> {
    /// The part at a key of an object.
    fn at(&self, key: &str, value: &'a Value) -> Part<'a> {
        match *self {
            Part::Pod(_, env) if key == "spec" => Part::Spec(value, env),
            Part::Spec(_, env) if LISTS.contains(&key) => Part::Containers(value, env),
            Part::Proxy(_, env) if key == ENV => Part::Env(env),
            _ => Part::Whole(value),
        }
    }
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Part::Pod(Value::Object(map), _) | Part::Spec(Value::Object(map), _) | Part::Proxy(Value::Object(map), _) => {
                serializer.collect_map(map.iter().map(|(key, value)| (key, self.at(key, value))))
            }
            Part::Containers(Value::Array(list), env) => serializer.collect_seq(
                list.iter().map(|c| if name_of(c) == container::PROXY { Part::Proxy(c, env) } else { Part::Whole(c) }),
            ),
            Part::Env(env) => env.serialize(serializer),
            Part::Whole(value)
            | Part::Pod(value, _)
            | Part::Spec(value, _)
            | Part::Containers(value, _)
            | Part::Proxy(value, _) => value.serialize(serializer),
        }
    }
}
