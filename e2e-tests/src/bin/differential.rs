//! Holds the policy against Linkerd's own injector on generated cases.

use std::{
    collections::BTreeSet,
    io::{self, BufWriter, Write},
    process::ExitCode,
};

use e2e_tests::{
    conformance::{Report, oracle},
    differential::{Differential, DifferentialError, Found},
    policy::Native,
    programs,
};
use lexopt::{Arg, ValueExt as _};
use thiserror::Error;

const HELP: &str = "\
Holds the policy against Linkerd's own injector on cases that are made from a seed.

Usage: differential [--seed N] [--cases N]

Needs linkerd-oracle on PATH. The objects are such as the API server takes; annotations and configuration are good,
nearly good and hostile. Each case ends as equal, explained by deviations (D01, …), or unexplained.

Of each kind of difference that is not explained, and of each thing that a deviation does and may not, the first case
is made as small as it can be and printed as one line of JSON, ready to be added to
e2e-tests/conformance/extra/cases.jsonl, with what is wrong below it. Then come a table of the deviations with the
number of cases that need each and, last, one line with the counts.

Options:
  --seed N    the seed; 1. The same seed gives the same cases, however many
  --cases N   how many; 1000
  -h, --help  this text

Exit status: 0 when all is equal or explained and no deviation is at fault, 1 when not, 2 when nothing can be compared.
";

#[derive(Debug, Error)]
enum Failure {
    #[error("{0}; see --help")]
    Usage(#[from] lexopt::Error),
    #[error("{} is not on PATH", oracle::PROGRAM)]
    NoOracle,
    #[error("{0}")]
    Differential(#[from] DifferentialError),
    #[error("cannot write the report: {0}")]
    Write(#[from] io::Error),
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("differential: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    let (mut seed, mut cases) = (1, 1000);
    let mut args = lexopt::Parser::from_env();
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("seed") => seed = args.value()?.parse()?,
            Arg::Long("cases") => cases = args.value()?.parse()?,
            Arg::Short('h') | Arg::Long("help") => {
                io::stdout().write_all(HELP.as_bytes())?;
                return Ok(ExitCode::SUCCESS);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let differential = Differential { oracle: programs::find(oracle::PROGRAM).ok_or(Failure::NoOracle)?, policy: &Native };
    let (report, found) = differential.run(seed, cases, |done| eprintln!("differential: seed {seed}, {done} of {cases} cases"))?;
    print(&differential, &report, &found)?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints a small case of each kind of difference, and the report.
fn print(differential: &Differential<'_>, report: &Report, found: &[Found]) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut seen = BTreeSet::new();
    for one in found {
        let Some(first) = one.wrong.first().filter(|first| seen.insert(first.kind.clone())) else { continue };
        eprintln!("differential: making {} smaller: {first}", one.case.name);
        let smallest = differential.smallest(one)?;
        writeln!(out, "{}", serde_json::to_string(&smallest.case).map_err(io::Error::from)?)?;
        for wrong in &smallest.wrong {
            writeln!(out, "    {wrong}")?;
        }
        out.flush()?;
    }
    out.write_all(report.summary().as_bytes())?;
    out.flush()?;
    Ok(())
}
