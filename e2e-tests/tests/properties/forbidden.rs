//! Annotations that the settings forbid, over the corpus: what comes out is what came out without them.

use std::collections::BTreeSet;

use e2e_tests::{
    artefacts,
    case::{Case, CaseResult, Outcome, corpus},
    policy::{Module, Native, Policy},
};
use linkerd_injector_policy::overrides::OVERRIDES;
use serde_json::{Map, Value, json};

use super::with_object;

const OPAQUE_PORTS: &str = "config.linkerd.io/opaque-ports";
const RECORD: &str = "linkerd.io/injection-record";

fn annotations(object: &Value) -> Map<String, Value> {
    object["metadata"]["annotations"].as_object().cloned().unwrap_or_default()
}

/// The keys of a case's own that can be forbidden.
fn own_keys(case: &Case) -> BTreeSet<String> {
    let known: BTreeSet<&str> = OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).collect();
    annotations(&case.request.object).into_iter().map(|(key, _)| key).filter(|key| known.contains(key.as_str())).collect()
}

fn run(policy: &dyn Policy, case: &Case, settings: &Value) -> (CaseResult, Value) {
    let result = case.run(policy, settings).unwrap();
    let object = result.object.clone().unwrap_or_else(|| case.request.object.clone());
    (result, object)
}

/// Tries a case, and says how many of its annotations were forbidden.
fn try_case(policy: &dyn Policy, case: &Case, settings: &Value) -> usize {
    let keys = own_keys(case);
    let mut bare = case.clone();
    if let Some(map) = bare.request.object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        map.retain(|key, _| !keys.contains(key));
    }
    let (plain, mut expected) = run(policy, &bare, &Value::Null);
    let (strict, object) = run(policy, case, settings);
    let ends = |outcome: Outcome| [Outcome::Injected, Outcome::Rejected].map(|end| outcome == end);
    assert_eq!(ends(strict.outcome), ends(plain.outcome), "{}", case.name);
    let mut forbidden = keys.clone();
    if plain.outcome != Outcome::Injected && !keys.is_empty() {
        // What stays out keeps what means nothing on it.
        let had = annotations(&case.request.object);
        for key in keys.iter().filter(|key| *key != OPAQUE_PORTS) {
            forbidden.remove(key);
            expected["metadata"]["annotations"][key] = had[key].clone();
        }
    }
    assert_eq!(object, expected, "{}", case.name);
    // Once it is taken off, nothing is said of it, and nothing changes.
    let again = with_object(case, object.clone());
    let (second, _) = run(policy, &again, settings);
    assert_eq!(second.object, None, "{}", case.name);
    forbidden.len()
}

#[test]
fn what_is_forbidden_is_as_good_as_absent_over_the_corpus() {
    let settings = [json!({"allowedOverrides": []}), json!({"deniedOverrides": ["*"]})];
    // A pod that comes with a record, or with a sidecar, is a later call's.
    let first = |case: &Case| annotations(&case.request.object).get(RECORD).is_none();
    let cases: Vec<Case> = corpus::cases().unwrap().into_iter().filter(first).collect();
    let mut forbidden = 0;
    for case in &cases {
        for settings in &settings {
            forbidden += try_case(&Native, case, settings);
        }
    }
    assert!(forbidden > 1000, "only {forbidden} annotations were forbidden");
    let Some(path) = artefacts::module_or_skip("what_is_forbidden_is_as_good_as_absent_over_the_corpus (wasm)") else { return };
    let module = Module::open(&path).unwrap();
    for case in cases.iter().step_by(23) {
        try_case(&module, case, &settings[0]);
    }
}

#[test]
fn it_makes_no_difference_when_somebody_else_sets_what_is_forbidden() {
    let settings =
        json!({"deniedOverrides": ["config.linkerd.io/proxy-*", "config.linkerd.io/skip-*", "config.linkerd.io/opaque-ports"]});
    let set = [
        ("config.linkerd.io/proxy-image", "registry.test/evil"),
        ("config.linkerd.io/proxy-uid", "7777"),
        ("config.linkerd.io/proxy-log-level", "trace"),
        ("config.linkerd.io/proxy-enable-native-sidecar", "false"),
        ("config.linkerd.io/skip-inbound-ports", "1-65535"),
        (OPAQUE_PORTS, "1-65535"),
    ];
    let edit = |object: &Value| {
        let mut object = object.clone();
        for (key, text) in set {
            object["metadata"]["annotations"][key] = json!(text);
        }
        object
    };
    let mut injected = 0;
    for case in corpus::cases().unwrap().into_iter().filter(|case| case.request.kind == "Pod") {
        let (result, once) = run(&Native, &case, &settings);
        if result.outcome != Outcome::Injected {
            continue;
        }
        injected += 1;
        let (later, object) = run(&Native, &with_object(&case, edit(&once)), &settings);
        assert_eq!(later.outcome, Outcome::Injected, "{}", case.name);
        assert_eq!(object, once, "{}", case.name);
        let (_, before) = run(&Native, &with_object(&case, edit(&case.request.object)), &settings);
        assert_eq!(before, once, "{}", case.name);
    }
    assert!(injected > 1000, "only {injected} pods were injected");
}
