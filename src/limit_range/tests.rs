//! Resources as LimitRanger accepts them.

use super::{Bounds, Change, Gap, Item, Name, Report, fit, fit_one};
use crate::pod_resources::Most;
use crate::values::{Constraint, Values};
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};

fn items(items: Value) -> Vec<Item> {
    items.as_array().unwrap().clone()
}

/// What becomes of a request and a limit of CPU, with what was changed.
fn fitted(request: &str, limit: &str, item: Value) -> (String, String, Vec<String>) {
    let mut item = item;
    item["type"] = json!("Container");
    let mut constraint = Constraint { limit: limit.to_owned(), request: request.to_owned() };
    let mut report = Report::default();
    fit_one(&CPU, &mut constraint, &Bounds::of(&items(json!([item])), "Container", "cpu"), &Most::default(), &mut report);
    let changed = |Change { which, from, to, raised, .. }: Change| match from {
        Some(from) => format!("{which} {from} {} {to}", if raised { "up" } else { "down" }),
        None => format!("{which} set {to}"),
    };
    let missing = |Gap { why, .. }: Gap| why;
    let said = report.changes.into_iter().map(changed).chain(report.gaps.into_iter().map(missing));
    (constraint.request, constraint.limit, said.collect())
}

const CPU: Name = Name { container: "linkerd-proxy", resource: "cpu" };

#[test]
fn what_is_set_is_kept_within_bounds_and_what_is_not_is_filled_in() {
    let cpu = |list: &str, amount: &str| json!({list: {"cpu": amount}});
    let both = |min: &str, max: &str| json!({"min": {"cpu": min}, "max": {"cpu": max}});
    for (set, item, expected, changes) in [
        (("", ""), json!({}), ("", ""), vec![]),
        (("1", "2"), json!({}), ("1", "2"), vec![]),
        (("", ""), cpu("default", "1"), ("1", "1"), vec![]),
        (("", ""), cpu("defaultRequest", "1"), ("1", ""), vec![]),
        (("", ""), json!({"default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}), ("1", "2"), vec![]),
        // A minimum is the request where none is set, a maximum the limit.
        (("", ""), cpu("min", "100m"), ("100m", ""), vec![]),
        (("", ""), cpu("max", "1"), ("1", "1"), vec![]),
        (("50m", ""), cpu("min", "100m"), ("100m", ""), vec!["request 50m up 100m"]),
        (("50m", "80m"), cpu("min", "100m"), ("100m", "100m"), vec!["request 50m up 100m", "limit 80m up 100m"]),
        (("", "80m"), cpu("min", "100m"), ("", "100m"), vec!["limit 80m up 100m"]),
        (("2", "3"), cpu("max", "1"), ("1", "1"), vec!["request 2 down 1", "limit 3 down 1"]),
        (("2", ""), cpu("max", "1"), ("1", "1"), vec!["request 2 down 1"]),
        (("", ""), json!({"max": {"cpu": "1"}, "default": {"cpu": "500m"}}), ("500m", "500m"), vec![]),
        (("0.1", "1000m"), both("100m", "1"), ("0.1", "1000m"), vec![]),
        // Of a request above the default limit, it is the limit that nobody asked for.
        (("2", ""), cpu("default", "1"), ("2", "2"), vec!["limit set 2"]),
        (
            ("2", ""),
            json!({"default": {"cpu": "1"}, "max": {"cpu": "1500m"}}),
            ("1500m", "1500m"),
            vec!["request 2 down 1500m", "limit set 1500m"],
        ),
        (("", "500m"), json!({"default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}), ("", "500m"), vec![]),
        (("100m", "1"), cpu("maxLimitRequestRatio", "4"), ("250m", "1"), vec!["request 100m up 250m"]),
        (("300m", "1"), cpu("maxLimitRequestRatio", "3"), ("334m", "1"), vec!["request 300m up 334m"]),
        (("250m", "1"), cpu("maxLimitRequestRatio", "4"), ("250m", "1"), vec![]),
        (("100m", ""), cpu("maxLimitRequestRatio", "4"), ("100m", "400m"), vec!["limit set 400m"]),
        (("20m", ""), cpu("maxLimitRequestRatio", "1.33"), ("20m", "26m"), vec!["limit set 26m"]),
        (("100m", ""), json!({"max": {"cpu": "300m"}, "maxLimitRequestRatio": {"cpu": "4"}}), ("100m", "300m"), vec![]),
        (("20m", ""), json!({"max": {"cpu": "300m"}, "maxLimitRequestRatio": {"cpu": "4"}}), ("20m", "80m"), vec!["limit set 80m"]),
        (("", "1"), cpu("maxLimitRequestRatio", "4"), ("", "1"), vec![]),
        // Where nobody set either, the request of the defaults grows.
        (
            ("", ""),
            json!({"default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}, "maxLimitRequestRatio": {"cpu": "4"}}),
            ("250m", "1"),
            vec!["request set 250m"],
        ),
        (
            ("", ""),
            json!({"defaultRequest": {"cpu": "100m"}, "maxLimitRequestRatio": {"cpu": "4"}}),
            ("100m", "400m"),
            vec!["limit set 400m"],
        ),
        (("", ""), cpu("maxLimitRequestRatio", "4"), ("", ""), vec!["its cpu ratio needs a request; set proxy-cpu-request"]),
        (("0", ""), cpu("maxLimitRequestRatio", "4"), ("0", ""), vec!["its cpu ratio needs a request; set proxy-cpu-request"]),
        (("0", "0"), cpu("maxLimitRequestRatio", "4"), ("0", "0"), vec!["its cpu ratio needs a request; set proxy-cpu-request"]),
        // LimitRanger divides in floating point, and finds 229369/7000 above 32.767.
        (("7", ""), cpu("maxLimitRequestRatio", "32.767"), ("7", "229368m"), vec!["limit set 229368m"]),
        (("1", "229369m"), cpu("maxLimitRequestRatio", "32.767"), ("7001m", "229369m"), vec!["request 1 up 7001m"]),
        // What cannot be read binds nobody.
        (("1", ""), cpu("min", "many"), ("1", ""), vec![]),
        (("1", ""), json!({"min": {"cpu": 2}}), ("2", ""), vec!["request 1 up 2"]),
        (("1", ""), json!({"min": {"memory": "2"}}), ("1", ""), vec![]),
    ] {
        let (request, limit, mut said) = fitted(set.0, set.1, item.clone());
        assert_eq!(
            ((request.as_str(), limit.as_str()), said.iter().map(String::as_str).collect::<Vec<_>>()),
            (expected, changes),
            "{set:?} {item}"
        );
        // What was accepted once is accepted as it is, and what is missing still is.
        let again = fitted(&request, &limit, item.clone());
        said.retain(|line| line.starts_with("its "));
        assert_eq!(again, (request, limit, said), "{set:?} {item} again");
    }
}

#[test]
fn the_narrowest_of_several_binds_and_the_first_default_counts() {
    let several = items(json!([
        {"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "2"}, "default": {"cpu": "1"}},
        {"type": "Container", "min": {"cpu": "200m"}, "max": {"cpu": "3"}, "default": {"cpu": "2"}},
        {"type": "Pod", "min": {"cpu": "5"}},
    ]));
    let mut constraint = Constraint { limit: String::new(), request: "10m".to_owned() };
    let mut report = Report::default();
    fit_one(&CPU, &mut constraint, &Bounds::of(&several, "Container", "cpu"), &Most::default(), &mut report);
    assert_eq!((constraint.request.as_str(), constraint.limit.as_str(), report.changes.len()), ("200m", "1", 1));
}

#[test]
fn bytes_are_whole() {
    let mut values = Values::default();
    values.proxy.resources.memory.request = "10".to_owned();
    let pod = json!({"spec": {"containers": []}});
    let view = Workload::read(Kind::Pod, &pod).unwrap();
    let report = fit(&mut values, &items(json!([{"type": "Container", "maxLimitRequestRatio": {"memory": "1.55"}}])), &view);
    assert_eq!((values.proxy.resources.memory.limit.as_str(), report.changes.len()), ("15", 1));
}

#[test]
fn the_debug_container_is_filled_in_too() {
    let pod = json!({"spec": {"containers": []}});
    let view = Workload::read(Kind::Pod, &pod).unwrap();
    let item =
        json!([{"type": "Container", "defaultRequest": {"cpu": "100m"}, "maxLimitRequestRatio": {"cpu": "4", "memory": "2"}}]);
    let mut values = Values { debug_enabled: true, ..Values::default() };
    values.proxy.resources.memory.request = "10Mi".to_owned();
    let report = fit(&mut values, &items(item), &view);
    assert_eq!(values.debug_resources.cpu, Constraint { request: "100m".to_owned(), limit: "400m".to_owned() });
    assert_eq!(values.debug_resources.memory, Constraint::default());
    let why = "its memory ratio needs a request; give it a default".to_owned();
    assert_eq!(report.gaps, [Gap { container: "linkerd-debug", why }]);
    let changed: Vec<_> = report.changes.iter().map(|c| (c.container, c.resource, c.which, c.to.as_str())).collect();
    let expected = [
        ("linkerd-proxy", "cpu", "limit", "400m"),
        ("linkerd-proxy", "memory", "limit", "20971520"),
        ("linkerd-debug", "cpu", "limit", "400m"),
    ];
    assert_eq!(changed, expected);
}

#[test]
fn the_pod_as_a_whole_binds_no_less_than_a_limit_range() {
    let of = |item: Value, asked: (&str, &str), whole: Value| {
        let mut item = item;
        item["type"] = json!("Container");
        let app = json!({"name": "app", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "1"}}});
        let pod = json!({"spec": {"resources": whole, "containers": [app]}});
        let mut values = Values::default();
        values.proxy.resources.cpu = Constraint { request: asked.0.to_owned(), limit: asked.1.to_owned() };
        let report = fit(&mut values, &items(json!([item])), &Workload::read(Kind::Pod, &pod).unwrap());
        let cpu = values.proxy.resources.cpu;
        (cpu.request, cpu.limit, report.gaps.into_iter().map(|gap| gap.why).collect::<Vec<_>>())
    };
    let texts = |request: &str, limit: &str, whys: &[&str]| {
        (request.to_owned(), limit.to_owned(), whys.iter().map(|why| (*why).to_owned()).collect::<Vec<_>>())
    };
    let whole = |request: &str| json!({"requests": {"cpu": request}, "limits": {"cpu": "1"}});
    let ratio = || json!({"maxLimitRequestRatio": {"cpu": "4"}});
    assert_eq!(of(ratio(), ("50m", "400m"), whole("550m")), texts("50m", "200m", &[]));
    assert_eq!(of(ratio(), ("50m", "400m"), whole("600m")), texts("100m", "400m", &[]));
    let min = || json!({"min": {"cpu": "50m"}, "defaultRequest": {"cpu": "100m"}});
    assert_eq!(of(min(), ("", ""), whole("600m")), texts("100m", "", &[]));
    assert_eq!(of(min(), ("", ""), whole("560m")).2.len(), 0);
    let why = "its cpu minimum of 50m is more than the 0 that the pod's resources leave";
    assert_eq!(of(min(), ("", ""), whole("500m")), texts("0", "", &[why]));
}

/// What a LimitRange of pods finds in a pod with these memory limits of the proxy, in each place that it can have.
fn excesses(pod: &Value, limits: Value, own: &str, native: bool, container: Value) -> Vec<String> {
    let view = Workload::read(Kind::Pod, pod).unwrap();
    let mut values = Values::default();
    values.proxy.native_sidecar = native;
    own.clone_into(&mut values.proxy.resources.memory.limit);
    let (mut whole, mut each) = (limits, container);
    whole["type"] = json!("Pod");
    each["type"] = json!("Container");
    let report = fit(&mut values, &items(json!([whole, each])), &view);
    report.excesses.iter().map(|e| format!("{} {} {}", e.which, e.sum, e.bound)).collect()
}

fn running() -> Value {
    let container = |name: &str, memory: Value| json!({"name": name, "resources": {"limits": {"memory": memory}}});
    let mut sidecar = container("side", json!("10"));
    sidecar["restartPolicy"] = json!("Always");
    json!({"spec": {
        "containers": [container("a", json!("30")), container("b", json!(20))],
        // The first of these runs alone, the last beside the sidecar.
        "initContainers": [container("early", json!("50")), sidecar, container("late", json!("60"))],
    }})
}

#[test]
fn a_pod_is_added_up_as_it_runs() {
    const NONE: [String; 0] = [];
    let of = |most: &str, own: &str, native: bool| excesses(&running(), json!({"max": {"memory": most}}), own, native, json!({}));
    assert_eq!(of("70", "", true), NONE);
    assert_eq!(of("69", "", true), ["requests 70 allows pods 69", "limits 70 allows pods 69"]);
    assert_eq!(of("75", "5", true), NONE);
    assert_eq!(of("75", "6", true), ["requests 76 allows pods 75", "limits 76 allows pods 75"]);
    // One that is not native is not there yet when the last of them runs.
    assert_eq!(of("70", "10", false), NONE);
    assert_eq!(of("70", "11", false), ["requests 71 allows pods 70", "limits 71 allows pods 70"]);
    // The container that sets up its redirection is there alone, and has what the proxy has.
    assert_eq!(of("75", "76", false).len(), 2);
}

#[test]
fn containers_that_say_nothing_get_what_limit_ranges_give() {
    let mut pod = running();
    pod["spec"]["containers"][0]["resources"] = json!({});
    let of = |container: Value| excesses(&pod, json!({"max": {"memory": "100"}}), "1", true, container);
    assert_eq!(of(json!({"default": {"memory": "69"}})), [""; 0]);
    assert_eq!(of(json!({"default": {"memory": "70"}})), ["requests 101 allows pods 100", "limits 101 allows pods 100"]);
    assert_eq!(of(json!({"default": {"memory": "70"}, "defaultRequest": {"memory": "1"}})), ["limits 101 allows pods 100"]);
}

#[test]
fn a_sidecar_may_make_a_pods_limit_too_small_or_too_large_for_its_request() {
    let pod = |resources: Value| json!({"spec": {"containers": [{"name": "a", "resources": resources}]}});
    let of = |resources: Value, limits: Value, own: &str| excesses(&pod(resources), limits, own, true, json!({}));
    let asks = json!({"requests": {"memory": "200"}});
    assert_eq!(of(asks.clone(), json!({"min": {"memory": "100"}}), ""), [""; 0]);
    assert_eq!(of(asks, json!({"min": {"memory": "100"}}), "50"), ["limits 50 asks pods for 100"]);
    let both = json!({"requests": {"memory": "100"}, "limits": {"memory": "200"}});
    assert_eq!(of(both.clone(), json!({"maxLimitRequestRatio": {"memory": "2"}}), "50"), [""; 0]);
    let expected = ["limits 250 for requests of 150 allows pods a ratio of 1.5"];
    assert_eq!(of(both.clone(), json!({"maxLimitRequestRatio": {"memory": "1.5"}}), "50"), expected);
    // What is said of the pod as a whole counts alone.
    let mut whole = pod(both);
    whole["spec"]["resources"] = json!({"requests": {"memory": "300"}, "limits": {"memory": 300}});
    assert_eq!(excesses(&whole, json!({"max": {"memory": "300"}}), "50", true, json!({})), [""; 0]);
    assert_eq!(excesses(&whole, json!({"max": {"memory": "299"}}), "50", true, json!({})).len(), 2);
}
