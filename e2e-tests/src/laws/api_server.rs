//! What the API server does to a pod before a webhook, after it and between two calls of it.
//!
//! In: a pod as a client or a webhook wrote it. Out: the pod as the next webhook sees it. [`ApiServer::store`] is what every patch
//! goes through: the typed object forgets zeros and empty values, writes quantities its own way and has its defaults filled in.
//! [`ApiServer::admit`] is what the plugins inside the server do before the webhooks of each round.
//!
//! Source: `pkg/apis/core/v1/defaults.go`, `staging/src/k8s.io/api/core/v1/types.go`, `plugin/pkg/admission` of
//! kubernetes/kubernetes. A test holds the model against a real API server.

use serde_json::{Map, Value, json};

mod defaults;
mod encoding;
mod plugins;
mod quantity;

pub use quantity::{billionths, canonical as canonical_quantity};

/// The lists of containers that a pod has when it is created.
pub(crate) const CONTAINER_LISTS: [&str; 2] = ["initContainers", "containers"];

/// An API server, by the plugins that are on and by what its namespace holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiServer {
    /// Whether the plugin AlwaysPullImages is on.
    pub always_pull_images: bool,
    /// The LimitRange of the namespace, if there is one.
    pub limits: Option<Limits>,
}

/// What a LimitRange of type `Container` says of containers that say nothing themselves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Default limits by resource.
    pub default: Map<String, Value>,
    /// Default requests by resource.
    pub default_request: Map<String, Value>,
}

impl Limits {
    /// The limits that the tests use: of one resource both, of another only the limit's side, of a third only the request's.
    #[must_use]
    pub fn example() -> Self {
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        Self {
            default: map(json!({"cpu": "500m", "memory": "512Mi"})),
            default_request: map(json!({"cpu": "50m", "memory": "512Mi", "ephemeral-storage": "1Gi"})),
        }
    }
}

impl ApiServer {
    /// The pod as it is after it was decoded, be it a client's or a webhook's.
    #[must_use]
    pub fn store(&self, pod: &Value) -> Value {
        let mut pod = encoding::encode(pod);
        defaults::fill_in(&mut pod);
        pod
    }

    /// The pod as the first webhook of a round gets it.
    #[must_use]
    pub fn admit(&self, pod: &Value) -> Value {
        let mut pod = self.store(pod);
        if let Some(limits) = &self.limits {
            plugins::limit_ranger(&mut pod, limits);
        }
        plugins::service_account(&mut pod);
        if self.always_pull_images {
            plugins::always_pull_images(&mut pod);
        }
        plugins::priority(&mut pod);
        plugins::default_tolerations(&mut pod);
        defaults::fill_in(&mut pod);
        pod
    }
}

/// Every container of the pod, to be changed.
pub(crate) fn containers_mut(pod: &mut Value) -> impl Iterator<Item = (&'static str, &mut Map<String, Value>)> {
    let spec = pod.get_mut("spec").and_then(Value::as_object_mut);
    let lists = spec.into_iter().flatten().filter_map(|(key, list)| Some((CONTAINER_LISTS.into_iter().find(|l| l == key)?, list)));
    lists.flat_map(|(key, list)| items_mut(Some(list)).map(move |container| (key, container)))
}

/// The objects of a list, to be changed.
pub(crate) fn items_mut(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    list.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Sets what is not set.
fn default_to(object: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    if object.get(key).is_none_or(Value::is_null) {
        object.insert(key.to_owned(), value.into());
    }
}

/// The object at a key, made where there is none.
pub(crate) fn child_mut<'a>(object: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    let child = object.entry(key).or_insert_with(|| json!({}));
    if child.is_null() {
        *child = json!({});
    }
    child.as_object_mut()
}

#[cfg(test)]
mod tests;
