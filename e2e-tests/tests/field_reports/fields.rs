//! Fields of the user's that typed webhooks lost, and pods that come a second time.

use super::{answer, app, injected, meshed, not_native};
use e2e_tests::{ask::Ask, policy::Native};
use serde_json::{Value, json};

/// linkerd/linkerd2#13033: probes are only allowed on init containers that go on running.
#[test]
fn only_a_native_sidecar_has_probes_among_init_containers() {
    let native = injected(&meshed(json!({}), json!({})));
    let proxy = native.container("linkerd-proxy").unwrap();
    assert_eq!(proxy["restartPolicy"], "Always");
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        assert!(proxy[probe].is_object(), "{probe}");
        assert_eq!(native.container("linkerd-init").unwrap().get(probe), None, "{probe}");
    }
    let regular = injected(&meshed(json!({}), json!({})).values(not_native()));
    assert_eq!(regular.container("linkerd-proxy").unwrap().get("restartPolicy"), None);
}

/// kubernetes-sigs/windows-testing#576, DataDog/datadog-agent#37837, aws/amazon-eks-pod-identity-webhook#208,
/// kubernetes/kops#16802, enix/kube-image-keeper#457, piraeusdatastore/piraeus-operator#1025: fields that a webhook's types did not know
/// were dropped, even of pods that it left alone. For unknown keys at every level: `properties::unknown_keys_survive_at_every_level`.
#[test]
fn fields_newer_than_any_type_survive() {
    let rules = json!([{"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}]);
    let sidecar = json!({
        "name": "s", "restartPolicy": "Always", "readinessProbe": {"exec": {"command": ["true"]}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
    });
    let volumes = json!([{"name": "m", "image": {"reference": "r"}}]);
    let spec =
        json!({"containers": [{"name": "app", "restartPolicyRules": rules}], "initContainers": [sidecar], "volumes": volumes});
    let joined = injected(&meshed(json!({}), spec.clone()));
    assert_eq!(joined.container("app").unwrap()["restartPolicyRules"], rules);
    assert_eq!(joined.container("s").unwrap(), &sidecar);
    assert!(joined.object["spec"]["volumes"].as_array().unwrap().contains(&volumes[0]));
    let left = answer(&Ask::pod(json!({"linkerd.io/inject": "disabled"}), spec));
    assert_eq!(left.response.mutated_object, None);
}

/// istio/istio#27675: restored pods bring volumes of an old sidecar.
#[test]
fn leftover_volumes_are_not_doubled() {
    let old = json!([{"name": "linkerd-identity-end-entity", "emptyDir": {}}, {"name": "linkerd-identity-token", "emptyDir": {}}]);
    let mut spec = app(json!({}));
    spec["volumes"] = old;
    let answer = injected(&meshed(json!({}), spec));
    let mut names = answer.names("volumes");
    names.sort_unstable();
    let mut once = names.clone();
    once.dedup();
    assert_eq!(names, once);
    let volumes = answer.object["spec"]["volumes"].as_array().unwrap();
    let token = volumes.iter().find(|volume| volume["name"] == "linkerd-identity-token").unwrap();
    assert!(token["projected"].is_object(), "{token}");
}

/// istio/istio#41652: a second pass appended variables again.
#[test]
fn no_variable_is_there_twice_however_often_it_is_called() {
    let ask =
        meshed(super::config(&[("proxy-additional-env", r#"[{"name":"A","value":"1"},{"name":"A","value":"2"}]"#)]), json!({}));
    let mut object = ask.object.clone();
    for _ in 0..3 {
        object = ask.about_object(&Native, &object).unwrap().object;
        let proxy = object["spec"]["initContainers"].as_array().unwrap().iter().find(|c| c["name"] == "linkerd-proxy").unwrap();
        let mut names: Vec<&str> = proxy["env"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
        let many = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), many);
    }
}

/// linkerd/linkerd2#3750, linkerd/linkerd2#6309, linkerd/linkerd2#6347, beclab/Olares#3942: what later webhooks add was missed. With
/// real webhooks in every order: `in_cluster::reinvocation`.
#[test]
fn what_a_later_webhook_adds_counts_at_the_second_call() {
    let ask = Ask::pod(json!({}), json!({}));
    let first = answer(&ask);
    assert!(!first.is_injected());
    let mut asked = first.object;
    asked["metadata"]["annotations"] = json!({"linkerd.io/inject": "enabled"});
    let second = ask.about_object(&Native, &asked).unwrap();
    assert!(second.is_injected());
    let mut later = second.object;
    later["metadata"]["annotations"]["config.linkerd.io/proxy-log-level"] = json!("debug");
    later["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "opa", "ports": [{"containerPort": 8181}]}));
    let third = ask.about_object(&Native, &later).unwrap();
    assert!(third.env("LINKERD2_PROXY_LOG").unwrap().starts_with("debug,"));
    assert_eq!(third.env("LINKERD2_PROXY_INBOUND_PORTS"), Some("8181"));
}

/// kubewarden/kwctl#48: an object came back, and no patch. The patch that the host computes: `kwctl::kwctl_answers_as_our_host`
/// and `in_cluster`. kubewarden/kwctl#1315, rancher/kubewarden-ui#1340: a mutation in a policy that says it makes none.
/// kubewarden/helm-charts#374, kubewarden/docs#335: a policy that changes both workloads and their pods goes in circles.
#[test]
fn what_is_shipped_says_that_it_mutates_and_mutates_no_workload() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |file: &str| serde_norway::from_str::<Value>(&std::fs::read_to_string(format!("{root}/{file}")).unwrap()).unwrap();
    let (metadata, policy) = (read("policy-metadata.yml"), read("artefacts/cluster-admission-policy.yaml"));
    assert_eq!((&metadata["mutating"], &policy["spec"]["mutating"]), (&json!(true), &json!(true)));
    for policy in [&policy, &read("artefacts/admission-policy.yaml")] {
        assert_eq!(metadata["rules"], policy["spec"]["rules"]);
    }
    let mut webhook = read("artefacts/reinvocation/webhook.yaml")["webhooks"][0]["rules"].clone();
    for rule in webhook.as_array_mut().unwrap() {
        assert_eq!(rule.as_object_mut().unwrap().remove("scope"), Some(json!("Namespaced")));
    }
    assert_eq!(metadata["rules"], webhook);
    assert_eq!(metadata["contextAwareResources"], policy["spec"]["contextAwareResources"]);
    let operations: Vec<(&Value, &Value)> =
        metadata["rules"].as_array().unwrap().iter().map(|rule| (&rule["resources"], &rule["operations"])).collect();
    assert_eq!(
        operations,
        [
            (&json!(["pods", "services"]), &json!(["CREATE"])),
            (&json!(["deployments", "daemonsets", "statefulsets", "replicasets"]), &json!(["CREATE", "UPDATE"])),
            (&json!(["jobs", "cronjobs"]), &json!(["CREATE", "UPDATE"])),
        ]
    );
    for kind in ["Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "CronJob"] {
        let asked = Ask::workload(kind, json!({}), json!({"linkerd.io/inject": "enabled"}), json!({}));
        assert_eq!(answer(&asked).response.mutated_object, None, "{kind}");
    }
    // Nothing that stays as it is comes back as a mutation.
    assert_eq!(answer(&Ask::pod(json!({}), json!({}))).response.mutated_object, None);
}
