//! Layers of values: the chart's defaults are the built-in ones, each leaf changes its own field, and what cannot be used changes nothing.

use super::rows::ROWS;
use super::{Image, Ports, Values};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

mod leaves;
mod refusals;
mod settling;

const CHART: &str = include_str!("../../e2e-tests/conformance/chart-defaults.json");

/// Paths that no default of the chart has: those of maps that it leaves open, and those that its templates alone read.
const NOT_IN_CHART: &[&str] = &[
    "proxy.requireTLSOnInboundPorts",
    "proxy.cores",
    "proxy.runtime.workers.maximum",
    "proxy.runtime.workers.maximumCPURatio",
    "networkValidator.enableSecurityContext",
];

fn chart() -> Value {
    serde_json::from_str(CHART).unwrap()
}

/// A layer that has nothing but one leaf.
fn layer_of(path: &str, leaf: Value) -> Value {
    path.rsplit('.').fold(leaf, |below, step| Value::Object(Map::from_iter([(step.to_owned(), below)])))
}

fn at<'a>(layer: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(layer, |at, step| at.get(step))
}

fn layered(mut values: Values, layer: &Value) -> (Values, Vec<String>) {
    let faults = values.layer(layer);
    (values, faults.iter().map(ToString::to_string).collect())
}

#[test]
fn the_charts_defaults_are_the_built_in_ones() {
    let (mut values, faults) = layered(Values::default(), &chart());
    assert_eq!((&values, faults), (&Values::default(), vec![]));
    assert_eq!((values.settle(), values), (vec![], Values::default()));
}

#[test]
fn every_path_is_one_of_the_chart() {
    let chart = chart();
    let missing: Vec<&str> = ROWS.iter().map(|row| row.path).filter(|path| at(&chart, path).is_none()).collect();
    assert_eq!(missing, NOT_IN_CHART);
    let paths: BTreeSet<Vec<&str>> = ROWS.iter().map(|row| row.path.split('.').collect()).collect();
    assert_eq!(paths.len(), ROWS.len());
    assert_eq!(
        Values::PATHS.iter().map(|path| path.split('.').collect()).collect::<Vec<Vec<&str>>>(),
        Vec::from_iter(paths.clone())
    );
    for [path, next] in paths.iter().collect::<Vec<_>>().array_windows() {
        assert!(!next.starts_with(path), "{path:?} leads to {next:?}");
    }
}

#[test]
fn what_the_injector_does_not_read_is_ignored() {
    for layer in [
        json!(null),
        json!({}),
        json!({"unknown": 1, "proxy": {"unknown": {"a": [1]}}}),
        json!({"proxy": {"podInboundPorts": "1234"}}),
        json!({"proxyInit": {"kubeAPIServerPorts": [], "xtMountPath": {"name": 1, "readOnly": "x"}}}),
        json!({"proxy": {}, "proxyInit": {"xtMountPath": {}}, "identity": {"issuer": []}}),
    ] {
        assert_eq!(layered(Values::default(), &layer), (Values::default(), vec![]), "{layer}");
    }
}

#[test]
fn a_map_that_is_none_is_named_once() {
    for (layer, expected) in [
        (json!({"proxy": "x"}), vec!["values.proxy is not an object"]),
        (
            json!({"proxy": {"image": 1, "ports": []}}),
            vec!["values.proxy.image is not an object", "values.proxy.ports is not an object"],
        ),
        (json!({"identity": true}), vec!["values.identity is not an object"]),
    ] {
        assert_eq!(
            layered(Values::default(), &layer),
            (Values::default(), expected.iter().map(ToString::to_string).collect()),
            "{layer}"
        );
    }
}

#[test]
fn one_wrong_leaf_costs_no_other() {
    let (values, faults) =
        layered(Values::default(), &json!({"clusterDomain": [], "proxy": {"uid": -1, "gid": 7, "logLevel": "off"}}));
    let mut expected = Values::default();
    expected.proxy.gid = Some(7);
    expected.proxy.log_level = "off".to_owned();
    assert_eq!(values, expected);
    assert_eq!(faults, ["values.clusterDomain is not a text", "values.proxy.uid is not a whole number from 1 to 2147483647"]);
}

#[test]
fn a_fault_leaves_the_layer_below() {
    let (below, _) = layered(Values::default(), &json!({"proxy": {"uid": 7}}));
    let (values, faults) = layered(below.clone(), &json!({"proxy": {"uid": 0}}));
    assert_eq!((values, faults), (below, vec!["values.proxy.uid is not a whole number from 1 to 2147483647".to_owned()]));
}

#[test]
fn later_layers_merge_into_maps() {
    let layers = [
        json!({"proxy": {"tracing": {"labels": {"a": "1", "b": "2"}}, "inbound": {"server": {"http2": {"x": 1}}, "client": {"tcp": {"y": "2s"}}}}}),
        json!({"proxy": {"tracing": {"labels": {"b": "3"}}, "inbound": {"server": {"http2": {"x": null, "z": true}}}}}),
        json!({"networkValidator": {"securityContext": {"runAsUser": 7, "capabilities": {"add": ["A"]}}}}),
        json!({"proxy": {"capabilities": {"drop": ["A"]}}, "proxyInit": {"capabilities": {"add": ["B"]}}}),
        json!({"proxy": {"capabilities": {"add": ["C"]}}, "proxyInit": {"capabilities": {"add": ["D"], "drop": null}}}),
        json!({"proxy": {"securityContext": {"a": {"b": 1, "c": [1, 2]}}}}),
        json!({"proxy": {"securityContext": {"a": {"c": [3]}, "d": null}}}),
    ];
    let mut values = Values::default();
    for layer in &layers {
        assert_eq!(values.layer(layer), []);
    }
    let labels: Vec<_> = values.proxy.tracing.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(
        labels,
        ["a=1", "b=3", "k8s.container.name=$(_pod_containerName)", "k8s.pod.ip=$(_pod_ip)", "k8s.pod.uid=$(_pod_uid)"]
    );
    let http2 = json!({"keepAliveInterval": "10s", "keepAliveTimeout": "3s", "x": null, "z": true});
    assert_eq!(Value::from(values.proxy.inbound), json!({"client": {"tcp": {"y": "2s"}}, "server": {"http2": http2}}));
    let context = &values.network_validator.security_context;
    assert_eq!(context["capabilities"], json!({"add": ["A"], "drop": ["ALL"]}));
    assert_eq!((context["runAsUser"].clone(), context["runAsGroup"].clone()), (json!(7), json!(65534)));
    let capabilities = values.proxy.capabilities.unwrap();
    assert_eq!((capabilities.add, capabilities.drop), (vec!["C".to_owned()], vec!["A".to_owned()]));
    let capabilities = values.proxy_init.capabilities;
    assert_eq!((capabilities.add, capabilities.drop), (vec!["D".to_owned()], vec![]));
    assert_eq!(Value::from(values.proxy.security_context), json!({"a": {"b": 1, "c": [3]}, "d": null}));
}

#[test]
fn lists_replace() {
    let env = |name: &str| json!({"proxy": {"additionalEnv": [{"name": name, "value": "1"}]}});
    let (below, _) = layered(Values::default(), &env("A"));
    let (values, faults) = layered(below, &env("B"));
    assert_eq!((values.proxy.additional_env, faults), (vec![json!({"name": "B", "value": "1"})], vec![]));
}

#[test]
fn empty_texts_stand_for_others() {
    let mut values = Values::default();
    assert_eq!((values.trust_domain(), values.proxy_version()), ("cluster.local", "edge-26.8.1"));
    values.trust_domain = "trust.test".to_owned();
    values.proxy.image.version = "v9".to_owned();
    assert_eq!((values.trust_domain(), values.proxy_version()), ("trust.test", "v9"));
    let mut image = Image { name: "r/i".to_owned(), ..Image::default() };
    assert_eq!((image.reference("edge-1"), image.pull_policy("Always")), ("r/i:edge-1".to_owned(), "Always"));
    image.version = "v2".to_owned();
    image.pull_policy = "Never".to_owned();
    assert_eq!((image.reference("edge-1"), image.pull_policy("Always")), ("r/i:v2".to_owned(), "Never"));
}

#[test]
fn ports_that_meet_go_back_to_what_is_below() {
    let of = |[admin, control, inbound, outbound]: [u16; 4]| Ports { admin, control, inbound, outbound };
    let below = [11, 12, 13, 14];
    for (ports, expected, parted) in [
        ([1, 2, 3, 4], [1, 2, 3, 4], vec![]),
        ([1, 1, 3, 4], [11, 12, 3, 4], vec!["control", "admin"]),
        ([9, 2, 5, 5], [9, 2, 13, 14], vec!["inbound", "outbound"]),
        // What goes back may meet another one, which then goes back, too.
        ([12, 2, 2, 4], [11, 12, 13, 4], vec!["control", "inbound", "admin"]),
        ([12, 12, 13, 14], [11, 12, 13, 14], vec!["admin"]),
    ] {
        let mut now = of(ports);
        assert_eq!((now.part(of(below)), now), (parted, of(expected)), "{ports:?}");
    }
}
