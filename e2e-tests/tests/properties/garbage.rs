//! Input that is no request at all, and input that is far too large: no panic, no trap, always an answer.

use std::{sync::Arc, time::Instant};

use e2e_tests::{
    artefacts,
    case::{Case, control_plane, corpus},
    cluster::Manifests,
    host::Host,
    policy::{Policy, Response, SettingsResponse},
};
use serde_json::{Value, json};

use super::random::{self, Random};

/// What all policies answer to these bytes; they must agree.
fn ask(policies: &[Box<dyn Policy>], payload: &[u8], cluster: &Manifests) -> Response {
    let answers = policies.iter().map(|policy| {
        let answer = policy.validate(payload, &Arc::new(Host::new(cluster.clone())));
        answer.unwrap_or_else(|error| panic!("{}: {error} on {:.2000}", policy.name(), String::from_utf8_lossy(payload)))
    });
    let answers: Vec<Vec<u8>> = answers.collect();
    answers.iter().for_each(|answer| super::assert_same_bytes(&answers[0], answer, payload));
    serde_json::from_slice(&answers[0]).unwrap()
}

fn ask_settings(policies: &[Box<dyn Policy>], payload: &[u8]) -> SettingsResponse {
    let answers: Vec<Vec<u8>> = policies.iter().map(|policy| policy.validate_settings(payload).unwrap()).collect();
    answers.iter().for_each(|answer| super::assert_same_bytes(&answers[0], answer, payload));
    serde_json::from_slice(&answers[0]).unwrap()
}

#[test]
fn bytes_that_are_no_json() {
    let policies = artefacts::policies_or_skip("bytes_that_are_no_json").unwrap();
    let nested = |open: &str, many: usize| open.repeat(many);
    let mut payloads: Vec<Vec<u8>> =
        ["", " ", "null", "{", "\"", "[]", "{}", "{\"request\"", "{\"request\":{}", "\u{feff}{}", "1e999999", "-"]
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect();
    payloads.extend([vec![0], vec![0xff, 0xfe], b"{\"request\":{\"object\":\"\xff\"}}".to_vec()]);
    payloads.extend(
        [nested("[", 100_000), nested("{\"a\":", 100_000), format!("{{\"request\":{{\"object\":{}", nested("[", 5000))]
            .map(String::into_bytes),
    );
    let mut random = Random::new(7);
    for _ in 0..200 * random::rounds() {
        let mut bytes = serde_json::to_vec(&json!({"request": random.value(4), "settings": random.value(2)})).unwrap();
        let cut = random.below(bytes.len());
        match random.below(3) {
            0 => bytes.truncate(cut),
            1 => bytes[cut] = u8::try_from(random.below(256)).unwrap(),
            _ => drop(bytes.remove(cut)),
        }
        payloads.push(bytes);
    }
    for payload in payloads {
        ask(&policies, &payload, &Manifests::default());
        ask_settings(&policies, &payload);
    }
    assert!(!ask_settings(&policies, b"").valid);
    let response = ask(&policies, b"", &Manifests::default());
    assert_eq!((response.accepted, response.code), (false, Some(500)));
}

#[test]
fn any_json_at_all() {
    let policies = artefacts::policies_or_skip("any_json_at_all").unwrap();
    for seed in 0..1500 * random::rounds() {
        let mut random = Random::new(seed);
        let request = match random.below(3) {
            0 => random.value(5),
            1 => json!({"kind": {"kind": "Pod"}, "namespace": "shop", "operation": "CREATE", "object": random.value(6)}),
            _ => json!({"kind": {"group": "", "kind": "Pod"}, "namespace": "shop", "operation": "CREATE", "object": {
                "metadata": {"annotations": {"linkerd.io/inject": "enabled"}, "labels": random.value(2)},
                "spec": {"containers": [random.value(3), {"name": random.value(1), "ports": random.value(3), "securityContext": random.value(3)}],
                    "initContainers": random.value(3), "volumes": random.value(3)},
            }}),
        };
        let settings = if random.below(2) == 0 {
            random.value(4)
        } else {
            json!({"onError": "skip", "source": "settings", "values": random.value(3)})
        };
        // The module for every third, for it is the slower one.
        let policies = if seed % 3 == 0 { &policies[..] } else { &policies[..1] };
        ask(policies, &serde_json::to_vec(&json!({"request": request, "settings": settings})).unwrap(), &Manifests::default());
        ask_settings(policies, &serde_json::to_vec(&settings).unwrap());
    }
}

/// A case that is injected.
fn meshed() -> Case {
    corpus::cases().unwrap().into_iter().find(|case| case.name == "realistic/web-api+plain").unwrap()
}

fn payload(case: &Case) -> Vec<u8> {
    serde_json::to_vec(&json!({"request": case.admission_request(), "settings": case.settings(&Value::Null)})).unwrap()
}

#[test]
fn yaml_that_no_chart_writes() {
    let policies = artefacts::policies_or_skip("yaml_that_no_chart_writes").unwrap();
    let case = meshed();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": case.namespace.name, "annotations": {}}});
    let [config, roots] = control_plane(&case.control_plane_namespace, &json!({}), &case.trust_anchors);
    let billion_laughs = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        let before = n - 1;
        format!("{text}a{n}: &a{n} [*a{before},*a{before},*a{before},*a{before},*a{before},*a{before},*a{before},*a{before}]\n")
    });
    let texts = [
        String::new(),
        "~".to_owned(),
        "[]".to_owned(),
        "text".to_owned(),
        "a: b: c".to_owned(),
        "a: 1\na: 2".to_owned(),
        "proxy: !tag {cores: 1}".to_owned(),
        "? [a]\n: b".to_owned(),
        "1: 2".to_owned(),
        "proxy: &p {cores: *p}".to_owned(),
        "<<: {proxy: {cores: 2}}".to_owned(),
        "--- {}\n--- {}".to_owned(),
        "proxy: {cores: .nan, memory: {limit: .inf}, uid: 1e400}".to_owned(),
        "proxy: {uid: 123456789012345678901234567890}".to_owned(),
        "\u{0}".to_owned(),
        "%YAML 9.9\n---\n{}".to_owned(),
        "a: ".to_owned() + &"[".repeat(5000),
        "{a: ".repeat(5000),
        (0..3000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(),
        "- ".repeat(5000),
        "a: &a [*a".to_owned(),
        billion_laughs,
        format!("proxy: {{image: {{name: {}}}}}", "x".repeat(1_000_000)),
        format!("proxy: {{opaquePorts: \"{}\"}}", "1,".repeat(200_000)),
        format!("clusterNetworks: \"{}\"", "10.0.0.0/8,".repeat(50_000)),
    ];
    for text in texts {
        let mut config = config.clone();
        config["data"]["values"] = json!(text);
        let started = Instant::now();
        let response = ask(&policies, &payload(&case), &Manifests::new(vec![namespace.clone(), config, roots.clone()]));
        let took = started.elapsed();
        assert!(took.as_secs() < 10, "{took:?} on {:.60}", text);
        assert!(!response.accepted || response.audit("injected") == Some("true"), "unmeshed on {text:.60}: {response:?}");
    }
}

#[test]
fn objects_that_are_far_too_large() {
    let policies = artefacts::policies_or_skip("objects_that_are_far_too_large").unwrap();
    let case = meshed();
    let cluster = case.manifests();
    let big = "x".repeat(250_000);
    let annotations: &[(&str, String)] = &[
        ("config.linkerd.io/skip-inbound-ports", "1-65535,".repeat(30_000)),
        ("config.linkerd.io/skip-inbound-ports", (1..40_000).map(|port| format!("{port},")).collect()),
        ("config.linkerd.io/skip-inbound-ports", (0..40_000).map(|port| format!("n{port},")).collect()),
        ("config.linkerd.io/opaque-ports", (1..40_000).map(|port| format!("{port},")).collect()),
        ("config.linkerd.io/pod-inbound-ports", (1..40_000).map(|port| format!("{port},")).collect()),
        ("config.linkerd.io/skip-subnets", "10.0.0.0/8,".repeat(20_000)),
        (
            "config.linkerd.io/proxy-additional-env",
            format!(
                "[{}{{\"name\":\"Z\",\"value\":\"z\"}}]",
                (0..8000).map(|n| format!("{{\"name\":\"A{n}\",\"value\":\"$(A{})\"}},", n + 1)).collect::<String>()
            ),
        ),
        ("config.linkerd.io/proxy-additional-env", "[".repeat(200_000)),
        ("config.linkerd.io/proxy-cpu-limit", "9".repeat(200_000)),
        ("config.linkerd.io/proxy-memory-limit", format!("1e{}", "9".repeat(1000))),
        ("config.linkerd.io/proxy-outbound-connect-timeout", "1ns".repeat(60_000)),
        ("config.linkerd.io/proxy-image", big.clone()),
        ("config.linkerd.io/proxy-log-level", big.clone()),
        ("linkerd.io/injection-record", format!("v1:{big}")),
        ("no.such/annotation", big),
    ];
    for (key, text) in annotations {
        let mut case = case.clone();
        case.request.object["metadata"]["annotations"][*key] = json!(text);
        let started = Instant::now();
        let response = ask(&policies, &payload(&case), &cluster);
        let took = started.elapsed();
        eprintln!("{took:?} for {} bytes of {key}", text.len());
        assert!(took.as_secs() < 10, "{took:?} on {key}");
        assert_eq!(response.audit("injected"), Some("true"), "{key}: {:?}", response.message);
    }
    let mut keys = case.clone();
    let annotations = keys.request.object["metadata"]["annotations"].as_object_mut().unwrap();
    annotations.extend((0..10_000).map(|n| (format!("config.linkerd.io/proxy-cpu-limit-{n}"), json!(""))));
    annotations.insert(format!("config.linkerd.io/{}", "x".repeat(250_000)), json!(""));
    let started = Instant::now();
    let response = ask(&policies, &payload(&keys), &cluster);
    let took = started.elapsed();
    eprintln!("{took:?} for many unknown keys");
    assert!(took.as_secs() < 10 && response.warnings.is_some_and(|warnings| warnings.len() == 33), "{took:?}");

    let mut many = case.clone();
    let container = |n: usize| json!({"name": format!("c{n}"), "image": "i", "readinessProbe": {"tcpSocket": {"port": 1}}, "ports": (0..20).map(|p| json!({"containerPort": 1 + (n * 20 + p) % 65535, "name": format!("p{p}")})).collect::<Vec<_>>()});
    many.request.object["spec"]["containers"] = (0..500).map(container).collect();
    many.request.object["metadata"]["annotations"]["config.linkerd.io/skip-inbound-ports"] =
        json!((0..20_000).map(|n| format!("p{},", n % 20)).collect::<String>());
    let started = Instant::now();
    let response = ask(&policies, &payload(&many), &cluster);
    assert_eq!(response.audit("injected"), Some("true"));
    let again = super::with_object(&many, response.mutated_object.unwrap());
    let response = ask(&policies, &payload(&again), &cluster);
    assert_eq!(response.mutated_object, None);
    let took = started.elapsed();
    eprintln!("{took:?} for two calls with many containers");
    assert!(took.as_secs() < 20, "{took:?}");
}
