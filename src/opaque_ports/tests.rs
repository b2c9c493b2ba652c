//! Which of an object's ports are opaque by default.

use super::{exposed, exposes_ports};
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};

const DEFAULTS: &str = "25,587,3306,4444,5432,6379,9300,11211";

fn pod(ports: Value) -> Value {
    json!({"spec": {"containers": [{"name": "app", "ports": ports}]}})
}

fn service(ports: Value) -> Value {
    json!({"spec": {"ports": ports}})
}

fn of(kind: Kind, object: &Value, defaults: &str) -> Option<String> {
    exposed(&Workload::read(kind, object).unwrap(), defaults)
}

#[test]
fn a_pods_ports_come_in_order_and_once() {
    let udp_too = json!([{"containerPort": 3306}, {"containerPort": 3306, "protocol": "UDP"}]);
    for (object, expected) in [
        (pod(json!([])), None),
        (pod(json!(null)), None),
        (pod(json!([{"containerPort": 8080}])), None),
        (pod(json!([{"containerPort": 3306}])), Some("3306")),
        (pod(json!([{"containerPort": 3306, "protocol": "UDP"}])), Some("3306")),
        (pod(udp_too), Some("3306")),
        (pod(json!([{"containerPort": 9300}, {"containerPort": 8080}, {"containerPort": 25}])), Some("9300,25")),
        (pod(json!([{"name": "mysql", "containerPort": "3306"}])), None),
    ] {
        assert_eq!(of(Kind::Pod, &object, DEFAULTS).as_deref(), expected, "{object}");
    }
    let both = json!({"spec": {
        "containers": [{"ports": [{"containerPort": 25}]}, {"ports": [{"containerPort": 5432}]}],
        "initContainers": [{"ports": [{"containerPort": 6379}]}],
    }});
    assert_eq!(of(Kind::Pod, &both, DEFAULTS).as_deref(), Some("6379,25,5432"));
}

#[test]
fn defaults_are_read_as_ranges() {
    let object = pod(json!([{"containerPort": 3999}, {"containerPort": 4000}, {"containerPort": 5000}, {"containerPort": 5001}]));
    for (defaults, expected) in [
        ("4000-5000", Some("4000,5000")),
        ("25, 4000-4999", Some("4000")),
        (" 5001 ", Some("5001")),
        ("4000,4000,4000-5000", Some("4000,5000")),
        ("0-65535", Some("3999,4000,5000,5001")),
        ("x,5000,5000-4000", Some("5000")),
        ("", None),
        ("x", None),
        ("3998", None),
    ] {
        assert_eq!(of(Kind::Pod, &object, defaults).as_deref(), expected, "{defaults}");
    }
}

#[test]
fn a_services_ports_are_opaque_by_what_they_lead_to() {
    for (ports, expected) in [
        (json!(null), None),
        (json!([]), None),
        (json!([{"port": 3306}]), Some("3306")),
        (json!([{"port": 3306, "targetPort": null}]), Some("3306")),
        (json!([{"port": 3306, "targetPort": 0}]), Some("3306")),
        (json!([{"port": 80, "targetPort": 3306}]), Some("80")),
        (json!([{"port": 3306, "targetPort": 8080}]), None),
        (json!([{"port": 3306, "targetPort": "mysql"}]), None),
        (json!([{"port": 3306, "targetPort": "3306"}]), None),
        (json!([{"port": 3306, "targetPort": ""}]), None),
        (json!([{"port": 0, "targetPort": 3306}]), None),
        (json!([{"port": 70000, "targetPort": 3306}]), None),
        (json!([{"port": 80, "targetPort": 3306}, {"port": 80, "targetPort": 25, "protocol": "UDP"}]), Some("80")),
        (json!([{"port": 9300}, {"port": 8080}, {"port": 25}]), Some("9300,25")),
    ] {
        assert_eq!(of(Kind::Service, &service(ports.clone()), DEFAULTS).as_deref(), expected, "{ports}");
    }
}

#[test]
fn an_object_without_ports_needs_no_defaults() {
    for (kind, object, expected) in [
        (Kind::Pod, pod(json!([])), false),
        (Kind::Pod, pod(json!([{"name": "x"}])), false),
        (Kind::Pod, pod(json!([{"containerPort": 8080}])), true),
        (Kind::Service, json!({}), false),
        (Kind::Service, service(json!([])), false),
        (Kind::Service, service(json!([{"port": 80}])), true),
    ] {
        assert_eq!(exposes_ports(&Workload::read(kind, &object).unwrap()), expected, "{object}");
    }
}
