//! Compares two objects as the API server would store them, but keeps the user's own part to the letter.
//!
//! In: the object of the request, the object that is expected and the one that came out. Out: the places where they
//! differ, each as a path with both sides shortened. What stands in the request must be the same on both sides down to
//! a null, and gets nothing new, not even an empty list. Inside what was added, absent, null, `{}` and `[]` are one
//! thing, and so are an environment entry without a value and one whose value is empty. The order of array elements
//! counts, the order of keys does not.

use serde_json::{Map, Value};
use std::fmt;

/// One place where two objects differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where, with the names of containers, volumes and variables: `spec/containers[app]/env[A]/value`.
    pub path: String,
    /// What is expected there, shortened.
    pub expected: String,
    /// What is there, shortened.
    pub actual: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, got {}", self.path, self.expected, self.actual)
    }
}

/// Compares `actual` with `expected`; `input` is the object of the request.
#[must_use]
pub fn compare(input: &Value, expected: &Value, actual: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let root = Place { path: String::new(), input: Some(input), strict: true, env_entry: false };
    walk(&root, Some(expected), Some(actual), &mut found);
    found
}

/// The paths at which two objects are not the same JSON, with nothing held equal.
#[must_use]
pub fn changed_paths(before: &Value, after: &Value) -> Vec<String> {
    compare(before, before, after).into_iter().map(|difference| difference.path).collect()
}

/// Where the walk stands, and what the request has there.
struct Place<'a> {
    path: String,
    input: Option<&'a Value>,
    /// The request has what this is a part of.
    strict: bool,
    env_entry: bool,
}

impl<'a> Place<'a> {
    fn member(&self, key: &str) -> Place<'a> {
        let path = match (self.path.is_empty(), key.contains('/')) {
            (true, _) => key.to_owned(),
            (false, true) => format!("{}[{key}]", self.path),
            (false, false) => format!("{}/{key}", self.path),
        };
        let input = self.input.and_then(|input| input.get(key));
        Place { path, input, strict: self.input.is_some(), env_entry: false }
    }

    fn element(&self, label: &str, input: Option<&'a Value>) -> Place<'a> {
        let env_entry = self.path.ends_with("/env");
        Place { path: format!("{}[{label}]", self.path), input, strict: self.input.is_some(), env_entry }
    }
}

fn walk(place: &Place<'_>, expected: Option<&Value>, actual: Option<&Value>, found: &mut Vec<Difference>) {
    if expected == actual || (!place.strict && is_empty(expected) && is_empty(actual)) {
        return;
    }
    match (expected, actual) {
        (Some(Value::Object(expected)), Some(Value::Object(actual))) => members(place, expected, actual, found),
        (Some(Value::Array(expected)), Some(Value::Array(actual))) => elements(place, expected, actual, found),
        _ => found.push(Difference { path: place.path.clone(), expected: short(expected), actual: short(actual) }),
    }
}

fn members(place: &Place<'_>, expected: &Map<String, Value>, actual: &Map<String, Value>, found: &mut Vec<Difference>) {
    let mut keys: Vec<&String> = expected.keys().chain(actual.keys().filter(|key| !expected.contains_key(*key))).collect();
    keys.sort();
    for key in keys {
        let (left, right) = (expected.get(key), actual.get(key));
        let at = place.member(key);
        let no_value = |side: Option<&Value>| is_empty(side) || side == Some(&Value::String(String::new()));
        if place.env_entry && key == "value" && !at.strict && no_value(left) && no_value(right) {
            continue;
        }
        walk(&at, left, right, found);
    }
}

/// Elements that all carry a name are matched by it, so that one missing container is one difference.
fn elements(place: &Place<'_>, expected: &[Value], actual: &[Value], found: &mut Vec<Difference>) {
    let input = place.input.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let (Some(left), Some(right)) = (labels(expected), labels(actual)) else {
        for index in 0..expected.len().max(actual.len()) {
            let at = place.element(&index.to_string(), input.get(index));
            walk(&at, expected.get(index), actual.get(index), found);
        }
        return;
    };
    let known = labels(input).unwrap_or_default();
    let common: Vec<&String> = left.iter().filter(|label| right.contains(label)).collect();
    if !right.iter().filter(|label| left.contains(label)).eq(common.iter().copied()) {
        let order = |labels: &[String]| format!("order {}", labels.join(" "));
        found.push(Difference { path: place.path.clone(), expected: order(&left), actual: order(&right) });
    }
    let find = |labels: &[String], label: &String| labels.iter().position(|other| other == label);
    for label in left.iter().chain(right.iter().filter(|label| !left.contains(label))) {
        let pick = |labels: &[String], of| find(labels, label).and_then(|at| <[Value]>::get(of, at));
        let (wanted, own) = (pick(&left, expected), pick(&known, input));
        let own = own.filter(|own| wanted.is_none_or(|wanted| keeps(wanted, own)));
        walk(&place.element(label, own), wanted, pick(&right, actual), found);
    }
}

/// Whether all that the request has of an element is still there, or another one took its name.
fn keeps(wanted: &Value, own: &Value) -> bool {
    let members = own.as_object();
    wanted == own || members.is_some_and(|members| members.iter().all(|(key, value)| wanted.get(key) == Some(value)))
}

/// The names of the elements, the second of a name with `#2`; none where an element has no name.
fn labels(elements: &[Value]) -> Option<Vec<String>> {
    let mut labels: Vec<String> = Vec::with_capacity(elements.len());
    for element in elements {
        let name = element.get("name")?.as_str()?;
        let seen = labels.iter().filter(|label| label.split('#').next() == Some(name)).count();
        labels.push(if seen == 0 { name.to_owned() } else { format!("{name}#{}", seen.saturating_add(1)) });
    }
    Some(labels)
}

fn is_empty(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(members)) => members.values().all(|member| is_empty(Some(member))),
        Some(Value::Array(elements)) => elements.is_empty(),
        Some(_) => false,
    }
}

fn short(value: Option<&Value>) -> String {
    const LONGEST: usize = 160;
    let text = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain("…".chars()).collect()
}

/// Whether `path` lies at or below `pattern`, in which `*` stands for any text.
#[must_use]
pub fn lies_under(path: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => path.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '['])),
        Some((head, tail)) => path.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.filter_map(|at| rest.get(at..)).any(|rest| lies_under(rest, tail))
        }),
    }
}

#[cfg(test)]
mod tests;
