//! The order of an environment: a reference `$(NAME)` is expanded only where NAME stands before it.
//!
//! Source: `pkg/kubelet/kubelet_pods.go` and `third_party/forked/golang/expansion` of kubernetes/kubernetes.

use super::edit::name_of;
use serde_json::Value;

/// Moves a variable up, to right before the first that refers to it, where it stands after. All others keep their order; a circle
/// of references stays as it is.
///
/// `sources` are the orders that were merged, in which a reference before its definition is meant to be: it stays.
pub(crate) fn settle(env: &mut Vec<Value>, sources: [Vec<&str>; 2]) {
    let is_meant = |user: &str, definition: &str| {
        let both = |names: &Vec<&str>| {
            let at = |name| names.iter().position(|known| *known == name);
            Some((at(user)?, at(definition)?))
        };
        sources.iter().find_map(both).is_some_and(|(user, definition)| user < definition)
    };
    let mut moves_left = env.len();
    let mut at = 0;
    while at < env.len() {
        let late = env.get(at).and_then(|entry| {
            let names = references(entry.get("value").and_then(Value::as_str).unwrap_or_default());
            let place = |name: &String| env.iter().position(|e| name_of(e) == name);
            names.iter().filter(|name| !is_meant(name_of(entry), name)).filter_map(place).find(|place| *place > at)
        });
        match late {
            Some(place) if moves_left > 0 => {
                let entry = env.remove(place);
                env.insert(at, entry);
                moves_left = moves_left.saturating_sub(1);
            }
            _ => at = at.saturating_add(1),
        }
    }
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
    use super::{references, settle};
    use serde_json::{Value, json};

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
            settle(&mut env, [vec![], vec![]]);
            assert_eq!(names(&env), expected);
        }
    }

    #[test]
    fn a_reference_that_was_never_expanded_stays_so() {
        let late = [json!({"name": "B", "value": "$(A)"}), json!({"name": "A", "value": "1"})];
        let settled = |sources: [Vec<&str>; 2]| {
            let mut env = late.to_vec();
            settle(&mut env, sources);
            env != late
        };
        assert!(settled([vec!["A", "B"], vec!["B", "A"]]));
        assert!(settled([vec!["A"], vec!["B"]]));
        assert!(!settled([vec!["B", "A"], vec![]]));
        assert!(!settled([vec!["A"], vec!["B", "A"]]));
    }

    #[test]
    fn a_circle_of_references_ends() {
        let mut env = vec![json!({"name": "A", "value": "$(B)"}), json!({"name": "B", "value": "$(A)"})];
        settle(&mut env, [vec![], vec![]]);
        assert_eq!(env.len(), 2);
    }
}
