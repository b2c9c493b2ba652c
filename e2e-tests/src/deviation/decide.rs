//! Whether a pod is meshed (D06, D18, D22), and requests that are none for an object (D24).

use super::object::{self, DEBUG, VALIDATOR};
use super::reading::{LinkerdResult, Outcome, Reading};
use super::{Expected, opaque};
use serde_json::Value;

const INJECT: &str = "linkerd.io/inject";
const TOKEN_MOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// An image that no one takes for a sidecar's.
const NEUTRAL_IMAGE: &str = "neutral.test/leftover:1";

/// Which of the deviations in the decision are in force.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Upto {
    Linkerd,
    D06,
    D18,
    D22,
}

/// Whether we add the proxy.
pub fn injects(case: &Reading) -> bool {
    !is_sub_resource(case) && decide(case, Upto::D22)
}

fn decide(case: &Reading, upto: Upto) -> bool {
    case.request.kind == "Pod"
        && asked_for(case, upto)
        && can_have(case)
        && !has_sidecar(case, upto)
        && !(upto == Upto::D22 && is_windows(case))
}

/// The truth table of `pkg/inject/report.go`.
fn asked_for(case: &Reading, upto: Upto) -> bool {
    let valid = |text: &str| matches!(text, "" | "enabled" | "disabled" | "ingress");
    let on = |text: &str| matches!(text, "enabled" | "ingress");
    let (namespace, pod) = (case.of_namespace(INJECT).unwrap_or_default(), case.own(INJECT).unwrap_or_default());
    if !valid(pod) || (!valid(namespace) && upto < Upto::D06) {
        return false;
    }
    on(pod) || (on(namespace) && pod != "disabled")
}

fn can_have(case: &Reading) -> bool {
    let spec = |key: &str| case.request.object.get("spec").and_then(|spec| spec.get(key)).and_then(Value::as_bool);
    let mounts = case.spec_list("containers").next().and_then(|first| first.get("volumeMounts")?.as_array());
    let token = mounts.into_iter().flatten().any(|mount| mount.get("mountPath").is_some_and(|path| path == TOKEN_MOUNT));
    let projected = case.value_is_true("/identity/serviceAccountTokenProjection");
    spec("hostNetwork") != Some(true) && (projected || (token && spec("automountServiceAccountToken") != Some(false)))
}

/// `pkg/healthcheck/sidecar.go`.
fn has_sidecar(case: &Reading, upto: Upto) -> bool {
    let sidecar = |container: &Value, is_init: bool| {
        let text = |key: &str| container.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, image) = (text("name"), text("image"));
        let by_name = matches!((name, is_init), ("linkerd-proxy" | "istio-proxy", _) | ("linkerd-init" | "istio-init", true))
            // Linkerd adds a second one of the name, and the API server refuses the pod.
            || (upto >= Upto::D18 && name == "linkerd-init");
        if upto >= Upto::D18 && is_leftover(name) {
            return by_name;
        }
        let any = ["cr.l5d.io/linkerd/proxy", "gcr.io/istio-release/proxyv2"].into_iter();
        let init = ["cr.l5d.io/linkerd/proxy-init", "gcr.io/istio-release/proxy_init"].into_iter().filter(|_| is_init);
        let own = Some(case.value_text("/proxy/image/name")).filter(|own| upto >= Upto::D18 && !own.is_empty());
        let by_image = any.chain(init).chain(own).filter_map(|prefix| image.strip_prefix(prefix));
        let mut rests = by_image.map(|rest| rest.starts_with(':') || (upto >= Upto::D18 && rest.starts_with('@')));
        by_name || rests.any(|hit| hit)
    };
    case.spec_list("initContainers").any(|container| sidecar(container, true))
        || case.spec_list("containers").any(|container| sidecar(container, false))
}

fn is_leftover(name: &str) -> bool {
    matches!(name, VALIDATOR | DEBUG)
}

fn name_is_leftover(container: &Value) -> bool {
    container.get("name").and_then(Value::as_str).is_some_and(is_leftover)
}

fn is_windows(case: &Reading) -> bool {
    let spec = case.request.object.get("spec");
    let at = |pointer: &str| spec.and_then(|spec| spec.pointer(pointer)).is_some_and(|os| os == "windows");
    at("/os/name") || at("/nodeSelector/kubernetes.io~1os") || at("/nodeSelector/beta.kubernetes.io~1os")
}

fn is_sub_resource(case: &Reading) -> bool {
    !case.request.sub_resource.is_empty()
}

/// What a pod gets that stays out of the mesh, as Linkerd decides it.
fn leave_out(case: &Reading, expected: &mut Expected) {
    expected.object = case.request.object.clone();
    expected.outcome = Outcome::Skipped;
    if case.own(opaque::KEY).is_none() {
        let text = case.of_namespace(opaque::KEY).map(str::to_owned).or_else(|| opaque::linkerd_default(case));
        expected.annotate_opaque_ports(text.as_deref());
    }
}

/// D06: the pod's own valid value decides.
pub fn d06_applies(case: &Reading, _: &LinkerdResult) -> bool {
    !is_sub_resource(case) && decide(case, Upto::D18) && !asked_for(case, Upto::Linkerd)
}

/// The same pod in a namespace that says nothing about injection.
pub fn d06_twin(case: &Reading, _: &LinkerdResult) -> Option<Reading> {
    let mut twin = case.clone();
    twin.namespace.annotations.remove(INJECT);
    Some(twin)
}

/// D18: digests and the configured image count; what we may have left behind does not.
pub fn d18_applies(case: &Reading, linkerd: &LinkerdResult) -> bool {
    let before = if asked_for(case, Upto::Linkerd) {
        decide(case, Upto::Linkerd)
    } else {
        d06_applies(case, linkerd) && decide(case, Upto::D06)
    };
    !is_sub_resource(case) && decide(case, Upto::D18) != before
}

/// Where Linkerd takes a leftover for a sidecar: the same pod with another image there.
pub fn d18_twin(case: &Reading, _: &LinkerdResult) -> Option<Reading> {
    let mut twin = decide(case, Upto::D18).then(|| case.clone())?;
    for list in object::LISTS {
        for container in object::elements(&mut twin.request.object, list).filter(|container| name_is_leftover(container)) {
            object::put(container, &["image"], NEUTRAL_IMAGE);
        }
    }
    Some(twin)
}

/// Leaves the pod out, or gives the leftovers their own images back.
pub fn d18_apply(case: &Reading, expected: &mut Expected) {
    if !decide(case, Upto::D18) {
        return leave_out(case, expected);
    }
    for list in object::LISTS {
        for own in case.spec_list(list).filter(|own| name_is_leftover(own)) {
            let same =
                |left: &Value| left.get("name") == own.get("name") && left.get("image").is_some_and(|image| image == NEUTRAL_IMAGE);
            for container in object::elements(&mut expected.object, list).filter(|left| same(left)) {
                container.clone_from(own);
            }
        }
    }
}

/// D22: nothing of ours runs on Windows.
pub fn d22_applies(case: &Reading, _: &LinkerdResult) -> bool {
    !is_sub_resource(case) && decide(case, Upto::D22) != decide(case, Upto::D18)
}

/// Leaves the pod out.
pub fn d22_apply(case: &Reading, expected: &mut Expected) {
    leave_out(case, expected);
}

/// Whether D18 or D22 has taken Linkerd's proxy away.
pub fn is_left_out(case: &Reading, linkerd: &LinkerdResult) -> bool {
    d22_applies(case, linkerd) || (d18_applies(case, linkerd) && !decide(case, Upto::D18))
}

/// D24: a request for a sub-resource is none for the object.
pub fn d24_applies(case: &Reading, linkerd: &LinkerdResult) -> bool {
    is_sub_resource(case) && linkerd.outcome != Outcome::Skipped
}

/// Leaves the object as it is.
pub fn d24_apply(case: &Reading, expected: &mut Expected) {
    expected.object = case.request.object.clone();
    expected.outcome = Outcome::Skipped;
}
