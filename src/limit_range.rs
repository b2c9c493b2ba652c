//! What the limit ranges of a namespace make of the resources of the injected containers.
//!
//! In: the items of the namespace's LimitRanges, and the resources as configured. Out: resources that the API server accepts, and what
//! had to be changed for it. LimitRanger itself only fills in what is not set, and refuses the pod where what is set does not fit.
//!
//! Source: `SetDefaults_LimitRangeItem` in `pkg/apis/core/v1/defaults.go` and `plugin/pkg/admission/limitranger` of
//! kubernetes/kubernetes.

use crate::parse::quantity::{self, Quantity};
use crate::values::{Constraint, Resources};
use crate::workload::{Container, List, Workload};
use serde_json::Value;

/// One item of a LimitRange, as it is.
pub type Item = Value;

/// An amount with its text.
#[derive(Clone, Debug, PartialEq)]
struct Amount {
    text: String,
    value: Quantity,
}

impl Amount {
    fn read(text: &str) -> Option<Amount> {
        Some(Amount { text: text.to_owned(), value: quantity::resource(text).ok()? })
    }

    fn of(item: &Item, list: &str, resource: &str) -> Option<Amount> {
        let value = item.get(list)?.get(resource)?;
        Amount::read(value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str())
    }

    /// The amount of so many thousandths, as the resource is usually written.
    fn of_thousandths(resource: &str, thousandths: u128) -> Option<Amount> {
        Amount::read(&text_of(resource, thousandths))
    }
}

fn text_of(resource: &str, thousandths: u128) -> String {
    if resource == "cpu" { format!("{thousandths}m") } else { thousandths.div_ceil(1000).to_string() }
}

/// What all items of a namespace say of one resource of a container.
#[derive(Debug, Default)]
struct Bounds {
    min: Option<Amount>,
    max: Option<Amount>,
    default: Option<Amount>,
    default_request: Option<Amount>,
    ratio: Option<Amount>,
}

impl Bounds {
    fn of(items: &[Item], kind: &str, resource: &str) -> Bounds {
        let mut bounds = Bounds::default();
        for item in items.iter().filter(|item| item.get("type").and_then(Value::as_str) == Some(kind)) {
            let of = |list: &str| Amount::of(item, list, resource);
            let default = of("default").or_else(|| of("max"));
            let default_request = of("defaultRequest").or_else(|| default.clone()).or_else(|| of("min"));
            bounds.default = bounds.default.or(default);
            bounds.default_request = bounds.default_request.or(default_request);
            bounds.min = narrower(bounds.min, of("min"), above);
            bounds.max = narrower(bounds.max, of("max"), below);
            bounds.ratio = narrower(bounds.ratio, of("maxLimitRequestRatio"), below);
        }
        bounds
    }
}

fn narrower(old: Option<Amount>, new: Option<Amount>, is: fn(&Quantity, &Quantity) -> bool) -> Option<Amount> {
    match (old, new) {
        (Some(old), Some(new)) => Some(if is(&new.value, &old.value) { new } else { old }),
        (old, new) => old.or(new),
    }
}

/// An amount that was set and does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The resource.
    pub(crate) resource: &'static str,
    /// `request` or `limit`.
    pub(crate) which: &'static str,
    /// As it was set.
    pub(crate) from: String,
    /// As it has to be.
    pub(crate) to: String,
    /// Whether it is more than it was.
    pub(crate) raised: bool,
}

/// More than a LimitRange allows for all containers of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    /// The resource.
    pub(crate) resource: &'static str,
    /// `requests` or `limits`.
    pub(crate) which: &'static str,
    /// What they come to.
    pub(crate) sum: String,
    /// What is allowed.
    pub(crate) most: String,
}

/// What became of the resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Why the LimitRanges could not be read.
    pub(crate) unreadable: Option<String>,
    /// What was changed.
    pub(crate) changes: Vec<Change>,
    /// What no change of ours could mend.
    pub(crate) excesses: Vec<Excess>,
}

/// Fits resources into what the namespace's limit ranges ask of a container, and adds the pod up.
pub(crate) fn fit(resources: &mut Resources, items: &[Item], pod: &Workload<'_>) -> Report {
    let mut report = Report::default();
    let rows =
        [("cpu", &mut resources.cpu), ("memory", &mut resources.memory), ("ephemeral-storage", &mut resources.ephemeral_storage)];
    for (resource, constraint) in rows {
        report.changes.extend(fit_one(resource, constraint, &Bounds::of(items, "Container", resource)));
        report.excesses.extend(excesses(resource, constraint, &Bounds::of(items, "Pod", resource), pod));
    }
    report
}

fn fit_one(resource: &'static str, constraint: &mut Constraint, bounds: &Bounds) -> Vec<Change> {
    let (set_limit, set_request) = (Amount::read(&constraint.limit), Amount::read(&constraint.request));
    // A request that is not set follows a limit that is; what is left open is filled in.
    let mut request = set_request.clone().or_else(|| set_limit.clone()).or_else(|| bounds.default_request.clone());
    let mut limit = set_limit.clone().or_else(|| bounds.default.clone());
    let moved = |amount: &mut Option<Amount>, to: &Amount, is: fn(&Quantity, &Quantity) -> bool| {
        if let Some(now) = amount
            && is(&now.value, &to.value)
        {
            *now = to.clone();
        }
    };
    for (bound, is) in [(&bounds.min, below as fn(&Quantity, &Quantity) -> bool), (&bounds.max, above)] {
        if let Some(bound) = bound {
            moved(&mut request, bound, is);
            moved(&mut limit, bound, is);
        }
    }
    if let (Some(asked), Some(most)) = (&request, &limit)
        && asked.value > most.value
    {
        // A limit that nobody set gives way to the request that somebody did.
        if set_limit.is_none() { limit.clone_from(&request) } else { request.clone_from(&limit) }
    }
    if let Some(ratio) = &bounds.ratio {
        limit = limit.or_else(|| request.clone());
        if let Some(least) = limit.as_ref().and_then(|limit| share(resource, limit, ratio)) {
            request = request.or_else(|| limit.clone());
            moved(&mut request, &least, below);
        }
    }
    let mut changes = Vec::new();
    for (which, set, now, text) in
        [("request", set_request, &request, &mut constraint.request), ("limit", set_limit.clone(), &limit, &mut constraint.limit)]
    {
        let Some(now) = now else { continue };
        match &set {
            Some(set) if set.value == now.value => {}
            Some(set) => {
                let (from, to) = (set.text.clone(), now.text.clone());
                changes.push(Change { resource, which, from, to, raised: now.value > set.value });
                text.clone_from(&now.text);
            }
            // The API server writes a limit down as the request, too; that is not ours to do.
            None if which == "request" && set_limit.is_some() && limit.as_ref().is_some_and(|l| l.value == now.value) => {}
            None => text.clone_from(&now.text),
        }
    }
    changes
}

fn below(now: &Quantity, bound: &Quantity) -> bool {
    now < bound
}

fn above(now: &Quantity, bound: &Quantity) -> bool {
    now > bound
}

/// The least request that a limit may have: the limit by the ratio, rounded up.
fn share(resource: &str, limit: &Amount, ratio: &Amount) -> Option<Amount> {
    let ratio = ratio.value.thousandths().filter(|ratio| *ratio > 0)?;
    let least = limit.value.thousandths()?.checked_mul(1000)?.div_ceil(ratio);
    Amount::of_thousandths(resource, least)
}

/// What the pod comes to with the sidecar, where that is too much.
fn excesses(resource: &'static str, sidecar: &Constraint, bounds: &Bounds, pod: &Workload<'_>) -> Vec<Excess> {
    let mut excesses = Vec::new();
    for (which, own) in [("requests", &sidecar.request), ("limits", &sidecar.limit)] {
        let Some(most) = &bounds.max else { continue };
        let own = if own.is_empty() && which == "requests" { &sidecar.limit } else { own };
        let sidecar = Amount::read(own).and_then(|amount| amount.value.thousandths()).unwrap_or_default();
        let sum = sum(pod, which, resource).saturating_add(sidecar);
        if most.value.thousandths().is_some_and(|most| sum > most) {
            excesses.push(Excess { resource, which, sum: text_of(resource, sum), most: most.text.clone() });
        }
    }
    excesses
}

/// What the containers of a pod come to, in thousandths: those that run together, or the init container that needs most.
fn sum(pod: &Workload<'_>, which: &str, resource: &str) -> u128 {
    let amount = |container: &Container<'_>| {
        let of = |list: &str| container.amount(list, resource);
        let text = of(which).or_else(|| if which == "requests" { of("limits") } else { None });
        text.and_then(Amount::read).and_then(|amount| amount.value.thousandths()).unwrap_or_default()
    };
    let main: u128 = pod.containers_of(List::Main).map(|c| amount(&c)).fold(0, u128::saturating_add);
    let (mut sidecars, mut peak) = (0_u128, 0_u128);
    for container in pod.containers_of(List::Init) {
        if container.field("restartPolicy").and_then(Value::as_str) == Some("Always") {
            sidecars = sidecars.saturating_add(amount(&container));
        } else {
            peak = peak.max(sidecars.saturating_add(amount(&container)));
        }
    }
    main.saturating_add(sidecars).max(peak)
}

#[cfg(test)]
mod tests;
