//! The proxy.
//!
//! Source: `charts/partials/templates/_proxy.tpl` of linkerd/linkerd2.

use super::api::{Container, Handler, Lifecycle, Probe, SecurityContext};
use super::{container, dropped_by_app, resources::resources, security_context_or, volume};
use crate::values::{self, Values};
use crate::workload::Workload;
use serde_json::Value;

/// Renders the proxy with its environment.
pub(super) fn container(values: &Values, pod: &Workload<'_>, env: Vec<Value>) -> Value {
    let proxy = &values.proxy;
    let mut mounts = volume::proxy_mounts(values);
    mounts.extend(volume::token_mount(pod));
    Container {
        name: container::PROXY,
        image: proxy.image.reference(&values.linkerd_version),
        image_pull_policy: proxy.image.pull_policy(&values.image_pull_policy).to_owned(),
        env,
        liveness_probe: Some(lasting_probe(values, "/live", proxy.liveness_probe)),
        readiness_probe: Some(lasting_probe(values, "/ready", proxy.readiness_probe)),
        startup_probe: (proxy.native_sidecar && proxy.await_ready).then(|| startup_probe(values)),
        ports: vec![("linkerd-proxy", proxy.ports.inbound), ("linkerd-admin", proxy.ports.admin)],
        resources: resources(&proxy.resources),
        security_context: security_context_or(&proxy.security_context, || security_context(values, pod)),
        termination_message_policy: Some("FallbackToLogsOnError"),
        lifecycle: lifecycle(values),
        volume_mounts: mounts,
        restart_policy: proxy.native_sidecar.then_some("Always"),
        ..Container::default()
    }
    .json()
}

/// A probe of the admin server, without its timings.
fn probe(values: &Values, path: &'static str) -> Probe {
    Probe::of(Handler::HttpGet { path, port: values.proxy.ports.admin })
}

/// A probe that runs as long as the proxy does.
fn lasting_probe(values: &Values, path: &'static str, times: values::Probe) -> Probe {
    Probe {
        initial_delay_seconds: Some(times.initial_delay_seconds),
        timeout_seconds: Some(times.timeout_seconds),
        ..probe(values, path)
    }
}

/// The probe for which a native sidecar's followers wait.
fn startup_probe(values: &Values) -> Probe {
    let times = values.proxy.startup_probe;
    Probe {
        initial_delay_seconds: Some(times.initial_delay_seconds),
        period_seconds: Some(times.period_seconds),
        failure_threshold: Some(times.failure_threshold),
        ..probe(values, "/ready")
    }
}

/// What the restricted pod security level asks for: all capabilities dropped, also where the application drops none (D15).
fn security_context(values: &Values, pod: &Workload<'_>) -> Value {
    let given = match dropped_by_app(pod) {
        Some(drop) => values::Capabilities { add: Vec::new(), drop },
        None => values.proxy.capabilities.clone().unwrap_or_default(),
    };
    let mut drop = given.drop;
    if !drop.iter().any(|name| name == "ALL") {
        drop.push("ALL".to_owned());
    }
    SecurityContext {
        add_capabilities: given.add,
        drop_capabilities: drop,
        run_as_non_root: true,
        run_as_user: values.proxy.uid,
        run_as_group: values.proxy.gid,
        ..SecurityContext::default()
    }
    .json()
}

/// Only a proxy that is no native sidecar needs hooks: to be ready before the others start, and to outlive them.
fn lifecycle(values: &Values) -> Lifecycle {
    let proxy = &values.proxy;
    let run = |command: &[&str]| Handler::Exec(command.iter().map(|c| (*c).to_owned()).collect());
    let await_ready = || run(&["/usr/lib/linkerd/linkerd-await", "--timeout=2m", &format!("--port={}", proxy.ports.admin)]);
    let wait = || run(&["/bin/sleep", &proxy.wait_before_exit_seconds.to_string()]);
    if proxy.native_sidecar {
        return Lifecycle::default();
    }
    Lifecycle { post_start: proxy.await_ready.then(await_ready), pre_stop: (proxy.wait_before_exit_seconds != 0).then(wait) }
}
