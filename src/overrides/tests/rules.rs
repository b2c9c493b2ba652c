//! Rules that span rows: lists of ports, ports that meet, requests above limits, and what other values forbid.

use super::{Annotations, Kind, Texts, Values, Workload, apply, changed, overridden, owned};
use crate::values::Ports;
use serde_json::{Value, json};

const RANGE: &str = "not a port or a range such as 8080-8090, between 0 and 65535";

#[test]
fn of_a_list_the_good_entries_hold_and_each_bad_one_is_named() {
    for (text, inbound, others, bad_inbound, bad_outbound) in [
        ("443,[4222],80", "443,80", "443,80", vec![("[4222]", RANGE)], vec![("[4222]", RANGE)]),
        ("web, mysql", "8080,3306", "", vec![], vec![("web", RANGE), ("mysql", RANGE)]),
        ("x", "", "", vec![("x", RANGE)], vec![("x", RANGE)]),
        (
            "65535,65536,-1,25 - 30,1-2-3",
            "65535",
            "65535",
            vec![("65536", RANGE), ("-1", RANGE), ("25 - 30", RANGE), ("1-2-3", RANGE)],
            vec![("65536", RANGE), ("-1", RANGE), ("25 - 30", RANGE), ("1-2-3", RANGE)],
        ),
        (
            "30-25,30-30",
            "30",
            "30",
            vec![("30-25", "a range that ends below its start")],
            vec![("30-25", "a range that ends below its start")],
        ),
    ] {
        let below = changed(&Values::default(), |v| {
            (v.proxy_init.ignore_inbound_ports, v.proxy_init.ignore_outbound_ports) = ("7".to_owned(), "7".to_owned());
            v.proxy.opaque_ports = "7".to_owned();
        });
        let lines = |key: &str, bad: &[(&str, &str)]| bad.iter().map(|(e, p)| format!("{key}: {e:?} is {p}")).collect::<Vec<_>>();
        let key = "config.linkerd.io/skip-inbound-ports";
        let expected = changed(&below, |v| inbound.clone_into(&mut v.proxy_init.ignore_inbound_ports));
        assert_eq!(overridden(&below, &[(key, text)], &[]), (expected, lines(key, &bad_inbound)), "{text}");
        let key = "config.linkerd.io/skip-outbound-ports";
        let expected = changed(&below, |v| others.clone_into(&mut v.proxy_init.ignore_outbound_ports));
        assert_eq!(overridden(&below, &[(key, text)], &[]), (expected, lines(key, &bad_outbound)), "{text}");
        let key = "config.linkerd.io/opaque-ports";
        let expected = changed(&below, |v| inbound.clone_into(&mut v.proxy.opaque_ports));
        let place = format!("namespace's {key}");
        assert_eq!(overridden(&below, &[], &[(key, text)]), (expected, lines(&place, &bad_inbound)), "{text}");
    }
}

/// Admin, control, inbound and outbound port: as annotations, as they come out, and which annotations are named.
type Meeting = ([Option<&'static str>; 4], [u16; 4], &'static [usize]);

const PORT_KEYS: [&str; 4] = [
    "config.linkerd.io/admin-port",
    "config.linkerd.io/control-port",
    "config.linkerd.io/inbound-port",
    "config.linkerd.io/outbound-port",
];

const MEETINGS: &[Meeting] = &[
    ([None, None, None, None], [4191, 4190, 4143, 4140], &[]),
    ([Some("1"), Some("2"), Some("3"), Some("4")], [1, 2, 3, 4], &[]),
    // Two that change places do not meet.
    ([Some("4190"), Some("4191"), None, None], [4190, 4191, 4143, 4140], &[]),
    // One meets a configured one.
    ([Some("4143"), None, None, None], [4191, 4190, 4143, 4140], &[0]),
    ([Some("4143"), None, Some("4143"), None], [4191, 4190, 4143, 4140], &[0]),
    // Two meet each other: neither holds.
    ([Some("9"), None, Some("9"), None], [4191, 4190, 4143, 4140], &[2, 0]),
    ([Some("9"), Some("9"), Some("9"), Some("9")], [4191, 4190, 4143, 4140], &[1, 2, 0, 3]),
    ([Some("9"), Some("8"), Some("9"), Some("7")], [4191, 8, 4143, 7], &[2, 0]),
    // What goes back meets a third, which then goes back too.
    ([Some("9"), None, Some("9"), Some("4143")], [4191, 4190, 4143, 4140], &[2, 0, 3]),
    ([Some("9"), Some("4191"), Some("9"), Some("4190")], [4191, 4190, 4143, 4140], &[2, 0, 1, 3]),
    // One that is no port is out of effect from the start.
    ([Some("0"), None, Some("4191"), None], [4191, 4190, 4143, 4140], &[0, 2]),
];

#[test]
fn ports_that_meet_are_put_out_of_effect() {
    for (texts, ports, named) in MEETINGS {
        let [admin, control, inbound, outbound] = *ports;
        let annotations: Vec<_> = PORT_KEYS.iter().zip(texts).filter_map(|(key, text)| Some((*key, (*text)?))).collect();
        let expected = changed(&Values::default(), |v| v.proxy.ports = Ports { admin, control, inbound, outbound });
        let lines = named.iter().map(|index| {
            let text = texts[*index].unwrap();
            let problem = if text == "0" { "not a port between 1 and 65535" } else { "another port of the proxy" };
            format!("{}: {text:?} is {problem}", PORT_KEYS[*index])
        });
        assert_eq!(overridden(&Values::default(), &annotations, &[]), (expected.clone(), lines.collect()), "{texts:?}");
        let lines = named.iter().map(|index| {
            let text = texts[*index].unwrap();
            let problem = if text == "0" { "not a port between 1 and 65535" } else { "another port of the proxy" };
            format!("namespace's {}: {text:?} is {problem}", PORT_KEYS[*index])
        });
        assert_eq!(overridden(&Values::default(), &[], &annotations), (expected, lines.collect()), "{texts:?}");
    }
}

#[test]
fn a_request_above_its_limit_is_lowered_to_it() {
    let cpu = ("config.linkerd.io/proxy-cpu-request", "config.linkerd.io/proxy-cpu-limit", "CPU");
    let memory = ("config.linkerd.io/proxy-memory-request", "config.linkerd.io/proxy-memory-limit", "memory");
    let storage = (
        "config.linkerd.io/proxy-ephemeral-storage-request",
        "config.linkerd.io/proxy-ephemeral-storage-limit",
        "ephemeral storage",
    );
    for (request_key, limit_key, name) in [cpu, memory, storage] {
        for (request, limit, lowered) in [
            ("1", "1", false),
            ("1000m", "1", false),
            ("1", "1000m", false),
            ("1001m", "1", true),
            ("1Gi", "1G", true),
            ("1G", "1Gi", false),
            ("1n", "0", true),
            ("0", "0", false),
        ] {
            let (values, warnings) = overridden(&Values::default(), &[(request_key, request)], &[(limit_key, limit)]);
            let resources = values.proxy.resources;
            let constraint = match name {
                "CPU" => resources.cpu,
                "memory" => resources.memory,
                _ => resources.ephemeral_storage,
            };
            let expected = if lowered { limit } else { request };
            assert_eq!((constraint.request.as_str(), constraint.limit.as_str()), (expected, limit), "{name} {request} {limit}");
            let line = format!("pod: the proxy's {name} request {request} is above its limit {limit}, and lowered to it");
            assert_eq!(warnings, if lowered { vec![line] } else { vec![] }, "{name} {request} {limit}");
        }
        // Also where one of the two is configured, and not where there is but one.
        let below = changed(&Values::default(), |v| {
            for constraint in [&mut v.proxy.resources.cpu, &mut v.proxy.resources.memory, &mut v.proxy.resources.ephemeral_storage]
            {
                constraint.limit = "5".to_owned();
            }
        });
        let (values, warnings) = overridden(&below, &[(request_key, "6")], &[]);
        let line = format!("pod: the proxy's {name} request 6 is above its limit 5, and lowered to it");
        assert_eq!((values.proxy.resources.cpu.limit.as_str(), warnings), ("5", vec![line]));
        assert_eq!(overridden(&Values::default(), &[(request_key, "6")], &[]).1, [] as [String; 0]);
    }
}

#[test]
fn a_policy_of_the_cluster_needs_its_networks() {
    let key = "config.linkerd.io/default-inbound-policy";
    for (policy, needs) in [
        ("deny", false),
        ("all-authenticated", false),
        ("all-unauthenticated", false),
        ("audit", true),
        ("cluster-authenticated", true),
        ("cluster-unauthenticated", true),
    ] {
        for networks in ["10.0.0.0/8", ""] {
            let below = changed(&Values::default(), |v| {
                (v.cluster_networks, v.proxy.default_inbound_policy) = (networks.to_owned(), "other".to_owned());
            });
            let refused = needs && networks.is_empty();
            let expected = changed(&below, |v| v.proxy.default_inbound_policy = if refused { "other" } else { policy }.to_owned());
            let line = format!("{key}: {policy:?} is one that needs clusterNetworks");
            assert_eq!(
                overridden(&below, &[(key, policy)], &[]),
                (expected, if refused { vec![line] } else { vec![] }),
                "{networks}"
            );
        }
    }
}

#[test]
fn a_close_wait_timeout_needs_root() {
    let key = "config.linkerd.io/close-wait-timeout";
    for (text, expected) in [("30s", vec![format!("{key}: \"30s\" is set without proxyInit.runAsRoot")]), ("", vec![])] {
        assert_eq!(overridden(&Values::default(), &[(key, text)], &[]), (Values::default(), expected), "{text}");
    }
}

#[test]
fn skipped_subnets_must_suit_ip6tables_where_it_runs() {
    let key = "config.linkerd.io/skip-subnets";
    for (text, suits) in [("10.0.0.0/8", false), ("0.0.0.0/0", true), ("0.0.0.0/0,10.0.0.0/8", false), ("", true)] {
        let below = changed(&Values::default(), |v| (v.disable_ipv6, v.proxy_init.skip_subnets) = (false, "old".to_owned()));
        let line = format!("{key}: {text:?} is refused by ip6tables, which runs too where IPv6 is on");
        let expected = if suits { changed(&below, |v| text.clone_into(&mut v.proxy_init.skip_subnets)) } else { below.clone() };
        assert_eq!(overridden(&below, &[(key, text)], &[]), (expected, if suits { vec![] } else { vec![line] }), "{text}");
    }
}

/// The trace labels that a pod's own labels and annotations give, beside those configured.
fn trace_labels(labels: Value, annotations: Value, namespace: Texts<'_>) -> Vec<String> {
    let pod = json!({"metadata": {"labels": labels, "annotations": annotations}, "spec": {"containers": []}});
    let namespace = owned(namespace);
    let below = changed(&Values::default(), |v| v.proxy.tracing.labels = owned(&[("configured", "1"), ("service.name", "old")]));
    let scope = apply(below, &Annotations::new(Workload::read(Kind::Pod, &pod).unwrap(), &namespace));
    assert_eq!(scope.warnings, []);
    scope.values.proxy.tracing.labels.iter().map(|(k, v)| format!("{k}={v}")).collect()
}

#[test]
fn trace_attributes_come_from_the_pod_itself() {
    let (instance, name) = ("app.kubernetes.io/instance", "app.kubernetes.io/name");
    for (labels, annotations, expected) in [
        (json!({}), json!({}), vec!["configured=1", "service.name=old"]),
        (json!({name: "web"}), json!({}), vec!["configured=1", "service.name=web"]),
        (json!({name: "web", instance: "web-1"}), json!({}), vec!["configured=1", "service.name=web-1"]),
        (
            json!({name: "web"}),
            json!({"resource.opentelemetry.io/service.name": "own", "resource.opentelemetry.io/team": "a\n\"b\""}),
            vec!["configured=1", "service.name=own", "team=a\n\"b\""],
        ),
        (json!({}), json!({"resource.opentelemetry.io": "x"}), vec!["configured=1", "service.name=old"]),
    ] {
        let found = trace_labels(labels.clone(), annotations.clone(), &[("resource.opentelemetry.io/namespaced", "x")]);
        assert_eq!(found, expected, "{labels} {annotations}");
    }
}
