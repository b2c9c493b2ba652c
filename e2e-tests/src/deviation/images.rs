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
        format!("{}:{}", pick(case, self.name, image_name), self.version(case))
    }

    fn policy(&self, case: &Reading) -> String {
        or_default(pick(case, self.policy, is_policy), case, "/imagePullPolicy", is_policy)
    }

    /// Linkerd's reference, or what its YAML makes of it.
    fn written_reference(&self, case: &Reading) -> String {
        plain_scalar(&format!("{}:{}", written(case, self.name), self.written_version(case)))
    }

    fn written_version(&self, case: &Reading) -> String {
        let version = written(case, self.version);
        if version.is_empty() { case.value_text("/linkerdVersion").to_owned() } else { version.to_owned() }
    }

    fn written_policy(&self, case: &Reading) -> String {
        let policy = written(case, self.policy);
        plain_scalar(if policy.is_empty() { case.value_text("/imagePullPolicy") } else { policy })
    }

    fn version(&self, case: &Reading) -> String {
        or_default(pick(case, self.version, is_version), case, "/linkerdVersion", image_tag)
    }

    fn image_is_bad(&self, case: &Reading) -> bool {
        self.written_reference(case) != self.reference(case)
    }

    fn policy_is_bad(&self, case: &Reading) -> bool {
        self.written_policy(case) != self.policy(case)
    }
}

/// The text of an annotation or value as it stands.
fn written<'a>(case: &'a Reading, (key, pointer): (&str, &str)) -> &'a str {
    case.text(key).unwrap_or_else(|| case.value_text(pointer))
}

/// What YAML reads of a text without quotes: no blanks at its ends, no comment.
fn plain_scalar(text: &str) -> String {
    text.split(" #").next().unwrap_or_default().trim().to_owned()
}

/// Linkerd's own containers that run the proxy's image.
fn of_proxy(case: &Reading) -> [&'static str; 2] {
    [PROXY, if case.value_is_true("/cniEnabled") { VALIDATOR } else { INIT }]
}

/// Rewrites the debug container's image and policy from the texts as they stand (D04).
pub fn set_debug(case: &Reading, object: &mut Value) {
    if inherit::debugs(case) {
        set(object, DEBUG, "image", &OF_DEBUG.written_reference(case));
        set(object, DEBUG, "imagePullPolicy", &OF_DEBUG.written_policy(case));
    }
}

/// Rewrites the images and policies of Linkerd's own containers from the texts as they stand (D01).
pub fn set_written(case: &Reading, object: &mut Value) {
    for name in of_proxy(case) {
        set(object, name, "image", &OF_PROXY.written_reference(case));
        set(object, name, "imagePullPolicy", &OF_PROXY.written_policy(case));
    }
    let is_inherited =
        [OF_DEBUG.name, OF_DEBUG.version, OF_DEBUG.policy].iter().any(|(key, _)| case.linkerd_text(key) != case.text(key));
    if !is_inherited {
        set_debug(case, object);
    }
}

/// D30: a reference that cannot be read is not written.
pub fn d30_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let of_proxy = OF_PROXY.image_is_bad(case) || OF_PROXY.written_version(case) != OF_PROXY.version(case);
    decide::injects(case) && (of_proxy || (inherit::debugs(case) && OF_DEBUG.image_is_bad(case)))
}

/// Sets the images, and the version that the pod's annotation tells.
pub fn d30_apply(case: &Reading, expected: &mut Expected) {
    for name in of_proxy(case) {
        set(&mut expected.object, name, "image", &OF_PROXY.reference(case));
    }
    set_metadata(&mut expected.object, "annotations", "linkerd.io/proxy-version", &OF_PROXY.version(case));
    if inherit::debugs(case) {
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
