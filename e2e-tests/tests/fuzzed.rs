//! The fuzz targets over their corpus, and over so many variations on it, the same on every run. `.ci/fuzz` lets libFuzzer look further.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use std::{fs, panic, thread};

use e2e_tests::{
    artefacts,
    fuzz::{Mutations, TARGETS, Target, annotated},
    policy::Native,
    real::{
        api_server::{ApiServer, Programs},
        ask_all,
    },
};
use serde_json::{Value, json};

fn rounds() -> usize {
    std::env::var("PROPERTY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = artefacts::folder().join("../e2e-tests/fuzz/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn try_all(target: &Target, inputs: &[Vec<u8>]) {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let failures = ask_all(inputs, workers, |input| {
        let held = panic::catch_unwind(|| (target.body)(input)).unwrap_or_else(|_| Err("panics".to_owned()));
        held.err().map(|why| format!("{}: {why}: {:?}", target.name, String::from_utf8_lossy(input)))
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(
        failures.is_empty(),
        "{} of {}, of which:\n{}",
        failures.len(),
        inputs.len(),
        failures[..failures.len().min(5)].join("\n")
    );
}

/// Tries a target over its corpus and so many variations on it; `PROPERTY_ROUNDS` makes them so many times as many.
fn try_target(name: &str, variations: usize) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let corpus = corpus(name);
    assert!(corpus.len() >= 5, "{name}");
    try_all(target, &corpus);
    let seed = name.bytes().map(u64::from).sum();
    let varied: Vec<Vec<u8>> = Mutations::new(&corpus, seed).take(variations * rounds()).collect();
    try_all(target, &varied);
}

#[test]
fn requests() {
    try_target("request", 600);
}

#[test]
fn settings() {
    try_target("settings", 600);
}

#[test]
fn annotations() {
    try_target("annotations", 100);
}

#[test]
fn values() {
    try_target("values", 400);
}

#[test]
fn records() {
    try_target("record", 400);
}

#[test]
fn every_target_has_a_test_and_a_program() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, ["request", "settings", "annotations", "values", "record"]);
    for name in names {
        let program = artefacts::folder().join(format!("../e2e-tests/fuzz/fuzz_targets/{name}.rs"));
        assert!(fs::read_to_string(program).unwrap().contains(&format!("e2e_tests::fuzz::{name}(data)")), "{name}");
    }
}

#[test]
fn the_api_server_takes_what_comes_of_varied_annotations() {
    let test = "the_api_server_takes_what_comes_of_varied_annotations";
    let Some(programs) = Programs::find_or_skip(test) else { return };
    let server = ApiServer::start(&programs, &[]).unwrap();
    for (path, object) in [
        ("/api/v1/namespaces", json!({"metadata": {"name": "varied"}})),
        ("/api/v1/namespaces/varied/serviceaccounts", json!({"metadata": {"name": "default"}})),
    ] {
        assert!(server.post(path, &object).unwrap().is_success());
    }
    let create = |object: &Value| {
        let mut pod = object.clone();
        pod["metadata"]["namespace"] = json!("varied");
        server.post("/api/v1/namespaces/varied/pods?dryRun=All", &pod).unwrap()
    };
    let corpus = corpus("annotations");
    let inputs: Vec<Vec<u8>> = corpus.iter().cloned().chain(Mutations::new(&corpus, 99).take(200 * rounds())).collect();
    let verdicts = ask_all(&inputs, 2, |input| {
        let case = annotated(input).unwrap();
        if !create(&case.request.object).is_success() {
            return Ok(false);
        }
        let output = case.run(&Native, &Value::Null).unwrap().object.unwrap_or_else(|| case.request.object.clone());
        let answer = create(&output);
        if answer.is_success() { Ok(true) } else { Err(format!("{}: {:?}", answer.message(), String::from_utf8_lossy(input))) }
    });
    let lost: Vec<&String> = verdicts.iter().filter_map(|verdict| verdict.as_ref().err()).collect();
    assert!(lost.is_empty(), "{} lost, of which: {:?}", lost.len(), &lost[..lost.len().min(3)]);
    assert!(verdicts.iter().filter(|verdict| **verdict == Ok(true)).count() > 100);
}
