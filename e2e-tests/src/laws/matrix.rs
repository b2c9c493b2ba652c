//! Webhooks in all orders, called as the API server calls them.
//!
//! In: a case. Out: whether every order gives the same pod, with the effect of each webhook in it.
//!
//! Round 0 calls all webhooks. Where one of them changed the pod there is a round 1: the plugins of the API server go first; then those
//! webhooks are called that asked for it and ran before a change, and all of them where a plugin changed the pod. There is no round 2.
//! Source: `staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/{dispatcher,reinvocationcontext}.go` of
//! kubernetes/kubernetes.

use super::api_server::ApiServer;
use super::edits;
use super::leaves::Leaves;
use super::rules::differences;
use super::{Answer, Law, Mesh, Report, Violation, unsound};
use crate::case::Case;
use crate::policy::{Policy, PolicyError};
use serde_json::Value;
use std::collections::BTreeSet;

/// One of the webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Webhook {
    /// The policy.
    Policy,
    /// An edit of the table.
    Edit(&'static str),
}

/// The six, in the order in which their effects are checked.
pub const WEBHOOKS: [Webhook; 6] = [
    Webhook::Policy,
    Webhook::Edit("tap"),
    Webhook::Edit("init container first, sidecar and secrets, as Vault"),
    Webhook::Edit("sidecar with ports, as OPA"),
    Webhook::Edit("variables and token in every container, as AWS"),
    Webhook::Edit("log level, as kubemod"),
];

/// What an order gives, as the simulation predicts it.
///
/// # Errors
/// The policy gives no answer that can be read.
pub fn predict(
    policy: &dyn Policy,
    settings: &Value,
    case: &Case,
    server: &ApiServer,
    order: &[Webhook],
) -> Result<Value, PolicyError> {
    admitted(&Mesh::new(policy, settings, case, Some(server.clone())), server, order, &mut Vec::new())
}

/// Where two pods differ in more than the order of what is told apart by name.
#[must_use]
pub fn differing(left: &Value, right: &Value) -> Vec<String> {
    differences(&Leaves::by_name(left), &Leaves::by_name(right)).iter().map(ToString::to_string).collect()
}

/// All orders of the webhooks, the given one first.
#[must_use]
pub fn orders() -> Vec<Vec<Webhook>> {
    let mut orders: Vec<Vec<Webhook>> = vec![Vec::new()];
    for _ in WEBHOOKS {
        let longer = |order: &Vec<Webhook>| {
            let order = order.clone();
            let rest = WEBHOOKS.into_iter().filter(|w| !order.contains(w)).collect::<Vec<_>>();
            rest.into_iter().map(move |webhook| [order.clone(), vec![webhook]].concat())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

/// Tries a case with webhooks in these orders, all of them with `IfNeeded`, and holds each outcome against the first.
///
/// # Errors
/// The policy gives no answer that can be read.
pub fn try_orders(
    policy: &dyn Policy,
    settings: &Value,
    case: &Case,
    server: &ApiServer,
    orders: &[Vec<Webhook>],
) -> Result<Report, PolicyError> {
    let mesh = Mesh::new(policy, settings, case, Some(server.clone()));
    let mut report = Report::default();
    let mut first: Option<Leaves> = None;
    for order in orders {
        let mut wrong = Vec::new();
        let pod = admitted(&mesh, server, order, &mut wrong)?;
        let leaves = Leaves::by_name(&pod);
        let canonical = first.get_or_insert_with(|| leaves.clone());
        wrong.extend(differences(canonical, &leaves).iter().take(3).map(ToString::to_string));
        wrong.extend(lost_effects(&pod));
        if wrong.is_empty() {
            report.held = report.held.saturating_add(1);
        }
        let names: Vec<&str> = order.iter().map(|w| w.name()).collect();
        let violation = |reason| Violation { case: case.name.clone(), law: Law::AnyOrder, between: names.join(" < "), reason };
        report.violations.extend(wrong.into_iter().map(violation));
    }
    Ok(report)
}

impl Webhook {
    /// What it does when it is asked; `None` for the policy.
    #[must_use]
    pub fn edit(self) -> Option<fn(&mut Value)> {
        match self {
            Webhook::Policy => None,
            Webhook::Edit(name) => edits::named(name).map(|edit| edit.apply),
        }
    }

    /// One word for it, in small letters.
    #[must_use]
    pub fn word(self) -> String {
        self.name().rsplit(' ').next().unwrap_or_default().to_lowercase()
    }

    /// Its name.
    fn name(self) -> &'static str {
        match self {
            Webhook::Policy => "policy",
            Webhook::Edit(name) => name,
        }
    }

    fn call(self, mesh: &Mesh<'_>, pod: &Value, wrong: &mut Vec<String>) -> Result<Value, PolicyError> {
        if let Some(edit) = self.edit() {
            let mut edited = pod.clone();
            edit(&mut edited);
            return Ok(edited);
        }
        let answer: Answer = mesh.call(pod)?;
        wrong.extend(unsound(pod, &answer).into_iter().map(|(law, reason)| format!("{}: {reason}", law.as_str())));
        Ok(answer.pod)
    }
}

/// The pod as it is stored.
fn admitted(mesh: &Mesh<'_>, server: &ApiServer, order: &[Webhook], wrong: &mut Vec<String>) -> Result<Value, PolicyError> {
    let mut pod = mesh.pod();
    let (mut ran, mut again): (BTreeSet<usize>, BTreeSet<usize>) = (BTreeSet::new(), BTreeSet::new());
    for round in [0, 1] {
        if round == 1 {
            if again.is_empty() {
                break;
            }
            let plugged = server.admit(&pod);
            if plugged != pod {
                again.append(&mut ran);
            }
            pod = plugged;
        }
        for (place, webhook) in order.iter().enumerate() {
            if round == 1 && !again.contains(&place) {
                continue;
            }
            let edited = server.store(&webhook.call(mesh, &pod, wrong)?);
            if edited != pod {
                again.append(&mut ran);
            }
            pod = edited;
            ran.insert(place);
        }
    }
    Ok(pod)
}

/// The webhooks whose effect is not in the pod.
#[must_use]
pub fn lost_effects(pod: &Value) -> Vec<String> {
    let leaves = Leaves::of(pod);
    let has = |path: &str, part: &str| leaves.get(path).is_some_and(|leaf| leaf.contains(part));
    let named = |list: &str, name: &str| {
        let items = pod.get("spec").and_then(|s| s.get(list)?.as_array()).map_or(&[][..], Vec::as_slice);
        items.iter().any(|c| c.get("name").and_then(Value::as_str) == Some(name))
    };
    let every_container = || {
        let lists = super::api_server::CONTAINER_LISTS.iter().filter_map(|list| pod.get("spec")?.get(list)?.as_array());
        lists.flatten().all(|c| c.get("env").is_some_and(|env| env.to_string().contains("\"AWS_ROLE_ARN\"")))
    };
    let proxy = |variable: &str| format!("linkerd-proxy/env/{variable}");
    let effects = [
        (leaves.get("linkerd-proxy/list").is_some(), "the proxy"),
        (has(&proxy("LINKERD2_PROXY_TAP_SVC_NAME"), "tap.linkerd-viz"), "tap's variable"),
        (named("initContainers", "vault-agent-init") && named("containers", "vault-agent"), "Vault's containers"),
        (has(&proxy("LINKERD2_PROXY_INBOUND_PORTS"), "8181"), "OPA's port in the proxy's inbound ports"),
        (every_container(), "AWS's variables in every container"),
        (has(&proxy("LINKERD2_PROXY_LOG"), "\"debug"), "the log level"),
    ];
    effects.iter().filter(|(there, _)| !there).map(|(_, what)| format!("lost: {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Webhook, orders};

    #[test]
    fn there_are_as_many_orders_as_there_can_be() {
        let mut orders = orders();
        assert_eq!(orders.len(), 720);
        assert_eq!(orders[0][0], Webhook::Policy);
        let names = |order: &Vec<Webhook>| order.iter().map(|w| w.name()).collect::<Vec<_>>();
        orders.sort_by_key(names);
        orders.dedup();
        assert_eq!(orders.len(), 720);
    }
}
