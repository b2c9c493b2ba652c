//! The init container and the network validator.

use super::{annotated, flag, mk_pod, plain, rendered};
use serde_json::{Value, json};

#[test]
fn a_default_init_container_is_this() {
    let expected = json!({
        "name": "linkerd-init",
        "image": "cr.l5d.io/linkerd/proxy:edge-26.8.1",
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/lib/linkerd/linkerd2-proxy-init"],
        "args": [
            "--firewall-bin-path", "iptables-nft", "--firewall-save-bin-path", "iptables-nft-save", "--ipv6=false",
            "--incoming-proxy-port", "4143", "--outgoing-proxy-port", "4140", "--proxy-uid", "2102",
            "--inbound-ports-to-ignore", "4190,4191,4567,4568", "--outbound-ports-to-ignore", "4567,4568",
        ],
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"add": ["NET_ADMIN", "NET_RAW"]},
            "privileged": false,
            "readOnlyRootFilesystem": true,
            "runAsGroup": 65534,
            "runAsNonRoot": true,
            "runAsUser": 65534,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": "linkerd-proxy-init-xtables-lock", "mountPath": "/run"}],
    });
    assert_eq!(rendered(json!({}), &plain()).init, expected);
}

#[test]
fn skipped_ports_start_with_the_proxys_own_and_come_once() {
    let named = |annotations: Value| mk_pod(annotations, json!({"ports": [{"name": "web", "containerPort": 8080}]}));
    for (text, expected) in [
        ("8080,9000-9010", "4190,4191,8080,9000-9010"),
        ("", "4190,4191"),
        (" 4191, web ,8080,+25,0025,9-9", "4190,4191,8080,25,9"),
        ("x", "4190,4191"),
        ("4000-5000", "4190,4191,4000-5000"),
    ] {
        let patch = rendered(json!({}), &named(json!({"config.linkerd.io/skip-inbound-ports": text})));
        assert_eq!(flag(&patch, "--inbound-ports-to-ignore").as_deref(), Some(expected), "{text}");
        // The same of a configured list.
        let patch = rendered_leniently(json!({"proxyInit": {"ignoreInboundPorts": text}}), &named(json!({})));
        assert_eq!(flag(&patch, "--inbound-ports-to-ignore").as_deref(), Some(expected), "{text}");
    }
    for (text, expected) in [("443,[4222]", Some("443")), ("", None), ("web", None), ("4191,4191, 1-2", Some("4191,1-2"))] {
        let patch = rendered(json!({}), &named(json!({"config.linkerd.io/skip-outbound-ports": text})));
        assert_eq!(flag(&patch, "--outbound-ports-to-ignore").as_deref(), expected, "{text}");
    }
    let ports =
        json!({"config.linkerd.io/control-port": "1", "config.linkerd.io/admin-port": "2", "config.linkerd.io/inbound-port": "3"});
    let patch = rendered(json!({}), &named(ports));
    assert_eq!(flag(&patch, "--inbound-ports-to-ignore").as_deref(), Some("1,2,4567,4568"));
    assert_eq!(flag(&patch, "--incoming-proxy-port").as_deref(), Some("3"));
}

/// As `rendered`, for lists of which some entries cannot be read.
fn rendered_leniently(layer: Value, pod: &Value) -> super::PodPatch {
    let list = layer["proxyInit"]["ignoreInboundPorts"].as_str().unwrap().to_owned();
    let namespace = std::collections::BTreeMap::new();
    let view = super::Workload::read(super::Kind::Pod, pod).unwrap();
    let annotations = super::Annotations::new(view, &namespace);
    let mut values = super::Values::default();
    values.proxy_init.ignore_inbound_ports = list;
    let mesh = super::Mesh {
        control_plane: "linkerd",
        namespace: "shop",
        owner: None,
        annotations,
        added_by: &std::collections::BTreeMap::new(),
        uid_of_range: false,
        default_opaque_ports: "",
    };
    super::pod_patch(&values, &view, &mesh).complete()
}

#[test]
fn each_setting_has_its_flag() {
    let absent = rendered(json!({}), &plain());
    for (layer, name, expected) in [
        (json!({"proxyInit": {"logFormat": "json"}}), "--log-format", "json"),
        (json!({"proxyInit": {"logLevel": "debug"}}), "--log-level", "debug"),
        (json!({"proxyInit": {"skipSubnets": "10.0.0.0/8"}}), "--subnets-to-ignore", "10.0.0.0/8"),
        (json!({"proxyInit": {"closeWaitTimeoutSecs": 30, "runAsRoot": true}}), "--timeout-close-wait-secs", "30"),
        (json!({"proxy": {"gid": 0}}), "--proxy-gid", "0"),
    ] {
        assert_eq!(flag(&absent, name), None, "{name}");
        assert_eq!(flag(&rendered(layer, &plain()), name).as_deref(), Some(expected), "{name}");
    }
    let arguments = |layer: Value| rendered(layer, &plain()).init["args"].clone();
    assert_eq!(arguments(json!({"proxyInit": {"iptablesMode": "legacy"}}))[0], "--ipv6=false");
    assert_eq!(arguments(json!({"proxyInit": {"iptablesMode": "legacy"}, "disableIPv6": false}))[0], "--incoming-proxy-port");
}

#[test]
fn only_what_needs_it_is_privileged() {
    let context = |layer: Value| rendered(layer, &plain()).init["securityContext"].clone();
    for (init, powerful, user, group, not_root) in [
        (json!({}), false, 65534, 65534, true),
        (json!({"runAsUser": 0, "runAsGroup": 0}), false, 65534, 65534, true),
        (json!({"runAsUser": 7, "runAsGroup": 8}), false, 7, 8, true),
        (json!({"privileged": true}), true, 65534, 65534, true),
        (json!({"runAsRoot": true, "runAsUser": 7}), false, 0, 0, false),
        (json!({"runAsRoot": true, "closeWaitTimeoutSecs": 1}), true, 0, 0, false),
    ] {
        let context = context(json!({"proxyInit": init}));
        assert_eq!((&context["privileged"], &context["allowPrivilegeEscalation"]), (&json!(powerful), &json!(powerful)), "{init}");
        assert_eq!((&context["runAsUser"], &context["runAsGroup"]), (&json!(user), &json!(group)), "{init}");
        assert_eq!(context["runAsNonRoot"], not_root, "{init}");
    }
    let pod = annotated("config.linkerd.io/close-wait-timeout", "30s");
    let patch = rendered(json!({"proxyInit": {"runAsRoot": true}}), &pod);
    assert_eq!(
        (flag(&patch, "--timeout-close-wait-secs").as_deref(), &patch.init["securityContext"]["privileged"]),
        (Some("30"), &json!(true))
    );
}

#[test]
fn the_lock_is_mounted_where_values_say() {
    let patch = rendered(json!({"proxyInit": {"xtMountPath": {"mountPath": "/x", "name": "other"}}}), &plain());
    assert_eq!(patch.init["volumeMounts"], json!([{"name": "linkerd-proxy-init-xtables-lock", "mountPath": "/x"}]));
}

#[test]
fn a_default_validator_is_this() {
    let context = json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": true,
        "runAsGroup": 65534,
        "runAsNonRoot": true,
        "runAsUser": 65534,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let mut expected = json!({
        "name": "linkerd-network-validator",
        "image": "cr.l5d.io/linkerd/proxy:edge-26.8.1",
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/lib/linkerd/linkerd2-network-validator"],
        "args": [
            "--log-format", "plain", "--log-level", "debug", "--connect-addr", "1.1.1.1:20001",
            "--listen-addr", "0.0.0.0:4140", "--timeout", "10s",
        ],
        "securityContext": context,
    });
    assert_eq!(rendered(json!({"cniEnabled": true}), &plain()).init, expected);
    // An empty block is the default one; a block of values takes its place; none is rendered where values say so.
    let with = |validator: Value| rendered(json!({"cniEnabled": true, "networkValidator": validator}), &plain()).init;
    assert_eq!(with(json!({"securityContext": null}))["securityContext"], context);
    assert_eq!(with(json!({"securityContext": {"runAsUser": 5}}))["securityContext"]["runAsUser"], 5);
    expected.as_object_mut().unwrap().remove("securityContext");
    assert_eq!(with(json!({"enableSecurityContext": false})), expected);
}

#[test]
fn the_validators_addresses_follow_ipv6_unless_given() {
    for (layer, connect, listen) in [
        (json!({"disableIPv6": false}), "[fd00::1]:20001", "[::]:4140"),
        (json!({"disableIPv6": true}), "1.1.1.1:20001", "0.0.0.0:4140"),
        (json!({"disableIPv6": false, "networkValidator": {"connectAddr": "9.9.9.9:1"}}), "9.9.9.9:1", "[::]:4140"),
        (json!({"networkValidator": {"listenAddr": "[::1]:2"}}), "1.1.1.1:20001", "[::1]:2"),
    ] {
        let mut layer = layer;
        layer["cniEnabled"] = json!(true);
        let patch = rendered(layer, &plain());
        assert_eq!(flag(&patch, "--connect-addr").as_deref(), Some(connect));
        assert_eq!(flag(&patch, "--listen-addr").as_deref(), Some(listen));
    }
}
