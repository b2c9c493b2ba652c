//! A cluster made of manifests.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::{Answer, Cluster, masks, selector};
use crate::{kinds, query::Query, refusal::Refusal};

/// Where an object is: `apiVersion`, kind, namespace (none of cluster-wide ones), name.
type Place = (String, String, Option<String>, String);

/// A folder of manifests that cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not YAML or JSON.
    #[error("{}: {source}", path.display())]
    Format {
        /// Which one.
        path: PathBuf,
        /// Where and why.
        source: serde_norway::Error,
    },
    /// A document is not an object of the Kubernetes API.
    #[error("{}: document {number} has no apiVersion, kind or metadata.name", path.display())]
    NotAnObject {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        number: usize,
    },
}

/// Objects by place; where two are at the same one, the later counts, as with `kubectl apply`.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    objects: BTreeMap<Place, Value>,
}

impl Manifests {
    /// A cluster of these objects. What is not an object of the Kubernetes API is left out.
    #[must_use]
    pub fn new(objects: Vec<Value>) -> Self {
        let mut cluster = Self::default();
        for object in objects {
            cluster.insert(object);
        }
        cluster
    }

    /// Reads all `.yaml`, `.yml` and `.json` files of a folder and those below it, in the order of their names.
    ///
    /// # Errors
    /// A file cannot be read, is not YAML or JSON, or holds something else than objects.
    pub fn open(folder: &Path) -> Result<Self, ReadError> {
        let mut cluster = Self::default();
        for path in files(folder)? {
            let text = std::fs::read_to_string(&path).map_err(|source| ReadError::Read { path: path.clone(), source })?;
            for (number, document) in (1..).zip(serde_norway::Deserializer::from_str(&text)) {
                let document = Value::deserialize(document).map_err(|source| ReadError::Format { path: path.clone(), source })?;
                if !document.is_null() && !cluster.insert(document) {
                    return Err(ReadError::NotAnObject { path, number });
                }
            }
        }
        Ok(cluster)
    }

    /// Adds an object, or the items of a List; `false` if it is neither.
    pub fn insert(&mut self, object: Value) -> bool {
        if let Some(items) = object.get("items").and_then(Value::as_array) {
            return items.iter().all(|item| self.insert(item.clone()));
        }
        let Some(place) = place(&object) else {
            return false;
        };
        self.objects.insert(place, object);
        true
    }

    /// Finds an object; `namespace` is ignored for cluster-wide kinds.
    #[must_use]
    pub fn get(&self, api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Value> {
        let namespace = self.is_namespaced(api_version, kind)?.then(|| namespace.unwrap_or("default").to_owned());
        self.objects.get(&(api_version.to_owned(), kind.to_owned(), namespace, name.to_owned()))
    }

    /// Whether a kind's objects live in namespaces; `None` if the cluster does not know the kind.
    fn is_namespaced(&self, api_version: &str, kind: &str) -> Option<bool> {
        kinds::find(api_version, kind).map(|known| known.namespaced).or_else(|| {
            let mut seen = self.objects.keys().filter(|(version, name, ..)| version == api_version && name == kind);
            seen.next().map(|(_, _, namespace, _)| namespace.is_some())
        })
    }

    fn unknown(&self, api_version: &str, kind: &str) -> Refusal {
        let served = kinds::KINDS.iter().any(|known| known.api_version == api_version)
            || self.objects.keys().any(|(version, ..)| version == api_version);
        if served { Refusal::unknown_kind(api_version, kind) } else { Refusal::unknown_group(api_version, kind) }
    }

    fn list(&self, query: &Query) -> Result<Value, Refusal> {
        let (api_version, kind) = query.resource().unwrap_or_default();
        let (Query::KubernetesListResourceAll { label_selector, field_selector, field_masks, .. }
        | Query::KubernetesListResourceNamespace { label_selector, field_selector, field_masks, .. }) = query
        else {
            return Err(Refusal::unknown_kind(api_version, kind));
        };
        let namespaced = self.is_namespaced(api_version, kind).ok_or_else(|| self.unknown(api_version, kind))?;
        let wanted = match query {
            Query::KubernetesListResourceNamespace { namespace, .. } => Some(namespace),
            _ => None,
        };
        if wanted.is_some() && !namespaced {
            return Err(Refusal::cluster_wide(api_version, kind));
        }
        let mut items = Vec::new();
        for ((version, name, namespace, _), object) in &self.objects {
            let here = wanted.is_none() || namespace.as_ref() == wanted;
            if version == api_version
                && name == kind
                && here
                && selector::matches(object, label_selector.as_deref(), field_selector.as_deref()).map_err(Refusal::Failed)?
            {
                items.push(listed(object, field_masks.as_ref()));
            }
        }
        Ok(json!({"apiVersion": api_version, "kind": format!("{kind}List"), "metadata": {}, "items": items}))
    }
}

impl Cluster for Manifests {
    fn ask(&self, query: &Query) -> Answer {
        let answer = match query {
            Query::KubernetesGetResource { api_version, kind, name, namespace, field_masks, .. } => {
                let namespaced = self.is_namespaced(api_version, kind).ok_or_else(|| self.unknown(api_version, kind))?;
                if namespaced && namespace.is_none() {
                    return Err(Refusal::namespace_missing(api_version, kind));
                }
                let mut object = self
                    .get(api_version, kind, namespace.as_deref(), name)
                    .cloned()
                    .ok_or_else(|| Refusal::not_found(api_version, kind, name, namespace.as_deref()))?;
                masks::apply(&mut object, field_masks.as_ref());
                object
            }
            Query::KubernetesListResourceAll { .. } | Query::KubernetesListResourceNamespace { .. } => self.list(query)?,
            Query::KubernetesCanI { .. } => json!({"allowed": false}),
        };
        serde_json::to_vec(&answer).map_err(|error| Refusal::Failed(error.to_string()))
    }
}

/// An object as an item of a list: without type, managed fields and kubectl's copy of it, which the host leaves out.
fn listed(object: &Value, masks: Option<&BTreeSet<String>>) -> Value {
    let mut item = object.clone();
    masks::apply(&mut item, masks);
    if let Some(fields) = item.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
        if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
            if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
            }
        }
    }
    item
}

fn place(object: &Value) -> Option<Place> {
    let text = |fields: &Map<String, Value>, key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
    let fields = object.as_object()?;
    let (api_version, kind) = (text(fields, "apiVersion")?, text(fields, "kind")?);
    let metadata = fields.get("metadata")?.as_object()?;
    let given = text(metadata, "namespace").filter(|namespace| !namespace.is_empty());
    let namespace = match kinds::find(&api_version, &kind) {
        Some(known) if known.namespaced => Some(given.unwrap_or_else(|| "default".to_owned())),
        Some(_) => None,
        None => given,
    };
    Some((api_version, kind, namespace, text(metadata, "name")?))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let fail = |source| ReadError::Read { path: folder.to_owned(), source };
    let mut entries =
        std::fs::read_dir(folder).map_err(fail)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(fail)?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
