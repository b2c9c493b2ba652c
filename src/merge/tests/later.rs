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
    let arguments = json!(["--proxy-uid", "2", "--inbound-ports-to-ignore", "2,9", "--log-level", "else"]);
    assert_eq!(leaves(&merged), (json!(2), json!("else"), json!("2,9"), arguments));
    let told = "linkerd.io/injection-record: is not there, and what the mesh relies on was set back".to_owned();
    assert_eq!((proxy(&merged)["future"].clone(), said), (json!({"field": 1}), vec![told]));
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
        (by(None, Some("v0:"), true), true, true),
        (by(us, Some("v0:"), true), true, true),
        (by(us, Some("v0:"), false), true, true),
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
    assert_eq!(said, ["pod: its container linkerd-debug gave way to the sidecar's"]);
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
    let gave_way =
        |amount: &str| format!("pod: linkerd-proxy.resources.{amount}.memory, which was filled in, gave way to what is asked for");
    for (wanted, policy, resources, pulled, told) in [
        (json!({"limits": {"cpu": "1"}}), "", filled.clone(), "Always", vec![]),
        (
            json!({"limits": {"cpu": "2"}}),
            "Never",
            json!({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"memory": "64Mi"}}),
            "Never",
            vec![],
        ),
        (
            json!({"limits": {"memory": "2Gi"}}),
            "",
            json!({"limits": {"memory": "2Gi"}}),
            "Always",
            vec![gave_way("limits"), gave_way("requests")],
        ),
        (json!({}), "", json!({"limits": {"memory": "1Gi"}, "requests": {"memory": "64Mi"}}), "Always", vec![]),
    ] {
        let (merged, said) = again(&pod, with(wanted.clone(), policy));
        assert_eq!((&proxy(&merged)["resources"], &proxy(&merged)["imagePullPolicy"]), (&resources, &json!(pulled)), "{wanted}");
        assert_eq!(said, told, "{wanted}");
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

#[test]
fn what_the_mesh_relies_on_is_ours_though_the_record_knows_nothing_of_it() {
    let mut pod = first(mk_patch(1, "base", "1"));
    let proxy = proxy_mut(&mut pod);
    proxy["command"] = json!(["/bin/other"]);
    proxy["securityContext"]["runAsGroup"] = json!(0);
    proxy["ports"] = json!([{"containerPort": 4999, "name": "extra"}]);
    pod["spec"]["initContainers"][0]["args"].as_array_mut().unwrap().extend([json!("--proxy-gid"), json!("0")]);
    let (merged, said) = again(&pod, mk_patch(1, "base", "1"));
    let mut right = first(mk_patch(1, "base", "1"));
    proxy_mut(&mut right)["ports"] = json!([{"containerPort": 4999, "name": "extra"}]);
    assert_eq!(merged, right);
    let set_back = |leaf: &str| format!("pod: {leaf} was changed by others, and set back");
    let leaves = ["linkerd-init.args.--proxy-gid", "linkerd-proxy.command", "linkerd-proxy.securityContext.runAsGroup"];
    assert_eq!(said, leaves.map(set_back));
}

#[test]
fn a_record_that_is_gone_is_told_where_something_is_set_back() {
    let mut pod = first(mk_patch(1, "base", "1"));
    pod["metadata"]["annotations"] = json!({"linkerd.io/created-by": "linkerd-injector-policy 0.0.1"});
    let (merged, said) = again(&pod, mk_patch(1, "base", "1"));
    assert_eq!((merged["spec"].clone(), said), (first(mk_patch(1, "base", "1"))["spec"].clone(), vec![]));
    proxy_mut(&mut pod)["securityContext"]["runAsUser"] = json!(77);
    let (_, said) = again(&pod, mk_patch(1, "base", "1"));
    assert_eq!(said, ["linkerd.io/injection-record: is not there, and what the mesh relies on was set back"]);
    let earlier = Earlier::of(&pod, ForeignInjection::Keep).unwrap();
    let told: Vec<_> = losses(&pod, &earlier).iter().map(ToString::to_string).collect();
    assert_eq!(told, ["pod: the sidecar is gone, with what others may have changed in it"]);
}

#[test]
fn probes_ask_the_port_that_the_proxy_listens_on() {
    let with = |port: u16| {
        let mut patch = mk_patch(1, "base", "1");
        patch.proxy["readinessProbe"]["httpGet"]["port"] = json!(port);
        patch
    };
    let mut pod = first(with(4191));
    proxy_mut(&mut pod)["readinessProbe"]["httpGet"]["httpHeaders"] = json!([{"name": "a", "value": "b"}]);
    let (merged, said) = again(&pod, with(4191));
    assert_eq!((&merged, said), (&pod, vec![]));
    let (merged, said) = again(&pod, with(9191));
    let handler = json!({"path": "/ready", "port": 9191, "httpHeaders": [{"name": "a", "value": "b"}]});
    assert_eq!(proxy(&merged)["readinessProbe"]["httpGet"], handler);
    assert_eq!(said, ["pod: linkerd-proxy.readinessProbe.httpGet.port was changed by others, and set back"]);
    assert_eq!(again(&merged, with(9191)), (merged, vec![]));
}

#[test]
fn the_init_container_and_the_validator_take_over_each_other_s_edits() {
    let validator = || {
        let mut patch = mk_patch(1, "base", "1");
        patch.init = json!({"name": "linkerd-network-validator", "image": "p", "args": ["--timeout", "10s"]});
        patch
    };
    for (from, to, name) in [
        (mk_patch(1, "base", "1"), validator(), "linkerd-network-validator"),
        (validator(), mk_patch(1, "base", "1"), "linkerd-init"),
    ] {
        let old = from.init["name"].clone();
        let (mut pod, mut right) = (first(from), first(to.clone()));
        let (env, resources) = (json!([entry("A", "b")]), json!({"limits": {"cpu": "1"}}));
        for pod in [&mut pod, &mut right] {
            pod["spec"]["initContainers"][0]["env"] = env.clone();
            pod["spec"]["initContainers"][0]["resources"] = resources.clone();
        }
        let (merged, said) = again(&pod, to.clone());
        assert_eq!(merged, right);
        let old = old.as_str().unwrap();
        assert_eq!(said, [format!("pod: {old} gave way to {name}, which takes over its variables, resources and mounts alone")]);
        assert_eq!(again(&merged, to), (merged, vec![]));
    }
}

#[test]
fn arguments_that_are_taken_out_or_are_none_are_put_back_with_a_warning() {
    let base = first(mk_patch(1, "base", "1"));
    for arguments in [Value::Null, json!(["run"])] {
        let mut pod = base.clone();
        pod["spec"]["initContainers"][0]["args"] = arguments;
        let (merged, said) = again(&pod, mk_patch(1, "base", "1"));
        assert_eq!(merged, base);
        assert_eq!(said, ["pod: linkerd-init.args was changed by others, and set back"]);
    }
}

#[test]
fn flags_keep_their_form_and_their_ports() {
    let mut pod = first(mk_patch(1, "base", "4190,4191"));
    pod["spec"]["initContainers"][0]["args"] =
        json!(["--proxy-uid", "1", "--inbound-ports-to-ignore=4190,4191,6060", "--log-level", ""]);
    let (merged, _) = again(&pod, mk_patch(1, "base", "4190,4191,25"));
    let arguments = json!(["--proxy-uid", "1", "--inbound-ports-to-ignore=4190,4191,25,6060", "--log-level", ""]);
    assert_eq!(merged["spec"]["initContainers"][0]["args"], arguments);
}

#[test]
fn a_user_s_init_container_among_the_others_stays() {
    let mut pod = first(super::with_validator(Place::Native));
    pod["spec"]["containers"].as_array_mut().unwrap().push(json!({"name": "linkerd-init", "image": "mine"}));
    let earlier = Earlier::of(&pod, ForeignInjection::Keep).unwrap();
    assert_eq!(names(&earlier.application_view(&pod), "containers"), ["app", "linkerd-init"]);
    let (merged, said) = again(&pod, super::with_validator(Place::Native));
    assert_eq!((merged, said), (pod, vec![]));
}

#[test]
fn volumes_that_others_mount_stay_when_the_sidecar_goes() {
    let mut pod = first(mk_patch(1, "base", "1"));
    pod["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "linkerd-identity-token", "mountPath": "/mine"}]);
    let view = Earlier::of(&pod, ForeignInjection::Keep).unwrap().application_view(&pod);
    let volumes: Vec<_> = view["spec"]["volumes"].as_array().unwrap().iter().map(|v| v["name"].clone()).collect();
    assert_eq!(volumes, ["data", "linkerd-identity-token"]);
}

#[test]
fn a_record_takes_out_only_what_we_write() {
    let mut record = crate::merge::Record::default();
    for (map, name) in [("labels", "sec.test/tier"), ("annotations", "sec.test/note"), ("annotations", "linkerd.io/inject")] {
        crate::merge::note(&mut record, &crate::merge::Path::of(map).with(name), &json!("x"));
    }
    let mut pod = mk_pod(&[], &["app"]);
    pod["metadata"]["labels"]["sec.test/tier"] = json!("x");
    pod["metadata"]["annotations"] =
        json!({"sec.test/note": "x", "linkerd.io/inject": "x", "linkerd.io/injection-record": record.write()});
    let view = Earlier::of(&pod, ForeignInjection::Keep).unwrap().application_view(&pod);
    assert_eq!(
        (&view["metadata"]["labels"]["sec.test/tier"], &view["metadata"]["annotations"]),
        (&json!("x"), &json!({"sec.test/note": "x"}))
    );
}

#[test]
fn amounts_are_compared_as_they_are_stored() {
    let with = |amount: &str| {
        let mut patch = mk_patch(1, "base", "1");
        patch.proxy["resources"] = json!({"requests": {"cpu": amount}});
        patch
    };
    let mut pod = first(with("0.0001"));
    proxy_mut(&mut pod)["resources"]["requests"]["cpu"] = json!("1m");
    assert_eq!(again(&pod, with("0.0001")), (pod.clone(), vec![]));
    assert_eq!(proxy(&again(&pod, with("250m")).0)["resources"]["requests"]["cpu"], "250m");
}
