//! What SECURITY.md says that users can do by annotations: they can, and the settings that it recommends keep them from it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use std::{collections::BTreeSet, fs};

use e2e_tests::{artefacts, ask::Ask, policy::Native};
use linkerd_injector_policy::overrides::OVERRIDES;
use serde_json::{Value, json};

/// An annotation of Linkerd's domain, a text, a container or `metadata`, and what then stands in it.
type Gain = (&'static str, &'static str, &'static str, &'static str);

/// Every row of the table, with proof.
const GAINS: &[Gain] = &[
    ("proxy-image", "evil.test/proxy", "linkerd-init", r#""image":"evil.test/proxy:"#),
    ("proxy-image", "evil.test/proxy", "linkerd-init", "NET_ADMIN"),
    ("proxy-image", "evil.test/proxy", "linkerd-proxy", r#""image":"evil.test/proxy:"#),
    ("proxy-version", "evil", "linkerd-init", ":evil"),
    ("image-pull-policy", "Never", "linkerd-init", r#""imagePullPolicy":"Never""#),
    ("enable-debug-sidecar", "true", "linkerd-debug", r#""name":"linkerd-debug""#),
    ("debug-image", "evil.test/debug", "linkerd-debug", r#""image":"evil.test/debug:"#),
    ("debug-image-version", "evil", "linkerd-debug", ":evil"),
    ("debug-image-pull-policy", "Never", "linkerd-debug", r#""imagePullPolicy":"Never""#),
    (
        "proxy-additional-env",
        r#"[{"name":"LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS","value":"-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n"}]"#,
        "linkerd-proxy",
        "MIIC",
    ),
    (
        "proxy-additional-env",
        r#"[{"name":"LINKERD2_PROXY_POLICY_SVC_ADDR","value":"evil.test:1"}]"#,
        "linkerd-proxy",
        "evil.test:1",
    ),
    ("proxy-uid", "1000", "linkerd-init", r#""--proxy-uid","1000""#),
    ("proxy-gid", "1000", "linkerd-init", r#""--proxy-gid","1000""#),
    ("skip-inbound-ports", "1-65535", "linkerd-init", "4190,4191,1-65535"),
    ("skip-outbound-ports", "1-65535", "linkerd-init", r#""--outbound-ports-to-ignore","1-65535""#),
    ("skip-subnets", "10.0.0.0/8", "linkerd-init", "10.0.0.0/8"),
    ("default-inbound-policy", "all-unauthenticated", "linkerd-proxy", r#"DEFAULT_POLICY","value":"all-unauthenticated""#),
    ("proxy-require-identity-inbound-ports", "", "linkerd-proxy", r#"INBOUND_PORTS","value":"8080""#),
    ("pod-inbound-ports", "1", "linkerd-proxy", r#"INBOUND_PORTS","value":"1""#),
    ("opaque-ports", "1-65535", "linkerd-proxy", r#"DISABLE_PROTOCOL_DETECTION","value":"1-65535""#),
    ("inbound-port", "5143", "linkerd-proxy", "5143"),
    ("outbound-port", "5140", "linkerd-proxy", "5140"),
    ("admin-port", "5191", "linkerd-proxy", "5191"),
    ("control-port", "5190", "linkerd-proxy", "5190"),
    ("proxy-admin-shutdown", "enabled", "linkerd-proxy", r#"SHUTDOWN_ENDPOINT_ENABLED","value":"true""#),
    ("proxy-log-http-headers", "insecure", "linkerd-proxy", r#"hickory=error""#),
    ("proxy-log-level", "trace", "linkerd-proxy", r#"LINKERD2_PROXY_LOG","value":"trace"#),
    ("access-log", "json", "linkerd-proxy", r#"ACCESS_LOG","value":"json""#),
    ("proxy-cpu-request", "7", "linkerd-proxy", r#""cpu":"7""#),
    ("proxy-cpu-limit", "7", "linkerd-proxy", r#""cpu":"7""#),
    ("proxy-memory-request", "7Gi", "linkerd-proxy", "7Gi"),
    ("proxy-memory-limit", "7Gi", "linkerd-proxy", "7Gi"),
    ("proxy-ephemeral-storage-request", "7Gi", "linkerd-proxy", "7Gi"),
    ("proxy-ephemeral-storage-limit", "7Gi", "linkerd-proxy", "7Gi"),
    ("proxy-cpu-ratio-limit", "0.25", "linkerd-proxy", "0.25"),
    ("close-wait-timeout", "30s", "linkerd-init", r#""privileged":true"#),
    ("enable-gateway", "true", "linkerd-proxy", "INBOUND_GATEWAY_SUFFIXES"),
    ("enable-external-profiles", "true", "linkerd-proxy", r#"DESTINATION_PROFILE_SUFFIXES","value":".""#),
];

fn security() -> String {
    fs::read_to_string(artefacts::folder().join("../SECURITY.md")).unwrap()
}

/// The keys that the table names.
fn named() -> BTreeSet<String> {
    let text = security();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned);
    cells.collect()
}

/// The settings that it recommends.
fn hardened() -> Value {
    let text = security();
    let block = text.split_once("<!-- hardened -->\n```yaml\n").unwrap().1.split_once("```").unwrap().0;
    serde_norway::from_str(block).unwrap()
}

/// The part of the pod that a gain is about, as text, and what people are told.
fn part(gain: &Gain, settings: Value) -> (String, Value) {
    let (key, text, name, _) = *gain;
    let key = format!("config.linkerd.io/{key}");
    let mut annotations = json!({ &key: text });
    // The other side of the same gain.
    if name == "linkerd-debug" && settings["allowedOverrides"].is_null() {
        annotations["config.linkerd.io/enable-debug-sidecar"] = json!("true");
    }
    let ports = json!({"containers": [{"name": "app", "image": "i", "ports": [{"containerPort": 8080}]}]});
    let values = json!({
        "proxy": {"defaultInboundPolicy": "deny", "nativeSidecar": true, "runtime": {"workers": {"minimum": 1}}},
        "proxyInit": {"runAsRoot": true}, "clusterNetworks": "10.0.0.0/8",
    });
    let answer = Ask::meshed(annotations, ports).values(values).settings(settings).of(&Native).unwrap();
    let lists = ["initContainers", "containers"].into_iter().filter_map(|list| answer.object["spec"][list].as_array()).flatten();
    let found = lists.into_iter().find(|container| container["name"] == name).map(ToString::to_string).unwrap_or_default();
    let kept = answer.object["metadata"]["annotations"].get(&key).cloned();
    (found, json!({"warnings": answer.warnings(), "message": answer.response.message, "kept": kept}))
}

#[test]
fn users_gain_what_the_table_says() {
    let proven: BTreeSet<String> = GAINS.iter().map(|(key, ..)| (*key).to_owned()).collect();
    assert_eq!(proven, named());
    for gain in GAINS {
        let (found, told) = part(gain, json!({}));
        assert!(found.contains(gain.3), "{gain:?}: {found} {told}");
        assert_eq!(told["warnings"], json!([]), "{gain:?}");
    }
}

#[test]
fn the_recommended_settings_keep_them_from_it() {
    let hardened = hardened();
    let validated = linkerd_injector_policy::validate_settings(hardened.to_string().as_bytes());
    assert_eq!(String::from_utf8(validated).unwrap(), r#"{"valid":true,"message":null}"#);
    let allowed: Vec<&str> = hardened["allowedOverrides"].as_array().unwrap().iter().map(|entry| entry.as_str().unwrap()).collect();
    // What they leave is what the text calls safe; the rest of the table is forbidden.
    let left =
        |key: &str| allowed.iter().any(|entry| entry.strip_suffix('*').map_or(*entry == key, |prefix| key.starts_with(prefix)));
    let mut forbidden = 0;
    for gain in GAINS {
        let key = format!("config.linkerd.io/{}", gain.0);
        let (found, told) = part(gain, hardened.clone());
        if left(&key) {
            assert!(found.contains(gain.3), "{gain:?}: {found} {told}");
            continue;
        }
        forbidden += 1;
        let message = format!("linkerd-injector-policy: {key} is forbidden by allowedOverrides of the policy");
        assert_eq!((found.as_str(), &told["message"]), ("", &json!(message)), "{gain:?}");
        // The same without a rejection: it is taken off, and nothing comes of it.
        let mut warning = hardened.clone();
        warning["onInvalidAnnotation"] = json!("warn");
        let (found, told) = part(gain, warning);
        let is_there_anyway = ["NET_ADMIN", r#"INBOUND_PORTS","value":"8080""#].contains(&gain.3);
        assert!(is_there_anyway || !found.contains(gain.3), "{gain:?}: {found}");
        assert_eq!((&told["kept"], told["warnings"].as_array().unwrap().len()), (&Value::Null, 1), "{gain:?}");
    }
    assert!(forbidden > 20, "only {forbidden} are forbidden");
    for entry in &allowed {
        let known = OVERRIDES.iter().flat_map(|o| o.keys).any(|key| left(key) && key.starts_with(entry.trim_end_matches('*')));
        assert!(known, "{entry}");
    }
}

#[test]
fn a_namespace_may_say_what_its_pods_may_not() {
    let settings = json!({"allowedOverrides": []});
    let namespace =
        json!({"config.linkerd.io/proxy-image": "registry.test/mirror", "config.linkerd.io/default-inbound-policy": "deny"});
    let pod = json!({"config.linkerd.io/proxy-image": "evil.test/proxy", "config.linkerd.io/default-inbound-policy": "all-unauthenticated"});
    let answer = Ask::meshed(pod, json!({})).namespace(namespace.clone()).settings(settings).of(&Native).unwrap();
    let text = answer.object["spec"].to_string();
    assert!(text.contains("registry.test/mirror") && !text.contains("evil.test"), "{text}");
    for (key, value) in namespace.as_object().unwrap() {
        assert_eq!(&answer.object["metadata"]["annotations"][key], value);
    }
}
