//! The values that a case's overrides are laid over.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static CHART_DEFAULTS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../conformance/chart-defaults.json")).unwrap_or_default());

/// The control-plane chart's default values that Linkerd's results were computed from.
#[must_use]
pub fn chart_defaults() -> &'static Map<String, Value> {
    &CHART_DEFAULTS
}

/// Lays `over` onto `base`: objects merge, anything else replaces.
pub fn deep_merge(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => deep_merge(below, above),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// The values in a cluster's `linkerd-config`: the defaults with `overrides`, and the trust domain, which the chart sets
/// to the cluster domain where it is empty.
#[must_use]
pub fn config_values(overrides: &Map<String, Value>) -> Value {
    let mut values = chart_defaults().clone();
    deep_merge(&mut values, overrides);
    let empty = |value: Option<&Value>| value.is_none_or(|value| value.is_null() || value == "");
    if empty(values.get("identityTrustDomain"))
        && let Some(domain) = values.get("clusterDomain").cloned()
    {
        values.insert("identityTrustDomain".to_owned(), domain);
    }
    Value::Object(values)
}
