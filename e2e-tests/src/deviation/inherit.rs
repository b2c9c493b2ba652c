//! What a pod takes from its namespace beyond Linkerd's list (D04), and which native-sidecar key counts (D05).

use super::object::{self, DEBUG, INIT, PROXY, VALIDATOR, put, set_arg, set_env, set_metadata};
use super::read::{go_bool, go_duration, go_int};
use super::reading::{LinkerdResult, NOT_INHERITED, Reading};
use super::{Expected, decide, images, resources};
use serde_json::{Value, json};

const STABLE: &str = "config.linkerd.io/proxy-enable-native-sidecar";
const BETA: &str = "config.beta.linkerd.io/proxy-enable-native-sidecar";
const ALPHA: &str = "config.alpha.linkerd.io/proxy-enable-native-sidecar";
const GATEWAY: &str = "config.linkerd.io/enable-gateway";
const CLOSE_WAIT: &str = "config.linkerd.io/close-wait-timeout";
const WAIT: &str = "config.alpha.linkerd.io/proxy-wait-before-exit-seconds";

/// The first key that is there decides, and a bad value of it leaves what is configured.
fn decided<'a>(case: &Reading, mut texts: impl Iterator<Item = Option<&'a str>>) -> bool {
    let first = texts.find_map(|text| text).and_then(go_bool);
    first.unwrap_or_else(|| case.value_is_true("/proxy/nativeSidecar"))
}

/// Whether Linkerd runs it so.
pub fn linkerd_native(case: &Reading) -> bool {
    decided(case, [STABLE, BETA, ALPHA].map(|key| case.linkerd_text(key)).into_iter())
}

fn native_with_d04(case: &Reading) -> bool {
    decided(case, [STABLE, BETA, ALPHA].map(|key| case.text(key)).into_iter())
}

/// Whether the proxy is an init container that keeps running.
pub fn native(case: &Reading) -> bool {
    let own = [STABLE, BETA, ALPHA].map(|key| case.own(key));
    decided(case, own.into_iter().chain([STABLE, BETA, ALPHA].map(|key| case.of_namespace(key))))
}

/// Whether the application waits for the proxy.
pub fn awaits(case: &Reading) -> bool {
    match case.text("config.linkerd.io/proxy-await") {
        Some("enabled") => true,
        Some("disabled") => false,
        _ => case.value_is_true("/proxy/await"),
    }
}

/// For how many seconds the proxy waits before it exits.
pub fn wait_before_exit(case: &Reading) -> u64 {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = case.text(WAIT).filter(|text| digits(text)).and_then(|text| text.parse().ok());
    text.or_else(|| case.value("/proxy/waitBeforeExitSeconds").as_u64()).unwrap_or_default()
}

/// Whether the pod gets the debug container.
pub fn debugs(case: &Reading) -> bool {
    case.text("config.linkerd.io/enable-debug-sidecar").and_then(go_bool) == Some(true)
}

/// Rewrites the pod from one way of running the proxy to the other, as `_proxy.tpl` and `patch.json` have it.
fn set_native(case: &Reading, object: &mut Value, native: bool) {
    let Some(mut proxy) = object::take(object, PROXY) else { return };
    let (awaits, wait) = (awaits(case), wait_before_exit(case));
    let ready = proxy.pointer("/readinessProbe/httpGet").cloned().unwrap_or_default();
    for key in ["startupProbe", "lifecycle", "restartPolicy"] {
        put(&mut proxy, &[key], Value::Null);
    }
    if native {
        put(&mut proxy, &["restartPolicy"], "Always");
    }
    if native && awaits {
        put(&mut proxy, &["startupProbe"], case.value("/proxy/startupProbe").clone());
        put(&mut proxy, &["startupProbe", "httpGet"], ready.clone());
    }
    if !native && awaits {
        let port = format!("--port={}", ready.get("port").unwrap_or(&Value::Null));
        let command = json!(["/usr/lib/linkerd/linkerd-await", "--timeout=2m", port]);
        put(&mut proxy, &["lifecycle", "postStart", "exec", "command"], command);
    }
    if !native && wait != 0 {
        put(&mut proxy, &["lifecycle", "preStop", "exec", "command"], json!(["/bin/sleep", wait.to_string()]));
    }
    let first = if case.value_is_true("/cniEnabled") { VALIDATOR } else { INIT };
    if let Some(first) = object::take(object, first) {
        object::insert(object, "initContainers", native.then_some(0), first);
    }
    match (native, awaits) {
        (true, _) => object::insert(object, "initContainers", Some(1), proxy),
        (false, true) => object::insert(object, "containers", Some(0), proxy),
        (false, false) => object::insert(object, "containers", None, proxy),
    }
}

/// The keys that the pod gets from its namespace with us only.
fn inherited(case: &Reading) -> impl Iterator<Item = (&'static str, &str)> {
    let missing = NOT_INHERITED.iter().filter(|key| case.own(key).is_none());
    missing.filter_map(|key| Some((*key, case.of_namespace(key)?)))
}

/// D04: every key that works on a pod is inherited.
pub fn d04_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && inherited(case).next().is_some()
}

/// Copies the annotations and gives them the effect that they have on a pod.
pub fn d04_apply(case: &Reading, expected: &mut Expected) {
    let object = &mut expected.object;
    for (key, text) in inherited(case) {
        set_metadata(object, "annotations", key, text);
        match key {
            GATEWAY if go_bool(text).is_some() => {
                let suffix = format!("svc.{}.", case.value_text("/clusterDomain"));
                let suffix = Some(suffix.as_str()).filter(|_| go_bool(text) == Some(true));
                set_env(object, "LINKERD2_PROXY_INBOUND_GATEWAY_SUFFIXES", suffix, &["LINKERD2_PROXY_INBOUND_PORTS"]);
            }
            CLOSE_WAIT => set_close_wait(case, object),
            resources::RATIO => resources::set_cores(case, object),
            _ if key.contains("debug-image") => images::set_debug(case, object),
            _ => {}
        }
    }
    if native_with_d04(case) != linkerd_native(case) {
        set_native(case, object, native_with_d04(case));
    }
}

/// D05: the pod's own keys come first.
pub fn d05_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && native(case) != native_with_d04(case)
}

/// Runs the proxy the other way.
pub fn d05_apply(case: &Reading, expected: &mut Expected) {
    set_native(case, &mut expected.object, native(case));
}

/// The seconds of the annotation, where it is a duration and the container may set it.
fn annotated_close_wait(case: &Reading, text: Option<&str>) -> Option<i64> {
    let nanoseconds = text.and_then(go_duration)?;
    let seconds = nanoseconds.checked_div(1_000_000_000).and_then(|seconds| i64::try_from(seconds).ok())?;
    case.value_is_true("/proxyInit/runAsRoot").then_some(seconds)
}

fn configured_close_wait(case: &Reading) -> Option<i64> {
    case.value("/proxyInit/closeWaitTimeoutSecs").as_i64().filter(|_| case.value_is_true("/proxyInit/runAsRoot"))
}

/// The timeout of connections that wait to be closed, in seconds, zero for none: what every kernel takes.
fn close_wait(case: &Reading) -> i64 {
    let is_taken = |seconds: &i64| (0..=2_147_483).contains(seconds);
    let annotated = annotated_close_wait(case, case.text(CLOSE_WAIT)).filter(is_taken);
    annotated.or(configured_close_wait(case).filter(is_taken)).unwrap_or_default()
}

/// Linkerd's, which may be anything.
pub fn linkerd_close_wait(case: &Reading) -> i64 {
    annotated_close_wait(case, case.own(CLOSE_WAIT)).or(configured_close_wait(case)).unwrap_or_default()
}

/// Whether Linkerd's is none that a kernel takes, and D04 brings no other.
pub fn close_wait_is_bad(case: &Reading) -> bool {
    let is_inherited = case.own(CLOSE_WAIT).is_none() && case.of_namespace(CLOSE_WAIT).is_some();
    !case.value_is_true("/cniEnabled") && !is_inherited && linkerd_close_wait(case) != close_wait(case)
}

/// Sets the argument and the privileges that it takes.
pub fn set_close_wait(case: &Reading, object: &mut Value) {
    let seconds = close_wait(case);
    let text = seconds.to_string();
    let later = ["--log-format", "--log-level", "--subnets-to-ignore"];
    set_arg(object, "--timeout-close-wait-secs", Some(text.as_str()).filter(|_| seconds != 0), &later);
    if let Some(init) = object::container(object, INIT) {
        let privileged = seconds != 0 || case.value_is_true("/proxyInit/privileged");
        put(init, &["securityContext", "privileged"], privileged);
        put(init, &["securityContext", "allowPrivilegeEscalation"], privileged);
    }
}

/// The names of what only sometimes is in the pod: the leftovers of an earlier injection take their place (D19).
fn leftover_names(case: &Reading) -> impl Iterator<Item = &'static str> {
    let validator = case.value_is_true("/cniEnabled").then_some(VALIDATOR);
    validator.into_iter().chain(debugs(case).then_some(DEBUG))
}

fn volume_names(case: &Reading) -> impl Iterator<Item = &'static str> {
    [
        Some("linkerd-proxy-init-xtables-lock").filter(|_| !case.value_is_true("/cniEnabled")),
        Some("linkerd-identity-end-entity"),
        Some("linkerd-podinfo").filter(|_| resources::traces(case)),
        Some("linkerd-identity-token").filter(|_| case.value_is_true("/identity/serviceAccountTokenProjection")),
    ]
    .into_iter()
    .flatten()
}

/// D19: what an earlier injection left is not there twice.
pub fn d19_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let has = |element: &Value, name: &str| object::is_named(element, name);
    let volume = |name: &str| case.spec_list("volumes").any(|volume| has(volume, name));
    let container = |name: &str| case.containers().any(|container| has(container, name));
    decide::injects(case) && (volume_names(case).any(volume) || leftover_names(case).any(container))
}

/// Puts our volumes where the old ones were and takes the old containers away.
pub fn d19_apply(case: &Reading, expected: &mut Expected) {
    let object = &mut expected.object;
    if let Some(volumes) = object::list_of(object, "volumes") {
        for name in volume_names(case) {
            let (Some(first), Some(last)) = (
                volumes.iter().position(|volume| object::is_named(volume, name)),
                volumes.iter().rposition(|volume| object::is_named(volume, name)),
            ) else {
                continue;
            };
            let ours = volumes.remove(last);
            if first == last {
                volumes.insert(last, ours);
                continue;
            }
            volumes.retain(|volume| !object::is_named(volume, name));
            volumes.insert(first.min(volumes.len()), ours);
        }
    }
    for name in leftover_names(case) {
        let home = if name == VALIDATOR { "initContainers" } else { "containers" };
        let at_front = name == VALIDATOR && linkerd_native(case);
        for list in object::LISTS {
            let Some(containers) = object::list_of(object, list) else { continue };
            let mut of_name =
                containers.iter().enumerate().filter(|(_, container)| object::is_named(container, name)).map(|(at, _)| at);
            let kept = if at_front { of_name.next() } else { of_name.next_back() }.filter(|_| list == home);
            let mut at = 0_usize;
            containers.retain(|container| {
                let keep = !object::is_named(container, name) || Some(at) == kept;
                at = at.saturating_add(1);
                keep
            });
        }
    }
}

/// The number of an annotation that holds a whole number of 64 bits.
pub fn annotated_int(case: &Reading, key: &str) -> Option<i64> {
    case.text(key).and_then(|text| go_int(text, 64))
}
