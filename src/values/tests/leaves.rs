//! Each leaf changes its own field and no other; the chart's default sets it back.

use super::{ROWS, at, chart, layer_of, layered};
use crate::values::{Capabilities, Values};
use serde_json::{Value, json};

type Change = fn(&mut Values);

/// A leaf, a value other than the default, and what it changes.
fn leaves() -> Vec<(&'static str, Value, Change)> {
    vec![
        ("clusterDomain", json!("example.org"), |v| v.cluster_domain = "example.org".to_owned()),
        ("clusterNetworks", json!("10.0.0.0/8"), |v| v.cluster_networks = "10.0.0.0/8".to_owned()),
        ("imagePullPolicy", json!("Always"), |v| v.image_pull_policy = "Always".to_owned()),
        ("linkerdVersion", json!("v2"), |v| v.linkerd_version = "v2".to_owned()),
        ("cniEnabled", json!(true), |v| v.cni_enabled = true),
        ("disableIPv6", json!(false), |v| v.disable_ipv6 = false),
        ("identityTrustAnchorsPEM", json!(" pem\n"), |v| v.trust_anchors = " pem\n".to_owned()),
        ("identityTrustDomain", json!("trust.test"), |v| v.trust_domain = "trust.test".to_owned()),
        ("identity.serviceAccountTokenProjection", json!(false), |v| v.token_projection = false),
        ("proxy.image.name", json!("r.test:5000/p"), |v| v.proxy.image.name = "r.test:5000/p".to_owned()),
        ("proxy.image.version", json!("v1"), |v| v.proxy.image.version = "v1".to_owned()),
        ("proxy.image.pullPolicy", json!("Never"), |v| v.proxy.image.pull_policy = "Never".to_owned()),
        ("proxy.capabilities", json!({"drop": ["A"]}), |v| {
            v.proxy.capabilities = Some(Capabilities { add: vec![], drop: vec!["A".to_owned()] });
        }),
        ("proxy.enableExternalProfiles", json!(true), |v| v.proxy.enable_external_profiles = true),
        ("proxy.enableShutdownEndpoint", json!(true), |v| v.proxy.enable_shutdown_endpoint = true),
        ("proxy.logLevel", json!("debug"), |v| v.proxy.log_level = "debug".to_owned()),
        ("proxy.logFormat", json!("json"), |v| v.proxy.log_format = "json".to_owned()),
        ("proxy.logHTTPHeaders", json!("insecure"), |v| v.proxy.log_http_headers = "insecure".to_owned()),
        ("proxy.ports.admin", json!(1), |v| v.proxy.ports.admin = 1),
        ("proxy.ports.control", json!(65535), |v| v.proxy.ports.control = 65535),
        ("proxy.ports.inbound", json!(5.0), |v| v.proxy.ports.inbound = 5),
        ("proxy.ports.outbound", json!(6), |v| v.proxy.ports.outbound = 6),
        ("proxy.resources.cpu.limit", json!("2"), |v| v.proxy.resources.cpu.limit = "2".to_owned()),
        ("proxy.resources.cpu.request", json!(1), |v| v.proxy.resources.cpu.request = "1".to_owned()),
        ("proxy.resources.memory.limit", json!("2Gi"), |v| v.proxy.resources.memory.limit = "2Gi".to_owned()),
        ("proxy.resources.memory.request", json!("1Gi"), |v| v.proxy.resources.memory.request = "1Gi".to_owned()),
        ("proxy.resources.ephemeral-storage.limit", json!("3Gi"), |v| v.proxy.resources.ephemeral_storage.limit = "3Gi".to_owned()),
        ("proxy.resources.ephemeral-storage.request", json!("1"), |v| v.proxy.resources.ephemeral_storage.request = "1".to_owned()),
        ("proxy.uid", json!(1_001_060_000), |v| v.proxy.uid = 1_001_060_000),
        ("proxy.gid", json!(0), |v| v.proxy.gid = Some(0)),
        ("proxy.waitBeforeExitSeconds", json!(u64::MAX), |v| v.proxy.wait_before_exit_seconds = u64::MAX),
        ("proxy.isGateway", json!(true), |v| v.proxy.is_gateway = true),
        ("proxy.isIngress", json!(true), |v| v.proxy.is_ingress = true),
        ("proxy.requireIdentityOnInboundPorts", json!("80,90-91"), |v| {
            v.proxy.require_identity_on_inbound_ports = "80,90-91".to_owned();
        }),
        ("proxy.requireTLSOnInboundPorts", json!(8080), |v| v.proxy.require_tls_on_inbound_ports = "8080".to_owned()),
        ("proxy.outboundConnectTimeout", json!("2s"), |v| v.proxy.outbound_connect_timeout = "2s".to_owned()),
        ("proxy.inboundConnectTimeout", json!("3m"), |v| v.proxy.inbound_connect_timeout = "3m".to_owned()),
        ("proxy.outboundDiscoveryCacheUnusedTimeout", json!("1d"), |v| {
            v.proxy.outbound_discovery_cache_unused_timeout = "1d".to_owned();
        }),
        ("proxy.inboundDiscoveryCacheUnusedTimeout", json!("4h"), |v| {
            v.proxy.inbound_discovery_cache_unused_timeout = "4h".to_owned();
        }),
        ("proxy.disableOutboundProtocolDetectTimeout", json!(true), |v| v.proxy.disable_outbound_protocol_detect_timeout = true),
        ("proxy.disableInboundProtocolDetectTimeout", json!(true), |v| v.proxy.disable_inbound_protocol_detect_timeout = true),
        ("proxy.opaquePorts", json!("25,4000-5000"), |v| v.proxy.opaque_ports = "25,4000-5000".to_owned()),
        ("proxy.await", json!(false), |v| v.proxy.await_ready = false),
        ("proxy.defaultInboundPolicy", json!("deny"), |v| v.proxy.default_inbound_policy = "deny".to_owned()),
        ("proxy.accessLog", json!("apache"), |v| v.proxy.access_log = "apache".to_owned()),
        ("proxy.shutdownGracePeriod", json!("30s"), |v| v.proxy.shutdown_grace_period = "30s".to_owned()),
        ("proxy.nativeSidecar", json!(false), |v| v.proxy.native_sidecar = false),
        ("proxy.startupProbe", json!({"initialDelaySeconds": 5, "failureThreshold": 7}), |v| {
            v.proxy.startup_probe.initial_delay_seconds = 5;
            v.proxy.startup_probe.failure_threshold = 7;
        }),
        ("proxy.readinessProbe", json!({"timeoutSeconds": 10}), |v| v.proxy.readiness_probe.timeout_seconds = 10),
        ("proxy.livenessProbe", json!({"initialDelaySeconds": 0}), |v| v.proxy.liveness_probe.initial_delay_seconds = 0),
        ("proxy.control.streams.initialTimeout", json!("1s"), |v| v.proxy.control_streams.initial_timeout = "1s".to_owned()),
        ("proxy.control.streams.idleTimeout", json!(""), |v| v.proxy.control_streams.idle_timeout = String::new()),
        ("proxy.control.streams.lifetime", json!("2h"), |v| v.proxy.control_streams.lifetime = "2h".to_owned()),
        ("proxy.metrics.hostnameLabels", json!(true), |v| v.proxy.hostname_labels = true),
        ("proxy.tracing.enabled", json!(true), |v| v.proxy.tracing.enabled = true),
        ("proxy.tracing.protocol", json!("opencensus"), |v| v.proxy.tracing.protocol = "opencensus".to_owned()),
        ("proxy.tracing.labels", json!({"k8s.pod.ip": 1}), |v| {
            v.proxy.tracing.labels.insert("k8s.pod.ip".to_owned(), "1".to_owned());
        }),
        ("proxy.tracing.traceServiceName", json!("web"), |v| v.proxy.tracing.trace_service_name = "web".to_owned()),
        ("proxy.tracing.collector.endpoint", json!("c.test:4317"), |v| v.proxy.tracing.endpoint = "c.test:4317".to_owned()),
        ("proxy.tracing.collector.meshIdentity.serviceAccountName", json!("c"), |v| {
            v.proxy.tracing.service_account_name = "c".to_owned();
        }),
        ("proxy.tracing.collector.meshIdentity.namespace", json!("t"), |v| v.proxy.tracing.namespace = "t".to_owned()),
        ("proxy.additionalEnv", json!([{"name": "A", "value": "1"}]), |v| {
            v.proxy.additional_env = vec![json!({"name": "A", "value": "1"})];
        }),
        ("proxy.experimentalEnv", json!([{"name": "B"}]), |v| v.proxy.experimental_env = vec![json!({"name": "B"})]),
        ("proxy.inbound", json!({"server": {"http2": {"keepAliveInterval": "1s"}}}), |v| {
            v.proxy.inbound["server"]["http2"]["keepAliveInterval"] = json!("1s");
        }),
        ("proxy.outbound", json!({"server": {"http2": {"keepAliveTimeout": 16_777_216}}}), |v| {
            v.proxy.outbound["server"]["http2"]["keepAliveTimeout"] = json!(16_777_216);
        }),
        ("proxy.cores", json!(2_000_000), |v| v.proxy.cores = 2_000_000),
        ("proxy.runtime.workers.minimum", json!(2), |v| v.proxy.workers.minimum = 2),
        ("proxy.runtime.workers.maximum", json!(3), |v| v.proxy.workers.maximum = 3),
        ("proxy.runtime.workers.maximumCPURatio", json!(1), |v| v.proxy.workers.maximum_cpu_ratio = 1.0),
        ("proxy.securityContext", json!({"runAsUser": 5}), |v| {
            v.proxy.security_context.insert("runAsUser".to_owned(), json!(5));
        }),
        ("proxyInit.capabilities", json!({"add": ["A"]}), |v| v.proxy_init.capabilities.add = vec!["A".to_owned()]),
        ("proxyInit.ignoreInboundPorts", json!("web, 80"), |v| v.proxy_init.ignore_inbound_ports = "web, 80".to_owned()),
        ("proxyInit.ignoreOutboundPorts", json!(443), |v| v.proxy_init.ignore_outbound_ports = "443".to_owned()),
        ("proxyInit.skipSubnets", json!("10.1.0.0/16"), |v| v.proxy_init.skip_subnets = "10.1.0.0/16".to_owned()),
        ("proxyInit.logLevel", json!("Warning"), |v| v.proxy_init.log_level = "Warning".to_owned()),
        ("proxyInit.logFormat", json!("json"), |v| v.proxy_init.log_format = "json".to_owned()),
        ("proxyInit.xtMountPath.mountPath", json!("/x"), |v| v.proxy_init.xt_mount_path = "/x".to_owned()),
        ("proxyInit.closeWaitTimeoutSecs", json!(2_147_483), |v| v.proxy_init.close_wait_timeout_secs = 2_147_483),
        ("proxyInit.privileged", json!(true), |v| v.proxy_init.privileged = true),
        ("proxyInit.runAsRoot", json!(true), |v| v.proxy_init.run_as_root = true),
        ("proxyInit.runAsUser", json!(0), |v| v.proxy_init.run_as_user = 0),
        ("proxyInit.runAsGroup", json!(i32::MAX), |v| v.proxy_init.run_as_group = i32::MAX.into()),
        ("proxyInit.iptablesMode", json!("legacy"), |v| v.proxy_init.iptables_mode = "legacy".to_owned()),
        ("networkValidator.logLevel", json!("info"), |v| v.network_validator.log_level = "info".to_owned()),
        ("networkValidator.logFormat", json!("json"), |v| v.network_validator.log_format = "json".to_owned()),
        ("networkValidator.connectAddr", json!("[::1]:80"), |v| v.network_validator.connect_addr = "[::1]:80".to_owned()),
        ("networkValidator.listenAddr", json!("1.2.3.4:1"), |v| v.network_validator.listen_addr = "1.2.3.4:1".to_owned()),
        ("networkValidator.timeout", json!("1s"), |v| v.network_validator.timeout = "1s".to_owned()),
        ("networkValidator.enableSecurityContext", json!(false), |v| v.network_validator.enable_security_context = false),
        ("networkValidator.securityContext", json!({"runAsUser": 5}), |v| {
            v.network_validator.security_context.insert("runAsUser".to_owned(), json!(5));
        }),
        ("debugContainer.image.name", json!("d"), |v| v.debug_image.name = "d".to_owned()),
        ("debugContainer.image.version", json!(""), |v| v.debug_image.version = String::new()),
        ("debugContainer.image.pullPolicy", json!("IfNotPresent"), |v| v.debug_image.pull_policy = "IfNotPresent".to_owned()),
    ]
}

/// The default of a leaf that the chart leaves out.
fn default_of(path: &str) -> Value {
    match path {
        "proxy.requireTLSOnInboundPorts" => json!(""),
        "networkValidator.enableSecurityContext" => json!(true),
        _ => json!(0),
    }
}

#[test]
fn each_leaf_changes_its_own_field_and_can_be_set_back() {
    let (chart, leaves) = (chart(), leaves());
    for (path, leaf, change) in &leaves {
        let mut expected = Values::default();
        change(&mut expected);
        assert_ne!(expected, Values::default(), "{path}");
        let (values, faults) = layered(Values::default(), &layer_of(path, leaf.clone()));
        assert_eq!((&values, faults), (&expected, vec![]), "{path}");
        // A map grows from layer to layer, until a null empties it.
        let (values, _) =
            if *path == "proxy.securityContext" { layered(values, &layer_of(path, json!(null))) } else { (values, vec![]) };
        let back = at(&chart, path).cloned().unwrap_or_else(|| default_of(path));
        assert_eq!(layered(values, &layer_of(path, back)), (Values::default(), vec![]), "{path}");
    }
    let tested: Vec<&str> = leaves.iter().map(|(path, ..)| *path).collect();
    assert_eq!(tested, ROWS.iter().map(|row| row.path).collect::<Vec<_>>());
}

#[test]
fn all_leaves_change_at_once_and_the_chart_sets_them_back() {
    let (mut values, mut expected) = (Values::default(), Values::default());
    for (path, leaf, change) in leaves() {
        change(&mut expected);
        assert_eq!(values.layer(&layer_of(path, leaf)), [], "{path}");
    }
    assert_eq!(values, expected);
    values.layer(&json!({"proxy": {"securityContext": null, "cores": 0, "requireTLSOnInboundPorts": "", "runtime": {"workers": {"maximum": 0, "maximumCPURatio": 0}}}}));
    values.layer(&json!({"networkValidator": {"enableSecurityContext": true}}));
    assert_eq!(layered(values, &chart()), (Values::default(), vec![]));
}

#[test]
fn a_null_is_the_empty_value_of_its_kind() {
    let rows: [(&str, Change); 24] = [
        ("clusterDomain", |v| v.cluster_domain = String::new()),
        ("clusterNetworks", |v| v.cluster_networks = String::new()),
        ("imagePullPolicy", |v| v.image_pull_policy = String::new()),
        ("disableIPv6", |v| v.disable_ipv6 = false),
        ("proxy.await", |v| v.proxy.await_ready = false),
        ("proxy.capabilities", |_| ()),
        ("proxy.gid", |v| v.proxy.gid = Some(0)),
        ("proxy.logLevel", |v| v.proxy.log_level = String::new()),
        ("proxy.opaquePorts", |v| v.proxy.opaque_ports = String::new()),
        ("proxy.resources", |_| ()),
        ("proxy.runtime", |v| v.proxy.workers.minimum = 0),
        ("proxy.startupProbe", |_| ()),
        ("proxy.control.streams.lifetime", |v| v.proxy.control_streams.lifetime = String::new()),
        ("proxy.tracing.labels", |v| v.proxy.tracing.labels.clear()),
        ("proxy.tracing.collector.meshIdentity", |_| ()),
        ("proxy.additionalEnv", |_| ()),
        ("proxy.inbound", |v| v.proxy.inbound.clear()),
        ("proxy.securityContext", |_| ()),
        ("proxyInit.capabilities", |_| ()),
        ("proxyInit.ignoreInboundPorts", |v| v.proxy_init.ignore_inbound_ports = String::new()),
        ("proxyInit.runAsUser", |v| v.proxy_init.run_as_user = 0),
        ("networkValidator.enableSecurityContext", |v| v.network_validator.enable_security_context = false),
        ("networkValidator.securityContext", |v| v.network_validator.security_context.clear()),
        ("debugContainer.image.version", |v| v.debug_image.version = String::new()),
    ];
    for (path, change) in rows {
        let mut expected = Values::default();
        change(&mut expected);
        assert_eq!(layered(Values::default(), &layer_of(path, json!(null))), (expected, vec![]), "{path}");
    }
}
