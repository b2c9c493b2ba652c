//! Properties that hold for every case of the corpus, and for input that nobody would send.
//!
//! Random choices come from fixed seeds, so that a failure comes back. `PROPERTY_ROUNDS=20` makes the random tests twenty times as
//! long, with other choices in each round.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

#[path = "properties/forbidden.rs"]
mod forbidden;
#[path = "properties/garbage.rs"]
mod garbage;
#[path = "properties/random.rs"]
mod random;
#[path = "properties/wrong_shapes.rs"]
mod wrong_shapes;

use std::sync::Arc;

use e2e_tests::{
    added::taken_away,
    artefacts,
    case::{Case, CaseResult, Outcome, corpus},
    cluster::{Asked, LookUp},
    host::Host,
    policy::{Module, Native, Policy, Response},
};
use random::Random;
use serde_json::{Value, json};

/// The bytes of an answer, what was looked up for it, and what was logged.
#[derive(Debug, PartialEq)]
struct Answer {
    bytes: Vec<u8>,
    look_ups: Vec<LookUp>,
    logged: Vec<String>,
}

impl Answer {
    fn response(&self) -> Response {
        serde_json::from_slice(&self.bytes).unwrap()
    }
}

fn ask(policy: &dyn Policy, case: &Case) -> Answer {
    let payload = json!({"request": case.admission_request(), "settings": case.settings(&Value::Null)});
    let asked = Asked::new(case.manifests());
    let host = Arc::new(Host::new(asked.clone()));
    let bytes = policy.validate(&serde_json::to_vec(&payload).unwrap(), &host).unwrap();
    Answer { bytes, look_ups: asked.look_ups(), logged: host.logged().iter().map(ToString::to_string).collect() }
}

fn result(case: &Case) -> CaseResult {
    case.run(&Native, &Value::Null).unwrap()
}

/// The object as it is stored.
fn stored(case: &Case) -> Value {
    result(case).object.unwrap_or_else(|| case.request.object.clone())
}

fn with_object(case: &Case, object: Value) -> Case {
    let mut case = case.clone();
    case.request.object = object;
    case
}

fn assert_nothing_is_lost(name: &str, input: &Value, output: &Value) {
    let (before, after) = taken_away(input, output);
    assert!(before == after, "{name}: without what was added\n{after}\nis not the input\n{before}");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let cases = corpus::cases().unwrap();
    let first: Vec<Answer> = cases.iter().map(|case| ask(&Native, case)).collect();
    for (case, first) in cases.iter().zip(&first).rev() {
        assert_eq!(&ask(&Native, case), first, "{}", case.name);
    }
}

#[test]
fn taking_away_what_was_added_gives_back_the_input() {
    let mut changed = 0;
    for case in corpus::cases().unwrap() {
        let result = result(&case);
        if let Some(object) = &result.object {
            changed += 1;
            assert_nothing_is_lost(&case.name, &case.request.object, object);
        }
    }
    assert!(changed > 1200, "only {changed} objects changed");
}

#[test]
fn a_second_call_changes_nothing() {
    for case in corpus::cases().unwrap() {
        let once = stored(&case);
        let again = result(&with_object(&case, once));
        assert_eq!(again.object, None, "{}", case.name);
    }
}

#[test]
fn a_pod_that_leaves_the_mesh_is_as_if_it_had_never_been_in() {
    let leave = |object: &Value| {
        let mut object = object.clone();
        object["metadata"]["annotations"]["linkerd.io/inject"] = json!("disabled");
        object
    };
    let mut left = 0;
    for case in corpus::cases().unwrap() {
        let input = &case.request.object;
        if result(&case).outcome != Outcome::Injected || taken_away(input, input).0 != *input {
            continue;
        }
        left += 1;
        let joined = with_object(&case, leave(&stored(&case)));
        let never = with_object(&case, leave(input));
        // A map that holds nothing once ours is out of it goes, for nobody knows whether it was there.
        assert_eq!(said(stored(&joined)), said(stored(&never)), "{}", case.name);
    }
    assert!(left > 1000, "only {left} pods left");
}

/// The object without what says nothing: nulls and empty maps and lists.
fn said(value: Value) -> Value {
    let empty = |value: &Value| value.is_null() || *value == json!({}) || *value == json!([]);
    match value {
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, said(value))).filter(|(_, value)| !empty(value)).collect())
        }
        Value::Array(items) => items.into_iter().map(said).collect(),
        other => other,
    }
}

#[test]
fn unknown_keys_survive_at_every_level() {
    let cases = corpus::cases().unwrap();
    for round in 0..random::rounds() {
        for (number, case) in (0..).zip(&cases) {
            let mut random = Random::new(round * 1_000_000 + number);
            let mut object = case.request.object.clone();
            let planted = random.plant(&mut object);
            let result = result(&with_object(case, object.clone()));
            assert_eq!(result.outcome == Outcome::Rejected, self::result(case).outcome == Outcome::Rejected, "{}", case.name);
            let output = result.object.unwrap_or_else(|| object.clone());
            assert_nothing_is_lost(&case.name, &object, &output);
            let found = random::planted(&output);
            assert!(found >= planted, "{}: {planted} unknown keys went in, {found} came out", case.name);
        }
    }
}

#[test]
fn native_and_wasm_give_the_same_bytes() {
    let Some(path) = artefacts::module_or_skip("native_and_wasm_give_the_same_bytes") else { return };
    let module = Module::open(&path).unwrap();
    for case in corpus::cases().unwrap() {
        assert_same(&module, &case);
        let again = with_object(&case, stored(&case));
        assert_same(&module, &again);
    }
}

fn assert_same(module: &Module, case: &Case) {
    let (native, wasm) = (ask(&Native, case), ask(module, case));
    assert_same_bytes(&native.bytes, &wasm.bytes, case.name.as_bytes());
    assert_eq!(native, wasm, "{}", case.name);
}

fn assert_same_bytes(native: &[u8], wasm: &[u8], on: &[u8]) {
    let [native, wasm, on] = [native, wasm, on].map(String::from_utf8_lossy);
    if native == wasm {
        return;
    }
    let common =
        native.char_indices().zip(wasm.chars()).take_while(|((_, a), b)| a == b).map(|((at, _), _)| at).last().unwrap_or(0);
    panic!(
        "native and wasm differ from byte {common} on:\nnative {:.400}\nwasm {:.400}\nto {on:.2000}",
        &native[common..],
        &wasm[common..]
    );
}

#[test]
fn every_answer_says_why() {
    for case in corpus::cases().unwrap() {
        let answer = ask(&Native, &case);
        let response = answer.response();
        let injected = response.audit("injected").unwrap_or_else(|| panic!("{}: not said whether it was injected", case.name));
        match injected {
            "true" => assert!(response.audit("proxy-version").is_some(), "{}", case.name),
            _ => assert!(response.audit("reason").is_some_and(|reason| !reason.is_empty()), "{}", case.name),
        }
        for warning in response.warnings.iter().flatten() {
            assert!(warning.chars().count() <= 120 && !warning.contains('\n'), "{}: {warning:?}", case.name);
        }
    }
}
