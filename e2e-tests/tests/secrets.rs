//! No secret is told: not in messages, warnings, audit annotations, logs, nor in what is written to the pod for people to read.
//!
//! Secrets are planted wherever one may stand: in the application's variables, arguments and files, in annotations of others, in added
//! variables, in certificates and in the values of the mesh. Then everything that the policy says is looked through.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use std::{sync::Arc, thread};

use e2e_tests::{
    artefacts,
    case::{Case, corpus},
    cluster::{Cluster, Faults},
    host::Host,
    policy::{Module, Native, Policy, Response},
    real::ask_all,
    refusal::Refusal,
};
use serde_json::{Map, Value, json};

/// What no word may contain.
const SECRET: &str = "hunter2Planted";
const ADDITIONAL_ENV: &str = "config.linkerd.io/proxy-additional-env";
const WARNINGS: &str = "linkerd.io/injection-warnings";
const RECORD: &str = "linkerd.io/injection-record";

/// Ways in which the list of added variables holds a secret, readable and unreadable ones.
fn added() -> Vec<String> {
    let entry = json!({"name": "A", "value": SECRET});
    vec![
        json!([entry]).to_string(),
        json!([entry, entry]).to_string(),
        json!([{"name": "1=", "value": SECRET}]).to_string(),
        json!([{"name": "A", "value": SECRET, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]).to_string(),
        json!([{"name": "LINKERD2_PROXY_LOG", "value": format!("{SECRET}=[")}]).to_string(),
        json!([{"name": "LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "value": SECRET}]).to_string(),
        json!([{"name": "LINKERD2_PROXY_CORES", "value": SECRET}]).to_string(),
        json!([{"value": SECRET}]).to_string(),
        json!([{"name": 1, "value": [SECRET]}]).to_string(),
        json!({"A": SECRET}).to_string(),
        format!("[{{\"name\": \"A\", \"value\": \"{SECRET}\""),
        SECRET.to_owned(),
    ]
}

/// Puts secrets into a pod or the template of one.
fn plant(object: &mut Value, added: Option<&str>) {
    let annotations = &mut object["metadata"]["annotations"];
    if !annotations.is_object() {
        *annotations = json!({});
    }
    annotations["example.com/token"] = json!(format!("ghp_{SECRET}"));
    annotations["kubectl.kubernetes.io/last-applied-configuration"] = json!(format!("{{\"password\":\"{SECRET}\"}}"));
    if let Some(added) = added {
        annotations[ADDITIONAL_ENV] = json!(added);
    }
    for list in ["containers", "initContainers"] {
        for container in object["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(container) = container.as_object_mut() else { continue };
            let env = container.entry("env").or_insert_with(|| json!([]));
            if let Some(env) = env.as_array_mut() {
                env.iter_mut().filter(|entry| entry["value"].is_string()).for_each(|entry| entry["value"] = json!(SECRET));
                env.push(json!({"name": "PASSWORD", "value": SECRET}));
            }
            container.insert("args".to_owned(), json!([format!("--password={SECRET}")]));
            container.insert("lifecycle".to_owned(), json!({"preStop": {"exec": {"command": [SECRET]}}}));
        }
    }
}

/// A case with secrets in it; the trust anchors and values of a mesh are some, too.
fn planted(case: &Case, added: Option<&str>) -> Case {
    let mut case = case.clone();
    if case.request.object["spec"].is_object() {
        plant(&mut case.request.object, added);
    }
    case.namespace.annotations.insert("example.com/token".to_owned(), json!(SECRET));
    // Two letters more make it whole groups of base64.
    let marked = case.trust_anchors.replacen("-----END CERTIFICATE-----", &format!("{SECRET}AA\n-----END CERTIFICATE-----"), 1);
    assert!(case.trust_anchors.is_empty() || marked.contains(SECRET), "{}", case.name);
    case.trust_anchors = marked;
    let secret = |text: &str| Value::from(text.to_owned());
    let identity = case.values.entry("identity").or_insert_with(|| json!({}));
    if identity.is_object() {
        identity["issuer"]["tls"]["keyPEM"] = secret(SECRET);
    }
    let proxy = case.values.entry("proxy").or_insert_with(|| json!({}));
    if proxy.is_object() && proxy.get("additionalEnv").is_none() {
        proxy["additionalEnv"] = json!([{"name": "B", "value": SECRET}, {"name": "1=", "value": SECRET}]);
    }
    case
}

/// Everything that people can read of an answer.
fn told(response: &Response, host: &Host) -> Vec<String> {
    let mut told: Vec<String> = response.message.iter().chain(response.warnings.iter().flatten()).cloned().collect();
    told.extend(response.audit_annotations.iter().flatten().map(|(key, value)| format!("{key}: {value}")));
    told.extend(host.logged().iter().map(ToString::to_string));
    let annotations = response.mutated_object.as_ref().and_then(|object| object.pointer("/metadata/annotations"));
    for key in [WARNINGS, RECORD, "linkerd.io/created-by", "linkerd.io/proxy-version", "linkerd.io/trust-root-sha256"] {
        told.extend(annotations.and_then(|a| a.get(key)).and_then(Value::as_str).map(str::to_owned));
    }
    told
}

/// What is told of a request, and of the pod that came of it; and how many words that were.
fn look_through(policy: &dyn Policy, case: &Case, settings: &Value, cluster: impl Fn() -> Box<dyn Cluster>) -> usize {
    let mut request = case.admission_request();
    let mut seen = 0;
    for _ in 0..2 {
        let host = Arc::new(Host::new(cluster()));
        let response = policy.respond(&request, &case.settings(settings), &host).unwrap();
        for text in told(&response, &host) {
            assert!(!text.contains(SECRET) && !text.contains("BEGIN CERTIFICATE"), "{}: a secret is told: {text}", case.name);
            seen += 1;
        }
        let Some(object) = response.mutated_object else { break };
        request["object"] = object;
    }
    seen
}

/// The settings under which a policy may say the most.
fn settings() -> [Value; 3] {
    [
        json!({}),
        json!({"onInvalidAnnotation": "reject", "limitRange": "apply"}),
        json!({"deniedOverrides": ["*"], "foreignInjection": "adopt", "onError": "skip"}),
    ]
}

#[test]
fn no_secret_is_told_over_the_corpus() {
    let cases = corpus::cases().unwrap();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let module = artefacts::module_or_skip("no_secret_is_told_over_the_corpus (wasm)").map(|path| Module::open(&path).unwrap());
    let (added, settings) = (added(), settings());
    let numbered: Vec<(usize, &Case)> = cases.iter().enumerate().collect();
    let seen: usize = ask_all(&numbered, workers, |(number, case)| {
        let number = *number;
        // Some cases keep what they add themselves.
        let added = (number % 3 != 0).then(|| added[number % added.len()].as_str());
        let case = planted(case, added);
        let settings = &settings[number % settings.len()];
        let cluster = || Box::new(case.manifests()) as Box<dyn Cluster>;
        let mut seen = look_through(&Native, &case, settings, cluster);
        if let Some(module) = module.as_ref().filter(|_| number % 24 == 0) {
            seen += look_through(module, &case, settings, cluster);
        }
        // A cluster that fails, with a secret in what it says.
        let failing = || {
            let refused = |kind: &str| Refusal::forbidden("v1", kind, SECRET, Some(SECRET));
            Box::new(Faults::new(case.manifests(), move |query| match query.resource() {
                Some((_, kind @ ("ReplicaSet" | "Job" | "LimitRange"))) => Some(Err(refused(kind))),
                Some((_, "ConfigMap")) if number % 2 == 0 => {
                    Some(Ok(format!("{{\"data\": {{\"values\": [\"{SECRET}\"]}}}}").into_bytes()))
                }
                _ => None,
            })) as Box<dyn Cluster>
        };
        seen + look_through(&Native, &case, settings, failing)
    })
    .into_iter()
    .sum();
    assert!(seen > 10_000, "only {seen} texts were looked through");
}

#[test]
fn no_secret_is_told_of_a_template() {
    let mut seen = 0;
    for added in added() {
        let mut template =
            json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}, "spec": {"containers": [{"name": "app"}]}});
        plant(&mut template, Some(&added));
        let mut case = corpus::cases().unwrap().into_iter().find(|case| case.name == "realistic/web-api+plain").unwrap();
        case.request.kind = "Deployment".to_owned();
        let metadata = json!({"name": "web", "annotations": {ADDITIONAL_ENV: added, "example.com/token": SECRET}});
        case.request.object =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": template}});
        let case = planted(&case, None);
        for settings in settings() {
            seen += look_through(&Native, &case, &settings, || Box::new(case.manifests()));
        }
    }
    assert!(seen > 50, "only {seen} texts were looked through");
}

#[test]
fn no_secret_of_the_settings_is_told() {
    let bundle = format!("-----BEGIN CERTIFICATE-----\n{SECRET}\n-----END CERTIFICATE-----\n");
    let values = |values: Value| json!({"source": "settings", "values": values});
    let mut odd = Map::new();
    odd.insert("proxy".to_owned(), json!({"additionalEnv": [{"name": "1=", "value": SECRET}], "logLevel": "["}));
    odd.insert("identityTrustAnchorsPEM".to_owned(), json!(SECRET));
    for settings in [
        values(json!({"identityTrustAnchorsPEM": bundle.replace("-----END", "")})),
        values(json!({"identityTrustAnchorsPEM": bundle, "proxy": {"additionalEnv": {"A": SECRET}, "uid": SECRET}})),
        values(odd.into()),
        json!({"values": {"proxy": {"additionalEnv": SECRET, "image": SECRET}}, "onError": SECRET, "limitRange": [SECRET]}),
        json!({"namespaceAnnotations": {"a": [SECRET]}, "skipOwnerKinds": [SECRET, 1], "controlPlaneNamespace": SECRET}),
    ] {
        let answer = Native.check_settings(&settings).unwrap();
        let message = answer.message.unwrap_or_default();
        assert!(!message.contains(SECRET), "{message}");
    }
}
