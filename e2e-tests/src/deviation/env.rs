//! Additional variables of the proxy: entries that the API server refuses (D26, D34), that the proxy cannot read (D27)
//! or run with (D33), that do not fit together (D35), names that are there already (D16), and a variable that Linkerd
//! loses (D21).

use super::object::{self, PROXY, VALIDATOR, set_env};
use super::read::proxy_ports;
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, numbers, opaque, readable, resources, times, variable};
use serde_json::{Map, Value};

const ANNOTATION: &str = "config.linkerd.io/proxy-additional-env";
const REQUIRE_TLS: &str = "LINKERD2_PROXY_INBOUND_PORTS_REQUIRE_TLS";

/// Whether an entry stays, in the pod of the case.
type Keep = fn(&Reading, &Value) -> bool;

/// What is left of the additional variables after each of these entries of the table.
const STEPS: [(&str, Keep); 5] = [
    ("", |_, _| true),
    ("D26", |_, entry| variable::is_valid(entry)),
    ("D34", |case, entry| variable::is_valid(entry) && variable::is_plain(case, entry)),
    ("D27", |case, entry| variable::is_valid(entry) && variable::is_plain(case, entry) && readable::is_readable(entry)),
    ("D33", keep_all_good),
];

fn keep_all_good(case: &Reading, entry: &Value) -> bool {
    variable::is_valid(entry) && variable::is_plain(case, entry) && readable::is_readable(entry) && readable::is_usable(entry)
}

/// What is added behind the variables that are always there: values, namespace and pod, merged by name, and then the
/// experimental ones.
fn added(case: &Reading, keep: Keep) -> Vec<Value> {
    let keep = |entry: &Value| keep(case, entry);
    let values = |key: &str| variable::entries(case.value(&format!("/proxy/{key}"))).unwrap_or_default().into_iter().filter(keep);
    let mut merged: Vec<Value> = values("additionalEnv").collect();
    for text in [case.of_namespace(ANNOTATION), case.own(ANNOTATION)].into_iter().flatten() {
        let layer = serde_json::from_str(text).ok().and_then(|list: Value| variable::entries(&list));
        for entry in layer.into_iter().flatten().filter(keep) {
            match merged.iter_mut().find(|other| other.get("name") == entry.get("name")) {
                Some(other) => *other = entry,
                None => merged.push(entry),
            }
        }
    }
    merged.extend(values("experimentalEnv"));
    merged
}

/// Replaces the added variables, keeping Linkerd's form of those that stay.
fn set_added(object: &mut Value, before: &[Value], after: Vec<Value>) {
    let Some(env) = object::container(object, PROXY).and_then(|proxy| proxy.get_mut("env")?.as_array_mut()) else { return };
    let rendered = env.split_off(env.len().saturating_sub(before.len()));
    env.extend(after.into_iter().map(|entry| {
        let same = before.iter().position(|other| *other == entry);
        same.and_then(|at| rendered.get(at)).cloned().unwrap_or(entry)
    }));
}

/// The added variables before and after an entry of the table.
fn around(case: &Reading, id: &str) -> (Vec<Value>, Vec<Value>) {
    let mut steps = STEPS.iter().zip(STEPS.iter().skip(1));
    let around =
        steps.find(|(_, (step, _))| *step == id).map(|((_, before), (_, after))| (added(case, *before), added(case, *after)));
    around.unwrap_or_default()
}

/// Whether the entry of the table leaves out any additional variable.
pub fn applies(case: &Reading, id: &str) -> bool {
    let (before, after) = around(case, id);
    before != after
}

/// Leaves them out.
pub fn apply(case: &Reading, object: &mut Value, id: &str) {
    let (before, after) = around(case, id);
    set_added(object, &before, after);
}

/// D33: what the proxy reads but cannot run with is left out.
pub fn d33_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && applies(case, "D33")
}

/// Leaves it out.
pub fn d33_apply(case: &Reading, expected: &mut Expected) {
    apply(case, &mut expected.object, "D33");
}

/// D34: sources that the API server takes only in some form, or of some pods.
pub fn d34_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && applies(case, "D34")
}

/// Leaves them out.
pub fn d34_apply(case: &Reading, expected: &mut Expected) {
    apply(case, &mut expected.object, "D34");
}

/// The added variables without those of a group that does not fit together.
fn fitting(case: &Reading) -> Vec<Value> {
    let all = added(case, keep_all_good);
    let conflicts = readable::conflicts(case, &all);
    all.into_iter().filter(|entry| !conflicts.iter().any(|name| object::is_named(entry, name))).collect()
}

/// D35: variables that can only be read together fit together.
pub fn d35_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && added(case, keep_all_good) != fitting(case)
}

/// Leaves the additional ones of the group out.
pub fn d35_apply(case: &Reading, expected: &mut Expected) {
    set_added(&mut expected.object, &added(case, keep_all_good), fitting(case));
}

/// The names of the variables that are rendered whatever the configuration.
const ALWAYS: &[&str] = &[
    "_l5d_ns",
    "_l5d_trustdomain",
    "_pod_containerName",
    "_pod_ip",
    "_pod_name",
    "_pod_nodeName",
    "_pod_ns",
    "_pod_sa",
    "_pod_uid",
    "LINKERD2_PROXY_ADMIN_LISTEN_ADDR",
    "LINKERD2_PROXY_CONTROL_LISTEN_ADDR",
    "LINKERD2_PROXY_CONTROL_STREAM_IDLE_TIMEOUT",
    "LINKERD2_PROXY_CONTROL_STREAM_INITIAL_TIMEOUT",
    "LINKERD2_PROXY_CONTROL_STREAM_LIFETIME",
    "LINKERD2_PROXY_DESTINATION_CONTEXT",
    "LINKERD2_PROXY_DESTINATION_PROFILE_NETWORKS",
    "LINKERD2_PROXY_DESTINATION_PROFILE_SUFFIXES",
    "LINKERD2_PROXY_DESTINATION_SVC_ADDR",
    "LINKERD2_PROXY_DESTINATION_SVC_NAME",
    "LINKERD2_PROXY_IDENTITY_DIR",
    "LINKERD2_PROXY_IDENTITY_LOCAL_NAME",
    "LINKERD2_PROXY_IDENTITY_SVC_ADDR",
    "LINKERD2_PROXY_IDENTITY_SVC_NAME",
    "LINKERD2_PROXY_IDENTITY_TOKEN_FILE",
    "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS",
    "LINKERD2_PROXY_INBOUND_ACCEPT_KEEPALIVE",
    "LINKERD2_PROXY_INBOUND_ACCEPT_USER_TIMEOUT",
    "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY",
    "LINKERD2_PROXY_INBOUND_IPS",
    "LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_INBOUND_PORTS",
    "LINKERD2_PROXY_LOG",
    "LINKERD2_PROXY_LOG_FORMAT",
    "LINKERD2_PROXY_OUTBOUND_CONNECT_KEEPALIVE",
    "LINKERD2_PROXY_OUTBOUND_CONNECT_USER_TIMEOUT",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS",
    "LINKERD2_PROXY_OUTBOUND_METRICS_HOSTNAME_LABELS",
    "LINKERD2_PROXY_POLICY_CLUSTER_NETWORKS",
    "LINKERD2_PROXY_POLICY_SVC_ADDR",
    "LINKERD2_PROXY_POLICY_SVC_NAME",
    "LINKERD2_PROXY_POLICY_WORKLOAD",
    "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED",
];

/// The names of the variables that only some pods have.
fn sometimes(case: &Reading) -> Vec<String> {
    let annotation = |key: &str| case.text(&format!("config.linkerd.io/{key}"));
    let is_on = |key, pointer| annotation(key).and_then(super::read::go_bool).unwrap_or_else(|| case.value_is_true(pointer));
    let has_text = |key, pointer| !annotation(key).unwrap_or_else(|| case.value_text(pointer)).is_empty();
    let ingress = case.text("linkerd.io/inject") == Some("ingress") || case.value_is_true("/proxy/isIngress");
    let mut names: Vec<String> = resources::core_counts(case).into_iter().map(|(name, _)| name.to_owned()).collect();
    names.extend(numbers::parameters(case).into_iter().map(|(name, _)| name));
    names.extend(times::variables(case).map(str::to_owned));
    let of_traces = [
        "ATTRIBUTES_PATH",
        "ANNOTATIONS_PATH",
        "PROTOCOL",
        "SERVICE_NAME",
        "COLLECTOR_SVC_ADDR",
        "COLLECTOR_SVC_NAME",
        "EXTRA_ATTRIBUTES",
    ];
    names.extend(of_traces.iter().filter(|_| resources::traces(case)).map(|name| format!("LINKERD2_PROXY_TRACE_{name}")));
    let flags = [
        ("CORES_MAX_RATIO", resources::ratio(case).is_some()),
        ("INBOUND_PORTS_REQUIRE_IDENTITY", times::required_identity(case).is_some()),
        ("INBOUND_PORTS_REQUIRE_TLS", required_tls(case).is_some()),
        (
            "OUTBOUND_DETECT_TIMEOUT",
            is_on("proxy-disable-outbound-protocol-detect-timeout", "/proxy/disableOutboundProtocolDetectTimeout"),
        ),
        (
            "INBOUND_DETECT_TIMEOUT",
            is_on("proxy-disable-inbound-protocol-detect-timeout", "/proxy/disableInboundProtocolDetectTimeout"),
        ),
        ("INBOUND_GATEWAY_SUFFIXES", is_on("enable-gateway", "/proxy/isGateway")),
        ("INGRESS_MODE", ingress),
        ("INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION", opaque::is_set(case)),
        ("ACCESS_LOG", has_text("access-log", "/proxy/accessLog")),
    ];
    names.extend(flags.into_iter().filter(|(_, there)| *there).map(|(name, _)| format!("LINKERD2_PROXY_{name}")));
    names
}

/// D16: a name that is there already is replaced where it is.
pub fn d16_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let names: Vec<Value> = fitting(case).into_iter().filter_map(|entry| entry.get("name").cloned()).collect();
    let rendered = sometimes(case);
    let is_rendered = |name: &str| ALWAYS.contains(&name) || rendered.iter().any(|other| other == name);
    let is_there =
        |(at, name): (usize, &Value)| name.as_str().is_some_and(is_rendered) || names.iter().take(at).any(|other| other == name);
    decide::injects(case) && names.iter().enumerate().any(is_there)
}

/// Puts each variable where the first of its name is.
pub fn d16_apply(_: &Reading, expected: &mut Expected) {
    let Some(env) = object::container(&mut expected.object, PROXY).and_then(|proxy| proxy.get_mut("env")?.as_array_mut()) else {
        return;
    };
    let mut unique: Vec<Value> = Vec::with_capacity(env.len());
    for entry in env.drain(..) {
        match unique.iter_mut().find(|other| other.get("name") == entry.get("name")) {
            Some(other) => *other = entry,
            None => unique.push(entry),
        }
    }
    *env = unique;
}

fn required_tls(case: &Reading) -> Option<&str> {
    Some(case.value_text("/proxy/requireTLSOnInboundPorts")).filter(|ports| !ports.is_empty() && proxy_ports(ports))
}

fn has_no_context(case: &Reading) -> bool {
    case.value_is_true("/cniEnabled") && case.value("/networkValidator/enableSecurityContext") == &Value::Bool(false)
}

/// D21: values that Linkerd's injector does not know are honoured.
pub fn d21_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && (has_no_context(case) || required_tls(case).is_some())
}

/// Adds the variable, takes the security context away.
pub fn d21_apply(case: &Reading, expected: &mut Expected) {
    let before = ["_pod_containerName", "CORES", "CORES_MIN", "CORES_MAX", "CORES_MAX_RATIO", "INBOUND_PORTS_REQUIRE_IDENTITY"];
    let before = before.map(|name| if name.starts_with('_') { name.to_owned() } else { format!("LINKERD2_PROXY_{name}") });
    if let Some(ports) = required_tls(case) {
        set_env(&mut expected.object, REQUIRE_TLS, Some(ports), &before.each_ref().map(String::as_str));
    }
    if let Some(validator) =
        object::container(&mut expected.object, VALIDATOR).and_then(Value::as_object_mut).filter(|_| has_no_context(case))
    {
        *validator = std::mem::take(validator).into_iter().filter(|(key, _)| key != "securityContext").collect::<Map<_, _>>();
    }
}
