//! What cannot work together goes out of effect, and is named.

use super::{Ports, Values, layered};
use serde_json::{Value, json};

/// The values of a layer over the defaults, settled, with the faults of that.
fn settled(layer: &Value) -> (Values, Vec<String>) {
    let (mut values, faults) = layered(Values::default(), layer);
    assert_eq!(faults, [] as [String; 0], "{layer}");
    let faults = values.settle().iter().map(ToString::to_string).collect();
    (values, faults)
}

/// A layer, the layer that has the same effect, and what is said.
fn assert_settles(layer: &Value, effect: &Value, faults: &[&str]) {
    assert_eq!(settled(layer), (layered(Values::default(), effect).0, faults.iter().map(ToString::to_string).collect()), "{layer}");
}

#[test]
fn a_close_wait_timeout_needs_root() {
    let rooted = json!({"proxyInit": {"closeWaitTimeoutSecs": 30, "runAsRoot": true}});
    assert_settles(&rooted, &rooted, &[]);
    assert_settles(&json!({"proxyInit": {"runAsRoot": true}}), &json!({"proxyInit": {"runAsRoot": true}}), &[]);
    let without = json!({"proxyInit": {"closeWaitTimeoutSecs": 30}});
    assert_settles(&without, &json!({}), &["values.proxyInit.closeWaitTimeoutSecs is set without proxyInit.runAsRoot"]);
}

#[test]
fn tracing_needs_its_collector() {
    let tracing = |enabled: bool, endpoint: &str, account: &str, namespace: &str| {
        let identity = json!({"serviceAccountName": account, "namespace": namespace});
        json!({"proxy": {"tracing": {"enabled": enabled, "collector": {"endpoint": endpoint, "meshIdentity": identity}}}})
    };
    let whole = tracing(true, "c.test:1", "c", "t");
    assert_settles(&whole, &whole, &[]);
    let endpoint = "values.proxy.tracing.collector.endpoint is empty while tracing is enabled";
    let account = "values.proxy.tracing.collector.meshIdentity.serviceAccountName is empty while tracing is enabled";
    let namespace = "values.proxy.tracing.collector.meshIdentity.namespace is empty while tracing is enabled";
    assert_settles(&tracing(true, "", "c", "t"), &tracing(false, "", "c", "t"), &[endpoint]);
    assert_settles(&tracing(true, "c.test:1", "", "t"), &tracing(false, "c.test:1", "", "t"), &[account]);
    assert_settles(&tracing(true, "c.test:1", "c", ""), &tracing(false, "c.test:1", "c", ""), &[namespace]);
    assert_settles(&tracing(true, "", "", ""), &json!({}), &[endpoint, account, namespace]);
    assert_settles(&tracing(false, "", "", ""), &json!({}), &[]);
}

#[test]
fn ports_that_meet_are_the_charts() {
    let (values, faults) = settled(&json!({"proxy": {"ports": {"admin": 5, "control": 5, "inbound": 6}}}));
    assert_eq!(values.proxy.ports, Ports { admin: 4191, control: 4190, inbound: 6, outbound: 4140 });
    let fault = |port: &str| format!("values.proxy.ports.{port} is that of another port of the proxy");
    assert_eq!(faults, [fault("control"), fault("admin")]);
    let swapped = json!({"proxy": {"ports": {"admin": 4190, "control": 4191}}});
    assert_settles(&swapped, &swapped, &[]);
}

#[test]
fn a_policy_of_the_cluster_needs_its_networks() {
    let policy = |policy: &str, networks: &str| json!({"clusterNetworks": networks, "proxy": {"defaultInboundPolicy": policy}});
    for (name, needs) in [
        ("deny", false),
        ("all-authenticated", false),
        ("all-unauthenticated", false),
        ("audit", true),
        ("cluster-authenticated", true),
        ("cluster-unauthenticated", true),
    ] {
        assert_settles(&policy(name, "10.0.0.0/8"), &policy(name, "10.0.0.0/8"), &[]);
        let said: &[&str] = if needs { &["values.proxy.defaultInboundPolicy is one that needs clusterNetworks"] } else { &[] };
        assert_settles(&policy(name, ""), &policy(if needs { "all-unauthenticated" } else { name }, ""), said);
    }
}

#[test]
fn skipped_subnets_must_suit_ip6tables_where_it_runs() {
    let subnets = |list: &str, off: bool| json!({"disableIPv6": off, "proxyInit": {"skipSubnets": list}});
    assert_settles(&subnets("10.0.0.0/8", true), &subnets("10.0.0.0/8", true), &[]);
    let refused = "values.proxyInit.skipSubnets is refused by ip6tables, which runs too where IPv6 is on";
    assert_settles(&subnets("10.0.0.0/8", false), &subnets("", false), &[refused]);
    assert_settles(&subnets("0.0.0.0/0", false), &subnets("0.0.0.0/0", false), &[]);
    assert_settles(&subnets("", false), &subnets("", false), &[]);
}

#[test]
fn of_lists_the_first_bad_entry_is_named_and_the_text_stays() {
    let not_range = "a list with an entry that is not a port or a range such as 8080-8090, between 0 and 65535";
    for (layer, faults) in [
        (json!({"proxyInit": {"ignoreInboundPorts": "80, 90-91,web"}}), vec![]),
        (
            json!({"proxyInit": {"ignoreInboundPorts": "80,[90]"}}),
            vec![format!("values.proxyInit.ignoreInboundPorts is {not_range}")],
        ),
        (json!({"proxyInit": {"ignoreOutboundPorts": "80,90"}}), vec![]),
        (
            json!({"proxyInit": {"ignoreOutboundPorts": "web"}}),
            vec![format!("values.proxyInit.ignoreOutboundPorts is {not_range}")],
        ),
        (json!({"proxy": {"opaquePorts": "25, 4000-5000"}}), vec![]),
        (
            json!({"proxy": {"opaquePorts": "5000-4000,x"}}),
            vec!["values.proxy.opaquePorts is a list with an entry that is a range that ends below its start".to_owned()],
        ),
    ] {
        let faults: Vec<&str> = faults.iter().map(String::as_str).collect();
        assert_settles(&layer, &layer, &faults);
    }
}
