//! Resources of the injected containers beside those of the pod as a whole (D39).

use super::read::quantity;
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, inherit, resources};
use serde_json::{Map, Value};

/// D39: what the pod as a whole asks for holds all that is in it.
pub fn d39_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && fitted(case) != resources::written(case)
}

/// Sets the resources.
pub fn d39_apply(case: &Reading, expected: &mut Expected) {
    resources::put(case, &mut expected.object, &fitted(case));
}

/// The texts, none above what the pod's request leaves or its limit is.
fn fitted(case: &Reading) -> Map<String, Value> {
    let mut texts = resources::written(case);
    for kind in resources::KINDS {
        let text = |texts: &Map<String, Value>, side: &str| texts.get(side).and_then(|of| of.get(kind)).and_then(amount);
        let mut put = |side: &str, text: Value| {
            if let Value::Object(of_side) = texts.entry(side).or_insert_with(|| Value::Object(Map::new())) {
                of_side.insert(kind.to_owned(), text);
            }
        };
        let text_of_whole = |side: &str| case.request.object.pointer(&format!("/spec/resources/{side}/{kind}"));
        let whole = |side: &str| amount(text_of_whole(side)?);
        let (limit, request) = (text(&resources::written(case), "limits"), text(&resources::written(case), "requests"));
        if let (Some(limit), Some(most)) = (limit, whole("limits"))
            && limit > most
        {
            put("limits", text_of_whole("limits").cloned().unwrap_or_default());
        }
        let limit = [limit, whole("limits")].into_iter().flatten().min().filter(|_| limit.is_some());
        let [beside, early] = taken(case, kind);
        // The API server's own default for a pod that has limits alone.
        let limits = case.request.object.pointer("/spec/resources/limits").and_then(Value::as_object);
        let default = || limits.filter(|limits| !limits.is_empty()).and_then(|_| beside.max(early).or_else(|| whole("limits")));
        let Some(all) = whole("requests").or_else(default) else { continue };
        let taken = if inherit::native(case) { beside.max(early) } else { beside };
        let left = all.saturating_sub(taken.unwrap_or_default()).max(0);
        if request.or(limit).is_some_and(|asked| asked > left) {
            put("requests", in_units(kind, left).into());
        }
    }
    texts
}

/// What the application's containers ask for when all run, and at most while they start; none where none asks.
fn taken(case: &Reading, kind: &str) -> [Option<i128>; 2] {
    let asks = |container: &Value| {
        let of = |side: &str| amount(container.pointer(&format!("/resources/{side}/{kind}"))?);
        of("requests").or_else(|| of("limits"))
    };
    let add = |sum: Option<i128>, more: Option<i128>| match (sum, more) {
        (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
        (sum, more) => sum.or(more),
    };
    let (mut running, mut most) = (None, None);
    for container in case.spec_list("initContainers") {
        let together = add(running, asks(container));
        most = most.max(together);
        if container["restartPolicy"] == "Always" {
            running = together;
        }
    }
    [case.spec_list("containers").fold(running, |sum, container| add(sum, asks(container))), most]
}

fn amount(value: &Value) -> Option<i128> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Some(quantity(&text)?.nano)
}

fn in_units(kind: &str, nano: i128) -> String {
    const ONE: i128 = 1_000_000_000;
    if kind == "cpu" && nano % ONE != 0 { format!("{}m", nano / (ONE / 1000)) } else { (nano / ONE).to_string() }
}
