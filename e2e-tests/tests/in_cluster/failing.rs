//! What people see when the cluster fails: rights that are taken away, configuration that is gone or broken, and servers that stop.
//!
//! The README's troubleshooting says each of these in the words in which `kubectl create` prints it.

use std::{fs, process::Command};

use e2e_tests::{admission::Admission, kinds, programs};
use serde_json::{Value, json};

use crate::mesh::{Mesh, artefact};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
const POLICY: &str = "linkerd-injector";

#[test]
fn people_see_what_fails() {
    let test = "people_see_what_fails";
    let Some(mut mesh) = Mesh::start(test) else { return };
    let configuration = Mesh::configuration();
    mesh.grant();
    configuration.iter().for_each(|object| drop(mesh.create(object)));
    mesh.create(&mesh.webhook_of(POLICY));
    mesh.labelled_namespace("shop", &json!({"linkerd.io/inject": "enabled"}), &json!({"policy": POLICY}));
    is_injected(&mesh);
    configuration_is_gone_or_broken(&mesh, &configuration);
    rights_are_taken_away(&mesh);
    is_injected(&mesh);
    kubectl_prints_it(&mesh, test, &configuration[1]);
    nobody_is_unmeshed_while_the_store_stands_still(&mesh);
    a_policy_server_that_is_gone_lets_nobody_in(&mesh);
    an_api_server_that_is_gone_is_no_answer(&mut mesh);
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "app", "image": "registry.test/app:1.4"}]},
    })
}

fn is_injected(mesh: &Mesh) {
    mesh.until("a pod is injected", || {
        let answer = mesh.dry_run(&pod("web"));
        let injected = answer.body.to_string().contains("linkerd-proxy");
        if answer.status == 201 && injected { Ok(()) } else { Err(answer.body.to_string()) }
    });
}

/// A pod is refused with this sentence, and the README says what to do.
fn is_refused(mesh: &Mesh, sentence: &str) {
    let message = format!(
        "admission webhook \"linkerd-injector-policy.kubewarden.admission\" denied the request: linkerd-injector-policy: {sentence}"
    );
    mesh.until(sentence, || {
        let answer = mesh.dry_run(&pod("web"));
        // Until the answers of before are forgotten, a pod is injected; never is one let in as it is.
        assert!(!answer.is_success() || answer.body.to_string().contains("linkerd-proxy"), "{}", answer.body);
        if (answer.status, answer.message()) == (500, message.as_str()) { Ok(()) } else { Err(answer.body.to_string()) }
    });
    assert!(readme().contains(sentence), "the README does not say {sentence}");
}

fn readme() -> String {
    fs::read_to_string(README).unwrap()
}

fn path(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap();
    format!("/api/v1/namespaces/{}/configmaps/{}", text("/metadata/namespace"), text("/metadata/name"))
}

fn configuration_is_gone_or_broken(mesh: &Mesh, configuration: &[Value; 2]) {
    let [config, roots] = configuration;
    for (object, key, text, sentence) in [
        (config, "values", "proxy: [", "ConfigMap linkerd/linkerd-config cannot be used: its values are not a YAML object"),
        (
            roots,
            "ca-bundle.crt",
            "to be done",
            "ConfigMap linkerd/linkerd-identity-trust-roots cannot be used: its ca-bundle.crt is not a bundle of PEM certificates",
        ),
    ] {
        let mut broken = object.clone();
        broken["data"][key] = json!(text);
        assert!(mesh.api.put(&path(object), &broken).unwrap().is_success());
        is_refused(mesh, sentence);
        assert!(mesh.api.delete(&path(object)).unwrap().is_success());
        let name = object["metadata"]["name"].as_str().unwrap();
        is_refused(mesh, &format!("ConfigMap linkerd/{name} not found: create it, or correct controlPlaneNamespace"));
        mesh.create(object);
        is_injected(mesh);
    }
}

fn rights_are_taken_away(mesh: &Mesh) {
    let role = artefact("rbac.yaml").into_iter().find(|object| object["kind"] == "RoleBinding").unwrap();
    let cluster_role = artefact("rbac.yaml").into_iter().find(|object| object["kind"] == "ClusterRoleBinding").unwrap();
    for (binding, sentence) in [
        (role, "ConfigMap linkerd/linkerd-config is forbidden: grant get on it to the policy server's service account"),
        (cluster_role, "Namespace shop is forbidden: grant get on it to the policy server's service account"),
    ] {
        let path = format!("{}/{}", kinds::collection(&binding), binding["metadata"]["name"].as_str().unwrap());
        assert!(mesh.api.delete(&path).unwrap().is_success());
        is_refused(mesh, sentence);
        mesh.create(&binding);
    }
}

fn kubectl_prints_it(mesh: &Mesh, test: &str, roots: &Value) {
    let Some(program) = programs::find_or_skip("kubectl", &format!("{test}, by kubectl")) else { return };
    assert!(mesh.api.delete(&path(roots)).unwrap().is_success());
    is_refused(mesh, "ConfigMap linkerd/linkerd-identity-trust-roots not found: create it, or correct controlPlaneNamespace");
    let file = mesh.folder.file("pod.json");
    fs::write(&file, pod("by-kubectl").to_string()).unwrap();
    let mut kubectl = Command::new(program);
    kubectl.arg("--kubeconfig").arg(mesh.api.kubeconfig()).env("HOME", mesh.folder.path()).args(["create", "-f"]).arg(&file);
    let created = kubectl.output().unwrap();
    let printed = String::from_utf8(created.stderr).unwrap().replace(&file.display().to_string(), "pod.yaml");
    assert!(!created.status.success());
    assert!(readme().contains(printed.trim()), "the README does not show {printed}");
    mesh.create(roots);
    is_injected(mesh);
}

/// While etcd stands still, look-ups that are not remembered have no answer: nothing is created, and all is well when it goes on.
fn nobody_is_unmeshed_while_the_store_stands_still(mesh: &Mesh) {
    mesh.api.pause_store().unwrap();
    let answer = mesh.api.post("/api/v1/namespaces/shop/pods", &pod("meanwhile"));
    mesh.api.resume_store().unwrap();
    // The API server gives up, or was just about to when it went on.
    if let Ok(answer) = answer {
        assert!(!answer.is_success() || answer.body.to_string().contains("linkerd-proxy"), "{}", answer.body);
    }
    is_injected(mesh);
}

/// An API server that is gone, for a policy server that is still asked by another one.
fn an_api_server_that_is_gone_is_no_answer(mesh: &mut Mesh) {
    mesh.api.stop().unwrap();
    let object = pod("web");
    let request = Admission { kind: "Pod", namespace: "shop", operation: "CREATE", object: &object, user: "jane" };
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request.request()});
    let mesh = &*mesh;
    let sentence = mesh.until("nobody answers", || {
        let answer = mesh.policies().ask(POLICY, &review).map_err(|error| error.to_string())?;
        let response = &answer["response"];
        let message = response["status"]["message"].as_str().unwrap_or_default().to_owned();
        if response["allowed"] == json!(false) {
            assert_eq!(response["status"]["code"], 500, "{response}");
            return Ok(message);
        }
        // What is remembered still holds.
        assert!(response["patch"].is_string(), "a pod stays out of the mesh: {response}");
        Err(answer.to_string())
    });
    // A look-up that is refused at once, and one that is tried again for as long as a policy may take.
    let known = [
        "cannot be read: no answer from the API server",
        "Policy execution interrupted because it exceeded the allowed execution time",
    ];
    let known: Vec<&&str> = known.iter().filter(|part| sentence.contains(**part)).collect();
    assert_eq!(known.len(), 1, "{sentence}");
    assert!(readme().contains(*known[0]), "the README does not say {sentence}");
}

/// With `failurePolicy: Fail`; the shipped webhook says Ignore, as Linkerd's own, and the README what that means.
fn a_policy_server_that_is_gone_lets_nobody_in(mesh: &Mesh) {
    let mut webhook = mesh.webhook_of("gone");
    webhook["webhooks"][0]["clientConfig"]["url"] = json!("https://127.0.0.1:1/validate/gone");
    mesh.create(&webhook);
    mesh.labelled_namespace("gone", &json!({"linkerd.io/inject": "enabled"}), &json!({"policy": "gone"}));
    let mut pod = pod("web");
    pod["metadata"]["namespace"] = json!("gone");
    let sentence = "failed calling webhook \"linkerd-injector-policy.kubewarden.admission\"";
    mesh.until(sentence, || {
        let answer = mesh.dry_run(&pod);
        if answer.message().contains(sentence) { Ok(()) } else { Err(answer.body.to_string()) }
    });
    assert!(readme().contains(sentence), "the README does not say {sentence}");
}
