//! The README says what the tables and the cases say.

use e2e_tests::{
    case::corpus,
    conformance::Corpus,
    policy::Native,
    reference::{annotations, checks, parity, put_between_marks, second_call, settings},
};
use linkerd_injector_policy::{decide::SkipReason, response::NotOurs};

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");

#[test]
fn the_references_are_those_of_the_tables() {
    let written = std::fs::read_to_string(README).unwrap();
    let mut expected = written.clone();
    let second_call = format!("```diff\n{}```\n", second_call().unwrap());
    // That the module gives the same is what `make conformance` says.
    let [corpus, further] = corpus::pairs().map(|(cases, linkerd)| {
        let mut corpus = Corpus::default();
        corpus.add(&cases, &linkerd, "").unwrap();
        corpus.run(&[&Native]).unwrap()
    });
    assert!(!corpus.failed(false) && !further.failed(false), "{}{}", corpus.summary(), further.summary());
    let parity = parity(&corpus, &further);
    for (name, table) in [
        ("settings", settings()),
        ("annotations", annotations()),
        ("checks", checks()),
        ("second-call", second_call),
        ("parity", parity),
    ] {
        expected = put_between_marks(&expected, name, &table).unwrap_or_else(|| panic!("no marks for {name} in the README"));
    }
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(README, &expected).unwrap();
        return;
    }
    assert!(
        written == expected,
        "the README's references are not those of the tables and cases; UPDATE_README=1 cargo test --release -p e2e-tests \
         --test readme writes them"
    );
}

#[test]
fn every_reason_is_told() {
    let written = std::fs::read_to_string(README).unwrap();
    let reasons = SkipReason::ALL.iter().map(|reason| reason.as_str()).chain(NotOurs::ALL.iter().map(|why| why.as_str()));
    // And those of other outcomes.
    for reason in reasons.chain(["invalid_annotation", "error", "workload_checked"]) {
        let told = written.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{reason}`")));
        assert!(told, "the README does not tell of {reason}");
    }
}
