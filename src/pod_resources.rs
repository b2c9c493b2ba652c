//! What the pod's own resources, as a whole, leave for the injected containers.
//!
//! In: the values with annotations applied, and the pod. Out: resources that the API server accepts beside `spec.resources`, and what
//! had to be lowered for it. A pod that has such resources and injected containers that ask for more than they leave is refused (D39).
//!
//! Source: `validatePodResourceConsistency` in `pkg/apis/core/validation` of kubernetes/kubernetes.

use crate::pod_sum::{Added, Amount, Sum, unit};
use crate::render::container;
use crate::values::{Constraint, Values};
use crate::warning::{Place, Warning};
use crate::workload::Workload;
use serde_json::Value;

/// The most that an injected container may have of one resource; none where the pod says nothing.
#[derive(Debug, Default)]
pub(crate) struct Most {
    pub(crate) request: Option<Amount>,
    pub(crate) limit: Option<Amount>,
}

/// What the pod leaves the proxy; or the debug container, beside that proxy.
fn most(pod: &Workload<'_>, resource: &'static str, native: bool, beside: Option<&Constraint>) -> Most {
    let Some(lists) = pod.spec("resources") else { return Most::default() };
    let sum = |list: &'static str| Sum { list, resource, default: [None; 2] };
    let [together, peak] = sum("requests").of_containers(pod, None);
    let limit = sum("limits").said_of(pod);
    // Where there are limits alone, the API server makes the requests of the containers' ones.
    let has_limits = lists.get("limits").and_then(Value::as_object).is_some_and(|limits| !limits.is_empty());
    let whole = match sum("requests").said_of(pod) {
        Some(whole) => whole.thousandths(),
        None if has_limits => together.max(peak).or_else(|| limit.as_ref()?.thousandths()),
        None => None,
    };
    // The debug container is not there beside the init containers.
    let taken = if native && beside.is_none() { together.max(peak) } else { together };
    let taken = taken.unwrap_or_default().saturating_add(beside.and_then(asked).and_then(|a| a.thousandths()).unwrap_or_default());
    let left = whole.map(|whole| whole.saturating_sub(taken));
    let whole_units = |left: u128| left.checked_div(unit(resource))?.checked_mul(unit(resource));
    Most { request: left.and_then(whole_units).and_then(|left| Amount::of_thousandths(resource, left)), limit }
}

/// What a container requests: a limit stands for a request that is not set.
fn asked(Constraint { request, limit }: &Constraint) -> Option<Amount> {
    Amount::read(if request.is_empty() { limit } else { request })
}

/// Runs over the amounts of the proxy and then of the debug container, each with the most that it may have beside what came before.
pub(crate) fn each(
    values: &mut Values,
    pod: &Workload<'_>,
    run: &mut dyn FnMut(&'static str, &'static str, &mut Constraint, &Most),
) {
    let native = Added::by(values).is_native();
    let Values { proxy, debug_enabled, debug_resources, .. } = values;
    for (resource, constraint) in proxy.resources.rows_mut() {
        run(container::PROXY, resource, constraint, &most(pod, resource, native, None));
    }
    if *debug_enabled {
        for ((resource, constraint), (_, beside)) in debug_resources.rows_mut().into_iter().zip(proxy.resources.rows()) {
            run(container::DEBUG, resource, constraint, &most(pod, resource, native, Some(beside)));
        }
    }
}

/// Lowers what asks for more than the pod leaves.
pub(crate) fn fit(values: &mut Values, pod: &Workload<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if pod.spec("resources").is_some() {
        each(values, pod, &mut |name, resource, constraint, most| {
            warnings.extend(fit_one(container::called(name), resource, constraint, most));
        });
    }
    warnings
}

fn fit_one(whose: &str, resource: &str, constraint: &mut Constraint, most: &Most) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut told = |problem: String| warnings.push(Warning::plain(Place::Pod, problem));
    let above =
        |now: Option<Amount>, most: &Option<Amount>| Some((now?, most.clone()?)).filter(|(now, most)| now.value > most.value);
    if let Some((now, most)) = above(Amount::read(&constraint.limit), &most.limit) {
        told(format!("{whose}'s {resource} limit {} is above the pod's, and lowered to {}", now.text, most.text));
        constraint.limit = most.text;
    }
    if let Some((now, most)) = above(asked(constraint), &most.request) {
        told(format!("{whose}'s {resource} request {} is above what the pod's leaves, and lowered to {}", now.text, most.text));
        constraint.request = most.text;
    }
    warnings
}

#[cfg(test)]
mod tests;
