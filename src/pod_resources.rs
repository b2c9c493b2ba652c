//! What the pod's own resources, as a whole, leave for the injected containers.
//!
//! In: the values with annotations applied, and the pod. Out: resources that the API server accepts beside `spec.resources`, and what
//! had to be lowered for it. A pod that has such resources and injected containers that ask for more than they leave is refused (D39).
//!
//! Source: `validatePodResourceConsistency` in `pkg/apis/core/validation` of kubernetes/kubernetes.

use crate::pod_sum::{Added, Amount, Sum, unit};
use crate::values::{Constraint, Resources, Values};
use crate::warning::{Place, Warning};
use crate::workload::Workload;

/// Lowers what asks for more than the pod leaves.
pub(crate) fn fit(values: &mut Values, pod: &Workload<'_>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if pod.spec("resources").is_none() {
        return warnings;
    }
    let native = Added::by(values).is_native();
    let debug = values.debug_enabled.then_some(&mut values.debug_resources);
    let mut left: Vec<Option<u128>> =
        values.proxy.resources.rows().iter().map(|(resource, _)| left(resource, pod, native)).collect();
    for (whose, resources) in [("the proxy", Some(&mut values.proxy.resources)), ("the debug container", debug)] {
        let rows = resources.into_iter().flat_map(Resources::rows_mut);
        for ((resource, Constraint { request, limit }), left) in rows.zip(&mut left) {
            let whole = Sum { list: "limits", resource, default: [None; 2] }.said_of(pod);
            if let Some((was, most)) = whole.and_then(|most| lowered(limit, most)) {
                let problem = format!("{whose}'s {resource} limit {was} is above the pod's, and lowered to {}", most.text);
                warnings.push(Warning::plain(Place::Pod, problem));
                *limit = most.text;
            }
            let Some(most) = left.and_then(|left| Amount::of_thousandths(resource, left)) else { continue };
            // The API server takes a limit for the request where there is none.
            let asked = if request.is_empty() { &*limit } else { &*request };
            if let Some((was, most)) = lowered(asked, most) {
                let problem =
                    format!("{whose}'s {resource} request {was} is above what the pod's leaves, and lowered to {}", most.text);
                warnings.push(Warning::plain(Place::Pod, problem));
                *request = most.text;
            }
            let asked = if request.is_empty() { &*limit } else { &*request };
            let taken = Amount::read(asked).and_then(|amount| amount.thousandths()).unwrap_or_default();
            *left = left.map(|left| left.saturating_sub(taken));
        }
    }
    warnings
}

/// The amount as it was, where it is above the most that it may be, and that.
fn lowered(text: &str, most: Amount) -> Option<(String, Amount)> {
    Amount::read(text).is_some_and(|amount| amount.value > most.value).then(|| (text.to_owned(), most))
}

/// What the pod's request leaves beside its containers', in thousandths; none where it has no request.
fn left(resource: &'static str, pod: &Workload<'_>, native: bool) -> Option<u128> {
    let sum = Sum { list: "requests", resource, default: [None; 2] };
    let [together, peak] = sum.of_containers(pod, None);
    let limit = || Sum { list: "limits", ..sum }.said_of(pod);
    let whole = match sum.said_of(pod) {
        Some(whole) => whole.thousandths(),
        // Where there is a limit alone, the API server makes the request of the containers' ones.
        None => limit().and_then(|limit| together.max(peak).or_else(|| limit.thousandths())),
    };
    let taken = if native { together.max(peak) } else { together };
    let left = whole?.saturating_sub(taken.unwrap_or_default());
    left.checked_div(unit(resource))?.checked_mul(unit(resource))
}

#[cfg(test)]
mod tests;
