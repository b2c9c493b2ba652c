//! The table as a whole, over the corpus and the extra cases, without the policy.

use super::table::{as_it_is, no_twin};
use super::*;
use crate::case::corpus;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The cases of one part of the corpus, Linkerd's results, and its answers to twins.
fn part(
    cases: &str,
    linkerd: &str,
    twins: &str,
) -> (Vec<Reading>, BTreeMap<String, LinkerdResult>, BTreeMap<String, LinkerdResult>) {
    let read = |path: &str| {
        let results = corpus::read_results(&corpus::folder().join(path)).unwrap();
        results.into_iter().map(|result| (result.name.clone(), result)).collect()
    };
    let cases = corpus::read_cases(&corpus::folder().join(cases)).unwrap();
    (cases.into_iter().map(Reading::from).collect(), read(linkerd), read(twins))
}

#[test]
fn entries_keep_to_their_paths_and_are_all_needed() {
    let mut used = BTreeSet::new();
    for (cases, linkerd, twins) in
        [part("cases", "linkerd", "twins.jsonl"), part("extra/cases.jsonl", "extra/linkerd.jsonl", "extra/twins.jsonl")]
    {
        let mut asked = BTreeSet::new();
        for case in &cases {
            let explanation = explain(case, &linkerd[&case.name], &mut |twin| {
                asked.insert(twin.name.clone());
                twins.get(&twin.name).cloned()
            });
            let explanation = explanation.unwrap();
            assert_eq!(explanation.faults, Vec::<String>::new(), "{}", case.name);
            let ended = matches!(explanation.expected.outcome, Outcome::Injected | Outcome::Annotated | Outcome::Skipped);
            assert!(ended, "{}: {:?}", case.name, explanation.expected.outcome);
            used.extend(explanation.by);
        }
        let stored: BTreeSet<String> = twins.keys().cloned().collect();
        assert_eq!(stored, asked, "answers to twins are those that are asked for");
    }
    let all: BTreeSet<&str> = DEVIATIONS.iter().map(|entry| entry.id).collect();
    assert_eq!(used, all);
    assert_eq!(all.len(), DEVIATIONS.len(), "ids are unique");
}

#[test]
fn results_are_those_of_the_cases() {
    let (cases, linkerd, _) = part("extra/cases.jsonl", "extra/linkerd.jsonl", "extra/twins.jsonl");
    let names: BTreeSet<String> = cases.iter().map(|case| case.name.clone()).collect();
    assert_eq!(names, linkerd.into_keys().collect());
}

fn injected_case() -> (Reading, LinkerdResult) {
    let (cases, linkerd, _) = part("cases/owner.jsonl", "linkerd/owner.jsonl", "twins.jsonl");
    let case = cases.into_iter().find(|case| case.name == "owner/deployment").unwrap();
    let result = linkerd["owner/deployment"].clone();
    (case, result)
}

#[test]
fn an_entry_that_strays_or_does_nothing_is_reported() {
    let (case, linkerd) = injected_case();
    let before = Expected::of(&case, &linkerd);
    let entry = |paths: &'static [&'static str], apply: fn(&Reading, &mut Expected)| Deviation {
        id: "D00",
        title: "",
        paths,
        applies: |_, _| true,
        twin: no_twin,
        apply,
    };
    let report = |entry: Deviation| entry.checked_apply(&case, &mut before.clone());
    assert_eq!(report(entry(&["*"], as_it_is)), ["D00 applies and changes nothing"]);
    let relabel: fn(&Reading, &mut Expected) = |_, expected| expected.object["metadata"]["labels"]["a"] = json!("b");
    assert_eq!(report(entry(&["spec"], relabel)), ["D00 may not touch metadata/labels/a"]);
    assert_eq!(report(entry(&["metadata/labels"], relabel)), Vec::<String>::new());
    assert_eq!(report(entry(&["metadata"], |_, expected| expected.outcome = Outcome::Skipped)), ["D00 may not touch outcome"]);
}

#[test]
fn a_twin_without_an_answer_is_named() {
    let (mut case, mut linkerd) = injected_case();
    case.namespace.annotations.insert("linkerd.io/inject".to_owned(), json!("true"));
    linkerd.outcome = Outcome::Skipped;
    linkerd.object = None;
    let missing = explain(&case, &linkerd, &mut |_| None).unwrap_err();
    assert_eq!(missing.to_string(), "no answer of Linkerd's injector to owner/deployment#D06");
    assert_eq!(missing.twin.of_namespace("linkerd.io/inject"), None);
}

#[test]
fn a_record_is_accepted_by_its_form() {
    let record = |text: &str| json!({"metadata": {"annotations": {"linkerd.io/injection-record": text}}});
    let accepted = |ours: &str| {
        let mut expected = record("v1:*");
        metadata::accept_record(&mut expected, &record(ours));
        expected == record(ours)
    };
    assert!(accepted("v1:AAAAAAAAAAA"));
    assert!(!accepted("v1:AAAA") && !accepted("v2:AAAAAAAAAAA") && !accepted("v1:") && !accepted("v1:AAAAAAAAAA="));
}

#[test]
fn warnings_are_those_of_the_answer() {
    let pod = |text: &str| json!({"metadata": {"annotations": {"linkerd.io/injection-warnings": text}}});
    let mut expected = pod("*");
    assert!(metadata::accept_warnings(&mut expected, &["a".to_owned(), "b".to_owned()]));
    assert_eq!(expected, pod("a\nb"));
    assert!(!metadata::accept_warnings(&mut expected, &["c".to_owned()]), "nothing is asked for any more");
    assert_eq!(expected, pod("a\nb"));
    let mut expected = pod("*");
    assert!(!metadata::accept_warnings(&mut expected, &[]));
    assert_eq!(expected, json!({"metadata": {"annotations": {}}}));
}
