//! Lists of environment variables for the proxy, good and bad, as an annotation or the mesh's values have them.

use linkerd_injector_policy::parse::proxy_env::{GROUPS, VARIABLES};
use serde_json::{Map, Value, json};

use super::choice::Choice;

/// Names that are not the proxy's, of which some cannot be names.
const NAMES: &[&str] = &[
    "A",
    "B",
    "MY_VAR",
    "RUST_LOG",
    "_pod_ns",
    "_pod_ip",
    "_l5d_ns",
    "_l5d_trustdomain",
    "a.b-c",
    "TOKIO_CONSOLE",
    "LINKERD2_PROXY_NO_SUCH",
    "LINKERD2_PROXY_INBOUND_IPS",
    "LINKERD2_PROXY_CORES",
    "LINKERD2_PROXY_CORES_MAX_RATIO",
    "",
    "a=b",
    "a b",
    "é",
    "1A",
];

/// Values, of which each can be read as something.
const VALUES: &str = r#"["", "1", "true", "false", "1s", "250ms", "-1s", "x", "0", "65536", "80,443", "0.0.0.0:4143", "[::]:80",
    "localhost.:8086", "a.b:80", "a.b", "a.b.", "10.0.0.0/8", "deny", "audit", "all-authenticated", "$(A)", "$(_pod_ns).svc", "$$(A)", "json",
    "warn,linkerd=debug", "0.5", "100", "1 s", "\"", "a\nb", "},]", "10.0.0.1,fd00::1", "unsafe", "spiffe://a.b/c", "18446744073709551615",
    "10s", "5m", "1h", " 1s", "é", "0.0.0.0:0", "127.0.0.1:1,[::1]:1", "a", "1d", "null", "16384", "0.1", "0.0.0.0:4191",
    "0.0.0.0:4143,[::]:4190", "localhost:80", "127.0.0.1:80", "[::1]:80", "4294967296", "2305843009213693952", "NaN", "1e2", "+5", "101",
    "2d", "16777216", "2147483648", "10.0.0.0/33", "a.1", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"]"#;

/// Sources, good and bad.
const SOURCES: &str = r#"[{"fieldRef": {"fieldPath": "metadata.name"}}, {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}},
    {"fieldRef": {"fieldPath": "metadata.labels['app']"}}, {"fieldRef": {"fieldPath": "spec.nodeName"}}, {"fieldRef": {"fieldPath": "no.such"}},
    {"fieldRef": {"fieldPath": ""}}, {"fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}, {"fieldRef": {"fieldPath": "status.hostIPs"}},
    {"resourceFieldRef": {"resource": "limits.cpu"}}, {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}},
    {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}, {"resourceFieldRef": {"resource": "requests.cpu", "divisor": 1}},
    {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}, {"resourceFieldRef": {"resource": "no.such"}},
    {"resourceFieldRef": {"containerName": "app", "resource": "limits.memory", "divisor": "1"}},
    {"resourceFieldRef": {"resource": "requests.memory", "divisor": "1.0"}}, {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1024Ki"}},
    {"configMapKeyRef": {"name": "m", "key": "k"}}, {"configMapKeyRef": {"name": "m", "key": "k", "optional": true}},
    {"configMapKeyRef": {"name": "", "key": "k"}}, {"configMapKeyRef": {"name": "M", "key": "k"}}, {"configMapKeyRef": {"name": "m", "key": ".."}},
    {"secretKeyRef": {"name": "s", "key": "k"}}, {"secretKeyRef": {"name": "s"}}, {"secretKeyRef": {"key": "k"}},
    {"fileKeyRef": {"volumeName": "scratch", "path": "a/b", "key": "k"}}, {"fileKeyRef": {"volumeName": "no-such", "path": "a", "key": "k"}},
    {"fileKeyRef": {"volumeName": "scratch", "path": "../a", "key": "k"}}, {"fileKeyRef": {"volumeName": "config", "path": "a", "key": "k"}}, {},
    null, {"fieldRef": null}, {"noSuch": {}}, {"fieldRef": {"fieldPath": "metadata.name"}, "secretKeyRef": {"name": "s", "key": "k"}}]"#;

/// A list as JSON text.
pub fn list(choice: &mut Choice) -> String {
    Value::Array(entries(choice)).to_string()
}

/// The values, of which each is tried with each variable of the proxy.
#[cfg(test)]
pub fn values() -> Vec<String> {
    serde_json::from_str(VALUES).unwrap_or_default()
}

/// A list of one to three variables. Some are of one group, in which they must fit together.
pub fn entries(choice: &mut Choice) -> Vec<Value> {
    let of_proxy: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    let group = GROUPS.get(choice.below(GROUPS.len().saturating_mul(3))).map(|group| group.variables);
    (0..=choice.below(3))
        .map(|_| {
            let from = group.unwrap_or(if choice.one_in(3) { NAMES } else { &of_proxy });
            entry(choice, from)
        })
        .collect()
}

fn entry(choice: &mut Choice, names: &[&str]) -> Value {
    let name = choice.pick(names);
    let mut entry = Map::from_iter([("name".to_owned(), json!(name))]);
    let has_source = choice.one_in(5);
    if has_source {
        entry.insert("valueFrom".to_owned(), choice.json(SOURCES));
    }
    if !has_source || choice.one_in(12) {
        entry.insert("value".to_owned(), choice.json(VALUES));
    }
    choice.may_set(&mut entry, 30, "unknown", r#"[1, null, "a"]"#);
    Value::Object(entry)
}
