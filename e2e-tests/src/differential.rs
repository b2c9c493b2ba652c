//! The policy against Linkerd's own injector on cases that nobody wrote.
//!
//! ```text
//!   seed ─► generator::Generator ─► cases ─┬─► linkerd-oracle ─┐
//!             text, variable: annotations  │                   ├─► conformance: equal, explained, unexplained
//!             pod, container, service,     └─► the policy ─────┘                │
//!             owner: objects                                                    ▼
//!             values: configuration                        smaller: the least case that shows the same
//! ```
//!
//! In: a seed and a number of cases. Out: the report of [`crate::conformance`] on them, and a small case for each thing
//! that is wrong, to be put into the corpus' extra cases. The objects are such as the API server takes; annotations are
//! good, nearly good and hostile, on the object, on its namespace, or on both.

use std::{collections::BTreeMap, path::PathBuf, thread};

use thiserror::Error;

use crate::{
    case::{Case, CaseResult},
    conformance::{Corpus, OracleError, Report, Verdict, oracle},
    policy::{Policy, PolicyError},
    real::ask_all,
};

mod choice;
mod container;
pub mod generator;
mod owner;
mod pod;
mod service;
mod smaller;
mod text;
mod values;
mod variable;

pub use self::generator::Generator;
#[cfg(test)]
pub(crate) use self::variable::values as values_of_variables;

/// How many cases are asked about at once; all answers to them are held in memory.
const BATCH: usize = 1000;

/// Why there is no report.
#[derive(Debug, Error)]
pub enum DifferentialError {
    /// Linkerd's injector does not answer.
    #[error("{0}")]
    Oracle(#[from] OracleError),
    /// The policy does not answer.
    #[error("{name}: {source}")]
    Policy {
        /// The case.
        name: String,
        /// Why.
        source: PolicyError,
    },
}

/// Linkerd's injector and the policy that is held against it.
pub struct Differential<'a> {
    /// Where `linkerd-oracle` is.
    pub oracle: PathBuf,
    /// The policy.
    pub policy: &'a dyn Policy,
}

/// A case in which something is wrong.
#[derive(Debug, Clone)]
pub struct Found {
    /// The case.
    pub case: Case,
    /// What is wrong: what is neither as with Linkerd nor explained, or what a deviation did that it may not.
    pub wrong: Vec<Wrong>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct Wrong {
    /// Where, or which deviation: the same for the same thing in another case.
    pub kind: String,
    text: String,
}

impl Differential<'_> {
    /// Tries as many cases of a seed. `progress` hears how many are done.
    ///
    /// # Errors
    /// One of both does not answer.
    pub fn run(&self, seed: u64, cases: usize, mut progress: impl FnMut(usize)) -> Result<(Report, Vec<Found>), DifferentialError> {
        let (mut report, mut found) = (Report::default(), Vec::new());
        let mut generator = Generator::new(seed);
        let mut done = 0_usize;
        while done < cases {
            let batch: Vec<Case> = generator.by_ref().take(BATCH.min(cases.saturating_sub(done))).collect();
            done = done.saturating_add(batch.len());
            let of_batch = self.compare(&batch)?;
            let mut wrong = wrongs(&of_batch);
            found.extend(batch.into_iter().filter_map(|case| Some(Found { wrong: wrong.remove(&case.name)?, case })));
            report.extend(of_batch);
            progress(done);
        }
        Ok((report, found))
    }

    /// How the cases end.
    ///
    /// # Errors
    /// One of both does not answer.
    pub fn compare(&self, cases: &[Case]) -> Result<Report, DifferentialError> {
        let mut corpus = Corpus::of(cases.to_vec(), self.ask(cases)?);
        corpus.ask_about_twins_at(&self.oracle)?;
        corpus.run(&[self.policy]).map_err(|(name, source)| DifferentialError::Policy { name, source })
    }

    /// Linkerd's answers, from as many of its injectors as there are processors.
    fn ask(&self, cases: &[Case]) -> Result<Vec<CaseResult>, OracleError> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let parts: Vec<&[Case]> = cases.chunks(cases.len().div_ceil(workers).max(1)).collect();
        let answers: Result<Vec<_>, _> =
            ask_all(&parts, workers, |part| oracle::ask(&self.oracle, part.iter())).into_iter().collect();
        Ok(answers?.concat())
    }

    /// The least case that has one of the same things wrong, under the name of the first.
    ///
    /// # Errors
    /// One of both does not answer.
    pub fn smallest(&self, found: &Found) -> Result<Found, DifferentialError> {
        let Some(kind) = found.wrong.first().map(|wrong| wrong.kind.as_str()) else { return Ok(found.clone()) };
        let smallest = smaller::smallest(&found.case, |cases| {
            let numbered: Vec<Case> =
                (0_usize..).zip(cases).map(|(at, case)| Case { name: at.to_string(), ..case.clone() }).collect();
            let wrong = wrongs(&self.compare(&numbered)?);
            let is_as_wrong = |case: &Case| wrong.get(&case.name).is_some_and(|wrong| wrong.iter().any(|one| one.kind == kind));
            Ok::<_, DifferentialError>(numbered.iter().position(is_as_wrong))
        })?;
        let wrong = wrongs(&self.compare(std::slice::from_ref(&smallest))?).remove(&smallest.name).unwrap_or_default();
        Ok(Found { case: smallest, wrong })
    }
}

/// What is wrong, by case.
fn wrongs(report: &Report) -> BTreeMap<String, Vec<Wrong>> {
    let mut wrongs: BTreeMap<String, Vec<Wrong>> = BTreeMap::new();
    for (name, verdicts) in &report.cases {
        for (_, verdict) in verdicts {
            if let Verdict::Unexplained(differences) = verdict {
                let all = differences.iter().map(|one| Wrong { kind: one.path.clone(), text: one.to_string() });
                wrongs.entry(name.clone()).or_default().extend(all);
            }
        }
    }
    for (name, fault) in report.faults.iter().filter_map(|fault| fault.split_once(": ")) {
        wrongs.entry(name.to_owned()).or_default().push(Wrong { kind: fault.to_owned(), text: format!("fault: {fault}") });
    }
    wrongs
}
