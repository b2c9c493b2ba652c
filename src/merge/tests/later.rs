//! A later call: what we wrote, what stands there now, and what we want.

use super::{Place, PodPatch, Value, applied, json, mk_pod, names};
use crate::merge::{Earlier, losses, reapply, remember};
use crate::settings::ForeignInjection;

fn entry(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value})
}

/// A patch whose proxy has one leaf of each kind.
fn mk_patch(uid: u16, log: &str, ports: &str) -> PodPatch {
    let env = json!([entry("_pod_ns", "a"), entry("LINKERD2_PROXY_LOG", log), entry("LINKERD2_PROXY_INBOUND_PORTS", ports)]);
    let proxy = json!({
        "name": "linkerd-proxy",
        "env": env,
        "securityContext": {"runAsUser": uid},
        "resources": {"limits": {"cpu": "1"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 4191}, "timeoutSeconds": 1},
    });
    let init = json!({"name": "linkerd-init", "args": ["--proxy-uid", uid.to_string(), "--inbound-ports-to-ignore", ports, "--log-level", log]});
    PodPatch { proxy, init, ..super::mk_patch(Place::Native) }
}

/// The pod after a first call, with its record.
fn first(mut patch: PodPatch) -> Value {
    remember(&mut patch);
    applied(mk_pod(&["x"], &["app"]), patch)
}

/// The pod after a later call, and what is said.
fn again(pod: &Value, mut patch: PodPatch) -> (Value, Vec<String>) {
    let earlier = Earlier::of(pod, ForeignInjection::Keep).unwrap();
    remember(&mut patch);
    let mut merged = pod.clone();
    let warnings = reapply(&mut merged, patch, &earlier);
    (merged, warnings.iter().map(ToString::to_string).collect())
}

fn proxy(pod: &Value) -> &Value {
    &pod["spec"]["initContainers"][1]
}

fn proxy_mut(pod: &mut Value) -> &mut Value {
    &mut pod["spec"]["initContainers"][1]
}

/// The user, the log filter and the ports of the proxy, and the arguments of the init container.
fn leaves(pod: &Value) -> (Value, Value, Value, Value) {
    let env = &proxy(pod)["env"];
    let arguments = pod["spec"]["initContainers"][0]["args"].clone();
    (proxy(pod)["securityContext"]["runAsUser"].clone(), env[1]["value"].clone(), env[2]["value"].clone(), arguments)
}

fn edited(pod: &Value, uid: u16, log: &str, ports: &str) -> Value {
    let mut pod = pod.clone();
    let proxy = &mut pod["spec"]["initContainers"][1];
    proxy["securityContext"]["runAsUser"] = json!(uid);
    proxy["env"][1]["value"] = json!(log);
    proxy["env"][2]["value"] = json!(ports);
    pod["spec"]["initContainers"][0]["args"] =
        json!(["--proxy-uid", uid.to_string(), "--inbound-ports-to-ignore", ports, "--log-level", log]);
    pod
}

#[test]
fn the_table_of_the_merge_holds_for_each_class_of_leaf() {
    let base = first(mk_patch(1, "base", "1"));
    let set_back = |leaf: &str| format!("pod: linkerd-{leaf} was changed by others, and set back");
    let both = vec![set_back("init.args.--proxy-uid"), set_back("proxy.securityContext.runAsUser")];
    for (current, wanted, result, warnings) in [
        // Nobody changed it.
        ((1, "base", "1"), (1, "base", "1"), (1, "base", "1"), vec![]),
        ((1, "base", "1"), (2, "want", "2"), (2, "want", "2"), vec![]),
        // Others changed it, and we want what we wrote.
        ((9, "else", "9"), (1, "base", "1"), (1, "else", "9"), both.clone()),
        // Both want the same.
        ((2, "want", "2"), (2, "want", "2"), (2, "want", "2"), vec![]),
        // Both want another.
        ((9, "else", "9,2"), (2, "want", "2,3"), (2, "else", "2,3,9"), both),
    ] {
        let (uid, log, ports) = current;
        let pod = edited(&base, uid, log, ports);
        let (uid, log, ports) = wanted;
        let (merged, said) = again(&pod, mk_patch(uid, log, ports));
        let (uid, log, ports) = result;
        let arguments = json!(["--proxy-uid", uid.to_string(), "--inbound-ports-to-ignore", ports, "--log-level", log]);
        assert_eq!(leaves(&merged), (json!(uid), json!(log), json!(ports), arguments), "{current:?} {wanted:?}");
        let mut said = said;
        said.sort();
        assert_eq!(said, warnings, "{current:?} {wanted:?}");
        // A third call changes nothing, for it knows what the second wrote.
        let (uid, log, ports) = wanted;
        let (third, said) = again(&merged, mk_patch(uid, log, ports));
        assert_eq!((third, said), (merged, vec![]), "{current:?} {wanted:?}");
    }
}

#[test]
fn what_others_take_out_is_put_back_with_a_warning() {
    let mut pod = first(mk_patch(1, "base", "1"));
    pod["spec"]["volumes"].as_array_mut().unwrap().retain(|v| v["name"] != "linkerd-identity-token");
    for taken in ["linkerd-init", "linkerd-proxy"] {
        let mut pod = pod.clone();
        pod["spec"]["initContainers"].as_array_mut().unwrap().retain(|c| c["name"] != taken);
        let (merged, said) = again(&pod, mk_patch(1, "base", "1"));
        assert_eq!(names(&merged, "initContainers"), ["linkerd-init", "linkerd-proxy", "x"]);
        let volume = "pod: volumes.linkerd-identity-token was changed by others, and set back";
        assert_eq!(said, [volume.to_owned(), format!("pod: {taken} was taken out by others, and put back")]);
    }
}

#[test]
fn sets_are_merged_entry_by_entry() {
    let base = first(mk_patch(1, "base", "1,2,3"));
    for (current, wanted, result) in [
        // Others added 9 and took 2 out.
        ("1,3,9", "1,2,3", "1,3,9"),
        ("1,3,9", "3,4", "3,4,9"),
        ("1,3,9", "2", "9"),
        ("9", "", "9"),
    ] {
        let (merged, said) = again(&edited(&base, 1, "base", current), mk_patch(1, "base", wanted));
        let (_, _, ports, arguments) = leaves(&merged);
        assert_eq!((&ports, &arguments[3], said), (&json!(result), &json!(result), vec![]), "{current} {wanted}");
    }
}

#[test]
fn without_a_record_others_keep_what_is_not_asserted() {
    let mut pod = edited(&first(mk_patch(1, "base", "1")), 9, "else", "9");
    pod["metadata"]["annotations"] = json!({"linkerd.io/created-by": "linkerd-injector-policy 0.0.1"});
    pod["spec"]["initContainers"][1]["future"] = json!({"field": 1});
    // What is asserted goes where we want nothing there; what bears no name of ours stays.
    pod["spec"]["initContainers"][1]["securityContext"]["runAsGroup"] = json!(3);
    pod["metadata"]["annotations"]["linkerd.io/trust-root-sha256"] = json!("old");
    pod["metadata"]["annotations"]["example.com/a"] = json!("b");
    let (merged, said) = again(&pod, mk_patch(2, "want", "2"));
    let arguments = json!(["--proxy-uid", "2", "--inbound-ports-to-ignore", "9", "--log-level", "else"]);
    assert_eq!(leaves(&merged), (json!(2), json!("else"), json!("9"), arguments));
    assert_eq!((proxy(&merged)["future"].clone(), said), (json!({"field": 1}), vec![]));
    assert_eq!(proxy(&merged)["securityContext"], json!({"runAsUser": 2}));
    let annotations = &merged["metadata"]["annotations"];
    assert_eq!((annotations.get("linkerd.io/trust-root-sha256"), &annotations["example.com/a"]), (None, &json!("b")));
}

#[test]
fn what_others_add_stays_and_what_we_drop_goes() {
    let mut pod = first(mk_patch(1, "base", "1"));
    let proxy_of = |pod: &mut Value| pod["spec"]["initContainers"][1].clone();
    pod["spec"]["initContainers"][1]["env"].as_array_mut().unwrap().insert(0, entry("ADDED", "1"));
    pod["spec"]["initContainers"][1]["lifecycle"] = json!({"preStop": {"exec": {"command": ["sleep"]}}});
    pod["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "late"}));
    pod["spec"]["volumes"].as_array_mut().unwrap().push(json!({"name": "late"}));
    let mut patch = mk_patch(1, "base", "1");
    patch.proxy["env"].as_array_mut().unwrap().remove(1);
    patch.proxy["resources"] = json!(null);
    patch.volumes.truncate(1);
    let (mut merged, said) = again(&pod, patch);
    let proxy = proxy_of(&mut merged);
    assert_eq!(proxy["env"], json!([entry("ADDED", "1"), entry("_pod_ns", "a"), entry("LINKERD2_PROXY_INBOUND_PORTS", "1")]));
    assert_eq!((proxy.get("resources"), &proxy["lifecycle"]), (None, &pod["spec"]["initContainers"][1]["lifecycle"]));
    assert_eq!(names(&merged, "containers"), ["app", "late"]);
    assert_eq!(names(&merged, "volumes"), ["data", "linkerd-identity-end-entity", "late"]);
    assert_eq!(said, [] as [String; 0]);
}

#[test]
fn what_the_api_server_rewrites_is_nobodys_edit() {
    let base = first(mk_patch(1, "base", "1"));
    let mut pod = base.clone();
    let proxy = &mut pod["spec"]["initContainers"][1];
    proxy["resources"]["limits"]["cpu"] = json!("1000m");
    proxy["readinessProbe"]["httpGet"]["scheme"] = json!("HTTP");
    proxy["readinessProbe"]["periodSeconds"] = json!(10);
    proxy["terminationMessagePath"] = json!("/dev/termination-log");
    proxy["imagePullPolicy"] = json!("IfNotPresent");
    proxy["volumeMounts"] = json!([{"name": "t", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]);
    assert_eq!(again(&pod, mk_patch(1, "base", "1")), (pod.clone(), vec![]));
    assert_eq!(losses(&pod, &Earlier::of(&pod, ForeignInjection::Keep).unwrap()), []);
    let edited = edited(&pod, 1, "else", "1");
    let said: Vec<_> =
        losses(&edited, &Earlier::of(&edited, ForeignInjection::Keep).unwrap()).iter().map(ToString::to_string).collect();
    let gone = |name: &str| format!("pod: {name} is gone, with what others changed in it");
    assert_eq!(said, [gone("linkerd-init"), gone("linkerd-proxy")]);
}

#[test]
fn the_application_view_is_the_pod_as_it_came() {
    let pod = mk_pod(&["x"], &["app"]);
    let merged = first(mk_patch(1, "base", "1"));
    let earlier = Earlier::of(&merged, ForeignInjection::Keep).unwrap();
    assert_eq!(earlier.application_view(&merged), pod);
    assert!(earlier.injected());
    // A container of one of our names that the record does not know is the user's.
    let mut own_debug = merged.clone();
    own_debug["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "linkerd-debug"}));
    assert_eq!(names(&earlier.application_view(&own_debug), "containers"), ["app", "linkerd-debug"]);
    assert!(Earlier::of(&pod, ForeignInjection::Keep).is_none());
}

#[test]
fn containers_move_only_where_an_invariant_is_broken() {
    let (init, proxy) = (json!({"name": "linkerd-init"}), json!({"name": "linkerd-proxy"}));
    for (place, inits, mains, settled_inits, settled_mains) in [
        (
            Place::Native,
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
        ),
        (
            Place::Native,
            vec!["a", "linkerd-init", "linkerd-proxy"],
            vec!["app"],
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
        ),
        (
            Place::Native,
            vec!["linkerd-proxy", "a", "linkerd-init"],
            vec!["app"],
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
        ),
        (
            Place::First,
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
        ),
        (
            Place::First,
            vec!["linkerd-init", "a"],
            vec!["app", "linkerd-proxy"],
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
        ),
        (
            Place::Last,
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
        ),
        (
            Place::Last,
            vec!["linkerd-init", "a"],
            vec!["app", "linkerd-proxy", "b"],
            vec!["a", "linkerd-init"],
            vec!["app", "linkerd-proxy", "b"],
        ),
        // The mode changed between calls.
        (
            Place::Native,
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
        ),
        (
            Place::First,
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
            vec!["a", "linkerd-init"],
            vec!["linkerd-proxy", "app"],
        ),
        (
            Place::Last,
            vec!["linkerd-init", "linkerd-proxy", "a"],
            vec!["app"],
            vec!["a", "linkerd-init"],
            vec!["app", "linkerd-proxy"],
        ),
    ] {
        let mut pod = mk_pod(&inits, &mains);
        pod["metadata"]["annotations"]["linkerd.io/created-by"] = json!("linkerd-injector-policy 0.0.1");
        let patch = PodPatch { init: init.clone(), proxy: proxy.clone(), ..super::mk_patch(place) };
        let (merged, _) = again(&pod, patch);
        assert_eq!(
            (names(&merged, "initContainers"), names(&merged, "containers")),
            (settled_inits.iter().map(ToString::to_string).collect(), settled_mains.iter().map(ToString::to_string).collect()),
            "{place:?} {inits:?} {mains:?}"
        );
    }
}

#[test]
fn only_what_we_or_linkerd_wrote_is_an_earlier_call() {
    let by = |who: Option<&str>, record: Option<&str>, injected: bool| {
        let mut pod = mk_pod(if injected { &["linkerd-proxy"] } else { &[] }, &["app"]);
        for (key, value) in [("linkerd.io/created-by", who), ("linkerd.io/injection-record", record)] {
            if let Some(value) = value {
                pod["metadata"]["annotations"][key] = json!(value);
            }
        }
        pod
    };
    let (us, linkerd) = (Some("linkerd-injector-policy 9"), Some("linkerd/proxy-injector edge-1"));
    for (pod, keep, adopt) in [
        (by(None, None, false), false, false),
        (by(None, None, true), false, false),
        (by(us, None, false), false, false),
        (by(us, None, true), true, true),
        (by(linkerd, None, true), false, true),
        (by(Some("linkerdish"), None, true), false, false),
        (by(None, Some("v1:"), false), true, true),
        (by(None, Some("v1:"), true), true, true),
        (by(None, Some("v0:"), true), false, false),
        (by(us, Some("v0:"), true), true, true),
        (by(us, Some("v0:"), false), false, false),
    ] {
        assert_eq!(Earlier::of(&pod, ForeignInjection::Keep).is_some(), keep, "{pod}");
        assert_eq!(Earlier::of(&pod, ForeignInjection::Adopt).is_some(), adopt, "{pod}");
    }
}

#[test]
fn what_is_ours_is_not_for_the_record_alone_to_say() {
    let merged = first(mk_patch(1, "base", "1"));
    let by_us = |record: Option<&str>| {
        let mut pod = merged.clone();
        pod["metadata"]["annotations"]["linkerd.io/created-by"] = json!("linkerd-injector-policy 0.0.1");
        match record {
            Some(record) => pod["metadata"]["annotations"]["linkerd.io/injection-record"] = json!(record),
            None => drop(pod["metadata"]["annotations"].as_object_mut().unwrap().remove("linkerd.io/injection-record")),
        }
        pod
    };
    // A record that knows nothing, and one that is not there: the sidecar is ours by its own word.
    for record in [Some("v1:"), None] {
        let pod = edited(&by_us(record), 9, "base", "1");
        let earlier = Earlier::of(&pod, ForeignInjection::Keep).unwrap();
        assert!(earlier.injected());
        assert_eq!(names(&earlier.application_view(&pod), "initContainers"), ["x"], "{record:?}");
        assert_eq!(leaves(&again(&pod, mk_patch(1, "base", "1")).0).0, json!(1), "{record:?}");
        // What we may have had none of goes by what we would have written.
        let user_s = json!({"name": "linkerd-debug", "image": "i"});
        let ours = json!({"name": "linkerd-debug", "livenessProbe": {"exec": {"command": ["true"]}}});
        for (debug, containers) in [(user_s, vec!["app", "linkerd-debug"]), (ours, vec!["app"])] {
            let mut pod = pod.clone();
            pod["spec"]["containers"].as_array_mut().unwrap().push(debug);
            assert_eq!(names(&earlier.application_view(&pod), "containers"), containers);
            assert_eq!(names(&again(&pod, mk_patch(1, "base", "1")).0, "containers"), containers);
        }
    }
    // A record of an annotation alone says nothing of a sidecar, which is another's.
    let mut pod = by_us(Some("v1:"));
    pod["metadata"]["annotations"].as_object_mut().unwrap().remove("linkerd.io/created-by");
    let earlier = Earlier::of(&pod, ForeignInjection::Keep).unwrap();
    assert!(!earlier.injected());
    assert_eq!(names(&earlier.application_view(&pod), "initContainers"), ["linkerd-init", "linkerd-proxy", "x"]);
    assert_eq!(losses(&edited(&pod, 9, "else", "9"), &earlier), []);
}

#[test]
fn a_user_s_container_of_our_name_gives_way_once_we_add_ours() {
    let mut pod = first(mk_patch(1, "base", "1"));
    pod["spec"]["containers"].as_array_mut().unwrap().insert(0, json!({"name": "linkerd-debug", "image": "theirs"}));
    let patch = || PodPatch { debug: Some(json!({"name": "linkerd-debug", "image": "ours"})), ..mk_patch(1, "base", "1") };
    let (merged, said) = again(&pod, patch());
    assert_eq!(merged["spec"]["containers"], json!([{"name": "app"}, {"name": "linkerd-debug", "image": "ours"}]));
    assert_eq!(said, [] as [String; 0]);
}

#[test]
fn what_the_api_server_fills_in_gives_way_to_what_we_want_later() {
    let with = |resources: Value, policy: &str| {
        let mut patch = mk_patch(1, "base", "1");
        patch.proxy["resources"] = resources;
        patch.proxy["imagePullPolicy"] = json!(policy);
        patch
    };
    let mut pod = first(with(json!({"limits": {"cpu": "1"}}), ""));
    let filled = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "64Mi"}});
    proxy_mut(&mut pod)["resources"] = filled.clone();
    proxy_mut(&mut pod)["imagePullPolicy"] = json!("Always");
    let said =
        "LimitRanger plugin set: memory request for init container linkerd-proxy; memory limit for init container linkerd-proxy";
    pod["metadata"]["annotations"]["kubernetes.io/limit-ranger"] = json!(said);
    for (wanted, policy, resources, pulled) in [
        (json!({"limits": {"cpu": "1"}}), "", filled.clone(), "Always"),
        (
            json!({"limits": {"cpu": "2"}}),
            "Never",
            json!({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"memory": "64Mi"}}),
            "Never",
        ),
        (json!({"limits": {"memory": "2Gi"}}), "", json!({"limits": {"memory": "2Gi"}}), "Always"),
        (json!({}), "", json!({"limits": {"memory": "1Gi"}, "requests": {"memory": "64Mi"}}), "Always"),
    ] {
        let (merged, said) = again(&pod, with(wanted.clone(), policy));
        assert_eq!((&proxy(&merged)["resources"], &proxy(&merged)["imagePullPolicy"]), (&resources, &json!(pulled)), "{wanted}");
        assert_eq!(said, [] as [String; 0], "{wanted}");
    }
    // None of it is an edit that goes with the container.
    assert_eq!(losses(&pod, &Earlier::of(&pod, ForeignInjection::Keep).unwrap()), []);
    proxy_mut(&mut pod)["resources"]["requests"]["cpu"] = json!("900m");
    assert_eq!(losses(&pod, &Earlier::of(&pod, ForeignInjection::Keep).unwrap()).len(), 1);
}

#[test]
fn a_false_of_the_security_context_is_a_word_of_ours() {
    let with = |context: Value| {
        let mut patch = mk_patch(1, "base", "1");
        patch.proxy["securityContext"] = context;
        patch
    };
    let (ours, given) = (json!({"runAsUser": 1, "privileged": false}), json!({"runAsUser": 1, "fsGroup": 0}));
    for (base, wanted) in [(&ours, &given), (&given, &ours)] {
        let (merged, said) = again(&first(with(base.clone())), with(wanted.clone()));
        assert_eq!((&proxy(&merged)["securityContext"], said), (wanted, vec![]));
    }
}
