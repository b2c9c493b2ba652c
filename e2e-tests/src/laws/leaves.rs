//! A pod as its leaves, each with a path, in which all that means the same is the same.
//!
//! Containers and volumes of ours go by name wherever they stand, their environment, mounts, ports and flags by what tells them apart,
//! lists of ports as sets. The user's part stays a list of lists: what stands where counts there. Read independently of the policy.

use super::api_server::{ApiServer, canonical_quantity};
use super::{OWN_VOLUMES, is_ours};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Where the record stands.
pub(crate) const RECORD: &str = "metadata/annotations/linkerd.io/injection-record";

/// Where the warnings stand, which name an annotation that is inherited as the namespace's.
pub(crate) const WARNINGS: &str = "metadata/annotations/linkerd.io/injection-warnings";

/// Where the volume of the service account's token stands.
pub(crate) const TOKEN_VOLUME: &str = "volumes of the API server";

/// The leaves of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaves(BTreeMap<String, String>);

/// A leaf that is not the same in two pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) left: Option<String>,
    pub(crate) right: Option<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = |side: &Option<String>| {
            let text = side.as_deref().unwrap_or("nothing");
            text.chars().take(60).collect::<String>()
        };
        write!(f, "{}: {} against {}", self.path, short(&self.left), short(&self.right))
    }
}

impl Leaves {
    /// Reads a pod.
    pub(crate) fn of(pod: &Value) -> Self {
        Self::read(pod, &|name| is_ours(name.get("name")), &|name| OWN_VOLUMES.contains(&name))
    }

    /// Reads a pod in which only the names of containers, volumes and variables count, not their order.
    pub(crate) fn by_name(pod: &Value) -> Self {
        Self::read(pod, &|_| true, &|_| true).only(|path| !path.ends_with("/env-order"))
    }

    fn read(pod: &Value, container_is_keyed: &dyn Fn(&Value) -> bool, volume_is_keyed: &dyn Fn(&str) -> bool) -> Self {
        let mut leaves = Self(BTreeMap::new());
        let stored = ApiServer::default().store(pod);
        for (key, value) in stored.as_object().into_iter().flatten() {
            if key != "spec" {
                leaves.plain(key, value);
            }
        }
        for (key, value) in stored.get("spec").and_then(Value::as_object).into_iter().flatten() {
            match key.as_str() {
                "containers" | "initContainers" => leaves.containers(key, value, container_is_keyed),
                "volumes" => leaves.volumes(value, volume_is_keyed),
                _ => leaves.plain(&format!("spec/{key}"), value),
            }
        }
        leaves
    }

    /// The leaf at a path.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The leaves that a predicate holds of.
    pub(crate) fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(path, _)| keep(path)).map(|(path, leaf)| (path.clone(), leaf.clone())).collect())
    }

    /// Where two pods differ.
    pub(crate) fn differences(&self, other: &Self) -> Vec<Difference> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let differs = paths.into_iter().filter(|path| self.0.get(*path) != other.0.get(*path));
        let both =
            |path: &String| Difference { path: path.clone(), left: self.0.get(path).cloned(), right: other.0.get(path).cloned() };
        differs.map(both).collect()
    }

    fn put(&mut self, path: &str, leaf: impl ToString) {
        self.0.insert(path.to_owned(), leaf.to_string());
    }

    fn plain(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    let amount = path.ends_with("/limits") || path.ends_with("/requests");
                    match value.as_str().filter(|_| amount) {
                        Some(text) => self.put(&format!("{path}/{key}"), canonical_quantity(text)),
                        None => self.plain(&format!("{path}/{key}"), value),
                    }
                }
            }
            Value::Array(items) => {
                for (place, value) in items.iter().enumerate() {
                    self.plain(&format!("{path}/{place}"), value);
                }
            }
            // What says nothing by itself is there or is not.
            Value::Object(_) if path.ends_with("/resources") || path.ends_with("/securityContext") => {}
            leaf => self.put(path, leaf),
        }
    }

    fn containers(&mut self, list: &str, containers: &Value, is_keyed: &dyn Fn(&Value) -> bool) {
        let mut place: usize = 0;
        for container in containers.as_array().into_iter().flatten() {
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
            if is_keyed(container) {
                self.put(&format!("{name}/list"), list);
                self.keyed_container(name, container);
            } else {
                self.plain(&format!("spec/{list}/{place}"), container);
                place = place.saturating_add(1);
            }
        }
    }

    fn keyed_container(&mut self, of: &str, container: &Value) {
        for (key, value) in container.as_object().into_iter().flatten() {
            let path = format!("{of}/{key}");
            match key.as_str() {
                "env" => {
                    self.keyed(&path, value, &|v| text(v, "name"));
                    self.put(&format!("{of}/env-order"), names(value).join(" "));
                }
                "volumeMounts" => self.keyed(&path, value, &|m| text(m, "mountPath")),
                "ports" => self.keyed(&path, value, &|p| {
                    format!("{}/{}", p.get("containerPort").unwrap_or(&Value::Null), text(p, "protocol"))
                }),
                "args" => self.flags(&path, value),
                _ => self.plain(&path, value),
            }
        }
    }

    fn keyed(&mut self, path: &str, items: &Value, key: &dyn Fn(&Value) -> String) {
        for item in items.as_array().into_iter().flatten() {
            let key = key(item);
            match item.get("value").and_then(Value::as_str).filter(|_| key.starts_with("LINKERD2_PROXY_INBOUND_PORTS")) {
                Some(ports) => self.put(&format!("{path}/{key}"), port_set(ports)),
                None => self.put(&format!("{path}/{key}"), item),
            }
        }
    }

    fn flags(&mut self, path: &str, arguments: &Value) {
        let mut flag = String::new();
        for argument in arguments.as_array().into_iter().flatten().filter_map(Value::as_str) {
            if argument.starts_with("--") {
                argument.clone_into(&mut flag);
                self.put(&format!("{path}/{flag}"), "");
            } else if flag.ends_with("-ports-to-ignore") {
                self.put(&format!("{path}/{flag}"), port_set(argument));
            } else {
                self.put(&format!("{path}/{flag}"), argument);
            }
        }
    }

    fn volumes(&mut self, volumes: &Value, is_keyed: &dyn Fn(&str) -> bool) {
        let mut place: usize = 0;
        for volume in volumes.as_array().into_iter().flatten() {
            let name = text(volume, "name");
            if name.starts_with("kube-api-access-") {
                // The API server's, which keeps it when the container that it was for is gone.
                self.put(TOKEN_VOLUME, volume);
            } else if is_keyed(&name) {
                self.put(&format!("volumes/{name}"), volume);
            } else {
                self.plain(&format!("spec/volumes/{place}"), volume);
                place = place.saturating_add(1);
            }
        }
    }
}

/// The ports of a list, in one order.
pub(crate) fn port_set(list: &str) -> String {
    let entries: BTreeSet<&str> = list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
    entries.into_iter().collect::<Vec<_>>().join(",")
}

fn text(of: &Value, key: &str) -> String {
    of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn names(items: &Value) -> Vec<String> {
    items.as_array().into_iter().flatten().map(|item| text(item, "name")).collect()
}

/// Where the user's part of a pod is not what it was: all but containers, volumes and texts of ours.
pub(crate) fn changes_of_users(before: &Value, after: &Value) -> Vec<String> {
    let (nothing, null) = (Map::new(), Value::Null);
    let maps = |part: &str| [before, after].map(|pod| pod.get(part).and_then(Value::as_object).unwrap_or(&nothing));
    let mut changed = Vec::new();
    for part in ["metadata", "spec"] {
        let [then, now] = maps(part);
        for key in then.keys().chain(now.keys().filter(|key| !then.contains_key(*key))) {
            let (then, now) = (then.get(key).unwrap_or(&null), now.get(key).unwrap_or(&null));
            let same = match (part, key.as_str()) {
                ("metadata", "annotations" | "labels") => true,
                ("spec", "containers" | "initContainers" | "volumes") => users_items(then).eq(users_items(now)),
                _ => then == now,
            };
            if !same {
                changed.push(format!("{part}/{key}"));
            }
        }
    }
    let whole = |pod: &Value, key: &str| pod.get(key).cloned();
    let others = before.as_object().into_iter().flatten().filter(|(key, _)| !matches!(key.as_str(), "metadata" | "spec"));
    changed.extend(others.filter(|(key, value)| whole(after, key).as_ref() != Some(value)).map(|(key, _)| key.clone()));
    changed
}

/// The items of a list that do not bear a name of ours.
fn users_items(list: &Value) -> impl Iterator<Item = &Value> {
    let own = |item: &&Value| {
        let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
        OWN_VOLUMES.contains(&name) || is_ours(item.get("name"))
    };
    list.as_array().into_iter().flatten().filter(move |item| !own(item))
}
