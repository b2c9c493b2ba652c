//! Rows of ports, durations and resources.

use super::{ANYTHING, Row, row};

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
const PORTS: &[(&str, &str)] =
    &[("", PORT), ("0", PORT), ("-1", PORT), ("65536", PORT), ("70000", PORT), ("x", PORT), ("1-2", PORT)];
const LISTS: &[(&str, &str)] = &[("x", LIST), ("80,x", LIST), ("65536", LIST), ("90-80", "a range that ends below its start")];
const DURATIONS: &[(&str, &str)] = &[("", DURATION), ("10", DURATION), ("1d", UNIT), ("-1s", NEGATIVE), ("1 s", UNIT)];
const QUANTITIES: &[(&str, &str)] =
    &[("", QUANTITY), ("-1", "a negative quantity"), ("lots", SUFFIX), (" 1", QUANTITY), ("1mm", SUFFIX)];

pub(super) fn ports() -> Vec<Row> {
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

pub(super) fn durations() -> Vec<Row> {
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

pub(super) fn resources() -> Vec<Row> {
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
