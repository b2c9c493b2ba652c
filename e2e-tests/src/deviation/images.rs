//! Images that a runtime can read (D30) and pull policies that the API server takes (D26).

use super::object::{self, DEBUG, INIT, PROXY, VALIDATOR, set_metadata};
use super::read::{image_name, image_tag};
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, inherit};
use serde_json::Value;

/// The annotations and the values that an image comes from.
struct Source {
    name: (&'static str, &'static str),
    version: (&'static str, &'static str),
    policy: (&'static str, &'static str),
}

const OF_PROXY: Source = Source {
    name: ("config.linkerd.io/proxy-image", "/proxy/image/name"),
    version: ("config.linkerd.io/proxy-version", "/proxy/image/version"),
    policy: ("config.linkerd.io/image-pull-policy", "/proxy/image/pullPolicy"),
};

const OF_DEBUG: Source = Source {
    name: ("config.linkerd.io/debug-image", "/debugContainer/image/name"),
    version: ("config.linkerd.io/debug-image-version", "/debugContainer/image/version"),
    policy: ("config.linkerd.io/debug-image-pull-policy", "/debugContainer/image/pullPolicy"),
};

fn is_version(text: &str) -> bool {
    text.is_empty() || image_tag(text)
}

fn is_policy(text: &str) -> bool {
    matches!(text, "" | "Always" | "IfNotPresent" | "Never")
}

/// The text of an annotation or value, the configured one where `good` refuses the annotation's.
fn pick(case: &Reading, (key, pointer): (&str, &str), good: impl Fn(&str) -> bool) -> String {
    case.text(key).filter(|text| good(text)).map_or_else(|| case.configured_text(pointer, &good), str::to_owned)
}

fn or_default(text: String, case: &Reading, pointer: &str, good: impl Fn(&str) -> bool) -> String {
    if text.is_empty() { case.configured_text(pointer, |text| !text.is_empty() && good(text)) } else { text }
}

impl Source {
    fn reference(&self, case: &Reading) -> String {
        let version = or_default(pick(case, self.version, is_version), case, "/linkerdVersion", image_tag);
        format!("{}:{version}", pick(case, self.name, image_name))
    }

    fn policy(&self, case: &Reading) -> String {
        or_default(pick(case, self.policy, is_policy), case, "/imagePullPolicy", is_policy)
    }

    fn image_is_bad(&self, case: &Reading) -> bool {
        let bad = |(key, pointer): (&str, &str), good: fn(&str) -> bool| {
            !good(case.text(key).unwrap_or_else(|| case.value_text(pointer)))
        };
        bad(self.name, image_name) || bad(self.version, is_version)
    }

    fn policy_is_bad(&self, case: &Reading) -> bool {
        !is_policy(case.text(self.policy.0).unwrap_or_else(|| case.value_text(self.policy.1)))
    }
}

/// Linkerd's own containers that run the proxy's image.
fn of_proxy(case: &Reading) -> [&'static str; 2] {
    [PROXY, if case.value_is_true("/cniEnabled") { VALIDATOR } else { INIT }]
}

/// Rewrites the debug container's image and policy from what `text` says about the annotations (D04).
pub fn set_debug<'a>(case: &'a Reading, object: &mut Value, text: impl Fn(&str) -> Option<&'a str>) {
    let of = |(key, pointer): (&'static str, &str)| text(key).unwrap_or_else(|| case.value_text(pointer)).to_owned();
    let non_empty = |text: String, pointer: &str| if text.is_empty() { case.value_text(pointer).to_owned() } else { text };
    let version = non_empty(of(OF_DEBUG.version), "/linkerdVersion");
    let image = format!("{}:{version}", of(OF_DEBUG.name));
    let policy = non_empty(of(OF_DEBUG.policy), "/imagePullPolicy");
    if let Some(container) = object::container(object, DEBUG).filter(|_| inherit::debugs(case)) {
        object::put(container, &["image"], image);
        object::put(container, &["imagePullPolicy"], policy);
    }
}

/// Rewrites the images and policies from the texts as they stand (D01).
pub fn set_written(case: &Reading, object: &mut Value) {
    let text = |(key, pointer): (&str, &str)| case.text(key).unwrap_or_else(|| case.value_text(pointer)).to_owned();
    let or = |text: String, pointer: &str| if text.is_empty() { case.value_text(pointer).to_owned() } else { text };
    for name in of_proxy(case) {
        set(object, name, "image", &format!("{}:{}", text(OF_PROXY.name), or(text(OF_PROXY.version), "/linkerdVersion")));
        set(object, name, "imagePullPolicy", &or(text(OF_PROXY.policy), "/imagePullPolicy"));
    }
    set_debug(case, object, |key| case.linkerd_text(key));
}

/// D30: a reference that cannot be read is not written.
pub fn d30_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && (OF_PROXY.image_is_bad(case) || (inherit::debugs(case) && OF_DEBUG.image_is_bad(case)))
}

/// Sets the images, and the version that the pod's annotation tells.
pub fn d30_apply(case: &Reading, expected: &mut Expected) {
    if OF_PROXY.image_is_bad(case) {
        let reference = OF_PROXY.reference(case);
        for name in of_proxy(case) {
            set(&mut expected.object, name, "image", &reference);
        }
        let version = or_default(pick(case, OF_PROXY.version, is_version), case, "/linkerdVersion", image_tag);
        set_metadata(&mut expected.object, "annotations", "linkerd.io/proxy-version", &version);
    }
    if inherit::debugs(case) && OF_DEBUG.image_is_bad(case) {
        set(&mut expected.object, DEBUG, "image", &OF_DEBUG.reference(case));
    }
}

fn set(object: &mut Value, name: &str, key: &str, text: &str) {
    if let Some(container) = object::container(object, name) {
        object::put(container, &[key], text);
    }
}

/// D26, on pull policies.
pub fn d26_applies(case: &Reading) -> bool {
    OF_PROXY.policy_is_bad(case) || (inherit::debugs(case) && OF_DEBUG.policy_is_bad(case))
}

/// Sets the pull policies.
pub fn d26_apply(case: &Reading, object: &mut Value) {
    if OF_PROXY.policy_is_bad(case) {
        for name in of_proxy(case) {
            set(object, name, "imagePullPolicy", &OF_PROXY.policy(case));
        }
    }
    if inherit::debugs(case) && OF_DEBUG.policy_is_bad(case) {
        set(object, DEBUG, "imagePullPolicy", &OF_DEBUG.policy(case));
    }
}
