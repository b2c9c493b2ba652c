//! The proxy.
//!
//! Source: `charts/partials/templates/_proxy.tpl` of linkerd/linkerd2.

use super::{capabilities, container, dropped_by_app, hardened, json, resources::resources, volume, with_security_context};
use crate::values::{self, Values};
use crate::workload::Workload;
use k8s_openapi::api::core::v1::{
    Container, ContainerPort, ExecAction, HTTPGetAction, Lifecycle, LifecycleHandler, Probe, SecurityContext,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value;

/// Renders the proxy without its environment.
pub(super) fn container(values: &Values, pod: &Workload<'_>) -> Value {
    let proxy = &values.proxy;
    let mut mounts = volume::proxy_mounts(values);
    mounts.extend(volume::token_mount(pod));
    let rendered = json(Container {
        name: container::PROXY.to_owned(),
        image: Some(proxy.image.reference(&values.linkerd_version)),
        image_pull_policy: Some(proxy.image.pull_policy(&values.image_pull_policy).to_owned()),
        liveness_probe: Some(lasting_probe(values, "/live", proxy.liveness_probe)),
        readiness_probe: Some(lasting_probe(values, "/ready", proxy.readiness_probe)),
        startup_probe: (proxy.native_sidecar && proxy.await_ready).then(|| startup_probe(values)),
        ports: Some(vec![port("linkerd-proxy", proxy.ports.inbound), port("linkerd-admin", proxy.ports.admin)]),
        resources: resources(&proxy.resources),
        security_context: Some(security_context(values, pod)),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        lifecycle: lifecycle(values),
        volume_mounts: Some(mounts),
        restart_policy: proxy.native_sidecar.then(|| "Always".to_owned()),
        ..Container::default()
    });
    with_security_context(rendered, &proxy.security_context)
}

fn port(name: &str, number: u16) -> ContainerPort {
    ContainerPort { name: Some(name.to_owned()), container_port: number.into(), ..ContainerPort::default() }
}

/// A probe of the admin server, without its timings.
fn probe(values: &Values, path: &str) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::Int(values.proxy.ports.admin.into()),
            ..HTTPGetAction::default()
        }),
        ..Probe::default()
    }
}

/// A probe that runs as long as the proxy does.
fn lasting_probe(values: &Values, path: &str, times: values::Probe) -> Probe {
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
fn security_context(values: &Values, pod: &Workload<'_>) -> SecurityContext {
    let given = match dropped_by_app(pod) {
        Some(drop) => values::Capabilities { add: Vec::new(), drop },
        None => values.proxy.capabilities.clone().unwrap_or_default(),
    };
    let mut drop = given.drop;
    if !drop.iter().any(|name| name == "ALL") {
        drop.push("ALL".to_owned());
    }
    SecurityContext {
        capabilities: capabilities(given.add, drop),
        run_as_non_root: Some(true),
        run_as_user: Some(values.proxy.uid),
        run_as_group: values.proxy.gid,
        ..hardened()
    }
}

/// Only a proxy that is no native sidecar needs hooks: to be ready before the others start, and to outlive them.
fn lifecycle(values: &Values) -> Option<Lifecycle> {
    let proxy = &values.proxy;
    let run = |command: &[&str]| {
        let command = Some(command.iter().map(|c| (*c).to_owned()).collect());
        LifecycleHandler { exec: Some(ExecAction { command }), ..LifecycleHandler::default() }
    };
    let await_ready = || run(&["/usr/lib/linkerd/linkerd-await", "--timeout=2m", &format!("--port={}", proxy.ports.admin)]);
    let wait = || run(&["/bin/sleep", &proxy.wait_before_exit_seconds.to_string()]);
    let hooks = Lifecycle {
        post_start: proxy.await_ready.then(await_ready),
        pre_stop: (proxy.wait_before_exit_seconds != 0).then(wait),
        ..Lifecycle::default()
    };
    (!proxy.native_sidecar && hooks != Lifecycle::default()).then_some(hooks)
}
