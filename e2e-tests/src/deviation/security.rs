//! Capabilities that the application's first container adds and drops (D14, D15, D29), and a validator without a
//! security context (D21).

use super::object::{self, INIT, PROXY};
use super::reading::{LinkerdResult, Reading};
use super::resources::context_is_replaced;
use super::{Expected, decide};
use serde_json::Value;

/// The capabilities that Linkerd mirrors: the first container's, or those of the values.
struct Mirrored<'a> {
    from_app: bool,
    add: Vec<&'a str>,
    drop: Vec<&'a str>,
}

fn mirrored(case: &Reading) -> Option<Mirrored<'_>> {
    let app = case.spec_list("containers").next().and_then(|first| first.get("securityContext")?.get("capabilities"));
    let app = app.filter(|capabilities| capabilities.is_object());
    let capabilities = app.or_else(|| Some(case.value("/proxy/capabilities")).filter(|values| values.is_object()))?;
    let list =
        |key: &str| capabilities.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    Some(Mirrored { from_app: app.is_some(), add: list("add"), drop: list("drop") })
}

fn has_init(case: &Reading) -> bool {
    !case.value_is_true("/cniEnabled")
}

/// D14: what the application may do is nothing that its sidecar needs.
pub fn d14_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let adds = mirrored(case).is_some_and(|mirrored| mirrored.from_app && !mirrored.add.is_empty());
    decide::injects(case) && adds && (!context_is_replaced(case) || has_init(case))
}

/// Takes the added capabilities away.
pub fn d14_apply(case: &Reading, expected: &mut Expected) {
    if let Some(proxy) = object::container(&mut expected.object, PROXY).filter(|_| !context_is_replaced(case)) {
        object::put(proxy, &["securityContext", "capabilities", "add"], Value::Null);
    }
    if let Some(init) = object::container(&mut expected.object, INIT) {
        object::put(init, &["securityContext", "capabilities", "add"], ["NET_ADMIN", "NET_RAW"].as_slice());
    }
}

/// D15: the proxy needs no capability at all.
pub fn d15_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let drops_all = mirrored(case).is_some_and(|mirrored| mirrored.drop.contains(&"ALL"));
    decide::injects(case) && !context_is_replaced(case) && !drops_all
}

/// Adds `ALL` to what the proxy drops.
pub fn d15_apply(case: &Reading, expected: &mut Expected) {
    let mut drop = mirrored(case).map(|mirrored| mirrored.drop).unwrap_or_default();
    drop.push("ALL");
    if let Some(proxy) = object::container(&mut expected.object, PROXY) {
        object::put(proxy, &["securityContext", "capabilities", "drop"], drop);
    }
}

/// Whether the name is one of those that iptables needs, however it is spelt.
fn is_needed(name: &str) -> bool {
    let name = name.to_uppercase();
    matches!(name.strip_prefix("CAP_").unwrap_or(&name), "NET_ADMIN" | "NET_RAW")
}

/// D29: linkerd-init keeps what it needs.
pub fn d29_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let respelt = |name: &&str| is_needed(name) && !matches!(*name, "NET_ADMIN" | "NET_RAW");
    decide::injects(case) && has_init(case) && mirrored(case).is_some_and(|mirrored| mirrored.drop.iter().any(respelt))
}

/// Drops the others.
pub fn d29_apply(case: &Reading, expected: &mut Expected) {
    let drop = mirrored(case).map(|mirrored| mirrored.drop).unwrap_or_default();
    let drop: Vec<&str> = drop.into_iter().filter(|name| !is_needed(name)).collect();
    if let Some(init) = object::container(&mut expected.object, INIT) {
        object::put(init, &["securityContext", "capabilities", "drop"], drop);
    }
}
