//! Values, inheritance and texts that broke the patch.

use super::{answer, cni, config, injected, meshed, not_native};
use e2e_tests::{
    ask::Ask,
    policy::{Native, Policy},
};
use serde_json::json;

/// linkerd/linkerd2#3067, linkerd/linkerd2#5977: annotations of the namespace.
#[test]
fn what_the_namespace_says_holds_for_its_pods() {
    let log = injected(&meshed(json!({}), json!({})).namespace(config(&[("proxy-log-level", "error")])));
    assert!(log.env("LINKERD2_PROXY_LOG").unwrap().starts_with("error,"));
    assert_eq!(log.annotation("config.linkerd.io/proxy-log-level"), Some("error"));
    let await_off = injected(&meshed(json!({}), json!({})).namespace(config(&[("proxy-await", "disabled")])));
    assert_eq!(await_off.container("linkerd-proxy").unwrap().get("startupProbe"), None);
}

/// linkerd/linkerd2#13636, linkerd/linkerd2#15197: images of the debug container did nothing on a namespace.
#[test]
fn the_debug_image_is_inherited() {
    let namespace = config(&[("enable-debug-sidecar", "true"), ("debug-image", "r/d"), ("debug-image-version", "v1")]);
    let answer = injected(&meshed(json!({}), json!({})).namespace(namespace));
    assert_eq!(answer.container("linkerd-debug").unwrap()["image"], "r/d:v1");
}

/// linkerd/linkerd2#2840: whether the debug container is asked for.
#[test]
fn the_debug_container_is_asked_for_by_a_boolean() {
    for (text, there) in [("1", true), ("t", true), ("TRUE", true), ("yes", false), ("0", false)] {
        let answer = injected(&meshed(config(&[("enable-debug-sidecar", text)]), json!({})));
        assert_eq!(
            (answer.container("linkerd-debug").is_some(), answer.warnings().len()),
            (there, usize::from(text == "yes")),
            "{text}"
        );
    }
}

/// linkerd/linkerd2#13480, linkerd/linkerd2#15152, linkerd/linkerd2#15156: quotes broke the patch.
#[test]
fn any_text_arrives_as_it_is() {
    let filter = r#"linkerd[name="outbound"]=debug"#;
    let expected = format!("{filter},[{{headers}}]=off,[{{request}}]=off");
    for ask in [
        meshed(config(&[("proxy-log-level", filter)]), json!({})),
        meshed(json!({}), json!({})).namespace(config(&[("proxy-log-level", filter)])),
    ] {
        assert_eq!(injected(&ask).env("LINKERD2_PROXY_LOG"), Some(expected.as_str()));
    }
    let added = config(&[("proxy-additional-env", r#"[{"name":"A","value":"1"}]"#)]);
    assert_eq!(injected(&meshed(json!({}), json!({})).namespace(added)).env("A"), Some("1"));
}

/// linkerd/linkerd2#12289, linkerd/linkerd2#3567: variables of three layers, by name.
#[test]
fn variables_of_three_layers_come_together() {
    let values = json!({"proxy": {"additionalEnv": [{"name": "A", "value": "h"}, {"name": "B", "value": "h"}]}});
    let namespace = config(&[("proxy-additional-env", r#"[{"name":"B","value":"n"},{"name":"C","value":"n"}]"#)]);
    let own = config(&[("proxy-additional-env", r#"[{"name":"C","value":"p"}]"#)]);
    let answer = injected(&meshed(own, json!({})).namespace(namespace).values(values));
    let env = answer.container("linkerd-proxy").unwrap()["env"].as_array().unwrap();
    let added: Vec<(&str, &str)> = env
        .iter()
        .filter_map(|entry| Some((entry["name"].as_str()?, entry["value"].as_str()?)))
        .filter(|(name, _)| ["A", "B", "C"].contains(name))
        .collect();
    assert_eq!(added, [("A", "h"), ("B", "n"), ("C", "p")]);
}

/// linkerd/linkerd2#6488, linkerd/linkerd2#5459, linkerd/linkerd2#5493: configuration of another shape made the injector panic.
#[test]
fn configuration_of_another_shape_is_named() {
    let told = |settings: serde_json::Value| {
        let checked = Native.check_settings(&settings).unwrap();
        assert!(!checked.valid);
        checked.message.unwrap()
    };
    assert_eq!(told(json!({"values": {"proxy": []}})), "values.proxy is not an object");
    assert!(told(json!({"source": "settings"})).contains("values.identityTrustAnchorsPEM is not a bundle of PEM certificates"));
    // What the cluster's configuration has of another shape leaves the chart's own.
    let answer = injected(&meshed(json!({}), json!({})).values(json!({"proxyInit": null, "proxy": {"ports": "4143"}})));
    assert_eq!(answer.flag("--incoming-proxy-port"), Some("4143"));
}

/// linkerd/linkerd2#11453: timeouts of probes.
#[test]
fn timeouts_of_probes_are_configured() {
    let answer = injected(&meshed(json!({}), json!({})).values(json!({"proxy": {"livenessProbe": {"timeoutSeconds": 10}}})));
    assert_eq!(answer.container("linkerd-proxy").unwrap()["livenessProbe"]["timeoutSeconds"], 10);
}

/// linkerd/linkerd2#14684: the pod's metadata was not mounted for traces.
#[test]
fn traces_have_the_pods_metadata() {
    let collector = json!({"endpoint": "c.test:4317", "meshIdentity": {"serviceAccountName": "c", "namespace": "t"}});
    let answer =
        injected(&meshed(json!({}), json!({})).values(json!({"proxy": {"tracing": {"enabled": true, "collector": collector}}})));
    assert!(answer.names("volumes").contains(&"linkerd-podinfo"));
    let mounts = answer.container("linkerd-proxy").unwrap()["volumeMounts"].as_array().unwrap().clone();
    assert!(mounts.iter().any(|mount| mount["mountPath"].as_str().unwrap().starts_with("/var/run/linkerd/podinfo")), "{mounts:?}");
}

/// linkerd/linkerd2#12938, linkerd/linkerd2#12874: addresses of IPv6 where there is none, and none where there is.
#[test]
fn addresses_are_of_the_families_that_there_are() {
    let v4 = injected(&meshed(json!({}), json!({})));
    assert_eq!(v4.env("LINKERD2_PROXY_INBOUND_LISTEN_ADDR"), Some("0.0.0.0:4143"));
    assert_eq!(v4.env("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS"), Some("127.0.0.1:4140"));
    let arguments = v4.container("linkerd-init").unwrap()["args"].as_array().unwrap().clone();
    assert!(arguments.contains(&json!("--ipv6=false")), "{arguments:?}");
    let both = injected(&meshed(json!({}), json!({})).values(json!({"disableIPv6": false})));
    assert_eq!(both.env("LINKERD2_PROXY_INBOUND_LISTEN_ADDR"), Some("[::]:4143"));
    assert_eq!(both.env("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS"), Some("127.0.0.1:4140,[::1]:4140"));
    let validator = injected(&meshed(json!({}), json!({})).values(json!({"disableIPv6": false, "cniEnabled": true})));
    let arguments = validator.container("linkerd-network-validator").unwrap()["args"].as_array().unwrap().clone();
    for word in ["[fd00::1]:20001", "[::]:4140"] {
        assert!(arguments.contains(&json!(word)), "{word}: {arguments:?}");
    }
    assert!(answer(&meshed(json!({}), json!({})).values(cni())).is_injected());
}

/// linkerd/linkerd2#4067, istio/istio#19395: whether the autoscaler may move a pod is its owner's to say.
#[test]
fn the_autoscalers_annotation_is_the_users() {
    const SAFE: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict";
    for values in [json!({}), not_native()] {
        assert_eq!(injected(&meshed(json!({}), json!({})).values(values.clone())).annotation(SAFE), None);
        assert_eq!(injected(&meshed(json!({SAFE: "true"}), json!({})).values(values)).annotation(SAFE), Some("true"));
    }
    assert!(!answer(&Ask::pod(json!({}), json!({}))).is_injected());
}
