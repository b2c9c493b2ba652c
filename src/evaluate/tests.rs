//! Whole requests against a cluster of answers: what is looked up, in which order, and how each request ends.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

mod again;
mod failures;
mod forbidden;
mod lookups;
mod outcomes;

const ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

const NAMESPACE: &str = "Namespace/shop";
const CONFIG: &str = "ConfigMap/linkerd-config";
const ROOTS: &str = "ConfigMap/linkerd-identity-trust-roots";
const REPLICA_SET: &str = "ReplicaSet/web-5d4f";
const JOB: &str = "Job/nightly-1";
const LIMIT_RANGES: &str = "LimitRange/";

/// A host with answers by kind and name; what it has none for is not found.
struct Host {
    answers: BTreeMap<&'static str, Result<Value, &'static str>>,
    calls: RefCell<Vec<String>>,
    logs: RefCell<Vec<String>>,
}

impl Host {
    /// A cluster with a mesh, and the namespace `shop` with these annotations.
    fn new(namespace: Value) -> Host {
        let owned_by = |kind: &str, name: &str| Ok(json!({"metadata": {"ownerReferences": [{"kind": kind, "name": name}]}}));
        let answers = BTreeMap::from([
            (NAMESPACE, Ok(json!({"metadata": {"annotations": namespace}}))),
            (CONFIG, Ok(json!({"data": {"values": ""}}))),
            (ROOTS, Ok(json!({"data": {"ca-bundle.crt": ANCHORS}}))),
            (REPLICA_SET, owned_by("Deployment", "web")),
            (JOB, owned_by("CronJob", "nightly")),
            (LIMIT_RANGES, Ok(json!({"items": []}))),
        ]);
        Host { answers, calls: RefCell::default(), logs: RefCell::default() }
    }

    fn with(mut self, target: &'static str, answer: Result<Value, &'static str>) -> Host {
        self.answers.insert(target, answer);
        self
    }

    fn values(self, values: &str) -> Host {
        self.with(CONFIG, Ok(json!({"data": {"values": values}})))
    }

    fn answer(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let asked: Value = serde_json::from_slice(payload).unwrap();
        let text = |key: &str| asked[key].as_str().unwrap().to_owned();
        if operation == "log" {
            self.logs.borrow_mut().push(format!("{}: {}", text("level"), text("message")));
            return Ok(Vec::new());
        }
        // A list names no object.
        let target = format!("{}/{}", text("kind"), asked["name"].as_str().unwrap_or_default());
        let answer =
            self.answers.get(target.as_str()).cloned().unwrap_or(Err("Cannot find v1/X named 'x' inside of namespace 'None'"));
        self.calls.borrow_mut().push(target);
        answer.map(|object| object.to_string().into_bytes()).map_err(str::to_owned)
    }

    /// Sends a payload; the answer as text.
    fn send(&self, payload: &[u8]) -> String {
        let answer = crate::validate(payload, &|_, _, operation, payload| self.answer(operation, payload));
        String::from_utf8(answer).unwrap()
    }

    /// Asks about the creation of an object, under these settings; the answer as JSON.
    fn ask(&self, kind: &str, object: &Value, settings: &Value) -> Value {
        let request = json!({"kind": {"group": "", "version": "v1", "kind": kind}, "namespace": "shop", "operation": "CREATE", "object": object});
        serde_json::from_str(&self.send(json!({"request": request, "settings": settings}).to_string().as_bytes())).unwrap()
    }

    fn calls(&self) -> Vec<String> {
        self.calls.take()
    }

    /// What was logged of failures.
    fn logs(&self) -> Vec<String> {
        self.logs.take().into_iter().filter(|line| !line.starts_with("info: ")).collect()
    }

    /// What was logged of decisions.
    fn decisions(&self) -> Vec<String> {
        self.logs.take().iter().filter_map(|line| line.strip_prefix("info: ")).map(str::to_owned).collect()
    }
}

/// A pod with these annotations and fields of its spec.
fn mk_pod(annotations: Value, spec: Value) -> Value {
    let mut pod = json!({"metadata": {"name": "web-0", "annotations": annotations}, "spec": {"containers": [{"name": "app"}]}});
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

fn enabled() -> Value {
    mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({}))
}

/// A pod with one container port that is opaque by default.
fn exposing(annotations: Value) -> Value {
    mk_pod(annotations, json!({"containers": [{"name": "app", "ports": [{"containerPort": 3306}]}]}))
}

fn owned_by(kind: &str, name: &str, hash: &str) -> Value {
    let mut pod = enabled();
    pod["metadata"]["ownerReferences"] = json!([{"kind": kind, "name": name, "controller": true}]);
    pod["metadata"]["labels"] = json!({"pod-template-hash": hash});
    pod
}

fn service(ports: Value, annotations: Value) -> Value {
    json!({"metadata": {"name": "web", "annotations": annotations}, "spec": {"ports": ports}})
}

/// How a request ended: `injected`, or the reason why not.
fn ending(answer: &Value) -> String {
    assert_eq!(answer["accepted"], true, "{answer}");
    let audit = &answer["audit_annotations"];
    if audit["injected"] == "true" { "injected".to_owned() } else { audit["reason"].as_str().unwrap().to_owned() }
}
