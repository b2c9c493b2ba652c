//! Every row: a good value changes its own field and no other, a bad one changes nothing and is named.

use super::{BTreeSet, Values, changed, every_key, overridden};
use crate::values::Image;

mod amounts;

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
const FLAG: &str = "neither true nor false";
const SWITCH: &str = "neither enabled nor disabled";
const HEADERS: &str = "neither insecure nor off";
const POLICY: &str =
    "not one of deny, audit, all-authenticated, all-unauthenticated, cluster-authenticated, cluster-unauthenticated";
const NETWORKS: &str = "not a comma-separated list of networks such as 10.0.0.0/8";

const IMAGES: &[(&str, &str)] = &[("", IMAGE), ("R/P", IMAGE), ("p:v1", IMAGE), ("p@sha256", IMAGE)];
const TAGS: &[(&str, &str)] = &[("a b", TAG), ("1 # x", TAG), ("-a", TAG), ("a:b", TAG)];
const PULLS: &[(&str, &str)] = &[("always", PULL), ("true", PULL), ("y", PULL), (" ", PULL)];
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
            &[("", POLICY), ("Deny", POLICY), ("none", POLICY), ("$(A)", POLICY), ("$(_p)ow", POLICY)],
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

/// The sentence on a bad value.
fn line(place: &str, text: &str, problem: &str) -> String {
    format!("{place}: {text:?} is {problem}")
}

#[test]
fn each_row_does_what_it_says_on_the_pod_and_on_the_namespace() {
    let rows: Vec<Row> =
        [images(), flags(), amounts::ports(), amounts::durations(), amounts::resources(), texts()].into_iter().flatten().collect();
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
