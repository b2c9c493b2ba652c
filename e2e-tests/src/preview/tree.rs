//! Puts a changed object back into the tree it was read from, so that the user's keys keep their order and form.

use serde_json::Value as Json;
use serde_norway::Value as Yaml;

/// The tree with the content of `new`: keys that were there stay in their order, new ones come after them; items of a
/// list are matched by content, then by name.
#[must_use]
pub fn update(old: &Yaml, new: &Json) -> Yaml {
    match (old, new) {
        (Yaml::Mapping(fields), Json::Object(wanted)) => {
            let mut updated: Vec<(Yaml, Yaml)> = Vec::new();
            for (key, below) in fields {
                if let Some(value) = wanted.get(&key_text(key)) {
                    updated.push((key.clone(), update(below, value)));
                }
            }
            for (name, value) in in_reading_order(wanted) {
                let is_there = updated.iter().any(|(key, _)| key_text(key) == *name);
                if !is_there {
                    // A template often has no metadata, and nobody looks for it behind a long spec.
                    let before = (name == "metadata").then(|| updated.iter().position(|(key, _)| key == "spec"));
                    let position = before.flatten().unwrap_or(updated.len());
                    updated.insert(position, (Yaml::String(name.clone()), from_json(value)));
                }
            }
            Yaml::Mapping(updated.into_iter().collect())
        }
        (Yaml::Sequence(items), Json::Array(wanted)) => {
            let mut left: Vec<(Json, &Yaml)> = items.iter().map(|item| (to_json(item), item)).collect();
            // Exact matches first, so that a named item cannot take the place of an equal one further down.
            let mut updated: Vec<Option<Yaml>> =
                wanted.iter().map(|value| take(&mut left, |item| item == value).cloned()).collect();
            for (slot, value) in updated.iter_mut().zip(wanted) {
                if slot.is_none() {
                    let name = value.get("name").filter(|name| name.is_string());
                    let partner = take(&mut left, |item| name.is_some() && item.get("name") == name);
                    *slot = Some(partner.map_or_else(|| from_json(value), |partner| update(partner, value)));
                }
            }
            Yaml::Sequence(updated.into_iter().flatten().collect())
        }
        _ if to_json(old) == *new => old.clone(),
        _ => from_json(new),
    }
}

/// A tree as JSON; what JSON cannot say is null.
#[must_use]
pub fn to_json(tree: &Yaml) -> Json {
    serde_json::to_value(tree).unwrap_or_default()
}

/// JSON as a tree, with the keys that a reader looks for first.
fn from_json(value: &Json) -> Yaml {
    match value {
        Json::Object(fields) => {
            Yaml::Mapping(in_reading_order(fields).map(|(key, below)| (Yaml::String(key.clone()), from_json(below))).collect())
        }
        Json::Array(items) => Yaml::Sequence(items.iter().map(from_json).collect()),
        scalar => serde_norway::to_value(scalar).unwrap_or_default(),
    }
}

fn in_reading_order(fields: &serde_json::Map<String, Json>) -> impl Iterator<Item = (&String, &Json)> {
    const FIRST: [&str; 2] = ["name", "image"];
    let first = FIRST.iter().filter_map(|key| fields.get_key_value(*key));
    first.chain(fields.iter().filter(|(key, _)| !FIRST.contains(&key.as_str())))
}

fn take<'a>(left: &mut Vec<(Json, &'a Yaml)>, wanted: impl Fn(&Json) -> bool) -> Option<&'a Yaml> {
    let position = left.iter().position(|(item, _)| wanted(item))?;
    Some(left.remove(position).1)
}

/// A key as JSON writes it: YAML also has numbers and truth values for keys.
fn key_text(key: &Yaml) -> String {
    match key {
        Yaml::String(text) => text.clone(),
        other => serde_norway::to_string(other).unwrap_or_default().trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keeps_the_order_and_adds_at_the_end() {
        let old: Yaml = serde_norway::from_str(
            "kind: Pod\nspec:\n  containers:\n  - image: i\n    name: app\n    env: []\n  volumes: [{name: v}]\n1: x\nmetadata: {z: 1, a: 2}\n",
        )
        .unwrap();
        let new = json!({
            "kind": "Pod", "1": "x", "metadata": {"z": 1, "a": 3, "b": {"y": 1, "name": "n"}},
            "spec": {
                "containers": [{"name": "proxy", "image": "p", "args": []}, {"name": "app", "image": "i", "env": [1]}],
                "initContainers": [],
            },
        });
        assert_eq!(
            serde_norway::to_string(&update(&old, &new)).unwrap(),
            "kind: Pod
spec:
  containers:
  - name: proxy
    image: p
    args: []
  - image: i
    name: app
    env:
    - 1
  initContainers: []
1: x
metadata:
  z: 1
  a: 3
  b:
    name: n
    y: 1
"
        );
        assert_eq!(to_json(&update(&old, &new)), new);
    }

    #[test]
    fn metadata_goes_before_the_spec() {
        let old: Yaml = serde_norway::from_str("kind: Pod\nspec: {}\nstatus: {}\n").unwrap();
        let new = json!({"kind": "Pod", "spec": {}, "status": {}, "metadata": {}});
        let updated = serde_norway::to_string(&update(&old, &new)).unwrap();
        assert_eq!(updated, "kind: Pod\nmetadata: {}\nspec: {}\nstatus: {}\n");
    }

    #[test]
    fn equal_items_are_matched_before_those_of_the_same_name() {
        let old: Yaml = serde_norway::from_str("- {path: a, name: v}\n- {path: b, name: v}\n").unwrap();
        let new = json!([{"name": "v", "path": "b"}, {"name": "v", "path": "c"}, {"name": "w"}]);
        let updated = update(&old, &new);
        assert_eq!(to_json(&updated), new);
        assert_eq!(serde_norway::to_string(&updated).unwrap(), "- path: b\n  name: v\n- path: c\n  name: v\n- name: w\n");
    }

    #[test]
    fn what_does_not_change_keeps_its_form() {
        let text = "a: 0x10\nb: 1.50\nc: ~\nd: '012'\n";
        let old: Yaml = serde_norway::from_str(text).unwrap();
        assert_eq!(update(&old, &to_json(&old)), old);
    }
}
