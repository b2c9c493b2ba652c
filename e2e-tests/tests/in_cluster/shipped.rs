//! The manifests of `artefacts` on an API server that knows Kubewarden's kinds.

use std::{env, fs, path::PathBuf, process::Command};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use e2e_tests::{
    artefacts, kinds, programs,
    real::{
        Folder,
        api_server::{Answer, ApiServer, Programs},
        certificate::Certificate,
    },
};
use serde_json::{Value, json};

use crate::mesh::{artefact, create, namespaces, until};

/// Names the folder with Kubewarden's CustomResourceDefinitions.
const CRDS: &str = "KUBEWARDEN_CRDS";

const MANIFESTS: &[&str] = &[
    "rbac.yaml",
    "rbac-limitranges.yaml",
    "policy-server.yaml",
    "cluster-admission-policy.yaml",
    "admission-policy.yaml",
    "reinvocation/webhook.yaml",
];

#[test]
fn manifests_are_accepted() {
    let test = "manifests_are_accepted";
    let Some(programs) = Programs::find_or_skip(test) else { return };
    let Some(kinds) = crds_or_skip(test) else { return };
    let api = ApiServer::start(&programs, &[]).unwrap();
    namespaces(&api);
    create(&api, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    kinds.iter().for_each(|kind| drop(create(&api, kind)));
    let ca = Certificate::for_loopback().unwrap().pem;
    let dry_run = |object: &Value| -> Answer {
        let path = place(object, &kinds);
        // A kind is served a moment after it is made.
        until(&format!("{path} is served"), || match api.post(&format!("{path}?dryRun=All&fieldValidation=Strict"), object) {
            Ok(answer) if answer.status == 404 => Err(answer.message().to_owned()),
            answer => Ok(answer.unwrap()),
        })
    };
    for file in MANIFESTS {
        for mut object in artefact(file) {
            if let Some(bundle) = object.pointer_mut("/webhooks/0/clientConfig/caBundle") {
                assert_eq!(*bundle, "CA_BUNDLE");
                *bundle = json!(BASE64_STANDARD.encode(&ca));
            }
            let answer = dry_run(&object);
            assert!(answer.is_success(), "{file}: {}", answer.message());
            let Some(spec) = object["spec"].as_object_mut() else { continue };
            spec.insert("noSuchField".to_owned(), json!(true));
            let answer = dry_run(&object);
            assert!(answer.message().contains("unknown field \"spec.noSuchField\""), "{file}: {}", answer.message());
        }
    }
    kubectl_applies_the_kustomization(&api, test);
}

fn kubectl_applies_the_kustomization(api: &ApiServer, test: &str) {
    let Some(kubectl) = programs::find_or_skip("kubectl", &format!("{test}, by kubectl")) else { return };
    let home = Folder::new("kubectl").unwrap();
    let applied = Command::new(kubectl)
        .arg("--kubeconfig")
        .arg(api.kubeconfig())
        .args(["apply", "--dry-run=server", "--kustomize"])
        .arg(artefacts::folder())
        .env("HOME", home.path())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&applied.stdout), String::from_utf8_lossy(&applied.stderr));
    assert!(applied.status.success(), "{err}");
    assert_eq!(out.lines().filter(|line| line.ends_with(" created (server dry run)")).count(), 7, "{out}{err}");
}

/// The definitions, or the word that `test` is skipped for want of them.
fn crds_or_skip(test: &str) -> Option<Vec<Value>> {
    let Some(folder) = env::var_os(CRDS).map(PathBuf::from).filter(|folder| folder.is_dir()) else {
        programs::skip(test, &format!("{CRDS} names no folder of Kubewarden's CustomResourceDefinitions"));
        return None;
    };
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let yaml = files.filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "yml"));
    let all = yaml.flat_map(|path| artefacts::documents_of(&path).unwrap());
    Some(all.filter(|object| object["kind"] == "CustomResourceDefinition").collect())
}

/// Where an object is created: the definitions know the plural of their kinds.
fn place(object: &Value, kinds: &[Value]) -> String {
    let Some(kind) = kinds.iter().find(|kind| kind["spec"]["names"]["kind"] == object["kind"]) else {
        return kinds::collection(object);
    };
    let spec = &kind["spec"];
    let namespace = match spec["scope"].as_str() {
        Some("Namespaced") => format!("/namespaces/{}", object["metadata"]["namespace"].as_str().unwrap()),
        _ => String::new(),
    };
    let plural = spec["names"]["plural"].as_str().unwrap();
    format!("/apis/{}{namespace}/{plural}", object["apiVersion"].as_str().unwrap())
}
