use super::*;
use crate::{policy::Native, query::Query};

fn case() -> Case {
    serde_json::from_value(json!({
        "name": "test/one", "controlPlaneNamespace": "mesh", "trustAnchors": "PEM",
        "values": {"proxy": {"logLevel": "debug"}, "clusterDomain": "example.org"},
        "namespace": {"name": "shop", "annotations": {"linkerd.io/inject": "enabled"}},
        "cluster": [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "shop"}}],
        "request": {"kind": "Pod", "namespace": "shop", "operation": "CREATE", "object": {"metadata": {"name": "web"}}},
    }))
    .unwrap()
}

fn get(query: &Query) -> Value {
    serde_json::from_slice(&case().manifests().ask(query).unwrap()).unwrap()
}

#[test]
fn a_case_has_a_cluster() {
    assert_eq!(
        get(&Query::get("v1", "Namespace", None, "shop"))["metadata"]["annotations"],
        json!({"linkerd.io/inject": "enabled"})
    );
    let roots = get(&Query::get("v1", "ConfigMap", Some("mesh"), "linkerd-identity-trust-roots"));
    assert_eq!(roots["data"]["ca-bundle.crt"], "PEM");
    assert_eq!(get(&Query::get("batch/v1", "Job", Some("shop"), "j"))["kind"], "Job");

    let config = get(&Query::get("v1", "ConfigMap", Some("mesh"), "linkerd-config"));
    let values: Value = serde_norway::from_str(config["data"]["values"].as_str().unwrap()).unwrap();
    assert_eq!(values["proxy"]["logLevel"], "debug");
    assert_eq!(values["identityTrustDomain"], "example.org");
    let mut expected = chart_defaults().clone();
    expected.get_mut("proxy").unwrap()["logLevel"] = json!("debug");
    expected.insert("clusterDomain".to_owned(), json!("example.org"));
    expected.insert("identityTrustDomain".to_owned(), json!("example.org"));
    assert_eq!(values, Value::Object(expected), "YAML and back changes nothing");
}

#[test]
fn a_case_has_settings() {
    assert_eq!(case().settings(&Value::Null), json!({"controlPlaneNamespace": "mesh", "source": "cluster"}));
    assert_eq!(
        case().settings(&json!({"onError": "skip", "source": "settings", "controlPlaneNamespace": "x"})),
        json!({"controlPlaneNamespace": "mesh", "onError": "skip", "source": "settings"})
    );
}

#[test]
fn objects_merge_and_the_rest_replaces() {
    let mut base = json!({"a": {"b": 1, "c": [1]}, "d": {"e": 1}}).as_object().cloned().unwrap();
    let over = json!({"a": {"b": 2, "c": [2]}, "d": null, "f": {}}).as_object().cloned().unwrap();
    deep_merge(&mut base, &over);
    assert_eq!(Value::Object(base), json!({"a": {"b": 2, "c": [2]}, "d": null, "f": {}}));
}

#[test]
fn a_response_becomes_a_result() {
    let object = json!({"a": 1});
    let table = [
        (json!({"accepted": true}), json!({"outcome": "skipped"})),
        (json!({"accepted": true, "mutated_object": {"a": 1}}), json!({"outcome": "skipped"})),
        (
            json!({"accepted": true, "mutated_object": {"a": 2}, "audit_annotations": {"injected": "false", "reason": "x, y"}}),
            json!({"outcome": "annotated", "reasons": ["x", "y"], "object": {"a": 2}}),
        ),
        (
            json!({"accepted": true, "mutated_object": {"a": 2}, "audit_annotations": {"injected": "true"}, "warnings": ["w"]}),
            json!({"outcome": "injected", "warnings": ["w"], "object": {"a": 2}}),
        ),
        (
            json!({"accepted": false, "message": "no", "code": 500, "mutated_object": {"a": 2}, "audit_annotations": null}),
            json!({"outcome": "rejected", "message": "no"}),
        ),
    ];
    for (response, expected) in table {
        let result = CaseResult::of("n", &object, serde_json::from_value(response).unwrap());
        let mut result = serde_json::to_value(result).unwrap();
        result.as_object_mut().unwrap().remove("name");
        assert_eq!(result, expected);
    }
    assert!(serde_json::from_value::<Response>(json!({"accepted": true, "mutatedObject": {}})).is_err());
}

#[test]
fn outcomes_are_written_by_their_names() {
    use Outcome::{Annotated, BadPatch, Error, Injected, Rejected, Skipped};
    for outcome in [Injected, Annotated, Skipped, Rejected, Error, BadPatch] {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.as_str());
    }
}

#[test]
fn a_case_runs() {
    let result = case().run(&Native, &Value::Null).unwrap();
    assert_eq!(result.name, "test/one");
}
