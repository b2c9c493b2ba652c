//! The part of the control-plane chart's values that the injector reads.
//!
//! In: layers of JSON in the shape of the chart's values, lowest first. Out: one [`Values`], and a [`ValueFault`] for every leaf
//! that cannot be used. Lenient: unknown keys are ignored, and a leaf that cannot be used leaves the layer below as it was, so one
//! wrong value never costs more than itself. What users may give any shape (`additionalEnv`, `securityContext`) stays a [`Value`].
//!
//! Source: `pkg/charts/linkerd2/values.go` and `charts/linkerd-control-plane/values.yaml` of linkerd/linkerd2.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

mod defaults;
mod order;
pub(crate) mod parameters;
mod row;
mod rows;
mod settle;

use crate::yaml::Node;
pub(crate) use defaults::validator_security_context;
use row::{Leaf, Row};

/// The longest close-wait timeout that every kernel takes: a signed 32-bit number of ticks, at a thousand ticks a second.
pub(crate) const MAX_CLOSE_WAIT_SECS: i64 = 2_147_483;

/// The values that rendering needs, all of them set.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Domain of the cluster's services.
    pub cluster_domain: String,
    /// Networks whose addresses are looked up in the destination service, comma-separated. Empty: none.
    pub cluster_networks: String,
    /// Pull policy of images that name none.
    pub image_pull_policy: String,
    /// Version of the control plane: the tag of images that name none.
    pub linkerd_version: String,
    /// Whether linkerd-cni sets up the redirection, so that no init container does.
    pub cni_enabled: bool,
    /// Whether the proxy leaves IPv6 alone.
    pub disable_ipv6: bool,
    /// Trust anchors as PEM text, untrimmed.
    pub trust_anchors: String,
    /// Trust domain of mesh identities. Empty: the cluster domain.
    pub trust_domain: String,
    /// Whether identity tokens are projected for the proxy rather than taken from the pod's service account mount.
    pub token_projection: bool,
    /// The proxy.
    pub proxy: Proxy,
    /// The init container.
    pub proxy_init: ProxyInit,
    /// The network validator of CNI mode.
    pub network_validator: NetworkValidator,
    /// Image of the debug container.
    pub debug_image: Image,
    /// Whether the debug container is added; no value of the chart says so, only annotations do.
    pub debug_enabled: bool,
    /// Resources of the debug container; no value of the chart has any, only limit ranges give them.
    pub debug_resources: Resources,
}

/// Values of the proxy container.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Proxy {
    pub image: Image,
    /// `None`: values say nothing, and the init container keeps its own.
    pub capabilities: Option<Capabilities>,
    pub enable_external_profiles: bool,
    pub enable_shutdown_endpoint: bool,
    pub log_level: String,
    pub log_format: String,
    pub log_http_headers: String,
    pub ports: Ports,
    pub resources: Resources,
    pub uid: i64,
    /// `None`: the proxy keeps the image's group.
    pub gid: Option<i64>,
    pub wait_before_exit_seconds: u64,
    pub is_gateway: bool,
    pub is_ingress: bool,
    pub require_identity_on_inbound_ports: String,
    pub require_tls_on_inbound_ports: String,
    pub outbound_connect_timeout: String,
    pub inbound_connect_timeout: String,
    pub outbound_discovery_cache_unused_timeout: String,
    pub inbound_discovery_cache_unused_timeout: String,
    pub disable_outbound_protocol_detect_timeout: bool,
    pub disable_inbound_protocol_detect_timeout: bool,
    /// Ports on which the application listens; `None`: those that the pod declares. No value of the chart says so.
    pub pod_inbound_ports: Option<String>,
    pub opaque_ports: String,
    pub await_ready: bool,
    pub default_inbound_policy: String,
    pub access_log: String,
    pub shutdown_grace_period: String,
    pub native_sidecar: bool,
    pub startup_probe: Probe,
    pub readiness_probe: Probe,
    pub liveness_probe: Probe,
    pub control_streams: ControlStreams,
    pub hostname_labels: bool,
    pub tracing: Tracing,
    /// Entries in the shape of a container's `env`.
    pub additional_env: Vec<Value>,
    /// Entries in the shape of a container's `env`, after the additional ones.
    pub experimental_env: Vec<Value>,
    /// Parameters by scope, protocol and name.
    pub inbound: Map<String, Value>,
    /// Parameters by scope, protocol and name.
    pub outbound: Map<String, Value>,
    /// Fixed number of workers; 0: as [`Workers`] says.
    pub cores: i64,
    pub workers: Workers,
    /// Replaces the rendered security context when it is not empty.
    pub security_context: Map<String, Value>,
}

/// An image; an empty version means that of the control plane, an empty pull policy that of the mesh.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Image {
    pub name: String,
    pub version: String,
    pub pull_policy: String,
}

/// Capabilities that values or the application give to an injected container.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Capabilities {
    pub add: Vec<String>,
    pub drop: Vec<String>,
}

/// The proxy's own ports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Ports {
    pub admin: u16,
    pub control: u16,
    pub inbound: u16,
    pub outbound: u16,
}

/// Quantities as text, empty where none is set.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Constraint {
    pub limit: String,
    pub request: String,
}

/// Resources of the injected containers.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Resources {
    pub cpu: Constraint,
    pub memory: Constraint,
    pub ephemeral_storage: Constraint,
}

impl Resources {
    /// Each resource by its name.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, &Constraint); 3] {
        [("cpu", &self.cpu), ("memory", &self.memory), ("ephemeral-storage", &self.ephemeral_storage)]
    }

    /// The same, to change them.
    pub fn rows_mut(&mut self) -> [(&'static str, &mut Constraint); 3] {
        [("cpu", &mut self.cpu), ("memory", &mut self.memory), ("ephemeral-storage", &mut self.ephemeral_storage)]
    }
}

/// Timings of a probe in seconds; the failure threshold is a count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Probe {
    pub initial_delay_seconds: i32,
    pub timeout_seconds: i32,
    pub period_seconds: i32,
    pub failure_threshold: i32,
}

/// Timeouts of the control streams, in the proxy's duration form. Empty: none.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct ControlStreams {
    pub initial_timeout: String,
    pub idle_timeout: String,
    pub lifetime: String,
}

/// Tracing; on only with an endpoint and the collector's identity.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Tracing {
    pub enabled: bool,
    pub protocol: String,
    pub labels: BTreeMap<String, String>,
    pub trace_service_name: String,
    pub endpoint: String,
    pub service_account_name: String,
    pub namespace: String,
}

/// Numbers of worker threads; 0 means not set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct Workers {
    pub minimum: i64,
    pub maximum: i64,
    /// Share of the node's CPUs, between 0 and 1; 0 means not set.
    pub maximum_cpu_ratio: f64,
}

/// Values of the init container.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct ProxyInit {
    pub capabilities: Capabilities,
    pub ignore_inbound_ports: String,
    pub ignore_outbound_ports: String,
    pub skip_subnets: String,
    pub log_level: String,
    pub log_format: String,
    /// Where the xtables lock is mounted.
    pub xt_mount_path: String,
    pub close_wait_timeout_secs: i64,
    pub privileged: bool,
    pub run_as_root: bool,
    pub run_as_user: i64,
    pub run_as_group: i64,
    pub iptables_mode: String,
}

/// Values of the network validator.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "each field has the name and the meaning of the chart's value")]
pub struct NetworkValidator {
    pub log_level: String,
    pub log_format: String,
    pub connect_addr: String,
    pub listen_addr: String,
    pub timeout: String,
    pub enable_security_context: bool,
    /// Replaces the rendered security context when it is not empty.
    pub security_context: Map<String, Value>,
}

/// One leaf of a layer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("values.{path} is {problem}")]
pub struct ValueFault {
    /// Path of the leaf in the chart's values, dotted.
    pub path: String,
    /// What is wrong with it, as a noun phrase, without the value itself.
    pub problem: String,
}

impl Values {
    /// Puts a layer over these values and returns what of it could not be used.
    ///
    /// Objects merge, anything else replaces; a `null` is the empty value of its kind, as the chart's own nulls are.
    pub fn layer(&mut self, layer: &Value) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        if layer.is_null() {
            return faults;
        }
        // What has nothing below it is walked to once.
        let mut absent = "";
        for row in rows::ROWS {
            if !absent.is_empty() && row.path.starts_with(absent) {
                continue;
            }
            match find(layer, row.path) {
                Found::Absent(path) => absent = path,
                Found::Leaf(value) => self.set(row, Leaf::Other(value), &mut faults),
                Found::NoObject(path) => {
                    let fault = ValueFault { path, problem: "not an object".to_owned() };
                    if !faults.contains(&fault) {
                        faults.push(fault);
                    }
                }
            }
        }
        faults
    }

    /// The same of a layer whose leaves are found already, in the order of [`Values::PATHS`].
    pub(crate) fn put(&mut self, leaves: &[Option<Node<'_>>]) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        for (row, place) in rows::ROWS.iter().zip(&order::PLACES) {
            match leaves.get(usize::from(*place)).and_then(Option::as_ref) {
                None => {}
                Some(Node::Text(text)) => self.set(row, Leaf::Text(text), &mut faults),
                Some(Node::Value(value)) => self.set(row, Leaf::Other(value), &mut faults),
            }
        }
        faults
    }

    fn set(&mut self, row: &Row, leaf: Leaf<'_>, faults: &mut Vec<ValueFault>) {
        if let Err(problem) = row.set(self, leaf) {
            faults.push(ValueFault { path: row.path.to_owned(), problem });
        }
    }

    /// The dotted paths of the leaves that a layer may have, in the order of their steps.
    pub(crate) const PATHS: &'static [&'static str] = &order::PATHS;

    /// The trust domain of mesh identities.
    #[must_use]
    pub fn trust_domain(&self) -> &str {
        if self.trust_domain.is_empty() { &self.cluster_domain } else { &self.trust_domain }
    }

    /// The version of the proxy image.
    #[must_use]
    pub fn proxy_version(&self) -> &str {
        if self.proxy.image.version.is_empty() { &self.linkerd_version } else { &self.proxy.image.version }
    }
}

/// A port of the proxy by name.
type PortOf = (&'static str, fn(&mut Ports) -> &mut u16);

impl Ports {
    const EACH: [PortOf; 4] = [
        ("control", |p| &mut p.control),
        ("inbound", |p| &mut p.inbound),
        ("admin", |p| &mut p.admin),
        ("outbound", |p| &mut p.outbound),
    ];

    /// Sets back to what is below each port that meets another one, for two listeners on one port never start (D10). Returns the names
    /// of those set back.
    pub(crate) fn part(&mut self, mut below: Ports) -> Vec<&'static str> {
        let mut parted = Vec::new();
        loop {
            let mut now = *self;
            let numbers = Ports::EACH.map(|(_, of)| *of(&mut now));
            let meets = |port: u16| numbers.iter().filter(|n| **n == port).count() > 1;
            let before = parted.len();
            for (name, of) in Ports::EACH {
                let (port, fallback) = (*of(&mut now), *of(&mut below));
                if port != fallback && meets(port) {
                    *of(self) = fallback;
                    parted.push(name);
                }
            }
            if parted.len() == before {
                return parted;
            }
        }
    }
}

impl Image {
    /// `NAME:TAG`, with the control plane's version where none is set.
    #[must_use]
    pub fn reference(&self, linkerd_version: &str) -> String {
        let tag = if self.version.is_empty() { linkerd_version } else { &self.version };
        format!("{}:{tag}", self.name)
    }

    /// The pull policy, that of the mesh where none is set.
    #[must_use]
    pub fn pull_policy<'a>(&'a self, mesh: &'a str) -> &'a str {
        if self.pull_policy.is_empty() { mesh } else { &self.pull_policy }
    }
}

enum Found<'a> {
    /// There is none; where it is not the last step that is missing, the beginning of the path that leads nowhere.
    Absent(&'static str),
    Leaf(&'a Value),
    NoObject(String),
}

/// Walks a dotted path; a `null` on the way is a `null` at its end.
fn find<'a>(layer: &'a Value, path: &'static str) -> Found<'a> {
    let mut at = layer;
    let mut walked = 0_usize;
    for step in path.split('.') {
        let until = walked.saturating_add(step.len());
        match at {
            Value::Null => return Found::Leaf(&Value::Null),
            Value::Object(map) => match map.get(step) {
                None => return Found::Absent(path.get(..=until).unwrap_or_default()),
                Some(next) => at = next,
            },
            _ => return Found::NoObject(path.get(..walked.saturating_sub(1)).unwrap_or_default().to_owned()),
        }
        walked = until.saturating_add(1);
    }
    Found::Leaf(at)
}

#[cfg(test)]
mod tests;
