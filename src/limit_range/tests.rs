//! Resources as LimitRanger accepts them.

use super::{Bounds, Change, Item, fit, fit_one};
use crate::values::{Constraint, Resources};
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
    let changes = fit_one("cpu", &mut constraint, &Bounds::of(&items(json!([item])), "Container", "cpu"));
    let said =
        |Change { which, from, to, raised, .. }: Change| format!("{which} {from} {} {to}", if raised { "up" } else { "down" });
    (constraint.request, constraint.limit, changes.into_iter().map(said).collect())
}

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
        (("0.1", "1000m"), both("100m", "1"), ("0.1", "1000m"), vec![]),
        // Of a request above the default limit, it is the limit that nobody asked for.
        (("2", ""), cpu("default", "1"), ("2", "2"), vec![]),
        (("2", ""), json!({"default": {"cpu": "1"}, "max": {"cpu": "1500m"}}), ("1500m", "1500m"), vec!["request 2 down 1500m"]),
        (("", "500m"), json!({"default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}), ("", "500m"), vec![]),
        (("100m", "1"), cpu("maxLimitRequestRatio", "4"), ("250m", "1"), vec!["request 100m up 250m"]),
        (("300m", "1"), cpu("maxLimitRequestRatio", "3"), ("334m", "1"), vec!["request 300m up 334m"]),
        (("250m", "1"), cpu("maxLimitRequestRatio", "4"), ("250m", "1"), vec![]),
        (("100m", ""), cpu("maxLimitRequestRatio", "4"), ("100m", "100m"), vec![]),
        // What cannot be read binds nobody.
        (("1", ""), cpu("min", "many"), ("1", ""), vec![]),
        (("1", ""), json!({"min": {"cpu": 2}}), ("2", ""), vec!["request 1 up 2"]),
        (("1", ""), json!({"min": {"memory": "2"}}), ("1", ""), vec![]),
    ] {
        let (request, limit, said) = fitted(set.0, set.1, item.clone());
        assert_eq!(
            ((request.as_str(), limit.as_str()), said),
            (expected, changes.into_iter().map(str::to_owned).collect()),
            "{set:?} {item}"
        );
        // What was accepted once is accepted as it is.
        let again = fitted(&request, &limit, item.clone());
        assert_eq!(again, (request, limit, vec![]), "{set:?} {item} again");
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
    let changes = fit_one("cpu", &mut constraint, &Bounds::of(&several, "Container", "cpu"));
    assert_eq!((constraint.request.as_str(), constraint.limit.as_str(), changes.len()), ("200m", "1", 1));
}

#[test]
fn a_pod_is_added_up_as_it_runs() {
    let container = |name: &str, memory: &str| json!({"name": name, "resources": {"limits": {"memory": memory}}});
    let mut sidecar = container("side", "10");
    sidecar["restartPolicy"] = json!("Always");
    let pod = json!({"spec": {
        "containers": [container("a", "30"), container("b", "20")],
        // The first of these runs alone, the last beside the sidecar.
        "initContainers": [container("early", "50"), sidecar, container("late", "60")],
    }});
    let view = Workload::read(Kind::Pod, &pod).unwrap();
    let excess = |most: &str, own: &str| {
        let mut resources = Resources::default();
        own.clone_into(&mut resources.memory.limit);
        let report = fit(&mut resources, &items(json!([{"type": "Pod", "max": {"memory": most}}])), &view);
        report.excesses.iter().map(|e| format!("{} {}", e.which, e.sum)).collect::<Vec<_>>()
    };
    assert_eq!(excess("70", ""), [] as [String; 0]);
    assert_eq!(excess("69", ""), ["requests 70", "limits 70"]);
    assert_eq!(excess("75", "5"), [] as [String; 0]);
    assert_eq!(excess("75", "6"), ["requests 76", "limits 76"]);
}
