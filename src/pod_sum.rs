//! What the containers of a pod come to, and amounts to reckon with.
//!
//! In: a pod, what is injected, and what LimitRanger gives containers that say nothing. Out: sums in thousandths.
//!
//! Source: `podRequests` and `podLimits` in `plugin/pkg/admission/limitranger` of kubernetes/kubernetes, by which the API server's
//! validation of resources goes, too.

use crate::parse::quantity::{self, Quantity};
use crate::render::Place;
use crate::values::{Resources, Values};
use crate::workload::{Container, List, Workload, amount};
use serde_json::Value;

/// An amount with its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    pub(crate) text: String,
    pub(crate) value: Quantity,
}

impl Amount {
    /// Reads an amount; none where the API server refuses it.
    pub(crate) fn read(text: &str) -> Option<Amount> {
        Some(Amount { text: text.to_owned(), value: quantity::resource(text).ok()? })
    }

    /// Reads one of the lists of some resources.
    pub(crate) fn of(lists: &Value, list: &str, resource: &str) -> Option<Amount> {
        Amount::read(&amount(lists, list, resource)?)
    }

    /// The thousandths in it; none where there are too many to count.
    pub(crate) fn thousandths(&self) -> Option<u128> {
        self.value.thousandths()
    }

    /// The amount of so many thousandths, as the resource is usually written.
    pub(crate) fn of_thousandths(resource: &str, thousandths: u128) -> Option<Amount> {
        Amount::read(&text_of(resource, thousandths))
    }
}

/// So many thousandths, as the resource is usually written.
pub(crate) fn text_of(resource: &str, thousandths: u128) -> String {
    if resource == "cpu" && !thousandths.is_multiple_of(1000) {
        format!("{thousandths}m")
    } else {
        thousandths.div_ceil(1000).to_string()
    }
}

/// The thousandths in which a resource is counted.
pub(crate) fn unit(resource: &str) -> u128 {
    if resource == "cpu" { 1 } else { 1000 }
}

/// What the injected containers ask for.
pub(crate) struct Added {
    /// The proxy, and the container that sets up its redirection.
    proxy: Resources,
    debug: Option<Resources>,
    place: Place,
}

impl Added {
    pub(crate) fn by(values: &Values) -> Added {
        let debug = values.debug_enabled.then(|| values.debug_resources.clone());
        Added { proxy: values.proxy.resources.clone(), debug, place: Place::of(values) }
    }

    /// Whether the proxy is there beside the init containers.
    pub(crate) fn is_native(&self) -> bool {
        self.place == Place::Native
    }
}

/// The requests or the limits of one resource.
pub(crate) struct Sum<'a> {
    /// `requests` or `limits`.
    pub(crate) list: &'static str,
    /// The resource.
    pub(crate) resource: &'static str,
    /// The request and the limit of a container that has none.
    pub(crate) default: [Option<&'a Amount>; 2],
}

/// In thousandths; none where no container has any.
type Thousandths = Option<u128>;

impl Sum<'_> {
    /// What a container has: as it is set, or as the API server and LimitRanger fill it in.
    fn of(&self, lists: Option<&Value>) -> Thousandths {
        let set = |list: &str| Amount::of(lists?, list, self.resource);
        let [default_request, default_limit] = self.default.map(|default| default.cloned());
        let amount = match self.list {
            "requests" => set("requests").or_else(|| set("limits")).or(default_request),
            _ => set("limits").or(default_limit),
        };
        amount?.thousandths()
    }

    fn of_container(&self, container: &Container<'_>) -> Thousandths {
        self.of(container.field("resources"))
    }

    fn of_ours(&self, resources: &Resources) -> Thousandths {
        let (_, constraint) = resources.rows().into_iter().find(|(resource, _)| *resource == self.resource)?;
        let text = match self.list {
            "requests" if !constraint.request.is_empty() => &constraint.request,
            _ => &constraint.limit,
        };
        Amount::read(text)?.thousandths()
    }

    /// What is said of the pod as a whole, which counts for all that is in it.
    pub(crate) fn said_of(&self, pod: &Workload<'_>) -> Option<Amount> {
        Amount::of(pod.spec("resources")?, self.list, self.resource)
    }

    /// What a pod comes to.
    pub(crate) fn of_pod(&self, pod: &Workload<'_>, added: &Added) -> Thousandths {
        match self.said_of(pod) {
            Some(whole) => whole.thousandths(),
            None => {
                let [together, peak] = self.of_containers(pod, Some(added));
                together.max(peak)
            }
        }
    }

    /// The containers that run together, and the init container that needs most beside those that run by then.
    pub(crate) fn of_containers(&self, pod: &Workload<'_>, added: Option<&Added>) -> [Thousandths; 2] {
        let proxy = added.and_then(|added| self.of_ours(&added.proxy));
        let native = added.is_some_and(Added::is_native);
        let mut peak = proxy;
        let mut beside = if native { proxy } else { None };
        for container in pod.containers_of(List::Init) {
            let with_it = plus(beside, self.of_container(&container));
            if container.goes_on() {
                beside = with_it;
            }
            peak = peak.max(with_it);
        }
        let main = pod.containers_of(List::Main).fold(beside, |sum, container| plus(sum, self.of_container(&container)));
        let main = if native { main } else { plus(main, proxy) };
        let debug = added.and_then(|added| added.debug.as_ref()).and_then(|debug| self.of_ours(debug));
        [plus(main, debug), peak]
    }
}

fn plus(sum: Thousandths, more: Thousandths) -> Thousandths {
    match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    }
}
