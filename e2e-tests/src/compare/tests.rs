//! What the comparison lets pass and what it catches, on one pod with one container of the user's.

use super::{changed_paths, compare, lies_under};
use serde_json::{Value, json};

fn input() -> Value {
    json!({
        "metadata": {"annotations": {"a/b": "1"}, "labels": null, "creationTimestamp": null},
        "spec": {
            "containers": [{"name": "app", "env": [{"name": "E", "value": ""}], "resources": {}, "ports": [], "stdin": null}],
            "volumes": null,
            "tolerations": [{"key": "x"}, {"key": "y"}],
        },
        "status": {},
    })
}

fn injected() -> Value {
    let mut object = input();
    object["metadata"]["annotations"]["linkerd.io/created-by"] = json!("x");
    object["metadata"]["labels"] = json!({"linkerd.io/workload-ns": "shop"});
    object["spec"]["volumes"] = json!([{"name": "v", "emptyDir": {}}]);
    object["spec"]["initContainers"] = json!([
        {"name": "linkerd-init", "resources": null, "args": ["--a", "1"]},
        {"name": "linkerd-proxy", "env": [{"name": "P", "value": "1"}, {"name": "Q", "value": ""}], "image": "i:1"},
    ]);
    object
}

/// The paths that differ after `edit` on what is expected.
fn after(edit: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut actual = injected();
    edit(&mut actual);
    compare(&input(), &injected(), &actual).into_iter().map(|difference| difference.path).collect()
}

#[test]
fn forms_of_nothing_are_equal_in_what_was_added() {
    let none: Vec<String> = Vec::new();
    assert_eq!(after(|_| ()), none);
    assert_eq!(after(|o| o["spec"]["initContainers"][0]["resources"] = json!({"limits": {}})), none);
    assert_eq!(after(|o| drop(o["spec"]["initContainers"][0].as_object_mut().unwrap().remove("resources"))), none);
    assert_eq!(after(|o| o["spec"]["initContainers"][1]["resources"] = json!({})), none);
    assert_eq!(after(|o| o["spec"]["initContainers"][1]["volumeMounts"] = json!([])), none);
    assert_eq!(after(|o| o["spec"]["initContainers"][1]["env"][1] = json!({"name": "Q"})), none);
    assert_eq!(after(|o| o["spec"]["volumes"][0]["emptyDir"] = json!(null)), none);
}

#[test]
fn the_users_own_part_is_kept_to_the_letter() {
    assert_eq!(after(|o| drop(o["metadata"].as_object_mut().unwrap().remove("creationTimestamp"))), ["metadata/creationTimestamp"]);
    assert_eq!(after(|o| drop(o.as_object_mut().unwrap().remove("status"))), ["status"]);
    assert_eq!(after(|o| o["status"] = json!(null)), ["status"]);
    let app = |key: &'static str| move |o: &mut Value| drop(o["spec"]["containers"][0].as_object_mut().unwrap().remove(key));
    assert_eq!(after(app("resources")), ["spec/containers[app]/resources"]);
    assert_eq!(after(app("ports")), ["spec/containers[app]/ports"]);
    assert_eq!(after(app("stdin")), ["spec/containers[app]/stdin"]);
    assert_eq!(after(|o| o["spec"]["containers"][0]["ports"] = json!({})), ["spec/containers[app]/ports"]);
    assert_eq!(after(|o| o["spec"]["containers"][0]["env"][0] = json!({"name": "E"})), ["spec/containers[app]/env[E]/value"]);
    assert_eq!(
        after(|o| o["spec"]["tolerations"].as_array_mut().unwrap().swap(0, 1)),
        ["spec/tolerations[0]/key", "spec/tolerations[1]/key"]
    );
    assert_eq!(after(|o| o["spec"]["hostAliases"] = json!(null)), ["spec/hostAliases"]);
    assert_eq!(after(|o| o["spec"]["containers"][0]["env"][0]["valueFrom"] = json!({})), ["spec/containers[app]/env[E]/valueFrom"]);
    assert_eq!(after(|o| o["metadata"]["annotations"]["a/b"] = json!("2")), ["metadata/annotations[a/b]"]);
}

#[test]
fn what_was_added_must_be_the_same() {
    assert_eq!(after(|o| o["spec"]["initContainers"][1]["image"] = json!("i:2")), ["spec/initContainers[linkerd-proxy]/image"]);
    assert_eq!(
        after(|o| o["spec"]["initContainers"][1]["env"][0]["value"] = json!("")),
        ["spec/initContainers[linkerd-proxy]/env[P]/value"]
    );
    assert_eq!(after(|o| o["spec"]["initContainers"][1]["stdin"] = json!(false)), ["spec/initContainers[linkerd-proxy]/stdin"]);
    assert_eq!(after(|o| o["spec"]["initContainers"][0]["args"] = json!(["--a"])), ["spec/initContainers[linkerd-init]/args[1]"]);
    assert_eq!(after(|o| o["spec"]["initContainers"].as_array_mut().unwrap().reverse()), ["spec/initContainers"]);
    assert_eq!(after(|o| drop(o["spec"]["initContainers"].as_array_mut().unwrap().pop())), ["spec/initContainers[linkerd-proxy]"]);
    assert_eq!(after(|o| o["spec"]["volumes"].as_array_mut().unwrap().push(json!({"name": "v"}))), ["spec/volumes[v#2]"]);
}

#[test]
fn the_value_of_something_else_than_a_variable_is_not_optional() {
    let expected = json!({"spec": {"tolerations": [{"name": "t", "value": ""}]}});
    let found = compare(&json!({}), &expected, &json!({"spec": {"tolerations": [{"name": "t"}]}}));
    assert_eq!(found[0].to_string(), "spec/tolerations[t]/value: expected \"\", got nothing");
}

#[test]
fn changed_paths_hold_nothing_equal_that_was_there() {
    let (before, mut after) = (json!({"a": null, "b": [{"name": "x", "c": 1}]}), json!({"b": [{"name": "x", "c": 2}]}));
    assert_eq!(changed_paths(&before, &after), ["a", "b[x]/c"]);
    after["d"] = json!("new");
    assert_eq!(changed_paths(&before, &after), ["a", "b[x]/c", "d"]);
}

#[test]
fn patterns() {
    for (path, pattern, under) in [
        ("spec/containers[app]/image", "spec/containers[app]", true),
        ("spec/containers[app]/image", "spec/*[app]/image", true),
        ("spec/initContainers[linkerd-proxy]/env[A]/value", "spec/*[linkerd-proxy]/env[A]", true),
        ("spec/initContainers[linkerd-proxy]/env[AB]/value", "spec/*[linkerd-proxy]/env[A]", false),
        ("spec/initContainers[linkerd-proxy]/environment", "spec/*[linkerd-proxy]/env", false),
        ("metadata/annotations[linkerd.io/created-by]", "metadata/annotations[*]", true),
        ("metadata/labels[x]", "metadata/annotations", false),
        ("anything", "*", true),
        ("", "*", true),
    ] {
        assert_eq!(lies_under(path, pattern), under, "{path} under {pattern}");
    }
}
