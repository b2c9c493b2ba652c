//! What the person who types `kubectl apply` hears, and what a namespace's own rules make of an injected pod.

use std::{fs, path::Path, process::Command};

use e2e_tests::{artefacts, programs, reference::put_between_marks};
use serde_json::{Value, json};

use crate::{
    limits,
    mesh::{Mesh, container},
};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
/// The manifest of which the README shows what is told.
const MISTAKES: &str = "examples/mistakes.yaml";
pub const PLAIN: &str = "linkerd-injector";
pub const LIMITS: &str = "linkerd-injector-limits";
const CNI: &str = "linkerd-injector-cni";

#[test]
fn people_are_told() {
    let test = "people_are_told";
    let more = [(LIMITS, json!({"limitRange": "apply"})), (CNI, json!({"values": {"cniEnabled": true}}))];
    let Some(mesh) = Mesh::start_with(test, &more) else { return };
    mesh.grant();
    mesh.grant_limit_ranges();
    for object in Mesh::configuration() {
        mesh.create(&object);
    }
    for id in [PLAIN, LIMITS, CNI] {
        mesh.create(&mesh.webhook_of(id));
    }
    a_mistyped_annotation_is_told_to_whoever_creates_the_deployment(&mesh, test);
    limits::a_limit_range_lets_the_pod_in_where_it_is_followed(&mesh);
    limits::what_no_change_mends_is_told_before_the_pod_is_refused(&mesh);
    a_restricted_namespace_takes_a_pod_in_cni_mode(&mesh);
}

pub fn enabled() -> Value {
    json!({"linkerd.io/inject": "enabled"})
}

pub fn deployment(namespace: &str, name: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": annotations},
                "spec": {"containers": [{"name": "app", "image": "registry.test/app:1.4"}]},
            },
        },
    })
}

/// A pod that the restricted pod security level takes.
pub fn pod(namespace: &str, name: &str, annotations: &Value) -> Value {
    let context = json!({
        "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": true, "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"containers": [{"name": "app", "image": "registry.test/app:1.4", "securityContext": context}]},
    })
}

fn a_mistyped_annotation_is_told_to_whoever_creates_the_deployment(mesh: &Mesh, test: &str) {
    const LINE: &str = "annotations: \"config.linkerd.io/proxy-cpu-limts\" is unknown; did you mean proxy-cpu-limit";
    mesh.labelled_namespace("shop", &enabled(), &json!({"policy": PLAIN}));
    let mistyped = json!({"config.linkerd.io/proxy-cpu-limts": "1"});
    mesh.until("the author is told", || {
        let answer = mesh.dry_run(&deployment("shop", "web", &mistyped));
        if (answer.status, answer.warnings.as_slice()) == (201, &[LINE.to_owned()]) {
            // Nothing of it changed.
            assert!(!answer.body.to_string().contains("injection"), "{}", answer.body);
            Ok(())
        } else {
            Err(format!("{} {:?} {}", answer.status, answer.warnings, answer.message()))
        }
    });
    let answer = mesh.dry_run(&deployment("shop", "web", &json!({"config.linkerd.io/proxy-cpu-limit": "1"})));
    assert_eq!((answer.status, answer.warnings), (201, vec![]));

    let Some(program) = programs::find_or_skip("kubectl", &format!("{test}, by kubectl")) else { return };
    let apply = |file: &Path| {
        let applied = Command::new(&program)
            .arg("--kubeconfig")
            .arg(mesh.api.kubeconfig())
            .args(["apply", "-f"])
            .arg(file)
            .env("HOME", mesh.folder.path())
            .output()
            .unwrap();
        (String::from_utf8(applied.stdout).unwrap(), String::from_utf8(applied.stderr).unwrap())
    };
    let file = mesh.folder.file("deployment.json");
    fs::write(&file, deployment("shop", "web", &mistyped).to_string()).unwrap();
    assert_eq!(apply(&file), ("deployment.apps/web created\n".to_owned(), format!("Warning: {LINE}\n")));

    let (out, err) = apply(&artefacts::folder().join(MISTAKES));
    assert!(err.lines().count() >= 3 && err.lines().all(|line| line.starts_with("Warning: ")), "{err}");
    say_in_readme(&format!("```console\n$ kubectl apply -f artefacts/{MISTAKES}\n{err}{out}```\n"));
}

/// What the README shows of it.
fn say_in_readme(block: &str) {
    let written = fs::read_to_string(README).unwrap();
    let expected = put_between_marks(&written, "apply", block).expect("marks for apply in the README");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(README, &expected).unwrap();
        return;
    }
    assert!(written == expected, "the README does not say that:\n{block}");
}

fn a_restricted_namespace_takes_a_pod_in_cni_mode(mesh: &Mesh) {
    for (namespace, policy) in [("strict", PLAIN), ("strict-cni", CNI)] {
        let labels = json!({"policy": policy, "pod-security.kubernetes.io/enforce": "restricted"});
        mesh.labelled_namespace(namespace, &enabled(), &labels);
    }
    mesh.until("linkerd-init is refused, and the author told of it", || {
        let pod = mesh.dry_run(&pod("strict", "web", &json!({})));
        let refused = pod.status == 403 && pod.message().contains("violates PodSecurity \"restricted:latest\"");
        let told = mesh.dry_run(&deployment("strict", "web", &json!({}))).warnings;
        let line =
            "namespace: its pod security level restricted refuses linkerd-init: it adds NET_ADMIN and NET_RAW; use linkerd-cni";
        if refused && told.iter().any(|told| told == line) { Ok(()) } else { Err(format!("{} {told:?}", pod.message())) }
    });
    let stored = mesh.until("the pod is let in", || {
        let answer = mesh.dry_run(&pod("strict-cni", "web", &json!({})));
        if answer.status == 201 { Ok(answer.body) } else { Err(format!("{} {}", answer.status, answer.message())) }
    });
    container(&stored, "linkerd-network-validator");
    container(&stored, "linkerd-proxy");
    // The debug container is not of that level, and its author is told before the pod is refused.
    let debug = json!({"config.linkerd.io/enable-debug-sidecar": "true"});
    assert_eq!(mesh.dry_run(&pod("strict-cni", "web", &debug)).status, 403);
    let told = mesh.dry_run(&deployment("strict-cni", "web", &debug)).warnings;
    let line = "namespace: its pod security level restricted refuses linkerd-debug: allowPrivilegeEscalation is not false";
    assert!(told.iter().any(|told| told == line), "{told:?}");
}
