//! A second call, on what the first one returned.

use super::{CONFIG, Host, NAMESPACE, REPLICA_SET, ROOTS, ending, exposing, mk_pod, owned_by, service};
use serde_json::{Value, json};

const RECORD: &str = "linkerd.io/injection-record";

fn annotated(pod: &Value, key: &str, value: &str) -> Value {
    let mut pod = pod.clone();
    pod["metadata"]["annotations"][key] = json!(value);
    pod
}

/// The pod after a call under these settings.
fn injected(pod: &Value, namespace: &Value, settings: &Value) -> Value {
    let answer = Host::new(namespace.clone()).ask("Pod", pod, settings);
    assert_eq!(ending(&answer), "injected");
    answer["mutated_object"].clone()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|c| c["name"].as_str().unwrap()).collect()
}

#[test]
fn a_second_call_changes_nothing_and_looks_up_the_same() {
    let namespace = json!({"config.linkerd.io/proxy-log-level": "debug", "config.linkerd.io/proxy-uid": "0"});
    for pod in [
        owned_by("ReplicaSet", "web-5d4f", "other"),
        mk_pod(json!({"linkerd.io/inject": "ingress", "config.linkerd.io/proxy-enable-native-sidecar": "false"}), json!({})),
        exposing(json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-await": "disabled"})),
    ] {
        let first = Host::new(namespace.clone()).ask("Pod", &pod, &json!({}));
        let host = Host::new(namespace.clone());
        let second = host.ask("Pod", &first["mutated_object"], &json!({}));
        assert_eq!(second["mutated_object"], json!(null), "{pod}");
        // What it says does not change either.
        assert_eq!((&second["warnings"], &second["audit_annotations"]), (&first["warnings"], &first["audit_annotations"]), "{pod}");
        let owner = pod["metadata"]["ownerReferences"].is_array().then_some(REPLICA_SET);
        assert_eq!(host.calls(), [NAMESPACE, CONFIG, ROOTS].into_iter().chain(owner).collect::<Vec<_>>(), "{pod}");
    }
}

#[test]
fn annotations_that_come_later_take_effect() {
    let first = injected(&mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({})), &json!({}), &json!({}));
    let edited = annotated(&first, "config.linkerd.io/proxy-uid", "7777");
    let second = injected(&edited, &json!({}), &json!({}));
    assert_eq!(second["spec"]["initContainers"][1]["securityContext"]["runAsUser"], 7777);
    let unasked = mk_pod(json!({}), json!({}));
    assert_eq!(Host::new(json!({})).ask("Pod", &unasked, &json!({}))["mutated_object"], json!(null));
    let asked = annotated(&unasked, "linkerd.io/inject", "enabled");
    assert_eq!(names(&injected(&asked, &json!({}), &json!({}))["spec"]["initContainers"]), ["linkerd-init", "linkerd-proxy"]);
}

#[test]
fn a_pod_that_leaves_the_mesh_is_as_it_was() {
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled", "a": "b"}), json!({"volumes": [{"name": "data"}]}));
    let namespace = json!({"config.linkerd.io/proxy-log-level": "debug"});
    let first = injected(&pod, &namespace, &json!({}));
    assert_ne!(first, pod);
    let answer = Host::new(namespace).ask("Pod", &annotated(&first, "linkerd.io/inject", "disabled"), &json!({}));
    assert_eq!(ending(&answer), "injection_disable_annotation_present");
    assert_eq!(answer["mutated_object"], annotated(&pod, "linkerd.io/inject", "disabled"));
    assert_eq!(answer["warnings"], json!(null));
}

#[test]
fn opaque_ports_of_ours_follow_their_default() {
    let pod = exposing(json!({"a": "b"}));
    let first = Host::new(json!({})).ask("Pod", &pod, &json!({}))["mutated_object"].clone();
    assert_eq!(first["metadata"]["annotations"]["config.linkerd.io/opaque-ports"], "3306");
    assert_eq!(Host::new(json!({})).ask("Pod", &first, &json!({}))["mutated_object"], json!(null));
    let gone = Host::new(json!({})).values("proxy: {opaquePorts: '25'}").ask("Pod", &first, &json!({}));
    assert_eq!(gone["mutated_object"], pod);
    // The user's own stay.
    let own = annotated(&first, "config.linkerd.io/opaque-ports", "1");
    let answer = Host::new(json!({})).ask("Pod", &own, &json!({}));
    assert_eq!(answer["mutated_object"], annotated(&pod, "config.linkerd.io/opaque-ports", "1"));
}

#[test]
fn services_and_settings_that_skip_leave_no_record() {
    let service = service(json!([{"port": 3306}]), json!({}));
    let annotated = Host::new(json!({})).ask("Service", &service, &json!({}))["mutated_object"].clone();
    assert_eq!(annotated["metadata"]["annotations"], json!({"config.linkerd.io/opaque-ports": "3306"}));
    let skip = json!({"reinvocation": "skip"});
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({}));
    let first = injected(&pod, &json!({}), &skip);
    assert_eq!(first["metadata"]["annotations"].get(RECORD), None);
    let second = Host::new(json!({})).ask("Pod", &first, &skip);
    assert_eq!((ending(&second).as_str(), second.get("mutated_object")), ("sidecar_already_exists", None));
    // What a call that merges left is left alone as well.
    let recorded = injected(&pod, &json!({}), &json!({}));
    let second = Host::new(json!({})).ask("Pod", &recorded, &skip);
    assert_eq!((ending(&second).as_str(), second.get("mutated_object")), ("sidecar_already_exists", None));
}

#[test]
fn what_others_injected_is_kept_or_adopted() {
    let container = json!({"name": "linkerd-proxy", "image": "cr.l5d.io/linkerd/proxy:old"});
    let by = |who: &str| {
        let annotations = json!({"linkerd.io/inject": "enabled", "linkerd.io/created-by": who});
        mk_pod(annotations, json!({"initContainers": [container], "containers": [{"name": "app"}]}))
    };
    let (keep, adopt) = (json!({"foreignInjection": "keep"}), json!({"foreignInjection": "adopt"}));
    for (pod, settings, end) in [
        (by("linkerd/proxy-injector edge-1"), &keep, "sidecar_already_exists"),
        (by("linkerd/proxy-injector edge-1"), &adopt, "injected"),
        (by("linkerd/cli edge-1"), &adopt, "injected"),
        (by("istio"), &adopt, "sidecar_already_exists"),
        (by(""), &adopt, "sidecar_already_exists"),
        (by("linkerd-injector-policy 0.0.1"), &keep, "injected"),
    ] {
        let answer = Host::new(json!({})).ask("Pod", &pod, settings);
        assert_eq!(ending(&answer), end, "{pod} {settings}");
        if end == "injected" {
            assert_eq!(names(&answer["mutated_object"]["spec"]["initContainers"]), ["linkerd-init", "linkerd-proxy"], "{pod}");
        }
    }
}

#[test]
fn a_record_that_cannot_be_read_is_a_warning() {
    let first = injected(&mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({})), &json!({}), &json!({}));
    for text in ["", "v1", "v1:!", "v2:AAAA", "v1:AAAA", "secret"] {
        let answer = Host::new(json!({})).ask("Pod", &annotated(&first, RECORD, text), &json!({}));
        assert_eq!(ending(&answer), "injected", "{text}");
        assert_eq!(answer["warnings"], json!(["linkerd.io/injection-record: cannot be read, and is taken as absent"]), "{text}");
        assert_eq!(answer["mutated_object"], first, "{text}");
    }
}

#[test]
fn what_others_make_of_an_inherited_annotation_is_theirs() {
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({}));
    let namespace = json!({"config.linkerd.io/proxy-uid": "7", "config.linkerd.io/proxy-gid": "7"});
    let first = injected(&pod, &namespace, &json!({}));
    assert_eq!(first["metadata"]["annotations"]["config.linkerd.io/proxy-uid"], "7");
    let host = Host::new(namespace.clone());
    let answer = host.ask("Pod", &annotated(&first, "config.linkerd.io/proxy-uid", "8"), &json!({}));
    let second = &answer["mutated_object"];
    assert_eq!(second["metadata"]["annotations"]["config.linkerd.io/proxy-uid"], "8");
    assert_eq!(second["spec"]["initContainers"][1]["securityContext"]["runAsUser"], 8);
    assert_eq!(answer["warnings"], json!(null));
    // The same as if they had written it before the first call.
    let before = injected(&annotated(&pod, "config.linkerd.io/proxy-uid", "8"), &namespace, &json!({}));
    assert_eq!(second, &before);
}

/// Where two objects differ, with what stands there; what the API server drops is as good as absent.
fn differences(left: &Value, right: &Value) -> Vec<String> {
    let dropped = |value: &Value| [json!(null), json!(0), json!("")].contains(value);
    let within = |key: &str, left: Option<&Value>, right: Option<&Value>| {
        let null = Value::Null;
        differences(left.unwrap_or(&null), right.unwrap_or(&null)).iter().map(|d| format!("/{key}{d}")).collect::<Vec<_>>()
    };
    match (left, right) {
        (Value::Object(l), Value::Object(r)) => {
            let keys = l.keys().chain(r.keys().filter(|k| !l.contains_key(*k)));
            keys.flat_map(|k| within(k, l.get(k), r.get(k))).collect()
        }
        // Containers do not move for order alone, and the order of volumes means nothing; that of the environment does.
        (Value::Array(l), Value::Array(r)) => {
            let by_name = |list: &[Value]| {
                let mut list = list.to_vec();
                list.sort_by_key(|item| {
                    (item.get("value").is_none() && item.get("valueFrom").is_none()).then(|| item["name"].to_string())
                });
                list
            };
            let (l, r) = (by_name(l), by_name(r));
            (0..l.len().max(r.len())).flat_map(|i| within(&i.to_string(), l.get(i), r.get(i))).collect()
        }
        _ if left == right || (dropped(left) && dropped(right)) => vec![],
        _ => vec![format!(": {left} {right}")],
    }
}

/// One value for each annotation that has an effect.
const LATER: &[(&str, &str)] = &[
    ("linkerd.io/inject", "ingress"),
    ("config.linkerd.io/access-log", "json"),
    ("config.linkerd.io/admin-port", "9991"),
    ("config.linkerd.io/control-port", "9990"),
    ("config.linkerd.io/debug-image", "r.test/d"),
    ("config.linkerd.io/default-inbound-policy", "deny"),
    ("config.linkerd.io/enable-debug-sidecar", "true"),
    ("config.linkerd.io/enable-external-profiles", "true"),
    ("config.linkerd.io/enable-gateway", "true"),
    ("config.linkerd.io/image-pull-policy", "Always"),
    ("config.linkerd.io/inbound-port", "9943"),
    ("config.linkerd.io/opaque-ports", "web,25"),
    ("config.linkerd.io/opaque-ports", ""),
    ("config.linkerd.io/outbound-port", "9940"),
    ("config.linkerd.io/pod-inbound-ports", "1,2"),
    (
        "config.linkerd.io/proxy-additional-env",
        r#"[{"name": "A", "value": "$(B)"}, {"name": "LINKERD2_PROXY_LOG", "value": "off"}]"#,
    ),
    ("config.linkerd.io/proxy-admin-shutdown", "enabled"),
    ("config.linkerd.io/proxy-await", "disabled"),
    ("config.linkerd.io/proxy-cpu-limit", "2"),
    ("config.linkerd.io/proxy-cpu-ratio-limit", "0.5"),
    ("config.linkerd.io/proxy-cpu-request", "1500m"),
    ("config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout", "true"),
    ("config.linkerd.io/proxy-enable-native-sidecar", "false"),
    ("config.alpha.linkerd.io/proxy-enable-native-sidecar", "false"),
    ("config.linkerd.io/proxy-ephemeral-storage-limit", "1Gi"),
    ("config.linkerd.io/proxy-gid", "7"),
    ("config.linkerd.io/proxy-image", "r.test/p"),
    ("config.linkerd.io/proxy-inbound-connect-timeout", "1s"),
    ("config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout", "1s"),
    ("config.linkerd.io/proxy-log-format", "json"),
    ("config.linkerd.io/proxy-log-http-headers", "insecure"),
    ("config.linkerd.io/proxy-log-level", "trace"),
    ("config.linkerd.io/proxy-memory-request", "1Gi"),
    ("config.linkerd.io/proxy-metrics-hostname-labels", "true"),
    ("config.linkerd.io/proxy-require-identity-inbound-ports", "80"),
    ("config.linkerd.io/proxy-uid", "7"),
    ("config.linkerd.io/proxy-version", "v9"),
    ("config.linkerd.io/shutdown-grace-period", "1s"),
    ("config.linkerd.io/skip-inbound-ports", "web,1-2"),
    ("config.linkerd.io/skip-outbound-ports", ""),
    ("config.linkerd.io/skip-subnets", "10.0.0.0/8"),
    ("config.alpha.linkerd.io/proxy-wait-before-exit-seconds", "7"),
    ("resource.opentelemetry.io/team", "a"),
    ("kubectl.kubernetes.io/default-container", "other"),
    ("example.com/other", "x"),
];

#[test]
fn an_annotation_means_the_same_before_and_after_the_first_call() {
    let identity = "{serviceAccountName: c, namespace: t}";
    let tracing = format!("proxy: {{tracing: {{enabled: true, collector: {{endpoint: 'c.test:1', meshIdentity: {identity}}}}}}}");
    let ports = json!([{"name": "web", "containerPort": 8080}, {"containerPort": 3306}]);
    let pod = mk_pod(
        json!({}),
        json!({"containers": [{"name": "app", "image": "app:1", "ports": ports}], "initContainers": [{"name": "i", "image": "i:1"}]}),
    );
    let call = |namespace: &Value, values: &str, pod: &Value| {
        let answer = Host::new(namespace.clone()).values(values).ask("Pod", pod, &json!({}));
        assert_eq!(ending(&answer), "injected", "{pod}");
        // What there is to say stands on the pod, and is all that is said.
        let object = answer.get("mutated_object").unwrap_or(pod).clone();
        let told: Vec<&str> = answer["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let on_pod = object["metadata"]["annotations"]["linkerd.io/injection-warnings"].as_str();
        assert_eq!(on_pod, (!told.is_empty()).then(|| told.join("\n")).as_deref(), "{pod}");
        object
    };
    let native_off = json!({"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-enable-native-sidecar": "false"});
    let ingress =
        json!({"linkerd.io/inject": "ingress", "config.linkerd.io/opaque-ports": "1", "config.linkerd.io/proxy-log-level": "off"});
    for (namespace, values) in [
        (json!({"linkerd.io/inject": "enabled"}), tracing.as_str()),
        (native_off, "proxy: {await: false}"),
        (ingress, "cniEnabled: true"),
    ] {
        let first = call(&namespace, values, &pod);
        // What the pod inherits word for word is ours, whoever writes it again.
        for (key, text) in LATER.iter().filter(|(key, text)| namespace[*key] != *text) {
            let before = call(&namespace, values, &annotated(&pod, key, text));
            let after = call(&namespace, values, &annotated(&first, key, text));
            assert_eq!(differences(&after, &before), [] as [String; 0], "{key} {namespace} {values}");
            // And taken away again, it means nothing.
            let mut back = after;
            back["metadata"]["annotations"].as_object_mut().unwrap().remove(*key);
            let back = call(&namespace, values, &back);
            assert_eq!(differences(&back, &first), [] as [String; 0], "{key} {namespace} {values}");
        }
    }
}

type Edit<'a> = &'a dyn Fn(&mut Value);

#[test]
fn what_others_add_to_the_pod_counts_as_if_it_had_come_with_it() {
    let identity = "{serviceAccountName: c, namespace: t}";
    let tracing = format!("proxy: {{tracing: {{enabled: true, collector: {{endpoint: 'c.test:1', meshIdentity: {identity}}}}}}}");
    let append = |pod: &mut Value, list: &str, item: Value| {
        if pod["spec"].get(list).is_none() {
            pod["spec"][list] = json!([]);
        }
        pod["spec"][list].as_array_mut().unwrap().push(item);
    };
    let edits: [(&str, Edit<'_>); 8] = [
        ("a container", &|pod| {
            append(pod, "containers", json!({"name": "late", "image": "l:1", "ports": [{"containerPort": 5432}]}))
        }),
        ("an init container", &|pod| {
            append(pod, "initContainers", json!({"name": "z", "image": "z:1", "startupProbe": {"grpc": {"port": 9}}}))
        }),
        ("a volume", &|pod| append(pod, "volumes", json!({"name": "late", "emptyDir": {}}))),
        ("a label", &|pod| pod["metadata"]["labels"]["app.kubernetes.io/name"] = json!("web")),
        ("an owner", &|pod| pod["metadata"]["ownerReferences"] = json!([{"kind": "DaemonSet", "name": "d"}])),
        ("a field", &|pod| pod["spec"]["future"] = json!({"x": 0})),
        ("capabilities", &|pod| {
            let app = pod["spec"]["containers"].as_array_mut().unwrap().iter_mut().find(|c| c["name"] == "app").unwrap();
            app["securityContext"] = json!({"capabilities": {"drop": ["CHOWN"]}});
        }),
        ("a probe", &|pod| {
            let app = pod["spec"]["containers"].as_array_mut().unwrap().iter_mut().find(|c| c["name"] == "app").unwrap();
            app["livenessProbe"] = json!({"httpGet": {"port": 8081}});
        }),
    ];
    let pod = mk_pod(json!({"linkerd.io/inject": "enabled"}), json!({"containers": [{"name": "app", "image": "app:1"}]}));
    for values in ["", "cniEnabled: true", "proxy: {nativeSidecar: false}", "proxy: {nativeSidecar: false, await: false}", &tracing]
    {
        let call = |pod: &Value| {
            let answer = Host::new(json!({})).values(values).ask("Pod", pod, &json!({}));
            assert_eq!((ending(&answer).as_str(), &answer["warnings"]), ("injected", &json!(null)), "{values} {pod}");
            answer.get("mutated_object").unwrap_or(pod).clone()
        };
        let first = call(&pod);
        for (what, edit) in &edits {
            let (mut before, mut after) = (pod.clone(), first.clone());
            edit(&mut before);
            edit(&mut after);
            let after = call(&after);
            assert_eq!(differences(&after, &call(&before)), [] as [String; 0], "{what} {values}");
            assert_eq!(call(&after), after, "{what} {values}");
        }
    }
}
