//! What the limit ranges of a namespace make of an injected pod.

use serde_json::{Value, json};

use crate::{
    mesh::{Mesh, container},
    telling::{LIMITS, PLAIN, deployment, enabled, pod},
};

/// A namespace whose pods are injected by a policy, with a limit range of one item.
fn limited(mesh: &Mesh, namespace: &str, policy: &str, item: &Value) {
    mesh.labelled_namespace(namespace, &enabled(), &json!({"policy": policy}));
    let metadata = json!({"name": "limits", "namespace": namespace});
    mesh.create(&json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [item]}}));
}

pub fn a_limit_range_lets_the_pod_in_where_it_is_followed(mesh: &Mesh) {
    let asking = json!({"config.linkerd.io/proxy-cpu-request": "10m", "config.linkerd.io/proxy-memory-limit": "1Gi"});
    for (namespace, policy) in [("bounded", PLAIN), ("followed", LIMITS)] {
        let item = json!({
            "type": "Container", "min": {"cpu": "100m", "memory": "32Mi"}, "max": {"cpu": "1", "memory": "256Mi"},
            "maxLimitRequestRatio": {"cpu": "5"},
        });
        limited(mesh, namespace, policy, &item);
    }
    mesh.until("the pod is refused", || {
        let answer = mesh.dry_run(&pod("bounded", "web", &asking));
        let refused = answer.message().contains("minimum cpu usage per Container is 100m, but request is 10m");
        if answer.status == 403 && refused { Ok(()) } else { Err(format!("{} {}", answer.status, answer.message())) }
    });
    let told = [
        "namespace: a LimitRange raises the proxy's cpu request from 10m to 100m",
        "namespace: a LimitRange sets the proxy's cpu limit to 500m",
        "namespace: a LimitRange lowers the proxy's memory limit from 1Gi to 256Mi",
    ];
    let stored = mesh.until("the pod is let in", || {
        let answer = mesh.dry_run(&pod("followed", "web", &asking));
        if answer.status == 201 && answer.warnings == told {
            Ok(answer.body)
        } else {
            Err(format!("{} {:?} {}", answer.status, answer.warnings, answer.message()))
        }
    });
    for name in ["linkerd-proxy", "linkerd-init"] {
        let expected = json!({"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}});
        assert_eq!(container(&stored, name)["resources"], expected, "{name}");
    }
    assert_eq!(stored["metadata"]["annotations"]["linkerd.io/injection-warnings"], told.join("\n"));
}

/// A pod and the Deployment of such pods, with these resources of its own container, and these of one that runs before it.
fn asked(namespace: &str, annotations: &Value, cpu: &str, early: Option<&str>) -> [Value; 2] {
    let resources = |cpu: &str| json!({"requests": {"cpu": cpu}, "limits": {"cpu": cpu}});
    let mut pod = pod(namespace, "web", annotations);
    pod["spec"]["containers"][0]["resources"] = resources(cpu);
    if let Some(early) = early {
        let mut container = pod["spec"]["containers"][0].clone();
        container["name"] = json!("early");
        container["resources"] = resources(early);
        pod["spec"]["initContainers"] = json!([container]);
    }
    let mut deployment = deployment(namespace, "web", annotations);
    deployment["spec"]["template"]["spec"] = pod["spec"].clone();
    [pod, deployment]
}

/// LimitRanger's verdict on the pod is what the author of its template hears of it.
pub fn what_no_change_mends_is_told_before_the_pod_is_refused(mesh: &Mesh) {
    limited(mesh, "ratio", LIMITS, &json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "4"}}));
    limited(mesh, "whole", LIMITS, &json!({"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "200m"}}));
    limited(mesh, "whole-ratio", LIMITS, &json!({"type": "Pod", "maxLimitRequestRatio": {"cpu": "2"}}));
    let cpu = |request: &str, limit: &str| json!({"config.linkerd.io/proxy-cpu-request": request, "config.linkerd.io/proxy-cpu-limit": limit});
    let request = |request: &str| json!({"config.linkerd.io/proxy-cpu-request": request});
    let mut debugged = request("20m");
    debugged["config.linkerd.io/enable-debug-sidecar"] = json!("true");
    let mut first = cpu("400m", "400m");
    first["config.linkerd.io/proxy-enable-native-sidecar"] = json!("false");
    for (namespace, annotations, app, early, refused, told) in [
        ("ratio", request("20m"), "1", None, None, vec!["namespace: a LimitRange sets the proxy's cpu limit to 80m"]),
        (
            "ratio",
            json!({}),
            "1",
            None,
            Some("cpu max limit to request ratio per Container is 4, but no request is specified"),
            vec!["namespace: a LimitRange refuses linkerd-proxy: its cpu ratio needs a request; set proxy-cpu-request"],
        ),
        (
            "ratio",
            debugged,
            "1",
            None,
            Some("cpu max limit to request ratio per Container is 4, but no request is specified"),
            vec![
                "namespace: a LimitRange refuses linkerd-debug: its cpu ratio needs a request; give it a default",
                "namespace: a LimitRange sets the proxy's cpu limit to 80m",
            ],
        ),
        // Not native, the proxy does not run beside what runs before the pod's own containers.
        ("whole", first, "500m", Some("900m"), None, vec![]),
        (
            "whole",
            cpu("400m", "400m"),
            "500m",
            Some("900m"),
            Some("maximum cpu usage per Pod is 1, but limit is 1300m"),
            vec![
                "pod: its cpu requests come to 1300m with the proxy's, and a LimitRange allows pods 1",
                "pod: its cpu limits come to 1300m with the proxy's, and a LimitRange allows pods 1",
            ],
        ),
        ("whole-ratio", cpu("100m", "600m"), "500m", None, None, vec![]),
        (
            "whole-ratio",
            cpu("100m", "800m"),
            "500m",
            None,
            Some("cpu max limit to request ratio per Pod is 2, but provided ratio is 2.166667"),
            vec![
                "pod: its cpu limits come to 1300m for requests of 600m with the proxy's, and a LimitRange allows pods a ratio of 2",
            ],
        ),
    ] {
        let [pod, deployment] = asked(namespace, &annotations, app, early);
        mesh.until(&format!("{annotations} in {namespace}"), || {
            let (pod, deployment) = (mesh.dry_run(&pod), mesh.dry_run(&deployment));
            let verdict = match refused {
                Some(refused) => pod.status == 403 && pod.message().contains(refused),
                None => pod.status == 201,
            };
            let told_of_limits = |line: &&String| line.contains("LimitRange");
            let heard: Vec<&String> = deployment.warnings.iter().filter(told_of_limits).collect();
            if verdict && heard == told { Ok(()) } else { Err(format!("{} {} {heard:?}", pod.status, pod.message())) }
        });
    }
}
