//! The proxy's own ports (D10), the pod's inbound ports (D03, D07), and the ports that iptables leaves alone (D08).

use super::object::{self, INIT, PROXY, set_arg, set_env};
use super::read::{go_int, go_ports, proxy_ports};
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const POD_INBOUND_PORTS: &str = "config.linkerd.io/pod-inbound-ports";
const INBOUND_PORTS: &str = "LINKERD2_PROXY_INBOUND_PORTS";

/// Control, inbound, outbound and admin port.
type Ports = [i64; 4];

const OWN: [(&str, &str); 4] = [
    ("config.linkerd.io/control-port", "/proxy/ports/control"),
    ("config.linkerd.io/inbound-port", "/proxy/ports/inbound"),
    ("config.linkerd.io/outbound-port", "/proxy/ports/outbound"),
    ("config.linkerd.io/admin-port", "/proxy/ports/admin"),
];

/// The numbers of the named ports, the last of a name counting, containers after init containers.
pub fn named(case: &Reading) -> BTreeMap<String, i64> {
    let ports = case.containers().filter_map(|container| container.get("ports")?.as_array()).flatten();
    let named = ports.filter_map(|port| Some((port.get("name")?.as_str()?.to_owned(), port.get("containerPort")?.as_i64()?)));
    named.filter(|(name, _)| !name.is_empty()).collect()
}

/// Linkerd takes any number of 32 bits.
fn linkerd_ports(case: &Reading) -> Ports {
    OWN.map(|(key, pointer)| {
        let text = case.linkerd_text(key).and_then(|text| go_int(text, 32));
        text.or_else(|| case.value(pointer).as_i64()).unwrap_or_default()
    })
}

/// Ports that exist, and no two alike: the annotations' over the values' over the chart's.
pub fn own_ports(case: &Reading) -> Ports {
    let is_port = |port: &i64| (1..=65_535).contains(port);
    let chart = OWN.map(|(_, pointer)| Reading::default_value(pointer).as_i64().unwrap_or_default());
    let values = OWN.map(|(_, pointer)| case.value(pointer).as_i64().filter(is_port));
    let annotations = OWN.map(|(key, _)| case.linkerd_text(key).and_then(|text| go_int(text, 64)).filter(is_port));
    settled(annotations, settled(values, chart))
}

/// The ports without those overrides that make two of them equal.
fn settled(mut overrides: [Option<i64>; 4], below: Ports) -> Ports {
    loop {
        let ports = with(overrides, below);
        let twice = |port: &i64| ports.iter().filter(|other| *other == port).count() > 1;
        if !overrides.iter().flatten().any(twice) {
            return ports;
        }
        overrides = overrides.map(|port| port.filter(|port| !twice(port)));
    }
}

fn with(overrides: [Option<i64>; 4], configured: Ports) -> Ports {
    let mut ports = overrides.iter().zip(configured).map(|(port, configured)| port.unwrap_or(configured));
    std::array::from_fn(|_| ports.next().unwrap_or_default())
}

/// D10: ports are 1 to 65535, and no two listeners share one.
pub fn d10_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && linkerd_ports(case) != own_ports(case)
}

/// Sets the ports wherever they stand.
pub fn d10_apply(case: &Reading, expected: &mut Expected) {
    let [control, inbound, outbound, admin] = own_ports(case);
    let ipv4_only = case.value_is_true("/disableIPv6");
    let any = if ipv4_only { "0.0.0.0" } else { "[::]" };
    let ipv6 = if ipv4_only { String::new() } else { format!(",[::1]:{outbound}") };
    let object = &mut expected.object;
    for (name, text) in [
        ("LINKERD2_PROXY_CONTROL_LISTEN_ADDR", format!("{any}:{control}")),
        ("LINKERD2_PROXY_ADMIN_LISTEN_ADDR", format!("{any}:{admin}")),
        ("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR", format!("127.0.0.1:{outbound}")),
        ("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", format!("127.0.0.1:{outbound}{ipv6}")),
        ("LINKERD2_PROXY_INBOUND_LISTEN_ADDR", format!("{any}:{inbound}")),
    ] {
        set_env(object, name, Some(&text), &[]);
    }
    set_arg(object, "--incoming-proxy-port", Some(&inbound.to_string()), &[]);
    set_arg(object, "--outgoing-proxy-port", Some(&outbound.to_string()), &[]);
    let skipped = linkerd_skip(case, INBOUND);
    set_arg(object, INBOUND.flag, Some(&linkerd_argument(case, INBOUND, skipped)), &[]);
    let Some(proxy) = object::container(object, PROXY) else { return };
    for port in proxy.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let number = if object::is_named(port, "linkerd-admin") { admin } else { inbound };
        object::put(port, &["containerPort"], number);
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(get) = proxy.get_mut(probe).and_then(|probe| probe.get_mut("httpGet")) {
            object::put(get, &["port"], admin);
        }
    }
    let command = proxy.pointer_mut("/lifecycle/postStart/exec/command").and_then(Value::as_array_mut);
    for word in command.into_iter().flatten().filter(|word| word.as_str().is_some_and(|word| word.starts_with("--port="))) {
        *word = json!(format!("--port={admin}"));
    }
}

/// What Linkerd tells the proxy: container ports and `httpGet` ports of two probes, in the order of their texts.
fn linkerd_inbound(case: &Reading) -> String {
    let ports: BTreeSet<String> =
        detected(case, |_| true, &["readinessProbe", "livenessProbe"], &["httpGet"]).map(|port| port.to_string()).collect();
    ports.into_iter().collect::<Vec<_>>().join(",")
}

/// The TCP ports that the pod listens on as far as it says so, in ascending order.
fn inbound(case: &Reading) -> String {
    let is_tcp =
        |port: &Value| port.get("protocol").is_none_or(|protocol| protocol.is_null() || protocol == "" || protocol == "TCP");
    let probes = ["readinessProbe", "livenessProbe", "startupProbe"];
    let ports: BTreeSet<i64> =
        detected(case, is_tcp, &probes, &["httpGet", "tcpSocket", "grpc"]).filter(|port| (1..=65_535).contains(port)).collect();
    ports.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

fn detected<'a>(
    case: &'a Reading,
    counts: impl Fn(&Value) -> bool + Copy + 'a,
    probes: &'a [&str],
    checks: &'a [&str],
) -> impl Iterator<Item = i64> + 'a {
    case.containers().flat_map(move |container| {
        let declared = container.get("ports").and_then(Value::as_array).into_iter().flatten();
        let declared =
            declared.filter(move |port| counts(port)).map(|port| port.get("containerPort").and_then(Value::as_i64).unwrap_or(0));
        let probed = probes.iter().filter_map(|probe| container.get(probe));
        declared.chain(probed.flat_map(|probe| checks.iter().filter_map(|check| probe.get(check)?.get("port")?.as_i64())))
    })
}

fn readable_inbound(case: &Reading) -> Option<&str> {
    case.text(POD_INBOUND_PORTS).filter(|text| proxy_ports(text))
}

/// D03: a list that the proxy can read replaces what was detected.
pub fn d03_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && readable_inbound(case).is_some_and(|text| text != linkerd_inbound(case))
}

/// Sets the variable to the annotation's text.
pub fn d03_apply(case: &Reading, expected: &mut Expected) {
    set_env(&mut expected.object, INBOUND_PORTS, readable_inbound(case), &[]);
}

/// D07: all TCP ports, in numeric order.
pub fn d07_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && readable_inbound(case).is_none() && inbound(case) != linkerd_inbound(case)
}

/// Sets the variable to the detected list.
pub fn d07_apply(case: &Reading, expected: &mut Expected) {
    set_env(&mut expected.object, INBOUND_PORTS, Some(&inbound(case)), &[]);
}

/// One of the two lists of ports that iptables leaves alone.
#[derive(Clone, Copy)]
struct Skip {
    key: &'static str,
    pointer: &'static str,
    flag: &'static str,
    is_inbound: bool,
}

const INBOUND: Skip = Skip {
    key: "config.linkerd.io/skip-inbound-ports",
    pointer: "/proxyInit/ignoreInboundPorts",
    flag: "--inbound-ports-to-ignore",
    is_inbound: true,
};

const OUTBOUND: Skip = Skip {
    key: "config.linkerd.io/skip-outbound-ports",
    pointer: "/proxyInit/ignoreOutboundPorts",
    flag: "--outbound-ports-to-ignore",
    is_inbound: false,
};

fn linkerd_skip(case: &Reading, skip: Skip) -> String {
    case.linkerd_text(skip.key).unwrap_or_else(|| case.value_text(skip.pointer)).to_owned()
}

/// The argument as Linkerd writes it, with our control and admin port.
fn linkerd_argument(case: &Reading, skip: Skip, list: String) -> String {
    let [control, _, _, admin] = own_ports(case);
    match (skip.is_inbound, list.is_empty()) {
        (true, true) => format!("{control},{admin}"),
        (true, false) => format!("{control},{admin},{list}"),
        (false, _) => list,
    }
}

/// The argument with the entries that linkerd-init reads, each once.
fn argument(case: &Reading, skip: Skip) -> String {
    let [control, _, _, admin] = own_ports(case);
    let named = if skip.is_inbound { named(case) } else { BTreeMap::new() };
    let own = [control, admin].into_iter().filter(|_| skip.is_inbound).map(|port| port.to_string());
    let mut entries: Vec<String> = Vec::new();
    for entry in own.chain(go_ports(&linkerd_skip(case, skip), &named)) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries.join(",")
}

/// D08: skip lists are read, and what cannot be read is left out.
pub fn d08_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let differs = |skip| linkerd_argument(case, skip, linkerd_skip(case, skip)) != argument(case, skip);
    decide::injects(case) && !case.value_is_true("/cniEnabled") && (differs(INBOUND) || differs(OUTBOUND))
}

/// Sets both arguments.
pub fn d08_apply(case: &Reading, expected: &mut Expected) {
    for skip in [INBOUND, OUTBOUND] {
        let text = argument(case, skip);
        if object::container(&mut expected.object, INIT).is_some() {
            set_arg(&mut expected.object, skip.flag, Some(text.as_str()).filter(|text| !text.is_empty()), &[]);
        }
    }
}
