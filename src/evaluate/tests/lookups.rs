//! The order of look-ups is a contract, and none is made that nothing needs.

use super::{
    ANCHORS, CONFIG, Host, JOB, LIMIT_RANGES, NAMESPACE, REPLICA_SET, ROOTS, enabled, ending, exposing, mk_pod, owned_by, service,
};
use serde_json::{Value, json};

/// Asks, and checks how it ended and what was looked up.
fn assert_asks(host: &Host, kind: &str, object: &Value, settings: &Value, end: &str, calls: &[&str]) {
    let answer = host.ask(kind, object, settings);
    assert_eq!(ending(&answer), end, "{object}");
    assert_eq!(host.calls(), calls, "{object}");
    assert_eq!(host.logs(), [] as [String; 0], "{object}");
}

#[test]
fn a_pod_that_stays_out_is_looked_up_no_further_than_its_ports_need() {
    let disabled = |more: Value| {
        let mut annotations = json!({"linkerd.io/inject": "disabled"});
        annotations.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        annotations
    };
    let opaque = || json!({"config.linkerd.io/opaque-ports": "25"});
    let refused = "injection_disable_annotation_present";
    let unasked = "injection_enable_annotation_absent";
    let host_network = mk_pod(json!({}), json!({"hostNetwork": true}));
    for (pod, end, calls) in [
        (exposing(disabled(opaque())), refused, vec![]),
        (mk_pod(disabled(json!({})), json!({})), refused, vec![NAMESPACE]),
        (exposing(disabled(json!({}))), refused, vec![NAMESPACE, CONFIG]),
        (host_network, "host_network_enabled", vec![NAMESPACE]),
        (mk_pod(json!({}), json!({})), unasked, vec![NAMESPACE]),
        (exposing(opaque()), unasked, vec![NAMESPACE]),
        (exposing(json!({})), unasked, vec![NAMESPACE, CONFIG]),
        (mk_pod(json!({"linkerd.io/inject": "yes"}), json!({})), "invalid_inject_annotation_at_workload", vec![NAMESPACE]),
        (mk_pod(json!({}), json!({"containers": [{"name": "linkerd-proxy"}]})), "sidecar_already_exists", vec![NAMESPACE]),
    ] {
        assert_asks(&Host::new(json!({})), "Pod", &pod, &json!({}), end, &calls);
    }
    // To name all that is wrong at once takes the configuration, and to reject takes no more.
    let reject = json!({"onInvalidAnnotation": "reject"});
    let unread = exposing(json!({"linkerd.io/inject": "yes"}));
    for host in [Host::new(json!({})), Host::new(json!({})).with(CONFIG, Err("x is forbidden: no"))] {
        assert_eq!(host.ask("Pod", &unread, &reject)["code"], 422);
        assert_eq!(host.calls(), [NAMESPACE, CONFIG]);
    }
}

#[test]
fn opaque_ports_of_the_namespace_need_no_configuration() {
    let namespace = json!({"config.linkerd.io/opaque-ports": "3000"});
    let unasked = "injection_enable_annotation_absent";
    assert_asks(&Host::new(namespace.clone()), "Pod", &exposing(json!({})), &json!({}), unasked, &[NAMESPACE]);
    let unsupported = "unsupported_resource";
    let service = service(json!([{"port": 3306}]), json!({}));
    assert_asks(&Host::new(namespace), "Service", &service, &json!({}), unsupported, &[NAMESPACE]);
}

#[test]
fn a_service_is_looked_up_for_its_ports_alone() {
    for (service, calls) in [
        (service(json!([{"port": 3306}]), json!({"config.linkerd.io/opaque-ports": ""})), vec![]),
        (service(json!([]), json!({})), vec![NAMESPACE]),
        (service(json!(null), json!(null)), vec![NAMESPACE]),
        (service(json!([{"port": 80}]), json!({"linkerd.io/inject": "enabled"})), vec![NAMESPACE, CONFIG]),
    ] {
        assert_asks(&Host::new(json!({})), "Service", &service, &json!({}), "unsupported_resource", &calls);
    }
}

#[test]
fn an_injected_pod_is_looked_up_in_one_order() {
    for (pod, calls) in [
        (enabled(), vec![NAMESPACE, CONFIG, ROOTS]),
        (owned_by("ReplicaSet", "web-5d4f", "other"), vec![NAMESPACE, CONFIG, ROOTS, REPLICA_SET]),
        (owned_by("ReplicaSet", "web-5d4f", "5d4f"), vec![NAMESPACE, CONFIG, ROOTS]),
        (owned_by("Job", "nightly-1", "1"), vec![NAMESPACE, CONFIG, ROOTS, JOB]),
        (owned_by("StatefulSet", "db", "1"), vec![NAMESPACE, CONFIG, ROOTS]),
        (owned_by("DaemonSet", "agent", "1"), vec![NAMESPACE, CONFIG, ROOTS]),
    ] {
        assert_asks(&Host::new(json!({})), "Pod", &pod, &json!({}), "injected", &calls);
    }
    let asked_by_namespace = Host::new(json!({"linkerd.io/inject": "enabled"}));
    assert_asks(&asked_by_namespace, "Pod", &mk_pod(json!({}), json!({})), &json!({}), "injected", &[NAMESPACE, CONFIG, ROOTS]);
}

#[test]
fn reasons_of_the_values_come_before_trust_roots_and_owner() {
    let host = Host::new(json!({})).values("identity: {serviceAccountTokenProjection: false}");
    let no_token = "disabled_automount_service_account_token_account";
    assert_asks(&host, "Pod", &owned_by("Job", "nightly-1", "1"), &json!({}), no_token, &[NAMESPACE, CONFIG]);
    let host = Host::new(json!({})).values("proxy: {image: {name: mirror.test/proxy}}");
    let mut meshed = exposing(json!({"linkerd.io/inject": "enabled"}));
    meshed["spec"]["containers"][0]["image"] = json!("mirror.test/proxy:1");
    assert_asks(&host, "Pod", &meshed, &json!({}), "sidecar_already_exists", &[NAMESPACE, CONFIG]);
}

#[test]
fn kinds_of_owners_are_left_out_as_soon_as_they_are_known() {
    let skip = |kinds: Value| json!({"skipOwnerKinds": kinds});
    let left_out = "owner_kind_skipped";
    let every = [NAMESPACE, CONFIG, ROOTS, JOB];
    let by_hash = owned_by("ReplicaSet", "web-5d4f", "5d4f");
    for (pod, settings, end, calls) in [
        (owned_by("Job", "nightly-1", "1"), skip(json!(["Job"])), left_out, vec![NAMESPACE]),
        (owned_by("Job", "nightly-1", "1"), skip(json!(["CronJob"])), left_out, every.to_vec()),
        (owned_by("Job", "nightly-1", "1"), skip(json!(["DaemonSet"])), "injected", every.to_vec()),
        (by_hash.clone(), skip(json!(["Deployment"])), left_out, vec![NAMESPACE]),
        (by_hash.clone(), skip(json!(["ReplicaSet"])), "injected", vec![NAMESPACE, CONFIG, ROOTS]),
        (owned_by("ReplicaSet", "web-5d4f", "other"), skip(json!(["ReplicaSet"])), left_out, vec![NAMESPACE]),
        (by_hash, skip(json!([])), "injected", vec![NAMESPACE, CONFIG, ROOTS]),
        (enabled(), skip(json!(["Job", "Deployment"])), "injected", vec![NAMESPACE, CONFIG, ROOTS]),
    ] {
        assert_asks(&Host::new(json!({})), "Pod", &pod, &settings, end, &calls);
    }
}

#[test]
fn limit_ranges_come_last_and_only_for_what_is_injected() {
    let apply = json!({"limitRange": "apply"});
    let host = || Host::new(json!({}));
    let all = [NAMESPACE, CONFIG, ROOTS, JOB, LIMIT_RANGES];
    assert_asks(&host(), "Pod", &owned_by("Job", "nightly-1", "1"), &apply, "injected", &all);
    assert_asks(&host(), "Pod", &enabled(), &apply, "injected", &[NAMESPACE, CONFIG, ROOTS, LIMIT_RANGES]);
    let out = mk_pod(json!({}), json!({}));
    assert_asks(&host(), "Pod", &out, &apply, "injection_enable_annotation_absent", &[NAMESPACE]);
    assert_asks(&host(), "Pod", &enabled(), &json!({"limitRange": "ignore"}), "injected", &[NAMESPACE, CONFIG, ROOTS]);
}

#[test]
fn a_workload_asks_for_no_more_than_its_warnings_need() {
    let of = |annotations: Value| json!({"metadata": {"name": "web"}, "spec": {"template": mk_pod(annotations, json!({}))}});
    let ask = |annotations: Value, operation: &str| {
        let host = Host::new(json!({}));
        let kind = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
        let request = json!({"kind": kind, "namespace": "shop", "operation": operation, "object": of(annotations)});
        let answer = host.send(json!({"request": request, "settings": {"limitRange": "apply"}}).to_string().as_bytes());
        assert!(answer.starts_with(r#"{"accepted":true,"audit_annotations":{"injected":"false","#), "{answer}");
        (host.calls(), host.decisions())
    };
    for operation in ["CREATE", "UPDATE"] {
        let asked = json!({"linkerd.io/inject": "enabled"});
        let (calls, decisions) = ask(asked, operation);
        assert_eq!((calls, decisions), (vec![NAMESPACE.to_owned(), CONFIG.to_owned(), LIMIT_RANGES.to_owned()], vec![]));
        assert_eq!(ask(json!({}), operation).0, [NAMESPACE]);
        assert_eq!(ask(json!({"linkerd.io/inject": "disabled"}), operation).0, [] as [&str; 0]);
    }
    assert_eq!(ask(json!({"linkerd.io/inject": "enabled"}), "DELETE").0, [] as [&str; 0]);
}

#[test]
fn settings_that_hold_everything_look_nothing_up() {
    let settings = json!({
        "source": "settings",
        "values": {"identityTrustAnchorsPEM": ANCHORS},
        "namespaceAnnotations": {"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-uid": "0"},
        "limitRange": "apply",
    });
    let mut orphan = owned_by("Job", "nightly-1", "1");
    orphan["metadata"]["annotations"] = json!({});
    for (kind, object, end) in [
        ("Pod", orphan, "injected"),
        ("Pod", owned_by("ReplicaSet", "web-5d4f", "other"), "injected"),
        ("Pod", exposing(json!({"linkerd.io/inject": "disabled"})), "injection_disable_annotation_present"),
        ("Pod", mk_pod(json!({}), json!({"hostNetwork": true})), "host_network_enabled"),
        ("Service", service(json!([{"port": 3306}]), json!({})), "unsupported_resource"),
    ] {
        assert_asks(&Host::new(json!({})), kind, &object, &settings, end, &[]);
    }
}

#[test]
fn what_is_not_ours_is_let_through_unread() {
    let pod = json!({"group": "", "kind": "Pod"});
    let rest = |reason: &str| format!(r#"{{"accepted":true,"audit_annotations":{{"injected":"false","reason":"{reason}"}}}}"#);
    for (request, reason) in [
        (json!({"kind": pod, "operation": "DELETE", "oldObject": enabled()}), "operation_not_handled"),
        (json!({"kind": pod, "operation": "DELETE", "object": null}), "operation_not_handled"),
        (json!({"kind": pod, "operation": "UPDATE", "object": enabled()}), "operation_not_handled"),
        (json!({"kind": pod, "operation": "CONNECT", "object": {}}), "operation_not_handled"),
        (
            json!({"kind": pod, "operation": "CREATE", "subResource": "ephemeralcontainers", "object": enabled()}),
            "subresource_not_handled",
        ),
        (json!({"kind": pod, "operation": "UPDATE", "subResource": "status", "object": 1}), "subresource_not_handled"),
        (json!({"kind": {"group": "", "kind": "Namespace"}, "operation": "CREATE", "object": enabled()}), "kind_not_handled"),
        (
            json!({"kind": {"group": "serving.knative.dev", "kind": "Service"}, "operation": "CREATE", "object": {}}),
            "kind_not_handled",
        ),
        (json!({"kind": {"kind": ""}}), "kind_not_handled"),
        (json!({"kind": pod, "operation": "CREATE"}), "no_object"),
        (json!({"kind": pod, "operation": "CREATE", "object": null}), "no_object"),
    ] {
        let host = Host::new(json!({"linkerd.io/inject": "enabled"}));
        assert_eq!(host.send(json!({"request": request, "settings": {}}).to_string().as_bytes()), rest(reason), "{request}");
        assert_eq!((host.calls(), host.logs()), (vec![], vec![]), "{request}");
    }
}
