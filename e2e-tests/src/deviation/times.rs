//! Durations (D12, D27), and the other texts that the proxy or linkerd-init must be able to read (D27).

use super::object::{set_arg, set_env};
use super::read::{go_duration, networks, proxy_duration, proxy_ports, subnets};
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, env, inherit};

/// A duration of the proxy: where it comes from, where it goes to, and whether Linkerd prints it in seconds.
struct Time {
    key: &'static str,
    pointer: &'static str,
    variable: &'static str,
    in_seconds: bool,
}

const TIMES: [Time; 5] = [
    Time {
        key: "config.linkerd.io/proxy-inbound-connect-timeout",
        pointer: "/proxy/inboundConnectTimeout",
        variable: "LINKERD2_PROXY_INBOUND_CONNECT_TIMEOUT",
        in_seconds: false,
    },
    Time {
        key: "config.linkerd.io/proxy-outbound-connect-timeout",
        pointer: "/proxy/outboundConnectTimeout",
        variable: "LINKERD2_PROXY_OUTBOUND_CONNECT_TIMEOUT",
        in_seconds: false,
    },
    Time {
        key: "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout",
        pointer: "/proxy/outboundDiscoveryCacheUnusedTimeout",
        variable: "LINKERD2_PROXY_OUTBOUND_DISCOVERY_IDLE_TIMEOUT",
        in_seconds: true,
    },
    Time {
        key: "config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout",
        pointer: "/proxy/inboundDiscoveryCacheUnusedTimeout",
        variable: "LINKERD2_PROXY_INBOUND_DISCOVERY_IDLE_TIMEOUT",
        in_seconds: true,
    },
    Time {
        key: "config.linkerd.io/shutdown-grace-period",
        pointer: "/proxy/shutdownGracePeriod",
        variable: "LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD",
        in_seconds: false,
    },
];

impl Time {
    fn annotated(&self, case: &Reading) -> Option<i128> {
        case.text(self.key).and_then(go_duration)
    }

    /// What Linkerd prints of the annotation: whole units of a number of seconds in floating point.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "this is how Linkerd's injector loses a millisecond"
    )]
    fn linkerd(&self, nanoseconds: i128) -> String {
        let seconds = nanoseconds.checked_div(1_000_000_000).unwrap_or(0) as f64
            + nanoseconds.checked_rem(1_000_000_000).unwrap_or(0) as f64 / 1e9;
        if self.in_seconds { format!("{}s", seconds as i64) } else { format!("{}ms", (seconds * 1000.0) as i64) }
    }

    fn exact(&self, nanoseconds: i128) -> String {
        let milliseconds = nanoseconds.checked_div(1_000_000).unwrap_or(0);
        match (milliseconds.checked_div(1_000), milliseconds.checked_rem(1_000)) {
            (Some(seconds), Some(0)) if self.in_seconds => format!("{seconds}s"),
            _ => format!("{milliseconds}ms"),
        }
    }

    fn is_inexact(&self, case: &Reading) -> bool {
        self.annotated(case).is_some_and(|time| time >= 0 && self.exact(time) != self.linkerd(time))
    }

    /// Where the annotation is a time before zero, or is none and the configured text cannot be read.
    fn is_unreadable(&self, case: &Reading) -> bool {
        let configured = case.value_text(self.pointer);
        self.annotated(case).map_or(!configured.is_empty() && !proxy_duration(configured), |time| time < 0)
    }

    fn configured(&self, case: &Reading) -> String {
        case.configured_text(self.pointer, |text| text.is_empty() || proxy_duration(text))
    }

    fn is_set(&self, case: &Reading) -> bool {
        self.annotated(case).is_some_and(|time| time >= 0) || !self.configured(case).is_empty()
    }
}

/// The variables of the durations that the proxy gets.
pub fn variables(case: &Reading) -> impl Iterator<Item = &'static str> {
    TIMES.iter().filter(|time| time.is_set(case)).map(|time| time.variable)
}

/// D12: durations are exact.
pub fn d12_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && TIMES.iter().any(|time| time.is_inexact(case))
}

/// Prints them from whole nanoseconds.
pub fn d12_apply(case: &Reading, expected: &mut Expected) {
    for time in TIMES.iter().filter(|time| time.is_inexact(case)) {
        let text = time.annotated(case).map(|annotated| time.exact(annotated));
        set_env(&mut expected.object, time.variable, text.as_deref(), &[]);
    }
}

const IDENTITY: (&str, &str) = ("config.linkerd.io/proxy-require-identity-inbound-ports", "/proxy/requireIdentityOnInboundPorts");
const SUBNETS: (&str, &str) = ("config.linkerd.io/skip-subnets", "/proxyInit/skipSubnets");
const POLICY: (&str, &str) = ("config.linkerd.io/default-inbound-policy", "/proxy/defaultInboundPolicy");

/// What Linkerd takes, and what we take: the annotation where `good`, else what is configured.
fn picked(case: &Reading, (key, pointer): (&str, &str), good: impl Fn(&str) -> bool) -> (String, String) {
    let linkerd = case.text(key).unwrap_or_else(|| case.value_text(pointer));
    let ours = case.text(key).filter(|text| good(text)).map_or_else(|| case.configured_text(pointer, &good), str::to_owned);
    (linkerd.to_owned(), ours)
}

/// The ports that need an identity, where there are any.
pub fn required_identity(case: &Reading) -> Option<String> {
    Some(picked(case, IDENTITY, proxy_ports).1).filter(|ports| !ports.is_empty())
}

/// What linkerd-init is told with D27, and with D32 too. It passes one list to iptables and, with IPv6, to ip6tables,
/// and each refuses the other's networks, save those of all addresses.
pub fn skipped_subnets(case: &Reading) -> (String, String, String) {
    let with_ipv6 = !case.value_is_true("/disableIPv6");
    let is_all = |subnet: &str| subnet.split_once('/').is_some_and(|(_, length)| length.bytes().all(|digit| digit == b'0'));
    let is_taken = |subnet: &&str| is_all(subnet) || !(with_ipv6 || subnet.contains(':'));
    let is_padded = |subnet: &&str| subnet.contains("/0") && !is_all(subnet);
    let read = |text: &str| text.is_empty() || subnets(text).is_some_and(|subnets| subnets.iter().all(is_taken));
    let (linkerd, d27) = picked(case, SUBNETS, read);
    // Line breaks around the line are read over; what is on a second line is lost.
    let one_line = |text: &str| !text.trim_matches(['\n', '\r']).contains('\n');
    let plain = |text: &str| read(text) && one_line(text) && !subnets(text).iter().flatten().any(is_padded);
    (linkerd, d27, picked(case, SUBNETS, plain).1)
}

/// The cluster's networks as they are configured, and as the proxy gets them.
fn cluster_networks(case: &Reading) -> (String, String) {
    let configured = case.configured_text("/clusterNetworks", networks);
    (configured, case.configured_text("/clusterNetworks", |text| networks(text) && text.split(',').all(is_short)))
}

/// The proxy reads no prefix of more digits than it needs.
fn is_short(network: &str) -> bool {
    network.split_once('/').is_none_or(|(address, length)| length.len() <= if address.contains(':') { 3 } else { 2 })
}

/// Linkerd takes any of the six policies from the annotation; the proxy reads three of them only with networks.
fn policy(case: &Reading) -> (String, String) {
    let any = |text: &str| {
        matches!(
            text,
            "all-unauthenticated" | "all-authenticated" | "cluster-unauthenticated" | "cluster-authenticated" | "deny" | "audit"
        )
    };
    let has_networks = !cluster_networks(case).1.trim_matches([',', ' ']).is_empty();
    let good = |text: &str| any(text) && (has_networks || matches!(text, "deny" | "all-authenticated" | "all-unauthenticated"));
    let linkerd = case.text(POLICY.0).filter(|text| any(text)).unwrap_or_else(|| case.value_text(POLICY.1));
    (linkerd.to_owned(), picked(case, POLICY, good).1)
}

/// The policy that the proxy is given.
pub fn default_policy(case: &Reading) -> String {
    policy(case).1
}

/// The cluster's networks that the proxy is given.
pub fn proxy_networks(case: &Reading) -> String {
    cluster_networks(case).1
}

fn differs((linkerd, ours): (String, String)) -> bool {
    linkerd != ours
}

fn parts(case: &Reading) -> [bool; 7] {
    [
        TIMES.iter().any(|time| time.is_unreadable(case)),
        differs(picked(case, IDENTITY, proxy_ports)),
        !case.value_is_true("/cniEnabled") && skipped_subnets(case).0 != skipped_subnets(case).1,
        differs(policy(case)),
        inherit::close_wait_is_bad(case),
        env::applies(case, "D27"),
        differs(cluster_networks(case)),
    ]
}

/// D27: the programs can read what they get.
pub fn d27_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && parts(case).contains(&true)
}

/// Sets what is configured in the place of what cannot be read.
pub fn d27_apply(case: &Reading, expected: &mut Expected) {
    let object = &mut expected.object;
    let [_, _, subnets, _, close_wait, added, _] = parts(case);
    for time in TIMES.iter().filter(|time| time.is_unreadable(case)) {
        let configured = time.configured(case);
        set_env(object, time.variable, Some(configured.as_str()).filter(|text| !text.is_empty()), &[]);
    }
    set_env(object, "LINKERD2_PROXY_INBOUND_PORTS_REQUIRE_IDENTITY", required_identity(case).as_deref(), &[]);
    set_env(object, "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY", Some(&policy(case).1), &[]);
    for name in ["LINKERD2_PROXY_DESTINATION_PROFILE_NETWORKS", "LINKERD2_PROXY_POLICY_CLUSTER_NETWORKS"] {
        set_env(object, name, Some(&cluster_networks(case).1), &[]);
    }
    if subnets {
        let (_, readable, _) = skipped_subnets(case);
        set_arg(object, "--subnets-to-ignore", Some(readable.as_str()).filter(|text| !text.is_empty()), &[]);
    }
    if close_wait {
        inherit::set_close_wait(case, object);
    }
    if added {
        env::apply(case, object, "D27");
    }
}

/// D32: linkerd-init gets subnets on one line, and prefixes that iptables takes.
pub fn d32_applies(case: &Reading, _: &LinkerdResult) -> bool {
    let (_, readable, plain) = skipped_subnets(case);
    decide::injects(case) && !case.value_is_true("/cniEnabled") && readable != plain
}

/// Sets what is configured.
pub fn d32_apply(case: &Reading, expected: &mut Expected) {
    let (_, _, plain) = skipped_subnets(case);
    set_arg(&mut expected.object, "--subnets-to-ignore", Some(plain.as_str()).filter(|text| !text.is_empty()), &[]);
}
