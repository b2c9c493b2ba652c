use super::*;

fn workload(api_version: &str, kind: &str) -> Value {
    let template = json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}, "creationTimestamp": null},
        "spec": {"containers": [{"name": "app", "image": "i"}, {"name": "b", "volumeMounts": []}]},
    });
    let spec = if kind == "CronJob" {
        json!({"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}})
    } else {
        json!({"template": template})
    };
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
}

const ALL: [(&str, &str, &str, &str); 7] = [
    ("v1", "ReplicationController", "ReplicationController", "web-"),
    ("apps/v1", "DaemonSet", "DaemonSet", "web-"),
    ("apps/v1", "ReplicaSet", "ReplicaSet", "web-"),
    ("apps/v1", "StatefulSet", "StatefulSet", "web-"),
    ("batch/v1", "Job", "Job", "web-"),
    ("batch/v1", "CronJob", "Job", "web-29000000-"),
    ("apps/v1", "Deployment", "ReplicaSet", "web-"),
];

#[test]
fn pods_are_those_of_the_controllers() {
    for (api_version, kind, owner, prefix) in ALL {
        let workload = workload(api_version, kind);
        let synthetic = Workload::of(&workload).unwrap().pod(&workload, "shop");
        let metadata = &synthetic.pod["metadata"];
        assert_eq!(metadata["ownerReferences"][0]["kind"], owner, "{kind}");
        assert!(metadata["generateName"].as_str().unwrap().starts_with(prefix), "{kind}");
        assert_eq!(metadata["namespace"], "shop");
        assert_eq!(metadata["labels"]["app"], "web");
        assert_eq!(metadata["annotations"], json!({"a": "b"}));
        assert_eq!(metadata.get("name").is_some(), kind == "StatefulSet");
        for container in synthetic.pod["spec"]["containers"].as_array().unwrap() {
            assert_eq!(container["volumeMounts"][0]["mountPath"], TOKEN_PATH);
        }
        assert_eq!(synthetic.owners.len(), usize::from(kind == "Deployment" || kind == "CronJob"));
    }
}

#[test]
fn a_deployment_names_its_replica_set_by_the_hash_of_its_pods() {
    let workload = workload("apps/v1", "Deployment");
    let synthetic = Workload::of(&workload).unwrap().pod(&workload, "shop");
    let hash = synthetic.pod["metadata"]["labels"]["pod-template-hash"].as_str().unwrap();
    assert_eq!(synthetic.pod["metadata"]["ownerReferences"][0]["name"], format!("web-{hash}"));
    assert_eq!(synthetic.owners[0]["metadata"]["name"], format!("web-{hash}"));
    assert_eq!(synthetic.owners[0]["metadata"]["ownerReferences"][0]["name"], "web");
    assert_eq!(Workload::of(&workload).unwrap().pod(&workload, "shop"), synthetic, "the same each time");
}

#[test]
fn an_unchanged_pod_gives_the_workload_back() {
    for (api_version, kind, ..) in ALL {
        let workload = workload(api_version, kind);
        let entry = Workload::of(&workload).unwrap();
        let synthetic = entry.pod(&workload, "shop");
        assert_eq!(entry.with_pod(&workload, &synthetic, synthetic.pod.clone()), workload, "{kind}");
    }
}

#[test]
fn only_what_the_policy_added_comes_back() {
    let workload = workload("apps/v1", "Deployment");
    let entry = Workload::of(&workload).unwrap();
    let synthetic = entry.pod(&workload, "shop");
    let mut pod = synthetic.pod.clone();
    pod["metadata"]["labels"]["linkerd.io/x"] = json!("y");
    pod["metadata"]["annotations"] = json!({});
    let mounts = synthetic.pod["spec"]["containers"][0]["volumeMounts"].clone();
    pod["spec"]["containers"].as_array_mut().unwrap().insert(0, json!({"name": "proxy", "volumeMounts": mounts}));
    let template = &entry.with_pod(&workload, &synthetic, pod)["spec"]["template"];
    assert_eq!(template["metadata"], json!({"labels": {"app": "web", "linkerd.io/x": "y"}, "creationTimestamp": null}));
    assert_eq!(
        template["spec"],
        json!({"containers": [{"name": "proxy"}, {"name": "app", "image": "i"}, {"name": "b", "volumeMounts": []}]})
    );
}

#[test]
fn a_list_that_the_policy_emptied_is_gone() {
    for (volumes, expected) in [(json!([{"name": "ours"}]), Value::Null), (json!([]), json!([])), (Value::Null, Value::Null)] {
        let original = json!({"spec": {"containers": [{"name": "a"}], "volumes": volumes}});
        let mut pod = original.clone();
        mount_token(&mut pod);
        pod["spec"]["volumes"].as_array_mut().unwrap().retain(|volume| volume["name"] != "ours");
        unmount_token(&mut pod, &original);
        assert_eq!(pod["spec"].get("volumes").cloned().unwrap_or_default(), expected);
    }
}

#[test]
fn a_label_that_the_template_has_itself_is_kept() {
    let mut workload = workload("apps/v1", "Deployment");
    workload["spec"]["template"]["metadata"]["labels"]["pod-template-hash"] = json!("mine");
    let entry = Workload::of(&workload).unwrap();
    let synthetic = entry.pod(&workload, "shop");
    assert_eq!(synthetic.pod["metadata"]["labels"]["pod-template-hash"], "mine");
    assert_eq!(entry.with_pod(&workload, &synthetic, synthetic.pod.clone()), workload);
}

#[test]
fn no_token_where_none_is_wanted() {
    let pod = json!({"spec": {"automountServiceAccountToken": false, "containers": [{"name": "a"}]}});
    let mut mounted = pod.clone();
    mount_token(&mut mounted);
    assert_eq!(mounted, pod);
    let own = json!({"spec": {"containers": [{"name": "a", "volumeMounts": [{"name": "t", "mountPath": TOKEN_PATH}]}]}});
    let mut mounted = own.clone();
    mount_token(&mut mounted);
    assert_eq!(mounted, own);
}

#[test]
fn other_kinds_are_no_workloads() {
    for object in [
        json!({"apiVersion": "v1", "kind": "Pod", "spec": {"template": {}}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}),
        json!({"apiVersion": "example.com/v1", "kind": "Deployment", "spec": {"template": {}}}),
        json!({"kind": "Deployment", "spec": {"template": {}}}),
        json!(null),
    ] {
        assert_eq!(Workload::of(&object), None);
    }
}
