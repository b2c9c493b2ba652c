//! What in a pod does not go together with a proxy beside it.

use super::{Finding, Injection, Scene};
use crate::annotation as key;
use crate::parse::ports;
use crate::render::Place as ProxyPlace;
use crate::warning::Place;
use crate::workload::{Container, List, port_number};
use serde_json::Value;

fn protocol(port: &Value) -> &str {
    port.get("protocol").and_then(Value::as_str).filter(|p| !p.is_empty()).unwrap_or("TCP")
}

/// Containers that listen where the proxy does.
pub(super) fn ports_of_the_proxy(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let own = injection.values.proxy.ports;
    let names = [(own.inbound, "inbound"), (own.outbound, "outbound"), (own.admin, "admin"), (own.control, "control")];
    let mut findings = Vec::new();
    for container in scene.pod.containers() {
        for port in container.ports().iter().filter(|p| protocol(p) == "TCP").filter_map(|p| port_number(p.get("containerPort"))) {
            if let Some((_, name)) = names.iter().find(|(own, _)| *own == port) {
                findings.push(Finding::new(Place::Pod, &[&port.to_string(), container.name(), name]));
            }
        }
    }
    findings
}

/// Containers that run as the proxy's user or group, by which its own traffic is told.
pub(super) fn users_of_the_proxy(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let proxy = &injection.values.proxy;
    let mut findings = Vec::new();
    // One that ends before the proxy starts does well to send what it sends unseen.
    let beside_proxy = |container: &Container<'_>| injection.patch.place == ProxyPlace::Native || container.goes_on();
    let init = scene.pod.containers_of(List::Init).filter(beside_proxy);
    for container in scene.pod.containers_of(List::Main).chain(init) {
        for (field, what, own) in [("runAsUser", "user", Some(proxy.uid)), ("runAsGroup", "group", proxy.gid)] {
            let id = container.security(field).or_else(|| scene.pod.security(field)).and_then(Value::as_i64);
            if let (Some(id), Some(own)) = (id, own)
                && id == own
            {
                findings.push(Finding::new(Place::Pod, &[container.name(), what, &id.to_string()]));
            }
        }
    }
    findings
}

/// A pod that ends when its containers do, with a proxy that does not.
pub(super) fn proxy_outlives_job(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let ends = injection.patch.place == ProxyPlace::Native || injection.values.proxy.enable_shutdown_endpoint;
    let policy = scene.pod.spec("restartPolicy").and_then(Value::as_str).filter(|_| scene.pod.runs_once() && !ends);
    policy.map(|policy| Finding::new(Place::Pod, &[policy])).into_iter().collect()
}

/// A wait that is asked for and does not happen. What the mesh's values say is for all pods, native or not.
pub(super) fn wait_of_native_sidecar(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let waits = injection.patch.place == ProxyPlace::Native && injection.values.proxy.wait_before_exit_seconds > 0;
    let asked = injection.annotations.first(&[key::WAIT_BEFORE_EXIT]).filter(|_| waits);
    asked.map(|(place, _)| Finding::new(place, &[])).into_iter().collect()
}

/// A wait that is cut short.
pub(super) fn wait_beyond_grace(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let (wait, grace) = (injection.values.proxy.wait_before_exit_seconds, scene.pod.grace_period_seconds());
    let beyond = injection.patch.place != ProxyPlace::Native && wait > 0 && wait >= grace;
    beyond.then(|| Finding::new(Place::Pod, &[&wait.to_string(), &grace.to_string()])).into_iter().collect()
}

/// Probes that ask the proxy and mean the application.
pub(super) fn tcp_probes(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    let names = scene.pod.named_ports();
    let skipped = ports::list(&injection.values.proxy_init.ignore_inbound_ports, &|name| names.get(name).copied());
    let skipped = ports::PortSet::of(skipped.ranges);
    let is_redirected = |container: &Container<'_>, probe: &str| {
        let socket = container.field(probe).and_then(|p| p.get("tcpSocket"));
        // One that names a host need not come to the pod.
        let own = socket.filter(|socket| socket.get("host").and_then(Value::as_str).unwrap_or_default().is_empty());
        let port = own.and_then(|socket| socket.get("port"));
        let number = port_number(port).or_else(|| port_of_container(container, port?.as_str()?));
        number.is_some_and(|number| !skipped.contains(number))
    };
    // An init container has probes where it goes on running.
    let probed = scene.pod.containers_of(List::Main).chain(scene.pod.containers_of(List::Init));
    let mut findings = Vec::new();
    for container in probed {
        let probes = ["readinessProbe", "livenessProbe", "startupProbe"].into_iter().filter(|p| is_redirected(&container, p));
        let probes: Vec<&str> = probes.collect();
        if !probes.is_empty() {
            findings.push(Finding::new(Place::Pod, &[&probes.join(" and "), container.name()]));
        }
    }
    findings
}

/// The number of a port that the container names itself, or that is a number in quotes.
fn port_of_container(container: &Container<'_>, name: &str) -> Option<u16> {
    let named = container.ports().iter().find(|port| port.get("name").and_then(Value::as_str) == Some(name));
    port_number(named?.get("containerPort"))
}

/// Ports that the proxy cannot carry.
pub(super) fn other_protocols(scene: &Scene<'_>, _: &Injection<'_>) -> Vec<Finding> {
    let of = |wanted: &str| -> Vec<String> {
        // As many as a line has room for.
        const MOST: usize = 32;
        let mut numbers: Vec<String> = Vec::new();
        let ports = scene.pod.containers().flat_map(|c| c.ports()).filter(|p| protocol(p) == wanted);
        for number in ports.filter_map(|p| port_number(p.get("containerPort"))).map(|number| number.to_string()) {
            if numbers.len() < MOST && !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    };
    let listed = ["UDP", "SCTP"].map(|protocol| (protocol, of(protocol)));
    let used = listed.iter().filter(|(_, ports)| !ports.is_empty());
    used.map(|(protocol, ports)| Finding::new(Place::Pod, &[protocol, &ports.join(", ")])).collect()
}
