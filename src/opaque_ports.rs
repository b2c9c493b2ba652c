//! The opaque-ports annotation of objects that have none.
//!
//! In: an object, its namespace's annotation, the mesh's default list. Out: the annotation's text, when one is due.
//! Source: `CreateOpaquePortsPatch` and `FilterPodOpaquePorts` in `pkg/inject/inject.go` of linkerd/linkerd2.

use crate::parse::ports::{self, PortRange};
use crate::workload::{Kind, Workload, port_number};
use serde_json::Value;

/// Whether the object exposes any port that could be opaque by default.
#[must_use]
pub fn exposes_ports(object: &Workload<'_>) -> bool {
    match object.kind() {
        Kind::Pod => object.container_ports().next().is_some(),
        Kind::Service => !object.service_ports().is_empty(),
    }
}

/// The ports of the object that are opaque by default, in order and each once (D09); `None` when there is none.
#[must_use]
pub fn exposed(object: &Workload<'_>, defaults: &str) -> Option<String> {
    let defaults = ports::list(defaults, &|_| None).ranges;
    let mut exposed: Vec<u16> = Vec::new();
    let candidates: Vec<u16> = match object.kind() {
        Kind::Pod => object.container_ports().filter(|p| contains(&defaults, *p)).collect(),
        Kind::Service => object.service_ports().iter().filter_map(|p| service_port(p, &defaults)).collect(),
    };
    for port in candidates {
        if !exposed.contains(&port) {
            exposed.push(port);
        }
    }
    let texts: Vec<String> = exposed.iter().map(u16::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

fn contains(ranges: &[PortRange], port: u16) -> bool {
    ranges.iter().any(|r| (r.low..=r.high).contains(&port))
}

/// A service's port is opaque by what it leads to: its target, or itself where it names none. A named target cannot be resolved.
fn service_port(port: &Value, defaults: &[PortRange]) -> Option<u16> {
    let number = port_number(port.get("port"))?;
    let target = match port.get("targetPort") {
        None | Some(Value::Null) => number,
        Some(target) if target.as_u64() == Some(0) => number,
        Some(target) => port_number(Some(target))?,
    };
    contains(defaults, target).then_some(number)
}

#[cfg(test)]
mod tests;
