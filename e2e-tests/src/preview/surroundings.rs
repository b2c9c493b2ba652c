//! The cluster that a preview happens in: a folder of manifests, the manifests that are previewed, and, where no folder
//! was given, a control plane with the chart's defaults.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::{
    case::{config_values, control_plane},
    cluster::Manifests,
    kinds,
};

const PLACEHOLDER: &str = include_str!("data/placeholder.pem");

/// The state of the cluster around the previewed objects.
#[derive(Debug, Clone)]
pub struct Surroundings {
    cluster: Manifests,
    namespace_annotations: Map<String, Value>,
    /// Whether a namespace that is not there is worth a note.
    complete: bool,
    invented: BTreeSet<String>,
}

impl Surroundings {
    /// The given cluster, or an empty one to be filled.
    #[must_use]
    pub fn new(cluster: Option<Manifests>, namespace_annotations: Map<String, Value>) -> Self {
        Self { complete: cluster.is_some(), cluster: cluster.unwrap_or_default(), namespace_annotations, invented: BTreeSet::new() }
    }

    /// Adds an object of the input; what is no object is left out.
    pub fn add(&mut self, object: &Value, default_namespace: &str) {
        let mut object = object.clone();
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let known = kinds::find(text("/apiVersion"), text("/kind"));
        if known.is_some_and(|known| known.namespaced)
            && text("/metadata/namespace").is_empty()
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.insert("namespace".to_owned(), json!(default_namespace));
        }
        self.cluster.insert(object);
    }

    /// Adds the built-in control plane where the settings need one and no cluster was given; says so.
    pub fn add_control_plane(&mut self, settings: &Value) -> Option<String> {
        if self.complete || settings.get("source").and_then(Value::as_str) == Some("settings") {
            return None;
        }
        let namespace = settings.get("controlPlaneNamespace").and_then(Value::as_str).unwrap_or("linkerd");
        let values = config_values(&Map::new());
        let mut missing = Vec::new();
        for object in control_plane(namespace, &values, PLACEHOLDER) {
            let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if self.cluster.get("v1", "ConfigMap", Some(namespace), &name).is_none() {
                self.cluster.insert(object);
                missing.push(name);
            }
        }
        let version = values.get("linkerdVersion").and_then(Value::as_str).unwrap_or("unknown");
        let stand_ins: Vec<String> = missing
            .iter()
            .map(|name| match name.as_str() {
                "linkerd-config" => format!("the chart's defaults (Linkerd {version})"),
                _ => "a placeholder trust anchor".to_owned(),
            })
            .collect();
        (!stand_ins.is_empty())
            .then(|| format!("no cluster given, so the preview uses {}; see --cluster and --settings", stand_ins.join(" and ")))
    }

    /// The cluster for one object: with its owners, and with its namespace, to which the annotations of the command line
    /// are added. The note says, once, that a namespace was not found.
    pub fn around(&mut self, namespace: &str, owners: &[Value]) -> (Manifests, Option<String>) {
        let mut cluster = self.cluster.clone();
        for owner in owners {
            cluster.insert(owner.clone());
        }
        let found = cluster.get("v1", "Namespace", None, namespace).cloned();
        let note = (found.is_none() && self.complete && self.invented.insert(namespace.to_owned()))
            .then(|| format!("namespace {namespace:?} is not in the cluster folder; taken as one without annotations"));
        let mut object = found.unwrap_or_else(|| {
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
                "name": namespace, "labels": {"kubernetes.io/metadata.name": namespace},
            }})
        });
        if !self.namespace_annotations.is_empty()
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            let mut annotations = metadata.get("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
            annotations.extend(self.namespace_annotations.clone());
            metadata.insert("annotations".to_owned(), Value::Object(annotations));
        }
        cluster.insert(object);
        (cluster, note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotations(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_control_plane_is_there_unless_it_is_given_or_not_needed() {
        let mut empty = Surroundings::new(None, Map::new());
        let note = empty.add_control_plane(&Value::Null).unwrap();
        assert_eq!(
            note,
            "no cluster given, so the preview uses the chart's defaults (Linkerd edge-26.8.1) and a placeholder trust anchor; \
             see --cluster and --settings"
        );
        let (cluster, _) = empty.around("shop", &[]);
        assert!(cluster.get("v1", "ConfigMap", Some("linkerd"), "linkerd-config").is_some());
        assert!(cluster.get("v1", "ConfigMap", Some("linkerd"), "linkerd-identity-trust-roots").is_some());

        let mut other = Surroundings::new(None, Map::new());
        assert!(other.add_control_plane(&json!({"source": "settings"})).is_none());
        assert!(other.add_control_plane(&json!({"controlPlaneNamespace": "mesh"})).is_some());
        assert!(other.around("x", &[]).0.get("v1", "ConfigMap", Some("mesh"), "linkerd-config").is_some());

        let mut given = Surroundings::new(Some(Manifests::default()), Map::new());
        assert_eq!(given.add_control_plane(&Value::Null), None);

        let mut partly = Surroundings::new(None, Map::new());
        partly.add(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "linkerd-config"}}), "linkerd");
        let note = partly.add_control_plane(&Value::Null).unwrap();
        assert!(note.contains("uses a placeholder trust anchor;"), "{note}");
    }

    #[test]
    fn namespaces_are_found_or_made() {
        let mut given = Surroundings::new(Some(Manifests::default()), annotations(r#"{"a": "new", "b": "x"}"#));
        given.add(
            &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": {"a": "old", "c": "y"}}}),
            "default",
        );
        let (cluster, note) = given.around("shop", &[]);
        let namespace = cluster.get("v1", "Namespace", None, "shop").unwrap();
        assert_eq!(namespace["metadata"]["annotations"], json!({"a": "new", "b": "x", "c": "y"}));
        assert_eq!(note, None);

        let (cluster, note) = given.around("other", &[]);
        let namespace = cluster.get("v1", "Namespace", None, "other").unwrap();
        assert_eq!(namespace["metadata"]["annotations"], json!({"a": "new", "b": "x"}));
        assert!(note.is_some());
        assert_eq!(given.around("other", &[]).1, None, "said once");
    }
}
