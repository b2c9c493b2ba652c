//! The stages of MIGRATION.md on a real API server, with the selectors that it says, between Linkerd's own packages and the policy.

use e2e_tests::{
    case::corpus,
    programs,
    real::{
        linkerd::Linkerd,
        webhook::{Handler, Webhooks},
    },
};
use serde_json::{Value, json};

use crate::mesh::{Mesh, client};

const GUIDE: &str = include_str!("../../../MIGRATION.md");
/// The label that says at which stage a pod is created.
const STAGE: &str = "stage";
/// Whose name the annotation begins with that says who injected.
const POLICY: &str = "linkerd-injector-policy ";
const LINKERD: &str = "linkerd/proxy-injector ";

#[test]
fn every_stage_has_one_injector() {
    let test = "every_stage_has_one_injector";
    let Some(oracle) = programs::find_or_skip("linkerd-oracle", test) else { return };
    let Some(mesh) = Mesh::start(test) else { return };
    mesh.grant();
    Mesh::configuration().iter().for_each(|object| drop(mesh.create(object)));
    let case = corpus::cases().unwrap().swap_remove(0);
    let linkerd = Linkerd::start(&oracle, &mesh.folder.file("linkerd"), &case).unwrap();
    let webhooks = Webhooks::serve(vec![("linkerd".to_owned(), Handler::Forward(linkerd.url.clone()))]).unwrap();
    let [policy_moves, linkerd_moves, linkerd_off] = selectors();
    let [key, value] = [&policy_moves["key"], &policy_moves["values"][0]].map(|text| text.as_str().unwrap().to_owned());
    mesh.namespace("left", &json!({}));
    mesh.labelled_namespace("moved", &json!({}), &json!({key: value}));

    // Both as they are shipped; namespace by namespace; the policy alone.
    let shipped = mesh.webhook()["webhooks"][0]["namespaceSelector"].clone();
    let mut moving = shipped.clone();
    moving["matchExpressions"].as_array_mut().unwrap().push(policy_moves);
    let chart = linkerd_moves["matchExpressions"].as_array().unwrap().split_last().map(|(_, of_chart)| of_chart.to_vec()).unwrap();
    let stages = [
        ("both", &shipped, json!({"matchExpressions": chart}), [POLICY, POLICY]),
        ("moving", &moving, linkerd_moves, [LINKERD, POLICY]),
        ("off", &shipped, linkerd_off, [POLICY, POLICY]),
    ];
    for (stage, ours, theirs, _) in &stages {
        for (name, selector) in [("linkerd-injector-policy", *ours), ("linkerd-proxy-injector-webhook-config", theirs)] {
            let mut configuration = mesh.webhook();
            configuration["metadata"]["name"] = json!(format!("{name}-{stage}"));
            let webhook = &mut configuration["webhooks"][0];
            webhook["namespaceSelector"] = selector.clone();
            webhook["objectSelector"] = json!({"matchLabels": {STAGE: stage}});
            webhook["failurePolicy"] = json!("Fail");
            webhook["rules"] = json!([{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]);
            if name.starts_with("linkerd-proxy") {
                webhook["reinvocationPolicy"] = json!("Never");
                webhook["clientConfig"] = client(&webhooks.url("linkerd"), &webhooks.ca);
            }
            mesh.create(&configuration);
        }
    }
    for (stage, _, _, injectors) in stages {
        for (namespace, injector) in ["left", "moved"].into_iter().zip(injectors) {
            let pod = pod(stage, namespace);
            mesh.until(&format!("{stage}: a pod in {namespace} is injected by {injector}"), || {
                let answer = mesh.dry_run(&pod);
                let by = answer.body.pointer("/metadata/annotations/linkerd.io~1created-by").and_then(Value::as_str);
                match by {
                    Some(by) if by.starts_with(injector) => Ok(()),
                    by => Err(format!("by {by:?}, status {} {}", answer.status, answer.message())),
                }
            });
            let stored = mesh.create(&pod);
            let containers =
                ["initContainers", "containers"].into_iter().filter_map(|list| stored["spec"][list].as_array()).flatten();
            let names: Vec<&str> = containers.filter_map(|one| one["name"].as_str()).collect();
            assert_eq!(names, ["linkerd-init", "linkerd-proxy", "app"], "{stage}, {namespace}");
        }
    }
}

/// What the guide says in YAML: the expression that narrows the policy, Linkerd's selector while namespaces move, and after.
fn selectors() -> [Value; 3] {
    let mut blocks = GUIDE.split("```yaml\n").skip(1).map(|rest| {
        let block = rest.split("```").next().unwrap();
        // Blocks in a list are indented.
        let indent = block.find(|c| c != ' ').unwrap_or_default();
        let lines: Vec<&str> = block.lines().map(|line| line.get(indent..).unwrap_or_default()).collect();
        serde_norway::from_str::<Value>(&lines.join("\n")).unwrap()
    });
    let patch = blocks.next().unwrap()["patches"][0]["patch"].clone();
    let patch: Value = serde_norway::from_str(patch.as_str().unwrap()).unwrap();
    assert_eq!((&patch[0]["op"], &patch[0]["path"]), (&json!("add"), &json!("/spec/namespaceSelector/matchExpressions/-")));
    let mut of_chart = || blocks.next().unwrap()["proxyInjector"]["namespaceSelector"].clone();
    [patch[0]["value"].clone(), of_chart(), of_chart()]
}

fn pod(stage: &str, namespace: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("web-{stage}"),
            "namespace": namespace,
            "labels": {STAGE: stage},
            "annotations": {"linkerd.io/inject": "enabled"},
        },
        "spec": {"containers": [{"name": "app", "image": "registry.test/app:1.4", "ports": [{"containerPort": 8080}]}]},
    })
}
