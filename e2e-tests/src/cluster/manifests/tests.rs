use super::*;

fn cluster() -> Manifests {
    Manifests::new(vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "namespace": "ignored"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}, "data": {"a": "2"}}),
        json!({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": {
                "name": "l", "namespace": "shop", "managedFields": [],
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
            }, "spec": {"limits": []}, "status": {}},
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "other"}},
        ]}),
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}),
    ])
}

fn ask(query: &Query) -> Result<Value, String> {
    let answer = cluster().ask(query).map_err(|refusal| refusal.to_string())?;
    Ok(serde_json::from_slice(&answer).unwrap())
}

#[test]
fn gets_objects() {
    assert_eq!(ask(&Query::get("v1", "ConfigMap", Some("default"), "c")).unwrap()["data"]["a"], "2");
    assert_eq!(ask(&Query::get("v1", "Namespace", None, "shop")).unwrap()["kind"], "Namespace");
    assert_eq!(ask(&Query::get("v1", "Namespace", Some("x"), "shop")).unwrap()["kind"], "Namespace");
    assert_eq!(ask(&Query::get("example.com/v1", "Thing", None, "t")).unwrap()["metadata"]["name"], "t");
    assert!(ask(&Query::get("v1", "ConfigMap", Some("default"), "c").masked(&["none"])).unwrap().get("data").is_none());
}

#[test]
fn refuses_in_the_words_of_the_host() {
    let table = [
        (
            Query::get("v1", "ConfigMap", Some("shop"), "c"),
            "Callback evaluation failure: Cannot find v1/ConfigMap named 'c' inside of namespace 'Some(\"shop\")'",
        ),
        (
            Query::get("v1", "Namespace", None, "none"),
            "Callback evaluation failure: Cannot find v1/Namespace named 'none' inside of namespace 'None'",
        ),
        (
            Query::get("v1", "ConfigMap", None, "c"),
            "Callback evaluation failure: Resource v1/ConfigMap is namespaced, but no namespace was provided",
        ),
        (Query::get("v1", "Foo", None, "c"), "Callback evaluation failure: Cannot find resource v1/Foo"),
    ];
    for (query, text) in table {
        assert_eq!(ask(&query).unwrap_err(), text);
    }
    let other = ask(&Query::get("no.such/v1", "Foo", None, "c")).unwrap_err();
    assert!(other.contains("error finding resource no.such/v1 / Foo: "), "{other}");
}

#[test]
fn lists_objects() {
    let all = Query::KubernetesListResourceAll {
        api_version: "v1".to_owned(),
        kind: "LimitRange".to_owned(),
        label_selector: None,
        field_selector: None,
        field_masks: None,
    };
    assert_eq!(
        ask(&all.clone().masked(&["spec"])).unwrap(),
        json!({"apiVersion": "v1", "kind": "LimitRangeList", "metadata": {}, "items": [
            {"metadata": {"name": "l", "namespace": "other"}},
            {"metadata": {"name": "l", "namespace": "shop", "annotations": {}}, "spec": {"limits": []}},
        ]})
    );
    let in_namespace = |kind: &str, namespace: &str| Query::KubernetesListResourceNamespace {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        label_selector: None,
        field_selector: None,
        field_masks: None,
    };
    let items = |answer: Value| answer["items"].as_array().map(Vec::len);
    assert_eq!(items(ask(&all).unwrap()), Some(2));
    assert_eq!(items(ask(&in_namespace("LimitRange", "shop")).unwrap()), Some(1));
    assert_eq!(items(ask(&in_namespace("LimitRange", "empty")).unwrap()), Some(0));
    assert_eq!(
        ask(&in_namespace("Namespace", "shop")).unwrap_err(),
        "Callback evaluation failure: resource v1/Namespace is cluster wide. Cannot search for it inside of a namespace"
    );
}

#[test]
fn reads_a_folder() {
    let folder = std::env::temp_dir().join(format!("manifests-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("below")).unwrap();
    std::fs::write(
        folder.join("a.yaml"),
        "---\n# nothing\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n",
    )
    .unwrap();
    std::fs::write(folder.join("below/b.json"), r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}"#).unwrap();
    std::fs::write(folder.join("README.md"), "not a manifest").unwrap();
    let cluster = Manifests::open(&folder).unwrap();
    assert!(cluster.get("v1", "Namespace", None, "shop").is_some());
    assert!(cluster.get("v1", "ConfigMap", Some("shop"), "c").is_some());
    assert!(cluster.get("v1", "Secret", None, "s").is_some());

    std::fs::write(folder.join("c.yaml"), "a: b").unwrap();
    let error = Manifests::open(&folder).unwrap_err().to_string();
    assert!(error.ends_with("c.yaml: document 1 has no apiVersion, kind or metadata.name"), "{error}");
    std::fs::write(folder.join("c.yaml"), "a: [").unwrap();
    assert!(matches!(Manifests::open(&folder).unwrap_err(), ReadError::Format { .. }));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(Manifests::open(&folder).unwrap_err(), ReadError::Read { .. }));
}
