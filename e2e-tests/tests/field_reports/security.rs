//! Users, capabilities and levels.

use super::{answer, app, cni, config, injected, meshed};
use serde_json::{Value, json};

fn dropping(names: &[&str]) -> Value {
    app(json!({"securityContext": {"capabilities": {"drop": names}}}))
}

/// linkerd/linkerd2#6254: NET_RAW that the application drops was taken from linkerd-init, too.
#[test]
fn linkerd_init_keeps_what_iptables_needs() {
    let answer = injected(&meshed(json!({}), dropping(&["NET_RAW", "CHOWN"])));
    let drop = |name: &str| answer.container(name).unwrap()["securityContext"]["capabilities"]["drop"].clone();
    assert_eq!(drop("linkerd-init"), json!(["CHOWN"]));
    assert_eq!(drop("linkerd-proxy"), json!(["NET_RAW", "CHOWN", "ALL"]));
}

/// linkerd/linkerd2#8056: rules that every container drops its capabilities.
#[test]
fn the_proxy_always_drops_all_capabilities() {
    for spec in [json!({}), dropping(&["ALL"])] {
        let answer = injected(&meshed(json!({}), spec));
        assert_eq!(answer.container("linkerd-proxy").unwrap()["securityContext"]["capabilities"], json!({"drop": ["ALL"]}));
    }
}

/// linkerd/linkerd2#10232, linkerd/linkerd2#9671: the restricted pod security level, and `runAsNonRoot` of the pod. On a real API server:
/// `in_cluster::telling`.
#[test]
fn in_cni_mode_every_injected_container_is_restricted() {
    let restricted = json!({"pod-security.kubernetes.io/enforce": "restricted"});
    let spec = json!({"securityContext": {"runAsNonRoot": true}});
    let answer = injected(&meshed(json!({}), spec).values(cni()).labels(restricted.clone()));
    for name in ["linkerd-network-validator", "linkerd-proxy"] {
        let context = &answer.container(name).unwrap()["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], false, "{name}");
        assert_eq!(context["runAsNonRoot"], true, "{name}");
        assert_eq!(context["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        assert_eq!(context["capabilities"], json!({"drop": ["ALL"]}), "{name}");
        assert!(context["runAsUser"].as_i64().unwrap() > 0, "{name}");
    }
    assert_eq!(answer.warnings(), Vec::<&str>::new());
    // Without it, the namespace refuses linkerd-init, and its author is told what to do.
    let refused = injected(&meshed(json!({}), json!({})).labels(restricted));
    let line = "namespace: its pod security level restricted refuses linkerd-init: it adds NET_ADMIN and NET_RAW; use linkerd-cni";
    assert_eq!(refused.warnings(), [line]);
}

/// linkerd/linkerd2#9998, linkerd/linkerd2#7767: privilege escalation, and hosts that need a privileged linkerd-init.
#[test]
fn linkerd_init_is_privileged_only_where_values_say_so() {
    for (values, powerful) in [(json!({}), false), (json!({"proxyInit": {"privileged": true}}), true)] {
        let answer = injected(&meshed(json!({}), json!({})).values(values));
        let context = &answer.container("linkerd-init").unwrap()["securityContext"];
        assert_eq!((&context["allowPrivilegeEscalation"], &context["privileged"]), (&json!(powerful), &json!(powerful)));
    }
}

/// linkerd/linkerd2#10879: OpenShift gives each namespace a range of users.
#[test]
fn the_namespaces_range_gives_the_proxys_user_where_the_settings_say_so() {
    let range = || meshed(json!({}), json!({})).namespace(json!({"openshift.io/sa.scc.uid-range": "1001060000/10000"}));
    let applied = || range().settings(json!({"openshiftUid": "apply"}));
    let uid = |answer: &e2e_tests::ask::Answer, name: &str| answer.container(name).unwrap()["securityContext"]["runAsUser"].clone();
    let ignored = injected(&range());
    assert_eq!(uid(&ignored, "linkerd-proxy"), 2102);
    let followed = injected(&applied());
    assert_eq!((uid(&followed, "linkerd-proxy"), followed.flag("--proxy-uid")), (json!(1_001_060_001), Some("1001060001")));
    assert_eq!(followed.annotation("config.linkerd.io/proxy-uid"), None);
    // linkerd-cni has to be told, and the validator is under the same rule.
    let with_cni = injected(&applied().values(cni()));
    assert_eq!(with_cni.annotation("config.linkerd.io/proxy-uid"), Some("1001060001"));
    for name in ["linkerd-proxy", "linkerd-network-validator"] {
        assert_eq!(uid(&with_cni, name), 1_001_060_001, "{name}");
    }
    // What somebody set holds.
    let set = injected(&applied().values(json!({"proxy": {"uid": 1_001_060_007}})));
    assert_eq!(uid(&set, "linkerd-proxy"), 1_001_060_007);
    let mut own = applied();
    own.object["metadata"]["annotations"]["config.linkerd.io/proxy-uid"] = json!("1001060009");
    assert_eq!(uid(&injected(&own), "linkerd-proxy"), 1_001_060_009);
}

/// linkerd/linkerd2#11520: large user ids reached linkerd-init as 1.00106e+09.
#[test]
fn a_large_user_id_keeps_its_digits() {
    let answer = injected(&meshed(config(&[("proxy-uid", "1001060000")]), json!({})));
    assert_eq!(answer.container("linkerd-proxy").unwrap()["securityContext"]["runAsUser"], 1_001_060_000);
    assert_eq!(answer.flag("--proxy-uid"), Some("1001060000"));
}

/// linkerd/linkerd2#13458: a close-wait timeout made linkerd-init crash, and later denied the pod.
#[test]
fn a_close_wait_timeout_without_root_is_told_and_not_used() {
    let asking = || meshed(config(&[("close-wait-timeout", "30s")]), json!({}));
    let warned = injected(&asking());
    assert_eq!(warned.flag("--timeout-close-wait-secs"), None);
    let line = "config.linkerd.io/close-wait-timeout: \"30s\" is set without proxyInit.runAsRoot";
    assert_eq!(warned.warnings(), [line]);
    let as_root = injected(&asking().values(json!({"proxyInit": {"runAsRoot": true}})));
    assert_eq!(as_root.flag("--timeout-close-wait-secs"), Some("30"));
    assert_eq!(as_root.container("linkerd-init").unwrap()["securityContext"]["privileged"], true);
    let rejected = answer(&asking().settings(json!({"onInvalidAnnotation": "reject"})));
    assert_eq!(rejected.response.message.as_deref(), Some(format!("linkerd-injector-policy: {line}").as_str()));
}

/// linkerd/linkerd2#14796: a workload that runs as the proxy's user bypasses the mesh.
#[test]
fn an_application_that_runs_as_the_proxy_is_told() {
    let answer = injected(&meshed(json!({}), app(json!({"securityContext": {"runAsUser": 2102}}))));
    assert_eq!(answer.warnings(), ["pod: container app runs as the proxy's user 2102, whose traffic bypasses the proxy"]);
}
