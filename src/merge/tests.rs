//! Where each part goes, and that taking it away gives back what was there.

use super::{annotate, apply};
use crate::render::{Place, PodPatch, Variable};
use serde_json::{Value, json};
use std::collections::BTreeMap;

mod later;
mod leaves;

fn mk_patch(place: Place) -> PodPatch {
    PodPatch {
        annotations: BTreeMap::from([("linkerd.io/created-by", "us".to_owned())]),
        labels: BTreeMap::from([("linkerd.io/workload-ns", "shop".to_owned())]),
        volumes: vec![
            json!({"name": "linkerd-identity-end-entity", "emptyDir": {}}),
            json!({"name": "linkerd-identity-token", "emptyDir": {}}),
        ],
        init: json!({"name": "linkerd-init"}),
        proxy: json!({"name": "linkerd-proxy"}),
        env: vec![],
        place,
        debug: None,
        warnings: vec![],
    }
}

fn with_debug(place: Place) -> PodPatch {
    PodPatch { debug: Some(json!({"name": "linkerd-debug"})), ..mk_patch(place) }
}

fn with_validator(place: Place) -> PodPatch {
    PodPatch { init: json!({"name": "linkerd-network-validator", "image": "new"}), ..mk_patch(place) }
}

/// A pod whose containers have nothing but names.
fn mk_pod(init_containers: &[&str], containers: &[&str]) -> Value {
    let list = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
    json!({
        "apiVersion": "v1",
        "metadata": {"annotations": {"a": "b"}, "labels": {"l": "x"}},
        "spec": {"containers": list(containers), "initContainers": list(init_containers), "volumes": [{"name": "data"}]},
    })
}

fn names(pod: &Value, list: &str) -> Vec<String> {
    pod["spec"][list].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap().to_owned()).collect()
}

fn applied(pod: Value, patch: PodPatch) -> Value {
    apply(pod, patch).0.object
}

#[test]
fn an_environment_that_is_still_typed_is_written_where_it_belongs() {
    let field = Variable::Field { name: "_pod_ns", path: "metadata.namespace" };
    for place in [Place::Native, Place::First, Place::Last] {
        for env in [vec![], vec![field.clone(), Variable::Given(json!({"name": "A", "value": "b"}))]] {
            let pod = mk_pod(&["x"], &["app"]);
            let patch = PodPatch { env, ..mk_patch(place) };
            let typed = apply(pod.clone(), patch.clone()).0;
            assert_eq!(serde_json::to_string(&typed).unwrap(), applied(pod, patch.complete()).to_string());
        }
    }
}

#[test]
fn each_place_has_its_order() {
    for (patch, inits, init_names, container_names) in [
        (mk_patch(Place::Native), vec![], vec!["linkerd-init", "linkerd-proxy"], vec!["app", "b"]),
        (mk_patch(Place::Native), vec!["x", "a"], vec!["linkerd-init", "linkerd-proxy", "x", "a"], vec!["app", "b"]),
        (mk_patch(Place::First), vec![], vec!["linkerd-init"], vec!["linkerd-proxy", "app", "b"]),
        (mk_patch(Place::First), vec!["x", "a"], vec!["x", "a", "linkerd-init"], vec!["linkerd-proxy", "app", "b"]),
        (mk_patch(Place::Last), vec![], vec!["linkerd-init"], vec!["app", "b", "linkerd-proxy"]),
        (mk_patch(Place::Last), vec!["x", "a"], vec!["x", "a", "linkerd-init"], vec!["app", "b", "linkerd-proxy"]),
        (with_debug(Place::Native), vec!["x"], vec!["linkerd-init", "linkerd-proxy", "x"], vec!["app", "b", "linkerd-debug"]),
        (with_debug(Place::First), vec!["x"], vec!["x", "linkerd-init"], vec!["linkerd-proxy", "app", "b", "linkerd-debug"]),
        (with_debug(Place::Last), vec!["x"], vec!["x", "linkerd-init"], vec!["app", "b", "linkerd-debug", "linkerd-proxy"]),
    ] {
        let place = patch.place;
        let pod = applied(mk_pod(&inits, &["app", "b"]), patch);
        assert_eq!(names(&pod, "initContainers"), init_names, "{place:?}");
        assert_eq!(names(&pod, "containers"), container_names, "{place:?}");
        assert_eq!(names(&pod, "volumes"), ["data", "linkerd-identity-end-entity", "linkerd-identity-token"], "{place:?}");
    }
}

#[test]
fn leftovers_give_way_by_name() {
    let old = |name: &str| json!({"name": name, "image": "old"});
    for (place, init_names) in [
        (Place::Native, vec!["linkerd-network-validator", "linkerd-proxy", "x", "y"]),
        (Place::First, vec!["x", "y", "linkerd-network-validator"]),
        (Place::Last, vec!["x", "y", "linkerd-network-validator"]),
    ] {
        let mut pod = mk_pod(&[], &["app"]);
        pod["spec"]["initContainers"] = json!([old("x"), old("linkerd-network-validator"), old("y")]);
        let pod = applied(pod, with_validator(place));
        assert_eq!(names(&pod, "initContainers"), init_names, "{place:?}");
        let ours = pod["spec"]["initContainers"].as_array().unwrap().iter().find(|c| c["name"] == "linkerd-network-validator");
        assert_eq!(ours.unwrap()["image"], "new", "{place:?}");
    }
    let mut pod = mk_pod(&[], &[]);
    pod["spec"]["containers"] = json!([old("app"), old("linkerd-debug"), old("b")]);
    assert_eq!(names(&applied(pod.clone(), with_debug(Place::Native)), "containers"), ["app", "b", "linkerd-debug"]);
    // What is not added stays as it is.
    assert_eq!(applied(pod.clone(), mk_patch(Place::Native))["spec"]["containers"], pod["spec"]["containers"]);
}

#[test]
fn a_volume_of_our_name_is_replaced_in_its_place() {
    let mut pod = mk_pod(&[], &["app"]);
    pod["spec"]["volumes"] = json!([{"name": "linkerd-identity-token", "hostPath": {"path": "/"}}, {"name": "data"}]);
    let pod = applied(pod, mk_patch(Place::Native));
    let expected = json!([{"name": "linkerd-identity-token", "emptyDir": {}}, {"name": "data"}, {"name": "linkerd-identity-end-entity", "emptyDir": {}}]);
    assert_eq!(pod["spec"]["volumes"], expected);
}

#[test]
fn maps_and_lists_are_made_where_there_are_none() {
    let container = json!({"name": "app"});
    let expected = json!({
        "metadata": {"annotations": {"linkerd.io/created-by": "us"}, "labels": {"linkerd.io/workload-ns": "shop"}},
        "spec": {
            "containers": [container],
            "initContainers": [{"name": "linkerd-init"}, {"name": "linkerd-proxy"}],
            "volumes": [{"name": "linkerd-identity-end-entity", "emptyDir": {}}, {"name": "linkerd-identity-token", "emptyDir": {}}],
        },
    });
    for pod in [
        json!({"spec": {"containers": [container]}}),
        json!({"metadata": null, "spec": {"containers": [container]}}),
        json!({"metadata": {}, "spec": {"containers": [container], "initContainers": null, "volumes": null}}),
        json!({"metadata": {"annotations": null, "labels": null}, "spec": {"containers": [container]}}),
        json!({"metadata": {"annotations": {}, "labels": {}}, "spec": {"containers": [container], "initContainers": [], "volumes": []}}),
    ] {
        assert_eq!(applied(pod.clone(), mk_patch(Place::Native)), expected, "{pod}");
    }
}

#[test]
fn metadata_of_ours_wins_and_the_rest_stays() {
    let mut pod = mk_pod(&[], &["app"]);
    pod["metadata"]["annotations"]["linkerd.io/created-by"] = json!("linkerd/cli");
    let pod = applied(pod, mk_patch(Place::Native));
    let annotations = json!({"a": "b", "linkerd.io/created-by": "us"});
    let labels = json!({"l": "x", "linkerd.io/workload-ns": "shop"});
    assert_eq!(pod["metadata"], json!({"annotations": annotations, "labels": labels}));
}

#[test]
fn taking_away_what_was_added_gives_back_the_input() {
    let full = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "annotations": {"z": "1", "a": "2"}, "labels": {"z": "1"}, "futureField": [1.5]},
        "spec": {
            "containers": [{"name": "z", "restartPolicyRules": [{"exitCodes": {"values": [3]}}]}, {"name": "a", "image": "i"}],
            "initContainers": [{"name": "s", "restartPolicy": "Always", "lifecycle": {"preStop": {}}}, {"name": "b"}],
            "volumes": [{"name": "m", "image": {"reference": "r"}}],
            "futureField": {"nested": [null, {"n": 18446744073709551615u64}]},
        },
        "status": {},
    });
    for place in [Place::Native, Place::First, Place::Last] {
        let patch = with_debug(place);
        let mut pod = applied(full.clone(), patch);
        for (list, ours) in [
            ("containers", &["linkerd-proxy", "linkerd-debug"][..]),
            ("initContainers", &["linkerd-init", "linkerd-proxy"]),
            ("volumes", &["linkerd-identity-end-entity", "linkerd-identity-token"]),
        ] {
            pod["spec"][list].as_array_mut().unwrap().retain(|item| !ours.contains(&item["name"].as_str().unwrap()));
        }
        pod["metadata"]["annotations"].as_object_mut().unwrap().remove("linkerd.io/created-by");
        pod["metadata"]["labels"].as_object_mut().unwrap().remove("linkerd.io/workload-ns");
        assert_eq!(pod.to_string(), full.to_string(), "{place:?}");
    }
}

#[test]
fn one_annotation_leaves_the_others() {
    for (object, expected) in [
        (json!({}), json!({"metadata": {"annotations": {"k": "v"}}})),
        (json!({"metadata": null}), json!({"metadata": {"annotations": {"k": "v"}}})),
        (json!({"metadata": {"annotations": null, "name": "n"}}), json!({"metadata": {"annotations": {"k": "v"}, "name": "n"}})),
        (
            json!({"metadata": {"annotations": {"a": "b"}}, "spec": 1}),
            json!({"metadata": {"annotations": {"a": "b", "k": "v"}}, "spec": 1}),
        ),
        (json!({"metadata": {"annotations": {"k": "old"}}}), json!({"metadata": {"annotations": {"k": "v"}}})),
    ] {
        let mut annotated = object.clone();
        annotate(&mut annotated, "k", "v".to_owned());
        assert_eq!(annotated, expected, "{object}");
    }
}
