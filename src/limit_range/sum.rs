//! What a pod comes to with the injected containers, beside what limit ranges say of whole pods.
//!
//! Source: `podRequests` and `podLimits` in `plugin/pkg/admission/limitranger` of kubernetes/kubernetes.

use super::{Amount, Bounds, exceeds, text_of};
use crate::render::Place;
use crate::values::{Resources, Values};
use crate::workload::{Container, List, Workload};
use serde_json::Value;

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

/// What the injected containers ask for.
pub(super) struct Added {
    /// The proxy, and the container that sets up its redirection.
    proxy: Resources,
    debug: Option<Resources>,
    place: Place,
}

impl Added {
    pub(super) fn by(values: &Values) -> Added {
        let debug = values.debug_enabled.then(|| values.debug_resources.clone());
        Added { proxy: values.proxy.resources.clone(), debug, place: Place::of(values) }
    }
}

/// The requests or the limits of one resource, in thousandths; none where no container has any.
struct Sum<'a> {
    list: &'static str,
    resource: &'static str,
    bounds: &'a Bounds,
}

impl Sum<'_> {
    /// What a container has: as it is set, or as the API server and LimitRanger fill it in.
    fn of(&self, lists: Option<&Value>) -> Option<u128> {
        let set = |list: &str| Amount::of(lists?, list, self.resource);
        let amount = match self.list {
            "requests" => set("requests").or_else(|| set("limits")).or_else(|| self.bounds.default_request.clone()),
            _ => set("limits").or_else(|| self.bounds.default.clone()),
        };
        amount?.thousandths()
    }

    fn of_container(&self, container: &Container<'_>) -> Option<u128> {
        self.of(container.field("resources"))
    }

    fn of_ours(&self, resources: &Resources) -> Option<u128> {
        let constraint = match self.resource {
            "cpu" => &resources.cpu,
            "memory" => &resources.memory,
            _ => &resources.ephemeral_storage,
        };
        let text = match self.list {
            "requests" if !constraint.request.is_empty() => &constraint.request,
            _ => &constraint.limit,
        };
        Amount::read(text)?.thousandths()
    }

    /// The containers that run together, or the init container that needs most beside those that run by then.
    fn of_pod(&self, pod: &Workload<'_>, added: &Added) -> Option<u128> {
        // What is said of the pod as a whole counts for all that is in it.
        let whole = pod.spec("resources").and_then(|lists| Amount::of(lists, self.list, self.resource));
        if let Some(whole) = whole {
            return whole.thousandths();
        }
        let proxy = self.of_ours(&added.proxy);
        let mut peak = proxy;
        let mut beside = if added.place == Place::Native { proxy } else { None };
        for container in pod.containers_of(List::Init) {
            let with_it = plus(beside, self.of_container(&container));
            if container.goes_on() {
                beside = with_it;
            }
            peak = peak.max(with_it);
        }
        let main = pod.containers_of(List::Main).fold(beside, |sum, container| plus(sum, self.of_container(&container)));
        let main = if added.place == Place::Native { main } else { plus(main, proxy) };
        plus(main, added.debug.as_ref().and_then(|debug| self.of_ours(debug))).max(peak)
    }
}

fn plus(sum: Option<u128>, more: Option<u128>) -> Option<u128> {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    }
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
    let sums = ["requests", "limits"].map(|list| (list, Sum { list, resource, bounds: container }.of_pod(pod, added)));
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
