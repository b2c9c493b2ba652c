//! What is asked of the host, word for word, and what becomes of its answers.

use super::{Cluster, LookupError, Namespace};
use crate::owner::Owner;
use crate::values::Values;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

const ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/// Asks once; returns the answer and the one call to the host, its payload as text.
fn ask<T>(answer: Result<Value, &str>, question: impl Fn(&Cluster<'_>) -> T) -> (T, String) {
    let calls = RefCell::new(Vec::new());
    let host = |binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
        calls.borrow_mut().push(format!("{binding}/{namespace}/{operation} {}", String::from_utf8_lossy(payload)));
        answer.clone().map(|object| object.to_string().into_bytes()).map_err(str::to_owned)
    };
    let found = question(&Cluster::new(&host));
    let [call] = calls.into_inner().try_into().unwrap();
    (found, call)
}

fn owner(kind: &str) -> Owner {
    Owner { kind: kind.to_owned(), name: "own-1".to_owned() }
}

#[test]
fn a_namespace_is_asked_for_its_metadata() {
    let object = json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}, "labels": {"team": "a"}, "uid": "1"}});
    let (found, call) = ask(Ok(object), |c| c.namespace("shop"));
    let map = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    assert_eq!(found, Ok(Namespace { annotations: map("linkerd.io/inject", "enabled"), labels: map("team", "a") }));
    let request = r#"{"api_version":"v1","kind":"Namespace","name":"shop","namespace":null,"disable_cache":false,"field_masks":["metadata"]}"#;
    assert_eq!(call, format!("kubewarden/kubernetes/get_resource {request}"));
    for bare in [json!({"metadata": {}}), json!({"metadata": {"annotations": null, "labels": null}})] {
        assert_eq!(ask(Ok(bare), |c| c.namespace("shop")).0, Ok(Namespace::default()));
    }
}

#[test]
fn config_is_asked_for_its_data() {
    let answer = |values: &str| Ok(json!({"data": {"values": values, "global": "x"}}));
    let (found, call) = ask(answer("clusterDomain: example.org\nproxy: {uid: 7}\n"), |c| c.values("mesh"));
    let mut expected = Values { cluster_domain: "example.org".to_owned(), ..Values::default() };
    expected.proxy.uid = 7;
    assert_eq!(found, Ok((expected, vec![])));
    let request = r#"{"api_version":"v1","kind":"ConfigMap","name":"linkerd-config","namespace":"mesh","disable_cache":false,"field_masks":["data"]}"#;
    assert_eq!(call, format!("kubewarden/kubernetes/get_resource {request}"));
    for nothing in ["", "{}", "null", "# no values\n"] {
        assert_eq!(ask(answer(nothing), |c| c.values("mesh")).0, Ok((Values::default(), vec![])), "{nothing}");
    }
    // Of two equal keys the last holds, and a number for a key is as good as its text.
    let (found, _) = ask(answer("clusterDomain: a.test\n1: x\nclusterDomain: b.test\n"), |c| c.values("mesh"));
    assert_eq!(found, Ok((Values { cluster_domain: "b.test".to_owned(), ..Values::default() }, vec![])));
    let (found, _) = ask(answer("clusterDomain: 'a b'\n"), |c| c.values("mesh"));
    let (values, faults) = found.unwrap();
    assert_eq!(values, Values::default());
    assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), ["values.clusterDomain is not a DNS name"]);
}

#[test]
fn limit_ranges_are_asked_for_in_one_list_of_the_cluster() {
    let range =
        |namespace: &str, limits: Value| json!({"metadata": {"name": "l", "namespace": namespace}, "spec": {"limits": limits}});
    let (mine, more) = (json!({"type": "Pod"}), json!({"type": "Container"}));
    let items = [
        range("shop", json!([mine])),
        range("other", json!([{"type": "X"}])),
        range("shop", json!([more])),
        range("shop", json!(null)),
        json!({"metadata": {"namespace": "shop"}}),
        json!({}),
    ];
    let (found, call) = ask(Ok(json!({"items": items})), |c| c.limit_ranges("shop"));
    assert_eq!(found, Ok(vec![mine, more]));
    let asked: Value = serde_json::from_str(call.strip_prefix("kubewarden/kubernetes/list_resources_all ").unwrap()).unwrap();
    let request =
        json!({"api_version": "v1", "kind": "LimitRange", "label_selector": null, "field_selector": null, "field_masks": ["spec"]});
    assert_eq!(asked, request);
    for (answer, told) in [
        (
            Err("x is forbidden: y"),
            "LimitRanges are forbidden: grant list and watch on them to the policy server's service account",
        ),
        (
            Err("Policy has not been granted access to Kubernetes v1/LimitRange resources. The violation has been reported."),
            "LimitRanges are not granted: list LimitRange in the policy's contextAwareResources",
        ),
        (
            Err("Policy has not been granted access to the 'kubernetes/list_resources_all' host capability."),
            "LimitRanges are not granted: allow kubernetes/list_resources_all in the policy's hostCapabilities",
        ),
        (Err("?"), "LimitRanges cannot be read: no answer from the API server"),
        (Ok(json!({})), "LimitRanges cannot be used: the answer is not of its shape"),
        (Ok(json!([])), "LimitRanges cannot be used: the answer is not of its shape"),
    ] {
        assert_eq!(ask(answer, |c| c.limit_ranges("shop")).0.unwrap_err().to_string(), told);
    }
}

#[test]
fn trust_roots_are_asked_for_their_bundle() {
    let untrimmed = format!("\n{ANCHORS}\n\n");
    let (found, call) = ask(Ok(json!({"data": {"ca-bundle.crt": untrimmed}})), |c| c.trust_anchors("mesh"));
    assert_eq!(found, Ok(untrimmed));
    let request = r#"{"api_version":"v1","kind":"ConfigMap","name":"linkerd-identity-trust-roots","namespace":"mesh","disable_cache":false,"field_masks":["data"]}"#;
    assert_eq!(call, format!("kubewarden/kubernetes/get_resource {request}"));
}

#[test]
fn owners_are_asked_for_past_the_cache() {
    let references = json!([{"kind": "Deployment", "name": "web"}]);
    for (kind, api_version) in [("ReplicaSet", "apps/v1"), ("Job", "batch/v1")] {
        let (found, call) =
            ask(Ok(json!({"metadata": {"ownerReferences": references}})), |c| c.owner_references("shop", &owner(kind)));
        assert_eq!(found, Ok(references.as_array().unwrap().clone()));
        let request = format!(
            r#"{{"api_version":"{api_version}","kind":"{kind}","name":"own-1","namespace":"shop","disable_cache":true,"field_masks":["metadata"]}}"#
        );
        assert_eq!(call, format!("kubewarden/kubernetes/get_resource {request}"));
    }
    for bare in [json!({"metadata": {}}), json!({"metadata": {"ownerReferences": null}})] {
        assert_eq!(ask(Ok(bare), |c| c.owner_references("shop", &owner("Job"))).0, Ok(vec![]));
    }
}

/// What the host says, and what a person is told, after the name of the object.
const HOST_ERRORS: &[(&str, &str)] = &[
    ("Callback evaluation failure: Cannot find v1/ConfigMap named 'x' inside of namespace 'Some(\"linkerd\")'", " not foundREMEDY"),
    (
        "Host error: Callback evaluation failure: Cannot find v1/Namespace named 'x' inside of namespace 'None'\n\nStack backtrace: secret",
        " not foundREMEDY",
    ),
    (
        "Callback evaluation failure: ApiError: configmaps \"x\" is forbidden: User \"system:serviceaccount:kw:ps\" cannot get resource: \
            Forbidden (Status { code: 403 })\n\nCaused by: secret",
        " is forbidden: grant get on it to the policy server's service account",
    ),
    (
        "Policy has not been granted access to Kubernetes v1/ConfigMap resources. The violation has been reported.",
        " is not granted: list KIND in the policy's contextAwareResources",
    ),
    (
        "Policy has not been granted access to the 'kubernetes/get_resource' host capability. The violation has been reported.",
        " is not granted: allow kubernetes/get_resource in the policy's hostCapabilities",
    ),
    ("Callback evaluation failure: Cannot find resource v1/ConfigMap", " cannot be read: no answer from the API server"),
    ("Resource v1/ConfigMap is namespaced, but no namespace was provided", " cannot be read: no answer from the API server"),
    ("kube::Client was not initialized properly", " cannot be read: no answer from the API server"),
    ("Error sending request over callback channel: secret", " cannot be read: no answer from the API server"),
    ("", " cannot be read: no answer from the API server"),
];

type Question = fn(&Cluster<'_>) -> Option<LookupError>;

#[test]
fn each_error_of_the_host_is_told_apart() {
    for (text, told) in HOST_ERRORS {
        let questions: [(&str, &str, Question); 5] = [
            ("Namespace", "Namespace shop", |c| c.namespace("shop").err()),
            ("ConfigMap", "ConfigMap mesh/linkerd-config", |c| c.values("mesh").err()),
            ("ConfigMap", "ConfigMap mesh/linkerd-identity-trust-roots", |c| c.trust_anchors("mesh").err()),
            ("ReplicaSet", "ReplicaSet shop/own-1", |c| c.owner_references("shop", &owner("ReplicaSet")).err()),
            ("Job", "Job shop/own-1", |c| c.owner_references("shop", &owner("Job")).err()),
        ];
        for (kind, target, question) in questions {
            let (error, _) = ask(Err(text), question);
            let remedy = if kind == "ConfigMap" { ": create it, or correct controlPlaneNamespace" } else { "" };
            let expected = format!("{target}{}", told.replace("KIND", kind).replace("REMEDY", remedy));
            assert_eq!(error.unwrap().to_string(), expected, "{text}");
        }
    }
}

#[test]
fn an_answer_that_cannot_be_used_is_named_and_not_shown() {
    let data = |key: &str, text: &str| json!({"data": {key: text}});
    let config = "ConfigMap mesh/linkerd-config cannot be used: ";
    for (answer, problem) in [
        (json!({}), "it has no values"),
        (json!({"data": null}), "it has no values"),
        (data("global", "secret"), "it has no values"),
        (json!("secret"), "the answer is not of its shape"),
        (json!({"data": {"values": ["secret"]}}), "the answer is not of its shape"),
        (data("values", "secret"), "its values are not a YAML object"),
        (data("values", "[secret]"), "its values are not a YAML object"),
        (data("values", "a: [secret"), "its values are not a YAML object"),
    ] {
        let (found, _) = ask(Ok(answer.clone()), |c| c.values("mesh"));
        assert_eq!(found.unwrap_err().to_string(), format!("{config}{problem}"), "{answer}");
    }
    let roots = "ConfigMap mesh/linkerd-identity-trust-roots cannot be used: ";
    let no_bundle = "its ca-bundle.crt is not a bundle of PEM certificates";
    for (answer, problem) in [
        (json!({}), "it has no ca-bundle.crt"),
        (data("ca.crt", ANCHORS), "it has no ca-bundle.crt"),
        (data("ca-bundle.crt", ""), no_bundle),
        (data("ca-bundle.crt", "secret"), no_bundle),
        (data("ca-bundle.crt", "-----BEGIN CERTIFICATE-----\nsecret\n"), no_bundle),
        (data("ca-bundle.crt", "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n"), no_bundle),
    ] {
        let (found, _) = ask(Ok(answer.clone()), |c| c.trust_anchors("mesh"));
        assert_eq!(found.unwrap_err().to_string(), format!("{roots}{problem}"), "{answer}");
    }
    for answer in [
        json!(null),
        json!({}),
        json!("secret"),
        json!({"metadata": {"annotations": {"a": 1}}}),
        json!({"metadata": {"labels": "secret"}}),
    ] {
        let (found, _) = ask(Ok(answer.clone()), |c| c.namespace("shop"));
        assert_eq!(found.unwrap_err().to_string(), "Namespace shop cannot be used: the answer is not of its shape", "{answer}");
    }
    let (found, _) = ask(Ok(json!({"metadata": {"ownerReferences": "secret"}})), |c| c.owner_references("shop", &owner("Job")));
    assert_eq!(found.unwrap_err().to_string(), "Job shop/own-1 cannot be used: the answer is not of its shape");
}

#[test]
fn an_answer_that_is_not_json_is_unusable() {
    let host = |_: &str, _: &str, _: &str, _: &[u8]| Ok(b"secret".to_vec());
    let error = Cluster::new(&host).namespace("shop").unwrap_err();
    assert_eq!(error.to_string(), "Namespace shop cannot be used: the answer is not of its shape");
}

#[test]
fn a_line_goes_to_the_log_and_no_answer_is_needed() {
    let ((), call) = ask(Err("no log"), |c| c.log("warning", "say \"hi\""));
    let line = r#"{"column":0,"file":"","level":"warning","line":0,"message":"say \"hi\""}"#;
    assert_eq!(call, format!("kubewarden/tracing/log {line}"));
}
