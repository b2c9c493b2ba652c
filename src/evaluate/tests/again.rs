//! A second call, on what the first one returned.

use super::{CONFIG, Host, NAMESPACE, REPLICA_SET, ROOTS, ending, exposing, mk_pod, owned_by, service};
use serde_json::{Value, json};

const RECORD: &str = "linkerd.io/injection-record";

fn annotated(pod: &Value, key: &str, value: &str) -> Value {
    let mut pod = pod.clone();
    pod["metadata"]["annotations"][key] = json!(value);
    pod
}

/// The pod after a call under these settings.
fn injected(pod: &Value, namespace: &Value, settings: &Value) -> Value {
    let answer = Host::new(namespace.clone()).ask("Pod", pod, settings);
    assert_eq!(ending(&answer), "injected");
    answer["mutated_object"].clone()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|c| c["name"].as_str().unwrap()).collect()
}

#[test]
fn a_second_call_changes_nothing_and_looks_up_the_same() {
    let namespace = json!({"config.linkerd.io/proxy-log-level": "debug", "config.linkerd.io/proxy-uid": "0"});
    for pod in [
        owned_by("ReplicaSet", "web-5d4f", "other"),
        mk_pod(json!({"linkerd.io/inject": "ingress", "config.linkerd.io/proxy-enable-native-sidecar": "false"}), json!({})),
        exposing(json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-await": "disabled"})),
    ] {
        let first = Host::new(namespace.clone()).ask("Pod", &pod, &json!({}));
        let host = Host::new(namespace.clone());
        let second = host.ask("Pod", &first["mutated_object"], &json!({}));
        assert_eq!(second["mutated_object"], json!(null), "{pod}");
        // What it says does not change either.
        assert_eq!((&second["warnings"], &second["audit_annotations"]), (&first["warnings"], &first["audit_annotations"]), "{pod}");
        let owner = pod["metadata"]["ownerReferences"].is_array().then_some(REPLICA_SET);
        assert_eq!(host.calls(), [NAMESPACE, CONFIG, ROOTS].into_iter().chain(owner).collect::<Vec<_>>(), "{pod}");
    }
}

#[test]
fn annotations_that_come_later_take_effect() {
    let first = injected(&mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({})), &json!({}), &json!({}));
    let edited = annotated(&first, "config.linkerd.io/proxy-uid", "7777");
    let second = injected(&edited, &json!({}), &json!({}));
    assert_eq!(second["spec"]["initContainers"][1]["securityContext"]["runAsUser"], 7777);
    let unasked = mk_pod(json!({}), json!({}));
    assert_eq!(Host::new(json!({})).ask("Pod", &unasked, &json!({}))["mutated_object"], json!(null));
    let asked = annotated(&unasked, "linkerd.io/inject", "enabled");
    assert_eq!(names(&injected(&asked, &json!({}), &json!({}))["spec"]["initContainers"]), ["linkerd-init", "linkerd-proxy"]);
}

#[test]
fn a_pod_that_leaves_the_mesh_is_as_it_was() {
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled", "a": "b"}), json!({"volumes": [{"name": "data"}]}));
    let namespace = json!({"config.linkerd.io/proxy-log-level": "debug"});
    let first = injected(&pod, &namespace, &json!({}));
    assert_ne!(first, pod);
    let answer = Host::new(namespace).ask("Pod", &annotated(&first, "linkerd.io/inject", "disabled"), &json!({}));
    assert_eq!(ending(&answer), "injection_disable_annotation_present");
    assert_eq!(answer["mutated_object"], annotated(&pod, "linkerd.io/inject", "disabled"));
    assert_eq!(answer["warnings"], json!(null));
}

#[test]
fn opaque_ports_of_ours_follow_their_default() {
    let pod = exposing(json!({"a": "b"}));
    let first = Host::new(json!({})).ask("Pod", &pod, &json!({}))["mutated_object"].clone();
    assert_eq!(first["metadata"]["annotations"]["config.linkerd.io/opaque-ports"], "3306");
    assert_eq!(Host::new(json!({})).ask("Pod", &first, &json!({}))["mutated_object"], json!(null));
    let gone = Host::new(json!({})).values("proxy: {opaquePorts: '25'}").ask("Pod", &first, &json!({}));
    assert_eq!(gone["mutated_object"], pod);
    // The user's own stay.
    let own = annotated(&first, "config.linkerd.io/opaque-ports", "1");
    let answer = Host::new(json!({})).ask("Pod", &own, &json!({}));
    assert_eq!(answer["mutated_object"], annotated(&pod, "config.linkerd.io/opaque-ports", "1"));
}

#[test]
fn services_and_settings_that_skip_leave_no_record() {
    let service = service(json!([{"port": 3306}]), json!({}));
    let annotated = Host::new(json!({})).ask("Service", &service, &json!({}))["mutated_object"].clone();
    assert_eq!(annotated["metadata"]["annotations"], json!({"config.linkerd.io/opaque-ports": "3306"}));
    let skip = json!({"reinvocation": "skip"});
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({}));
    let first = injected(&pod, &json!({}), &skip);
    assert_eq!(first["metadata"]["annotations"].get(RECORD), None);
    let second = Host::new(json!({})).ask("Pod", &first, &skip);
    assert_eq!((ending(&second).as_str(), second.get("mutated_object")), ("sidecar_already_exists", None));
    // What a call that merges left is left alone as well.
    let recorded = injected(&pod, &json!({}), &json!({}));
    let second = Host::new(json!({})).ask("Pod", &recorded, &skip);
    assert_eq!((ending(&second).as_str(), second.get("mutated_object")), ("sidecar_already_exists", None));
}

#[test]
fn what_others_injected_is_kept_or_adopted() {
    let container = json!({"name": "linkerd-proxy", "image": "cr.l5d.io/linkerd/proxy:old"});
    let by = |who: &str| {
        let annotations = json!({"linkerd.io/inject": "enabled", "linkerd.io/created-by": who});
        mk_pod(annotations, json!({"initContainers": [container], "containers": [{"name": "app"}]}))
    };
    let (keep, adopt) = (json!({"foreignInjection": "keep"}), json!({"foreignInjection": "adopt"}));
    for (pod, settings, end) in [
        (by("linkerd/proxy-injector edge-1"), &keep, "sidecar_already_exists"),
        (by("linkerd/proxy-injector edge-1"), &adopt, "injected"),
        (by("linkerd/cli edge-1"), &adopt, "injected"),
        (by("istio"), &adopt, "sidecar_already_exists"),
        (by(""), &adopt, "sidecar_already_exists"),
        (by("linkerd-injector-policy 0.0.1"), &keep, "injected"),
    ] {
        let answer = Host::new(json!({})).ask("Pod", &pod, settings);
        assert_eq!(ending(&answer), end, "{pod} {settings}");
        if end == "injected" {
            assert_eq!(names(&answer["mutated_object"]["spec"]["initContainers"]), ["linkerd-init", "linkerd-proxy"], "{pod}");
        }
    }
}

#[test]
fn a_record_that_cannot_be_read_is_a_warning() {
    let first = injected(&mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({})), &json!({}), &json!({}));
    for text in ["", "v1", "v1:!", "v2:AAAA", "v1:AAAA", "secret"] {
        let answer = Host::new(json!({})).ask("Pod", &annotated(&first, RECORD, text), &json!({}));
        assert_eq!(ending(&answer), "injected", "{text}");
        assert_eq!(answer["warnings"], json!(["linkerd.io/injection-record: cannot be read, and is taken as absent"]), "{text}");
        assert_eq!(answer["mutated_object"], first, "{text}");
    }
}
