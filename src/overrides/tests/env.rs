//! The one list that grows from layer to layer.

use super::{Annotations, Kind, Values, Workload, apply, changed, mk_pod, overridden};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const KEY: &str = "config.linkerd.io/proxy-additional-env";

fn configured(env: Value) -> Values {
    changed(&Values::default(), |v| v.proxy.additional_env = env.as_array().unwrap().clone())
}

fn entry(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value})
}

#[test]
fn layers_merge_by_name_and_keep_their_places() {
    let below = configured(json!([entry("A", "h"), entry("B", "h")]));
    let namespace = json!([entry("B", "n"), entry("C", "n")]).to_string();
    let pod = json!([entry("C", "p"), entry("D", "p")]).to_string();
    for (pod, namespace, expected) in [
        (None, None, json!([entry("A", "h"), entry("B", "h")])),
        (None, Some(&namespace), json!([entry("A", "h"), entry("B", "n"), entry("C", "n")])),
        (Some(&pod), None, json!([entry("A", "h"), entry("B", "h"), entry("C", "p"), entry("D", "p")])),
        (Some(&pod), Some(&namespace), json!([entry("A", "h"), entry("B", "n"), entry("C", "p"), entry("D", "p")])),
    ] {
        let own: Vec<_> = pod.iter().map(|t| (KEY, t.as_str())).collect();
        let inherited: Vec<_> = namespace.iter().map(|t| (KEY, t.as_str())).collect();
        assert_eq!(overridden(&below, &own, &inherited), (configured(expected), vec![]), "{own:?} {inherited:?}");
    }
}

#[test]
fn of_one_name_in_one_list_the_last_holds_in_the_first_place() {
    let list = json!([entry("A", "1"), entry("B", "2"), {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]);
    let (values, warnings) = overridden(&Values::default(), &[(KEY, &list.to_string())], &[]);
    let from = json!({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}});
    assert_eq!((values.proxy.additional_env, warnings), (vec![from, entry("B", "2")], vec![]));
}

#[test]
fn empty_lists_add_nothing() {
    let below = configured(json!([entry("A", "h")]));
    for text in ["", "[]", " [ ] ", "null"] {
        assert_eq!(overridden(&below, &[(KEY, text)], &[]), (below.clone(), vec![]), "{text}");
        assert_eq!(overridden(&below, &[], &[(KEY, text)]), (below.clone(), vec![]), "{text}");
    }
    // An empty list of the pod's does not hide the namespace's: the two merge.
    let namespace = json!([entry("B", "n")]).to_string();
    let expected = configured(json!([entry("A", "h"), entry("B", "n")]));
    assert_eq!(overridden(&below, &[(KEY, "")], &[(KEY, &namespace)]), (expected, vec![]));
}

/// A list, what of it holds, and the warnings; no text of `secret…` may be in any.
fn refusals() -> Vec<(String, Value, Vec<&'static str>)> {
    let good = entry("GOOD", "1");
    let with = |bad: Value| json!([bad, good]).to_string();
    let kept = json!([good]);
    vec![
        ("secret".to_owned(), json!([]), vec!["is not JSON"]),
        ("[secret]".to_owned(), json!([]), vec!["is not JSON"]),
        (r#"{"name": "secret1"}"#.to_owned(), json!([]), vec!["is not a JSON list of environment variables"]),
        (r#""secret""#.to_owned(), json!([]), vec!["is not a JSON list of environment variables"]),
        (with(json!("secret")), json!([]), vec!["is not a JSON list of environment variables"]),
        (with(json!({"name": "A", "value": {"secret": 1}})), json!([]), vec!["is not a JSON list of environment variables"]),
        (with(json!({"value": "secret"})), kept.clone(), vec!["is without entry 0, which is without a name"]),
        (
            with(json!({"name": "A=", "value": "secret"})),
            kept.clone(),
            vec!["is without entry 0, which is not named in printable ASCII without an equals sign"],
        ),
        (
            with(json!({"name": "A", "value": "secret", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}})),
            kept.clone(),
            vec!["is without A, which is given both a value and a source"],
        ),
        (
            with(json!({"name": "A", "valueFrom": {"secretKeyRef": {"name": "secret_1", "key": "secret"}}})),
            kept.clone(),
            vec!["is without A, which is taken from an object without a valid name"],
        ),
        (
            with(json!({"name": "LINKERD2_PROXY_INBOUND_PORTS", "value": "secret"})),
            kept.clone(),
            vec![
                "is without LINKERD2_PROXY_INBOUND_PORTS, which is not readable by the proxy: not a list of ports and ranges such as 80,8080-8090",
            ],
        ),
        (
            json!([{"name": "", "value": "secret"}, good, {"name": "B", "valueFrom": {}}]).to_string(),
            kept,
            vec!["is without entry 0, which is without a name", "is without B, which is given a source of no known kind"],
        ),
    ]
}

#[test]
fn what_cannot_be_used_is_named_without_any_value() {
    for (text, kept, problems) in refusals() {
        for (place, pod, namespace) in
            [("", vec![(KEY, text.as_str())], vec![]), ("namespace's ", vec![], vec![(KEY, text.as_str())])]
        {
            let (values, warnings) = overridden(&configured(json!([entry("BELOW", "0")])), &pod, &namespace);
            let mut expected = vec![entry("BELOW", "0")];
            expected.extend(kept.as_array().unwrap().iter().cloned());
            assert_eq!(values, configured(json!(expected)), "{text}");
            assert_eq!(warnings.len(), problems.len(), "{text}");
            for (warning, problem) in warnings.iter().zip(&problems) {
                assert_eq!(*warning, format!("{place}{KEY} {problem}"));
                assert!(!warning.contains("secret"), "{warning}");
            }
        }
    }
}

#[test]
fn a_file_comes_from_an_empty_dir_of_the_pod() {
    let file = |volume: &str| {
        let source = json!({"volumeName": volume, "path": "f", "key": "K"});
        json!([{"name": "A", "valueFrom": {"fileKeyRef": source}}, {"name": "B", "value": "1"}]).to_string()
    };
    for (volume, kept) in [("scratch", true), ("config", false), ("none", false)] {
        let (text, namespace) = (file(volume), std::collections::BTreeMap::new());
        let mut pod = mk_pod(&[(KEY, &text)]);
        pod["spec"]["volumes"] = json!([{"name": "config", "configMap": {"name": "c"}}, {"name": "scratch", "emptyDir": {}}]);
        let scope = apply(Values::default(), &Annotations::new(Workload::read(Kind::Pod, &pod).unwrap(), &namespace));
        let names: Vec<_> = scope.values.proxy.additional_env.iter().map(|e| e["name"].as_str().unwrap()).collect();
        assert_eq!(names, if kept { vec!["A", "B"] } else { vec!["B"] }, "{volume}");
        let line = format!("{KEY} is with an entry from volume {volume:?}, which is no emptyDir of the pod");
        let warnings: Vec<_> = scope.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, if kept { vec![] } else { vec![line] }, "{volume}");
    }
}

#[test]
fn configured_variables_from_files_need_a_volume_of_the_pod() {
    let from = |volume: &str| json!({"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": volume, "path": "p", "key": "k"}}});
    let list = vec![from("scratch"), entry("B", "h"), from("config"), from("none")];
    let values = changed(&Values::default(), |v| {
        v.proxy.additional_env.clone_from(&list);
        v.proxy.experimental_env.clone_from(&list);
    });
    let mut pod = mk_pod(&[]);
    pod["spec"]["volumes"] = json!([{"name": "scratch", "emptyDir": {}}, {"name": "config", "configMap": {"name": "m"}}]);
    let none = BTreeMap::new();
    let scope = apply(values, &Annotations::new(Workload::read(Kind::Pod, &pod).unwrap(), &none));
    let left = vec![from("scratch"), entry("B", "h")];
    assert_eq!((scope.values.proxy.additional_env, scope.values.proxy.experimental_env), (left.clone(), left));
    let warnings: Vec<String> = scope.warnings.iter().map(ToString::to_string).collect();
    let expected = |path: &str, volume: &str| {
        format!("mesh: {path} is used without an entry from volume {volume:?}, which is no emptyDir of the pod")
    };
    let lists = ["proxy.additionalEnv", "proxy.experimentalEnv"];
    let all: Vec<String> = lists.iter().flat_map(|list| ["config", "none"].map(|volume| expected(list, volume))).collect();
    assert_eq!(warnings, all);
}
