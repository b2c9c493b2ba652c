//! Opaque ports (D09): which exposed ports are opaque by default, and what the proxy gets.

use super::object::set_env;
use super::read::{go_port_range, go_ports, proxy_ports};
use super::reading::{LinkerdResult, Outcome, Reading};
use super::{Expected, decide, ports};
use serde_json::Value;

/// The annotation.
pub const KEY: &str = "config.linkerd.io/opaque-ports";
const ENV: &str = "LINKERD2_PROXY_INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION";
const VALUES: &str = "/proxy/opaquePorts";

/// The exposed ports that Linkerd finds in the configured list, comparing text.
pub fn linkerd_default(case: &Reading) -> Option<String> {
    let listed: Vec<&str> = case.value_text(VALUES).split(',').collect();
    joined(
        exposed(case)
            .filter(|(_, matched)| listed.contains(&matched.to_string().as_str()))
            .map(|(port, _)| port.to_string())
            .collect(),
    )
}

/// The exposed ports that lie in a configured range, each once.
fn default(case: &Reading) -> Option<String> {
    let ranges: Vec<(i64, i64)> = case.value_text(VALUES).split(',').filter_map(|entry| go_port_range(entry.trim())).collect();
    let hits =
        exposed(case).filter(|(_, matched)| *matched > 0 && ranges.iter().any(|(low, high)| (low..=high).contains(&matched)));
    let mut unique = Vec::new();
    for (port, _) in hits {
        if !unique.contains(&port.to_string()) {
            unique.push(port.to_string());
        }
    }
    joined(unique)
}

fn joined(ports: Vec<String>) -> Option<String> {
    (!ports.is_empty()).then(|| ports.join(","))
}

/// The ports that the object exposes, each with the port that must be listed for it to be opaque.
fn exposed(case: &Reading) -> impl Iterator<Item = (i64, i64)> {
    let number = |port: &Value, key: &str| port.get(key).and_then(Value::as_i64).unwrap_or(0);
    let is_service = case.request.kind == "Service";
    let of_service = case.spec_list("ports").filter(move |_| is_service).map(move |port| {
        let target = port.get("targetPort").filter(|target| !target.is_null() && **target != 0);
        (number(port, "port"), target.map_or_else(|| number(port, "port"), |target| target.as_i64().unwrap_or(0)))
    });
    let of_pod =
        case.containers().filter(move |_| !is_service).filter_map(|container| container.get("ports")?.as_array()).flatten();
    of_service.chain(of_pod.map(move |port| (number(port, "containerPort"), number(port, "containerPort"))))
}

/// What stands in the annotation when nobody wrote one.
fn own_default(case: &Reading) -> Option<Option<String>> {
    case.text(KEY).is_none().then(|| default(case))
}

/// What Linkerd gives the proxy, and what we give it.
fn env(case: &Reading) -> (String, String) {
    let named = ports::named(case);
    let configured = case.value_text(VALUES);
    let of = |text: Option<String>, fallback: String| text.map_or(fallback, |text| go_ports(&text, &named).join(","));
    let written = case.text(KEY).map(str::to_owned);
    let readable: Vec<&str> =
        configured.split(',').map(str::trim).filter(|entry| !entry.is_empty() && proxy_ports(entry)).collect();
    let fallback = if proxy_ports(configured) { configured.to_owned() } else { readable.join(",") };
    (of(written.clone().or_else(|| linkerd_default(case)), configured.to_owned()), of(written.or_else(|| default(case)), fallback))
}

/// D09: the configured list is a list of ranges, and a port is named once.
pub fn d09_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let annotation = own_default(case).is_some_and(|default| default != linkerd_default(case));
    let (linkerd, ours) = env(case);
    case.request.sub_resource.is_empty() && (annotation || (decide::injects(case) && linkerd != ours))
}

/// Sets the annotation and the variable.
pub fn d09_apply(case: &Reading, expected: &mut Expected) {
    if let Some(default) = own_default(case) {
        expected.annotate_opaque_ports(default.as_deref());
    }
    if expected.outcome == Outcome::Injected {
        let (_, ours) = env(case);
        set_env(&mut expected.object, ENV, Some(ours.as_str()).filter(|ports| !ports.is_empty()), &[]);
    }
}

/// Whether a pod that is not meshed gets the annotation.
pub fn annotates(case: &Reading) -> bool {
    let inherits = case.of_namespace(KEY).is_some() || default(case).is_some();
    case.request.kind == "Pod" && case.request.sub_resource.is_empty() && case.own(KEY).is_none() && inherits
}

/// Whether the proxy gets any opaque port.
pub fn is_set(case: &Reading) -> bool {
    !env(case).1.is_empty()
}
