//! Ports that are opaque, inbound or skipped.

use super::{answer, app, cni, config, enabled, injected, meshed};
use e2e_tests::ask::Ask;
use serde_json::{Value, json};

const OPAQUE: &str = "config.linkerd.io/opaque-ports";
const OPAQUE_ENV: &str = "LINKERD2_PROXY_INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION";
const INBOUND: &str = "LINKERD2_PROXY_INBOUND_PORTS";

fn service(annotations: Value, ports: Value) -> Ask {
    Ask::about("Service", json!({"metadata": {"name": "web", "annotations": annotations}, "spec": {"ports": ports}}))
}

/// linkerd/linkerd2#5736: pods did not inherit opaque ports; an empty list of their own says none.
#[test]
fn opaque_ports_are_inherited_and_an_empty_list_is_one() {
    let namespace = || config(&[("opaque-ports", "3000")]);
    let inherited = injected(&meshed(json!({}), json!({})).namespace(namespace()));
    assert_eq!((inherited.annotation(OPAQUE), inherited.env(OPAQUE_ENV)), (Some("3000"), Some("3000")));
    let none = injected(&meshed(config(&[("opaque-ports", "")]), json!({})).namespace(namespace()));
    assert_eq!((none.annotation(OPAQUE), none.env(OPAQUE_ENV)), (Some(""), None));
}

/// linkerd/linkerd2#5737, linkerd/linkerd2#6119: services inherit them, and keep their other annotations.
#[test]
fn services_inherit_opaque_ports_and_lose_nothing() {
    let namespace = || config(&[("opaque-ports", "3000")]);
    let inherited = answer(&service(json!({"a": "b"}), json!([{"port": 80}])).namespace(namespace()));
    assert_eq!(inherited.object["metadata"]["annotations"], json!({"a": "b", OPAQUE: "3000"}));
    let own = answer(&service(config(&[("opaque-ports", "1")]), json!([{"port": 80}])).namespace(namespace()));
    assert_eq!(own.response.mutated_object, None);
}

/// linkerd/linkerd2#10261: a target port by name is that of pods that nobody has read.
#[test]
fn a_named_target_port_is_left_alone() {
    assert_eq!(answer(&service(json!({}), json!([{"port": 3306, "targetPort": "mysql"}]))).response.mutated_object, None);
    let number = answer(&service(json!({}), json!([{"port": 443, "targetPort": 3306}])));
    assert_eq!(number.annotation(OPAQUE), Some("443"));
}

/// linkerd/linkerd2#4950, linkerd/linkerd2#9803: names and ranges.
#[test]
fn names_and_ranges_of_opaque_ports_are_read() {
    let ports = app(json!({"ports": [{"name": "mysql", "containerPort": 3306}]}));
    let answer = injected(&meshed(config(&[("opaque-ports", "25,4320-4330,mysql")]), ports));
    assert_eq!((answer.env(OPAQUE_ENV), answer.annotation(OPAQUE)), (Some("25,4320-4330,3306"), Some("25,4320-4330,mysql")));
}

/// linkerd/linkerd2#7816, linkerd/linkerd2#8893: inbound ports that were missing.
#[test]
fn inbound_ports_are_there_with_those_of_every_probe() {
    assert_eq!(injected(&meshed(json!({}), json!({}))).env(INBOUND), Some(""));
    for probe in ["readinessProbe", "livenessProbe", "startupProbe"] {
        let answer = injected(&meshed(json!({}), app(json!({probe: {"httpGet": {"port": 9999}}}))));
        assert_eq!(answer.env(INBOUND), Some("9999"), "{probe}");
    }
}

/// linkerd/linkerd2#7777: a tcpSocket probe is answered by the proxy.
#[test]
fn a_tcp_probe_stays_and_is_told() {
    let probe = json!({"tcpSocket": {"port": 8080}});
    let answer = injected(&meshed(json!({}), app(json!({"readinessProbe": probe}))));
    assert_eq!(answer.container("app").unwrap()["readinessProbe"], probe);
    assert_eq!(
        answer.warnings(),
        ["pod: the proxy answers the tcpSocket readinessProbe of container app; use httpGet, grpc or exec"]
    );
}

/// linkerd/linkerd2#6445: an escape hatch that did nothing.
#[test]
fn given_inbound_ports_replace_the_detected_ones() {
    let answer = injected(&meshed(config(&[("pod-inbound-ports", "1234")]), app(json!({"ports": [{"containerPort": 8080}]}))));
    assert_eq!(answer.env(INBOUND), Some("1234"));
}

/// linkerd/linkerd2#4257: a list with a literal in it made iptables fail.
#[test]
fn a_bad_entry_is_left_out_and_told() {
    let ask = || meshed(config(&[("skip-outbound-ports", "443,[4222]")]), json!({}));
    let answer = injected(&ask());
    assert_eq!(answer.flag("--outbound-ports-to-ignore"), Some("443"));
    let line = "config.linkerd.io/skip-outbound-ports: \"[4222]\" is not a port or a range such as 8080-8090, between 0 and 65535";
    assert_eq!(answer.warnings(), [line]);
    let rejected = super::answer(&ask().settings(json!({"onInvalidAnnotation": "reject"})));
    assert_eq!((rejected.response.accepted, rejected.response.code), (false, Some(422)));
}

/// linkerd/linkerd2#1997: ports to skip, by workload.
#[test]
fn skip_ports_replace_the_configured_ones() {
    let answer = injected(&meshed(config(&[("skip-inbound-ports", "8080,9000-9010")]), json!({})));
    assert_eq!(answer.flag("--inbound-ports-to-ignore"), Some("4190,4191,8080,9000-9010"));
}

/// linkerd/linkerd2#10726: subnets to skip. In CNI mode they are for linkerd-cni to read, of the pod.
#[test]
fn skipped_subnets_reach_whoever_redirects() {
    let subnets = || config(&[("skip-subnets", "10.0.0.0/8,192.168.0.0/16")]);
    let answer = injected(&meshed(subnets(), json!({})));
    assert_eq!(answer.flag("--subnets-to-ignore"), Some("10.0.0.0/8,192.168.0.0/16"));
    let plugin = injected(&meshed(json!({}), json!({})).namespace(subnets()).values(cni()));
    assert_eq!(plugin.annotation("config.linkerd.io/skip-subnets"), Some("10.0.0.0/8,192.168.0.0/16"));
    assert_eq!(plugin.warnings(), Vec::<&str>::new());
}

/// What linkerd-cni splits at commas and takes no space off, is written so that it can.
#[test]
fn what_a_pod_inherits_in_cni_mode_is_written_for_the_plugin() {
    let namespace =
        config(&[("skip-inbound-ports", "web , 25,x"), ("skip-outbound-ports", " 443"), ("proxy-uid", "0"), ("proxy-gid", "08")]);
    let ports = app(json!({"ports": [{"name": "web", "containerPort": 8080}]}));
    let mut ask = Ask::pod(json!({}), ports).values(cni());
    let mut annotations = namespace;
    annotations["linkerd.io/inject"] = enabled()["linkerd.io/inject"].clone();
    ask = ask.namespace(annotations);
    let answer = injected(&ask);
    for (key, text) in
        [("skip-inbound-ports", "8080,25"), ("skip-outbound-ports", "443"), ("proxy-uid", "2102"), ("proxy-gid", "8")]
    {
        assert_eq!(answer.annotation(&format!("config.linkerd.io/{key}")), Some(text), "{key}");
    }
}
