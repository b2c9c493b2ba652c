//! Resources beside those of the pod as a whole.

use super::fit;
use crate::values::Values;
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};

/// The proxy's request and limit of CPU in such a pod, and what there is to say.
fn fitted(asked: (&str, &str), pod: &Value, native: bool) -> (String, String, Vec<String>) {
    let mut values = Values::default();
    values.proxy.native_sidecar = native;
    let cpu = &mut values.proxy.resources.cpu;
    asked.0.clone_into(&mut cpu.request);
    asked.1.clone_into(&mut cpu.limit);
    let warnings = fit(&mut values, &Workload::read(Kind::Pod, pod).unwrap());
    let cpu = values.proxy.resources.cpu;
    (cpu.request, cpu.limit, warnings.iter().map(ToString::to_string).collect())
}

fn pod(whole: Value, app: Value, early: Value) -> Value {
    let container = |name: &str, resources: &Value| json!({"name": name, "resources": resources});
    json!({"spec": {
        "resources": whole, "containers": [container("app", &app)], "initContainers": [container("early", &early)],
    }})
}

#[test]
fn what_the_pod_leaves_is_what_the_proxy_gets() {
    let requests = |cpu: &str| json!({"requests": {"cpu": cpu}});
    let limits = |cpu: &str| json!({"limits": {"cpu": cpu}});
    let both = |request: &str, limit: &str| json!({"requests": {"cpu": request}, "limits": {"cpu": limit}});
    let none = || json!({});
    let request =
        |was: &str, now: &str| format!("pod: the proxy's cpu request {was} is above what the pod's leaves, and lowered to {now}");
    let limit = |was: &str, now: &str| format!("pod: the proxy's cpu limit {was} is above the pod's, and lowered to {now}");
    for (asked, (whole, app, early), native, expected, told) in [
        (("100m", "1"), (json!(null), requests("1"), none()), true, ("100m", "1"), vec![]),
        (("100m", ""), (none(), requests("1"), none()), true, ("100m", ""), vec![]),
        (("100m", ""), (requests("600m"), requests("500m"), none()), true, ("100m", ""), vec![]),
        (("101m", ""), (requests("600m"), requests("500m"), none()), true, ("100m", ""), vec![request("101m", "100m")]),
        (("1", ""), (requests("500m"), requests("500m"), none()), true, ("0", ""), vec![request("1", "0")]),
        (("", ""), (requests("500m"), requests("500m"), none()), true, ("", ""), vec![]),
        // What is not set is what the limit is.
        (("", "1"), (requests("600m"), requests("500m"), none()), true, ("100m", "1"), vec![request("1", "100m")]),
        (("", "100m"), (requests("600m"), requests("500m"), none()), true, ("", "100m"), vec![]),
        (("100m", "100m"), (requests("600m"), requests("500m"), none()), true, ("100m", "100m"), vec![]),
        (("", "2"), (both("1", "1"), none(), none()), true, ("", "1"), vec![limit("2", "1")]),
        (
            ("100m", "2"),
            (both("500m", "1"), requests("500m"), none()),
            true,
            ("0", "1"),
            vec![limit("2", "1"), request("100m", "0")],
        ),
        // A limit alone makes the request that of the containers, where they have any.
        (("100m", ""), (limits("1"), requests("500m"), none()), true, ("0", ""), vec![request("100m", "0")]),
        (("100m", ""), (limits("1"), none(), none()), true, ("100m", ""), vec![]),
        (("2", ""), (limits("1"), none(), none()), true, ("1", ""), vec![request("2", "1")]),
        // Be it one of another resource.
        (("100m", ""), (json!({"limits": {"memory": "1"}}), requests("500m"), none()), true, ("0", ""), vec![request("100m", "0")]),
        (("100m", ""), (json!({"limits": {"memory": "1"}}), none(), none()), true, ("100m", ""), vec![]),
        // A native sidecar is there beside the init containers, too.
        (("100m", ""), (requests("600m"), requests("1m"), requests("550m")), true, ("50m", ""), vec![request("100m", "50m")]),
        (("100m", ""), (requests("600m"), requests("1m"), requests("550m")), false, ("100m", ""), vec![]),
        // What is in excess without it is not for it to mend.
        (("100m", ""), (requests("100m"), requests("1"), none()), true, ("0", ""), vec![request("100m", "0")]),
        (("100m", ""), (json!({"requests": {"memory": "1"}}), requests("1"), none()), true, ("100m", ""), vec![]),
    ] {
        let pod = pod(whole, app, early);
        let (request, limit, said) = fitted(asked, &pod, native);
        assert_eq!(((request.as_str(), limit.as_str()), &said), (expected, &told), "{asked:?} {native} {pod}");
        assert_eq!(fitted((&request, &limit), &pod, native), (request, limit, vec![]), "{asked:?} {native} {pod} again");
    }
}

#[test]
fn the_debug_container_is_not_beside_init_containers() {
    let pod = pod(json!({"requests": {"cpu": "600m"}}), json!({"requests": {"cpu": "50m"}}), json!({"requests": {"cpu": "550m"}}));
    let mut values = Values { debug_enabled: true, ..Values::default() };
    values.proxy.resources.cpu.request = "50m".to_owned();
    values.debug_resources.cpu.request = "100m".to_owned();
    assert_eq!(fit(&mut values, &Workload::read(Kind::Pod, &pod).unwrap()), []);
}

#[test]
fn the_debug_container_gets_what_the_proxy_leaves() {
    let pod = pod(json!({"requests": {"memory": "100"}}), json!({"requests": {"memory": "50"}}), json!({}));
    let mut values = Values { debug_enabled: true, ..Values::default() };
    values.proxy.resources.memory.request = "30".to_owned();
    values.debug_resources.memory.request = "30".to_owned();
    let warnings = fit(&mut values, &Workload::read(Kind::Pod, &pod).unwrap());
    assert_eq!((values.proxy.resources.memory.request.as_str(), values.debug_resources.memory.request.as_str()), ("30", "20"));
    let told = "pod: the debug container's memory request 30 is above what the pod's leaves, and lowered to 20";
    assert_eq!(warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
}
