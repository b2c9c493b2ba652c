//! What two leaves have in common when they say the same, and the record of them.

use super::{Value, json};
use crate::merge::leaf::{self, Class, Kind, Shape};
use crate::merge::path::Path;
use crate::merge::record::{Key, Record, Said};
use crate::merge::three_way::{note, note_variable};
use crate::render::Variable;

/// What there is to say of a path of several steps.
fn at<T>(steps: &[&str], say: &dyn Fn(&Path<'_>) -> T) -> T {
    fn on<T>(path: &Path<'_>, steps: &[&str], say: &dyn Fn(&Path<'_>) -> T) -> T {
        match steps.split_first() {
            None => say(path),
            Some((step, rest)) => on(&path.with(step), rest, say),
        }
    }
    let (first, rest) = steps.split_first().unwrap();
    on(&Path::of(first), rest, say)
}

#[test]
fn leaves_that_say_the_same_are_the_same() {
    for (kind, left, right) in [
        (Kind::Plain, json!(null), json!("")),
        (Kind::Plain, json!(0), json!(null)),
        (Kind::Plain, json!(false), json!([])),
        (Kind::Plain, json!({"value": "", "name": "A"}), json!({"name": "A"})),
        (Kind::Plain, json!({"fieldRef": {"fieldPath": "a", "apiVersion": "v1"}}), json!({"fieldRef": {"fieldPath": "a"}})),
        (Kind::Plain, json!({"httpGet": {"port": 1, "scheme": "HTTP"}}), json!({"httpGet": {"port": 1}})),
        (Kind::Plain, json!({"containerPort": 1, "protocol": "TCP"}), json!({"containerPort": 1})),
        (Kind::Plain, json!({"defaultMode": 420, "sources": []}), json!({})),
        (Kind::Quantity, json!("1000m"), json!(1)),
        (Kind::Quantity, json!("1024Mi"), json!("1Gi")),
        (Kind::Set, json!(["B", "A", "B"]), json!(["A", "B"])),
        (Kind::Set, json!([]), json!(null)),
        (Kind::Ports, json!("80, 90-91"), json!({"value": "90-91,80,80"})),
        (Kind::Ports, json!({"name": "A", "value": ""}), json!({"name": "A"})),
    ] {
        assert_eq!(leaf::canonical(kind, Some(&left)), leaf::canonical(kind, Some(&right)), "{left} {right}");
    }
}

#[test]
fn leaves_that_say_different_things_differ() {
    for (kind, left, right) in [
        (Kind::Plain, json!({"emptyDir": {}}), json!({})),
        (Kind::Plain, json!(["a", "b"]), json!(["b", "a"])),
        (Kind::Plain, json!(1), json!("1")),
        (Kind::Plain, json!({"a": "b", "c": "d"}), json!({"a": "b\",\"c\":\"d"})),
        (Kind::Plain, json!(["a", "b"]), json!(["a,\"b"])),
        (Kind::Exact, json!(["a"]), json!("[\"a\"]")),
        (Kind::Plain, json!({"port": 1, "scheme": "HTTPS"}), json!({"port": 1})),
        (Kind::Exact, json!(""), json!(null)),
        (Kind::Quantity, json!("1001m"), json!("1")),
        (Kind::Set, json!(["A"]), json!(["a"])),
        (Kind::Ports, json!("80"), json!("81")),
        (Kind::Ports, json!("80,x"), json!("80")),
    ] {
        let given = |value: &Value| if value.is_null() { None } else { leaf::canonical(kind, Some(value)) };
        assert_ne!(given(&left), given(&right), "{left} {right}");
    }
}

#[test]
fn identities_addresses_and_places_are_asserted() {
    for (steps, class) in [
        (&["linkerd-proxy", "securityContext", "runAsUser"][..], Class::Asserted),
        (&["linkerd-proxy", "securityContext", "runAsGroup"], Class::Asserted),
        (&["linkerd-proxy", "restartPolicy"], Class::Asserted),
        (&["linkerd-proxy", "command"], Class::Asserted),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS"], Class::Asserted),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_DESTINATION_SVC_ADDR"], Class::Asserted),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_POLICY_SVC_NAME"], Class::Asserted),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_INBOUND_LISTEN_ADDR"], Class::Asserted),
        (&["linkerd-proxy", "env", "_l5d_ns"], Class::Asserted),
        (&["linkerd-init", "args", "--proxy-uid"], Class::Asserted),
        (&["linkerd-init", "args", "--incoming-proxy-port"], Class::Asserted),
        (&["volumes", "linkerd-identity-token"], Class::Asserted),
        (&["linkerd-proxy", "volumeMounts", "/var/run/linkerd/identity/end-entity"], Class::Asserted),
        (&["linkerd-proxy", "volumeMounts", "/var/run/secrets/tokens"], Class::Asserted),
        (&["linkerd-proxy", "volumeMounts", "/etc/ssl"], Class::Defaulted),
        (&["linkerd-proxy", "image"], Class::Defaulted),
        (&["linkerd-proxy", "resources", "limits", "cpu"], Class::Defaulted),
        (&["linkerd-proxy", "lifecycle", "preStop"], Class::Defaulted),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_LOG"], Class::Defaulted),
        (&["linkerd-proxy", "env", "ANYTHING"], Class::Defaulted),
        (&["linkerd-init", "args", "--log-level"], Class::Defaulted),
        (&["linkerd-debug", "future"], Class::Defaulted),
    ] {
        assert_eq!(at(steps, &|path| leaf::of(path, None)).1, class, "{steps:?}");
    }
    for (steps, kind) in [
        (&["linkerd-init", "args", "--inbound-ports-to-ignore"][..], Kind::Ports),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_INBOUND_PORTS"], Kind::Ports),
        (&["linkerd-proxy", "env", "LINKERD2_PROXY_INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION"], Kind::Ports),
        (&["linkerd-proxy", "resources", "requests", "memory"], Kind::Quantity),
        (&["linkerd-proxy", "securityContext", "capabilities", "drop"], Kind::Set),
        (&["annotations", "any"], Kind::Exact),
    ] {
        assert_eq!(at(steps, &|path| leaf::of(path, None)).0, Shape::Leaf(kind), "{steps:?}");
    }
}

#[test]
fn sets_are_read_and_written_entry_by_entry() {
    for (kind, leaf, entries, written) in [
        (Kind::Ports, json!("2, 3-4,x"), Some(vec!["2", "3-4"]), json!("2,3-4")),
        (Kind::Ports, json!({"name": "A", "value": ""}), Some(vec![]), json!({"name": "A", "value": ""})),
        (Kind::Ports, json!({"name": "A", "valueFrom": {}}), None, json!({"name": "A", "value": "", "valueFrom": {}})),
        (Kind::Set, json!(["B", "A"]), Some(vec!["B", "A"]), json!(["B", "A"])),
        (Kind::Plain, json!("1,2"), None, json!("")),
    ] {
        let found = leaf::entries(kind, &leaf);
        assert_eq!(found, entries.map(|e| e.into_iter().map(str::to_owned).collect::<Vec<_>>()), "{leaf}");
        assert_eq!(leaf::with_entries(kind, &leaf, &found.unwrap_or_default()), written, "{leaf}");
    }
}

#[test]
fn a_record_survives_writing_and_reading() {
    let mut record = Record::default();
    assert_eq!(Record::read(&record.write()), Ok(record.clone()));
    for (steps, text) in [(&["a", "b"][..], "1"), (&["a"], "b"), (&["annotations", "k"], "\"v\"")] {
        record.note(Key::of(steps), Said::of(text.as_bytes()));
    }
    let read = Record::read(&record.write()).unwrap();
    assert_eq!(read, record);
    // Three leaves of eight bytes: 24 bytes are 32 characters.
    assert_eq!(record.write().len(), "v1:".len().saturating_add(32));
    for (steps, text, has, is) in [
        (&["a", "b"][..], Some("1"), true, true),
        (&["a", "b"], Some("2"), true, false),
        (&["a", "b"], None, true, false),
        (&["b", "a"], Some("1"), false, false),
        (&["b", "a"], None, false, true),
    ] {
        assert_eq!((read.has(Key::of(steps)), read.is(Key::of(steps), text.map(str::as_bytes))), (has, is), "{steps:?} {text:?}");
    }
}

#[test]
fn a_path_knows_its_steps_its_key_and_its_rows() {
    let proxy = Path::of("linkerd-proxy");
    let env = proxy.with("env");
    let (name, log) = (env.with("_pod_ns"), env.with("LINKERD2_PROXY_LOG"));
    assert_eq!(
        (name.steps(), leaf::of(&name, None)),
        (vec!["linkerd-proxy", "env", "_pod_ns"], (Shape::Leaf(Kind::Plain), Class::Asserted))
    );
    assert_eq!(
        (log.steps(), log.len(), leaf::of(&log, None).1),
        (vec!["linkerd-proxy", "env", "LINKERD2_PROXY_LOG"], 3, Class::Defaulted)
    );
    assert_eq!((proxy.steps(), proxy.len()), (vec!["linkerd-proxy"], 1));
    let mut record = Record::default();
    record.note(name.key().with("x"), Said::default());
    assert!(record.has(Key::of(&["linkerd-proxy", "env", "_pod_ns", "x"])));
}

#[test]
fn a_variable_is_recorded_as_its_value_is() {
    let text = |name: &str, value: &str| Variable::Text { name: name.to_owned(), value: value.to_owned() };
    for variable in [
        text("LINKERD2_PROXY_LOG", "warn"),
        text("LINKERD2_PROXY_LOG", ""),
        text("LINKERD2_PROXY_INBOUND_PORTS", "81,80"),
        text("LINKERD2_PROXY_INBOUND_PORTS", ""),
        Variable::Field { name: "_pod_ip", path: "status.podIP" },
        Variable::Given(json!({"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "a"}}})),
    ] {
        let (proxy, name) = (Path::of("linkerd-proxy"), variable.name().to_owned());
        let env = proxy.with("env");
        let (mut typed, mut untyped) = (Record::default(), Record::default());
        note_variable(&mut typed, &env.with(&name), &variable);
        note(&mut untyped, &env.with(&name), &variable.clone().into_value());
        assert_eq!(typed, untyped, "{variable:?}");
        assert!(typed.has(env.with(&name).key()));
    }
}

#[test]
fn what_no_version_wrote_is_no_record() {
    for text in ["", "v1", "v2:", "AAAA", "v1:A", "v1:AAAA", "v1:AAAAAAAAAAA=", "v1:AAAAAAAAAA+", " v1:"] {
        let error = Record::read(text).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(error, Err("cannot be read, and is taken as absent".to_owned()), "{text}");
    }
    assert_eq!(Record::read("v1:"), Ok(Record::default()));
}
