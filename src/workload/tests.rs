//! What the view reads of an object, and what it refuses to read.

use super::{Kind, List, Workload, port_number};
use serde_json::{Value, json};

fn mk_pod(spec: Value) -> Value {
    json!({"metadata": {}, "spec": spec})
}

fn view(pod: &Value) -> Workload<'_> {
    Workload::read(Kind::Pod, pod).unwrap()
}

#[test]
fn kinds_are_pods_and_services_of_the_core() {
    for (group, kind, expected) in [
        ("", "Pod", Some(Kind::Pod)),
        ("", "Service", Some(Kind::Service)),
        ("", "pod", None),
        ("", "", None),
        ("v1", "Pod", None),
        ("serving.knative.dev", "Service", None),
        ("apps", "Deployment", None),
        ("", "Namespace", None),
    ] {
        assert_eq!(Kind::of(group, kind), expected, "{group} {kind}");
    }
}

#[test]
fn a_wrong_shape_is_named_by_its_place() {
    let no_object = "the object cannot be read: the object is not an object";
    let containers = "the object cannot be read: spec.containers is not a list of objects";
    for (kind, object, expected) in [
        (Kind::Pod, json!(null), no_object),
        (Kind::Pod, json!("secret"), no_object),
        (Kind::Service, json!([]), no_object),
        (Kind::Pod, json!({"metadata": []}), "the object cannot be read: metadata is not an object"),
        (Kind::Service, json!({"metadata": "secret"}), "the object cannot be read: metadata is not an object"),
        (
            Kind::Pod,
            json!({"metadata": {"annotations": []}}),
            "the object cannot be read: metadata.annotations is not an object of texts",
        ),
        (
            Kind::Service,
            json!({"metadata": {"annotations": {"a": "b", "config.linkerd.io/opaque-ports": 3306}}}),
            "the object cannot be read: metadata.annotations[\"config.linkerd.io/opaque-ports\"] is 3306, not text: quote it",
        ),
        (
            Kind::Pod,
            json!({"metadata": {"labels": {"a": null}}}),
            "the object cannot be read: metadata.labels[\"a\"] is null, not text: give it one, or take it out",
        ),
        (
            Kind::Pod,
            json!({"metadata": {"labels": {"a": true}}}),
            "the object cannot be read: metadata.labels[\"a\"] is true, not text: quote it",
        ),
        (
            Kind::Pod,
            json!({"metadata": {"annotations": {"a": ["secret"]}}}),
            "the object cannot be read: metadata.annotations[\"a\"] is not text",
        ),
        (Kind::Pod, json!({}), "the object cannot be read: spec is not an object"),
        (Kind::Pod, json!({"spec": null}), "the object cannot be read: spec is not an object"),
        (Kind::Service, json!({"spec": []}), "the object cannot be read: spec is not an object"),
        (Kind::Pod, json!({"spec": {}}), containers),
        (Kind::Pod, json!({"spec": {"containers": null}}), containers),
        (Kind::Pod, json!({"spec": {"containers": {}}}), containers),
        (Kind::Pod, json!({"spec": {"containers": [{}, "secret"]}}), containers),
        (
            Kind::Pod,
            json!({"spec": {"containers": [], "initContainers": "x"}}),
            "the object cannot be read: spec.initContainers is not a list of objects",
        ),
        (
            Kind::Pod,
            json!({"spec": {"containers": [], "volumes": [1]}}),
            "the object cannot be read: spec.volumes is not a list of objects",
        ),
        (Kind::Service, json!({"spec": {"ports": [80]}}), "the object cannot be read: spec.ports is not a list of objects"),
    ] {
        let error = Workload::read(kind, &object).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{object}");
    }
}

#[test]
fn a_null_is_as_good_as_absent() {
    let nulls = json!({
        "metadata": {"annotations": null, "labels": null, "ownerReferences": null, "namespace": null},
        "spec": {"containers": [], "initContainers": null, "volumes": null, "hostNetwork": null, "nodeSelector": null, "os": null},
    });
    for object in [nulls, json!({"metadata": null, "spec": {"containers": []}}), json!({"spec": {"containers": []}})] {
        let view = view(&object);
        assert_eq!((view.namespace(), view.annotations(), view.annotation("a"), view.label("a")), (None, None, None, None));
        assert_eq!((view.owner_references(), view.containers().count()), (&[] as &[Value], 0));
        assert!(view.first_container().is_none());
        assert!(!view.host_network() && !view.token_refused() && !view.is_windows());
    }
    for object in [json!({}), json!({"metadata": null, "spec": null}), json!({"spec": {"ports": null}})] {
        assert_eq!(Workload::read(Kind::Service, &object).unwrap().service_ports(), [] as [Value; 0]);
    }
}

#[test]
fn metadata_is_read_as_it_stands() {
    let object = json!({
        "metadata": {
            "namespace": "shop",
            "annotations": {"a": "", "b": "1"},
            "labels": {"l": "x"},
            "ownerReferences": [{"kind": "Job"}, 1],
        },
        "spec": {"containers": []},
    });
    let view = view(&object);
    assert_eq!(view.kind(), Kind::Pod);
    assert_eq!(view.namespace(), Some("shop"));
    assert_eq!((view.annotation("a"), view.annotation("b"), view.annotation("c")), (Some(""), Some("1"), None));
    assert_eq!((view.label("l"), view.label("a")), (Some("x"), None));
    assert_eq!(view.owner_references(), [json!({"kind": "Job"}), json!(1)]);
    let empty = json!({"metadata": {"namespace": ""}, "spec": {"containers": []}});
    assert_eq!(Workload::read(Kind::Pod, &empty).unwrap().namespace(), None);
}

#[test]
fn init_containers_come_before_containers() {
    let pod = mk_pod(json!({
        "containers": [{"name": "c", "image": "i:1"}, {"name": "d"}],
        "initContainers": [{"name": "a"}, {"name": "b", "image": 1}],
    }));
    let names = |list: Vec<super::Container<'_>>| list.iter().map(|c| c.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(view(&pod).containers().collect()), ["a", "b", "c", "d"]);
    assert_eq!(names(view(&pod).containers_of(List::Init).collect()), ["a", "b"]);
    assert_eq!(names(view(&pod).containers_of(List::Main).collect()), ["c", "d"]);
    assert_eq!(view(&pod).first_container().map(|c| (c.name(), c.image())), Some(("c", "i:1")));
    assert_eq!(view(&pod).containers().map(|c| c.image()).collect::<Vec<_>>(), ["", "", "i:1", ""]);
}

#[test]
fn only_a_whole_number_is_a_port() {
    for (value, expected) in [
        (json!(0), None),
        (json!(1), Some(1)),
        (json!(65535), Some(65535)),
        (json!(65536), None),
        (json!(-1), None),
        (json!(80.5), None),
        (json!("80"), None),
        (json!(null), None),
        (json!([80]), None),
    ] {
        assert_eq!(port_number(Some(&value)), expected, "{value}");
    }
    assert_eq!(port_number(None), None);
}

#[test]
fn of_ports_with_one_name_the_last_counts() {
    let port = |name: &str, number: Value| json!({"name": name, "containerPort": number});
    let pod = mk_pod(json!({
        "initContainers": [{"ports": [port("web", json!(1)), port("init", json!(2))]}],
        "containers": [
            {"ports": [port("web", json!(3)), port("", json!(4)), {"containerPort": 5}]},
            {"ports": [port("web", json!(6)), port("db", json!(7)), port("db", json!(0)), port("bad", json!("8"))]},
        ],
    }));
    for (name, expected) in [("web", Some(6)), ("init", Some(2)), ("db", Some(7)), ("bad", None), ("", None), ("none", None)] {
        assert_eq!(view(&pod).named_ports().get(name).copied(), expected, "{name}");
    }
    assert_eq!(view(&pod).container_ports().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn inbound_ports_are_those_of_tcp_and_of_numbered_probes() {
    for (container, expected) in [
        (json!({}), vec![]),
        (json!({"ports": null}), vec![]),
        (json!({"ports": [{"containerPort": 80}]}), vec![80]),
        (json!({"ports": [{"containerPort": 80, "protocol": ""}, {"containerPort": 81, "protocol": "TCP"}]}), vec![80, 81]),
        (json!({"ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 9, "protocol": "SCTP"}]}), vec![]),
        (json!({"ports": [{"containerPort": 0}, {"containerPort": 65535}, {"containerPort": 65536}]}), vec![65535]),
        (json!({"readinessProbe": {"httpGet": {"port": 1}}}), vec![1]),
        (json!({"livenessProbe": {"tcpSocket": {"port": 2}}}), vec![2]),
        (json!({"startupProbe": {"grpc": {"port": 3}}}), vec![3]),
        (json!({"readinessProbe": {"httpGet": {"port": "http"}}}), vec![]),
        (json!({"readinessProbe": {"httpGet": {"port": "8080"}}}), vec![]),
        (json!({"readinessProbe": {"exec": {"command": ["true"]}}, "livenessProbe": null}), vec![]),
        (json!({"lifecycle": {"postStart": {"httpGet": {"port": 9}}, "preStop": {"tcpSocket": {"port": 9}}}}), vec![]),
        (
            json!({
                "ports": [{"containerPort": 80}, {"containerPort": 70}],
                "livenessProbe": {"httpGet": {"port": 60}},
                "readinessProbe": {"httpGet": {"port": 80}},
            }),
            vec![80, 70, 80, 60],
        ),
    ] {
        let pod = mk_pod(json!({"containers": [container]}));
        let found: Vec<u16> = view(&pod).first_container().unwrap().inbound_ports().collect();
        assert_eq!(found, expected, "{pod}");
    }
}

#[test]
fn only_the_exact_mount_is_the_token() {
    let mount = |path: &str| json!({"name": "t", "mountPath": path});
    for (mounts, expected) in [
        (json!(null), None),
        (json!([mount("/var/run/secrets")]), None),
        (json!([mount("/var/run/secrets/kubernetes.io/serviceaccount/")]), None),
        (
            json!([mount("/a"), mount("/var/run/secrets/kubernetes.io/serviceaccount")]),
            Some(mount("/var/run/secrets/kubernetes.io/serviceaccount")),
        ),
    ] {
        let pod = mk_pod(json!({"containers": [{"volumeMounts": mounts}]}));
        assert_eq!(view(&pod).first_container().unwrap().token_mount(), expected.as_ref(), "{pod}");
    }
}

#[test]
fn capabilities_are_a_block_or_none() {
    for (context, expected) in [
        (json!(null), None),
        (json!({}), None),
        (json!({"capabilities": null}), None),
        (json!({"capabilities": {}}), Some(json!({}))),
        (json!({"capabilities": {"drop": ["ALL"]}}), Some(json!({"drop": ["ALL"]}))),
    ] {
        let pod = mk_pod(json!({"containers": [{"securityContext": context}]}));
        assert_eq!(view(&pod).first_container().unwrap().capabilities(), expected.as_ref(), "{pod}");
    }
}

#[test]
fn a_token_is_refused_by_false_alone() {
    for (automount, refused) in [(json!(false), true), (json!(true), false), (json!(null), false), (json!("false"), false)] {
        let pod = mk_pod(json!({"containers": [], "automountServiceAccountToken": automount}));
        assert_eq!(view(&pod).token_refused(), refused, "{automount}");
    }
}
