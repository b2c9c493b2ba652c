//! What the limit ranges of a namespace make of the resources of the injected containers.
//!
//! In: the items of the namespace's LimitRanges, and the resources as configured. Out: resources that the API server accepts, what had
//! to be changed for it, and what no change of ours can mend. LimitRanger itself only fills in what is not set, and refuses the pod
//! where what is set does not fit.
//!
//! Source: `SetDefaults_LimitRangeItem` in `pkg/apis/core/v1/defaults.go` and `plugin/pkg/admission/limitranger` of
//! kubernetes/kubernetes.

mod whole;

pub(crate) use whole::Excess;

use crate::annotation as key;
use crate::parse::quantity::Quantity;
use crate::pod_resources::{self, Most};
use crate::pod_sum::{Added, Amount, unit};
use crate::render::container;
use crate::values::{Constraint, Values};
use crate::workload::Workload;
use serde_json::Value;

/// One item of a LimitRange, as it is.
pub type Item = Value;

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

/// An amount that is not as it was set, or that nobody set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The container.
    pub(crate) container: &'static str,
    /// The resource.
    pub(crate) resource: &'static str,
    /// `request` or `limit`.
    pub(crate) which: &'static str,
    /// As it was set; none where it was not.
    pub(crate) from: Option<String>,
    /// As it has to be.
    pub(crate) to: String,
    /// Whether it is more than it was.
    pub(crate) raised: bool,
}

/// What a LimitRange asks for, and nothing gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The container.
    pub(crate) container: &'static str,
    /// What is asked for, and what to do.
    pub(crate) why: String,
}

/// What became of the resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Why the LimitRanges could not be read.
    pub(crate) unreadable: Option<String>,
    /// What was changed.
    pub(crate) changes: Vec<Change>,
    /// What is missing.
    pub(crate) gaps: Vec<Gap>,
    /// What is too much or too little for the pod as a whole.
    pub(crate) excesses: Vec<Excess>,
}

/// Fits the resources of the injected containers into what the namespace's limit ranges ask of a container, and adds the pod up.
pub(crate) fn fit(values: &mut Values, items: &[Item], pod: &Workload<'_>) -> Report {
    let mut report = Report::default();
    pod_resources::each(values, pod, &mut |container, resource, constraint, most| {
        fit_one(&Name { container, resource }, constraint, &Bounds::of(items, "Container", resource), most, &mut report);
    });
    let added = Added::by(values);
    for (resource, _) in values.proxy.resources.rows() {
        let (own, whole) = (Bounds::of(items, "Container", resource), Bounds::of(items, "Pod", resource));
        report.excesses.extend(whole::excesses(resource, &added, &own, &whole, pod));
    }
    report
}

/// What a message calls an amount by.
struct Name {
    container: &'static str,
    resource: &'static str,
}

impl Name {
    /// The annotation that sets the proxy's request or limit; none sets another's.
    fn annotation(&self, which: &str) -> Option<&'static str> {
        let [request, limit] = match self.resource {
            "cpu" => [key::CPU_REQUEST, key::CPU_LIMIT],
            "memory" => [key::MEMORY_REQUEST, key::MEMORY_LIMIT],
            _ => [key::EPHEMERAL_STORAGE_REQUEST, key::EPHEMERAL_STORAGE_LIMIT],
        };
        (self.container == container::PROXY).then_some(if which == "request" { request } else { limit })
    }
}

fn fit_one(name: &Name, constraint: &mut Constraint, bounds: &Bounds, most: &Most, report: &mut Report) {
    let resource = name.resource;
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
    // What the pod as a whole leaves binds no less.
    for (amount, most) in [(&mut request, &most.request), (&mut limit, &most.limit)] {
        most.iter().for_each(|most| moved(amount, most, above));
    }
    if let (Some(asked), Some(most)) = (&request, &limit)
        && asked.value > most.value
    {
        // A limit that nobody set gives way to the request that somebody did.
        if set_limit.is_none() { limit.clone_from(&request) } else { request.clone_from(&limit) }
    }
    if let Some(ratio) = &bounds.ratio {
        let fits = request.as_ref().and_then(|request| most_for(resource, request, ratio));
        match fits {
            Some(fits) if limit.is_none() => {
                limit = Some(fits);
                [&bounds.max, &most.limit].into_iter().flatten().for_each(|max| moved(&mut limit, max, above));
            }
            Some(fits) if set_limit.is_none() && set_request.is_some() => moved(&mut limit, &fits, above),
            _ => {}
        }
        if let Some(least) = limit.as_ref().and_then(|limit| least_for(resource, limit, ratio)) {
            moved(&mut request, &least, below);
        }
        // Where the pod leaves no more, it is the limit that has to come down.
        if let (Some(most), Some(asked)) = (&most.request, &request)
            && asked.value > most.value
        {
            request = Some(most.clone());
            most_for(resource, most, ratio).iter().for_each(|fits| moved(&mut limit, fits, above));
        }
        let lacks = |amount: &Option<Amount>| amount.as_ref().is_none_or(|amount| amount.thousandths() == Some(0));
        if let Some((which, _)) = [("request", lacks(&request)), ("limit", lacks(&limit))].into_iter().find(|(_, lacks)| *lacks) {
            let advice = match name.annotation(which).and_then(|annotation| annotation.rsplit('/').next()) {
                Some(annotation) => format!("set {annotation}"),
                None => "give it a default".to_owned(),
            };
            let why = format!("its {resource} ratio needs a {which}; {advice}");
            report.gaps.push(Gap { container: name.container, why });
        }
    }
    if let Some(min) = &bounds.min
        && let Some(now) = [&request, &limit].into_iter().flatten().find(|now| now.value < min.value)
    {
        let why = format!("its {resource} minimum of {} is more than the {} that the pod's resources leave", min.text, now.text);
        report.gaps.push(Gap { container: name.container, why });
    }
    let now = [
        ("request", set_request, &bounds.default_request, request, &mut constraint.request),
        ("limit", set_limit.clone(), &bounds.default, limit.clone(), &mut constraint.limit),
    ];
    for (which, set, default, now, text) in now {
        let Some(now) = now else { continue };
        let is = |other: &Option<Amount>| other.as_ref().is_some_and(|other| other.value == now.value);
        // The API server writes a limit down as the request, too; that is not ours to do.
        let is_followed = set.is_none() && which == "request" && set_limit.is_some() && is(&limit);
        if is(&set) || is_followed {
            continue;
        }
        // What a default gives is what LimitRanger would do, and nothing to tell of.
        if set.is_some() || !is(default) {
            let raised = set.as_ref().is_some_and(|set| now.value > set.value);
            let from = set.map(|set| set.text);
            report.changes.push(Change { container: name.container, resource, which, from, to: now.text.clone(), raised });
        }
        *text = now.text;
    }
}

fn below(now: &Quantity, bound: &Quantity) -> bool {
    now < bound
}

fn above(now: &Quantity, bound: &Quantity) -> bool {
    now > bound
}

/// The greatest limit that a request may have by the ratio; none for nothing.
fn most_for(resource: &str, request: &Amount, ratio: &Amount) -> Option<Amount> {
    let (ratio, request) = (ratio.thousandths()?, request.thousandths().filter(|request| *request > 0)?);
    let unit = unit(resource);
    let most = request.checked_mul(ratio)?.checked_div(1000)?.checked_div(unit)?.checked_mul(unit)?;
    let most = if exceeds(most, request, ratio) { most.saturating_sub(unit) } else { most };
    Amount::of_thousandths(resource, most.max(request))
}

/// The least request that a limit may have by the ratio.
fn least_for(resource: &str, limit: &Amount, ratio: &Amount) -> Option<Amount> {
    let (ratio, limit) = (ratio.thousandths().filter(|ratio| *ratio > 0)?, limit.thousandths()?);
    let unit = unit(resource);
    let least = limit.checked_mul(1000)?.div_ceil(ratio).div_ceil(unit).checked_mul(unit)?;
    let least = if exceeds(limit, least, ratio) { least.saturating_add(unit) } else { least };
    Amount::of_thousandths(resource, least.min(limit))
}

/// Whether a limit is more than so many thousandths of its request, as LimitRanger finds: in floating point, which may find an exact
/// ratio exceeded.
#[allow(clippy::cast_precision_loss, reason = "it is what LimitRanger loses, too")]
fn exceeds(limit: u128, request: u128, ratio: u128) -> bool {
    limit as f64 / request as f64 * 1000.0 > ratio as f64
}

#[cfg(test)]
mod tests;
