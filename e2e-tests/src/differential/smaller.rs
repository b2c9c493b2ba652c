//! Makes a case smaller as long as what is wrong with it stays.
//!
//! In: a case, and whoever says of several cases which of them are as wrong. Out: a case of which nothing can be left
//! out any more: no annotation, no value, no part of the object, no character of a text.

use serde_json::Value;

use crate::case::Case;

/// What makes a container, a port, an owner what it is.
const NEEDED: &[&str] = &["name", "image", "containerPort", "containers", "port", "apiVersion", "kind", "uid"];

/// Annotations longer than this are not tried without single characters.
const LONG: usize = 60;

/// How many cases are asked about at once.
const AT_ONCE: usize = 48;

/// The smallest case that `first_of` still finds: it is given cases and says the place of the first one that is as wrong.
///
/// # Errors
/// Those of `first_of`.
pub fn smallest<E>(case: &Case, mut first_of: impl FnMut(&[Case]) -> Result<Option<usize>, E>) -> Result<Case, E> {
    let mut smallest = case.clone();
    let mut from = 0_usize;
    loop {
        let candidates = smaller(&smallest);
        let mut found = None;
        // What could not be left out before can hardly be left out now: go on behind it, and around.
        for at in 0..candidates.len().div_ceil(AT_ONCE) {
            let start = from.saturating_add(at.saturating_mul(AT_ONCE));
            let some: Vec<Case> = candidates
                .iter()
                .cycle()
                .skip(start.checked_rem(candidates.len()).unwrap_or(0))
                .take(AT_ONCE.min(candidates.len()))
                .cloned()
                .collect();
            if let Some(place) = first_of(&some)? {
                found = some.into_iter().nth(place);
                from = start.saturating_add(place);
                break;
            }
        }
        match found {
            Some(case) => smallest = case,
            None => return Ok(smallest),
        }
    }
}

/// The case with one thing less, in all ways, the largest things first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    let whole = [
        &case.request.object,
        &Value::Object(case.values.clone()),
        &Value::Object(case.namespace.annotations.clone()),
        &Value::Array(case.cluster.clone()),
    ]
    .map(Value::clone);
    for (place, value) in whole.iter().enumerate() {
        for path in paths(value) {
            add(&|case| with(case, place, &|value| remove(value, &path)));
        }
    }
    for (place, value) in whole.iter().enumerate() {
        for path in texts(value) {
            let Some(text) = at(value, &path).and_then(Value::as_str) else { continue };
            for shorter in shorter(text) {
                add(&|case| with(case, place, &|value| put(value, &path, &shorter)));
            }
        }
    }
    all
}

/// Changes one of the four parts of a case that can be made smaller.
fn with(case: &mut Case, place: usize, change: &dyn Fn(&mut Value)) {
    let map = match place {
        0 => return change(&mut case.request.object),
        1 => &mut case.values,
        2 => &mut case.namespace.annotations,
        _ => {
            let mut cluster = Value::Array(std::mem::take(&mut case.cluster));
            change(&mut cluster);
            if let Value::Array(cluster) = cluster {
                case.cluster = cluster;
            }
            return;
        }
    };
    let mut whole = Value::Object(std::mem::take(map));
    change(&mut whole);
    if let Value::Object(whole) = whole {
        *map = whole;
    }
}

/// One step into a value.
type Step = String;

/// The paths to all that can be left out, the shortest first.
fn paths(value: &Value) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut |path, _| {
        let is_text = path.iter().any(|step| step == "annotations" || step == "labels");
        let is_needed = path.len() > 1 && !is_text && path.last().is_some_and(|key| NEEDED.contains(&key.as_str()));
        // The last of the containers, or of a service's ports, must stay.
        let is_last = match path {
            [spec, list] => spec == "spec" && list == "ports",
            [spec, list, at] => spec == "spec" && at == "0" && (list == "containers" || list == "ports"),
            _ => false,
        };
        if !path.is_empty() && !is_needed && !is_last {
            found.push(path.to_vec());
        }
    });
    found.retain(|path| !matches!(path.as_slice(), [one] if ["apiVersion", "kind", "metadata", "spec"].contains(&one.as_str())));
    found.sort_by_key(Vec::len);
    found
}

/// The paths to annotations.
fn texts(value: &Value) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut |path, value| {
        if value.is_string() && path.last().is_some_and(|key| key.contains(".linkerd.io/")) {
            found.push(path.to_vec());
        }
    });
    found
}

fn collect(value: &Value, path: &mut Vec<Step>, found: &mut dyn FnMut(&[Step], &Value)) {
    found(path, value);
    let members: Vec<(Step, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(elements) => elements.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => return,
    };
    for (step, value) in members {
        path.push(step);
        collect(value, path, found);
        path.pop();
    }
}

fn pointer(path: &[Step]) -> String {
    path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

fn at<'a>(value: &'a Value, path: &[Step]) -> Option<&'a Value> {
    value.pointer(&pointer(path))
}

fn put(value: &mut Value, path: &[Step], text: &str) {
    if let Some(value) = value.pointer_mut(&pointer(path)) {
        *value = Value::from(text);
    }
}

fn remove(value: &mut Value, path: &[Step]) {
    let Some((last, parent)) = path.split_last() else { return };
    match value.pointer_mut(&pointer(parent)) {
        Some(Value::Object(members)) => drop(members.remove(last)),
        Some(Value::Array(elements)) => {
            if let Some(at) = last.parse::<usize>().ok().filter(|at| *at < elements.len()) {
                elements.remove(at);
            }
        }
        _ => {}
    }
}

/// The text without each of its characters in turn, or without an eighth of it where it is long; a JSON list without each of its
/// elements, or with each of them alone.
fn shorter(text: &str) -> Vec<String> {
    if let Ok(Value::Array(elements)) = serde_json::from_str(text)
        && elements.len() > 1
    {
        let alone = elements.iter().map(|element| vec![element.clone()]);
        let without = (0..elements.len()).map(|at| {
            let mut rest = elements.clone();
            rest.remove(at);
            rest
        });
        return alone.chain(without).map(|list| Value::Array(list).to_string()).collect();
    }
    let characters: Vec<char> = text.chars().collect();
    let parts = if characters.len() > LONG { 8 } else { characters.len() };
    let size = characters.len().checked_div(parts).unwrap_or(0).max(1);
    let without = |start: usize| {
        let end = start.saturating_add(size);
        characters.iter().enumerate().filter(|(at, _)| *at < start || *at >= end).map(|(_, c)| *c).collect()
    };
    (0..characters.len()).step_by(size).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::generator::Generator;

    #[test]
    fn only_what_matters_is_left() {
        let key = "config.linkerd.io/proxy-uid";
        let is_wrong = |case: &Case| {
            let text = case.namespace.annotations.get(key).and_then(Value::as_str);
            text.is_some_and(|text| text.contains('x')) && case.request.object["spec"]["containers"][0]["name"].is_string()
        };
        let mut case = Generator::new(1).find(|case| case.request.kind == "Pod" && !case.values.is_empty()).unwrap();
        case.namespace.annotations.insert(key.to_owned(), "12x34".into());
        let smallest = smallest(&case, |cases| Ok::<_, ()>(cases.iter().position(is_wrong))).unwrap();
        assert_eq!(Value::Object(smallest.namespace.annotations), serde_json::json!({key: "x"}));
        assert!(smallest.values.is_empty() && smallest.cluster.is_empty());
        let container = smallest.request.object["spec"]["containers"].as_array().unwrap();
        assert_eq!(container.len(), 1);
        assert_eq!(container[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["image", "name"]);
        assert_eq!(smallest.request.object["spec"].as_object().unwrap().len(), 1);
    }

    #[test]
    fn texts_get_shorter() {
        assert_eq!(shorter("abc"), ["bc", "ac", "ab"]);
        assert_eq!(shorter(""), Vec::<String>::new());
        assert_eq!(shorter("[1, 2]"), ["[1]", "[2]", "[2]", "[1]"]);
        assert_eq!(shorter(&"a".repeat(80)).len(), 8);
    }
}
