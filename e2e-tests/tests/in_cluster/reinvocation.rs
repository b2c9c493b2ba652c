//! Webhooks of others around ours: whatever the order of their names, the stored pod is the same.

use e2e_tests::{
    compare::changed_paths,
    real::webhook::{Edit, Webhooks},
};
use serde_json::{Value, json};

use crate::mesh::{Mesh, client, container};

/// Who edits pods beside us.
static EDITS: &[(&str, Edit)] = &[("opa", add_opa), ("log-level", set_log_level), ("tap", enable_tap)];
const OURS: &str = "ours";
/// The label that says in which order a pod is edited.
const ORDER: &str = "order";
const LOG_LEVEL: &str = "config.linkerd.io/proxy-log-level";
const TAP: &str = "LINKERD2_PROXY_TAP_SVC_NAME";

/// A second container, with a port that the proxy has to know.
fn add_opa(pod: &mut Value) {
    if let Some(containers) = pod["spec"]["containers"].as_array_mut()
        && !containers.iter().any(|container| container["name"] == "opa")
    {
        containers.push(json!({"name": "opa", "image": "registry.test/opa:1.0", "ports": [{"containerPort": 8181}]}));
    }
}

/// An annotation that the sidecar has to follow.
fn set_log_level(pod: &mut Value) {
    pod["metadata"]["annotations"][LOG_LEVEL] = json!("debug");
}

/// An edit of the sidecar itself, a native one.
fn enable_tap(pod: &mut Value) {
    let containers = pod["spec"].get_mut("initContainers").and_then(Value::as_array_mut).into_iter().flatten();
    for proxy in containers.filter(|container| container["name"] == "linkerd-proxy") {
        if let Some(env) = proxy["env"].as_array_mut()
            && !env.iter().any(|entry| entry["name"] == TAP)
        {
            env.push(json!({"name": TAP, "value": "tap.linkerd-viz.serviceaccount.identity.linkerd.cluster.local"}));
        }
    }
}

#[test]
fn every_order_gives_the_same_pod() {
    let Some(mesh) = Mesh::start("every_order_gives_the_same_pod") else { return };
    mesh.grant();
    for object in Mesh::configuration() {
        mesh.create(&object);
    }
    let webhooks = Webhooks::serve(EDITS).unwrap();
    let mut everybody: Vec<&str> = EDITS.iter().map(|(name, _)| *name).collect();
    everybody.push(OURS);
    let orders = permutations(&everybody);
    assert_eq!(orders.len(), 24);

    // Every order has a pod of its own, which a label tells, so that all of them are there at once.
    mesh.namespace("shop", &json!({"linkerd.io/inject": "enabled"}));
    for (number, order) in orders.iter().enumerate() {
        let own = format!("order-{number}");
        for (place, name) in order.iter().enumerate() {
            // The API server calls webhooks in the order of their configurations' names.
            let mut configuration = mesh.webhook();
            configuration["metadata"]["name"] = json!(format!("{own}-{place}-{name}"));
            let webhook = &mut configuration["webhooks"][0];
            webhook["name"] = json!(format!("{name}.{own}.test"));
            webhook["objectSelector"] = json!({"matchLabels": {ORDER: own}});
            webhook["rules"][0]["resources"] = json!(["pods"]);
            webhook["failurePolicy"] = json!("Fail");
            if *name != OURS {
                webhook["clientConfig"] = client(&webhooks.url(name), &webhooks.ca);
            }
            mesh.create(&configuration);
        }
    }

    let mut first: Option<Value> = None;
    for (number, order) in orders.iter().enumerate() {
        let pod = pod(&format!("order-{number}"));
        mesh.until(&format!("every webhook of {order:?} is called"), || {
            let answer = mesh.dry_run(&pod);
            let text = answer.body.to_string();
            let missing =
                ["linkerd-proxy", "registry.test/opa", "\"debug\"", TAP].into_iter().find(|effect| !text.contains(effect));
            missing.map_or(Ok(()), |effect| Err(format!("no {effect}, status {} {}", answer.status, answer.message())))
        });
        let stored = canonical(&mesh.create(&pod));
        let first = first.get_or_insert_with(|| stored.clone());
        let differing = changed_paths(first, &stored);
        assert!(differing.is_empty(), "{order:?} and {:?} differ at {differing:?}", orders[0]);
    }
    let pod = first.unwrap();
    assert_eq!(pod["metadata"]["annotations"][LOG_LEVEL], "debug");
    assert_eq!(env(&pod, "LINKERD2_PROXY_LOG"), "debug,[{headers}]=off,[{request}]=off");
    assert_eq!(env(&pod, "LINKERD2_PROXY_INBOUND_PORTS"), "8080,8181");
    assert_eq!(env(&pod, TAP), "tap.linkerd-viz.serviceaccount.identity.linkerd.cluster.local");
    let names =
        |list: &str| -> Vec<&str> { pod["spec"][list].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect() };
    assert_eq!((names("initContainers"), names("containers")), (vec!["linkerd-init", "linkerd-proxy"], vec!["app", "opa"]));
}

/// What the proxy's environment says of a variable.
fn env(pod: &Value, name: &str) -> Value {
    let proxy = container(pod, "linkerd-proxy");
    let entry = proxy["env"].as_array().unwrap().iter().find(|entry| entry["name"] == name);
    entry.unwrap_or_else(|| panic!("no {name} in {proxy}"))["value"].clone()
}

/// The pod without what tells it from the others, and without the times that the API server notes.
fn canonical(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for key in ["uid", "name", "creationTimestamp", "resourceVersion", "managedFields", "generation"] {
        pod["metadata"].as_object_mut().unwrap().remove(key);
    }
    pod["metadata"]["labels"].as_object_mut().unwrap().remove(ORDER);
    pod
}

fn permutations<'a>(of: &[&'a str]) -> Vec<Vec<&'a str>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for first in of {
        let rest: Vec<&str> = of.iter().copied().filter(|other| other != first).collect();
        for mut order in permutations(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// A pod that brings the volume of its token, whose name the API server would otherwise make up for each.
fn pod(own: &str) -> Value {
    let token = json!({"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}});
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": own, "namespace": "shop", "labels": {"app": "web", ORDER: own}},
        "spec": {
            "containers": [{"name": "app", "image": "registry.test/app:1.4", "ports": [{"containerPort": 8080}]}],
            "volumes": [{"name": "kube-api-access-fixed", "projected": {"sources": [token]}}],
        },
    })
}
