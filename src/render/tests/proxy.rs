//! The proxy's container.

use super::{annotated, env, mk_pod, plain, rendered};
use serde_json::{Value, json};

#[test]
fn a_default_proxy_is_this() {
    let patch = rendered(json!({}), &plain());
    let probe = |path: &str| json!({"path": path, "port": 4191});
    let mut proxy = patch.proxy;
    proxy.as_object_mut().unwrap().remove("env");
    let expected = json!({
        "name": "linkerd-proxy",
        "image": "cr.l5d.io/linkerd/proxy:edge-26.8.1",
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": {"httpGet": probe("/live"), "initialDelaySeconds": 10, "timeoutSeconds": 1},
        "readinessProbe": {"httpGet": probe("/ready"), "initialDelaySeconds": 2, "timeoutSeconds": 1},
        "startupProbe": {"httpGet": probe("/ready"), "initialDelaySeconds": 0, "periodSeconds": 1, "failureThreshold": 120},
        "ports": [{"name": "linkerd-proxy", "containerPort": 4143}, {"name": "linkerd-admin", "containerPort": 4191}],
        "restartPolicy": "Always",
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
            "runAsNonRoot": true,
            "runAsUser": 2102,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "linkerd-identity-end-entity", "mountPath": "/var/run/linkerd/identity/end-entity"},
            {"name": "linkerd-identity-token", "mountPath": "/var/run/secrets/tokens"},
        ],
    });
    assert_eq!(proxy, expected);
}

#[test]
fn probes_have_the_configured_times_and_the_admin_port() {
    let layer = json!({"proxy": {
        "livenessProbe": {"timeoutSeconds": 10, "initialDelaySeconds": 0},
        "readinessProbe": {"timeoutSeconds": 3},
        "startupProbe": {"periodSeconds": 7},
    }});
    let proxy = rendered(layer, &annotated("config.linkerd.io/admin-port", "9991")).proxy;
    let probe = |path: &str| json!({"path": path, "port": 9991});
    assert_eq!(proxy["livenessProbe"], json!({"httpGet": probe("/live"), "initialDelaySeconds": 0, "timeoutSeconds": 10}));
    assert_eq!(proxy["readinessProbe"], json!({"httpGet": probe("/ready"), "initialDelaySeconds": 2, "timeoutSeconds": 3}));
    let startup = json!({"httpGet": probe("/ready"), "initialDelaySeconds": 0, "periodSeconds": 7, "failureThreshold": 120});
    assert_eq!(proxy["startupProbe"], startup);
    assert_eq!(proxy["ports"][1], json!({"name": "linkerd-admin", "containerPort": 9991}));
}

#[test]
fn hooks_are_for_a_proxy_that_is_no_native_sidecar() {
    let await_ready = json!({"exec": {"command": ["/usr/lib/linkerd/linkerd-await", "--timeout=2m", "--port=4191"]}});
    let wait = json!({"exec": {"command": ["/bin/sleep", "40"]}});
    for (native, waits, seconds, expected) in [
        (false, true, "0", json!({"postStart": await_ready})),
        (false, true, "40", json!({"postStart": await_ready, "preStop": wait})),
        (false, false, "40", json!({"preStop": wait})),
        (false, false, "0", json!(null)),
        (true, true, "40", json!(null)),
    ] {
        let layer = json!({"proxy": {"nativeSidecar": native, "await": waits}});
        let pod = annotated("config.alpha.linkerd.io/proxy-wait-before-exit-seconds", seconds);
        assert_eq!(rendered(layer, &pod).proxy["lifecycle"], expected, "{native} {waits} {seconds}");
    }
}

fn with_capabilities(block: Value) -> Value {
    mk_pod(json!({}), json!({"securityContext": {"capabilities": block}}))
}

/// What the application's first container has, what the proxy drops, and what the init container adds and drops.
#[test]
fn dropped_capabilities_are_mirrored_and_added_ones_are_not() {
    let needed = || json!({"add": ["NET_ADMIN", "NET_RAW"]});
    let needed_and = |drop: Value| json!({"add": ["NET_ADMIN", "NET_RAW"], "drop": drop});
    for (block, proxy, init) in [
        (json!(null), json!(["ALL"]), needed()),
        (json!({}), json!(["ALL"]), needed()),
        (json!({"drop": null}), json!(["ALL"]), needed()),
        (json!({"drop": ["ALL"]}), json!(["ALL"]), needed_and(json!(["ALL"]))),
        (json!({"drop": ["NET_RAW", "CHOWN"]}), json!(["NET_RAW", "CHOWN", "ALL"]), needed_and(json!(["CHOWN"]))),
        (json!({"add": ["SYS_ADMIN"], "drop": ["CHOWN"]}), json!(["CHOWN", "ALL"]), needed_and(json!(["CHOWN"]))),
        (json!({"add": ["NET_ADMIN"]}), json!(["ALL"]), needed()),
        (
            json!({"drop": ["net_raw", "CAP_NET_RAW", "Net_Admin", "cap_net_admin"]}),
            json!(["net_raw", "CAP_NET_RAW", "Net_Admin", "cap_net_admin", "ALL"]),
            needed(),
        ),
        (
            json!({"drop": ["NET_RAW_2", "ANET_RAW"]}),
            json!(["NET_RAW_2", "ANET_RAW", "ALL"]),
            needed_and(json!(["NET_RAW_2", "ANET_RAW"])),
        ),
    ] {
        let patch = rendered(json!({}), &with_capabilities(block.clone()));
        assert_eq!(patch.proxy["securityContext"]["capabilities"], json!({"drop": proxy}), "{block}");
        assert_eq!(patch.init["securityContext"]["capabilities"], init, "{block}");
    }
}

#[test]
fn capabilities_of_values_count_where_the_application_has_none() {
    let layer =
        json!({"proxy": {"capabilities": {"add": ["A"], "drop": ["B", "NET_RAW"]}}, "proxyInit": {"capabilities": {"add": ["C"]}}});
    let patch = rendered(layer.clone(), &plain());
    assert_eq!(patch.proxy["securityContext"]["capabilities"], json!({"add": ["A"], "drop": ["B", "NET_RAW", "ALL"]}));
    assert_eq!(patch.init["securityContext"]["capabilities"], json!({"add": ["NET_ADMIN", "NET_RAW", "A"], "drop": ["B"]}));
    let patch = rendered(layer, &with_capabilities(json!({"drop": ["D"]})));
    assert_eq!(patch.proxy["securityContext"]["capabilities"], json!({"drop": ["D", "ALL"]}));
    assert_eq!(patch.init["securityContext"]["capabilities"], json!({"add": ["NET_ADMIN", "NET_RAW"], "drop": ["D"]}));
    let patch = rendered(json!({"proxyInit": {"capabilities": {"add": ["C"]}}}), &plain());
    assert_eq!(patch.proxy["securityContext"]["capabilities"], json!({"drop": ["ALL"]}));
    assert_eq!(patch.init["securityContext"]["capabilities"], json!({"add": ["NET_ADMIN", "NET_RAW", "C"]}));
}

#[test]
fn user_and_group_are_whole_numbers_everywhere() {
    let pod = mk_pod(json!({"config.linkerd.io/proxy-uid": "1001060000", "config.linkerd.io/proxy-gid": "2147483647"}), json!({}));
    let patch = rendered(json!({}), &pod);
    let context = &patch.proxy["securityContext"];
    assert_eq!((&context["runAsUser"], &context["runAsGroup"]), (&json!(1_001_060_000), &json!(2_147_483_647)));
    assert_eq!(super::flag(&patch, "--proxy-uid").as_deref(), Some("1001060000"));
    assert_eq!(super::flag(&patch, "--proxy-gid").as_deref(), Some("2147483647"));
    let patch = rendered(json!({"proxy": {"gid": 7}}), &annotated("config.linkerd.io/proxy-gid", "-1"));
    assert_eq!((patch.proxy["securityContext"].get("runAsGroup"), super::flag(&patch, "--proxy-gid")), (None, None));
}

#[test]
fn a_security_context_of_values_replaces_the_block() {
    let patch = rendered(
        json!({"proxy": {"securityContext": {"runAsUser": 5, "capabilities": {"add": ["A"]}}}}),
        &with_capabilities(json!({})),
    );
    assert_eq!(patch.proxy["securityContext"], json!({"runAsUser": 5, "capabilities": {"add": ["A"]}}));
    assert_eq!(patch.init["securityContext"]["runAsUser"], 65534);
}

#[test]
fn one_image_serves_proxy_init_and_validator() {
    let pod = mk_pod(
        json!({"config.linkerd.io/proxy-image": "r.test/p", "config.linkerd.io/proxy-version": "v9", "config.linkerd.io/image-pull-policy": "Never"}),
        json!({}),
    );
    for cni in [false, true] {
        let patch = rendered(json!({"cniEnabled": cni, "imagePullPolicy": "Always"}), &pod);
        for container in [&patch.proxy, &patch.init] {
            assert_eq!((&container["image"], &container["imagePullPolicy"]), (&json!("r.test/p:v9"), &json!("Never")));
        }
    }
    let patch =
        rendered(json!({"imagePullPolicy": "Always", "linkerdVersion": "v1"}), &annotated("config.linkerd.io/proxy-version", ""));
    assert_eq!((&patch.proxy["image"], &patch.proxy["imagePullPolicy"]), (&json!("cr.l5d.io/linkerd/proxy:v1"), &json!("Always")));
}

#[test]
fn an_annotation_of_any_text_arrives_whole() {
    for text in [r#"linkerd[name="outbound"]=debug"#, "a},]b", "tab\there", "back\\slash", "<&'+>", "line\nline", "ü"] {
        for layer in [json!({}), json!({"proxy": {"logHTTPHeaders": "insecure"}})] {
            let tail = if layer == json!({}) { ",[{headers}]=off,[{request}]=off" } else { "" };
            let patch = rendered(layer, &annotated("config.linkerd.io/proxy-log-level", text));
            assert_eq!(env(&patch, "LINKERD2_PROXY_LOG"), Some(format!("{text}{tail}")), "{text}");
        }
    }
}
