//! The environment of the proxy, in the order in which it is read: a variable may refer only to those before it.
//!
//! Source: `charts/partials/templates/_proxy.tpl` of linkerd/linkerd2, top to bottom.

use super::{Mesh, Variable, container};
use crate::parse::{env_entry, ports, proxy_env, ratio};
use crate::values::{Values, Workers, parameters};
use crate::warning::{Place, Warning};
use crate::workload::Workload;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A list of variables that grows from top to bottom.
#[derive(Default)]
struct Env(Vec<Variable>);

impl Env {
    /// A variable of the proxy's; the name is without its common prefix.
    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.plain(["LINKERD2_PROXY_", name].concat(), value.into());
    }

    /// The same, where an empty text means that it is not set.
    fn set_unless_empty(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.set(name, value);
        }
    }

    fn plain(&mut self, name: String, value: String) {
        self.0.push(Variable::Text { name, value });
    }

    fn field(&mut self, name: &'static str, path: &'static str) {
        self.0.push(Variable::Field { name, path });
    }
}

/// The environment with the entries that values and annotations add: one of a rendered name takes its place (D16), and one that
/// does not go together with the others is left out and named (D35).
pub(super) fn complete(values: &Values, pod: &Workload<'_>, mesh: &Mesh<'_>) -> (Vec<Variable>, Vec<Warning>) {
    let Env(env) = environment(values, pod, mesh);
    let mut added: Vec<&Value> = values.proxy.additional_env.iter().chain(&values.proxy.experimental_env).collect();
    let mut warnings = Vec::new();
    while let Some((group, unfit)) = misfit(&env, &added) {
        added.retain(|entry| !unfit.iter().any(|name| name_of(entry) == name));
        for name in unfit {
            let place = mesh.added_by.get(&name).cloned().unwrap_or(Place::Configuration);
            warnings.push(Warning::unused_unseen(place, format!("without {name}, which makes {}", group.misfit)));
        }
    }
    if added.is_empty() {
        return (env, warnings);
    }
    let added: Vec<Value> = added.into_iter().cloned().collect();
    let mut entries = env.into_iter().map(Variable::into_value).collect();
    env_entry::lay_over(&mut entries, added);
    (entries.into_iter().map(Variable::Given).collect(), warnings)
}

/// The first group of variables that the proxy cannot read together, with those of them that were added; `None` when there is no
/// such group, or nothing was added to blame.
fn misfit(env: &[Variable], added: &[&Value]) -> Option<(&'static proxy_env::Group, Vec<String>)> {
    if added.is_empty() {
        return None;
    }
    let value = |name: &str| {
        if let Some(entry) = added.iter().rev().find(|e| name_of(e) == name) {
            let is_elsewhere = entry.get("valueFrom").is_some();
            return Some(if is_elsewhere { ELSEWHERE } else { entry.get("value").and_then(Value::as_str).unwrap_or_default() });
        }
        env.iter().find(|variable| variable.name() == name).map(|variable| match variable {
            Variable::Text { value, .. } => value.as_str(),
            Variable::Field { .. } | Variable::Given(_) => ELSEWHERE,
        })
    };
    proxy_env::conflicts(&value).find_map(|group| {
        let blamed = |name: &&&str| added.iter().any(|e| name_of(e) == **name);
        let unfit: Vec<String> = group.variables.iter().filter(blamed).map(|name| (*name).to_owned()).collect();
        (!unfit.is_empty()).then_some((group, unfit))
    })
}

/// A value that is not known here.
const ELSEWHERE: &str = "$(elsewhere)";

fn name_of(entry: &Value) -> &str {
    entry.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn environment(values: &Values, pod: &Workload<'_>, mesh: &Mesh<'_>) -> Env {
    let mut env = Env::default();
    env.field("_pod_name", "metadata.name");
    env.field("_pod_ns", "metadata.namespace");
    env.field("_pod_uid", "metadata.uid");
    env.field("_pod_ip", "status.podIP");
    env.field("_pod_nodeName", "spec.nodeName");
    env.plain("_pod_containerName".to_owned(), container::PROXY.to_owned());
    workers(&mut env, values);
    logs_and_control_plane(&mut env, values, mesh);
    timeouts(&mut env, values);
    listeners(&mut env, values, pod);
    fixed_timings(&mut env, values);
    tracing(&mut env, values, mesh);
    parameters(&mut env, "inbound", &values.proxy.inbound);
    parameters(&mut env, "outbound", &values.proxy.outbound);
    env.set_unless_empty("INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION", &opaque_ports(values, pod, mesh));
    env.set("DESTINATION_CONTEXT", "{\"ns\":\"$(_pod_ns)\", \"nodeName\":\"$(_pod_nodeName)\", \"pod\":\"$(_pod_name)\"}\n");
    identity(&mut env, values, mesh);
    env.set_unless_empty("ACCESS_LOG", &values.proxy.access_log);
    env.set_unless_empty("SHUTDOWN_GRACE_PERIOD", &values.proxy.shutdown_grace_period);
    env
}

fn workers(env: &mut Env, values: &Values) {
    let proxy = &values.proxy;
    if proxy.cores != 0 {
        env.set("CORES", proxy.cores.to_string());
        env.set("CORES_MIN", proxy.cores.to_string());
        return;
    }
    // Where nothing is said of workers, the proxy decides.
    if proxy.workers == Workers::default() {
        return;
    }
    let minimum = if proxy.workers.minimum == 0 { 1 } else { proxy.workers.minimum };
    env.set("CORES", minimum.to_string());
    env.set("CORES_MIN", minimum.to_string());
    if proxy.workers.maximum != 0 {
        env.set("CORES_MAX", proxy.workers.maximum.to_string());
    }
    if proxy.workers.maximum_cpu_ratio != 0.0 {
        env.set("CORES_MAX_RATIO", ratio::format(proxy.workers.maximum_cpu_ratio));
    }
}

fn logs_and_control_plane(env: &mut Env, values: &Values, mesh: &Mesh<'_>) {
    let proxy = &values.proxy;
    let service = |name: &str, port: u16| format!("{name}.{}.svc.{}.:{port}", mesh.control_plane, values.cluster_domain);
    env.set_unless_empty("INBOUND_PORTS_REQUIRE_IDENTITY", &proxy.require_identity_on_inbound_ports);
    // No field of Linkerd's values holds it (D21).
    env.set_unless_empty("INBOUND_PORTS_REQUIRE_TLS", &proxy.require_tls_on_inbound_ports);
    env.set("SHUTDOWN_ENDPOINT_ENABLED", proxy.enable_shutdown_endpoint.to_string());
    let headers = if proxy.log_http_headers == "insecure" { "" } else { ",[{headers}]=off,[{request}]=off" };
    env.set("LOG", format!("{}{headers}", proxy.log_level));
    env.set("LOG_FORMAT", &proxy.log_format);
    env.set("DESTINATION_SVC_ADDR", service("linkerd-dst-headless", 8086));
    env.set("DESTINATION_PROFILE_NETWORKS", &values.cluster_networks);
    env.set("POLICY_SVC_ADDR", service("linkerd-policy", 8090));
    env.set("POLICY_WORKLOAD", "{\"ns\":\"$(_pod_ns)\", \"pod\":\"$(_pod_name)\"}\n");
    env.set("INBOUND_DEFAULT_POLICY", &proxy.default_inbound_policy);
    env.set("POLICY_CLUSTER_NETWORKS", &values.cluster_networks);
    env.set("CONTROL_STREAM_INITIAL_TIMEOUT", &proxy.control_streams.initial_timeout);
    env.set("CONTROL_STREAM_IDLE_TIMEOUT", &proxy.control_streams.idle_timeout);
    env.set("CONTROL_STREAM_LIFETIME", &proxy.control_streams.lifetime);
}

fn timeouts(env: &mut Env, values: &Values) {
    let proxy = &values.proxy;
    env.set_unless_empty("INBOUND_CONNECT_TIMEOUT", &proxy.inbound_connect_timeout);
    env.set_unless_empty("OUTBOUND_CONNECT_TIMEOUT", &proxy.outbound_connect_timeout);
    env.set_unless_empty("OUTBOUND_DISCOVERY_IDLE_TIMEOUT", &proxy.outbound_discovery_cache_unused_timeout);
    env.set_unless_empty("INBOUND_DISCOVERY_IDLE_TIMEOUT", &proxy.inbound_discovery_cache_unused_timeout);
    // The proxy has no way to have no timeout; a year is longer than a connection.
    if proxy.disable_outbound_protocol_detect_timeout {
        env.set("OUTBOUND_DETECT_TIMEOUT", "365d");
    }
    if proxy.disable_inbound_protocol_detect_timeout {
        env.set("INBOUND_DETECT_TIMEOUT", "365d");
    }
}

fn listeners(env: &mut Env, values: &Values, pod: &Workload<'_>) {
    let proxy = &values.proxy;
    let any = if values.disable_ipv6 { "0.0.0.0" } else { "[::]" };
    let outbound = format!("127.0.0.1:{}", proxy.ports.outbound);
    let both = if values.disable_ipv6 { outbound.clone() } else { format!("{outbound},[::1]:{}", proxy.ports.outbound) };
    env.set("CONTROL_LISTEN_ADDR", format!("{any}:{}", proxy.ports.control));
    env.set("ADMIN_LISTEN_ADDR", format!("{any}:{}", proxy.ports.admin));
    env.set("OUTBOUND_LISTEN_ADDR", outbound);
    env.set("OUTBOUND_LISTEN_ADDRS", both);
    env.set("INBOUND_LISTEN_ADDR", format!("{any}:{}", proxy.ports.inbound));
    env.field("LINKERD2_PROXY_INBOUND_IPS", "status.podIPs");
    env.set("INBOUND_PORTS", inbound_ports(values, pod));
    let internal = format!("svc.{}.", values.cluster_domain);
    if proxy.is_gateway {
        env.set("INBOUND_GATEWAY_SUFFIXES", &internal);
    }
    if proxy.is_ingress {
        env.set("INGRESS_MODE", "true");
    }
    env.set("DESTINATION_PROFILE_SUFFIXES", if proxy.enable_external_profiles { "." } else { &internal });
}

/// The ports on which the application listens: those that an annotation gives (D03), else those that the pod declares, by number
/// (D07).
fn inbound_ports(values: &Values, pod: &Workload<'_>) -> String {
    if let Some(given) = &values.proxy.pod_inbound_ports {
        return given.clone();
    }
    let mut ports = BTreeSet::new();
    for port in pod.containers().flat_map(|c| c.inbound_ports()) {
        ports.insert(port);
    }
    let texts: Vec<String> = ports.iter().map(u16::to_string).collect();
    texts.join(",")
}

fn fixed_timings(env: &mut Env, values: &Values) {
    env.set("INBOUND_ACCEPT_KEEPALIVE", "10000ms");
    env.set("OUTBOUND_CONNECT_KEEPALIVE", "10000ms");
    env.set("INBOUND_ACCEPT_USER_TIMEOUT", "30s");
    env.set("OUTBOUND_CONNECT_USER_TIMEOUT", "30s");
    env.set("OUTBOUND_METRICS_HOSTNAME_LABELS", values.proxy.hostname_labels.to_string());
}

fn tracing(env: &mut Env, values: &Values, mesh: &Mesh<'_>) {
    let tracing = &values.proxy.tracing;
    if !tracing.enabled {
        return;
    }
    let protocol = if tracing.protocol.is_empty() { "opentelemetry" } else { &tracing.protocol };
    let collector = format!("{}.{}", tracing.service_account_name, tracing.namespace);
    let attributes: String = tracing.labels.iter().map(|(k, v)| format!("{k}={v}\n")).collect();
    env.set("TRACE_ATTRIBUTES_PATH", "/var/run/linkerd/podinfo/labels");
    env.set("TRACE_ANNOTATIONS_PATH", "/var/run/linkerd/podinfo/annotations");
    env.set("TRACE_PROTOCOL", protocol);
    env.set("TRACE_SERVICE_NAME", &tracing.trace_service_name);
    env.set("TRACE_COLLECTOR_SVC_ADDR", &tracing.endpoint);
    env.set("TRACE_COLLECTOR_SVC_NAME", identity_name(&collector, values, mesh));
    env.set("TRACE_EXTRA_ATTRIBUTES", attributes);
}

/// The identity of a service account, given as `NAME.NAMESPACE`.
fn identity_name(account: &str, values: &Values, mesh: &Mesh<'_>) -> String {
    format!("{account}.serviceaccount.identity.{}.{}", mesh.control_plane, values.trust_domain())
}

/// Parameters of servers and clients; one that the proxy cannot read is left out.
fn parameters(env: &mut Env, direction: &str, scopes: &Map<String, Value>) {
    for (name, text) in parameters::variables(direction, scopes) {
        if proxy_env::readable(&format!("LINKERD2_PROXY_{name}"), &text).is_ok() {
            env.set(&name, text);
        }
    }
}

/// The opaque ports: as an annotation says, the exposed ones of the default list, or all of it; what the proxy cannot read of a
/// configured list is left out (D09).
fn opaque_ports(values: &Values, pod: &Workload<'_>, mesh: &Mesh<'_>) -> String {
    if let Some(exposed) = super::metadata::default_opaque_ports(pod, mesh) {
        return exposed;
    }
    let list = &values.proxy.opaque_ports;
    if ports::proxy_port_set(list).is_ok() { list.clone() } else { ports::list(list, &|_| None).to_string() }
}

fn identity(env: &mut Env, values: &Values, mesh: &Mesh<'_>) {
    env.field("_pod_sa", "spec.serviceAccountName");
    env.plain("_l5d_ns".to_owned(), mesh.control_plane.to_owned());
    env.plain("_l5d_trustdomain".to_owned(), values.trust_domain().to_owned());
    let service = |name: &str, port: u16| format!("{name}.{}.svc.{}.:{port}", mesh.control_plane, values.cluster_domain);
    let of_mesh = |name: &str| identity_name(&format!("{name}.{}", mesh.control_plane), values, mesh);
    let token = if values.token_projection {
        "/var/run/secrets/tokens/linkerd-identity-token"
    } else {
        "/var/run/secrets/kubernetes.io/serviceaccount/token"
    };
    env.set("IDENTITY_DIR", "/var/run/linkerd/identity/end-entity");
    env.set("IDENTITY_TRUST_ANCHORS", format!("{}\n", values.trust_anchors.trim()));
    env.set("IDENTITY_TOKEN_FILE", token);
    env.set("IDENTITY_SVC_ADDR", service("linkerd-identity-headless", 8080));
    env.set("IDENTITY_LOCAL_NAME", identity_name("$(_pod_sa).$(_pod_ns)", values, mesh));
    env.set("IDENTITY_SVC_NAME", of_mesh("linkerd-identity"));
    env.set("DESTINATION_SVC_NAME", of_mesh("linkerd-destination"));
    env.set("POLICY_SVC_NAME", of_mesh("linkerd-destination"));
}
