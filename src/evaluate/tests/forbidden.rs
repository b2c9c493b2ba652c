//! Annotations that the settings forbid: as good as absent, on the first call and on later ones.

use super::{CONFIG, Host, NAMESPACE, ROOTS, ending, exposing, mk_pod, service};
use crate::annotation as key;
use serde_json::{Value, json};

const DENIED: &str = "is forbidden by deniedOverrides of the policy";

/// Settings that forbid nearly all, in either way.
fn strict() -> [(Value, &'static str); 2] {
    [
        (json!({"deniedOverrides": ["*"]}), "deniedOverrides"),
        (json!({"allowedOverrides": ["config.linkerd.io/proxy-cpu-*"]}), "allowedOverrides"),
    ]
}

fn meshed(annotations: Value) -> Value {
    let mut pod = exposing(annotations);
    pod["metadata"]["annotations"][key::INJECT] = json!("enabled");
    pod
}

fn without(mut object: Value, keys: &[&str]) -> Value {
    keys.iter().for_each(|key| drop(object["metadata"]["annotations"].as_object_mut().unwrap().remove(*key)));
    object
}

#[test]
fn what_is_forbidden_is_as_good_as_absent() {
    let forbidden = json!({
        key::PROXY_IMAGE: "evil/proxy", key::PROXY_UID: "3000", key::OPAQUE_PORTS: "", key::DEFAULT_INBOUND_POLICY: "all-unauthenticated",
        key::NATIVE_SIDECAR_ALPHA: "false", key::ADDITIONAL_ENV: "[{\"name\": \"A\", \"value\": \"secret\"}]", key::SKIP_INBOUND_PORTS: "x",
    });
    let keys: Vec<&str> = forbidden.as_object().unwrap().keys().map(String::as_str).collect();
    for namespace in [json!({}), json!({key::PROXY_UID: "4000", key::OPAQUE_PORTS: "25"})] {
        for (settings, list) in strict() {
            let pod = meshed(forbidden.clone());
            let plain = Host::new(namespace.clone()).ask("Pod", &without(pod.clone(), &keys), &json!({}));
            let host = Host::new(namespace.clone());
            let answer = host.ask("Pod", &pod, &settings);
            assert_eq!(answer["mutated_object"], plain["mutated_object"], "{settings} {namespace}");
            let mut warnings: Vec<&str> = answer["warnings"].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
            warnings.sort_unstable();
            let expected: Vec<String> = keys.iter().map(|key| format!("{key} is forbidden by {list} of the policy")).collect();
            assert_eq!(warnings, expected, "{settings} {namespace}");
            assert_eq!(host.calls(), [NAMESPACE, CONFIG, ROOTS]);
            // A second call finds nothing that is forbidden, and changes nothing.
            let again = Host::new(namespace.clone()).ask("Pod", &answer["mutated_object"], &settings);
            assert_eq!((&again["mutated_object"], &again["warnings"]), (&json!(null), &json!(null)), "{settings} {namespace}");
            // What comes later is forbidden, too, and what the namespace says comes back.
            let mut edited = answer["mutated_object"].clone();
            forbidden.as_object().unwrap().iter().for_each(|(key, value)| edited["metadata"]["annotations"][key] = value.clone());
            let after = Host::new(namespace.clone()).ask("Pod", &edited, &settings);
            assert_eq!(after["mutated_object"], answer["mutated_object"], "{settings} {namespace}");
            assert_eq!(after["warnings"], answer["warnings"]);
        }
    }
}

#[test]
fn all_that_is_forbidden_is_in_one_message() {
    let settings = json!({"deniedOverrides": ["config.linkerd.io/proxy-image", "config.linkerd.io/proxy-uid"], "onInvalidAnnotation": "reject"});
    let pod = meshed(json!({key::PROXY_IMAGE: "evil/proxy", key::PROXY_UID: "1", key::PROXY_GID: "x"}));
    let answer = Host::new(json!({})).ask("Pod", &pod, &settings);
    assert_eq!((&answer["accepted"], &answer["code"]), (&json!(false), &json!(422)));
    let message = answer["message"].as_str().unwrap();
    for part in
        [format!("{} {DENIED}", key::PROXY_IMAGE), format!("{} {DENIED}", key::PROXY_UID), format!("{}: \"x\" is", key::PROXY_GID)]
    {
        assert!(message.contains(&part), "{message}");
    }
    assert_eq!(message.matches("; ").count(), 2, "{message}");
}

#[test]
fn what_says_the_same_as_its_namespace_is_not_forbidden() {
    let namespace = json!({key::PROXY_UID: "4000"});
    let settings = json!({"deniedOverrides": ["*"], "onInvalidAnnotation": "reject"});
    let pod = meshed(json!({key::PROXY_UID: "4000", key::OPAQUE_PORTS: "3306"}));
    let answer = Host::new(namespace.clone()).ask("Pod", &pod, &settings);
    assert_eq!(ending(&answer), "injected");
    assert_eq!(answer["warnings"], json!(null));
    // Without a record, what an earlier call wrote is still no user's doing.
    let adopting = json!({"deniedOverrides": ["*"], "onInvalidAnnotation": "reject", "reinvocation": "skip"});
    let first = Host::new(namespace.clone()).ask("Pod", &meshed(json!({})), &adopting)["mutated_object"].clone();
    assert_eq!(first["metadata"]["annotations"][key::PROXY_UID], "4000");
    let again = Host::new(namespace).ask("Pod", &first, &adopting);
    assert_eq!((ending(&again).as_str(), &again["mutated_object"]), ("sidecar_already_exists", &json!(null)));
}

#[test]
fn what_stays_out_of_the_mesh_keeps_what_means_nothing_there() {
    for (settings, list) in strict() {
        let words = json!([format!("{} is forbidden by {list} of the policy", key::OPAQUE_PORTS)]);
        let own = json!({key::PROXY_IMAGE: "evil/proxy", key::PROXY_UID: "x"});
        let ports = |text: &str| {
            let mut own = own.clone();
            own[key::OPAQUE_PORTS] = json!(text);
            own
        };
        for inject in ["disabled", ""] {
            let of = |own: Value| {
                let mut pod = exposing(own);
                pod["metadata"]["annotations"][key::INJECT] = json!(inject);
                pod
            };
            let unexposing = |own: Value| {
                let mut pod = of(own);
                pod["spec"] = json!({"containers": [{"name": "app"}]});
                pod
            };
            for (object, expected, warnings) in [
                (unexposing(own.clone()), json!(null), &json!(null)),
                // The default opaque ports take their place, and are not forbidden themselves.
                (of(ports("25")), of(ports("3306")), &words),
                (unexposing(ports("25")), unexposing(own.clone()), &words),
            ] {
                let answer = Host::new(json!({})).ask("Pod", &object, &settings);
                let mut written = answer["mutated_object"].clone();
                if written.is_object() {
                    written["metadata"]["annotations"].as_object_mut().unwrap().remove(key::RECORD);
                }
                assert_eq!((&written, &answer["warnings"]), (&expected, warnings), "{object}");
            }
            let same = Host::new(json!({})).ask(
                "Pod",
                &of(ports("3306")),
                &json!({"deniedOverrides": ["*"], "onInvalidAnnotation": "reject"}),
            );
            assert_eq!(same["accepted"], true, "{same}");
        }
    }
}

#[test]
fn services_have_the_ports_that_are_due() {
    let ports = json!([{"port": 3306}]);
    let settings = json!({"deniedOverrides": [key::OPAQUE_PORTS]});
    for (namespace, due) in [(json!({}), "3306"), (json!({key::OPAQUE_PORTS: "25"}), "25")] {
        let first =
            Host::new(namespace.clone()).ask("Service", &service(ports.clone(), json!({key::OPAQUE_PORTS: "1"})), &settings);
        let due = service(ports.clone(), json!({key::OPAQUE_PORTS: due}));
        assert_eq!(first["mutated_object"], due);
        assert_eq!(first["warnings"], json!([format!("{} {DENIED}", key::OPAQUE_PORTS)]));
        let again = Host::new(namespace).ask("Service", &due, &settings);
        assert_eq!((&again["mutated_object"], &again["warnings"]), (&json!(null), &json!(null)));
    }
    // A namespace that cannot be read forbids nothing less.
    let host = Host::new(json!({})).with(NAMESPACE, Err("forbidden"));
    let answer = host.ask("Service", &service(ports.clone(), json!({key::OPAQUE_PORTS: "1"})), &settings);
    assert_eq!(answer["mutated_object"], service(ports, json!({})));
}

#[test]
fn a_forged_record_brings_nothing_back() {
    // The record of a pod whose namespace said what is forbidden, on a pod of a namespace that does not.
    let lax = meshed(json!({}));
    let forged = Host::new(json!({key::PROXY_IMAGE: "evil/proxy"})).ask("Pod", &lax, &json!({}))["mutated_object"].clone();
    assert_eq!(forged["metadata"]["annotations"][key::PROXY_IMAGE], "evil/proxy");
    let mut only_the_record = lax.clone();
    for key in [key::RECORD, key::PROXY_IMAGE] {
        only_the_record["metadata"]["annotations"][key] = forged["metadata"]["annotations"][key].clone();
    }
    let expected = Host::new(json!({})).ask("Pod", &lax, &json!({}))["mutated_object"].clone();
    for pod in [&forged, &only_the_record] {
        let answer = Host::new(json!({})).ask("Pod", pod, &json!({"deniedOverrides": ["*"]}));
        assert_eq!(answer["mutated_object"], expected);
    }
}

#[test]
fn the_author_of_a_template_hears_of_it() {
    let pod = mk_pod(json!({key::INJECT: "enabled", key::PROXY_IMAGE: "evil/proxy", key::OPAQUE_PORTS: "1"}), json!({}));
    let workload = json!({"metadata": {"name": "web"}, "spec": {"template": pod}});
    let request = |settings: Value| {
        let kind = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
        let request = json!({"kind": kind, "namespace": "shop", "operation": "CREATE", "object": workload});
        json!({"request": request, "settings": settings}).to_string()
    };
    for (namespace, keys) in
        [(json!({}), vec![key::OPAQUE_PORTS, key::PROXY_IMAGE]), (json!({key::PROXY_IMAGE: "evil/proxy"}), vec![key::OPAQUE_PORTS])]
    {
        for on_invalid in ["warn", "reject"] {
            let settings = json!({"deniedOverrides": ["*"], "onInvalidAnnotation": on_invalid});
            let answer: Value = serde_json::from_str(&Host::new(namespace.clone()).send(request(settings).as_bytes())).unwrap();
            let expected: Vec<String> = keys.iter().map(|key| format!("{key} {DENIED}")).collect();
            assert_eq!((&answer["accepted"], &answer["warnings"]), (&json!(true), &json!(expected)));
            assert_eq!(answer["mutated_object"], json!(null));
        }
    }
}
