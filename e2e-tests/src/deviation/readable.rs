//! Whether the proxy can read a variable (`app/src/env`), run with it, and read it together with the others.

use super::read::{cidr, proxy_duration, proxy_milliseconds, proxy_ports};
use super::reading::Reading;
use super::variable::text;
use super::{ports, resources, times};
use serde_json::Value;

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
        "CONTROL_STREAM_INITIAL_TIMEOUT" | "CONTROL_STREAM_IDLE_TIMEOUT" | "CONTROL_STREAM_LIFETIME" => {
            value.is_empty() || proxy_milliseconds(value).is_some()
        }
        "INBOUND_DEFAULT_POLICY" => {
            ["deny", "all-authenticated", "all-unauthenticated", "cluster-authenticated", "cluster-unauthenticated", "audit"]
                .contains(&value)
        }
        "POLICY_CLUSTER_NETWORKS" | "DESTINATION_PROFILE_NETWORKS" => list(cidr),
        "DESTINATION_PROFILE_SUFFIXES" | "INBOUND_GATEWAY_SUFFIXES" => list(|suffix| suffix == "." || is_dns_name(suffix)),
        "INBOUND_IPS" => value.split(',').all(|address| address.parse::<std::net::IpAddr>().is_ok()),
        "OUTBOUND_LISTEN_ADDRS" => value.split(',').count() <= 2 && value.split(',').all(is_socket),
        "OUTBOUND_LISTEN_ADDR" | "INBOUND_LISTEN_ADDR" | "CONTROL_LISTEN_ADDR" | "ADMIN_LISTEN_ADDR" => is_socket(value),
        "SHUTDOWN_ENDPOINT_ENABLED"
        | "INGRESS_MODE"
        | "OUTBOUND_DISABLE_INFORMATIONAL_HEADERS"
        | "OUTBOUND_METRICS_HOSTNAME_LABELS" => is_bool(value),
        "INBOUND_METRICS_AUTHORITY_LABELS" => value.is_empty() || value.eq_ignore_ascii_case("unsafe"),
        "IDENTITY_DISABLED" => value.is_empty(),
        "TAP_SVC_NAME" => is_identity(value) || value.contains(':'),
        "IDENTITY_LOCAL_NAME" => is_identity(value),
        "IDENTITY_DIR" | "IDENTITY_TOKEN_FILE" => !value.is_empty(),
        "IDENTITY_TRUST_ANCHORS" => has_certificates(value),
        "HTTP2_INITIAL_STREAM_WINDOW_SIZE"
        | "HTTP2_INITIAL_CONNECTION_WINDOW_SIZE"
        | "INBOUND_TCP_LISTEN_BACKLOG"
        | "OUTBOUND_TCP_LISTEN_BACKLOG" => value.parse::<u32>().is_ok(),
        "MAX_IDLE_CONNS_PER_ENDPOINT"
        | "OUTBOUND_MAX_IDLE_CONNS_PER_ENDPOINT"
        | "INBOUND_MAX_IN_FLIGHT"
        | "OUTBOUND_MAX_IN_FLIGHT" => value.parse::<u64>().is_ok(),
        name if QUEUES.contains(&name) => value.parse::<u64>().is_ok(),
        name if ADDRESSES.contains(&name) => {
            is_socket(value) || value.rsplit_once(':').is_some_and(|(host, port)| is_dns_name(host) && port.parse::<u16>().is_ok())
        }
        name if NAMES.contains(&name) => is_dns_name(value),
        name if DURATIONS.contains(&name) => proxy_milliseconds(value).is_some(),
        name => match of_connect(name).or(of_http2(name)) {
            Some("MIN" | "MAX" | "KEEP_ALIVE_TIMEOUT" | "KEEP_ALIVE_INTERVAL") => proxy_milliseconds(value).is_some(),
            Some("JITTER") => value.parse::<f64>().is_ok_and(|jitter| (0.0..=100.0).contains(&jitter)),
            Some("ADAPTIVE_FLOW_CONTROL") => is_bool(value),
            Some("MAX_PENDING_ACCEPT_RESET_STREAMS" | "MAX_SEND_BUF_SIZE") => value.parse::<u64>().is_ok(),
            Some(number) if HTTP2_NUMBERS.contains(&number) => value.parse::<u32>().is_ok(),
            _ => true,
        },
    }
}

/// What is left of the name of a parameter of the proxy's HTTP/2 servers.
fn of_http2(name: &str) -> Option<&str> {
    ["INBOUND_SERVER_HTTP2_", "OUTBOUND_SERVER_HTTP2_"].iter().find_map(|base| name.strip_prefix(base))
}

/// What is left of the name of a parameter of the back-off between connections.
fn of_connect(name: &str) -> Option<&str> {
    ["INBOUND_CONNECT_EXP_BACKOFF_", "OUTBOUND_CONNECT_EXP_BACKOFF_"].iter().find_map(|base| name.strip_prefix(base))
}

const HTTP2_NUMBERS: [&str; 5] = [
    "INITIAL_CONNECTION_WINDOW_SIZE",
    "INITIAL_STREAM_WINDOW_SIZE",
    "MAX_CONCURRENT_STREAMS",
    "MAX_FRAME_SIZE",
    "MAX_HEADER_LIST_SIZE",
];
const QUEUES: [&str; 3] = ["INBOUND_HTTP_QUEUE_CAPACITY", "OUTBOUND_HTTP_QUEUE_CAPACITY", "OUTBOUND_TCP_QUEUE_CAPACITY"];
const ADDRESSES: [&str; 4] = ["DESTINATION_SVC_ADDR", "IDENTITY_SVC_ADDR", "POLICY_SVC_ADDR", "TRACE_COLLECTOR_SVC_ADDR"];
const NAMES: [&str; 4] = ["DESTINATION_SVC_NAME", "IDENTITY_SVC_NAME", "POLICY_SVC_NAME", "TRACE_COLLECTOR_SVC_NAME"];

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

/// What a semaphore of tokio can hold, which a queue has inside.
const MOST_PERMITS: u64 = 2_305_843_009_213_693_951;

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
    let is_number = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    name.len() <= 253 && name.split('.').all(label) && !is_number
}

/// Whether there are certificates in the text, and each has an end.
fn has_certificates(text: &str) -> bool {
    let whole = |part: &str| {
        let body = part.split_once("-----END CERTIFICATE-----").map_or("", |(body, _)| body.trim());
        !body.is_empty() && body.chars().all(|c| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "+/=".contains(c))
    };
    let mut parts = text.split("-----BEGIN CERTIFICATE-----").skip(1).peekable();
    parts.peek().is_some() && parts.all(whole)
}

/// A certificate has no name with a dot at its end.
fn is_identity(text: &str) -> bool {
    is_dns_name(text) && !text.ends_with('.')
}

/// Whether the proxy runs with what it reads: it panics on some numbers at the first connection (D33).
pub fn is_usable(entry: &Value) -> bool {
    let value = text(entry, "value");
    let Some(name) = text(entry, "name").strip_prefix("LINKERD2_PROXY_") else { return true };
    if matches!(name, "IDENTITY_SPIRE_SOCKET" | "IDENTITY_SPIRE_WORKLOAD_API_ADDRESS") {
        return false;
    }
    if entry.get("valueFrom").is_some() || value.contains("$(") {
        return true;
    }
    let within = |low: u64, high: u64| value.parse::<u64>().is_ok_and(|number| (low..=high).contains(&number));
    match name {
        "TAP_SVC_NAME" => is_identity(value) || value.strip_prefix("spiffe://").is_some_and(|rest| !rest.is_empty()),
        "HTTP2_INITIAL_STREAM_WINDOW_SIZE" | "HTTP2_INITIAL_CONNECTION_WINDOW_SIZE" => within(0, 2_147_483_647),
        "INBOUND_MAX_IN_FLIGHT" | "OUTBOUND_MAX_IN_FLIGHT" => within(0, MOST_PERMITS),
        name if QUEUES.contains(&name) => within(1, MOST_PERMITS),
        name if STREAMS.contains(&name) => value.is_empty() || proxy_duration(value),
        name if DURATIONS.contains(&name) => proxy_duration(value),
        name => match of_connect(name).or(of_http2(name)) {
            Some("MAX_FRAME_SIZE") => within(16_384, 16_777_215),
            Some("MAX_SEND_BUF_SIZE") => within(0, u64::from(u32::MAX)),
            Some("INITIAL_STREAM_WINDOW_SIZE" | "INITIAL_CONNECTION_WINDOW_SIZE") => within(0, 2_147_483_647),
            Some("MIN" | "MAX" | "KEEP_ALIVE_TIMEOUT" | "KEEP_ALIVE_INTERVAL") => proxy_duration(value),
            _ => true,
        },
    }
}

const STREAMS: [&str; 3] = ["CONTROL_STREAM_INITIAL_TIMEOUT", "CONTROL_STREAM_IDLE_TIMEOUT", "CONTROL_STREAM_LIFETIME"];

/// The names of the groups of variables that do not fit together, given the additional ones (D35).
pub fn conflicts(case: &Reading, added: &[Value]) -> Vec<String> {
    let last = |name: &str| added.iter().rfind(|entry| text(entry, "name") == format!("LINKERD2_PROXY_{name}"));
    let unknown =
        |name: &str| last(name).is_some_and(|entry| entry.get("valueFrom").is_some() || text(entry, "value").contains("$("));
    let value = |name: &str| last(name).map(|entry| text(entry, "value").to_owned()).or_else(|| rendered(case, name));
    let mut names: Vec<String> = Vec::new();
    let mut check = |group: &[&str], fits: &dyn Fn(&[Option<String>]) -> bool| {
        let values: Vec<Option<String>> = group.iter().map(|name| value(name)).collect();
        if group.iter().any(|name| last(name).is_some()) && !group.iter().any(|name| unknown(name)) && !fits(&values) {
            names.extend(group.iter().map(|name| format!("LINKERD2_PROXY_{name}")));
        }
    };
    check(&STREAMS, &|values| {
        let times: Vec<Option<i128>> = values.iter().map(|text| text.as_deref().and_then(proxy_milliseconds)).collect();
        times
            .iter()
            .enumerate()
            .all(|(at, time)| times.iter().take(at).flatten().all(|earlier| time.is_none_or(|time| *earlier <= time)))
    });
    for direction in ["INBOUND", "OUTBOUND"] {
        let group = ["MIN", "MAX", "JITTER"].map(|part| format!("{direction}_CONNECT_EXP_BACKOFF_{part}"));
        check(&group.each_ref().map(String::as_str), &fits_backoff);
    }
    for service in ["DESTINATION", "POLICY", "IDENTITY", "TRACE_COLLECTOR"] {
        let group = [format!("{service}_SVC_ADDR"), format!("{service}_SVC_NAME")];
        check(&group.each_ref().map(String::as_str), &|values| match values {
            [Some(address), None] => is_loopback(address),
            [None, Some(_)] => false,
            _ => true,
        });
    }
    check(&["DNS_MIN_TTL", "DNS_MAX_TTL"], &|values| match values {
        [Some(lowest), highest] => proxy_milliseconds(lowest) <= proxy_milliseconds(highest.as_deref().unwrap_or("1d")),
        _ => true,
    });
    check(&["INBOUND_LISTEN_ADDR", "OUTBOUND_LISTEN_ADDRS", "ADMIN_LISTEN_ADDR", "CONTROL_LISTEN_ADDR"], &|values| {
        let first = |value: &String| value.split(',').next().and_then(|address| address.parse::<std::net::SocketAddr>().ok());
        let ports = values.iter().flatten().filter_map(first).map(|address| address.port()).filter(|port| *port != 0);
        let mut taken = std::collections::BTreeSet::new();
        ports.into_iter().all(|port| taken.insert(port))
    });
    check(&["INBOUND_DEFAULT_POLICY", "POLICY_CLUSTER_NETWORKS"], &|values| match values {
        [Some(policy), Some(networks)] => {
            !networks.trim_matches([',', ' ']).is_empty()
                || matches!(policy.as_str(), "deny" | "all-authenticated" | "all-unauthenticated")
        }
        _ => true,
    });
    names
}

/// Whether the proxy calls the address without a name for its certificate.
fn is_loopback(address: &str) -> bool {
    let named = |_| address.to_lowercase().starts_with("localhost.:");
    address.parse::<std::net::SocketAddr>().map_or_else(named, |address| address.ip().is_loopback())
}

fn fits_backoff(values: &[Option<String>]) -> bool {
    let [lowest, highest, jitter] = values else { return true };
    let time = |text: &Option<String>| text.as_deref().and_then(proxy_milliseconds);
    match (time(lowest), time(highest)) {
        (Some(lowest), Some(highest)) => lowest <= highest && highest > 0,
        (None, None) => jitter.is_none(),
        _ => false,
    }
}

/// What the variables of those groups are where nothing is added.
fn rendered(case: &Reading, name: &str) -> Option<String> {
    let [control, inbound, outbound, admin] = ports::own_ports(case).map(|port| Some(format!("0.0.0.0:{port}")));
    let stream = |key: &str| Some(case.value_text(&format!("/proxy/control/streams/{key}")).to_owned());
    match name {
        "CONTROL_STREAM_INITIAL_TIMEOUT" => stream("initialTimeout"),
        "CONTROL_STREAM_IDLE_TIMEOUT" => stream("idleTimeout"),
        "CONTROL_STREAM_LIFETIME" => stream("lifetime"),
        "CONTROL_LISTEN_ADDR" => control,
        "INBOUND_LISTEN_ADDR" => inbound,
        "OUTBOUND_LISTEN_ADDRS" => outbound,
        "ADMIN_LISTEN_ADDR" => admin,
        "INBOUND_DEFAULT_POLICY" => Some(times::default_policy(case)),
        "POLICY_CLUSTER_NETWORKS" => Some(times::proxy_networks(case)),
        name if name.starts_with("TRACE_COLLECTOR_SVC") => resources::traces(case).then(|| "set:1".to_owned()),
        name if name.ends_with("_SVC_ADDR") || name.ends_with("_SVC_NAME") => Some("set:1".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use linkerd_injector_policy::parse::proxy_env::{VARIABLES, readable};
    use serde_json::json;

    use super::*;
    use crate::differential::values_of_variables;

    #[test]
    fn the_policy_reads_every_variable_alike() {
        let mut differing = Vec::new();
        for (name, value) in
            VARIABLES.iter().flat_map(|(name, _)| values_of_variables().into_iter().map(move |value| (*name, value)))
        {
            let entry = json!({"name": name, "value": value});
            if (is_readable(&entry) && is_usable(&entry)) != readable(name, &value).is_ok() {
                differing.push(format!("{name}={value:?}"));
            }
        }
        assert_eq!(differing, Vec::<String>::new());
    }
}
