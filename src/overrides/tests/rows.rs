//! Every row: a good value changes its own field and no other, a bad one changes nothing and is named.

use super::{BTreeSet, Values, changed, every_key, overridden};
use crate::values::Image;

type Change = fn(&mut Values);

/// One annotation over values that hold something other than their default.
struct Row {
    key: &'static str,
    opposite: Change,
    good: Vec<(&'static str, Change)>,
    /// Texts, with what they are not.
    bad: &'static [(&'static str, &'static str)],
}

fn row(
    key: &'static str,
    opposite: Change,
    good: Vec<(&'static str, Change)>,
    bad: &'static [(&'static str, &'static str)],
) -> Row {
    Row { key, opposite, good, bad }
}

const IMAGE: &str = "not an image name such as registry.example/linkerd/proxy, without tag or digest";
const TAG: &str = "not an image tag of up to 128 letters, digits, dots, dashes and underscores";
const PULL: &str = "not one of Always, IfNotPresent, Never";
const PORT: &str = "not a port between 1 and 65535";
const LIST: &str = "not a list of ports and ranges such as 80,8080-8090";
const DURATION: &str = "not a duration such as 500ms, 10s or 1m30s";
const UNIT: &str = "a duration whose unit is none of ns, us, ms, s, m, h";
const NEGATIVE: &str = "a negative duration";
const QUANTITY: &str = "not a quantity such as 100m, 1.5 or 64Mi";
const SUFFIX: &str = "a quantity whose suffix is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei";
const RATIO: &str = "not a number above 0 and below 1";
const UID: &str = "not a user id between 1 and 2147483647";
const GID: &str = "not a group id of at most 2147483647";
const UNSIGNED: &str = "not a whole number of zero or more";
const FLAG: &str = "neither true nor false";
const SWITCH: &str = "neither enabled nor disabled";
const HEADERS: &str = "neither insecure nor off";
const POLICY: &str =
    "not one of deny, audit, all-authenticated, all-unauthenticated, cluster-authenticated, cluster-unauthenticated";
const NETWORKS: &str = "not a comma-separated list of networks such as 10.0.0.0/8";

const IMAGES: &[(&str, &str)] = &[("", IMAGE), ("R/P", IMAGE), ("p:v1", IMAGE), ("p@sha256", IMAGE)];
const TAGS: &[(&str, &str)] = &[("a b", TAG), ("1 # x", TAG), ("-a", TAG), ("a:b", TAG)];
const PULLS: &[(&str, &str)] = &[("always", PULL), ("true", PULL), ("y", PULL), (" ", PULL)];
const PORTS: &[(&str, &str)] =
    &[("", PORT), ("0", PORT), ("-1", PORT), ("65536", PORT), ("70000", PORT), ("x", PORT), ("1-2", PORT)];
const LISTS: &[(&str, &str)] = &[("x", LIST), ("80,x", LIST), ("65536", LIST), ("90-80", "a range that ends below its start")];
const DURATIONS: &[(&str, &str)] = &[("", DURATION), ("10", DURATION), ("1d", UNIT), ("-1s", NEGATIVE), ("1 s", UNIT)];
const QUANTITIES: &[(&str, &str)] =
    &[("", QUANTITY), ("-1", "a negative quantity"), ("lots", SUFFIX), (" 1", QUANTITY), ("1mm", SUFFIX)];
const FLAGS: &[(&str, &str)] = &[("", FLAG), ("yes", FLAG), ("enabled", FLAG), ("tRUE", FLAG)];
const SWITCHES: &[(&str, &str)] = &[("", SWITCH), ("true", SWITCH), ("Enabled", SWITCH), ("false", SWITCH)];
const ANYTHING: &[(&str, &str)] = &[];

fn old_image(image: &mut Image) {
    *image = Image { name: "r/old".to_owned(), version: "v1".to_owned(), pull_policy: "Never".to_owned() };
}

fn images() -> Vec<Row> {
    let (proxy, debug): (Change, Change) = (|v| old_image(&mut v.proxy.image), |v| old_image(&mut v.debug_image));
    let long = "r.test:5000/l5d/proxy";
    vec![
        row(
            "config.linkerd.io/proxy-image",
            proxy,
            vec![(long, |v| v.proxy.image.name = "r.test:5000/l5d/proxy".to_owned())],
            IMAGES,
        ),
        row(
            "config.linkerd.io/proxy-version",
            proxy,
            vec![("v9", |v| v.proxy.image.version = "v9".to_owned()), ("", |v| v.proxy.image.version.clear())],
            TAGS,
        ),
        row(
            "config.linkerd.io/image-pull-policy",
            proxy,
            vec![
                ("Always", |v| v.proxy.image.pull_policy = "Always".to_owned()),
                ("IfNotPresent", |v| v.proxy.image.pull_policy = "IfNotPresent".to_owned()),
                ("", |v| v.proxy.image.pull_policy.clear()),
            ],
            PULLS,
        ),
        row("config.linkerd.io/debug-image", debug, vec![("r/d", |v| v.debug_image.name = "r/d".to_owned())], IMAGES),
        row(
            "config.linkerd.io/debug-image-version",
            debug,
            vec![("v9", |v| v.debug_image.version = "v9".to_owned()), ("", |v| v.debug_image.version.clear())],
            TAGS,
        ),
        row(
            "config.linkerd.io/debug-image-pull-policy",
            debug,
            vec![("Always", |v| v.debug_image.pull_policy = "Always".to_owned()), ("", |v| v.debug_image.pull_policy.clear())],
            PULLS,
        ),
    ]
}

/// The truth values, each over false and over true.
fn flags() -> Vec<Row> {
    let keys: [(&str, Change, Change); 10] = [
        (
            "config.linkerd.io/proxy-metrics-hostname-labels",
            |v| v.proxy.hostname_labels = true,
            |v| v.proxy.hostname_labels = false,
        ),
        (
            "config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout",
            |v| v.proxy.disable_outbound_protocol_detect_timeout = true,
            |v| v.proxy.disable_outbound_protocol_detect_timeout = false,
        ),
        (
            "config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout",
            |v| v.proxy.disable_inbound_protocol_detect_timeout = true,
            |v| v.proxy.disable_inbound_protocol_detect_timeout = false,
        ),
        ("config.linkerd.io/enable-gateway", |v| v.proxy.is_gateway = true, |v| v.proxy.is_gateway = false),
        ("config.linkerd.io/proxy-enable-native-sidecar", |v| v.proxy.native_sidecar = true, |v| v.proxy.native_sidecar = false),
        (
            "config.beta.linkerd.io/proxy-enable-native-sidecar",
            |v| v.proxy.native_sidecar = true,
            |v| v.proxy.native_sidecar = false,
        ),
        (
            "config.alpha.linkerd.io/proxy-enable-native-sidecar",
            |v| v.proxy.native_sidecar = true,
            |v| v.proxy.native_sidecar = false,
        ),
        (
            "config.linkerd.io/enable-external-profiles",
            |v| v.proxy.enable_external_profiles = true,
            |v| v.proxy.enable_external_profiles = false,
        ),
        (
            "config.linkerd.io/proxy-admin-shutdown",
            |v| v.proxy.enable_shutdown_endpoint = true,
            |v| v.proxy.enable_shutdown_endpoint = false,
        ),
        ("config.linkerd.io/proxy-await", |v| v.proxy.await_ready = true, |v| v.proxy.await_ready = false),
    ];
    let switches = ["config.linkerd.io/proxy-admin-shutdown", "config.linkerd.io/proxy-await"];
    let rows = keys.into_iter().flat_map(|(key, on, off)| {
        let (good, bad) = match switches.contains(&key) {
            true => (vec![("enabled", on), ("disabled", off)], SWITCHES),
            false => (vec![("true", on), ("1", on), ("T", on), ("False", off), ("0", off)], FLAGS),
        };
        [row(key, off, good.clone(), bad), row(key, on, good, bad)]
    });
    let (on, off): (Change, Change) = (|v| v.debug_enabled = true, |v| v.debug_enabled = false);
    let debug = "config.linkerd.io/enable-debug-sidecar";
    let not_empty = FLAGS.split_first().map(|(_, rest)| rest).unwrap();
    let debug = [
        row(debug, off, vec![("", |_| ()), ("TRUE", on), ("f", off)], not_empty),
        row(debug, on, vec![("", |_| ()), ("t", on), ("0", off)], not_empty),
    ];
    rows.chain(debug).collect()
}

fn ports() -> Vec<Row> {
    vec![
        row(
            "config.linkerd.io/control-port",
            |v| v.proxy.ports.control = 7,
            vec![("1", |v| v.proxy.ports.control = 1), ("+5", |v| v.proxy.ports.control = 5)],
            PORTS,
        ),
        row(
            "config.linkerd.io/inbound-port",
            |v| v.proxy.ports.inbound = 7,
            vec![("65535", |v| v.proxy.ports.inbound = 65535), ("08", |v| v.proxy.ports.inbound = 8)],
            PORTS,
        ),
        row("config.linkerd.io/outbound-port", |v| v.proxy.ports.outbound = 7, vec![("8", |v| v.proxy.ports.outbound = 8)], PORTS),
        row("config.linkerd.io/admin-port", |v| v.proxy.ports.admin = 7, vec![("8", |v| v.proxy.ports.admin = 8)], PORTS),
        row(
            "config.linkerd.io/pod-inbound-ports",
            |v| v.proxy.pod_inbound_ports = Some("7".to_owned()),
            vec![
                ("1234", |v| v.proxy.pod_inbound_ports = Some("1234".to_owned())),
                (" 80 , 90 - 91,", |v| v.proxy.pod_inbound_ports = Some(" 80 , 90 - 91,".to_owned())),
                ("", |v| v.proxy.pod_inbound_ports = Some(String::new())),
            ],
            LISTS,
        ),
        row(
            "config.linkerd.io/proxy-require-identity-inbound-ports",
            |v| v.proxy.require_identity_on_inbound_ports = "7".to_owned(),
            vec![
                ("80,90-91", |v| v.proxy.require_identity_on_inbound_ports = "80,90-91".to_owned()),
                ("", |v| v.proxy.require_identity_on_inbound_ports.clear()),
            ],
            LISTS,
        ),
        // Of the next three, what can be read holds: their bad entries are tested beside their good ones.
        row(
            "config.linkerd.io/skip-inbound-ports",
            |v| v.proxy_init.ignore_inbound_ports = "7".to_owned(),
            vec![
                ("8080,9000-9010", |v| v.proxy_init.ignore_inbound_ports = "8080,9000-9010".to_owned()),
                (" +25 , web,,0025,", |v| v.proxy_init.ignore_inbound_ports = "25,8080,25".to_owned()),
                ("", |v| v.proxy_init.ignore_inbound_ports.clear()),
            ],
            ANYTHING,
        ),
        row(
            "config.linkerd.io/skip-outbound-ports",
            |v| v.proxy_init.ignore_outbound_ports = "7".to_owned(),
            vec![
                ("443, 0-65535", |v| v.proxy_init.ignore_outbound_ports = "443,0-65535".to_owned()),
                ("", |v| v.proxy_init.ignore_outbound_ports.clear()),
            ],
            ANYTHING,
        ),
        row(
            "config.linkerd.io/opaque-ports",
            |v| v.proxy.opaque_ports = "7".to_owned(),
            vec![
                ("25,4320-4330,mysql", |v| v.proxy.opaque_ports = "25,4320-4330,3306".to_owned()),
                ("25,,25,", |v| v.proxy.opaque_ports = "25,25".to_owned()),
                ("", |v| v.proxy.opaque_ports.clear()),
            ],
            ANYTHING,
        ),
    ]
}

fn durations() -> Vec<Row> {
    vec![
        row(
            "config.linkerd.io/proxy-outbound-connect-timeout",
            |v| v.proxy.outbound_connect_timeout = "7s".to_owned(),
            vec![
                ("1001ms", |v| v.proxy.outbound_connect_timeout = "1001ms".to_owned()),
                ("1m30s", |v| v.proxy.outbound_connect_timeout = "90000ms".to_owned()),
                ("500us", |v| v.proxy.outbound_connect_timeout = "0ms".to_owned()),
                ("0", |v| v.proxy.outbound_connect_timeout = "0ms".to_owned()),
            ],
            DURATIONS,
        ),
        row(
            "config.linkerd.io/proxy-inbound-connect-timeout",
            |v| v.proxy.inbound_connect_timeout = "7s".to_owned(),
            vec![("1003ms", |v| v.proxy.inbound_connect_timeout = "1003ms".to_owned())],
            DURATIONS,
        ),
        row(
            "config.linkerd.io/shutdown-grace-period",
            |v| v.proxy.shutdown_grace_period = "7s".to_owned(),
            vec![("2s", |v| v.proxy.shutdown_grace_period = "2000ms".to_owned())],
            DURATIONS,
        ),
        row(
            "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout",
            |v| v.proxy.outbound_discovery_cache_unused_timeout = "7s".to_owned(),
            vec![
                ("5s", |v| v.proxy.outbound_discovery_cache_unused_timeout = "5s".to_owned()),
                ("500ms", |v| v.proxy.outbound_discovery_cache_unused_timeout = "500ms".to_owned()),
                ("1us", |v| v.proxy.outbound_discovery_cache_unused_timeout = "0s".to_owned()),
                ("1000.4ms", |v| v.proxy.outbound_discovery_cache_unused_timeout = "1s".to_owned()),
            ],
            DURATIONS,
        ),
        row(
            "config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout",
            |v| v.proxy.inbound_discovery_cache_unused_timeout = "7s".to_owned(),
            vec![("2m", |v| v.proxy.inbound_discovery_cache_unused_timeout = "120s".to_owned())],
            DURATIONS,
        ),
        row(
            "config.linkerd.io/close-wait-timeout",
            |v| (v.proxy_init.run_as_root, v.proxy_init.close_wait_timeout_secs) = (true, 7),
            vec![
                ("1m30s", |v| v.proxy_init.close_wait_timeout_secs = 90),
                ("1999ms", |v| v.proxy_init.close_wait_timeout_secs = 1),
                ("", |_| ()),
            ],
            DURATIONS.split_first().unwrap().1,
        ),
        row(
            "config.alpha.linkerd.io/proxy-wait-before-exit-seconds",
            |v| v.proxy.wait_before_exit_seconds = 7,
            vec![
                ("0", |v| v.proxy.wait_before_exit_seconds = 0),
                ("18446744073709551615", |v| v.proxy.wait_before_exit_seconds = u64::MAX),
            ],
            &[("", UNSIGNED), ("-1", UNSIGNED), ("+1", UNSIGNED), ("1s", UNSIGNED)],
        ),
    ]
}

fn resources() -> Vec<Row> {
    vec![
        row(
            "config.linkerd.io/proxy-cpu-request",
            |v| (v.proxy.resources.cpu.request, v.proxy.workers.minimum) = ("7".to_owned(), 7),
            vec![
                ("1001m", |v| (v.proxy.resources.cpu.request, v.proxy.workers.minimum) = ("1001m".to_owned(), 2)),
                ("0", |v| (v.proxy.resources.cpu.request, v.proxy.workers.minimum) = ("0".to_owned(), 0)),
            ],
            QUANTITIES,
        ),
        row(
            "config.linkerd.io/proxy-cpu-limit",
            |v| (v.proxy.resources.cpu.limit, v.proxy.workers.maximum) = ("7".to_owned(), 7),
            vec![
                ("0.5", |v| (v.proxy.resources.cpu.limit, v.proxy.workers.maximum) = ("0.5".to_owned(), 1)),
                ("1m", |v| (v.proxy.resources.cpu.limit, v.proxy.workers.maximum) = ("1m".to_owned(), 1)),
                ("1001m", |v| (v.proxy.resources.cpu.limit, v.proxy.workers.maximum) = ("1001m".to_owned(), 2)),
            ],
            QUANTITIES,
        ),
        row(
            "config.linkerd.io/proxy-cpu-ratio-limit",
            |v| v.proxy.workers.maximum_cpu_ratio = 0.7,
            vec![("0.25", |v| v.proxy.workers.maximum_cpu_ratio = 0.25), ("0x1p-1", |v| v.proxy.workers.maximum_cpu_ratio = 0.5)],
            &[("", RATIO), ("0", RATIO), ("1", RATIO), ("NaN", RATIO), ("-0.5", RATIO), ("half", RATIO)],
        ),
        row(
            "config.linkerd.io/proxy-memory-request",
            |v| v.proxy.resources.memory.request = "7Mi".to_owned(),
            vec![("64Mi", |v| v.proxy.resources.memory.request = "64Mi".to_owned())],
            QUANTITIES,
        ),
        row(
            "config.linkerd.io/proxy-memory-limit",
            |v| v.proxy.resources.memory.limit = "7Mi".to_owned(),
            vec![("1e3", |v| v.proxy.resources.memory.limit = "1e3".to_owned())],
            QUANTITIES,
        ),
        row(
            "config.linkerd.io/proxy-ephemeral-storage-request",
            |v| v.proxy.resources.ephemeral_storage.request = "7".to_owned(),
            vec![("1Gi", |v| v.proxy.resources.ephemeral_storage.request = "1Gi".to_owned())],
            QUANTITIES,
        ),
        row(
            "config.linkerd.io/proxy-ephemeral-storage-limit",
            |v| v.proxy.resources.ephemeral_storage.limit = "7".to_owned(),
            vec![("1Gi", |v| v.proxy.resources.ephemeral_storage.limit = "1Gi".to_owned())],
            QUANTITIES,
        ),
        row(
            "config.linkerd.io/proxy-uid",
            |v| v.proxy.uid = 7,
            vec![
                ("1", |v| v.proxy.uid = 1),
                ("1001060000", |v| v.proxy.uid = 1_001_060_000),
                ("2147483647", |v| v.proxy.uid = 2_147_483_647),
            ],
            &[("", UID), ("0", UID), ("-1", UID), ("2147483648", UID), ("root", UID)],
        ),
        row(
            "config.linkerd.io/proxy-gid",
            |v| v.proxy.gid = Some(7),
            vec![
                ("0", |v| v.proxy.gid = Some(0)),
                ("-1", |v| v.proxy.gid = None),
                ("2147483647", |v| v.proxy.gid = Some(2_147_483_647)),
            ],
            &[("", GID), ("2147483648", GID), ("x", GID)],
        ),
    ]
}

fn texts() -> Vec<Row> {
    vec![
        row(
            "config.linkerd.io/proxy-log-level",
            |v| v.proxy.log_level = "error".to_owned(),
            vec![
                (r#"linkerd[name="outbound"]=debug},]"#, |v| v.proxy.log_level = r#"linkerd[name="outbound"]=debug},]"#.to_owned()),
                ("", |v| v.proxy.log_level.clear()),
            ],
            ANYTHING,
        ),
        row(
            "config.linkerd.io/proxy-log-http-headers",
            |v| v.proxy.log_http_headers = "other".to_owned(),
            vec![
                ("insecure", |v| v.proxy.log_http_headers = "insecure".to_owned()),
                ("off", |v| v.proxy.log_http_headers = "off".to_owned()),
                ("", |v| v.proxy.log_http_headers.clear()),
            ],
            &[("Insecure", HEADERS), ("on", HEADERS), (" ", HEADERS)],
        ),
        row(
            "config.linkerd.io/proxy-log-format",
            |v| v.proxy.log_format = "plain".to_owned(),
            vec![("json", |v| v.proxy.log_format = "json".to_owned()), ("a\n\"b", |v| v.proxy.log_format = "a\n\"b".to_owned())],
            ANYTHING,
        ),
        row(
            "config.linkerd.io/access-log",
            |v| v.proxy.access_log = "json".to_owned(),
            vec![("apache", |v| v.proxy.access_log = "apache".to_owned()), ("", |v| v.proxy.access_log.clear())],
            ANYTHING,
        ),
        row(
            "config.linkerd.io/default-inbound-policy",
            |v| v.proxy.default_inbound_policy = "other".to_owned(),
            vec![
                ("deny", |v| v.proxy.default_inbound_policy = "deny".to_owned()),
                ("audit", |v| v.proxy.default_inbound_policy = "audit".to_owned()),
                ("all-authenticated", |v| v.proxy.default_inbound_policy = "all-authenticated".to_owned()),
                ("all-unauthenticated", |v| v.proxy.default_inbound_policy = "all-unauthenticated".to_owned()),
                ("cluster-authenticated", |v| v.proxy.default_inbound_policy = "cluster-authenticated".to_owned()),
                ("cluster-unauthenticated", |v| v.proxy.default_inbound_policy = "cluster-unauthenticated".to_owned()),
            ],
            &[("", POLICY), ("Deny", POLICY), ("none", POLICY)],
        ),
        row(
            "config.linkerd.io/skip-subnets",
            |v| v.proxy_init.skip_subnets = "10.7.0.0/16".to_owned(),
            vec![
                ("10.1.0.0/16, 10.2.0.0/16", |v| v.proxy_init.skip_subnets = "10.1.0.0/16, 10.2.0.0/16".to_owned()),
                ("", |v| v.proxy_init.skip_subnets.clear()),
            ],
            &[
                ("x", NETWORKS),
                ("1.2.3.4", NETWORKS),
                (" ", NETWORKS),
                ("fd00::/8", "a list with an IPv6 network, which iptables refuses"),
            ],
        ),
    ]
}

/// The line of a bad value, cut at the length that clients show.
fn line(place: &str, text: &str, problem: &str) -> String {
    let whole = format!("{place}: {text:?} is {problem}");
    if whole.chars().count() <= 120 { whole } else { whole.chars().take(119).chain(['…']).collect() }
}

#[test]
fn each_row_does_what_it_says_on_the_pod_and_on_the_namespace() {
    let rows: Vec<Row> = [images(), flags(), ports(), durations(), resources(), texts()].into_iter().flatten().collect();
    for Row { key, opposite, good, bad } in &rows {
        let below = changed(&Values::default(), opposite);
        for (text, change) in good {
            let expected = (changed(&below, change), vec![]);
            assert_eq!(overridden(&below, &[(key, text)], &[]), expected, "{key} {text:?}");
            assert_eq!(overridden(&below, &[], &[(key, text)]), expected, "namespace's {key} {text:?}");
            for (other, _) in *bad {
                assert_eq!(overridden(&below, &[(key, text)], &[(key, other)]), expected, "{key} {text:?} over {other:?}");
            }
        }
        for (text, problem) in *bad {
            assert_eq!(overridden(&below, &[(key, text)], &[]), (below.clone(), vec![line(key, text, problem)]), "{key} {text:?}");
            let place = format!("namespace's {key}");
            assert_eq!(
                overridden(&below, &[], &[(key, text)]),
                (below.clone(), vec![line(&place, text, problem)]),
                "{place} {text:?}"
            );
        }
    }
    let tested: BTreeSet<_> = rows.iter().map(|row| row.key).chain(["config.linkerd.io/proxy-additional-env"]).collect();
    assert_eq!(tested, every_key().into_iter().collect());
}
