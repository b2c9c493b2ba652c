//! What the README says of parity with Linkerd's injector: counts, and the table of the deviations.

use crate::{conformance::Report, deviation::DEVIATIONS};

/// How the cases of the corpus and the further ones end, and the table of the deviations with the number of cases that need each.
#[must_use]
pub fn parity(corpus: &Report, further: &Report) -> String {
    let ends = |report: &Report| {
        let [equal, explained, unexplained] = report.counts();
        format!("{equal} come out equal, {explained} equal but for these deviations, {unexplained} neither")
    };
    let mut sorted: Vec<_> = DEVIATIONS.iter().collect();
    sorted.sort_by_key(|deviation| deviation.id);
    let rows = sorted.iter().map(|deviation| {
        let uses = |report: &Report| report.uses.get(deviation.id).copied().unwrap_or_default();
        format!("| {} | {} | {} | {} |\n", deviation.id, deviation.title, uses(corpus), uses(further))
    });
    format!(
        "Of the {} cases of Linkerd's corpus, {}.\nOf {} further cases, of which the corpus has too few, {}.\n\n\
         | id | what is different here | cases | further cases |\n|---|---|---|---|\n{}",
        corpus.cases.len(),
        ends(corpus),
        further.cases.len(),
        ends(further),
        rows.collect::<String>()
    )
}
