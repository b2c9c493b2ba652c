use serde_json::json;

use super::*;
use crate::cluster::Manifests;

fn host() -> Host {
    Host::new(Manifests::new(vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})]))
}

fn get_namespace(name: &str) -> Vec<u8> {
    serde_json::to_vec(&json!({
        "api_version": "v1", "kind": "Namespace", "name": name, "namespace": null, "disable_cache": false, "field_masks": null
    }))
    .unwrap()
}

#[test]
fn answers_or_says_why_not() {
    let table: &[(&str, &str, &str, &[u8], &str)] = &[
        ("other", "kubernetes", "get_resource", b"{}", "unknown binding: other"),
        ("kubewarden", "oci", "v1/verify", b"{}", "unknown namespace: oci"),
        ("kubewarden", "kubernetes", "delete", b"{}", "unknown operation: delete"),
        ("kubewarden", "tracing", "span", b"{}", "unknown operation: span"),
    ];
    for (binding, namespace, operation, payload, text) in table {
        let refusal = host().call(binding, namespace, operation, payload).unwrap_err();
        assert_eq!(refusal.to_string(), *text);
    }
    let found = host().call("kubewarden", "kubernetes", "get_resource", &get_namespace("shop")).unwrap();
    assert_eq!(String::from_utf8(found).unwrap(), r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#);
    let missing = host().call("kubewarden", "kubernetes", "get_resource", &get_namespace("none")).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "Callback evaluation failure: Cannot find v1/Namespace named 'none' inside of namespace 'None'"
    );
    let broken = host().call("kubewarden", "kubernetes", "get_resource", b"{\"api_version\":1}").unwrap_err();
    assert!(matches!(broken, Refusal::Denied(_)), "{broken}");
}

#[test]
fn nobody_may_do_anything() {
    let payload = br#"{"subject_access_review":{"groups":null,"resource_attributes":{"resource":"pods","verb":"get"},"user":"u"},"disable_cache":true}"#;
    let answer = host().call("kubewarden", "kubernetes", "can_i", payload).unwrap();
    assert_eq!(answer, br#"{"allowed":false}"#);
}

#[test]
fn grants_are_checked_before_the_cluster_is_asked() {
    let ask = |grants: Grants| {
        host()
            .with_grants(grants)
            .call("kubewarden", "kubernetes", "get_resource", &get_namespace("shop"))
            .map_err(|refusal| refusal.to_string())
    };
    let no_capability =
        "Policy has not been granted access to the 'kubernetes/get_resource' host capability. The violation has been reported.";
    let no_resource = "Policy has not been granted access to Kubernetes v1/Namespace resources. The violation has been reported.";
    let table = [
        (Grants::capabilities(&[]), Some(no_capability)),
        (Grants::capabilities(&["kubernetes/list_resources_all", "oci/*"]), Some(no_capability)),
        (Grants::capabilities(&["kubernetes/get_resource"]), None),
        (Grants::capabilities(&["kubernetes/*"]), None),
        (Grants::capabilities(&["*"]), None),
        (Grants::resources(&[]), Some(no_resource)),
        (Grants::resources(&[("v1", "namespace")]), Some(no_resource)),
        (Grants::resources(&[("v1", "Namespace")]), None),
    ];
    for (grants, refusal) in table {
        assert_eq!(ask(grants.clone()).err().as_deref(), refusal, "{grants:?}");
    }
    let host = host().with_grants(Grants::capabilities(&[]));
    assert!(host.call("kubewarden", "tracing", "log", b"{}").is_ok(), "logging is never gated");
}

#[test]
fn keeps_what_is_logged() {
    let host = host();
    let line = br#"{"level":"warning","message":"no such thing","kind":"ConfigMap","why":"not there","n":3,"line":7,"column":1,"file":"x.rs"}"#;
    host.call("kubewarden", "tracing", "log", line).unwrap();
    host.call("kubewarden", "tracing", "log", b"not json").unwrap();
    let lines: Vec<String> = host.logged().iter().map(LogLine::to_string).collect();
    assert_eq!(lines, [r#"WARNING no such thing kind=ConfigMap n=3 why="not there""#, "ERROR unreadable log line"]);
}

#[test]
fn dropped_lines_are_not_kept() {
    for (logs, kept) in [(Logs::Kept, 1), (Logs::Dropped, 0)] {
        let host = Host::alone().with_logs(logs);
        assert_eq!(host.call("kubewarden", "tracing", "log", br#"{"level":"info","message":"x"}"#), Ok(Vec::new()));
        assert_eq!(host.logged().len(), kept);
    }
}
