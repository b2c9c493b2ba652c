//! Every failure has its answer: the pod that was to be meshed is rejected or let through as the settings say, and what stays out
//! of the mesh is never touched.

use super::{CONFIG, Host, JOB, NAMESPACE, REPLICA_SET, ROOTS, enabled, ending, exposing, mk_pod, owned_by, service};
use crate::warning::parted;
use serde_json::{Value, json};

const FORBIDDEN: &str = "Callback evaluation failure: ApiError: x is forbidden: User \"secret\" cannot get resource";
const NOT_GRANTED: &str = "Policy has not been granted access to Kubernetes v1/X resources. The violation has been reported.";

/// The answer to a failure under either setting, word for word.
fn answer(error: &str, on_error: &str) -> String {
    match on_error {
        "skip" => {
            let lines = parted(&format!("not injected: {error}"));
            format!(
                r#"{{"accepted":true,"audit_annotations":{{"injected":"false","reason":"error"}},"warnings":{}}}"#,
                json!(lines)
            )
        }
        _ => format!(
            r#"{{"accepted":false,"message":{},"code":500,"audit_annotations":{{"injected":"false","reason":"error"}}}}"#,
            json!(format!("linkerd-injector-policy: {error}"))
        ),
    }
}

fn payload(kind: &str, object: &Value, settings: &Value) -> Vec<u8> {
    let request = json!({"kind": {"group": "", "kind": kind}, "namespace": "shop", "operation": "CREATE", "object": object});
    json!({"request": request, "settings": settings}).to_string().into_bytes()
}

/// Checks that creating the object fails so, that the error is logged, and what was looked up.
fn assert_fails(host: impl Fn() -> Host, object: &Value, error: &str, calls: &[&str]) {
    for on_error in ["reject", "skip"] {
        let host = host();
        let settings = json!({"onError": on_error});
        assert_eq!(host.send(&payload("Pod", object, &settings)), answer(error, on_error), "{object}");
        assert_eq!(host.calls(), calls, "{object}");
        assert_eq!(host.logs(), [format!("error: {error}")], "{object}");
    }
}

/// Checks that the object is let through unchanged, for that reason, with that line in the log.
fn assert_let_through(host: &Host, kind: &str, object: &Value, reason: &str, log: &str) {
    let expected = format!(r#"{{"accepted":true,"audit_annotations":{{"injected":"false","reason":"{reason}"}}}}"#);
    assert_eq!(host.send(&payload(kind, object, &json!({}))), expected, "{object}");
    assert_eq!(host.logs(), [log.to_owned()], "{object}");
}

#[test]
fn a_payload_that_cannot_be_read_goes_by_the_settings_beside_it() {
    for (payload, error, on_error) in [
        ("", "the admission request cannot be read: it ends too early at line 1 column 0", "reject"),
        ("secret", "the admission request cannot be read: not JSON at line 1 column 1", "reject"),
        (
            r#"{"settings":{"onError":"skip"}}"#,
            "the admission request cannot be read: not of its shape at line 1 column 31",
            "skip",
        ),
        (
            r#"{"request":"secret","settings":{"onError":"skip"}}"#,
            "the admission request cannot be read: not of its shape at line 1 column 19",
            "skip",
        ),
        (
            r#"{"request":"secret","settings":{"onError":"reject"}}"#,
            "the admission request cannot be read: not of its shape at line 1 column 19",
            "reject",
        ),
        (
            r#"{"request":"secret","settings":{"onError":"secret"}}"#,
            "the admission request cannot be read: not of its shape at line 1 column 19",
            "reject",
        ),
    ] {
        let host = Host::new(json!({}));
        assert_eq!(host.send(payload.as_bytes()), answer(error, on_error), "{payload}");
        assert_eq!(host.calls(), [] as [String; 0], "{payload}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_named_in_full() {
    let error = "the settings cannot be used: onError is not one of reject, skip; source is not one of cluster, settings";
    let host = Host::new(json!({}));
    let settings = json!({"onError": "secret", "source": "secret"});
    assert_eq!(host.send(&payload("Pod", &enabled(), &settings)), answer(error, "reject"));
    assert_eq!(host.calls(), [] as [String; 0]);
}

#[test]
fn an_object_of_another_shape_is_an_error() {
    for (object, error) in [
        (json!("secret"), "the object cannot be read: the object is not an object"),
        (json!({"spec": {"containers": "secret"}}), "the object cannot be read: spec.containers is not a list of objects"),
        (
            json!({"metadata": {"annotations": {"secret": 1}}}),
            "the object cannot be read: metadata.annotations[\"secret\"] is 1, not text: quote it",
        ),
    ] {
        assert_fails(|| Host::new(json!({})), &object, error, &[]);
    }
}

#[test]
fn a_request_needs_a_namespace_from_somewhere() {
    let error = "the admission request names no namespace";
    for namespace in [json!(null), json!("")] {
        let request = |object: Value| {
            let mut request = json!({"kind": {"group": "", "kind": "Pod"}, "operation": "CREATE", "object": object});
            if !namespace.is_null() {
                request["namespace"] = namespace.clone();
            }
            json!({"request": request, "settings": {}}).to_string().into_bytes()
        };
        assert_eq!(Host::new(json!({})).send(&request(enabled())), answer(error, "reject"));
        let mut named = enabled();
        named["metadata"]["namespace"] = json!("shop");
        let host = Host::new(json!({}));
        let answer: Value = serde_json::from_str(&host.send(&request(named))).unwrap();
        assert_eq!((ending(&answer).as_str(), host.calls()), ("injected", [NAMESPACE, CONFIG, ROOTS].map(str::to_owned).to_vec()));
    }
}

#[test]
fn without_its_namespace_a_pod_that_may_be_meshed_fails() {
    for (text, error) in [
        (FORBIDDEN, "Namespace shop is forbidden: grant get on it to the policy server's service account"),
        (NOT_GRANTED, "Namespace shop is not granted: list Namespace in the policy's contextAwareResources"),
        ("", "Namespace shop cannot be read: no answer from the API server"),
    ] {
        for pod in [enabled(), mk_pod(json!({}), json!({})), exposing(json!({"linkerd.io/inject": "ingress"}))] {
            assert_fails(|| Host::new(json!({})).with(NAMESPACE, Err(text)), &pod, error, &[NAMESPACE]);
        }
    }
}

#[test]
fn without_its_namespace_what_stays_out_is_let_through() {
    let log = "warning: opaque ports not set: Namespace shop is forbidden: grant get on it to the policy server's service account";
    let host = || Host::new(json!({})).with(NAMESPACE, Err(FORBIDDEN));
    for (kind, object, reason) in [
        ("Pod", exposing(json!({"linkerd.io/inject": "disabled"})), "injection_disable_annotation_present"),
        ("Pod", mk_pod(json!({}), json!({"hostNetwork": true})), "host_network_enabled"),
        ("Pod", mk_pod(json!({}), json!({"os": {"name": "windows"}})), "windows_pod"),
        ("Pod", mk_pod(json!({}), json!({"containers": [{"name": "linkerd-proxy"}]})), "sidecar_already_exists"),
        ("Service", service(json!([{"port": 3306}]), json!({})), "unsupported_resource"),
    ] {
        assert_let_through(&host(), kind, &object, reason, log);
    }
}

#[test]
fn without_configuration_only_a_pod_to_be_meshed_fails() {
    let config = "ConfigMap linkerd/linkerd-config";
    let roots = "ConfigMap linkerd/linkerd-identity-trust-roots";
    let data = |key: &str, text: &str| Ok(json!({"data": {key: text}}));
    let (upto_config, upto_roots) = ([NAMESPACE, CONFIG], [NAMESPACE, CONFIG, ROOTS]);
    let no_answer = "cannot be read: no answer from the API server";
    for (target, broken, error, calls) in [
        (
            CONFIG,
            Err("Cannot find v1/ConfigMap named 'x' inside"),
            format!("{config} not found: create it, or correct controlPlaneNamespace"),
            upto_config.as_slice(),
        ),
        (
            CONFIG,
            Err(FORBIDDEN),
            format!("{config} is forbidden: grant get on it to the policy server's service account"),
            &upto_config,
        ),
        (CONFIG, Err("timeout"), format!("{config} {no_answer}"), &upto_config),
        (CONFIG, data("values", "secret: ["), format!("{config} cannot be used: its values are not a YAML object"), &upto_config),
        (CONFIG, data("global", "secret"), format!("{config} cannot be used: it has no values"), &upto_config),
        (ROOTS, Err("timeout"), format!("{roots} {no_answer}"), &upto_roots),
        (
            ROOTS,
            data("ca-bundle.crt", "secret"),
            format!("{roots} cannot be used: its ca-bundle.crt is not a bundle of PEM certificates"),
            &upto_roots,
        ),
    ] {
        let host = || Host::new(json!({})).with(target, broken.clone());
        assert_fails(host, &enabled(), &error, calls);
        let (kept_out, service) = (exposing(json!({})), service(json!([{"port": 3306}]), json!({})));
        if target == CONFIG {
            let log = format!("warning: opaque ports not set: {error}");
            assert_let_through(&host(), "Pod", &kept_out, "injection_enable_annotation_absent", &log);
            assert_let_through(&host(), "Service", &service, "unsupported_resource", &log);
        } else {
            assert_eq!(ending(&host().ask("Pod", &kept_out, &json!({}))), "injection_enable_annotation_absent");
            assert_eq!(ending(&host().ask("Service", &service, &json!({}))), "unsupported_resource");
        }
    }
}

#[test]
fn an_owner_that_cannot_be_read_stands_for_itself() {
    let forbidden = |target: &str| {
        format!("warning: owner taken as the root: {target} is forbidden: grant get on it to the policy server's service account")
    };
    let found = "Cannot find apps/v1/X named 'x' inside";
    for (kind, name, target, shown, label) in [
        ("ReplicaSet", "web-5d4f", REPLICA_SET, "ReplicaSet shop/web-5d4f", "linkerd.io/proxy-replicaset"),
        ("Job", "nightly-1", JOB, "Job shop/nightly-1", "linkerd.io/proxy-job"),
    ] {
        for (text, logs) in [(found, vec![]), (FORBIDDEN, vec![forbidden(shown)])] {
            let host = Host::new(json!({})).with(target, Err(text));
            let answer = host.ask("Pod", &owned_by(kind, name, "other"), &json!({}));
            assert_eq!(ending(&answer), "injected");
            assert_eq!(answer["mutated_object"]["metadata"]["labels"][label], name);
            assert_eq!(answer["warnings"], json!(null));
            assert_eq!(host.calls(), [NAMESPACE, CONFIG, ROOTS, target]);
            assert_eq!(host.logs(), logs);
        }
    }
}

#[test]
fn nothing_of_a_payload_or_a_host_text_shows_in_an_answer() {
    let env = json!([{"name": "SECRET", "value": "secret"}]);
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled", "a": "secret"}), json!({"containers": [{"name": "app", "env": env}]}));
    for target in [NAMESPACE, CONFIG, ROOTS] {
        for broken in [
            Err(FORBIDDEN),
            Err("secret"),
            Ok(json!("secret")),
            Ok(json!({"data": {"values": "[secret", "ca-bundle.crt": "secret"}, "metadata": {"labels": "secret"}})),
        ] {
            for on_error in ["reject", "skip"] {
                let host = Host::new(json!({})).with(target, broken.clone());
                let answer = host.send(&payload("Pod", &pod, &json!({"onError": on_error})));
                assert!(!answer.contains("secret") && !host.logs().concat().contains("secret"), "{answer}");
            }
        }
    }
}
