//! Where the injected containers stand.

use super::{answer, app, cni, injected, meshed, not_native};
use serde_json::json;

/// linkerd/linkerd2#1760: an init container that downloads something ran after linkerd-init, and before the proxy.
#[test]
fn redirection_comes_last_of_the_init_containers_without_a_native_sidecar() {
    let ask =
        meshed(json!({}), json!({"containers": [{"name": "app"}], "initContainers": [{"name": "fetch"}]})).values(not_native());
    assert_eq!(injected(&ask).names("initContainers"), ["fetch", "linkerd-init"]);
}

/// linkerd/linkerd2#4758, linkerd/linkerd2#11465: init containers run behind a proxy that runs, and keep their order.
#[test]
fn init_containers_come_after_a_native_sidecar() {
    let ask = meshed(json!({}), json!({"initContainers": [{"name": "vault-agent-init"}]}));
    assert_eq!(injected(&ask).names("initContainers"), ["linkerd-init", "linkerd-proxy", "vault-agent-init"]);
    let ask = meshed(json!({}), json!({"initContainers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]}));
    assert_eq!(injected(&ask).names("initContainers"), ["linkerd-init", "linkerd-proxy", "c", "a", "b"]);
}

/// linkerd/linkerd2#4788: in CNI mode the redirection is there before any init container.
#[test]
fn the_validator_and_the_proxy_come_before_init_containers() {
    let answer = injected(&meshed(json!({}), json!({"initContainers": [{"name": "init"}]})).values(cni()));
    assert_eq!(answer.names("initContainers"), ["linkerd-network-validator", "linkerd-proxy", "init"]);
    assert!(!answer.names("volumes").contains(&"linkerd-proxy-init-xtables-lock"));
}

/// linkerd/linkerd2#7122, linkerd/linkerd2#7497, acorn-io/runtime#1002: kubectl and controllers took the proxy for the application.
#[test]
fn the_application_stays_what_kubectl_shows() {
    const DEFAULT: &str = "kubectl.kubernetes.io/default-container";
    let native = injected(&meshed(json!({}), json!({})));
    assert_eq!((native.names("containers"), native.annotation(DEFAULT)), (vec!["app"], None));
    let first = injected(&meshed(json!({}), json!({})).values(not_native()));
    assert_eq!((first.names("containers"), first.annotation(DEFAULT)), (vec!["linkerd-proxy", "app"], Some("app")));
    let values = json!({"proxy": {"nativeSidecar": false, "await": false}});
    let last = injected(&meshed(json!({}), json!({})).values(values));
    assert_eq!((last.names("containers"), last.annotation(DEFAULT)), (vec!["app", "linkerd-proxy"], None));
    let own = injected(&meshed(json!({DEFAULT: "app"}), json!({})).values(not_native()));
    assert_eq!(own.annotation(DEFAULT), Some("app"));
}

/// istio/istio#54562, salesforce/generic-sidecar-injector#22: others' containers went, or were sorted.
#[test]
fn what_is_there_stays_where_and_as_it_is() {
    let spec = json!({
        "containers": [{"name": "zeta", "x": 1}, {"name": "app", "y": null}, {"name": "mid"}],
        "initContainers": [{"name": "second"}, {"name": "first", "unknown": {"a": []}}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    });
    let answer = injected(&meshed(json!({}), spec.clone()));
    for list in ["containers", "initContainers", "volumes"] {
        let before = spec[list].as_array().unwrap();
        let after: Vec<_> = answer.object["spec"][list].as_array().unwrap().iter().filter(|item| before.contains(item)).collect();
        assert_eq!(after, before.iter().collect::<Vec<_>>(), "{list}");
    }
    assert_eq!(answer.names("containers"), ["zeta", "app", "mid"]);
}

/// istio/istio#53920: a sidecar that has to start before the mesh's. There is no such choice; its own order is kept after ours, and
/// ports that it needs open are skipped by annotation: `ports::skip_ports_replace_the_configured_ones`.
#[test]
fn a_sidecar_of_the_users_keeps_its_place_among_its_own() {
    let early = json!({"initContainers": [{"name": "early", "restartPolicy": "Always"}, {"name": "late"}]});
    let answer = injected(&meshed(json!({}), early));
    assert_eq!(answer.names("initContainers"), ["linkerd-init", "linkerd-proxy", "early", "late"]);
    assert_eq!(answer.container("early").unwrap()["restartPolicy"], "Always");
}

/// linkerd/linkerd2#12395: a sidecar among the init containers was not seen.
#[test]
fn a_native_sidecar_is_a_sidecar() {
    let spec = json!({"initContainers": [{"name": "linkerd-proxy", "restartPolicy": "Always"}]});
    let answer = answer(&meshed(json!({}), spec));
    assert_eq!((answer.is_injected(), answer.response.audit("reason")), (false, Some("sidecar_already_exists")));
    assert_eq!(answer.response.mutated_object, None);
}

/// linkerd/linkerd2#12391: tools look the proxy up by its name. (linkerd/linkerd2#13349, an exit code at run time, is none of the
/// injection's.)
#[test]
fn the_proxy_is_called_linkerd_proxy_in_every_mode() {
    for values in [json!({}), not_native(), cni(), json!({"cniEnabled": true, "proxy": {"nativeSidecar": false}})] {
        assert!(
            injected(&meshed(json!({}), app(json!({}))).values(values.clone())).container("linkerd-proxy").is_some(),
            "{values}"
        );
    }
}
