//! Requests and limits (D26), worker counts, and what the API server takes for a user or a group (D13, D26).

use super::object::{self, INIT, PROXY, VALIDATOR, set_arg, set_env};
use super::read::{Quantity, go_float, go_parse_float, quantity};
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, inherit};
use serde_json::{Map, Value};

/// The share of the node's cores.
pub const RATIO: &str = "config.linkerd.io/proxy-cpu-ratio-limit";
const HIGHEST_ID: i64 = 2_147_483_647;
/// What can be asked for.
pub const KINDS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const SIDES: [&str; 2] = ["limit", "request"];

/// Which quantities are taken.
type Good = fn(Quantity) -> bool;

/// Texts by kind and side.
type Texts = Map<String, Value>;

/// The text of one quantity: the annotation where `good`, else what is configured where that is `good`.
fn text(case: &Reading, kind: &str, side: &str, good: impl Fn(Quantity) -> bool) -> String {
    let is_good = |text: &str| quantity(text).is_some_and(&good);
    let annotated = case.text(&format!("config.linkerd.io/proxy-{kind}-{side}")).filter(|text| is_good(text));
    annotated.map_or_else(
        || case.configured_text(&format!("/proxy/resources/{kind}/{side}"), |text| text.is_empty() || is_good(text)),
        str::to_owned,
    )
}

/// Linkerd takes every annotation that is a quantity, and what is configured as it stands.
fn linkerd_texts(case: &Reading) -> Texts {
    texts(|kind, side| {
        let annotated = case.text(&format!("config.linkerd.io/proxy-{kind}-{side}")).filter(|text| quantity(text).is_some());
        annotated.unwrap_or_else(|| case.value_text(&format!("/proxy/resources/{kind}/{side}"))).to_owned()
    })
}

/// No quantity but `good` ones, no request above its limit.
fn own_texts(case: &Reading, good: Good) -> Texts {
    texts(|kind, side| {
        let one = |side| text(case, kind, side, good);
        let (limit, request) = (one("limit"), one("request"));
        let above = matches!((quantity(&limit), quantity(&request)), (Some(limit), Some(request)) if request.nano > limit.nano);
        if side == "limit" || above { limit } else { request }
    })
}

fn texts(read: impl Fn(&str, &str) -> String) -> Texts {
    let mut texts = Map::new();
    for side in SIDES {
        let of_side: Map<String, Value> =
            KINDS.iter().map(|kind| ((*kind).to_owned(), Value::from(read(kind, side)))).filter(|(_, text)| text != "").collect();
        if !of_side.is_empty() {
            texts.insert(format!("{side}s"), Value::Object(of_side));
        }
    }
    texts
}

/// The worker counts that Linkerd prints.
pub fn linkerd_cores(case: &Reading) -> Vec<(&'static str, i64)> {
    let (fewest, most) = fixed_cores(case).map_or_else(|| workers(case, any), |cores| (cores, 0));
    vec![("LINKERD2_PROXY_CORES", fewest), ("LINKERD2_PROXY_CORES_MIN", fewest), ("LINKERD2_PROXY_CORES_MAX", most)]
}

/// Fewest and most workers, as Linkerd counts them from quantities that are `good`.
fn workers(case: &Reading, good: Good) -> (i64, i64) {
    let count = |side: &str, pointer: &str| {
        let annotated =
            case.text(&format!("config.linkerd.io/proxy-cpu-{side}")).and_then(quantity).filter(|quantity| good(*quantity));
        annotated.map_or_else(|| case.value(pointer).as_i64().unwrap_or_default(), |quantity| quantity.cores)
    };
    (count("request", "/proxy/runtime/workers/minimum"), count("limit", "/proxy/runtime/workers/maximum"))
}

fn any(_: Quantity) -> bool {
    true
}

fn not_negative(quantity: Quantity) -> bool {
    quantity.nano >= 0
}

fn not_vast(quantity: Quantity) -> bool {
    not_negative(quantity) && !quantity.is_vast
}

/// The workers that the proxy may have, and how their number is written.
pub fn core_counts(case: &Reading) -> Vec<(&'static str, i64)> {
    if let Some(cores) = fixed_cores(case) {
        return vec![("LINKERD2_PROXY_CORES", cores), ("LINKERD2_PROXY_CORES_MIN", cores)];
    }
    let (fewest, most) = workers(case, not_vast);
    if fewest == 0 && most == 0 && ratio(case).is_none() {
        return Vec::new();
    }
    let fewest = if fewest == 0 { 1 } else { fewest };
    let most = Some(("LINKERD2_PROXY_CORES_MAX", most)).filter(|(_, most)| *most != 0);
    [("LINKERD2_PROXY_CORES", fewest), ("LINKERD2_PROXY_CORES_MIN", fewest)].into_iter().chain(most).collect()
}

fn fixed_cores(case: &Reading) -> Option<i64> {
    case.value("/proxy/cores").as_i64().filter(|cores| *cores != 0)
}

/// The share of the cores, where one is set and the count is not fixed.
pub fn ratio(case: &Reading) -> Option<f64> {
    let annotated = case.text(RATIO).and_then(go_parse_float).filter(|ratio| *ratio > 0.0 && *ratio < 1.0);
    let configured = case.value("/proxy/runtime/workers/maximumCPURatio").as_f64().filter(|ratio| *ratio != 0.0);
    annotated.or(configured).filter(|_| fixed_cores(case).is_none())
}

/// Writes the variables that say how many workers the proxy has.
pub fn set_cores(case: &Reading, object: &mut Value) {
    const SHARE: &str = "LINKERD2_PROXY_CORES_MAX_RATIO";
    const COUNTS: [&str; 3] = ["LINKERD2_PROXY_CORES", "LINKERD2_PROXY_CORES_MIN", "LINKERD2_PROXY_CORES_MAX"];
    for name in COUNTS.into_iter().chain([SHARE]) {
        set_env(object, name, None, &[]);
    }
    let mut before = "_pod_containerName";
    let counts = core_counts(case).into_iter().map(|(name, count)| (name, count.to_string()));
    for (name, text) in counts.chain(ratio(case).map(|ratio| (SHARE, go_float(ratio)))) {
        set_env(object, name, Some(&text), &[before]);
        before = name;
    }
}

/// Whether the proxy sends traces.
pub fn traces(case: &Reading) -> bool {
    let set = |pointer: &str| !case.value_text(pointer).is_empty();
    let complete = ["endpoint", "meshIdentity/serviceAccountName", "meshIdentity/namespace"];
    case.value_is_true("/proxy/tracing/enabled") && complete.iter().all(|field| set(&format!("/proxy/tracing/collector/{field}")))
}

/// Whether the values replace the proxy's security context.
pub fn context_is_replaced(case: &Reading) -> bool {
    case.value("/proxy/securityContext").as_object().is_some_and(|context| !context.is_empty())
}

const UID: &str = "config.linkerd.io/proxy-uid";
const GID: &str = "config.linkerd.io/proxy-gid";

/// Linkerd's user and group.
pub fn linkerd_ids(case: &Reading) -> (i64, i64) {
    let id = |key, pointer| inherit::annotated_int(case, key).or_else(|| case.value(pointer).as_i64()).unwrap_or_default();
    (id(UID, "/proxy/uid"), id(GID, "/proxy/gid"))
}

/// The user that the proxy runs as.
pub fn uid(case: &Reading) -> i64 {
    let good = |uid: &i64| (1..=HIGHEST_ID).contains(uid);
    let annotated = inherit::annotated_int(case, UID).filter(good);
    annotated.or_else(|| case.configured("/proxy/uid", |value| value.as_i64().filter(good))).unwrap_or_default()
}

/// The group that the proxy runs as, negative for none.
pub fn gid(case: &Reading) -> i64 {
    let good = |gid: &i64| *gid <= HIGHEST_ID;
    let annotated = inherit::annotated_int(case, GID).filter(good);
    annotated.or_else(|| case.configured("/proxy/gid", |value| value.as_i64().filter(good))).unwrap_or_default()
}

/// D13: a user that the kubelet starts a container for.
pub fn d13_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let shows = !context_is_replaced(case) || !case.value_is_true("/cniEnabled");
    decide::injects(case) && shows && linkerd_ids(case).0 != uid(case)
}

/// Sets the user of the proxy and what linkerd-init is told of it.
pub fn d13_apply(case: &Reading, expected: &mut Expected) {
    let uid = uid(case);
    set_arg(&mut expected.object, "--proxy-uid", Some(&uid.to_string()), &[]);
    if let Some(proxy) = object::container(&mut expected.object, PROXY).filter(|_| !context_is_replaced(case)) {
        object::put(proxy, &["securityContext", "runAsUser"], uid);
    }
}

fn gid_differs(case: &Reading) -> bool {
    let shows = !context_is_replaced(case) || !case.value_is_true("/cniEnabled");
    shows && linkerd_ids(case).1.max(-1) != gid(case).max(-1)
}

fn cores_differ(case: &Reading, before: Good, after: Good) -> bool {
    fixed_cores(case).is_none() && workers(case, before) != workers(case, after)
}

/// D26, on resources and the group.
pub fn d26_applies(case: &Reading) -> bool {
    gid_differs(case) || cores_differ(case, any, not_negative) || linkerd_texts(case) != own_texts(case, not_negative)
}

/// D31: a quantity with a vast exponent is ignored.
pub fn d31_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let texts = own_texts(case, not_negative) != own_texts(case, not_vast);
    decide::injects(case) && (texts || cores_differ(case, not_negative, not_vast))
}

/// Sets resources and workers.
pub fn d31_apply(case: &Reading, expected: &mut Expected) {
    set_resources(case, &mut expected.object, not_vast);
    if fixed_cores(case).is_none() {
        set_cores(case, &mut expected.object);
    }
}

/// The quantities that are written where the pod as a whole says nothing, by side and kind.
pub fn written(case: &Reading) -> Texts {
    own_texts(case, not_vast)
}

fn set_resources(case: &Reading, object: &mut Value, good: Good) {
    put(case, object, &own_texts(case, good));
}

/// Writes quantities into the containers that have any.
pub fn put(case: &Reading, object: &mut Value, texts: &Texts) {
    for name in [PROXY, INIT, VALIDATOR] {
        let is_ours = name != VALIDATOR || case.value_is_true("/cniEnabled");
        if let Some(container) = object::container(object, name).filter(|_| is_ours) {
            object::put(container, &["resources"], texts.clone());
        }
    }
}

/// Sets the resources of the containers that have any, the workers, and the group.
pub fn d26_apply(case: &Reading, object: &mut Value) {
    if linkerd_texts(case) != own_texts(case, not_negative) {
        set_resources(case, object, not_negative);
    }
    if cores_differ(case, any, not_negative) {
        set_cores(case, object);
    }
    if gid_differs(case) {
        let gid = gid(case);
        let text = gid.to_string();
        set_arg(object, "--proxy-gid", Some(text.as_str()).filter(|_| gid >= 0), &["--inbound-ports-to-ignore"]);
        if let Some(proxy) = object::container(object, PROXY).filter(|_| !context_is_replaced(case)) {
            object::put(proxy, &["securityContext", "runAsGroup"], Some(gid).filter(|gid| *gid >= 0));
        }
    }
}
