//! Wrong types at every path: of the object, of the request around it, of the settings, and of what the cluster answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use e2e_tests::{
    artefacts,
    case::{Case, config_values, control_plane, corpus},
    cluster::Manifests,
    host::Host,
    policy::{Module, Native, Policy, Response},
};
use serde_json::{Map, Value, json};

use super::{assert_nothing_is_lost, random::Random};

/// Stands for what no message may show.
const SECRET: &str = "hunter2-s3cret";

/// What every place is filled with in turn.
fn fillings() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5e300),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("99999999999999999999"),
        json!([]),
        json!([null]),
        json!(["x", 1]),
        json!([[]]),
        json!({}),
        json!({"": null}),
        json!({"name": {"name": []}}),
    ]
}

/// The paths of all parts, as JSON pointers, the root first.
fn paths(value: &Value) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut below = |key: &str, part: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        found.extend(paths(part).into_iter().map(|path| format!("/{key}{path}")));
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, part)| below(key, part)),
        Value::Array(items) => (0..).zip(items).for_each(|(at, part): (usize, _)| below(&at.to_string(), part)),
        _ => {}
    }
    found
}

/// Every value that differs from `whole` in one part that has another type.
fn damaged(whole: &Value) -> impl Iterator<Item = (String, Value)> + '_ {
    paths(whole).into_iter().flat_map(move |path| {
        let other = move |filling: Value| {
            let mut damaged = whole.clone();
            *damaged.pointer_mut(&path).unwrap() = filling;
            (path.clone(), damaged)
        };
        fillings().into_iter().map(other)
    })
}

/// A pod with about everything that the policy looks at, and a secret.
fn pod() -> Value {
    let probe = |handler: Value| json!({"initialDelaySeconds": 1, "httpGet": handler, "grpc": {"port": 9000}, "tcpSocket": {"port": "http"}});
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web-1", "namespace": "shop", "generateName": "web-",
            "annotations": {
                "linkerd.io/inject": "enabled", "config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/skip-inbound-ports": "http,25",
                "config.linkerd.io/proxy-additional-env": format!("[{{\"name\":\"A\",\"value\":\"{SECRET}\"}}]"),
                "config.linkerd.io/enable-debug-sidecar": "true", "resource.opentelemetry.io/a": "b",
            },
            "labels": {"app": "web", "pod-template-hash": "6f7c9"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6f7c0", "uid": "1", "controller": true},
                {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "2"},
            ],
        },
        "spec": {
            "automountServiceAccountToken": true, "hostNetwork": false, "serviceAccountName": "default",
            "nodeSelector": {"kubernetes.io/os": "linux"}, "os": {"name": "linux"},
            "initContainers": [{"name": "setup", "image": "i", "ports": [{"containerPort": 1, "name": "a", "protocol": "TCP"}]}],
            "containers": [{
                "name": "app", "image": "docker.io/app:1",
                "env": [{"name": "PASSWORD", "value": SECRET}],
                "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
                "securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}, "runAsUser": 1000},
                "livenessProbe": probe(json!({"port": 8080})), "readinessProbe": probe(json!({"port": "http"})),
                "startupProbe": probe(json!({"port": 8081})),
                "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}],
                "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
            }],
            "volumes": [{"name": "token", "projected": {"sources": []}}, {"name": "e", "emptyDir": {}}],
        },
    })
}

/// A case of the corpus whose cluster everything here happens in, and whose trust anchors are a secret here.
fn surroundings() -> Case {
    let case = corpus::cases().unwrap().into_iter().find(|case| case.name == "realistic/web-api+plain").unwrap();
    assert!(case.trust_anchors.contains("CERTIFICATE"));
    case
}

/// Asks natively, and the module, too, where there is one; both must say the same.
fn answer(payload: &Value, cluster: &Manifests, module: Option<&Module>) -> Response {
    let payload = serde_json::to_vec(payload).unwrap();
    let ask = |policy: &dyn Policy| policy.validate(&payload, &Arc::new(Host::new(cluster.clone()))).unwrap();
    let bytes = ask(&Native);
    if let Some(module) = module {
        super::assert_same_bytes(&bytes, &ask(module), &payload);
    }
    let response: Response =
        serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)));
    check(&response, &payload);
    response
}

/// What holds for every answer.
fn check(response: &Response, payload: &[u8]) {
    let context = || format!("{response:?}\nto {}", String::from_utf8_lossy(payload));
    assert!(response.audit("injected").is_some(), "{}", context());
    assert!(
        response.audit("injected") == Some("true") || response.audit("reason").is_some_and(|reason| !reason.is_empty()),
        "{}",
        context()
    );
    assert_eq!(response.accepted, response.message.is_none(), "{}", context());
    assert_eq!(response.accepted, response.code.is_none(), "{}", context());
    assert!(response.accepted || response.mutated_object.is_none(), "{}", context());
    let told = response.message.iter().chain(response.warnings.iter().flatten());
    let told: Vec<&String> = told.chain(response.audit_annotations.iter().flat_map(BTreeMap::values)).collect();
    for text in told {
        assert!(!text.contains(SECRET) && !text.contains("MII"), "a secret is told: {text}");
        assert!(!text.contains('\n'), "more than one line: {text}");
    }
}

/// A pod that asks to be meshed is meshed, refused, let through with a warning, or skipped for a reason of the pod's own.
fn assert_not_unmeshed_in_silence(path: &str, response: &Response) {
    let said = response.audit("reason").unwrap_or_default();
    let own = [
        "host_network_enabled",
        "sidecar_already_exists",
        "injection_disable_annotation_present",
        "invalid_inject_annotation_at_workload",
        "injection_enable_annotation_absent",
        "disabled_automount_service_account_token_account",
        "windows_pod",
    ];
    let reasons: Vec<&str> = said.split(',').collect();
    let fine =
        response.audit("injected") == Some("true") || !response.accepted || reasons.iter().all(|reason| own.contains(reason));
    assert!(fine, "{path}: {response:?}");
}

fn payload(case: &Case, settings: &Value) -> Value {
    json!({"request": case.admission_request(), "settings": case.settings(settings)})
}

fn module(test: &str) -> Option<Module> {
    artefacts::module_or_skip(test).map(|path| Module::open(&path).unwrap())
}

#[test]
fn wrong_types_in_a_pod() {
    let (case, cluster) = (surroundings(), surroundings().manifests());
    let module = module("wrong_types_in_a_pod (wasm)");
    let pod = pod();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, (path, object)) in damaged(&pod).enumerate() {
        let mut case = case.clone();
        case.request.object = object.clone();
        // Every fifth through the module: enough to reach each path.
        let module = module.as_ref().filter(|_| number % 5 == 0);
        let response = answer(&payload(&case, &Value::Null), &cluster, module);
        if !path.is_empty() {
            assert_not_unmeshed_in_silence(&path, &response);
        }
        *ends
            .entry(if !response.accepted {
                "rejected"
            } else if response.audit("injected") == Some("true") {
                "injected"
            } else {
                "skipped"
            })
            .or_default() += 1;
        if let Some(output) = &response.mutated_object {
            assert_nothing_is_lost(&path, &object, output);
        }
    }
    eprintln!("wrong types in a pod: {ends:?}");
    assert!(ends.len() == 3 && ends["injected"] > 1000, "{ends:?}");
}

#[test]
fn wrong_types_in_a_service() {
    let (mut case, cluster) = (surroundings(), surroundings().manifests());
    "Service".clone_into(&mut case.request.kind);
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "db", "annotations": {"a": "b"}},
        "spec": {"ports": [{"port": 3306, "targetPort": 3306, "name": "db", "protocol": "TCP"}], "selector": {"app": "db"}},
    });
    for (path, object) in damaged(&service) {
        case.request.object = object.clone();
        let response = answer(&payload(&case, &Value::Null), &cluster, None);
        if let Some(output) = &response.mutated_object {
            assert_nothing_is_lost(&path, &object, output);
        }
    }
}

#[test]
fn wrong_types_in_a_request() {
    let (mut case, cluster) = (surroundings(), surroundings().manifests());
    let module = module("wrong_types_in_a_request (wasm)");
    case.request.object = json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}, "spec": {"containers": [{"name": "app", "env": [{"name": "A", "value": SECRET}]}]}});
    let whole = payload(&case, &json!({"onError": "skip"}));
    for (_, payload) in damaged(&whole) {
        answer(&payload, &cluster, module.as_ref());
    }
}

#[test]
fn wrong_types_in_settings() {
    let case = surroundings();
    let cluster = case.manifests();
    let whole = json!({
        "controlPlaneNamespace": "linkerd", "source": "settings", "values": config_values(&Map::new()), "namespaceAnnotations": {"linkerd.io/inject": "enabled"},
        "onInvalidAnnotation": "warn", "onError": "reject", "reinvocation": "merge", "foreignInjection": "keep", "workloads": "warn", "limitRange": "ignore",
        "skipOwnerKinds": ["Job"],
    });
    let mut refused = 0;
    // A third of all, in turn: five fillings for each path.
    for (path, settings) in damaged(&whole).step_by(3) {
        let bytes = serde_json::to_vec(&settings).unwrap();
        let checked: Value = serde_json::from_slice(&Native.validate_settings(&bytes).unwrap()).unwrap();
        let valid = checked["valid"].as_bool().unwrap();
        assert_eq!(valid, checked.get("message").is_none_or(Value::is_null), "{path}: {checked}");
        refused += usize::from(!valid);
        answer(&json!({"request": case.admission_request(), "settings": settings}), &cluster, None);
    }
    assert!(refused > 200, "only {refused} refused");
}

#[test]
fn wrong_types_in_what_the_cluster_answers() {
    let mut case = surroundings();
    case.request.object = pod();
    let values = config_values(&Map::new());
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": "shop", "annotations": {"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-log-level": "warn"}, "labels": {"a": "b"},
    }});
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {
        "name": "web-6f7c0", "namespace": "shop", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "3"}],
    }});
    let [config, roots] = control_plane("linkerd", &values, &case.trust_anchors);
    let objects = [namespace, config, roots, owner];
    let request = payload(&case, &Value::Null);
    for (number, whole) in objects.iter().enumerate() {
        for (path, object) in damaged(whole) {
            // What has no name or another kind is another object, or none.
            if path.is_empty()
                || ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/metadata"].contains(&path.as_str())
            {
                continue;
            }
            let mut around = objects.to_vec();
            around[number] = object;
            let response = answer(&request, &Manifests::new(around), None);
            assert_not_unmeshed_in_silence(&path, &response);
        }
    }
    let [namespace, _, roots, owner] = objects;
    // A third of all, in turn: five fillings for each path.
    for (path, values) in damaged(&values).step_by(3) {
        let [config, _] = control_plane("linkerd", &values, "");
        let response = answer(&request, &Manifests::new(vec![namespace.clone(), config, roots.clone(), owner.clone()]), None);
        assert_not_unmeshed_in_silence(&path, &response);
    }
}

#[test]
fn damage_upon_damage() {
    let case = surroundings();
    let [config, roots] = control_plane("linkerd", &config_values(&Map::new()), &case.trust_anchors);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": {"linkerd.io/inject": "enabled"}}});
    let cluster = Manifests::new(vec![namespace, config, roots]);
    let pod = pod();
    for seed in 0..3000 * super::random::rounds() {
        let mut random = Random::new(seed);
        let mut case = case.clone();
        case.request.object = pod.clone();
        for _ in 0..1 + random.below(6) {
            random.damage(&mut case.request.object);
        }
        let object = case.request.object.clone();
        let mut payload = payload(&case, &Value::Null);
        if random.below(3) == 0 {
            random.damage(&mut payload);
        }
        let response = answer(&payload, &cluster, None);
        if let Some(output) = response.mutated_object.filter(|_| payload["request"]["object"] == object) {
            assert_nothing_is_lost(&format!("seed {seed}"), &object, &output);
        }
    }
}
