//! Six webhooks in many orders of their names, called by a real API server: with ours among them the stored pod is the same in each
//! order and the effect of every webhook is in it, as the simulation says; with Linkerd's own injector it is not.

use e2e_tests::{
    case::{Case, corpus},
    laws::{
        api_server,
        matrix::{self, Webhook, differing, lost_effects, predict},
    },
    policy::Native,
    programs,
    real::{
        linkerd::Linkerd,
        webhook::{Handler, Webhooks},
    },
    reference::put_between_marks,
};
use serde_json::{Value, json};

use crate::mesh::{Mesh, client};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
/// The label that says in which order, and around which injector, a pod is edited.
const ORDER: &str = "order";
/// So many of all orders are tried, evenly spread.
const ORDERS: usize = 60;
/// The pod that is created.
const CASE: &str = "realistic/web-api+plain";
/// The injectors that the others stand around.
const INJECTORS: [(&str, &str); 2] = [("policy", "this policy"), ("linkerd", "Linkerd's own")];

#[test]
fn six_webhooks_in_any_order_give_one_pod() {
    let test = "six_webhooks_in_any_order_give_one_pod";
    let Some(oracle) = programs::find_or_skip("linkerd-oracle", test) else { return };
    let Some(mesh) = Mesh::start(test) else { return };
    let case = case();
    let linkerd = Linkerd::start(&oracle, &mesh.folder.file("linkerd"), &case).unwrap();
    mesh.grant();
    for object in Mesh::configuration() {
        mesh.create(&object);
    }
    let mut handlers: Vec<(String, Handler)> = vec![("linkerd".to_owned(), Handler::Forward(linkerd.url.clone()))];
    handlers.extend(matrix::WEBHOOKS.iter().filter_map(|webhook| Some((webhook.word(), Handler::Edit(webhook.edit()?)))));
    let webhooks = Webhooks::serve(handlers).unwrap();
    let all = matrix::orders();
    let orders: Vec<&Vec<Webhook>> = all.iter().step_by(all.len() / ORDERS).collect();
    assert_eq!(orders.len(), ORDERS);
    mesh.namespace("shop", &json!({}));
    let labels: Vec<[String; 2]> = (0..ORDERS).map(|number| INJECTORS.map(|(name, _)| format!("{name}-{number}"))).collect();
    for (label, order) in labels.iter().zip(&orders) {
        for (label, (injector, _)) in label.iter().zip(INJECTORS) {
            register(&mesh, &webhooks, label, injector, order);
        }
    }
    // The API server hears of configurations in the order in which they were made.
    for label in labels.last().unwrap() {
        mesh.until("every webhook is called", || {
            let answer = mesh.dry_run(&pod(&case, label));
            let called = answer.is_success() && answer.body.to_string().contains("linkerd-proxy");
            if called { Ok(()) } else { Err(format!("status {} {}", answer.status, answer.message())) }
        });
    }

    let server = api_server::ApiServer::default();
    let mut outcomes = INJECTORS.map(|_| Outcome::default());
    for (label, order) in labels.iter().zip(&orders) {
        for (label, outcome) in label.iter().zip(&mut outcomes) {
            outcome.note(mesh.create(&pod(&case, label)));
        }
        let predicted = predict(&Native, &Value::Null, &case, &server, order).unwrap();
        let differences = differing(&canonical(outcomes[0].last()), &canonical(&predicted));
        assert!(differences.is_empty(), "{}: {differences:?}", names(order));
    }
    let [ours, theirs] = &outcomes;
    assert_eq!((ours.lost, ours.different.len()), (0, 1));
    // Otherwise the webhooks do not get in each other's way, and nothing is shown.
    assert!(theirs.lost > 0 && theirs.different.len() > 1, "lost {}, different {}", theirs.lost, theirs.different.len());
    say_in_readme(&outcomes);
}

/// What came of all orders around one injector.
#[derive(Default)]
struct Outcome {
    /// How many effects of webhooks are not in the pods.
    lost: usize,
    /// One of each of the pods.
    different: Vec<Value>,
    stored: Vec<Value>,
}

impl Outcome {
    fn note(&mut self, stored: Value) {
        self.lost = self.lost.saturating_add(lost_effects(&stored).len());
        let canonical = canonical(&stored);
        if !self.different.iter().any(|known| differing(known, &canonical).is_empty()) {
            self.different.push(canonical);
        }
        self.stored.push(stored);
    }

    fn last(&self) -> &Value {
        self.stored.last().unwrap()
    }
}

/// The README's table of the two injectors.
fn say_in_readme(outcomes: &[Outcome]) {
    let mut table = "| injector | effects lost | different pods |\n|---|---|---|\n".to_owned();
    for ((_, name), outcome) in INJECTORS.iter().zip(outcomes) {
        table.push_str(&format!("| {name} | {} | {} |\n", outcome.lost, outcome.different.len()));
    }
    let written = std::fs::read_to_string(README).unwrap();
    let expected = put_between_marks(&written, "orders", &table).expect("marks for orders in the README");
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(README, &expected).unwrap();
        return;
    }
    assert!(written == expected, "the README does not say that:\n{table}");
}

fn names(order: &[Webhook]) -> String {
    order.iter().map(|webhook| webhook.word()).collect::<Vec<_>>().join(" < ")
}

/// The webhooks of one order, for the pods with that label. The API server calls them in the order of their configurations' names.
fn register(mesh: &Mesh, webhooks: &Webhooks, label: &str, injector: &str, order: &[Webhook]) {
    for (place, webhook) in order.iter().enumerate() {
        let word = if *webhook == Webhook::Policy { injector.to_owned() } else { webhook.word() };
        let mut configuration = mesh.webhook();
        configuration["metadata"]["name"] = json!(format!("{label}-{place}-{word}"));
        let entry = &mut configuration["webhooks"][0];
        entry["name"] = json!(format!("{word}.{label}.test"));
        entry["objectSelector"] = json!({"matchLabels": {ORDER: label}});
        entry["rules"][0]["resources"] = json!(["pods"]);
        entry["failurePolicy"] = json!("Fail");
        if word != "policy" {
            entry["clientConfig"] = client(&webhooks.url(&word), &webhooks.ca);
        }
        mesh.create(&configuration);
    }
}

fn case() -> Case {
    corpus::cases().unwrap().into_iter().find(|case| case.name == CASE).unwrap()
}

/// The pod of the case, with the label.
fn pod(case: &Case, label: &str) -> Value {
    let mut pod = case.request.object.clone();
    pod["metadata"]["labels"][ORDER] = json!(label);
    pod
}

/// The pod without what the API server notes of each, and without the label.
fn canonical(pod: &Value) -> Value {
    let metadata = &pod["metadata"];
    let mut labels = metadata["labels"].clone();
    labels.as_object_mut().unwrap().remove(ORDER);
    json!({"metadata": {"annotations": metadata["annotations"], "labels": labels}, "spec": pod["spec"]})
}
