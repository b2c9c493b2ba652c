//! The opaque-ports annotation of objects that have none.
//!
//! In: an object, its namespace's annotation, the mesh's default list. Out: the annotation's text, when one is due.
//! Source: `CreateOpaquePortsPatch` and `FilterPodOpaquePorts` in `pkg/inject/inject.go` of linkerd/linkerd2.

use crate::parse::ports::{self, PortRange};
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
    let defaults = apart(ports::list(defaults, &|_| None).ranges);
    let (mut exposed, mut seen): (Vec<u16>, BTreeSet<u16>) = (Vec::new(), BTreeSet::new());
    let candidates: Vec<u16> = match object.kind() {
        Kind::Pod => object.container_ports().filter(|p| contains(&defaults, *p)).collect(),
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

/// The same ports in ranges that neither meet nor overlap, in order.
fn apart(mut ranges: Vec<PortRange>) -> Vec<PortRange> {
    ranges.sort_unstable_by_key(|range| range.low);
    let mut apart: Vec<PortRange> = Vec::new();
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.low <= last.high => last.high = last.high.max(range.high),
            _ => apart.push(range),
        }
    }
    apart
}

fn contains(apart: &[PortRange], port: u16) -> bool {
    let after = apart.partition_point(|range| range.low <= port);
    after.checked_sub(1).and_then(|at| apart.get(at)).is_some_and(|range| port <= range.high)
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
