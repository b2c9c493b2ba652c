//! What becomes of objects that are created in a cluster.

use std::{
    io::Write as _,
    process::{Command, Output, Stdio},
};

use e2e_tests::programs;
use serde_json::{Value, json};

use crate::mesh::{Mesh, container, trust_anchors};

#[test]
fn a_cluster_is_served() {
    let test = "a_cluster_is_served";
    let Some(mesh) = Mesh::start(test) else { return };
    mesh.create(&mesh.webhook());
    mesh.namespace("shop", &json!({"linkerd.io/inject": "enabled"}));
    mesh.namespace("plain", &json!({}));
    what_is_missing_is_named(&mesh);
    owners_are_found(&mesh);
    services_are_annotated(&mesh);
    others_are_left_alone(&mesh);
    kubectl_creates_injected_pods(&mesh, test);
}

fn what_is_missing_is_named(mesh: &Mesh) {
    let [config, trust_roots] = Mesh::configuration();
    let refused = |problem: &str| {
        let message = format!(
            "admission webhook \"linkerd-injector-policy.kubewarden.admission\" denied the request: linkerd-injector-policy: {problem}"
        );
        mesh.until(problem, || {
            let answer = mesh.dry_run(&pod("shop", "web"));
            if (answer.status, answer.message()) == (500, &message) {
                Ok(())
            } else {
                Err(format!("{} {}", answer.status, answer.body))
            }
        });
        // Who stays out of the mesh does not have to wait for it.
        assert_eq!(mesh.dry_run(&pod("plain", "web")).status, 201);
    };
    let remedy = "create it, or correct controlPlaneNamespace";
    refused("ConfigMap linkerd/linkerd-config is forbidden: grant get on it to the policy server's service account");
    mesh.grant();
    refused(&format!("ConfigMap linkerd/linkerd-config not found: {remedy}"));
    mesh.create(&config);
    refused(&format!("ConfigMap linkerd/linkerd-identity-trust-roots not found: {remedy}"));
    mesh.create(&trust_roots);
    mesh.until("a pod is injected", || {
        let answer = mesh.dry_run(&pod("shop", "web"));
        if answer.status != 201 {
            return Err(answer.body.to_string());
        }
        assert_injected(&answer.body);
        Ok(())
    });
}

fn owners_are_found(mesh: &Mesh) {
    mesh.create(&json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "blue", "namespace": "shop", "ownerReferences": [owner("Deployment", "checkout")]},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "checkout"}},
            "template": {
                "metadata": {"labels": {"app": "checkout"}},
                "spec": {"containers": [{"name": "app", "image": "registry.test/app:1.4"}]},
            },
        },
    }));
    let owned = |name: &str, replica_set: &str, hash: Option<&str>| {
        let mut pod = pod("shop", name);
        pod["metadata"]["ownerReferences"] = json!([owner("ReplicaSet", replica_set)]);
        if let Some(hash) = hash {
            pod["metadata"]["labels"]["pod-template-hash"] = json!(hash);
        }
        let stored = mesh.create(&pod);
        assert_injected(&stored);
        stored["metadata"]["labels"].clone()
    };
    // The first is told by its name alone: there is no such ReplicaSet here.
    let labels = owned("told", "web-5d4f", Some("5d4f"));
    assert_eq!((&labels["linkerd.io/proxy-deployment"], labels.get("linkerd.io/proxy-replicaset")), (&json!("web"), None));
    let labels = owned("looked-up", "blue", None);
    assert_eq!((&labels["linkerd.io/proxy-deployment"], labels.get("linkerd.io/proxy-replicaset")), (&json!("checkout"), None));
    let labels = owned("unknown", "green", None);
    assert_eq!((&labels["linkerd.io/proxy-replicaset"], labels.get("linkerd.io/proxy-deployment")), (&json!("green"), None));
}

fn services_are_annotated(mesh: &Mesh) {
    let service = |name: &str, port: u16| {
        let stored = mesh.create(&json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name, "namespace": "plain"},
            "spec": {"selector": {"app": "db"}, "ports": [{"port": port}]},
        }));
        stored["metadata"].get("annotations").cloned()
    };
    assert_eq!(service("db", 3306), Some(json!({"config.linkerd.io/opaque-ports": "3306"})));
    assert_eq!(service("web", 80), None);
}

fn others_are_left_alone(mesh: &Mesh) {
    let plain = mesh.create(&pod("plain", "web"));
    let text = plain.to_string();
    assert!(!text.contains("linkerd"), "{text}");
    assert_eq!(plain["spec"]["containers"].as_array().map(Vec::len), Some(1));
    // The control plane's own namespace is none of the webhook's business, whatever its pods say.
    mesh.create(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "linkerd"}}));
    let mut own = pod("linkerd", "web");
    own["metadata"]["annotations"] = json!({"linkerd.io/inject": "enabled"});
    assert_eq!(mesh.create(&own)["spec"]["containers"].as_array().map(Vec::len), Some(1));
}

fn kubectl_creates_injected_pods(mesh: &Mesh, test: &str) {
    let Some(program) = programs::find_or_skip("kubectl", &format!("{test}, by kubectl")) else { return };
    let kubectl = |args: &[&str], stdin: &str| -> Output {
        let mut child = Command::new(&program)
            .arg("--kubeconfig")
            .arg(mesh.api.kubeconfig())
            .args(args)
            .env("HOME", mesh.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let mut pod = pod("shop", "by-kubectl");
    pod["metadata"]["annotations"] = json!({"config.linkerd.io/proxy-cpu-request": "abc"});
    let created = kubectl(&["create", "-f", "-"], &pod.to_string());
    let err = String::from_utf8_lossy(&created.stderr);
    assert!(created.status.success(), "{err}");
    assert!(err.starts_with("Warning: config.linkerd.io/proxy-cpu-request"), "{err}");
    let stored = kubectl(&["get", "pod", "--namespace", "shop", "by-kubectl", "-o", "json"], "");
    assert_injected(&serde_json::from_slice(&stored.stdout).unwrap());
}

fn assert_injected(pod: &Value) {
    let proxy = container(pod, "linkerd-proxy");
    assert_eq!(proxy["restartPolicy"], "Always", "the chart's default is a native sidecar");
    let image = proxy["image"].as_str().unwrap();
    let version = pod["metadata"]["annotations"]["linkerd.io/proxy-version"].as_str().unwrap();
    assert!(image.ends_with(&format!("/proxy:{version}")), "{image}");
    let env = proxy["env"].as_array().unwrap();
    let anchors = env.iter().find(|entry| entry["name"] == "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS").unwrap();
    assert_eq!(anchors["value"].as_str().unwrap().trim(), trust_anchors().trim());
    container(pod, "linkerd-init");
    assert_eq!(pod["metadata"]["labels"]["linkerd.io/control-plane-ns"], "linkerd");
    let app = container(pod, "app");
    assert_eq!((&app["image"], &app["ports"][0]["containerPort"]), (&json!("registry.test/app:1.4"), &json!(8080)));
}

fn pod(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "registry.test/app:1.4", "ports": [{"containerPort": 8080}]}]},
    })
}

fn owner(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": format!("{kind}-{name}"), "controller": true})
}
