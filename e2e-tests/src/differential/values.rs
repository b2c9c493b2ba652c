//! What a mesh's configuration says besides the chart's defaults.
//!
//! The values have the types of the chart, for Linkerd's injector reads none at all where one has another type.

use serde_json::{Map, Value, json};

use super::{choice::Choice, variable};
use crate::case::deep_merge;

/// A leaf of the chart's values: where it is, and JSON lists of what may be there, good and bad.
#[derive(Debug)]
pub struct Leaf {
    /// A JSON pointer into the values.
    pub pointer: &'static str,
    good: &'static str,
    bad: &'static str,
}

const fn leaf(pointer: &'static str, good: &'static str, bad: &'static str) -> Leaf {
    Leaf { pointer, good, bad }
}

const FLAG: &str = "[true, false]";
const NONE: &str = "[]";

/// The leaves that the injector reads.
pub const LEAVES: &[Leaf] = &[
    leaf("/clusterDomain", r#"["example.org", "cluster.local"]"#, NONE),
    leaf(
        "/clusterNetworks",
        r#"["10.0.0.0/8", "10.0.0.0/8,fd00::/8", "0.0.0.0/0", ""]"#,
        r#"["10.0.0.0/33", "x", "10.0.0.1/8", "10.0.0.0/8, fd00::/8"]"#,
    ),
    leaf("/imagePullPolicy", r#"["Always", "Never", "IfNotPresent"]"#, r#"["always"]"#),
    leaf("/linkerdVersion", r#"["edge-26.9.1", "stable-2.14.0"]"#, NONE),
    leaf("/cniEnabled", FLAG, NONE),
    leaf("/disableIPv6", FLAG, NONE),
    leaf("/identityTrustDomain", r#"["trust.example.org", "a.b"]"#, NONE),
    leaf("/identity/serviceAccountTokenProjection", FLAG, NONE),
    leaf("/proxy/image/name", r#"["mirror.test/linkerd/proxy", "mirror.test:5000/p"]"#, r#"["Mirror.test/P", "a:b"]"#),
    leaf("/proxy/image/version", r#"["v1", "", "edge-1"]"#, r#"["a b", "-a"]"#),
    leaf("/proxy/image/pullPolicy", r#"["Always", "Never", ""]"#, r#"["never"]"#),
    leaf("/proxy/capabilities", r#"[null, {"add": ["NET_BIND_SERVICE"]}, {"drop": ["ALL"]}, {"add": ["A"], "drop": ["B"]}]"#, NONE),
    leaf("/proxy/enableExternalProfiles", FLAG, NONE),
    leaf("/proxy/enableShutdownEndpoint", FLAG, NONE),
    leaf("/proxy/logLevel", r#"["debug", "warn,linkerd=trace", "info"]"#, NONE),
    leaf("/proxy/logFormat", r#"["json", "plain"]"#, NONE),
    leaf("/proxy/logHTTPHeaders", r#"["insecure", "off", ""]"#, r#"["on"]"#),
    leaf("/proxy/ports/admin", "[4191, 5191, 8080]", "[0, 70000, 4143]"),
    leaf("/proxy/ports/control", "[4190, 5190]", "[0, -1, 4191]"),
    leaf("/proxy/ports/inbound", "[4143, 5143]", "[0, 65536]"),
    leaf("/proxy/ports/outbound", "[4140, 5140]", "[0, 4143]"),
    leaf("/proxy/resources/cpu/limit", r#"["", "1", "500m", "2"]"#, r#"["-1", "x"]"#),
    leaf("/proxy/resources/cpu/request", r#"["", "100m", "1", "3"]"#, r#"["x"]"#),
    leaf("/proxy/resources/memory/limit", r#"["", "250Mi", "1Gi"]"#, r#"["64MB"]"#),
    leaf("/proxy/resources/memory/request", r#"["", "20Mi", "2Gi"]"#, r#"["-1"]"#),
    leaf("/proxy/resources/ephemeral-storage/limit", r#"["", "1Gi"]"#, r#"["?"]"#),
    leaf("/proxy/resources/ephemeral-storage/request", r#"["", "10Mi"]"#, r#"["?"]"#),
    leaf("/proxy/uid", "[2102, 1000, 1001060000]", "[0, -1]"),
    leaf("/proxy/gid", "[-1, 0, 3000, 1001060000]", "[4294967296]"),
    leaf("/proxy/waitBeforeExitSeconds", "[0, 5, 3600]", NONE),
    leaf("/proxy/isGateway", FLAG, NONE),
    leaf("/proxy/requireIdentityOnInboundPorts", r#"["", "8080", "80,443"]"#, r#"["x"]"#),
    leaf("/proxy/requireTLSOnInboundPorts", r#"["443,8443"]"#, r#"["x"]"#),
    leaf("/proxy/outboundConnectTimeout", r#"["1000ms", "2s", ""]"#, r#"["1", "-1s"]"#),
    leaf("/proxy/inboundConnectTimeout", r#"["100ms", "1m"]"#, r#"["1.5s"]"#),
    leaf("/proxy/outboundDiscoveryCacheUnusedTimeout", r#"["5s", "500ms", ""]"#, r#"["x"]"#),
    leaf("/proxy/inboundDiscoveryCacheUnusedTimeout", r#"["90s", "1d"]"#, r#"["1m30s"]"#),
    leaf("/proxy/disableOutboundProtocolDetectTimeout", FLAG, NONE),
    leaf("/proxy/disableInboundProtocolDetectTimeout", FLAG, NONE),
    leaf("/proxy/podInboundPorts", r#"["", "80"]"#, NONE),
    leaf("/proxy/opaquePorts", r#"["25", "", "3306,8000-8010", " 25 , 8080", "25,25,587"]"#, r#"["x", "9-8", "25,"]"#),
    leaf("/proxy/await", FLAG, NONE),
    leaf("/proxy/defaultInboundPolicy", r#"["deny", "all-authenticated", "cluster-authenticated", "audit"]"#, r#"["allow"]"#),
    leaf("/proxy/accessLog", r#"["", "apache", "json"]"#, NONE),
    leaf("/proxy/shutdownGracePeriod", r#"["", "30s", "2m"]"#, r#"["x"]"#),
    leaf("/proxy/nativeSidecar", FLAG, NONE),
    leaf("/proxy/startupProbe/initialDelaySeconds", "[0, 3]", NONE),
    leaf("/proxy/startupProbe/periodSeconds", "[1, 5]", NONE),
    leaf("/proxy/startupProbe/failureThreshold", "[1, 60]", NONE),
    leaf("/proxy/readinessProbe/initialDelaySeconds", "[0, 9]", NONE),
    leaf("/proxy/readinessProbe/timeoutSeconds", "[1, 9]", NONE),
    leaf("/proxy/livenessProbe/initialDelaySeconds", "[0, 9]", NONE),
    leaf("/proxy/livenessProbe/timeoutSeconds", "[1, 9]", NONE),
    leaf("/proxy/control/streams/initialTimeout", r#"["1s", "3s"]"#, NONE),
    leaf("/proxy/control/streams/idleTimeout", r#"["10m", "5m"]"#, NONE),
    leaf("/proxy/control/streams/lifetime", r#"["2h", "1d"]"#, NONE),
    leaf("/proxy/metrics/hostnameLabels", FLAG, NONE),
    leaf("/proxy/tracing", TRACING, r#"[{"enabled": true}, {"enabled": true, "collector": {"endpoint": "a:1"}}]"#),
    leaf("/proxy/inbound/server/http2/maxConcurrentStreams", "[100, 1000000, 16777216]", NONE),
    leaf("/proxy/inbound/server/http2/initialStreamWindowSize", "[65535, 1048576]", NONE),
    leaf("/proxy/inbound/server/http2/keepAliveInterval", r#"["20s"]"#, NONE),
    leaf("/proxy/outbound/tcp/queue/failFastTimeout", r#"["3s", "500ms"]"#, NONE),
    leaf("/proxy/cores", "[0, 1, 4]", NONE),
    leaf("/proxy/runtime/workers/minimum", "[0, 1, 2, 1000000]", NONE),
    leaf("/proxy/runtime/workers/maximum", "[0, 4]", NONE),
    leaf("/proxy/runtime/workers/maximumCPURatio", "[0, 0.5, 1, 0.25]", NONE),
    leaf("/proxy/securityContext", r#"[{}, {"runAsUser": 5}, {"privileged": false, "capabilities": {"drop": ["ALL"]}}]"#, NONE),
    leaf("/proxyInit/capabilities", r#"[null, {"add": ["SYS_TIME"]}, {"add": ["NET_ADMIN"], "drop": ["ALL"]}]"#, NONE),
    leaf("/proxyInit/ignoreInboundPorts", r#"["", "4567", "8000-8010,25", " 25"]"#, r#"["x", "25,,26", "0"]"#),
    leaf("/proxyInit/ignoreOutboundPorts", r#"["", "443", "1-2"]"#, r#"["9-8", "https"]"#),
    leaf("/proxyInit/skipSubnets", r#"["", "10.0.0.0/8", "10.0.0.0/8,11.0.0.0/8"]"#, r#"["x", "fd00::/8"]"#),
    leaf("/proxyInit/logLevel", r#"["", "debug"]"#, NONE),
    leaf("/proxyInit/logFormat", r#"["", "json", "plain"]"#, NONE),
    leaf("/proxyInit/xtMountPath/mountPath", r#"["/run", "/xt"]"#, NONE),
    leaf("/proxyInit/closeWaitTimeoutSecs", "[0, 60, 3600]", "[-1]"),
    leaf("/proxyInit/privileged", FLAG, NONE),
    leaf("/proxyInit/runAsRoot", FLAG, NONE),
    leaf("/proxyInit/runAsUser", "[65534, 1000, 0]", NONE),
    leaf("/proxyInit/runAsGroup", "[65534, 1000, 0]", NONE),
    leaf("/proxyInit/iptablesMode", r#"["nft", "legacy"]"#, r#"["", "x"]"#),
    leaf("/networkValidator/logLevel", r#"["info", "debug"]"#, NONE),
    leaf("/networkValidator/logFormat", r#"["json", "plain"]"#, NONE),
    leaf("/networkValidator/connectAddr", r#"["", "1.1.1.1:20001"]"#, NONE),
    leaf("/networkValidator/listenAddr", r#"["", "0.0.0.0:4140"]"#, NONE),
    leaf("/networkValidator/timeout", r#"["10s", "1m"]"#, NONE),
    leaf("/networkValidator/enableSecurityContext", FLAG, NONE),
    leaf("/networkValidator/securityContext/runAsUser", "[65534, 7]", NONE),
    leaf("/debugContainer/image/name", r#"["mirror.test/debug"]"#, r#"["a b"]"#),
    leaf("/debugContainer/image/version", r#"["v2"]"#, r#"["?"]"#),
    leaf("/debugContainer/image/pullPolicy", r#"["", "Always"]"#, r#"["always"]"#),
];

const TRACING: &str = r#"[{"enabled": false}, {"enabled": true, "collector": {"endpoint": "collector.obs:4317", "meshIdentity":
    {"namespace": "obs", "serviceAccountName": "collector"}}}, {"enabled": true, "protocol": "opencensus", "traceServiceName": "mine", "labels":
    {"a.b": "c d"}, "collector": {"endpoint": "collector.obs:55678", "meshIdentity": {"namespace": "obs", "serviceAccountName": "collector"}}}]"#;

/// Lists of variables in the values.
const ENVIRONMENTS: &[&str] = &["/proxy/additionalEnv", "/proxy/experimentalEnv"];

/// Overrides on the chart's defaults.
pub fn values(choice: &mut Choice) -> Map<String, Value> {
    let mut values = Map::new();
    let many = match choice.below(3) {
        0 => 0,
        1 => choice.below(3),
        _ => choice.below(9),
    };
    for _ in 0..many {
        let Some(leaf) = LEAVES.get(choice.below(LEAVES.len())) else { continue };
        let list = if leaf.bad != NONE && choice.one_in(12) { leaf.bad } else { leaf.good };
        let value = choice.json(list);
        put(&mut values, leaf.pointer, value);
    }
    for pointer in ENVIRONMENTS {
        if choice.one_in(30) {
            put(&mut values, pointer, json!(variable::entries(choice)));
        }
    }
    if choice.one_in(6) {
        put(&mut values, "/cniEnabled", json!(true));
    }
    if choice.one_in(3) {
        put(&mut values, "/proxy/nativeSidecar", json!(false));
    }
    values
}

/// Lays a value at a JSON pointer over the others.
fn put(values: &mut Map<String, Value>, pointer: &str, value: Value) {
    let nest = |inner: Value, key: &str| Value::Object(Map::from_iter([(key.to_owned(), inner)]));
    if let Value::Object(over) = pointer.split('/').skip(1).collect::<Vec<_>>().into_iter().rfold(value, nest) {
        deep_merge(values, &over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_json_and_pointers_are_unique() {
        let mut pointers: Vec<&str> = LEAVES.iter().map(|leaf| leaf.pointer).collect();
        pointers.sort_unstable();
        assert!(pointers.windows(2).all(|pair| pair[0] != pair[1]));
        for leaf in LEAVES {
            let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap().len();
            assert!(list(leaf.good) > 0 && list(leaf.bad) < usize::MAX, "{}", leaf.pointer);
        }
    }

    #[test]
    fn every_leaf_is_set_at_times() {
        let mut choice = Choice::of(3);
        let all: Vec<Value> = (0..4000).map(|_| Value::Object(values(&mut choice))).collect();
        for pointer in LEAVES.iter().map(|leaf| leaf.pointer).chain(ENVIRONMENTS.iter().copied()) {
            assert!(all.iter().any(|values| values.pointer(pointer).is_some()), "{pointer}");
        }
    }
}
