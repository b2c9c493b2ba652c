//! Faults that make Linkerd deny the pod (D11): the case without them is asked for what it would have been.

use super::object::set_metadata;
use super::read::{go_duration, go_parse_float, networks};
use super::reading::{LinkerdResult, Outcome, Reading};
use super::{Expected, decide, resources};
use serde_json::{Value, json};

const LOG_HEADERS: &str = "config.linkerd.io/proxy-log-http-headers";
const CLOSE_WAIT: &str = "config.linkerd.io/close-wait-timeout";
const MODE: &str = "/proxyInit/iptablesMode";
const HEADERS: &str = "/proxy/logHTTPHeaders";
const SECONDS: &str = "/proxyInit/closeWaitTimeoutSecs";

fn headers_are_good(text: &str) -> bool {
    matches!(text, "insecure" | "off" | "")
}

fn mode_is_good(text: &str) -> bool {
    matches!(text, "nft" | "legacy")
}

/// Whether D11 has to do with the text of an annotation.
pub fn replaces(key: &str, text: &str) -> bool {
    key == LOG_HEADERS && !headers_are_good(text)
}

/// D11: a typo costs no pod its start.
pub fn d11_applies(case: &Reading, linkerd: &LinkerdResult) -> bool {
    decide::injects(case) && linkerd.outcome == Outcome::Error && without_faults(case).is_some()
}

/// The same case without the faults.
pub fn d11_twin(case: &Reading, _: &LinkerdResult) -> Option<Reading> {
    without_faults(case)
}

fn without_faults(case: &Reading) -> Option<Reading> {
    let mut twin = case.clone();
    let mut found = false;
    let mut set = |twin: &mut Reading, pointer: &str, value: Value| {
        twin.set_value(pointer, value);
        found = true;
    };
    if !headers_are_good(case.value_text(HEADERS)) {
        set(&mut twin, HEADERS, json!("off"));
    }
    if !mode_is_good(case.value_text(MODE)) {
        set(&mut twin, MODE, json!("nft"));
    }
    if !networks(case.value_text("/clusterNetworks")) {
        set(&mut twin, "/clusterNetworks", json!(case.configured_text("/clusterNetworks", networks)));
    }
    let is_root = case.value_is_true("/proxyInit/runAsRoot");
    if !is_root && case.value(SECONDS).as_i64() != Some(0) {
        set(&mut twin, SECONDS, json!(0));
    }
    if case.value_is_true("/proxy/tracing/enabled") && !resources::traces(case) {
        set(&mut twin, "/proxy/tracing/enabled", json!(false));
    }
    if case.value("/proxy/resources").is_null() {
        set(&mut twin, "/proxy/resources", json!({}));
    }
    let mut replace = |twin: &mut Reading, key: &str, text: &str| {
        twin.replace_annotation(key, text);
        found = true;
    };
    if case.linkerd_text(LOG_HEADERS).is_some_and(|text| !headers_are_good(text)) {
        replace(&mut twin, LOG_HEADERS, &case.configured_text(HEADERS, headers_are_good));
    }
    if !is_root && case.own(CLOSE_WAIT).and_then(go_duration).is_some_and(|time| time != 0) {
        replace(&mut twin, CLOSE_WAIT, "0s");
    }
    if case.own(resources::RATIO).and_then(go_parse_float).is_some_and(f64::is_nan) {
        replace(&mut twin, resources::RATIO, "0");
    }
    found.then_some(twin)
}

/// Gives the annotations their texts back.
pub fn d11_apply(case: &Reading, expected: &mut Expected) {
    if expected.outcome == Outcome::Injected {
        for key in [LOG_HEADERS, CLOSE_WAIT, resources::RATIO] {
            if let Some(text) = case.linkerd_text(key) {
                set_metadata(&mut expected.object, "annotations", key, text);
            }
        }
    }
}
