//! Field masks, as Kubewarden's host applies them.
//!
//! Type and metadata of an object are always kept whole. Of the rest, a field is kept when a mask names it or something
//! below it; lists are passed through to their items. A path is split at every dot, so a key with a dot in it cannot be
//! named. No masks, or an empty list of them, keep everything.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

#[derive(Default)]
struct Node(BTreeMap<String, Node>);

impl Node {
    fn prune(&self, value: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        match value {
            Value::Object(fields) => fields.retain(|key, below| {
                self.0.get(key).is_some_and(|node| {
                    node.prune(below);
                    true
                })
            }),
            Value::Array(items) => items.iter_mut().for_each(|item| self.prune(item)),
            _ => {}
        }
    }
}

/// Removes from `object` what `masks` do not name.
pub fn apply(object: &mut Value, masks: Option<&BTreeSet<String>>) {
    let mut root = Node::default();
    for mask in masks.into_iter().flatten() {
        let mut node = &mut root;
        for part in mask.split('.') {
            node = node.0.entry(part.to_owned()).or_default();
        }
    }
    if root.0.is_empty() {
        return;
    }
    for kept in ["apiVersion", "kind", "metadata"] {
        root.0.insert(kept.to_owned(), Node::default());
    }
    root.prune(object);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keeps_what_is_named() {
        let object = json!({
            "apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "labels": {"x": "y"}},
            "data": {"values": "v", "ca-bundle.crt": "pem"},
            "spec": {"replicas": 1, "containers": [{"name": "a", "image": "i"}, {"name": "b"}]},
        });
        let head = json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "labels": {"x": "y"}}});
        let with = |key: &str, value: Value| {
            let mut object = head.clone();
            object[key] = value;
            object
        };
        let table: &[(Option<&[&str]>, Value)] = &[
            (None, object.clone()),
            (Some(&[]), object.clone()),
            (Some(&["data"]), with("data", object["data"].clone())),
            (Some(&["data.values"]), with("data", json!({"values": "v"}))),
            (Some(&["data.ca-bundle.crt"]), with("data", json!({}))),
            (Some(&["metadata.name"]), head.clone()),
            (Some(&["none"]), head.clone()),
            (Some(&[""]), head.clone()),
            (Some(&["spec.containers.image"]), with("spec", json!({"containers": [{"image": "i"}, {}]}))),
            (Some(&["spec.replicas.deeper"]), with("spec", json!({"replicas": 1}))),
            (Some(&["spec", "spec.replicas"]), with("spec", json!({"replicas": 1}))),
        ];
        for (masks, expected) in table {
            let masks: Option<BTreeSet<String>> = masks.map(|masks| masks.iter().map(|mask| (*mask).to_owned()).collect());
            let mut masked = object.clone();
            apply(&mut masked, masks.as_ref());
            assert_eq!(masked, *expected, "{masks:?}");
        }
    }
}
