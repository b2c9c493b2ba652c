//! The order of an environment: a reference `$(NAME)` is expanded only where NAME stands before it.
//!
//! Source: `pkg/kubelet/kubelet_pods.go` and `third_party/forked/golang/expansion` of kubernetes/kubernetes.

use super::edit::name_of;
use crate::gather;
use serde_json::Value;
use std::collections::BTreeMap;

/// Moves a variable up, to right before the first that refers to it, where it stands after. All others keep their order; an
/// environment with a circle of references stays as it is.
///
/// `sources` are the orders that were merged, as the places of the names in them, in which a reference before its definition is meant to be: it stays.
pub(crate) fn settle(env: &mut Vec<Value>, sources: [&BTreeMap<&str, usize>; 2]) {
    let Some(order) = order(env, sources) else { return };
    let mut taken: Vec<Option<Value>> = env.drain(..).map(Some).collect();
    env.extend(order.into_iter().filter_map(|at| taken.get_mut(at)?.take()));
}

/// The places of names.
pub(super) fn places<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    gather::map(names.enumerate().map(|(at, name)| (name, at)))
}

/// How far the order has come with an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    /// What it refers to is being put in before it.
    Begun,
    Done,
}

/// The entries in their order, as places in `env`; `None` when they stand in it already, or refer to each other in a circle.
fn order(env: &[Value], sources: [&BTreeMap<&str, usize>; 2]) -> Option<Vec<usize>> {
    let names = places(env.iter().map(name_of));
    let is_meant = |user: &str, definition: &str| {
        let both = |names: &BTreeMap<&str, usize>| Some((*names.get(user)?, *names.get(definition)?));
        sources.into_iter().find_map(both).is_some_and(|(user, definition)| user < definition)
    };
    let needs = |at: usize| -> Vec<usize> {
        let Some(entry) = env.get(at) else { return Vec::new() };
        let names_of_others = references(entry.get("value").and_then(Value::as_str).unwrap_or_default());
        let known =
            names_of_others.iter().filter(|name| !is_meant(name_of(entry), name)).filter_map(|name| names.get(name.as_str()));
        // They come off the end of the list.
        known.copied().filter(|needed| *needed != at).rev().collect()
    };
    let mut states = vec![State::Waiting; env.len()];
    let mut order = Vec::with_capacity(env.len());
    for first in 0..env.len() {
        // A list of our own: a chain of references may be longer than the stack is deep.
        let mut open = vec![(first, needs(first))];
        while let Some((at, needed)) = open.last_mut() {
            let (at, next) = (*at, needed.pop());
            let state = states.get_mut(next.unwrap_or(at))?;
            match (next, *state) {
                (Some(_), State::Begun) => return None,
                (Some(_), State::Done) => {}
                (Some(next), State::Waiting) => {
                    open.push((next, needs(next)));
                    if let Some(state) = states.get_mut(at) {
                        *state = State::Begun;
                    }
                }
                (None, done) => {
                    open.pop();
                    if done != State::Done {
                        *state = State::Done;
                        order.push(at);
                    }
                }
            }
        }
    }
    (!order.is_sorted()).then_some(order)
}

/// The names that a value refers to; `$$` is a dollar sign, and nothing after it a reference.
fn references(value: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('$') {
        rest = match after.strip_prefix('$') {
            Some(escaped) => escaped,
            None => {
                if let Some((name, _)) = after.strip_prefix('(').and_then(|open| open.split_once(')')) {
                    names.push(name.to_owned());
                }
                after
            }
        };
    }
    names
}

#[cfg(test)]
mod tests {
    use super::{places, references};
    use serde_json::{Value, json};

    /// Settles an environment that was merged of these orders.
    fn settle(env: &mut Vec<Value>, sources: [&[&str]; 2]) {
        let [one, other] = sources.map(|names| places(names.iter().copied()));
        super::settle(env, [&one, &other]);
    }

    #[test]
    fn references_of_a_value() {
        for (value, expected) in [
            ("", vec![]),
            ("a", vec![]),
            ("$(A)", vec!["A"]),
            ("x$(A)y$(B)", vec!["A", "B"]),
            ("$$(A)", vec![]),
            ("$$$(A)", vec!["A"]),
            ("$(A", vec![]),
            ("$A", vec![]),
        ] {
            assert_eq!(references(value), expected, "{value}");
        }
    }

    #[test]
    fn a_variable_stands_before_those_that_refer_to_it() {
        let entry = |(name, value): &(&str, &str)| json!({"name": name, "value": value});
        let names = |env: &[Value]| -> Vec<String> { env.iter().map(|e| e["name"].as_str().unwrap().to_owned()).collect() };
        for (env, expected) in [
            (vec![("A", "1"), ("B", "$(A)")], vec!["A", "B"]),
            (vec![("B", "$(A)"), ("A", "1")], vec!["A", "B"]),
            (vec![("X", ""), ("C", "$(B)"), ("B", "$(A)"), ("A", "")], vec!["X", "A", "B", "C"]),
            (vec![("B", "$$(A)"), ("A", "1")], vec!["B", "A"]),
            (vec![("B", "$(none)"), ("A", "1")], vec!["B", "A"]),
        ] {
            let mut env: Vec<Value> = env.iter().map(entry).collect();
            settle(&mut env, [&[], &[]]);
            assert_eq!(names(&env), expected);
        }
    }

    #[test]
    fn a_reference_that_was_never_expanded_stays_so() {
        let late = [json!({"name": "B", "value": "$(A)"}), json!({"name": "A", "value": "1"})];
        let settled = |sources: [&[&str]; 2]| {
            let mut env = late.to_vec();
            settle(&mut env, sources);
            env != late
        };
        assert!(settled([&["A", "B"], &["B", "A"]]));
        assert!(settled([&["A"], &["B"]]));
        assert!(!settled([&["B", "A"], &[]]));
        assert!(!settled([&["A"], &["B", "A"]]));
    }

    #[test]
    fn an_environment_with_a_circle_of_references_stays() {
        for entries in [vec![("A", "$(B)"), ("B", "$(A)")], vec![("X", "$(A)"), ("A", "$(B)"), ("B", "$(C)"), ("C", "$(A)")]] {
            let env: Vec<Value> = entries.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
            let mut settled = env.clone();
            settle(&mut settled, [&[], &[]]);
            assert_eq!(settled, env);
        }
        // One that refers to itself is none: it refers to what stood under its name before.
        let mut env = vec![json!({"name": "P", "value": "$(P):$(A)"}), json!({"name": "A", "value": "1"})];
        settle(&mut env, [&[], &[]]);
        assert_eq!(env[0]["name"], "A");
    }

    #[test]
    fn a_chain_of_references_may_be_long() {
        let number = 20_000;
        let entry = |at: usize| json!({"name": format!("V{at}"), "value": format!("$(V{})$(V{})", at + 1, number - 1)});
        let mut env: Vec<Value> = (0..number).map(entry).collect();
        settle(&mut env, [&[], &[]]);
        assert_eq!((&env[0]["name"], &env[number - 1]["name"]), (&json!(format!("V{}", number - 1)), &json!("V0")));
    }
}
