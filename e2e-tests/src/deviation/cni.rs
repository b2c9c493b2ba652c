//! What linkerd-cni reads of a pod (D38).

use super::object::set_metadata;
use super::read::go_ports;
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, ports, resources, times};
use std::collections::BTreeMap;

/// What the pod inherits of that and is not written as linkerd-cni reads it: the annotation, and how it has to be.
fn rewritten(case: &Reading) -> Vec<(&'static str, String)> {
    let ports = |key: &str, named: &BTreeMap<String, i64>| go_ports(case.of_namespace(key).unwrap_or_default(), named).join(",");
    let gid = resources::gid(case);
    let meant = [
        ("config.linkerd.io/skip-inbound-ports", ports("config.linkerd.io/skip-inbound-ports", &ports::named(case))),
        ("config.linkerd.io/skip-outbound-ports", ports("config.linkerd.io/skip-outbound-ports", &BTreeMap::new())),
        ("config.linkerd.io/skip-subnets", times::skipped_subnets(case).2),
        ("config.linkerd.io/proxy-uid", resources::uid(case).to_string()),
        ("config.linkerd.io/proxy-gid", if gid < 0 { String::new() } else { gid.to_string() }),
    ];
    let inherits = |key: &str| case.own(key).is_none() && case.of_namespace(key).is_some();
    // An empty text would be taken for none.
    let differs = |(key, text): &(&str, String)| !text.is_empty() && inherits(key) && case.of_namespace(key) != Some(text);
    meant.into_iter().filter(differs).collect()
}

/// D38: in CNI mode, the pod's annotations say what is meant.
pub fn d38_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && case.value_is_true("/cniEnabled") && !rewritten(case).is_empty()
}

/// Writes them so.
pub fn d38_apply(case: &Reading, expected: &mut Expected) {
    for (key, text) in rewritten(case) {
        set_metadata(&mut expected.object, "annotations", key, &text);
    }
}
