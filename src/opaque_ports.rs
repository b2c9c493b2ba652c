//! The opaque-ports annotation of objects that have none.
//!
//! In: an object, its namespace's annotation, the mesh's default list. Out: the annotation's text, when one is due.
//! Source: `CreateOpaquePortsPatch` and `FilterPodOpaquePorts` in `pkg/inject/inject.go` of linkerd/linkerd2.

use crate::parse::ports::{self, PortSet};
use crate::workload::{Kind, Workload, port_number};
use serde_json::Value;
use std::collections::BTreeSet;

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
    let defaults = PortSet::of(ports::list(defaults, &|_| None).ranges);
    let (mut exposed, mut seen): (Vec<u16>, BTreeSet<u16>) = (Vec::new(), BTreeSet::new());
    let candidates: Vec<u16> = match object.kind() {
        Kind::Pod => object.container_ports().filter(|p| defaults.contains(*p)).collect(),
        Kind::Service => object.service_ports().iter().filter_map(|p| service_port(p, &defaults)).collect(),
    };
    for port in candidates {
        if seen.insert(port) {
            exposed.push(port);
        }
    }
    let texts: Vec<String> = exposed.iter().map(u16::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

/// A service's port is opaque by what it leads to: its target, or itself where it names none. A named target cannot be resolved.
fn service_port(port: &Value, defaults: &PortSet) -> Option<u16> {
    let number = port_number(port.get("port"))?;
    let target = match port.get("targetPort") {
        None | Some(Value::Null) => number,
        Some(target) if target.as_u64() == Some(0) => number,
        Some(target) => port_number(Some(target))?,
    };
    defaults.contains(target).then_some(number)
}

#[cfg(test)]
mod tests;
