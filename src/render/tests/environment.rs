//! The proxy's environment.

use super::{annotated, env, mk_pod, plain, rendered, rendered_in};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The environment that Linkerd gives a plain pod, in order; what comes from a field is shown as `@FIELD`.
const DEFAULT: &[(&str, &str)] = &[
    ("_pod_name", "@metadata.name"),
    ("_pod_ns", "@metadata.namespace"),
    ("_pod_uid", "@metadata.uid"),
    ("_pod_ip", "@status.podIP"),
    ("_pod_nodeName", "@spec.nodeName"),
    ("_pod_containerName", "linkerd-proxy"),
    ("LINKERD2_PROXY_CORES", "1"),
    ("LINKERD2_PROXY_CORES_MIN", "1"),
    ("LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED", "false"),
    ("LINKERD2_PROXY_LOG", "warn,linkerd=info,hickory=error,[{headers}]=off,[{request}]=off"),
    ("LINKERD2_PROXY_LOG_FORMAT", "plain"),
    ("LINKERD2_PROXY_DESTINATION_SVC_ADDR", "linkerd-dst-headless.linkerd.svc.cluster.local.:8086"),
    ("LINKERD2_PROXY_DESTINATION_PROFILE_NETWORKS", "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8"),
    ("LINKERD2_PROXY_POLICY_SVC_ADDR", "linkerd-policy.linkerd.svc.cluster.local.:8090"),
    ("LINKERD2_PROXY_POLICY_WORKLOAD", "{\"ns\":\"$(_pod_ns)\", \"pod\":\"$(_pod_name)\"}\n"),
    ("LINKERD2_PROXY_INBOUND_DEFAULT_POLICY", "all-unauthenticated"),
    ("LINKERD2_PROXY_POLICY_CLUSTER_NETWORKS", "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8"),
    ("LINKERD2_PROXY_CONTROL_STREAM_INITIAL_TIMEOUT", "3s"),
    ("LINKERD2_PROXY_CONTROL_STREAM_IDLE_TIMEOUT", "5m"),
    ("LINKERD2_PROXY_CONTROL_STREAM_LIFETIME", "1h"),
    ("LINKERD2_PROXY_INBOUND_CONNECT_TIMEOUT", "100ms"),
    ("LINKERD2_PROXY_OUTBOUND_CONNECT_TIMEOUT", "1000ms"),
    ("LINKERD2_PROXY_OUTBOUND_DISCOVERY_IDLE_TIMEOUT", "5s"),
    ("LINKERD2_PROXY_INBOUND_DISCOVERY_IDLE_TIMEOUT", "90s"),
    ("LINKERD2_PROXY_CONTROL_LISTEN_ADDR", "0.0.0.0:4190"),
    ("LINKERD2_PROXY_ADMIN_LISTEN_ADDR", "0.0.0.0:4191"),
    ("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR", "127.0.0.1:4140"),
    ("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", "127.0.0.1:4140"),
    ("LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "0.0.0.0:4143"),
    ("LINKERD2_PROXY_INBOUND_IPS", "@status.podIPs"),
    ("LINKERD2_PROXY_INBOUND_PORTS", ""),
    ("LINKERD2_PROXY_DESTINATION_PROFILE_SUFFIXES", "svc.cluster.local."),
    ("LINKERD2_PROXY_INBOUND_ACCEPT_KEEPALIVE", "10000ms"),
    ("LINKERD2_PROXY_OUTBOUND_CONNECT_KEEPALIVE", "10000ms"),
    ("LINKERD2_PROXY_INBOUND_ACCEPT_USER_TIMEOUT", "30s"),
    ("LINKERD2_PROXY_OUTBOUND_CONNECT_USER_TIMEOUT", "30s"),
    ("LINKERD2_PROXY_OUTBOUND_METRICS_HOSTNAME_LABELS", "false"),
    ("LINKERD2_PROXY_INBOUND_SERVER_HTTP2_KEEP_ALIVE_INTERVAL", "10s"),
    ("LINKERD2_PROXY_INBOUND_SERVER_HTTP2_KEEP_ALIVE_TIMEOUT", "3s"),
    ("LINKERD2_PROXY_OUTBOUND_SERVER_HTTP2_KEEP_ALIVE_INTERVAL", "10s"),
    ("LINKERD2_PROXY_OUTBOUND_SERVER_HTTP2_KEEP_ALIVE_TIMEOUT", "3s"),
    ("LINKERD2_PROXY_INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION", "25,587,3306,4444,5432,6379,9300,11211"),
    (
        "LINKERD2_PROXY_DESTINATION_CONTEXT",
        "{\"ns\":\"$(_pod_ns)\", \"nodeName\":\"$(_pod_nodeName)\", \"pod\":\"$(_pod_name)\"}\n",
    ),
    ("_pod_sa", "@spec.serviceAccountName"),
    ("_l5d_ns", "linkerd"),
    ("_l5d_trustdomain", "cluster.local"),
    ("LINKERD2_PROXY_IDENTITY_DIR", "/var/run/linkerd/identity/end-entity"),
    ("LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
    ("LINKERD2_PROXY_IDENTITY_TOKEN_FILE", "/var/run/secrets/tokens/linkerd-identity-token"),
    ("LINKERD2_PROXY_IDENTITY_SVC_ADDR", "linkerd-identity-headless.linkerd.svc.cluster.local.:8080"),
    ("LINKERD2_PROXY_IDENTITY_LOCAL_NAME", "$(_pod_sa).$(_pod_ns).serviceaccount.identity.linkerd.cluster.local"),
    ("LINKERD2_PROXY_IDENTITY_SVC_NAME", "linkerd-identity.linkerd.serviceaccount.identity.linkerd.cluster.local"),
    ("LINKERD2_PROXY_DESTINATION_SVC_NAME", "linkerd-destination.linkerd.serviceaccount.identity.linkerd.cluster.local"),
    ("LINKERD2_PROXY_POLICY_SVC_NAME", "linkerd-destination.linkerd.serviceaccount.identity.linkerd.cluster.local"),
];

fn entries(layer: Value, pod: &Value) -> Vec<(String, String)> {
    let shown = |entry: &Value| match entry.pointer("/valueFrom/fieldRef/fieldPath") {
        Some(field) => format!("@{}", field.as_str().unwrap()),
        None => entry.get("value").map_or("", |v| v.as_str().unwrap()).to_owned(),
    };
    let env = rendered(layer, pod).proxy["env"].as_array().unwrap().clone();
    env.iter().map(|e| (e["name"].as_str().unwrap().to_owned(), shown(e))).collect()
}

#[test]
fn a_default_environment_is_linkerds() {
    let expected: Vec<_> = DEFAULT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    assert_eq!(entries(json!({}), &plain()), expected);
}

/// Values and annotations that switch on all that is off by default.
fn everything() -> (Value, Value) {
    let identity = json!({"serviceAccountName": "c", "namespace": "t"});
    let layer = json!({"disableIPv6": false, "proxy": {
        "tracing": {"enabled": true, "collector": {"endpoint": "c.test:1", "meshIdentity": identity}},
        "requireTLSOnInboundPorts": "1",
        "accessLog": "json",
        "runtime": {"workers": {"maximum": 2, "maximumCPURatio": 0.5}},
        "additionalEnv": [{"name": "A", "value": "$(_pod_ip) $(LINKERD2_PROXY_LOG)"}],
        "experimentalEnv": [{"name": "B", "value": "$(A)"}],
    }});
    let annotations = json!({
        "linkerd.io/inject": "ingress",
        "config.linkerd.io/proxy-require-identity-inbound-ports": "1",
        "config.linkerd.io/enable-gateway": "true",
        "config.linkerd.io/shutdown-grace-period": "1s",
        "config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout": "true",
        "config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout": "true",
    });
    (layer, mk_pod(annotations, json!({})))
}

#[test]
fn names_are_unique_and_references_go_backwards() {
    let (layer, pod) = everything();
    for entries in [entries(json!({}), &plain()), entries(layer, &pod)] {
        let mut before: BTreeSet<String> = BTreeSet::new();
        for (name, value) in entries {
            for reference in value.split("$(").skip(1) {
                let (reference, _) = reference.split_once(')').unwrap();
                assert!(before.contains(reference), "{name} refers to {reference}");
            }
            assert!(before.insert(name.clone()), "{name} twice");
        }
    }
}

#[test]
fn each_switch_has_its_variable_in_its_place() {
    let (layer, pod) = everything();
    let default: BTreeSet<_> = DEFAULT.iter().map(|(name, _)| *name).collect();
    let all = entries(layer, &pod);
    let added: Vec<(String, String)> = all
        .windows(2)
        .filter_map(|pair| match pair {
            [(before, _), (name, value)] if !default.contains(name.as_str()) => Some((format!("{before} {name}"), value.clone())),
            _ => None,
        })
        .collect();
    let lines: Vec<String> =
        added.iter().map(|(names, value)| format!("{}={value}", names.replace("LINKERD2_PROXY_", ""))).collect();
    let expected = [
        "CORES_MIN CORES_MAX=2",
        "CORES_MAX CORES_MAX_RATIO=0.5",
        "CORES_MAX_RATIO INBOUND_PORTS_REQUIRE_IDENTITY=1",
        "INBOUND_PORTS_REQUIRE_IDENTITY INBOUND_PORTS_REQUIRE_TLS=1",
        "INBOUND_DISCOVERY_IDLE_TIMEOUT OUTBOUND_DETECT_TIMEOUT=365d",
        "OUTBOUND_DETECT_TIMEOUT INBOUND_DETECT_TIMEOUT=365d",
        "INBOUND_PORTS INBOUND_GATEWAY_SUFFIXES=svc.cluster.local.",
        "INBOUND_GATEWAY_SUFFIXES INGRESS_MODE=true",
        "OUTBOUND_METRICS_HOSTNAME_LABELS TRACE_ATTRIBUTES_PATH=/var/run/linkerd/podinfo/labels",
        "TRACE_ATTRIBUTES_PATH TRACE_ANNOTATIONS_PATH=/var/run/linkerd/podinfo/annotations",
        "TRACE_ANNOTATIONS_PATH TRACE_PROTOCOL=opentelemetry",
        "TRACE_PROTOCOL TRACE_SERVICE_NAME=linkerd-proxy",
        "TRACE_SERVICE_NAME TRACE_COLLECTOR_SVC_ADDR=c.test:1",
        "TRACE_COLLECTOR_SVC_ADDR TRACE_COLLECTOR_SVC_NAME=c.t.serviceaccount.identity.linkerd.cluster.local",
        "TRACE_COLLECTOR_SVC_NAME TRACE_EXTRA_ATTRIBUTES=k8s.container.name=$(_pod_containerName)\nk8s.pod.ip=$(_pod_ip)\nk8s.pod.uid=$(_pod_uid)\n",
        "POLICY_SVC_NAME ACCESS_LOG=json",
        "ACCESS_LOG SHUTDOWN_GRACE_PERIOD=1000ms",
        "SHUTDOWN_GRACE_PERIOD A=$(_pod_ip) $(LOG)",
        "A B=$(A)",
    ];
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    let lines: Vec<String> = lines.iter().map(|line| line.replace("LINKERD2_PROXY_", "")).collect();
    assert_eq!(lines, expected);
}

#[test]
fn listeners_follow_ipv6_and_the_ports() {
    let ports = json!({"config.linkerd.io/control-port": "1", "config.linkerd.io/admin-port": "2", "config.linkerd.io/inbound-port": "3", "config.linkerd.io/outbound-port": "65535"});
    for (off, any, outbound) in [(true, "0.0.0.0", "127.0.0.1:65535"), (false, "[::]", "127.0.0.1:65535,[::1]:65535")] {
        let patch = rendered(json!({"disableIPv6": off}), &mk_pod(ports.clone(), json!({})));
        let value = |name: &str| env(&patch, &format!("LINKERD2_PROXY_{name}")).unwrap();
        assert_eq!(value("CONTROL_LISTEN_ADDR"), format!("{any}:1"));
        assert_eq!(value("ADMIN_LISTEN_ADDR"), format!("{any}:2"));
        assert_eq!(value("INBOUND_LISTEN_ADDR"), format!("{any}:3"));
        assert_eq!(
            (value("OUTBOUND_LISTEN_ADDR").as_str(), value("OUTBOUND_LISTEN_ADDRS").as_str()),
            ("127.0.0.1:65535", outbound)
        );
        let ipv6 = patch.init["args"].as_array().unwrap().contains(&json!("--ipv6=false"));
        assert_eq!(ipv6, off);
    }
}

#[test]
fn workers_are_whole_numbers_or_none() {
    let of = |layer: Value, annotations: Value| {
        let patch = rendered(layer, &mk_pod(annotations, json!({})));
        ["CORES", "CORES_MIN", "CORES_MAX", "CORES_MAX_RATIO"]
            .map(|name| env(&patch, &format!("LINKERD2_PROXY_{name}")).unwrap_or_default())
    };
    let (request, limit, ratio) =
        ("config.linkerd.io/proxy-cpu-request", "config.linkerd.io/proxy-cpu-limit", "config.linkerd.io/proxy-cpu-ratio-limit");
    let none = json!({"proxy": {"runtime": {"workers": {"minimum": 0}}}});
    for (layer, annotations, expected) in [
        (json!({}), json!({}), ["1", "1", "", ""]),
        (none.clone(), json!({}), ["", "", "", ""]),
        (none.clone(), json!({limit: "1001m"}), ["1", "1", "2", ""]),
        (none, json!({ratio: "0.25"}), ["1", "1", "", "0.25"]),
        (json!({}), json!({request: "1500m", limit: "0.5"}), ["2", "2", "1", ""]),
        (json!({}), json!({limit: "1m"}), ["1", "1", "1", ""]),
        (json!({}), json!({request: "0"}), ["", "", "", ""]),
        (json!({}), json!({request: "-1"}), ["1", "1", "", ""]),
        (json!({}), json!({ratio: "0.00001"}), ["1", "1", "", "1e-05"]),
        (json!({"proxy": {"cores": 2_000_000}}), json!({request: "3", limit: "3", ratio: "0.5"}), ["2000000", "2000000", "", ""]),
        (
            json!({"proxy": {"runtime": {"workers": {"minimum": 3, "maximum": 4, "maximumCPURatio": 1}}}}),
            json!({}),
            ["3", "3", "4", "1"],
        ),
    ] {
        assert_eq!(of(layer.clone(), annotations.clone()), expected, "{layer} {annotations}");
    }
}

#[test]
fn inbound_ports_are_the_pods_or_those_it_is_given() {
    let container = json!({
        "ports": [{"containerPort": 8080}, {"containerPort": 443}, {"containerPort": 53, "protocol": "UDP"}, {"containerPort": 8080, "protocol": "TCP"}],
        "readinessProbe": {"httpGet": {"port": 10000}},
        "livenessProbe": {"httpGet": {"port": "named"}},
        "startupProbe": {"grpc": {"port": 9}},
    });
    let key = "config.linkerd.io/pod-inbound-ports";
    for (annotations, expected) in [
        (json!({}), "9,443,8080,10000"),
        (json!({key: "1234"}), "1234"),
        (json!({key: ""}), ""),
        (json!({key: " 80, 90-91 "}), " 80, 90-91 "),
        (json!({key: "x"}), "9,443,8080,10000"),
    ] {
        let patch = rendered(json!({"proxy": {"podInboundPorts": "7"}}), &mk_pod(annotations.clone(), container.clone()));
        assert_eq!(env(&patch, "LINKERD2_PROXY_INBOUND_PORTS").as_deref(), Some(expected), "{annotations}");
    }
    let mut both = mk_pod(json!({}), json!({"ports": [{"containerPort": 2}]}));
    both["spec"]["initContainers"] =
        json!([{"name": "i", "ports": [{"containerPort": 3}], "startupProbe": {"tcpSocket": {"port": 1}}}]);
    assert_eq!(env(&rendered(json!({}), &both), "LINKERD2_PROXY_INBOUND_PORTS").as_deref(), Some("1,2,3"));
}

#[test]
fn opaque_ports_are_the_annotations_or_those_exposed_or_the_defaults() {
    let key = "config.linkerd.io/opaque-ports";
    let exposing = |annotations: Value| {
        let ports = json!([{"name": "mysql", "containerPort": 3306}, {"containerPort": 25}, {"containerPort": 80}]);
        mk_pod(annotations, json!({"ports": ports}))
    };
    for (namespace, layer, pod, expected) in [
        (vec![], json!({}), plain(), Some("25,587,3306,4444,5432,6379,9300,11211")),
        (vec![], json!({}), exposing(json!({})), Some("3306,25")),
        (vec![], json!({}), exposing(json!({key: "mysql, 25,,4320-4330,9-9"})), Some("3306,25,4320-4330,9")),
        (vec![], json!({}), exposing(json!({key: ""})), None),
        (vec![(key, "3000")], json!({}), exposing(json!({})), Some("3000")),
        (vec![(key, "3000")], json!({}), exposing(json!({key: ""})), None),
        (vec![], json!({"proxy": {"opaquePorts": "25, 3000-3999"}}), plain(), Some("25, 3000-3999")),
        (vec![], json!({"proxy": {"opaquePorts": "25, 3000-3999"}}), exposing(json!({})), Some("3306,25")),
        (vec![], json!({"proxy": {"opaquePorts": ""}}), exposing(json!({})), None),
    ] {
        let patch = rendered_in(&namespace, layer, &pod);
        assert_eq!(
            env(&patch, "LINKERD2_PROXY_INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION").as_deref(),
            expected,
            "{namespace:?} {pod}"
        );
    }
}

#[test]
fn an_added_entry_takes_the_place_of_a_rendered_one() {
    let log = json!({"name": "LINKERD2_PROXY_LOG", "value": "off"});
    let layer = json!({"proxy": {"additionalEnv": [log, {"name": "A", "value": "1"}], "experimentalEnv": [{"name": "A", "value": "2"}, {"name": "B"}]}});
    let mut expected: Vec<_> = DEFAULT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    expected.iter_mut().find(|(name, _)| name == "LINKERD2_PROXY_LOG").unwrap().1 = "off".to_owned();
    expected.extend([("A".to_owned(), "2".to_owned()), ("B".to_owned(), String::new())]);
    assert_eq!(entries(layer, &plain()), expected);
}

#[test]
fn an_added_entry_that_does_not_go_with_the_others_is_left_out() {
    let key = "config.linkerd.io/proxy-additional-env";
    let list = |entries: Value| annotated(key, &entries.to_string());
    let entry = |name: &str, value: &str| json!({"name": format!("LINKERD2_PROXY_{name}"), "value": value});
    for (pod, name, expected, dropped) in [
        (list(json!([entry("ADMIN_LISTEN_ADDR", "0.0.0.0:4143")])), "ADMIN_LISTEN_ADDR", Some("0.0.0.0:4191"), true),
        (list(json!([entry("ADMIN_LISTEN_ADDR", "0.0.0.0:9")])), "ADMIN_LISTEN_ADDR", Some("0.0.0.0:9"), false),
        (list(json!([entry("CONTROL_STREAM_LIFETIME", "1s")])), "CONTROL_STREAM_LIFETIME", Some("1h"), true),
        (list(json!([entry("INBOUND_CONNECT_EXP_BACKOFF_MIN", "1s")])), "INBOUND_CONNECT_EXP_BACKOFF_MIN", None, true),
        (list(json!([entry("ADMIN_LISTEN_ADDR", "$(secret)")])), "ADMIN_LISTEN_ADDR", Some("$(secret)"), false),
    ] {
        let patch = rendered(json!({}), &pod);
        assert_eq!(env(&patch, &format!("LINKERD2_PROXY_{name}")).as_deref(), expected, "{name}");
        let lines: Vec<String> = patch.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), usize::from(dropped), "{lines:?}");
        for line in lines {
            assert!(line.starts_with(&format!("{key} is without LINKERD2_PROXY_{name}, which makes ")), "{line}");
        }
    }
    // It is named where it comes from, and from values it is nobody's invalid annotation.
    let lifetime = json!([entry("CONTROL_STREAM_LIFETIME", "1s")]);
    let layer = || json!({"proxy": {"additionalEnv": lifetime}});
    let other = json!([entry("LOG", "off")]).to_string();
    for (namespace, layer, pod, place, invalid) in [
        (vec![], json!({}), list(lifetime.clone()), key.to_owned(), true),
        (vec![(key, lifetime.to_string())], json!({}), plain(), format!("namespace's {key}"), false),
        (vec![(key, lifetime.to_string())], json!({}), annotated(key, &other), format!("namespace's {key}"), false),
        (vec![], layer(), plain(), "mesh".to_owned(), false),
        (vec![(key, other.clone())], layer(), annotated(key, &other), "mesh".to_owned(), false),
    ] {
        let namespace: Vec<_> = namespace.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let warnings = rendered_in(&namespace, layer, &pod).warnings;
        let said: Vec<_> = warnings.iter().map(|w| (w.to_string(), w.is_invalid_annotation())).collect();
        let line = format!(
            "{place} is without LINKERD2_PROXY_CONTROL_STREAM_LIFETIME, which makes stream limits that are not in the order initial, idle, lifetime"
        );
        assert_eq!(said, [(line, invalid)]);
    }
}

#[test]
fn parameters_are_variables_named_by_their_path() {
    let layer = json!({"proxy": {
        "inbound": {"server": {"http2": {"keepAliveInterval": null, "initialWindowSize": 65535, "maxRSTStreams": true, "a-b c": "x"}}},
        "outbound": {"tcp": {"HTTPServer": {"queueURL": "q"}}, "server": null},
    }});
    let patch = rendered(layer, &plain());
    for (name, expected) in [
        ("INBOUND_SERVER_HTTP2_KEEP_ALIVE_INTERVAL", None),
        ("INBOUND_SERVER_HTTP2_KEEP_ALIVE_TIMEOUT", Some("3s")),
        ("INBOUND_SERVER_HTTP2_INITIAL_WINDOW_SIZE", Some("65535")),
        ("INBOUND_SERVER_HTTP2_MAX_RST_STREAMS", Some("true")),
        ("INBOUND_SERVER_HTTP2_A_B_C", Some("x")),
        ("OUTBOUND_TCP_HTTP_SERVER_QUEUE_URL", Some("q")),
        ("OUTBOUND_SERVER_HTTP2_KEEP_ALIVE_INTERVAL", None),
    ] {
        assert_eq!(env(&patch, &format!("LINKERD2_PROXY_{name}")).as_deref(), expected, "{name}");
    }
}

#[test]
fn names_of_services_and_identities_follow_the_domains() {
    let patch = rendered(json!({"clusterDomain": "c.test", "identityTrustDomain": "t.test"}), &plain());
    let value = |name: &str| env(&patch, &format!("LINKERD2_PROXY_{name}")).unwrap();
    assert_eq!(value("POLICY_SVC_ADDR"), "linkerd-policy.linkerd.svc.c.test.:8090");
    assert_eq!(value("POLICY_SVC_NAME"), "linkerd-destination.linkerd.serviceaccount.identity.linkerd.t.test");
    assert_eq!(value("DESTINATION_PROFILE_SUFFIXES"), "svc.c.test.");
    assert_eq!(env(&patch, "_l5d_trustdomain").as_deref(), Some("t.test"));
    let patch = rendered(json!({}), &annotated("config.linkerd.io/enable-external-profiles", "true"));
    assert_eq!(env(&patch, "LINKERD2_PROXY_DESTINATION_PROFILE_SUFFIXES").as_deref(), Some("."));
}
