use super::{GROUPS, Kind, ProxyEnvError, VARIABLES, conflicts, kind, policy_needs_networks, readable};
use std::collections::BTreeSet;

/// What the proxy was seen to read, one row a reader: a variable, good values, bad values, what is said of the bad ones.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], &'static str);

const ROWS: &[Row] = &[
    ("LOG", &["", "a=b=c", "[{", "info,[{headers}]=off"], &[], ""),
    ("CORES_MAX", &["", "0", "x", "-1"], &[], ""),
    ("ZZZ", &["", "x"], &[], ""),
    ("INBOUND_PORTS_REQUIRE_IDENTITY", &["x"], &[], ""),
    ("IDENTITY_TOKEN_FILE", &["/token"], &[""], "empty"),
    (
        "IDENTITY_TRUST_ANCHORS",
        &["-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"],
        &["", "x", "-----BEGIN CERTIFICATE-----"],
        "without a PEM certificate",
    ),
    ("IDENTITY_DISABLED", &[""], &["x", "false"], "not supported by the proxy of an injected pod"),
    ("IDENTITY_SPIRE_SOCKET", &[], &["", "/x"], "not supported by the proxy of an injected pod"),
    ("INGRESS_MODE", &["true", "false"], &["True", "1", ""], "neither true nor false"),
    (
        "INBOUND_TCP_LISTEN_BACKLOG",
        &["0", "+5", "4294967295"],
        &["", "-1", "x", "4294967296"],
        "not a whole number between 0 and 4294967295",
    ),
    (
        "INBOUND_MAX_IN_FLIGHT",
        &["0", "2305843009213693951"],
        &["2305843009213693952"],
        "not a whole number between 0 and 2305843009213693951",
    ),
    ("OUTBOUND_HTTP_QUEUE_CAPACITY", &["1"], &["0"], "not a whole number between 1 and 2305843009213693951"),
    (
        "INBOUND_SERVER_HTTP2_MAX_FRAME_SIZE",
        &["16384", "16777215"],
        &["16383", "16777216"],
        "not a whole number between 16384 and 16777215",
    ),
    ("HTTP2_INITIAL_STREAM_WINDOW_SIZE", &["0", "2147483647"], &["2147483648"], "not a whole number between 0 and 2147483647"),
    (
        "INBOUND_CONNECT_EXP_BACKOFF_JITTER",
        &["0", "-0", ".5", "100"],
        &["", "-0.1", "100.1", "NaN", "inf", "x"],
        "not a number between 0 and 100",
    ),
    ("INBOUND_CONNECT_TIMEOUT", &["0", "300ms", " 1h\t"], &["", "1", "-1s"], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    ("CONTROL_STREAM_LIFETIME", &["", "1h"], &[" ", "x"], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    (
        "INBOUND_LISTEN_ADDR",
        &["0.0.0.0:4143", "[::]:4143"],
        &["", "localhost:1", "1.2.3.4", "127.0.0.1:70000"],
        "not an IP address with a port such as 0.0.0.0:4143",
    ),
    (
        "OUTBOUND_LISTEN_ADDRS",
        &["127.0.0.1:1", "127.0.0.1:1,[::1]:1"],
        &["", "127.0.0.1:1, [::1]:1", "127.0.0.1:1,", "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"],
        "not one or two IP addresses with a port, separated by a comma",
    ),
    (
        "POLICY_SVC_ADDR",
        &["localhost.:8090", "a_b:+80", "[::1]:80", "1.2.3.4:80"],
        &["", "a.b", ":80", "a:65536", "a b:80", "1.2.3:80", "::1:80"],
        "not a host with a port such as localhost.:8086",
    ),
    (
        "POLICY_SVC_NAME",
        &["a", "a.", "A_b.c-d", "1.a"],
        &["", ".", "a..b", "-a", "a-", "1", "a.1", "a.1.", "*.a", "x y"],
        "not a DNS name",
    ),
    ("IDENTITY_LOCAL_NAME", &["a.b"], &["a.", "spiffe://a/b"], "not a DNS name"),
    (
        "TAP_SVC_NAME",
        &["a.b", "spiffe://a.b/c", "spiffe://a"],
        &["", "a.", "x y", "http:", "spiffe://"],
        "neither a DNS name nor a SPIFFE id",
    ),
    ("INBOUND_GATEWAY_SUFFIXES", &["", ".", "a, b.,"], &["a..b", "-a", "1"], "not a comma-separated list of domain suffixes"),
    (
        "POLICY_CLUSTER_NETWORKS",
        &["", ",", " 10.0.0.0/8 ,,fd00::/8"],
        &["10.0.0.0", "x"],
        "not a comma-separated list of networks such as 10.0.0.0/8",
    ),
    ("INBOUND_IPS", &["1.2.3.4", "1.2.3.4,::1"], &["", "1.2.3.4, ::1", "1.2.3.4,"], "not a comma-separated list of IP addresses"),
    ("INBOUND_PORTS", &["", "80, 90-91"], &["x", "65536"], "not a list of ports and ranges such as 80,8080-8090"),
    (
        "INBOUND_DEFAULT_POLICY",
        &["deny", "audit", "all-authenticated", "all-unauthenticated", "cluster-authenticated", "cluster-unauthenticated"],
        &["", "Deny", " deny", "all-tls-unauthenticated"],
        "not one of deny, audit, all-authenticated, all-unauthenticated, cluster-authenticated, cluster-unauthenticated",
    ),
    ("INBOUND_METRICS_AUTHORITY_LABELS", &["", "unsafe", "UNSAFE"], &["x"], "neither empty nor unsafe"),
];

#[test]
fn values_are_read_as_the_proxy_reads_them() {
    for (name, good, bad, error) in ROWS {
        let name = format!("LINKERD2_PROXY_{name}");
        for value in *good {
            assert_eq!(readable(&name, value), Ok(()), "{name}={value:?}");
        }
        for value in *bad {
            assert_eq!(readable(&name, value).map_err(|e| e.to_string()), Err((*error).to_owned()), "{name}={value:?}");
            // What must stay unset must do so whatever it would be.
            let referring = if kind(&name) == Some(Kind::OnlyUnset) { Err(ProxyEnvError::Unsupported) } else { Ok(()) };
            assert_eq!(readable(&name, &format!("{value}$(other)")), referring, "{name}={value:?}");
        }
    }
}

#[test]
fn labels_and_names_have_bounds() {
    let name = "LINKERD2_PROXY_POLICY_SVC_NAME";
    for (text, good) in [("a".repeat(63), true), ("a".repeat(64), false), ("a.".repeat(126) + "a", true), ("a.".repeat(127), false)]
    {
        assert_eq!(readable(name, &text).is_ok(), good, "{}", text.len());
    }
}

#[test]
fn no_variable_is_listed_twice() {
    let names: BTreeSet<_> = VARIABLES.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), VARIABLES.len());
    for variable in GROUPS.iter().flat_map(|group| group.variables) {
        assert!(names.contains(variable), "{variable}");
    }
}

#[test]
fn three_policies_need_networks() {
    for (policy, needs) in [
        ("audit", true),
        ("cluster-authenticated", true),
        ("cluster-unauthenticated", true),
        ("deny", false),
        ("all-authenticated", false),
        ("", false),
    ] {
        assert_eq!(policy_needs_networks(policy), needs, "{policy}");
    }
}

#[test]
fn misfits_are_the_proxys() {
    let backoff = "a backoff without both bounds, or whose upper bound is zero or below the lower one";
    let collector = "a collector with an address but no name, or a name but no address";
    let lifetimes = "a lower bound of DNS lifetimes above the upper one, which is a day unless set";
    let policy = "a policy that needs cluster networks, without any";
    let ports = "a port that another listener of the proxy has";
    let stream = "stream limits that are not in the order initial, idle, lifetime";
    for (env, misfit) in [
        ("", None),
        ("INBOUND_DEFAULT_POLICY=deny", None),
        ("INBOUND_DEFAULT_POLICY=audit", Some(policy)),
        ("INBOUND_DEFAULT_POLICY=audit POLICY_CLUSTER_NETWORKS=,", Some(policy)),
        ("INBOUND_DEFAULT_POLICY=audit POLICY_CLUSTER_NETWORKS=10.0.0.0/8", None),
        ("INBOUND_DEFAULT_POLICY=audit POLICY_CLUSTER_NETWORKS=$(x)", None),
        ("CONTROL_STREAM_INITIAL_TIMEOUT=3s CONTROL_STREAM_IDLE_TIMEOUT=3s CONTROL_STREAM_LIFETIME=1h", None),
        ("CONTROL_STREAM_INITIAL_TIMEOUT=3s CONTROL_STREAM_IDLE_TIMEOUT=2999ms", Some(stream)),
        ("CONTROL_STREAM_INITIAL_TIMEOUT=3s CONTROL_STREAM_IDLE_TIMEOUT= CONTROL_STREAM_LIFETIME=1s", Some(stream)),
        ("CONTROL_STREAM_IDLE_TIMEOUT=3s CONTROL_STREAM_LIFETIME=1s", Some(stream)),
        ("INBOUND_CONNECT_EXP_BACKOFF_MIN=1s", Some(backoff)),
        ("INBOUND_CONNECT_EXP_BACKOFF_JITTER=0", Some(backoff)),
        ("INBOUND_CONNECT_EXP_BACKOFF_MIN=1s INBOUND_CONNECT_EXP_BACKOFF_MAX=1s", None),
        ("OUTBOUND_CONNECT_EXP_BACKOFF_MIN=2s OUTBOUND_CONNECT_EXP_BACKOFF_MAX=1s", Some(backoff)),
        ("OUTBOUND_CONNECT_EXP_BACKOFF_MIN=0 OUTBOUND_CONNECT_EXP_BACKOFF_MAX=0", Some(backoff)),
        ("DNS_MIN_TTL=1s DNS_MAX_TTL=1s", None),
        ("DNS_MIN_TTL=1500ms DNS_MAX_TTL=1s", Some(lifetimes)),
        ("DNS_MIN_TTL=86400s", None),
        ("DNS_MIN_TTL=86401s", Some(lifetimes)),
        ("DNS_MAX_TTL=0", None),
        ("TRACE_COLLECTOR_SVC_ADDR=a:1", Some(collector)),
        ("TRACE_COLLECTOR_SVC_NAME=a", Some(collector)),
        ("TRACE_COLLECTOR_SVC_ADDR=LOCALHOST.:1", None),
        ("TRACE_COLLECTOR_SVC_ADDR=localhost:1", Some(collector)),
        ("TRACE_COLLECTOR_SVC_ADDR=[::1]:1", None),
        ("TRACE_COLLECTOR_SVC_ADDR=a:1 TRACE_COLLECTOR_SVC_NAME=a", None),
        ("INBOUND_LISTEN_ADDR=0.0.0.0:1 ADMIN_LISTEN_ADDR=0.0.0.0:2 OUTBOUND_LISTEN_ADDRS=127.0.0.1:3,[::1]:3", None),
        ("INBOUND_LISTEN_ADDR=0.0.0.0:3 OUTBOUND_LISTEN_ADDRS=127.0.0.1:3,[::1]:3", Some(ports)),
        ("ADMIN_LISTEN_ADDR=0.0.0.0:0 CONTROL_LISTEN_ADDR=0.0.0.0:0", None),
    ] {
        let value = |name: &str| {
            let mut pairs = env.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| name.strip_prefix("LINKERD2_PROXY_") == Some(key)).map(|(_, value)| value)
        };
        let found: Vec<_> = conflicts(&value).map(|group| group.misfit).collect();
        assert_eq!(found, misfit.into_iter().collect::<Vec<_>>(), "{env}");
    }
}
