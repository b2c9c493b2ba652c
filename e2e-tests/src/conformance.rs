//! Holds every case against Linkerd's result: equal, explained by named deviations, or unexplained.
//!
//! In: cases and Linkerd's results, files or folders. Out: a [`Report`], which says how each case ended, how often each
//! deviation was needed, and what is wrong with the deviations themselves. Linkerd's answers to twins (see
//! [`deviation`]) come from the results, from `twins.jsonl` beside them, from `linkerd-oracle` on PATH, or, where there
//! is none, the policy's own answer stands in for them.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    thread,
};

use serde_json::Value;
use thiserror::Error;

use crate::{
    case::{
        Case, CaseResult, Outcome,
        corpus::{CorpusError, read_cases, read_results},
    },
    compare::{Difference, compare},
    deviation::{DEVIATIONS, Expected, Explanation, NoAnswer, explain, reading::Reading, relate},
    policy::{Policy, PolicyError},
    programs,
};

pub mod oracle;

pub use self::oracle::OracleError;

/// The file beside the results that has Linkerd's answers to twins.
const TWINS: &str = "twins.jsonl";

/// Why there is no report.
#[derive(Debug, Error)]
pub enum ConformanceError {
    /// Cases or results cannot be read.
    #[error("{0}")]
    Corpus(#[from] CorpusError),
    /// `linkerd-oracle` is there and does not answer.
    #[error("{0}")]
    Oracle(#[from] OracleError),
    /// There is no case to look at.
    #[error("no case in {0}")]
    NoCase(String),
    /// A name does not tell which case is meant.
    #[error("two cases are called {0}")]
    Twice(String),
}

/// Cases and what Linkerd's injector does with them.
#[derive(Debug, Default)]
pub struct Corpus {
    cases: Vec<Reading>,
    linkerd: BTreeMap<String, CaseResult>,
    new_twins: Vec<CaseResult>,
}

/// How a case ended with one policy.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// As with Linkerd.
    Equal,
    /// As with Linkerd, but for these deviations.
    Explained(Vec<&'static str>),
    /// At these places it is neither.
    Unexplained(Vec<Difference>),
}

/// How the cases ended.
#[derive(Debug, Default)]
pub struct Report {
    /// By case: its name, and how it ended with each policy.
    pub cases: Vec<(String, Vec<(&'static str, Verdict)>)>,
    /// How many cases needed each deviation.
    pub uses: BTreeMap<&'static str, usize>,
    /// What is wrong with a deviation on a case.
    pub faults: Vec<String>,
    /// The cases that Linkerd's results lack.
    pub without_result: Vec<String>,
}

impl Corpus {
    /// Cases under names of their own, and Linkerd's results on them.
    #[must_use]
    pub fn of(cases: Vec<Case>, linkerd: Vec<CaseResult>) -> Self {
        let linkerd = linkerd.into_iter().map(|result| (result.name.clone(), result)).collect();
        Self { cases: cases.into_iter().map(Reading::from).collect(), linkerd, new_twins: Vec::new() }
    }

    /// Adds the cases of a file or folder whose names contain `name`, and Linkerd's results on them.
    ///
    /// # Errors
    /// Something cannot be read, or there is no such case.
    pub fn add(&mut self, cases: &Path, linkerd: &Path, name: &str) -> Result<(), ConformanceError> {
        let read = read_cases(cases)?.into_iter().filter(|case| case.name.contains(name));
        let known = self.cases.len();
        self.cases.extend(read.map(Reading::from));
        if self.cases.len() == known && name.is_empty() {
            return Err(ConformanceError::NoCase(cases.display().to_string()));
        }
        let mut names: Vec<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find_map(|pair| pair.first().filter(|first| pair.last() == Some(first))) {
            return Err(ConformanceError::Twice((*twice).to_owned()));
        }
        let twins = twins(linkerd);
        for path in [Some(linkerd), twins.is_file().then_some(twins.as_path())].into_iter().flatten() {
            self.linkerd.extend(read_results(path)?.into_iter().map(|result| (result.name.clone(), result)));
        }
        Ok(())
    }

    /// Asks `linkerd-oracle`, where it is on PATH, about the twins that nothing is known of.
    ///
    /// # Errors
    /// It does not answer.
    pub fn ask_about_twins(&mut self) -> Result<(), ConformanceError> {
        programs::find(oracle::PROGRAM).map_or(Ok(()), |oracle| Ok(self.ask_about_twins_at(&oracle)?))
    }

    /// Asks that `linkerd-oracle` about the twins that nothing is known of.
    ///
    /// # Errors
    /// It does not answer.
    pub fn ask_about_twins_at(&mut self, oracle: &Path) -> Result<(), OracleError> {
        loop {
            let missing: Vec<Reading> = self.cases.iter().filter_map(|case| self.missing_twin(case)).collect();
            if missing.is_empty() {
                return Ok(());
            }
            for result in oracle::ask(oracle, missing.iter().map(|twin| &**twin))? {
                self.new_twins.push(result.clone());
                self.linkerd.insert(result.name.clone(), result);
            }
        }
    }

    fn missing_twin(&self, case: &Reading) -> Option<Reading> {
        let linkerd = self.linkerd.get(&case.name)?;
        self.explain(case, linkerd).err().map(|missing| *missing.twin)
    }

    fn explain(&self, case: &Reading, linkerd: &CaseResult) -> Result<Explanation, NoAnswer> {
        explain(case, linkerd, &mut |twin| self.linkerd.get(&twin.name).cloned())
    }

    /// Linkerd's answers to twins that no file had.
    #[must_use]
    pub fn new_twins(&self) -> &[CaseResult] {
        &self.new_twins
    }

    /// Runs every case through every policy.
    ///
    /// # Errors
    /// A policy gives no answer.
    pub fn run(&self, policies: &[&dyn Policy]) -> Result<Report, (String, PolicyError)> {
        let share = self.cases.len().div_ceil(thread::available_parallelism().map_or(1, usize::from)).max(1);
        let shares = thread::scope(|scope| {
            let workers: Vec<_> =
                self.cases.chunks(share).map(|cases| scope.spawn(move || self.run_share(cases, policies))).collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let mut report = Report::default();
        for share in shares {
            report.extend(share);
        }
        Ok(report)
    }

    fn run_share(&self, cases: &[Reading], policies: &[&dyn Policy]) -> Result<Report, (String, PolicyError)> {
        let mut report = Report::default();
        for case in cases {
            let Some(linkerd) = self.linkerd.get(&case.name) else {
                report.without_result.push(case.name.clone());
                continue;
            };
            let fail = |error| (case.name.clone(), error);
            let mut verdicts = Vec::new();
            for (at, policy) in policies.iter().enumerate() {
                let mut explanation = match self.explain(case, linkerd) {
                    Ok(explanation) => explanation,
                    Err(asked) => relate(case, &asked, &asked.twin.run(*policy, &Value::Null).map_err(fail)?),
                };
                let ours = case.run(*policy, &Value::Null).map_err(fail)?;
                explanation.accept(&case.request.object, &ours);
                verdicts.push((policy.name(), verdict(case, &explanation, &ours)));
                if at == 0 {
                    for id in &explanation.by {
                        let uses = report.uses.entry(id).or_default();
                        *uses = uses.saturating_add(1);
                    }
                    report.faults.extend(explanation.faults.into_iter().map(|fault| format!("{}: {fault}", case.name)));
                }
            }
            report.cases.push((case.name.clone(), verdicts));
        }
        Ok(report)
    }
}

/// Where the answers to twins lie.
#[must_use]
pub fn twins(linkerd: &Path) -> PathBuf {
    linkerd.parent().unwrap_or_else(|| Path::new("")).join(TWINS)
}

fn verdict(case: &Reading, explanation: &Explanation, ours: &CaseResult) -> Verdict {
    let Expected { outcome, object, .. } = &explanation.expected;
    let input = &case.request.object;
    let after = ours.object.as_ref().unwrap_or(input);
    let mut differences = compare(input, object, after);
    if *outcome != ours.outcome {
        let text = |outcome: Outcome| outcome.as_str().to_owned();
        differences.insert(0, Difference { path: "outcome".to_owned(), expected: text(*outcome), actual: text(ours.outcome) });
    }
    match (differences.is_empty(), explanation.by.is_empty()) {
        (false, _) => Verdict::Unexplained(differences),
        (true, false) => Verdict::Explained(explanation.by.clone()),
        (true, true) => Verdict::Equal,
    }
}

impl Report {
    /// Adds the report on other cases.
    pub fn extend(&mut self, other: Self) {
        self.cases.extend(other.cases);
        self.faults.extend(other.faults);
        self.without_result.extend(other.without_result);
        for (id, count) in other.uses {
            let uses = self.uses.entry(id).or_default();
            *uses = uses.saturating_add(count);
        }
    }

    /// How many cases are equal, explained and unexplained; one policy that is not as expected makes a case unexplained.
    #[must_use]
    pub fn counts(&self) -> [usize; 3] {
        let (mut equal, mut explained, mut unexplained) = (0_usize, 0_usize, 0_usize);
        for (_, verdicts) in &self.cases {
            let any = |is: fn(&Verdict) -> bool| verdicts.iter().any(|(_, verdict)| is(verdict));
            let count = if any(|verdict| matches!(verdict, Verdict::Unexplained(_))) {
                &mut unexplained
            } else if any(|verdict| matches!(verdict, Verdict::Explained(_))) {
                &mut explained
            } else {
                &mut equal
            };
            *count = count.saturating_add(1);
        }
        [equal, explained, unexplained]
    }

    /// The deviations that no case needed.
    pub fn unused(&self) -> impl Iterator<Item = &'static str> {
        DEVIATIONS.iter().map(|deviation| deviation.id).filter(|id| !self.uses.contains_key(id))
    }

    /// Whether something is wrong; `complete` asks for every deviation to be needed and every case to have a result.
    #[must_use]
    pub fn failed(&self, complete: bool) -> bool {
        let [_, _, unexplained] = self.counts();
        let incomplete = self.unused().next().is_some() || !self.without_result.is_empty();
        unexplained > 0 || !self.faults.is_empty() || (complete && incomplete)
    }

    /// The table of the deviations and, last, the line with the counts.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut sorted: Vec<_> = DEVIATIONS.iter().collect();
        sorted.sort_by_key(|deviation| deviation.id);
        let rows = sorted.iter().map(|deviation| {
            let uses = self.uses.get(deviation.id).copied().unwrap_or_default();
            format!("{:<4} {uses:>5}  {}\n", deviation.id, deviation.title)
        });
        let [equal, explained, unexplained] = self.counts();
        let table: String = rows.collect();
        format!("{table}\nequal {equal}, explained {explained}, unexplained {unexplained}\n")
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => f.write_str("equal"),
            Self::Explained(by) => write!(f, "explained by {}", by.join(" ")),
            Self::Unexplained(differences) => {
                f.write_str("unexplained")?;
                differences.iter().try_for_each(|difference| write!(f, "\n    {difference}"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
