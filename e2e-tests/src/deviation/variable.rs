//! One variable of a container: how Go reads it, whether the API server takes it, whether the proxy can read it.

use super::read::{cidr, proxy_duration, proxy_ports};
use serde_json::{Map, Value};

/// The entries of a list of variables as Go reads it: keys in any case, unknown ones left out, null for nothing; none
/// where an entry is of another type.
pub fn entries(list: &Value) -> Option<Vec<Value>> {
    match list {
        Value::Null => Some(Vec::new()),
        Value::Array(entries) => entries.iter().map(|entry| read(entry, ENTRY)).collect(),
        _ => None,
    }
}

/// A field that Go knows: its name, and what is in it.
#[derive(Clone, Copy)]
enum Field {
    Text(&'static str),
    Flag(&'static str),
    Quantity(&'static str),
    Object(&'static str, &'static [Field]),
}

const ENTRY: &[Field] = &[Field::Text("name"), Field::Text("value"), Field::Object("valueFrom", SOURCE)];
const SOURCE: &[Field] = &[
    Field::Object("fieldRef", &[Field::Text("apiVersion"), Field::Text("fieldPath")]),
    Field::Object("resourceFieldRef", &[Field::Text("containerName"), Field::Text("resource"), Field::Quantity("divisor")]),
    Field::Object("configMapKeyRef", &[Field::Text("name"), Field::Text("key"), Field::Flag("optional")]),
    Field::Object("secretKeyRef", &[Field::Text("name"), Field::Text("key"), Field::Flag("optional")]),
    Field::Object("fileKeyRef", &[Field::Text("volumeName"), Field::Text("path"), Field::Text("key"), Field::Flag("optional")]),
];

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::Text(name) | Field::Flag(name) | Field::Quantity(name) | Field::Object(name, _) => name,
        }
    }

    fn read(self, value: &Value) -> Option<Value> {
        let fits = match self {
            Field::Object(_, fields) => return read(value, fields),
            Field::Text(_) => value.is_string(),
            Field::Flag(_) => value.is_boolean(),
            Field::Quantity(_) => value.is_number() || value.as_str().is_some_and(|text| super::read::quantity(text).is_some()),
        };
        fits.then(|| value.clone())
    }
}

fn read(value: &Value, fields: &[Field]) -> Option<Value> {
    let mut result = Map::new();
    let members = match value {
        Value::Null => &Map::new(),
        value => value.as_object()?,
    };
    for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        if let Some(field) = fields.iter().find(|field| field.name().eq_ignore_ascii_case(key)) {
            result.insert(field.name().to_owned(), field.read(value)?);
        }
    }
    Some(Value::Object(result))
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the API server takes the entry (`ValidateEnv` of Kubernetes' core validation).
pub fn is_valid(entry: &Value) -> bool {
    let name = text(entry, "name");
    let named = !name.is_empty() && name.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=');
    let Some(from) = entry.get("valueFrom") else { return named };
    let Some(sources) = from.as_object().filter(|_| text(entry, "value").is_empty()) else { return false };
    let mut sources = sources.iter();
    let (Some((kind, source)), None) = (sources.next(), sources.next()) else { return false };
    named
        && match kind.as_str() {
            "fieldRef" => is_field(text(source, "fieldPath")) && matches!(text(source, "apiVersion"), "" | "v1"),
            "resourceFieldRef" => is_resource(text(source, "resource"), source.get("divisor")),
            "configMapKeyRef" | "secretKeyRef" => is_name(text(source, "name")) && is_key(text(source, "key")),
            _ => false,
        }
}

fn is_field(path: &str) -> bool {
    const FIELDS: [&str; 9] = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let subscript = ["metadata.labels['", "metadata.annotations['"].iter().find_map(|head| path.strip_prefix(head)?.strip_suffix("']"));
    FIELDS.contains(&path) || subscript.is_some_and(|key| !key.is_empty() && !key.contains('\''))
}

fn is_resource(resource: &str, divisor: Option<&Value>) -> bool {
    let kind = ["limits.", "requests."].iter().find_map(|side| resource.strip_prefix(side));
    let divisor = divisor.map(|divisor| divisor.as_str().map_or_else(|| divisor.to_string(), str::to_owned));
    let allowed: &[&str] = match kind {
        Some("cpu") => &["", "0", "1", "1m"],
        Some("memory" | "ephemeral-storage") => &["", "0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"],
        Some(kind) if kind.starts_with("hugepages-") => &["", "0", "1", "1Ki", "1Mi", "1Gi", "1k", "1M", "1G"],
        _ => return false,
    };
    divisor.is_none_or(|divisor| allowed.contains(&divisor.as_str()))
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| label.bytes().next().is_some_and(plain) && label.bytes().last().is_some_and(plain) && label.bytes().all(|byte| plain(byte) || byte == b'-');
    name.len() <= 253 && name.split('.').all(label)
}

fn is_key(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=253).contains(&key.len()) && key.bytes().all(plain) && !matches!(key, "." | "..") && !key.starts_with("..")
}

/// Whether the proxy reads the entry; what is known only at run time is taken as readable.
pub fn is_readable(entry: &Value) -> bool {
    let value = text(entry, "value");
    let Some(name) = text(entry, "name").strip_prefix("LINKERD2_PROXY_") else { return true };
    if entry.get("valueFrom").is_some() || value.contains("$(") {
        return true;
    }
    let list = |one: fn(&str) -> bool| value.split(',').map(str::trim).filter(|part| !part.is_empty()).all(one);
    match name {
        "INBOUND_PORTS" | "INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION" => proxy_ports(value),
        "CONTROL_STREAM_INITIAL_TIMEOUT" | "CONTROL_STREAM_IDLE_TIMEOUT" | "CONTROL_STREAM_LIFETIME" => value.is_empty() || proxy_duration(value),
        "INBOUND_DEFAULT_POLICY" => ["deny", "all-authenticated", "all-unauthenticated", "cluster-authenticated", "cluster-unauthenticated", "audit"].contains(&value),
        "POLICY_CLUSTER_NETWORKS" | "DESTINATION_PROFILE_NETWORKS" => list(cidr),
        "DESTINATION_PROFILE_SUFFIXES" | "INBOUND_GATEWAY_SUFFIXES" => list(|suffix| suffix == "." || is_dns_name(suffix)),
        "INBOUND_IPS" => value.split(',').all(|address| address.parse::<std::net::IpAddr>().is_ok()),
        "OUTBOUND_LISTEN_ADDRS" => value.split(',').count() <= 2 && value.split(',').all(is_socket),
        "OUTBOUND_LISTEN_ADDR" | "INBOUND_LISTEN_ADDR" | "CONTROL_LISTEN_ADDR" | "ADMIN_LISTEN_ADDR" => is_socket(value),
        "SHUTDOWN_ENDPOINT_ENABLED" | "INGRESS_MODE" | "OUTBOUND_DISABLE_INFORMATIONAL_HEADERS" | "OUTBOUND_METRICS_HOSTNAME_LABELS" => is_bool(value),
        "INBOUND_METRICS_AUTHORITY_LABELS" => value.is_empty() || value.eq_ignore_ascii_case("unsafe"),
        "IDENTITY_DISABLED" => value.is_empty(),
        "IDENTITY_TRUST_ANCHORS" => !value.is_empty(),
        "HTTP2_INITIAL_STREAM_WINDOW_SIZE" | "HTTP2_INITIAL_CONNECTION_WINDOW_SIZE" | "INBOUND_TCP_LISTEN_BACKLOG" | "OUTBOUND_TCP_LISTEN_BACKLOG" => value.parse::<u32>().is_ok(),
        "MAX_IDLE_CONNS_PER_ENDPOINT" | "OUTBOUND_MAX_IDLE_CONNS_PER_ENDPOINT" | "INBOUND_MAX_IN_FLIGHT" | "OUTBOUND_MAX_IN_FLIGHT" => value.parse::<u64>().is_ok(),
        name if name.ends_with("_QUEUE_CAPACITY") => value.parse::<u64>().is_ok(),
        name if name.ends_with("_SERVER_HTTP2_ADAPTIVE_FLOW_CONTROL") => is_bool(value),
        name if name.contains("_SERVER_HTTP2_KEEP_ALIVE_") => proxy_duration(value),
        name if name.contains("_SERVER_HTTP2_MAX_PENDING_ACCEPT") || name.ends_with("_SERVER_HTTP2_MAX_SEND_BUF_SIZE") => value.parse::<u64>().is_ok(),
        name if name.contains("_SERVER_HTTP2_") => value.parse::<u32>().is_ok(),
        name if name.ends_with("_SVC_ADDR") => is_socket(value) || value.rsplit_once(':').is_some_and(|(host, port)| is_dns_name(host) && port.parse::<u16>().is_ok()),
        name if name.ends_with("_SVC_NAME") || name == "IDENTITY_LOCAL_NAME" => is_dns_name(value),
        name if DURATIONS.contains(&name) => proxy_duration(value),
        _ => true,
    }
}

const DURATIONS: &[&str] = &[
    "DESTINATION_PROFILE_INITIAL_TIMEOUT",
    "DNS_MAX_TTL",
    "DNS_MIN_TTL",
    "IDENTITY_MAX_REFRESH",
    "IDENTITY_MIN_REFRESH",
    "INBOUND_ACCEPT_KEEPALIVE",
    "INBOUND_ACCEPT_USER_TIMEOUT",
    "INBOUND_CONNECT_KEEPALIVE",
    "INBOUND_CONNECT_TIMEOUT",
    "INBOUND_CONNECT_USER_TIMEOUT",
    "INBOUND_DETECT_TIMEOUT",
    "INBOUND_DISCOVERY_IDLE_TIMEOUT",
    "INBOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT",
    "INBOUND_HTTP_FAILFAST_TIMEOUT",
    "METRICS_RETAIN_IDLE",
    "OUTBOUND_ACCEPT_KEEPALIVE",
    "OUTBOUND_ACCEPT_USER_TIMEOUT",
    "OUTBOUND_CONNECT_KEEPALIVE",
    "OUTBOUND_CONNECT_TIMEOUT",
    "OUTBOUND_CONNECT_USER_TIMEOUT",
    "OUTBOUND_DETECT_TIMEOUT",
    "OUTBOUND_DISCOVERY_IDLE_TIMEOUT",
    "OUTBOUND_HTTP1_CONNECTION_POOL_IDLE_TIMEOUT",
    "OUTBOUND_HTTP_FAILFAST_TIMEOUT",
    "OUTBOUND_TCP_FAILFAST_TIMEOUT",
    "SHUTDOWN_GRACE_PERIOD",
];

fn is_bool(text: &str) -> bool {
    matches!(text, "true" | "false")
}

fn is_socket(text: &str) -> bool {
    text.parse::<std::net::SocketAddr>().is_ok()
}

fn is_dns_name(text: &str) -> bool {
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    let name = text.strip_suffix('.').unwrap_or(text);
    name.len() <= 253 && name.split('.').all(label)
}

