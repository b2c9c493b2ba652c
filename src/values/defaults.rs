//! The chart's default values, as the control-plane chart of Linkerd edge-26.8.1 has them; a test compares.

use crate::values::{ControlStreams, Image, NetworkValidator, Ports, Probe, Proxy, ProxyInit, Tracing, Values, Workers};
use serde_json::{Map, Value};

/// The chart's defaults of the Linkerd version that this project follows: edge-26.8.1.
impl Default for Values {
    fn default() -> Self {
        let seconds = |initial_delay_seconds, timeout_seconds, period_seconds, failure_threshold| Probe {
            initial_delay_seconds,
            timeout_seconds,
            period_seconds,
            failure_threshold,
        };
        let text = str::to_owned;
        Values {
            cluster_domain: text("cluster.local"),
            cluster_networks: text("10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8"),
            image_pull_policy: text("IfNotPresent"),
            linkerd_version: text("edge-26.8.1"),
            cni_enabled: false,
            disable_ipv6: true,
            trust_anchors: String::new(),
            trust_domain: String::new(),
            token_projection: true,
            proxy: Proxy {
                image: Image { name: text("cr.l5d.io/linkerd/proxy"), ..Image::default() },
                log_level: text("warn,linkerd=info,hickory=error"),
                log_format: text("plain"),
                log_http_headers: text("off"),
                ports: Ports::default_chart(),
                uid: 2102,
                gid: None,
                outbound_connect_timeout: text("1000ms"),
                inbound_connect_timeout: text("100ms"),
                outbound_discovery_cache_unused_timeout: text("5s"),
                inbound_discovery_cache_unused_timeout: text("90s"),
                opaque_ports: text("25,587,3306,4444,5432,6379,9300,11211"),
                await_ready: true,
                default_inbound_policy: text("all-unauthenticated"),
                native_sidecar: true,
                startup_probe: seconds(0, 0, 1, 120),
                readiness_probe: seconds(2, 1, 0, 0),
                liveness_probe: seconds(10, 1, 0, 0),
                control_streams: ControlStreams::default_chart(),
                tracing: Tracing {
                    labels: [
                        ("k8s.container.name", "$(_pod_containerName)"),
                        ("k8s.pod.ip", "$(_pod_ip)"),
                        ("k8s.pod.uid", "$(_pod_uid)"),
                    ]
                    .map(|(k, v)| (text(k), text(v)))
                    .into(),
                    trace_service_name: text("linkerd-proxy"),
                    ..Tracing::default()
                },
                inbound: http2_keep_alive(),
                outbound: http2_keep_alive(),
                workers: Workers { minimum: 1, ..Workers::default() },
                ..Proxy::default()
            },
            proxy_init: ProxyInit {
                ignore_inbound_ports: text("4567,4568"),
                ignore_outbound_ports: text("4567,4568"),
                xt_mount_path: text("/run"),
                run_as_user: 65534,
                run_as_group: 65534,
                iptables_mode: text("nft"),
                ..ProxyInit::default()
            },
            network_validator: NetworkValidator {
                log_level: text("debug"),
                log_format: text("plain"),
                timeout: text("10s"),
                enable_security_context: true,
                security_context: validator_security_context(),
                ..NetworkValidator::default()
            },
            debug_image: Image { name: text("cr.l5d.io/linkerd/debug"), version: text("edge-26.8.1"), pull_policy: String::new() },
            debug_enabled: false,
            debug_resources: super::Resources::default(),
        }
    }
}

/// The chart's default parameters, of both directions.
fn http2_keep_alive() -> Map<String, Value> {
    let mut http2 = Map::new();
    http2.insert("keepAliveInterval".to_owned(), "10s".into());
    http2.insert("keepAliveTimeout".to_owned(), "3s".into());
    let mut server = Map::new();
    server.insert("http2".to_owned(), http2.into());
    let mut scopes = Map::new();
    scopes.insert("server".to_owned(), server.into());
    scopes
}

/// The validator's security context where values give none: what the restricted pod security level asks for.
pub(crate) fn validator_security_context() -> Map<String, Value> {
    let mut block = Map::new();
    block.insert("allowPrivilegeEscalation".to_owned(), false.into());
    block.insert("capabilities".to_owned(), serde_json::json!({"drop": ["ALL"]}));
    block.insert("readOnlyRootFilesystem".to_owned(), true.into());
    block.insert("runAsGroup".to_owned(), 65534.into());
    block.insert("runAsNonRoot".to_owned(), true.into());
    block.insert("runAsUser".to_owned(), 65534.into());
    block.insert("seccompProfile".to_owned(), serde_json::json!({"type": "RuntimeDefault"}));
    block
}

impl Ports {
    pub(super) fn default_chart() -> Self {
        Ports { admin: 4191, control: 4190, inbound: 4143, outbound: 4140 }
    }
}

impl ControlStreams {
    pub(super) fn default_chart() -> Self {
        ControlStreams { initial_timeout: "3s".to_owned(), idle_timeout: "5m".to_owned(), lifetime: "1h".to_owned() }
    }
}
