//! What each kind of leaf refuses, in these words, and that it then keeps the layer below.

use super::{Values, layer_of, layered};
use serde_json::{Value, json};

/// A leaf, what it holds below, values that it refuses, and the problem.
const REFUSED: &[(&str, &str, &[&str], &str)] = &[
    ("clusterDomain", r#""a.test""#, &["[]", "{}"], "not a text"),
    ("clusterDomain", r#""a.test""#, &[r#""a b""#, r#""a..b""#, r#"".a""#, r#""-a""#, r#""a-.b""#, r#""a_b""#], "not a DNS name"),
    ("identityTrustDomain", r#""a.test""#, &[r#""a/b""#, r#""é""#], "not a DNS name"),
    (
        "clusterNetworks",
        r#""10.0.0.0/8""#,
        &[r#""10.0.0.0/8, fd00::/8""#, r#""10.0.0.0""#, r#""10.0.0.0/33""#, r#""x""#],
        "not a comma-separated list of networks such as 10.0.0.0/8",
    ),
    ("imagePullPolicy", r#""Always""#, &[r#""always""#, r#""y""#, "true"], "not one of Always, IfNotPresent, Never"),
    ("proxy.image.pullPolicy", r#""Never""#, &[r#""never""#], "not one of Always, IfNotPresent, Never"),
    ("debugContainer.image.pullPolicy", r#""Never""#, &[r#""Sometimes""#], "not one of Always, IfNotPresent, Never"),
    (
        "linkerdVersion",
        r#""v2""#,
        &["null", r#""""#, r#""-a""#, r#""a b""#],
        "not an image tag of up to 128 letters, digits, dots, dashes and underscores",
    ),
    (
        "proxy.image.version",
        r#""v2""#,
        &[r#""1 # x""#, r#""a:b""#],
        "not an image tag of up to 128 letters, digits, dots, dashes and underscores",
    ),
    (
        "debugContainer.image.version",
        r#""v2""#,
        &[r#""é""#],
        "not an image tag of up to 128 letters, digits, dots, dashes and underscores",
    ),
    (
        "proxy.image.name",
        r#""r/p""#,
        &["null", r#""""#, r#""R/P""#, r#""p:v1""#, r#""p@sha256:00""#],
        "not an image name such as registry.example/linkerd/proxy, without tag or digest",
    ),
    (
        "debugContainer.image.name",
        r#""r/p""#,
        &[r#""r//p""#],
        "not an image name such as registry.example/linkerd/proxy, without tag or digest",
    ),
    ("cniEnabled", "true", &[r#""true""#, "1", "[]", "{}"], "neither true nor false"),
    ("proxy.await", "false", &[r#""enabled""#], "neither true nor false"),
    ("proxy.capabilities", r#"{"drop": ["A"]}"#, &["[]", "true"], "not an object"),
    (
        "proxy.capabilities",
        r#"{"drop": ["A"]}"#,
        &[r#"{"drop": "ALL"}"#, r#"{"add": ["B"], "drop": [1]}"#],
        "one whose drop is no list of texts",
    ),
    ("proxyInit.capabilities", r#"{"add": ["A"]}"#, &[r#"{"add": {}}"#], "one whose add is no list of texts"),
    ("proxy.logHTTPHeaders", r#""insecure""#, &[r#""Insecure""#, r#""on""#], "neither insecure nor off"),
    ("proxy.ports.admin", "1", &["0", "-1", "65536", "1.5", "null", r#""80""#], "not a port between 1 and 65535"),
    ("proxy.resources.cpu.limit", r#""2""#, &[r#""-1""#, "-1"], "a negative quantity"),
    (
        "proxy.resources.memory.request",
        r#""2""#,
        &[r#""lots""#],
        "a quantity whose suffix is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei",
    ),
    ("proxy.resources.ephemeral-storage.limit", r#""2""#, &[r#"" 1""#], "not a quantity such as 100m, 1.5 or 64Mi"),
    (
        "proxy.uid",
        "7",
        &["0", "-1", "2147483648", "1.5", "null", r#""7""#, "[]", "1e30"],
        "not a whole number from 1 to 2147483647",
    ),
    ("proxy.gid", "7", &["2147483648", r#""7""#, "0.5"], "not a group id of at most 2147483647"),
    ("proxy.waitBeforeExitSeconds", "7", &["-1", "0.5", r#""7""#, "1e30"], "not a whole number from 0"),
    (
        "proxy.requireIdentityOnInboundPorts",
        r#""80""#,
        &[r#""web""#, r#""80,x""#, r#""70000""#],
        "not a list of ports and ranges such as 80,8080-8090",
    ),
    ("proxy.requireTLSOnInboundPorts", r#""80""#, &[r#""90-80""#], "a range that ends below its start"),
    (
        "proxy.outboundConnectTimeout",
        r#""2s""#,
        &[r#""1""#, r#""-1s""#, r#""1.5s""#],
        "not a duration such as 500ms, 10s, 5m, 1h or 365d",
    ),
    ("proxy.inboundConnectTimeout", r#""2s""#, &[r#""1us""#], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    ("proxy.outboundDiscoveryCacheUnusedTimeout", r#""2s""#, &[r#""x""#], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    ("proxy.inboundDiscoveryCacheUnusedTimeout", r#""2s""#, &["5"], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    ("proxy.shutdownGracePeriod", r#""2s""#, &[r#""1m30s""#], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    ("proxy.control.streams.lifetime", r#""2h""#, &[r#""soon""#], "not a duration such as 500ms, 10s, 5m, 1h or 365d"),
    (
        "proxy.defaultInboundPolicy",
        r#""deny""#,
        &[r#""none""#, "null", r#""$(A)""#],
        "not one of deny, audit, all-authenticated, all-unauthenticated, cluster-authenticated, cluster-unauthenticated",
    ),
    ("proxy.startupProbe", r#"{"periodSeconds": 9}"#, &["[]", "5"], "not an object"),
    (
        "proxy.readinessProbe",
        r#"{"timeoutSeconds": 9}"#,
        &[r#"{"timeoutSeconds": -1}"#, r#"{"initialDelaySeconds": 3, "timeoutSeconds": 2147483648}"#, r#"{"timeoutSeconds": "1"}"#],
        "one whose timeoutSeconds is not a whole number from 0",
    ),
    (
        "proxy.livenessProbe",
        r#"{"timeoutSeconds": 9}"#,
        &[r#"{"failureThreshold": 1.5}"#],
        "one whose failureThreshold is not a whole number from 0",
    ),
    ("proxy.tracing.labels", r#"{"a": "b"}"#, &["[]", r#""a=b""#], "not an object"),
    ("proxy.tracing.labels", r#"{"a": "b"}"#, &[r#"{"a": "c", "d": []}"#], "one whose d is not a text"),
    (
        "proxy.tracing.collector.endpoint",
        r#""c.test:1""#,
        &[r#""c.test""#, r#""http://c.test:1""#],
        "not a host with a port such as localhost.:8086",
    ),
    ("proxy.tracing.collector.meshIdentity.namespace", r#""t""#, &[r#""a b""#], "not a DNS name"),
    ("proxy.additionalEnv", r#"[{"name": "A"}]"#, &["{}", r#""A=1""#], "not a list"),
    ("proxy.inbound", r#"{"a": {"b": {"c": 1}}}"#, &["[]", "1"], "not an object"),
    (
        "proxy.outbound",
        r#"{"a": {"b": {"c": 1}}}"#,
        &[r#"{"a": 1}"#, r#"{"a": {"b": "c"}}"#, r#"{"a": {"b": {"c": 2}}, "d": []}"#],
        "not an object of scopes, protocols and parameters",
    ),
    ("proxy.cores", "7", &["-1", "0.5", r#""7""#], "not a whole number from 0"),
    ("proxy.runtime.workers.maximum", "7", &["-1"], "not a whole number from 0"),
    ("proxy.runtime.workers.maximumCPURatio", "0.5", &["-0.1", "1.01", r#""0.5""#, "true"], "not a number from 0 to 1"),
    ("proxy.securityContext", r#"{"a": 1}"#, &["[]", "true"], "not an object"),
    (
        "proxyInit.skipSubnets",
        r#""10.0.0.0/8""#,
        &[r#""x""#, r#""10.0.0.0/8,""#],
        "not a comma-separated list of networks such as 10.0.0.0/8",
    ),
    ("proxyInit.skipSubnets", r#""10.0.0.0/8""#, &[r#""fd00::/8""#], "a list with an IPv6 network, which iptables refuses"),
    ("proxyInit.logLevel", r#""debug""#, &[r#""verbose""#, r#""info ""#], "not a log level"),
    ("proxyInit.xtMountPath.mountPath", r#""/x""#, &["null", r#""""#, r#""/a:b""#], "not a mount path"),
    ("proxyInit.closeWaitTimeoutSecs", "7", &["-1", "2147484"], "not a whole number from 0 to 2147483"),
    ("proxyInit.runAsUser", "7", &["-1", "2147483648"], "not a whole number from 0 to 2147483647"),
    ("proxyInit.iptablesMode", r#""legacy""#, &["null", r#""""#, r#""plain""#], "neither nft nor legacy"),
    ("networkValidator.logLevel", r#""info""#, &["null", r#""""#], "empty"),
    ("networkValidator.timeout", r#""1s""#, &[r#""""#], "empty"),
    ("networkValidator.logFormat", r#""json""#, &["null", r#""xml""#], "neither plain nor json"),
    (
        "networkValidator.connectAddr",
        r#""1.1.1.1:1""#,
        &[r#""1.1.1.1""#, r#""localhost:80""#, r#""::1:80""#],
        "not an IP address with a port",
    ),
    ("networkValidator.securityContext", r#"{"a": 1}"#, &["[]"], "not an object"),
];

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_leaf_that_is_refused_is_named_and_keeps_the_layer_below() {
    for (path, below, refused, problem) in REFUSED {
        let (below, faults) = layered(Values::default(), &layer_of(path, parsed(below)));
        assert_eq!(faults, [] as [String; 0], "{path}");
        assert_ne!(below, Values::default(), "{path}");
        for value in *refused {
            let expected = (below.clone(), vec![format!("values.{path} is {problem}")]);
            assert_eq!(layered(below.clone(), &layer_of(path, parsed(value))), expected, "{path} {value}");
        }
    }
}

#[test]
fn bounds_are_taken() {
    for (path, values) in [
        ("proxy.uid", vec![json!(1), json!(2_147_483_647), json!(2103.0)]),
        ("proxy.gid", vec![json!(0), json!(2_147_483_647)]),
        ("proxy.ports.admin", vec![json!(1), json!(65535)]),
        ("proxy.cores", vec![json!(i64::MAX)]),
        ("proxy.waitBeforeExitSeconds", vec![json!(u64::MAX), json!(1e3)]),
        ("proxy.runtime.workers.maximumCPURatio", vec![json!(0.001), json!(1), json!(1.0)]),
        ("proxyInit.runAsUser", vec![json!(0), json!(2_147_483_647)]),
        ("proxyInit.closeWaitTimeoutSecs", vec![json!(2_147_483)]),
        ("proxy.livenessProbe", vec![json!({"timeoutSeconds": 2_147_483_647}), json!({"timeoutSeconds": 0})]),
    ] {
        for value in values {
            let (changed, faults) = layered(Values::default(), &layer_of(path, value.clone()));
            assert_eq!(faults, [] as [String; 0], "{path} {value}");
            assert_ne!(changed, Values::default(), "{path} {value}");
        }
    }
}

#[test]
fn negative_groups_mean_none() {
    for group in [-1, i64::MIN] {
        let (below, _) = layered(Values::default(), &json!({"proxy": {"gid": 7}}));
        assert_eq!(layered(below, &json!({"proxy": {"gid": group}})), (Values::default(), vec![]), "{group}");
    }
}
