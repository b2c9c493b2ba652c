use super::{additional_env, entry, file_volume, lay_over};
use serde_json::{Value, json};

#[test]
fn lists_are_read_and_written_as_go_does() {
    for (text, entries) in [
        ("", json!([])),
        ("null", json!([])),
        ("[]", json!([])),
        (r#" [{"name":"A","value":"b"}] "#, json!([{"name": "A", "value": "b"}])),
        (r#"[{"name":"A","value":""}]"#, json!([{"name": "A"}])),
        (r#"[{"name":"A","value":null,"valueFrom":null}]"#, json!([{"name": "A"}])),
        (r#"[{"NAME":"A","Value":"b","x":[1]}]"#, json!([{"name": "A", "value": "b"}])),
        (r#"[{"name":"A"},{"name":"A","value":"2"}]"#, json!([{"name": "A"}, {"name": "A", "value": "2"}])),
        (r#"[{"name":"a b\"$("}]"#, json!([{"name": "a b\"$("}])),
        (
            r#"[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName","x":1}}}]"#,
            json!([{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]),
        ),
        (
            r#"[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu"}}}]"#,
            json!([{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}]),
        ),
        (
            r#"[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":1,"containerName":"c"}}}]"#,
            json!([{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1", "containerName": "c"}}}]),
        ),
        (
            r#"[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":false}}}]"#,
            json!([{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": false}}}]),
        ),
    ] {
        let read = additional_env(text).map(|env| (Value::Array(env.entries), env.refused));
        assert_eq!(read, Ok((entries, Vec::new())), "{text}");
    }
}

#[test]
fn what_must_stay_unset_is_refused_wherever_it_is_from() {
    let source = json!({"fieldRef": {"fieldPath": "metadata.name"}});
    for (name, problem) in [
        ("LINKERD2_PROXY_IDENTITY_SPIRE_SOCKET", Some("not readable by the proxy: not supported by the proxy of an injected pod")),
        ("LINKERD2_PROXY_INGRESS_MODE", None),
    ] {
        for written in [json!({"name": name, "valueFrom": source}), json!({"name": name, "value": "$(A)"})] {
            assert_eq!(entry(&written).err().map(|e| e.to_string()).as_deref(), problem, "{written}");
        }
    }
}

#[test]
fn one_wrong_type_spoils_the_list() {
    for (text, error) in [
        (" ", "not JSON"),
        ("{", "not JSON"),
        ("[] x", "not JSON"),
        ("A=b", "not JSON"),
        ("{}", "not a JSON list of environment variables"),
        (r#""x""#, "not a JSON list of environment variables"),
        ("[1]", "not a JSON list of environment variables"),
        (r#"[{"name":"A"},{"name":"B","value":1}]"#, "not a JSON list of environment variables"),
        (r#"[{"name":"","valueFrom":[]}]"#, "not a JSON list of environment variables"),
        (r#"[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":true}}}]"#, "not a JSON list of environment variables"),
        (r#"[{"name":"A","valueFrom":{"secretKeyRef":{"optional":"x"}}}]"#, "not a JSON list of environment variables"),
        (r#"[{"name":"A","valueFrom":{"resourceFieldRef":{"divisor":"x"}}}]"#, "not a JSON list of environment variables"),
    ] {
        assert_eq!(additional_env(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text}");
    }
}

#[test]
fn single_entries_are_refused_by_name_or_place() {
    let text = r#"[{"name":"A"},{"value":"secret"},null,{"name":"a=b"},{"name":"LINKERD2_PROXY_INGRESS_MODE","value":"secret"}]"#;
    let read =
        additional_env(text).map(|env| env.refused.into_iter().map(|(name, e)| format!("{name} is {e}")).collect::<Vec<_>>());
    let refused = [
        "entry 1 is without a name",
        "entry 2 is without a name",
        "entry 3 is not named in printable ASCII without an equals sign",
        "LINKERD2_PROXY_INGRESS_MODE is not readable by the proxy: neither true nor false",
    ];
    assert_eq!(read, Ok(refused.map(str::to_owned).to_vec()));
}

#[test]
fn sources_are_those_of_the_api_server() {
    let field = "taken from a field that containers cannot refer to";
    let resource = "taken from a resource that containers cannot refer to";
    let divisor = "taken from a resource with a divisor that it does not have";
    let object = "taken from an object without a valid name";
    let key = "taken from an object without a valid key";
    for (source, error) in [
        (json!({}), Some("given a source of no known kind")),
        (json!({"newRef": {}}), Some("given a source of no known kind")),
        (json!({"fieldRef": {"fieldPath": "spec.host"}, "secretKeyRef": {}}), Some("given more than one source")),
        (json!({"fieldRef": {"apiVersion": "v1", "fieldPath": "status.hostIPs"}}), None),
        (json!({"fieldRef": {"apiVersion": "v2", "fieldPath": "status.hostIPs"}}), Some(field)),
        (json!({"fieldRef": {"fieldPath": "status.phase"}}), Some(field)),
        (json!({"fieldRef": {"fieldPath": "metadata.labels"}}), Some(field)),
        (json!({"fieldRef": {"fieldPath": "metadata.labels['a.b/C_d']"}}), None),
        (json!({"fieldRef": {"fieldPath": "metadata.labels['A.b/c']"}}), Some(field)),
        (json!({"fieldRef": {"fieldPath": "metadata.annotations['A.b/c']"}}), None),
        (json!({"fieldRef": {"fieldPath": "metadata.labels['-a']"}}), Some(field)),
        (json!({"fieldRef": {"fieldPath": "metadata.labels['a/b/c']"}}), Some(field)),
        (json!({"fieldRef": {"fieldPath": "metadata.name['a']"}}), Some(field)),
        (json!({"resourceFieldRef": {"resource": "requests.memory", "divisor": "1Mi"}}), None),
        (json!({"resourceFieldRef": {"resource": "limits.hugepages-2Mi", "divisor": "1Ei"}}), None),
        (json!({"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0m"}}), None),
        (json!({"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2m"}}), Some(divisor)),
        (json!({"resourceFieldRef": {"resource": "limits.memory", "divisor": "1m"}}), Some(divisor)),
        (json!({"resourceFieldRef": {"resource": "limits.pods"}}), Some(resource)),
        (json!({"resourceFieldRef": {}}), Some(resource)),
        (json!({"configMapKeyRef": {"name": "a.b", "key": "_-."}}), None),
        (json!({"configMapKeyRef": {"name": "", "key": "k"}}), Some(object)),
        (json!({"secretKeyRef": {"name": "A", "key": "k"}}), Some(object)),
        (json!({"secretKeyRef": {"name": "a"}}), Some(key)),
        (json!({"secretKeyRef": {"name": "a", "key": "..a"}}), Some(key)),
        (json!({"secretKeyRef": {"name": "a", "key": "."}}), Some(key)),
        (json!({"secretKeyRef": {"name": "a", "key": "k".repeat(253)}}), None),
        (json!({"secretKeyRef": {"name": "a", "key": "k".repeat(254)}}), Some(key)),
        (json!({"fileKeyRef": {"volumeName": "v", "path": "/a..b", "key": "a b"}}), None),
        (json!({"fileKeyRef": {"volumeName": "v", "path": "a/..", "key": "k"}}), Some(object)),
        (json!({"fileKeyRef": {"volumeName": "", "path": "a", "key": "k"}}), Some(object)),
        (json!({"fileKeyRef": {"volumeName": "v", "path": "a", "key": "a=b"}}), Some(key)),
    ] {
        let read = entry(&json!({"name": "LINKERD2_PROXY_INGRESS_MODE", "valueFrom": source})).map_err(|e| e.to_string());
        assert_eq!(read.err().as_deref(), error, "{source}");
    }
    let both = json!({"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "spec.host"}}});
    assert_eq!(entry(&both).map_err(|e| e.to_string()), Err("given both a value and a source".to_owned()));
    assert_eq!(entry(&json!(1)).map_err(|e| e.to_string()), Err("not in the shape of an environment variable".to_owned()));
}

#[test]
fn files_name_their_volume() {
    let file = json!({"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}});
    assert_eq!(file_volume(&file), Some("v"));
    assert_eq!(file_volume(&json!({"name": "A", "value": "v"})), None);
}

#[test]
fn entries_take_the_place_of_their_name() {
    let env =
        |entries: &[(&str, &str)]| entries.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>();
    for (below, over, expected) in [
        (env(&[]), env(&[]), env(&[])),
        (env(&[("A", "1")]), env(&[("B", "2")]), env(&[("A", "1"), ("B", "2")])),
        (env(&[("A", "1"), ("B", "2")]), env(&[("A", "3")]), env(&[("A", "3"), ("B", "2")])),
        (env(&[("A", "1"), ("A", "2")]), env(&[("A", "3")]), env(&[("A", "3"), ("A", "2")])),
        (env(&[]), env(&[("A", "1"), ("B", "2"), ("A", "3")]), env(&[("A", "3"), ("B", "2")])),
    ] {
        let mut laid = below;
        lay_over(&mut laid, over);
        assert_eq!(laid, expected);
    }
}
