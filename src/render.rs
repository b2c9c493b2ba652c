//! What is added to a pod, one file a rendered object, as struct literals.
//!
//! In: the values, already overridden, and the pod. Out: a [`PodPatch`], which [`crate::merge`] puts into the pod.
//! Source: `charts/patch/templates/patch.json` of linkerd/linkerd2, which also says where each part goes.

use crate::values::Values;
use crate::warning::Warning;
use crate::workload::Workload;
use k8s_openapi::api::core::v1::{Capabilities, SeccompProfile, SecurityContext};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

mod debug;
mod env;
mod json;
mod metadata;
mod network_validator;
mod proxy;
mod proxy_init;
mod resources;
mod variable;
mod volume;

use json::json;
pub use metadata::{Mesh, owner_label_warning};
pub use variable::Variable;

/// Names of the containers that are added.
pub mod container {
    /// The proxy.
    pub const PROXY: &str = "linkerd-proxy";
    /// The init container that redirects traffic to it.
    pub const INIT: &str = "linkerd-init";
    /// The init container that waits until linkerd-cni has redirected it.
    pub const VALIDATOR: &str = "linkerd-network-validator";
    /// The debug container.
    pub const DEBUG: &str = "linkerd-debug";

    /// What a sentence calls one of them that runs beside the application.
    #[must_use]
    pub fn called(name: &str) -> &'static str {
        if name == DEBUG { "the debug container" } else { "the proxy" }
    }
}

/// Names of the volumes that are added.
#[must_use]
pub fn volume_names() -> &'static [&'static str] {
    volume::NAMES
}

/// The kind of source of a volume that is added under that name.
#[must_use]
pub fn volume_source(name: &str) -> Option<&'static str> {
    volume::source(name)
}

/// Everything that injection adds to a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodPatch {
    /// Annotations, by key.
    pub annotations: BTreeMap<&'static str, String>,
    /// Labels, by key.
    pub labels: BTreeMap<&'static str, String>,
    /// Volumes, in order.
    pub volumes: Vec<Value>,
    /// The container that sets the redirection up, or waits for it.
    pub init: Value,
    /// The proxy, without its environment.
    pub proxy: Value,
    /// That environment.
    pub env: Vec<Variable>,
    /// Where the proxy goes.
    pub place: Place,
    /// The debug container.
    pub debug: Option<Value>,
    /// What only shows when all is put together.
    pub warnings: Vec<Warning>,
}

impl PodPatch {
    /// The same with the environment in the proxy.
    #[must_use]
    pub fn complete(mut self) -> PodPatch {
        let env = std::mem::take(&mut self.env);
        if let (Some(proxy), false) = (self.proxy.as_object_mut(), env.is_empty()) {
            proxy.insert("env".to_owned(), env.into_iter().map(Variable::into_value).collect());
        }
        self
    }
}

/// Where the proxy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into `initContainers`, right after the one that sets up the redirection, and both before all others.
    Native,
    /// Before all other containers, which wait for it.
    First,
    /// After all other containers.
    Last,
}

impl Place {
    /// The place that values ask for.
    #[must_use]
    pub fn of(values: &Values) -> Place {
        match (values.proxy.native_sidecar, values.proxy.await_ready) {
            (true, _) => Place::Native,
            (false, true) => Place::First,
            (false, false) => Place::Last,
        }
    }
}

/// Renders all that injection adds.
#[must_use]
pub fn pod_patch(values: &Values, pod: &Workload<'_>, mesh: &Mesh<'_>) -> PodPatch {
    let place = Place::of(values);
    let (env, warnings) = env::complete(values, pod, mesh);
    PodPatch {
        annotations: metadata::annotations(values, pod, mesh, place),
        labels: metadata::labels(mesh),
        volumes: volume::volumes(values),
        init: if values.cni_enabled { network_validator::container(values) } else { proxy_init::container(values, pod) },
        proxy: proxy::container(values, pod),
        env,
        place,
        debug: values.debug_enabled.then(|| debug::container(values)),
        warnings,
    }
}

/// The container's JSON with a security context that values give as a whole.
fn with_security_context(mut container: Value, given: &Map<String, Value>) -> Value {
    if let (Some(map), false) = (container.as_object_mut(), given.is_empty()) {
        map.insert("securityContext".to_owned(), Value::Object(given.clone()));
    }
    container
}

/// What every security context of ours has: no new privileges, a read-only root and the runtime's system call filter.
fn hardened() -> SecurityContext {
    SecurityContext {
        allow_privilege_escalation: Some(false),
        read_only_root_filesystem: Some(true),
        seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".to_owned(), localhost_profile: None }),
        ..SecurityContext::default()
    }
}

/// Capabilities as the API has them: no list where there is nothing.
fn capabilities(add: Vec<String>, drop: Vec<String>) -> Option<Capabilities> {
    let list = |names: Vec<String>| (!names.is_empty()).then_some(names);
    Some(Capabilities { add: list(add), drop: list(drop) })
}

/// The capabilities that the application's first container drops; `None` when it has no capabilities block. Those that it adds are
/// its own (D14).
fn dropped_by_app(pod: &Workload<'_>) -> Option<Vec<String>> {
    let block = pod.first_container()?.capabilities()?;
    let names = block.get("drop").and_then(Value::as_array).into_iter().flatten();
    Some(names.filter_map(Value::as_str).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
