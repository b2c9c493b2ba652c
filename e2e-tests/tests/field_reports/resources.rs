//! Requests, limits and quotas.

use super::{app, cni, config, injected, meshed, not_native};
use serde_json::{Value, json};

fn four() -> Value {
    config(&[
        ("proxy-cpu-request", "0.2"),
        ("proxy-memory-request", "64Mi"),
        ("proxy-cpu-limit", "1"),
        ("proxy-memory-limit", "128Mi"),
    ])
}

/// linkerd/linkerd2#2750, linkerd/linkerd2#7980, linkerd/linkerd2#11320, linkerd/linkerd2#10162: quotas on limits refuse a pod whose
/// init container has none.
#[test]
fn every_injected_container_has_the_resources_that_are_asked_for() {
    let expected = json!({"requests": {"cpu": "0.2", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "128Mi"}});
    for (init, values) in [("linkerd-init", json!({})), ("linkerd-network-validator", cni())] {
        for ask in [meshed(json!({}), json!({})).namespace(four()), meshed(four(), json!({}))] {
            let answer = injected(&ask.values(values.clone()));
            for name in [init, "linkerd-proxy"] {
                assert_eq!(answer.container(name).unwrap()["resources"], expected, "{name}");
            }
        }
    }
}

/// linkerd/linkerd2#6786: a pod that was Guaranteed no longer was.
#[test]
fn a_guaranteed_pod_can_stay_so_and_its_author_is_told_where_it_does_not() {
    let equal = config(&[
        ("proxy-cpu-request", "1"),
        ("proxy-memory-request", "64Mi"),
        ("proxy-cpu-limit", "1"),
        ("proxy-memory-limit", "64Mi"),
    ]);
    let guaranteed = app(json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}));
    let answer = injected(&meshed(equal, guaranteed.clone()));
    for name in ["linkerd-init", "linkerd-proxy"] {
        let resources = &answer.container(name).unwrap()["resources"];
        assert_eq!(resources["requests"], resources["limits"], "{name}");
    }
    assert_eq!(answer.warnings(), Vec::<&str>::new());
    // With the limit alone, Kubernetes makes it the request.
    let limit = injected(&meshed(config(&[("proxy-cpu-limit", "1")]), json!({})));
    assert_eq!(limit.container("linkerd-proxy").unwrap()["resources"], json!({"limits": {"cpu": "1"}}));
    let lost = injected(&meshed(json!({}), guaranteed));
    let line = "pod: no longer Guaranteed, and refused by quotas on limits, for want of equal requests and limits of the proxy";
    assert_eq!(lost.warnings(), [line]);
}

/// linkerd/linkerd2#3748: injected containers should take the namespace's defaults. On a real API server: `in_cluster::telling`.
#[test]
fn limit_ranges_give_their_defaults_where_they_are_followed() {
    let items = json!([{"type": "Container", "default": {"memory": "128Mi"}, "defaultRequest": {"memory": "64Mi", "cpu": "10m"}}]);
    let plain = injected(&meshed(json!({}), json!({})));
    assert_eq!(plain.container("linkerd-proxy").unwrap().get("resources"), None);
    let filled = injected(&meshed(json!({}), json!({})).limits(items));
    let expected = json!({"limits": {"memory": "128Mi"}, "requests": {"cpu": "10m", "memory": "64Mi"}});
    for name in ["linkerd-init", "linkerd-proxy"] {
        assert_eq!(filled.container(name).unwrap()["resources"], expected, "{name}");
    }
    assert_eq!(filled.warnings(), Vec::<&str>::new(), "nothing that was set was changed");
}

/// linkerd/website#1495: only the number of workers is rounded up, not the limit.
#[test]
fn a_cpu_limit_is_as_written_and_workers_are_whole() {
    for (limit, workers) in [("0.5", "1"), ("1001m", "2"), ("1m", "1")] {
        let answer = injected(&meshed(config(&[("proxy-cpu-limit", limit)]), json!({})));
        assert_eq!(answer.container("linkerd-proxy").unwrap()["resources"]["limits"]["cpu"], limit);
        assert_eq!(answer.env("LINKERD2_PROXY_CORES_MAX"), Some(workers), "{limit}");
    }
}

/// linkerd/linkerd2#2029: requests could be set, limits could not.
#[test]
fn each_of_six_amounts_works_alone() {
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        for (which, list) in [("request", "requests"), ("limit", "limits")] {
            let answer = injected(&meshed(config(&[(&format!("proxy-{resource}-{which}"), "1")]), json!({})));
            assert_eq!(answer.container("linkerd-proxy").unwrap()["resources"], json!({list: {resource: "1"}}));
        }
    }
}

/// linkerd/linkerd2#4786: the debug container has no resources, and quotas refuse it. It has none here either; where the application's
/// containers have limits, the author is told.
#[test]
fn the_debug_container_has_no_resources_and_that_is_said() {
    let limited = config(&[("enable-debug-sidecar", "true"), ("proxy-cpu-limit", "1"), ("proxy-memory-limit", "64Mi")]);
    let answer = injected(&meshed(limited, app(json!({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}))));
    assert_eq!(answer.container("linkerd-debug").unwrap().get("resources"), None);
    assert!(
        answer.warnings()[0].starts_with("pod: no longer Guaranteed, and refused by quotas on limits"),
        "{:?}",
        answer.warnings()
    );
}

/// linkerd/linkerd2#10276, linkerd/linkerd2#10058: a wait that is longer than the grace period ends in a killed hook.
#[test]
fn a_wait_beyond_the_grace_period_is_rendered_and_told() {
    let wait = json!({"config.alpha.linkerd.io/proxy-wait-before-exit-seconds": "40"});
    let answer = injected(&meshed(wait, json!({"terminationGracePeriodSeconds": 30})).values(not_native()));
    let hook = &answer.container("linkerd-proxy").unwrap()["lifecycle"]["preStop"]["exec"]["command"];
    assert_eq!(hook, &json!(["/bin/sleep", "40"]));
    let line = "pod: the proxy waits 40 s when it is stopped, and terminationGracePeriodSeconds ends it after 30 s";
    assert_eq!(answer.warnings(), [line]);
}
