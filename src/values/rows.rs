//! One row a leaf of the chart's values that the injector reads: where it stands, and what is accepted there.
//!
//! A setter either takes the whole leaf or leaves the values as they were and says, as a noun phrase, what the leaf is not; of a list of
//! variables it takes those that can be used.

use crate::parse::{image, integer, network, ports, proxy_env, quantity};
use crate::values::row::{Row, row, text, text_of};
use crate::values::{Capabilities, MAX_CLOSE_WAIT_SECS, Probe, Values};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Every leaf, in the order in which faults are told.
pub(super) const ROWS: &[Row] = &[
    text("clusterDomain", |v| &mut v.cluster_domain, dns_domain),
    text("clusterNetworks", |v| &mut v.cluster_networks, |s| said(network::cluster_networks(s))),
    text("imagePullPolicy", |v| &mut v.image_pull_policy, pull_policy),
    text("linkerdVersion", |v| &mut v.linkerd_version, |s| said(image::tag(s))),
    row("cniEnabled", |v, x| boolean(&mut v.cni_enabled, x)),
    row("disableIPv6", |v, x| boolean(&mut v.disable_ipv6, x)),
    text("identityTrustAnchorsPEM", |v| &mut v.trust_anchors, any),
    text("identityTrustDomain", |v| &mut v.trust_domain, dns_domain),
    row("identity.serviceAccountTokenProjection", |v, x| boolean(&mut v.token_projection, x)),
    text("proxy.image.name", |v| &mut v.proxy.image.name, |s| said(image::name(s))),
    text("proxy.image.version", |v| &mut v.proxy.image.version, tag),
    text("proxy.image.pullPolicy", |v| &mut v.proxy.image.pull_policy, pull_policy),
    row("proxy.capabilities", |v, x| capabilities(&mut v.proxy.capabilities, x)),
    row("proxy.enableExternalProfiles", |v, x| boolean(&mut v.proxy.enable_external_profiles, x)),
    row("proxy.enableShutdownEndpoint", |v, x| boolean(&mut v.proxy.enable_shutdown_endpoint, x)),
    text("proxy.logLevel", |v| &mut v.proxy.log_level, |s| reads("LINKERD2_PROXY_LOG", s)),
    text("proxy.logFormat", |v| &mut v.proxy.log_format, |s| reads("LINKERD2_PROXY_LOG_FORMAT", s)),
    text("proxy.logHTTPHeaders", |v| &mut v.proxy.log_http_headers, log_http_headers),
    row("proxy.ports.admin", |v, x| port(&mut v.proxy.ports.admin, x)),
    row("proxy.ports.control", |v, x| port(&mut v.proxy.ports.control, x)),
    row("proxy.ports.inbound", |v, x| port(&mut v.proxy.ports.inbound, x)),
    row("proxy.ports.outbound", |v, x| port(&mut v.proxy.ports.outbound, x)),
    text("proxy.resources.cpu.limit", |v| &mut v.proxy.resources.cpu.limit, amount),
    text("proxy.resources.cpu.request", |v| &mut v.proxy.resources.cpu.request, amount),
    text("proxy.resources.memory.limit", |v| &mut v.proxy.resources.memory.limit, amount),
    text("proxy.resources.memory.request", |v| &mut v.proxy.resources.memory.request, amount),
    text("proxy.resources.ephemeral-storage.limit", |v| &mut v.proxy.resources.ephemeral_storage.limit, amount),
    text("proxy.resources.ephemeral-storage.request", |v| &mut v.proxy.resources.ephemeral_storage.request, amount),
    row("proxy.uid", |v, x| integer(&mut v.proxy.uid, x, 1..=integer::MAX_ID)),
    row("proxy.gid", gid),
    row("proxy.waitBeforeExitSeconds", |v, x| unsigned(&mut v.proxy.wait_before_exit_seconds, x)),
    row("proxy.isGateway", |v, x| boolean(&mut v.proxy.is_gateway, x)),
    row("proxy.isIngress", |v, x| boolean(&mut v.proxy.is_ingress, x)),
    text(
        "proxy.requireIdentityOnInboundPorts",
        |v| &mut v.proxy.require_identity_on_inbound_ports,
        |s| said(ports::proxy_port_set(s)),
    ),
    text("proxy.requireTLSOnInboundPorts", |v| &mut v.proxy.require_tls_on_inbound_ports, |s| said(ports::proxy_port_set(s))),
    text(
        "proxy.outboundConnectTimeout",
        |v| &mut v.proxy.outbound_connect_timeout,
        |s| optional("LINKERD2_PROXY_OUTBOUND_CONNECT_TIMEOUT", s),
    ),
    text(
        "proxy.inboundConnectTimeout",
        |v| &mut v.proxy.inbound_connect_timeout,
        |s| optional("LINKERD2_PROXY_INBOUND_CONNECT_TIMEOUT", s),
    ),
    text(
        "proxy.outboundDiscoveryCacheUnusedTimeout",
        |v| &mut v.proxy.outbound_discovery_cache_unused_timeout,
        |s| optional("LINKERD2_PROXY_OUTBOUND_DISCOVERY_IDLE_TIMEOUT", s),
    ),
    text(
        "proxy.inboundDiscoveryCacheUnusedTimeout",
        |v| &mut v.proxy.inbound_discovery_cache_unused_timeout,
        |s| optional("LINKERD2_PROXY_INBOUND_DISCOVERY_IDLE_TIMEOUT", s),
    ),
    row("proxy.disableOutboundProtocolDetectTimeout", |v, x| boolean(&mut v.proxy.disable_outbound_protocol_detect_timeout, x)),
    row("proxy.disableInboundProtocolDetectTimeout", |v, x| boolean(&mut v.proxy.disable_inbound_protocol_detect_timeout, x)),
    text("proxy.opaquePorts", |v| &mut v.proxy.opaque_ports, any),
    row("proxy.await", |v, x| boolean(&mut v.proxy.await_ready, x)),
    text("proxy.defaultInboundPolicy", |v| &mut v.proxy.default_inbound_policy, |s| said(proxy_env::policy(s))),
    text("proxy.accessLog", |v| &mut v.proxy.access_log, |s| reads("LINKERD2_PROXY_ACCESS_LOG", s)),
    text(
        "proxy.shutdownGracePeriod",
        |v| &mut v.proxy.shutdown_grace_period,
        |s| optional("LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD", s),
    ),
    row("proxy.nativeSidecar", |v, x| boolean(&mut v.proxy.native_sidecar, x)),
    row("proxy.startupProbe", |v, x| probe(&mut v.proxy.startup_probe, x)),
    row("proxy.readinessProbe", |v, x| probe(&mut v.proxy.readiness_probe, x)),
    row("proxy.livenessProbe", |v, x| probe(&mut v.proxy.liveness_probe, x)),
    text(
        "proxy.control.streams.initialTimeout",
        |v| &mut v.proxy.control_streams.initial_timeout,
        |s| reads("LINKERD2_PROXY_CONTROL_STREAM_INITIAL_TIMEOUT", s),
    ),
    text(
        "proxy.control.streams.idleTimeout",
        |v| &mut v.proxy.control_streams.idle_timeout,
        |s| reads("LINKERD2_PROXY_CONTROL_STREAM_IDLE_TIMEOUT", s),
    ),
    text(
        "proxy.control.streams.lifetime",
        |v| &mut v.proxy.control_streams.lifetime,
        |s| reads("LINKERD2_PROXY_CONTROL_STREAM_LIFETIME", s),
    ),
    row("proxy.metrics.hostnameLabels", |v, x| boolean(&mut v.proxy.hostname_labels, x)),
    row("proxy.tracing.enabled", |v, x| boolean(&mut v.proxy.tracing.enabled, x)),
    text("proxy.tracing.protocol", |v| &mut v.proxy.tracing.protocol, |s| optional("LINKERD2_PROXY_TRACE_PROTOCOL", s)),
    row("proxy.tracing.labels", |v, x| labels(&mut v.proxy.tracing.labels, x)),
    text("proxy.tracing.traceServiceName", |v| &mut v.proxy.tracing.trace_service_name, any),
    text(
        "proxy.tracing.collector.endpoint",
        |v| &mut v.proxy.tracing.endpoint,
        |s| optional("LINKERD2_PROXY_TRACE_COLLECTOR_SVC_ADDR", s),
    ),
    text("proxy.tracing.collector.meshIdentity.serviceAccountName", |v| &mut v.proxy.tracing.service_account_name, dns_domain),
    text("proxy.tracing.collector.meshIdentity.namespace", |v| &mut v.proxy.tracing.namespace, dns_domain),
    row("proxy.additionalEnv", |v, x| env(&mut v.proxy.additional_env, x)),
    row("proxy.experimentalEnv", |v, x| env(&mut v.proxy.experimental_env, x)),
    row("proxy.inbound", |v, x| merge_params(&mut v.proxy.inbound, x)),
    row("proxy.outbound", |v, x| merge_params(&mut v.proxy.outbound, x)),
    row("proxy.cores", |v, x| integer(&mut v.proxy.cores, x, 0..=i64::MAX)),
    row("proxy.runtime.workers.minimum", |v, x| integer(&mut v.proxy.workers.minimum, x, 0..=i64::MAX)),
    row("proxy.runtime.workers.maximum", |v, x| integer(&mut v.proxy.workers.maximum, x, 0..=i64::MAX)),
    row("proxy.runtime.workers.maximumCPURatio", cpu_ratio),
    row("proxy.securityContext", |v, x| merge_object(&mut v.proxy.security_context, x)),
    row("proxyInit.capabilities", |v, x| {
        let mut given = Some(v.proxy_init.capabilities.clone());
        capabilities(&mut given, x)?;
        v.proxy_init.capabilities = given.unwrap_or_default();
        Ok(())
    }),
    text("proxyInit.ignoreInboundPorts", |v| &mut v.proxy_init.ignore_inbound_ports, any),
    text("proxyInit.ignoreOutboundPorts", |v| &mut v.proxy_init.ignore_outbound_ports, any),
    text("proxyInit.skipSubnets", |v| &mut v.proxy_init.skip_subnets, |s| said(network::cidr_list_init(s))),
    text("proxyInit.logLevel", |v| &mut v.proxy_init.log_level, init_log_level),
    text("proxyInit.logFormat", |v| &mut v.proxy_init.log_format, any),
    text("proxyInit.xtMountPath.mountPath", |v| &mut v.proxy_init.xt_mount_path, mount_path),
    row("proxyInit.closeWaitTimeoutSecs", |v, x| integer(&mut v.proxy_init.close_wait_timeout_secs, x, 0..=MAX_CLOSE_WAIT_SECS)),
    row("proxyInit.privileged", |v, x| boolean(&mut v.proxy_init.privileged, x)),
    row("proxyInit.runAsRoot", |v, x| boolean(&mut v.proxy_init.run_as_root, x)),
    row("proxyInit.runAsUser", |v, x| integer(&mut v.proxy_init.run_as_user, x, 0..=integer::MAX_ID)),
    row("proxyInit.runAsGroup", |v, x| integer(&mut v.proxy_init.run_as_group, x, 0..=integer::MAX_ID)),
    text("proxyInit.iptablesMode", |v| &mut v.proxy_init.iptables_mode, iptables_mode),
    text("networkValidator.logLevel", |v| &mut v.network_validator.log_level, not_empty),
    text("networkValidator.logFormat", |v| &mut v.network_validator.log_format, validator_log_format),
    text("networkValidator.connectAddr", |v| &mut v.network_validator.connect_addr, socket_address),
    text("networkValidator.listenAddr", |v| &mut v.network_validator.listen_addr, socket_address),
    text("networkValidator.timeout", |v| &mut v.network_validator.timeout, not_empty),
    row("networkValidator.enableSecurityContext", |v, x| boolean(&mut v.network_validator.enable_security_context, x)),
    row("networkValidator.securityContext", |v, x| merge_object(&mut v.network_validator.security_context, x)),
    text("debugContainer.image.name", |v| &mut v.debug_image.name, |s| said(image::name(s))),
    text("debugContainer.image.version", |v| &mut v.debug_image.version, tag),
    text("debugContainer.image.pullPolicy", |v| &mut v.debug_image.pull_policy, pull_policy),
];

/// The problem as text.
fn said<T, E: std::fmt::Display>(parsed: Result<T, E>) -> Result<(), String> {
    parsed.map(drop).map_err(|e| e.to_string())
}

fn refuse(problem: &str) -> Result<(), String> {
    Err(problem.to_owned())
}

fn boolean(to: &mut bool, from: &Value) -> Result<(), String> {
    *to = match from {
        Value::Null => false,
        Value::Bool(b) => *b,
        _ => return refuse("neither true nor false"),
    };
    Ok(())
}

/// A whole number, also one that JSON writes with a fraction of nothing.
fn whole(from: &Value) -> Option<i64> {
    let number = from.as_number()?;
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        let whole = format!("{float:.0}").parse().ok()?;
        (float.fract() == 0.0).then_some(whole)
    })
}

fn integer(to: &mut i64, from: &Value, range: std::ops::RangeInclusive<i64>) -> Result<(), String> {
    let given = if from.is_null() { Some(0) } else { whole(from) };
    match given.filter(|n| range.contains(n)) {
        Some(n) => *to = n,
        None if *range.end() == i64::MAX => return refuse("not a whole number from 0"),
        None => return Err(format!("not a whole number from {} to {}", range.start(), range.end())),
    }
    Ok(())
}

fn unsigned(to: &mut u64, from: &Value) -> Result<(), String> {
    *to = match (from, from.as_u64().or_else(|| whole(from).and_then(|n| n.try_into().ok()))) {
        (Value::Null, _) => 0,
        (_, Some(n)) => n,
        (_, None) => return refuse("not a whole number from 0"),
    };
    Ok(())
}

fn port(to: &mut u16, from: &Value) -> Result<(), String> {
    match whole(from).and_then(|n| u16::try_from(n).ok()).filter(|n| *n != 0) {
        Some(n) => *to = n,
        None => return refuse("not a port between 1 and 65535"),
    }
    Ok(())
}

/// A negative group means none, as in the chart.
fn gid(v: &mut Values, from: &Value) -> Result<(), String> {
    let mut given = -1;
    integer(&mut given, from, i64::MIN..=integer::MAX_ID).map_err(|_| integer::IntegerError::NotGid.to_string())?;
    v.proxy.gid = (given >= 0).then_some(given);
    Ok(())
}

fn cpu_ratio(v: &mut Values, from: &Value) -> Result<(), String> {
    let given = match from {
        Value::Null => Some(0.0),
        _ => from.as_f64(),
    };
    match given.filter(|r| (0.0..=1.0).contains(r)) {
        Some(r) => v.proxy.workers.maximum_cpu_ratio = r,
        None => return refuse("not a number from 0 to 1"),
    }
    Ok(())
}

fn capabilities(to: &mut Option<Capabilities>, from: &Value) -> Result<(), String> {
    let Value::Object(map) = from else {
        return if from.is_null() {
            *to = None;
            Ok(())
        } else {
            refuse("not an object")
        };
    };
    let mut given = to.clone().unwrap_or_default();
    for (key, list) in [("add", &mut given.add), ("drop", &mut given.drop)] {
        match map.get(key) {
            None => {}
            Some(Value::Null) => list.clear(),
            Some(names) => match names.as_array().map(|a| a.iter().map(|n| n.as_str().map(str::to_owned)).collect()) {
                Some(Some(names)) => *list = names,
                _ => return Err(format!("one whose {key} is no list of texts")),
            },
        }
    }
    *to = Some(given);
    Ok(())
}

fn probe(to: &mut Probe, from: &Value) -> Result<(), String> {
    let Value::Object(map) = from else {
        return if from.is_null() { Ok(()) } else { refuse("not an object") };
    };
    let mut given = *to;
    for (key, seconds, least) in [
        ("initialDelaySeconds", &mut given.initial_delay_seconds, 0),
        ("timeoutSeconds", &mut given.timeout_seconds, 0),
        ("periodSeconds", &mut given.period_seconds, 0),
        ("failureThreshold", &mut given.failure_threshold, 0),
    ] {
        match map.get(key) {
            None => {}
            Some(x) => {
                match if x.is_null() { Some(0) } else { whole(x) }.and_then(|n| i32::try_from(n).ok()).filter(|n| *n >= least) {
                    Some(n) => *seconds = n,
                    None => return Err(format!("one whose {key} is not a whole number from {least}")),
                }
            }
        }
    }
    *to = given;
    Ok(())
}

fn labels(to: &mut BTreeMap<String, String>, from: &Value) -> Result<(), String> {
    let Value::Object(map) = from else {
        return if from.is_null() {
            to.clear();
            Ok(())
        } else {
            refuse("not an object")
        };
    };
    let mut given = Vec::new();
    for (key, value) in map {
        let text = text_of(value).map_err(|problem| format!("one whose {key} is {problem}"))?;
        if to.get(key).is_none_or(|there| *there != text) {
            given.push((key.clone(), text.into_owned()));
        }
    }
    to.extend(given);
    Ok(())
}

/// Entries in the shape of a container's `env`. Of a list the good ones hold; the first that the API server would refuse is named by
/// its place, never by its value.
fn env(to: &mut Vec<Value>, from: &Value) -> Result<(), String> {
    let entries = match from {
        Value::Null => &[],
        Value::Array(entries) => entries.as_slice(),
        _ => return refuse("not a list"),
    };
    let read = entries.iter().enumerate().map(|(index, entry)| {
        crate::parse::env_entry::entry(entry).map_err(|problem| format!("one whose entry {index} is {problem}"))
    });
    let (good, bad): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
    *to = good.into_iter().flatten().collect();
    bad.into_iter().next().unwrap_or(Ok(serde_json::Value::Null)).map(drop)
}

/// Deep merge: objects merge, anything else replaces.
fn merge_object(to: &mut Map<String, Value>, from: &Value) -> Result<(), String> {
    match from {
        Value::Null => to.clear(),
        Value::Object(map) => {
            for (key, value) in map {
                match (to.get_mut(key), value) {
                    (Some(Value::Object(below)), Value::Object(_)) => merge_object(below, value)?,
                    (Some(there), _) if there == value => {}
                    _ => {
                        to.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        _ => return refuse("not an object"),
    }
    Ok(())
}

/// Proxy parameters: three levels of objects, then a scalar that the proxy can read.
fn merge_params(to: &mut Map<String, Value>, from: &Value) -> Result<(), String> {
    let levels = |value: &Value| {
        let nested = |value: &Value| value.as_object().is_none_or(|m| m.values().all(|v| v.is_object() || v.is_null()));
        value.as_object().is_none_or(|scopes| scopes.values().all(|s| (s.is_object() && nested(s)) || s.is_null()))
    };
    if !levels(from) {
        return refuse("not an object of scopes, protocols and parameters");
    }
    merge_object(to, from)
}

fn any(_: &str) -> Result<(), String> {
    Ok(())
}

fn not_empty(text: &str) -> Result<(), String> {
    if text.is_empty() { refuse("empty") } else { Ok(()) }
}

fn reads(variable: &str, text: &str) -> Result<(), String> {
    said(proxy_env::readable(variable, text))
}

/// Empty: the variable is not set.
fn optional(variable: &str, text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { reads(variable, text) }
}

fn tag(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { said(image::tag(text)) }
}

fn pull_policy(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { said(image::pull_policy(text)) }
}

/// Empty: no such request or limit.
fn amount(text: &str) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { said(quantity::resource(text)) }
}

fn log_http_headers(text: &str) -> Result<(), String> {
    if matches!(text, "insecure" | "off" | "") { Ok(()) } else { refuse("neither insecure nor off") }
}

fn iptables_mode(text: &str) -> Result<(), String> {
    if matches!(text, "nft" | "legacy") { Ok(()) } else { refuse("neither nft nor legacy") }
}

fn init_log_level(text: &str) -> Result<(), String> {
    let known = ["panic", "fatal", "error", "warn", "warning", "info", "debug", "trace"];
    if text.is_empty() || known.iter().any(|k| k.eq_ignore_ascii_case(text)) { Ok(()) } else { refuse("not a log level") }
}

fn validator_log_format(text: &str) -> Result<(), String> {
    if matches!(text, "plain" | "json") { Ok(()) } else { refuse("neither plain nor json") }
}

fn socket_address(text: &str) -> Result<(), String> {
    if text.is_empty() || text.parse::<std::net::SocketAddr>().is_ok() { Ok(()) } else { refuse("not an IP address with a port") }
}

fn mount_path(text: &str) -> Result<(), String> {
    if text.is_empty() || text.contains(':') { refuse("not a mount path") } else { Ok(()) }
}

/// A domain as it is put into service names and identities.
fn dns_domain(text: &str) -> Result<(), String> {
    let fine = text.split('.').all(|label| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
            && bytes.first() != Some(&b'-')
            && bytes.last() != Some(&b'-')
    });
    if text.is_empty() || fine { Ok(()) } else { refuse("not a DNS name") }
}
