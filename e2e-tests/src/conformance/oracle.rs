//! Linkerd's own injector behind a pipe, where it is on PATH.

use std::{
    io,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use thiserror::Error;

use crate::case::{Case, CaseResult, LineError, read_lines};

/// The program's name.
pub const PROGRAM: &str = "linkerd-oracle";

/// Why there are no answers.
#[derive(Debug, Error)]
pub enum OracleError {
    /// It does not run.
    #[error("{PROGRAM} does not run: {0}")]
    Run(#[from] io::Error),
    /// It answers something else.
    #[error("{PROGRAM} answers what is no result: {0}")]
    Answer(#[from] LineError),
    /// It does not answer every case.
    #[error("{PROGRAM} gave {0} answers to {1} cases")]
    Missing(usize, usize),
}

/// Asks it about the cases, all at once, for it answers when its input ends.
///
/// # Errors
/// It does not run, or does not answer every case.
pub fn ask<'a>(program: &Path, cases: impl Iterator<Item = &'a Case>) -> Result<Vec<CaseResult>, OracleError> {
    let mut oracle = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let input = oracle.stdin.take();
    let written = cases.map(serde_json::to_string).collect::<Result<Vec<_>, _>>().map_err(io::Error::from)?;
    let asked = written.len();
    let writer =
        thread::spawn(move || input.map_or(Ok(()), |mut input| written.iter().try_for_each(|line| writeln!(input, "{line}"))));
    let output = oracle.wait_with_output()?;
    writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let answers = read_lines::<CaseResult>(output.stdout.as_slice(), "result").collect::<Result<Vec<_>, _>>()?;
    if answers.len() == asked { Ok(answers) } else { Err(OracleError::Missing(answers.len(), asked)) }
}
