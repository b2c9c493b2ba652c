//! What a pod comes to with the injected containers, beside what limit ranges say of whole pods.

use super::{Bounds, exceeds};
use crate::pod_sum::{Added, Sum, text_of};
use crate::workload::Workload;

/// What a LimitRange does not allow for all containers of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The resource.
    pub(crate) resource: &'static str,
    /// `requests` or `limits`.
    pub(crate) which: &'static str,
    /// What they come to.
    pub(crate) sum: String,
    /// What is allowed or asked for.
    pub(crate) bound: String,
}

/// What the pod comes to with the injected containers, where that is too much, or too little of what it would not have without them.
pub(super) fn excesses(
    resource: &'static str,
    added: &Added,
    container: &Bounds,
    whole: &Bounds,
    pod: &Workload<'_>,
) -> Vec<Excess> {
    let mut excesses = Vec::new();
    let default = [container.default_request.as_ref(), container.default.as_ref()];
    let sums = ["requests", "limits"].map(|list| (list, Sum { list, resource, default }.of_pod(pod, added)));
    for (which, sum) in sums {
        let Some(sum) = sum else { continue };
        let mut push = |bound: String| excesses.push(Excess { resource, which, sum: text_of(resource, sum), bound });
        match (&whole.max, &whole.min) {
            (Some(max), _) if max.thousandths().is_some_and(|max| sum > max) => push(format!("allows pods {}", max.text)),
            (_, Some(min)) if min.thousandths().is_some_and(|min| sum < min) => push(format!("asks pods for {}", min.text)),
            _ => {}
        }
    }
    if let (Some(ratio), [(_, Some(requests)), (which, Some(limits))]) = (&whole.ratio, sums)
        && ratio.thousandths().is_some_and(|ratio| exceeds(limits, requests, ratio))
    {
        let sum = format!("{} for requests of {}", text_of(resource, limits), text_of(resource, requests));
        excesses.push(Excess { resource, which, sum, bound: format!("allows pods a ratio of {}", ratio.text) });
    }
    excesses
}
