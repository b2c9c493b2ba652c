//! What the pod's namespace asks of it, and the sidecar does not give.

use super::{Finding, Injection, Scene};
use crate::annotation as key;
use crate::limit_range::{Excess, Gap};
use crate::parse::quantity::{self, Quantity};
use crate::render::container;
use crate::warning::Place;
use crate::workload::{Container, Workload};
use serde_json::Value;

/// Capabilities that the baseline level lets containers add.
const BASELINE: &[&str] = &[
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
/// Those that the restricted level does.
const RESTRICTED: &[&str] = &["NET_BIND_SERVICE"];

/// The namespace's pod security level refuses an injected container.
pub(super) fn pod_security(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let level = scene.namespace.and_then(|n| n.labels.get(key::POD_SECURITY_ENFORCE)).map(String::as_str);
    let Some(level) = level.filter(|level| matches!(*level, "baseline" | "restricted")) else { return Vec::new() };
    let patch = injection.patch;
    let injected = [Some(&patch.init), Some(&patch.proxy), patch.debug.as_ref()].into_iter().flatten().map(Container::of);
    let refused = injected.filter_map(|container| {
        let why = refusal(&container, &scene.pod, level == "restricted")?;
        // Somebody else may redirect the traffic.
        let advice = if container.name() == container::INIT { "; use linkerd-cni" } else { "" };
        Some(Finding::new(Place::Namespace, &[level, container.name(), &format!("{why}{advice}")]))
    });
    refused.collect()
}

/// What the level refuses in a container, as the pod security standards have it; of what an injection may set.
fn refusal(container: &Container<'_>, pod: &Workload<'_>, restricted: bool) -> Option<String> {
    let own = |field: &str| container.security(field);
    let either = |field: &str| own(field).or_else(|| pod.security(field));
    let is = |value: Option<&Value>, expected: bool| value.and_then(Value::as_bool) == Some(expected);
    let names = |list: &str| -> Vec<&str> {
        let names = own("capabilities").and_then(|c| c.get(list)).and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).collect()
    };
    if is(own("privileged"), true) {
        return Some("it is privileged".to_owned());
    }
    let allowed = if restricted { RESTRICTED } else { BASELINE };
    let added: Vec<&str> = names("add").into_iter().filter(|name| !allowed.contains(name)).collect();
    if !added.is_empty() {
        return Some(format!("it adds {}", added.join(" and ")));
    }
    let seccomp = either("seccompProfile").and_then(|p| p.get("type")).and_then(Value::as_str);
    if seccomp == Some("Unconfined") {
        return Some("its seccompProfile is Unconfined".to_owned());
    }
    if !restricted {
        return None;
    }
    let faults = [
        (!is(own("allowPrivilegeEscalation"), false), "allowPrivilegeEscalation is not false"),
        (!names("drop").contains(&"ALL"), "it does not drop ALL"),
        (!is(either("runAsNonRoot"), true), "runAsNonRoot is not true"),
        (either("runAsUser").and_then(Value::as_i64) == Some(0), "runAsUser is 0"),
        (seccomp.is_none(), "it has no seccompProfile"),
    ];
    faults.iter().find(|(wrong, _)| *wrong).map(|(_, why)| (*why).to_owned())
}

/// A user that OpenShift refuses.
pub(super) fn uid_out_of_range(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let Some((Some(range), text)) = injection.uid_range else { return Vec::new() };
    let uid = injection.values.proxy.uid;
    if range.contains(uid) { Vec::new() } else { vec![Finding::new(Place::Pod, &[&uid.to_string(), text])] }
}

/// A range that gives no user.
pub(super) fn uid_range(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    match injection.uid_range {
        Some((range, _)) if range.is_none_or(|range| range.of_proxy().is_none()) => vec![Finding::new(Place::Namespace, &[])],
        _ => Vec::new(),
    }
}

/// Limit ranges that could not be read.
pub(super) fn limit_ranges_unread(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    injection.limits.unreadable.iter().map(|error| Finding::new(Place::Namespace, &[error])).collect()
}

/// What limit ranges changed.
pub(super) fn limit_range(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let changes = injection.limits.changes.iter().map(|change| {
        let (does, from) = match &change.from {
            Some(from) if change.raised => ("raises", format!("from {from} ")),
            Some(from) => ("lowers", format!("from {from} ")),
            None => ("sets", String::new()),
        };
        Finding::new(
            Place::Namespace,
            &[does, &format!("{}'s", container::called(change.container)), change.resource, change.which, &from, &change.to],
        )
    });
    changes.collect()
}

/// What they ask of a container, and nothing gives.
pub(super) fn limit_range_unmet(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let found = |Gap { container, why }: &Gap| Finding::new(Place::Namespace, &[container, why]);
    injection.limits.gaps.iter().map(found).collect()
}

/// What they allow a pod, and the pod exceeds.
pub(super) fn limit_range_of_pods(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let found = |Excess { resource, which, sum, bound }: &Excess| Finding::new(Place::Pod, &[resource, which, sum, bound]);
    injection.limits.excesses.iter().map(found).collect()
}

/// A pod whose containers all have what an injected one lacks: limits of CPU and memory, and requests that are equal.
pub(super) fn quality_of_service(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let Some(lacking) = alone_without(scene, injection, is_guaranteed) else { return Vec::new() };
    let refused = if alone_without(scene, injection, is_limited).is_some() { ", and refused by quotas on limits" } else { "" };
    vec![Finding::new(Place::Pod, &[refused, lacking])]
}

/// A pod whose containers all have limits, and an injected one none. No quota can be read; that all have both is a sign of one, where
/// a limit of memory alone is mere custom.
pub(super) fn quota(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    if alone_without(scene, injection, is_guaranteed).is_some() {
        return Vec::new();
    }
    let lacking = alone_without(scene, injection, is_limited);
    lacking.map(|lacking| Finding::new(Place::Pod, &[lacking])).into_iter().collect()
}

/// The injected container that is not as all others are. Where LimitRanger gave the pod its resources, it gives the sidecar the same.
fn alone_without(scene: &Scene<'_>, injection: &Injection<'_>, is: fn(&Container<'_>) -> bool) -> Option<&'static str> {
    // Of a pod that has resources as a whole, only these count.
    let all = scene.pod.annotation(key::LIMIT_RANGER).is_none()
        && scene.pod.spec("resources").is_none()
        && scene.pod.containers().next().is_some()
        && scene.pod.containers().all(|container| is(&container));
    let patch = injection.patch;
    let lacks = |containers: &[Option<&Value>]| containers.iter().flatten().any(|container| !is(&Container::of(container)));
    match all {
        true if lacks(&[Some(&patch.init), Some(&patch.proxy)]) => Some(container::called(container::PROXY)),
        true if lacks(&[patch.debug.as_ref()]) => Some(container::called(container::DEBUG)),
        _ => None,
    }
}

fn is_limited(container: &Container<'_>) -> bool {
    ["cpu", "memory"].iter().all(|resource| container.amount("limits", resource).is_some())
}

fn is_guaranteed(container: &Container<'_>) -> bool {
    let amount = |list: &str, resource: &str| -> Option<Quantity> { quantity::resource(&container.amount(list, resource)?).ok() };
    ["cpu", "memory"].into_iter().all(|resource| {
        let Some(limit) = amount("limits", resource).filter(|limit| limit.thousandths() != Some(0)) else { return false };
        container.amount("requests", resource).is_none() || amount("requests", resource) == Some(limit)
    })
}
