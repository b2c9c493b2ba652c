//! Who is injected, who is not, and who is told why.

use super::{answer, app, config, enabled, injected, meshed};
use e2e_tests::ask::Ask;
use serde_json::{Value, json};

/// linkerd/linkerd2#6862: pods that refuse their service account's token.
#[test]
fn a_pod_without_its_token_is_injected_with_one_of_its_own() {
    let answer = injected(&meshed(json!({}), json!({"automountServiceAccountToken": false})));
    let volumes = answer.object["spec"]["volumes"].as_array().unwrap();
    let token = volumes.iter().find(|volume| volume["name"] == "linkerd-identity-token").unwrap();
    let source = json!({"serviceAccountToken": {"audience": "identity.l5d.io", "expirationSeconds": 86400, "path": "linkerd-identity-token"}});
    assert_eq!(token["projected"]["sources"], json!([source]));
    let mounts = answer.container("linkerd-proxy").unwrap()["volumeMounts"].as_array().unwrap().clone();
    assert!(mounts.iter().any(|mount| mount["mountPath"] == "/var/run/secrets/tokens"), "{mounts:?}");
}

/// linkerd/linkerd2#366: a pod on its node's network was injected, and the node lost the network.
#[test]
fn host_network_stays_out_and_whoever_asks_is_told() {
    let out = answer(&meshed(json!({}), json!({"hostNetwork": true})));
    assert_eq!((out.is_injected(), out.names("containers")), (false, vec!["app"]));
    assert_eq!(out.warnings(), ["pod: asks for the mesh and stays out: the pod uses the host network"]);
    injected(&meshed(json!({}), json!({"hostNetwork": false})));
}

/// linkerd/linkerd2#3910: Envoy and Contour were taken for a mesh.
#[test]
fn only_a_mesh_is_a_mesh() {
    let envoy = json!({
        "containers": [{"name": "app", "image": "projectcontour/contour:1"}],
        "initContainers": [{"name": "envoy-initconfig", "image": "envoyproxy/envoy:1"}],
    });
    injected(&meshed(json!({}), envoy));
    injected(&meshed(json!({}), json!({"containers": [{"name": "sidecar", "image": "docker.io/istio/proxyv2:x"}]})));
    for container in [json!({"name": "istio-proxy"}), json!({"name": "a", "image": "gcr.io/istio-release/proxyv2:x"})] {
        let out = answer(&meshed(json!({}), json!({"containers": [container]})));
        assert_eq!(out.response.audit("reason"), Some("sidecar_already_exists"));
    }
}

/// linkerd/linkerd2#4149: `false` was taken for a yes.
#[test]
fn an_inject_value_that_means_nothing_keeps_out_and_is_told() {
    let out = answer(&Ask::pod(json!({"linkerd.io/inject": "false"}), json!({})).namespace(enabled()));
    assert_eq!(out.response.audit("reason"), Some("invalid_inject_annotation_at_workload"));
    assert_eq!(out.warnings(), ["linkerd.io/inject: \"false\" is none of enabled, disabled, ingress"]);
}

/// linkerd/linkerd2#4125: the annotation on the Deployment instead of its template.
#[test]
fn an_annotation_in_the_wrong_place_is_told() {
    let out = answer(&Ask::workload("Deployment", json!({"annotations": enabled()}), json!({}), json!({})));
    assert_eq!(out.response.mutated_object, None);
    let line = "Deployment: \"linkerd.io/inject\" is read in its pod template only";
    assert_eq!(out.warnings(), [line]);
}

/// linkerd/linkerd2#4856: a label where an annotation is meant.
#[test]
fn a_label_is_no_annotation_and_that_is_told() {
    let out = answer(&Ask::pod(json!({}), json!({})).labels(enabled()));
    assert_eq!(out.response.audit("reason"), Some("injection_enable_annotation_absent"));
    assert_eq!(out.warnings(), ["namespace: the label linkerd.io/inject has no effect, it has to be an annotation"]);
}

/// linkerd/linkerd2#8634: a pod that stays out and gets its opaque ports looked as if it were injected.
#[test]
fn a_pod_that_stays_out_says_so_and_gets_its_opaque_ports() {
    let mut spec = app(json!({"ports": [{"containerPort": 3306}]}));
    spec["hostNetwork"] = json!(true);
    let ask = Ask::pod(json!({}), spec).settings(json!({"reinvocation": "skip"}));
    let out = answer(&ask);
    let mut expected = ask.object.clone();
    expected["metadata"]["annotations"]["config.linkerd.io/opaque-ports"] = json!("3306");
    assert_eq!((out.object.clone(), out.response.audit("injected")), (expected, Some("false")));
}

/// linkerd/linkerd2#3739, linkerd/linkerd2#5718, linkerd/linkerd2#5873, linkerd/linkerd2#9168: keys and values that nobody checks. Every
/// value: the policy's own `overrides::tests`; every key: `checks`.
#[test]
fn a_mistyped_key_is_told_with_the_one_that_was_meant() {
    let answer = injected(&meshed(config(&[("proxy-cpu-limits", "1")]), json!({})));
    let line = "annotations: \"config.linkerd.io/proxy-cpu-limits\" is unknown; did you mean proxy-cpu-limit";
    assert_eq!((answer.warnings(), answer.annotation("linkerd.io/injection-warnings")), (vec![line], Some(line)));
}

/// linkerd/linkerd2#2882: Windows pods. linkerd/linkerd2#5188, linkerd/linkerd2#7425, linkerd/linkerd2#8006: Jobs that stay out.
#[test]
fn windows_pods_and_kinds_of_owners_stay_out() {
    let windows = answer(&meshed(json!({}), json!({"os": {"name": "windows"}})));
    assert_eq!(windows.response.audit("reason"), Some("windows_pod"));
    let mut job = meshed(json!({}), json!({"restartPolicy": "Never"})).settings(json!({"skipOwnerKinds": ["Job"]}));
    job.object["metadata"]["ownerReferences"] = json!([{"kind": "Job", "name": "nightly", "controller": true}]);
    assert_eq!(answer(&job).response.audit("reason"), Some("owner_kind_skipped"));
}

/// linkerd/linkerd2#13702, linkerd/linkerd2#3885: pods that start unmeshed because nobody answers. The policy answers every input:
/// `properties::garbage`, `properties::wrong_shapes`, `failures`.
#[test]
fn an_answer_comes_whatever_is_asked() {
    for object in [json!(null), json!([]), json!({"spec": 1}), json!({"metadata": {"annotations": [1]}, "spec": {}})] {
        let ask = Ask::about("Pod", object.clone());
        let out = answer(&ask);
        assert_eq!(out.response.mutated_object, None, "{object}");
        assert!(object.is_null() || out.response.code == Some(500), "{object}");
    }
}

fn owned(kind: &str, name: &str) -> Ask {
    let mut ask = meshed(json!({}), json!({}));
    ask.object["metadata"]["ownerReferences"] = json!([{"kind": kind, "name": name, "controller": true}]);
    ask
}

fn owner_labels(ask: &Ask) -> Vec<(String, Value)> {
    let labels = injected(ask).object["metadata"]["labels"].as_object().unwrap().clone();
    labels.into_iter().filter(|(key, _)| key.starts_with("linkerd.io/proxy-")).collect()
}

/// linkerd/linkerd2#6429, linkerd/linkerd2#5189: a ReplicaSet of a Rollout. linkerd/linkerd2#3687: a Job of a CronJob.
/// linkerd/linkerd2#14682: kinds that nobody knows.
#[test]
fn owners_of_every_kind() {
    let made_by = |version: &str, kind: &str, name: &str, owner: &str| {
        json!({"apiVersion": version, "kind": kind, "metadata": {
            "name": name, "namespace": "shop", "ownerReferences": [{"kind": owner, "name": "root", "controller": true}],
        }})
    };
    let rollout = owned("ReplicaSet", "web-1").object(made_by("apps/v1", "ReplicaSet", "web-1", "Rollout"));
    assert_eq!(owner_labels(&rollout), [("linkerd.io/proxy-replicaset".to_owned(), json!("web-1"))]);
    let cron = owned("Job", "nightly-1").object(made_by("batch/v1", "Job", "nightly-1", "CronJob"));
    assert_eq!(owner_labels(&cron), [("linkerd.io/proxy-cronjob".to_owned(), json!("root"))]);
    assert_eq!(owner_labels(&owned("Workflow", "steps")), []);
}

/// infobloxopen/konk#616, infobloxopen/konk#706: the label of a name of more than 63 characters kept the pod from being made.
#[test]
fn a_long_name_is_no_label_and_that_is_told() {
    for (length, labels) in [(63, 1), (64, 0)] {
        let ask = owned("DaemonSet", &"d".repeat(length));
        assert_eq!((owner_labels(&ask).len(), injected(&ask).warnings().len()), (labels, 1 - labels));
    }
}
