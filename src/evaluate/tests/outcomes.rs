//! What an object gets, and what its author is told.

use super::{Host, enabled, ending, exposing, mk_pod, owned_by, service};
use serde_json::{Value, json};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|c| c["name"].as_str().unwrap()).collect()
}

#[test]
fn an_injected_pod_has_its_sidecar_and_an_audit_trail() {
    let host = Host::new(json!({"config.linkerd.io/proxy-log-level": "say \"hi\""})).values("linkerdVersion: edge-1.2.3");
    let answer = host.ask("Pod", &owned_by("ReplicaSet", "web-5d4f", "5d4f"), &json!({"controlPlaneNamespace": "mesh"}));
    let audit = json!({
        "injected": "true",
        "reason": "enabled_at_workload",
        "proxy-version": "edge-1.2.3",
        "config-source": "cluster",
    });
    assert_eq!(answer["audit_annotations"], audit);
    assert_eq!(answer["warnings"], json!(null));
    let object = &answer["mutated_object"];
    assert_eq!(names(&object["spec"]["initContainers"]), ["linkerd-init", "linkerd-proxy"]);
    assert_eq!(names(&object["spec"]["containers"]), ["app"]);
    let labels = json!({
        "linkerd.io/control-plane-ns": "mesh",
        "linkerd.io/proxy-deployment": "web",
        "linkerd.io/workload-ns": "shop",
        "pod-template-hash": "5d4f",
    });
    assert_eq!(object["metadata"]["labels"], labels);
    assert_eq!(object["metadata"]["annotations"]["config.linkerd.io/proxy-log-level"], "say \"hi\"");
}

#[test]
fn a_pod_that_stays_out_gets_its_opaque_ports_alone() {
    let (own, of_namespace) =
        (json!({"config.linkerd.io/opaque-ports": ""}), json!({"config.linkerd.io/opaque-ports": "'<&+\"\n},]"}));
    for (pod, namespace, expected) in [
        (exposing(json!({})), json!({}), Some("3306")),
        (exposing(json!({})), of_namespace.clone(), Some("'<&+\"\n},]")),
        (exposing(own.clone()), of_namespace.clone(), None),
        (exposing(own), json!({}), None),
        (mk_pod(json!({"a": "b"}), json!({"hostNetwork": true})), of_namespace, Some("'<&+\"\n},]")),
        (mk_pod(json!({}), json!({})), json!({}), None),
    ] {
        let expected = expected.map(|ports| {
            let mut annotated = pod.clone();
            annotated["metadata"]["annotations"]["config.linkerd.io/opaque-ports"] = json!(ports);
            annotated
        });
        let answer = Host::new(namespace.clone()).ask("Pod", &pod, &json!({"reinvocation": "skip"}));
        assert_eq!(answer["mutated_object"], json!(expected), "{pod}");
        // Where a later call is to know it, the annotation is noted in another.
        let mut answer = Host::new(namespace).ask("Pod", &pod, &json!({}));
        if let Some(annotations) = answer.pointer_mut("/mutated_object/metadata/annotations") {
            let record = annotations.as_object_mut().unwrap().remove("linkerd.io/injection-record");
            assert_eq!(record.unwrap().as_str().unwrap().len(), "v1:".len().saturating_add(11), "{pod}");
        }
        assert_eq!(answer.get("mutated_object"), expected.as_ref(), "{pod}");
    }
}

#[test]
fn a_service_gets_its_opaque_ports() {
    let host = || Host::new(json!({})).values("proxy: {opaquePorts: '25, 3000-3999'}");
    let ports = json!([{"port": 80, "targetPort": 3306}, {"port": 25}, {"port": 8080}]);
    let plain = service(ports.clone(), json!({"a": "b"}));
    let expected = service(ports, json!({"a": "b", "config.linkerd.io/opaque-ports": "80,25"}));
    assert_eq!(host().ask("Service", &plain, &json!({}))["mutated_object"], expected);
    assert_eq!(host().ask("Service", &service(json!([{"port": 80}]), json!({})), &json!({}))["mutated_object"], json!(null));
}

#[test]
fn layers_of_values_apply_in_order() {
    let host = || Host::new(json!({"config.linkerd.io/proxy-uid": "4"})).values("proxy: {uid: 2}");
    let uid = |answer: &Value| answer["mutated_object"]["spec"]["initContainers"][1]["securityContext"]["runAsUser"].clone();
    let over = json!({"values": {"proxy": {"uid": 3}}});
    let own = mk_pod(json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-uid": "5"}), json!({}));
    assert_eq!(uid(&Host::new(json!({})).ask("Pod", &enabled(), &json!({}))), 2102);
    assert_eq!(uid(&Host::new(json!({})).values("proxy: {uid: 2}").ask("Pod", &enabled(), &json!({}))), 2);
    assert_eq!(uid(&Host::new(json!({})).values("proxy: {uid: 2}").ask("Pod", &enabled(), &over)), 3);
    assert_eq!(uid(&host().ask("Pod", &enabled(), &over)), 4);
    assert_eq!(uid(&host().ask("Pod", &own, &over)), 5);
}

#[test]
fn what_cannot_be_used_is_a_warning() {
    let host = Host::new(json!({"linkerd.io/inject": "on", "config.linkerd.io/proxy-gid": "x"})).values("proxy: {uid: 0}");
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-await": "yes"}), json!({}));
    let answer = host.ask("Pod", &pod, &json!({}));
    assert_eq!(ending(&answer), "injected");
    let warnings = json!([
        "namespace's linkerd.io/inject: \"on\" is none of enabled, disabled, ingress",
        "mesh: values.proxy.uid is not a whole number from 1 to 2147483647",
        "namespace's config.linkerd.io/proxy-gid: \"x\" is not a group id of at most 2147483647",
        "config.linkerd.io/proxy-await: \"yes\" is neither enabled nor disabled",
    ]);
    assert_eq!(answer["warnings"], warnings);
}

#[test]
fn an_inject_annotation_that_means_nothing_is_a_warning() {
    for (pod, namespace, end, warnings) in [
        (
            mk_pod(json!({"linkerd.io/inject": "true"}), json!({})),
            json!({"linkerd.io/inject": "yes"}),
            "invalid_inject_annotation_at_workload",
            json!(["linkerd.io/inject: \"true\" is none of enabled, disabled, ingress"]),
        ),
        (
            mk_pod(json!({}), json!({})),
            json!({"linkerd.io/inject": "yes"}),
            "invalid_inject_annotation_at_ns",
            json!(["namespace's linkerd.io/inject: \"yes\" is none of enabled, disabled, ingress"]),
        ),
        (
            mk_pod(json!({"linkerd.io/inject": "disabled"}), json!({})),
            json!({"linkerd.io/inject": "yes"}),
            "injection_disable_annotation_present",
            json!(null),
        ),
    ] {
        let answer = Host::new(namespace).ask("Pod", &pod, &json!({}));
        assert_eq!((ending(&answer).as_str(), &answer["warnings"]), (end, &warnings), "{pod}");
        assert_eq!(answer["mutated_object"], json!(null), "{pod}");
    }
}

#[test]
fn invalid_annotations_reject_where_the_settings_say_so() {
    let reject = json!({"onInvalidAnnotation": "reject"});
    let bad =
        json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-uid": "0", "config.linkerd.io/skip-inbound-ports": "80,x"});
    let uid = "config.linkerd.io/proxy-uid: \"0\" is not a user id between 1 and 2147483647";
    let ports = "config.linkerd.io/skip-inbound-ports: \"x\" is not a port or a range such as 8080-8090, between 0 and 65535";
    let own_inject = "linkerd.io/inject: \"on\" is none of enabled, disabled, ingress";
    let mut unread = bad.clone();
    unread["linkerd.io/inject"] = json!("on");
    unread["config.linkerd.io/proxy-uuid"] = json!("1");
    let unknown = "annotations: \"config.linkerd.io/proxy-uuid\" is unknown; did you mean proxy-uid";
    for (pod, namespace, faults) in [
        (mk_pod(bad.clone(), json!({})), json!({}), vec![uid, ports]),
        // Of what its namespace says, the pod's author knows nothing.
        (mk_pod(bad.clone(), json!({})), json!({"config.linkerd.io/proxy-gid": "x"}), vec![uid, ports]),
        (mk_pod(json!({"linkerd.io/inject": "on"}), json!({})), json!({"config.linkerd.io/proxy-gid": "x"}), vec![own_inject]),
        (mk_pod(unread, json!({})), json!({}), vec![own_inject, uid, ports, unknown]),
        (exposing(json!({"linkerd.io/inject": "on"})), json!({}), vec![own_inject]),
    ] {
        let answer = Host::new(namespace).values("proxy: {gid: x}").ask("Pod", &pod, &reject);
        let expected = json!({
            "accepted": false,
            "code": 422,
            "message": format!("linkerd-injector-policy: {}", faults.join("; ")),
            "audit_annotations": {"injected": "false", "reason": "invalid_annotation"},
        });
        assert_eq!(answer, expected, "{pod}");
    }
}

#[test]
fn what_is_no_invalid_annotation_rejects_nothing() {
    let reject = json!({"onInvalidAnnotation": "reject"});
    let limits = json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-cpu-request": "2", "config.linkerd.io/proxy-cpu-limit": "1"});
    let disabled = json!({"linkerd.io/inject": "disabled", "config.linkerd.io/proxy-uid": "0"});
    for (pod, namespace, end) in [
        (mk_pod(limits, json!({})), json!({}), "injected"),
        (enabled(), json!({"linkerd.io/inject": "on", "config.linkerd.io/proxy-uid": "0"}), "injected"),
        (exposing(json!({})), json!({"linkerd.io/inject": "on"}), "invalid_inject_annotation_at_ns"),
        (mk_pod(disabled, json!({})), json!({"linkerd.io/inject": "on"}), "injection_disable_annotation_present"),
        (mk_pod(json!({}), json!({})), json!({"config.linkerd.io/proxy-uid": "0"}), "injection_enable_annotation_absent"),
    ] {
        let answer = Host::new(namespace).values("proxy: {gid: x}").ask("Pod", &pod, &reject);
        assert_eq!(ending(&answer), end, "{pod}");
    }
    let service = service(json!([]), json!({"linkerd.io/inject": "on"}));
    assert_eq!(ending(&Host::new(json!({"linkerd.io/inject": "on"})).ask("Service", &service, &reject)), "unsupported_resource");
}

#[test]
fn a_pod_left_out_by_its_owners_kind_gets_its_opaque_ports() {
    let mut pod = owned_by("Job", "nightly-1", "1");
    pod["spec"]["containers"][0]["ports"] = json!([{"containerPort": 25}]);
    for kind in ["Job", "CronJob"] {
        let answer = Host::new(json!({})).ask("Pod", &pod, &json!({"skipOwnerKinds": [kind]}));
        assert_eq!(ending(&answer), "owner_kind_skipped");
        assert_eq!(answer["mutated_object"]["metadata"]["annotations"]["config.linkerd.io/opaque-ports"], "25", "{kind}");
        assert_eq!(names(&answer["mutated_object"]["spec"]["containers"]), ["app"], "{kind}");
    }
}

#[test]
fn an_owners_long_name_is_a_warning_and_no_label() {
    for (length, warned) in [(63, false), (64, true)] {
        let name = "d".repeat(length);
        let answer = Host::new(json!({})).ask("Pod", &owned_by("DaemonSet", &name, "1"), &json!({}));
        let warnings =
            json!(["pod: no label linkerd.io/proxy-daemonset: the name of the DaemonSet is no label value of up to 63 characters"]);
        assert_eq!(answer["warnings"], if warned { warnings } else { json!(null) });
        let label = &answer["mutated_object"]["metadata"]["labels"]["linkerd.io/proxy-daemonset"];
        assert_eq!(label, &if warned { json!(null) } else { json!(name) });
    }
}

#[test]
fn an_author_hears_of_an_annotation_that_is_no_text() {
    let key = "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout";
    for (annotations, expected) in [
        (json!({"config.linkerd.io/opaque-ports": 3306}), "\"config.linkerd.io/opaque-ports\"] is 3306, not text: quote it"),
        (json!({key: 1.5}), "\"config.linkerd.io/proxy-outbound-discovery…\"] is 1.5, not text: quote it"),
        (json!({"a": {"b": "secret"}}), "\"a\"] is not text"),
    ] {
        let template = json!({"metadata": {"annotations": annotations}, "spec": {"containers": []}});
        let workload = json!({"metadata": {"name": "web"}, "spec": {"template": template}});
        let kind = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
        let request = json!({"kind": kind, "namespace": "shop", "operation": "CREATE", "object": workload});
        let answer = Host::new(json!({})).send(json!({"request": request}).to_string().as_bytes());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let line = format!("Deployment: spec.template.metadata.annotations[{expected}");
        assert!(line.chars().count() <= 120, "{line}");
        assert_eq!((&answer["accepted"], &answer["warnings"]), (&json!(true), &json!([line])));
    }
}
