//! The README says what the tables and the cases say.

use e2e_tests::{
    case::corpus,
    conformance::Corpus,
    policy::Native,
    reference::{annotations, parity, put_between_marks, second_call, settings},
};

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
    for (name, table) in
        [("settings", settings()), ("annotations", annotations()), ("second-call", second_call), ("parity", parity)]
    {
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
