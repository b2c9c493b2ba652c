//! The runner with policies that do one thing wrong.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{case::corpus, host::Host, policy::Native};

/// The policy, with something done to its answers.
struct Spoilt(fn(&mut Value));

impl Policy for Spoilt {
    fn name(&self) -> &'static str {
        "spoilt"
    }

    fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
        let mut answer: Value = serde_json::from_slice(&Native.validate(payload, host)?)?;
        if let Some(object) = answer.get_mut("mutated_object").filter(|object| !object.is_null()) {
            (self.0)(object);
        }
        Ok(serde_json::to_vec(&answer)?)
    }

    fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError> {
        Native.validate_settings(payload)
    }
}

fn load(name: &str) -> Corpus {
    let mut corpus = Corpus::default();
    let folder = corpus::folder();
    corpus.add(&folder.join("cases"), &folder.join("linkerd"), name).unwrap();
    corpus
}

/// What is unexplained of one case once the policy's answer was spoilt.
fn spoilt(name: &str, spoil: fn(&mut Value)) -> Vec<String> {
    let report = load(name).run(&[&Spoilt(spoil)]).unwrap();
    let verdicts = report.cases.iter().flat_map(|(_, verdicts)| verdicts);
    let unexplained = verdicts.filter_map(|(_, verdict)| match verdict {
        Verdict::Unexplained(differences) => Some(differences),
        _ => None,
    });
    unexplained.flatten().map(|difference| difference.path.clone()).collect()
}

#[test]
fn a_case_is_explained_by_what_was_needed() {
    let report = load("shape/nulls").run(&[&Native]).unwrap();
    assert_eq!(report.counts(), [0, 1, 0], "{:?}", report.cases);
    assert_eq!(report.cases[0].1[0].1.to_string(), "explained by D15 D25 D36");
    assert!(!report.failed(false) && report.failed(true), "other deviations are not needed");
    let report = load("skip/hostNetwork-and-disabled").run(&[&Native]).unwrap();
    assert_eq!(report.counts(), [1, 0, 0]);
    assert!(report.summary().ends_with("\nequal 1, explained 0, unexplained 0\n"));
}

#[test]
fn what_is_lost_of_the_users_is_unexplained() {
    assert_eq!(spoilt("shape/nulls", |_| ()), Vec::<String>::new());
    let lost = |object: &mut Value| drop(object["spec"]["containers"][0].as_object_mut().unwrap().remove("env"));
    assert_eq!(spoilt("shape/nulls", lost), ["spec/containers[app]/env"]);
    assert_eq!(
        spoilt("shape/nulls", |object| object["spec"]["containers"][0]["resources"] = json!(null)),
        ["spec/containers[app]/resources"]
    );
}

#[test]
fn what_is_not_as_linkerd_has_it_is_unexplained() {
    let retag = |object: &mut Value| object["spec"]["initContainers"][0]["image"] = json!("other:1");
    assert_eq!(spoilt("shape/nulls", retag), ["spec/initContainers[linkerd-init]/image"]);
    let undo = |object: &mut Value| object["spec"]["initContainers"][1]["securityContext"]["capabilities"] = json!(null);
    assert_eq!(spoilt("shape/nulls", undo), ["spec/initContainers[linkerd-proxy]/securityContext/capabilities"]);
    assert_eq!(
        spoilt("shape/nulls", |object| object["metadata"]["annotations"]["linkerd.io/injection-record"] = json!("?")),
        ["metadata/annotations[linkerd.io/injection-record]"]
    );
}

#[test]
fn without_an_answer_to_a_twin_the_policy_is_held_against_itself() {
    let mut corpus = load("values/networks-bad");
    corpus.linkerd.retain(|name, _| !name.contains('#'));
    let report = corpus.run(&[&Native]).unwrap();
    assert_eq!(report.counts(), [0, 2, 0], "{:?}", report.cases);
    assert_eq!(report.uses, BTreeMap::from([("D11", 2)]));
}

#[test]
fn a_case_without_result_is_reported() {
    let mut corpus = load("skip/hostNetwork-and-disabled");
    corpus.linkerd.clear();
    let report = corpus.run(&[&Native]).unwrap();
    assert_eq!(report.without_result, ["skip/hostNetwork-and-disabled"]);
    assert!(!report.failed(false) && report.failed(true));
}

#[test]
fn bad_input_is_named() {
    let folder = corpus::folder();
    let (cases, linkerd) = (folder.join("cases/skip.jsonl"), folder.join("linkerd/skip.jsonl"));
    let mut twice = Corpus::default();
    twice.add(&cases, &linkerd, "").unwrap();
    assert_eq!(twice.add(&cases, &linkerd, "").unwrap_err().to_string(), "two cases are called skip/debug-is-no-sidecar");
    let missing = Corpus::default().add(Path::new("/none"), &linkerd, "").unwrap_err().to_string();
    assert!(missing.starts_with("cannot read /none"), "{missing}");
    let results = Corpus::default().add(&cases, &cases, "").unwrap_err().to_string();
    assert!(results.contains("not a result"), "{results}");
}
