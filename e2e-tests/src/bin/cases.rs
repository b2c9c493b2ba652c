//! Runs the policy on cases: one case a line on stdin, one result a line on stdout.

use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
    process::ExitCode,
};

use e2e_tests::{
    case::{Case, LineError, read_lines},
    laws::{Extent, Report, try_case},
    policy::{self, Policy, PolicyError},
    real::ask_all,
    settings::{self, SettingsError},
};
use lexopt::Arg;
use serde_json::Value;
use thiserror::Error;

const HELP: &str = "\
Runs the policy on cases of the conformance corpus' format (see e2e-tests/conformance/README.md).

Usage: cases [--wasm FILE] [--settings FILE] < cases.jsonl > results.jsonl
       cases --laws [--wasm FILE] [--settings FILE] < cases.jsonl

Each line of stdin is a case; stdout has one result a line, in the same order:
  outcome   injected, annotated (only the opaque ports were added), skipped, rejected
  reasons   why, in the words of the audit annotations
  warnings  what the person who sent the request is shown
  message   why it was rejected
  object    the object as it would be stored, where it changes

With --laws, each case is called again and again instead, with other webhooks' edits, changes in the cluster, a spoilt
record or an API server between the calls. stdout has one line a violation of the laws of reinvocation and, last,
`laws held N, broken N`. The more cases there are, the fewer edits and changes are tried of each; all are tried of some.

Options:
  --laws           try the laws of reinvocation
  --wasm FILE      run this module, not the policy compiled into this program
  --settings FILE  settings of the policy, YAML or JSON; the control-plane namespace is the case's
  -h, --help       this text

Exit status: 0 when every case has a result and every law held, 1 when a law is broken or the policy gave no answer, 2 when
the input cannot be used.
";

#[derive(Debug, Error)]
enum Failure {
    #[error("{0}; see --help")]
    Usage(#[from] lexopt::Error),
    #[error("{0}")]
    Policy(#[from] PolicyError),
    #[error("{0}")]
    Settings(#[from] SettingsError),
    #[error("{0}")]
    Line(#[from] LineError),
    #[error("{name}: {source}")]
    Case { name: String, source: PolicyError },
    #[error("cannot write results: {0}")]
    Write(#[from] io::Error),
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        // Nobody reads on, as in `cases … | head`.
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cases: {failure}");
            ExitCode::from(if matches!(failure, Failure::Case { .. } | Failure::Write(_)) { 1 } else { 2 })
        }
    }
}

/// Whether all is well.
fn run() -> Result<bool, Failure> {
    let mut laws = false;
    let mut module: Option<PathBuf> = None;
    let mut settings = Value::Null;
    let mut args = lexopt::Parser::from_env();
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("laws") => laws = true,
            Arg::Long("wasm") => module = Some(args.value()?.into()),
            Arg::Long("settings") => settings = settings::read(&PathBuf::from(args.value()?))?,
            Arg::Short('h') | Arg::Long("help") => {
                io::stdout().write_all(HELP.as_bytes())?;
                return Ok(true);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let policy = policy::open(module.as_deref())?;
    settings::check(policy.as_ref(), &settings)?;

    if laws {
        return try_laws(policy.as_ref(), &settings);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    for case in read_lines::<Case>(io::stdin().lock(), "case") {
        let case = case?;
        let result = case.run(policy.as_ref(), &settings).map_err(|source| Failure::Case { name: case.name.clone(), source })?;
        serde_json::to_writer(&mut out, &result).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(true)
}

fn try_laws(policy: &dyn Policy, settings: &Value) -> Result<bool, Failure> {
    let cases = read_lines::<Case>(io::stdin().lock(), "case").collect::<Result<Vec<_>, _>>()?;
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let extent = Extent::for_cases(cases.len());
    let reports = ask_all(&cases, workers, |case| {
        try_case(policy, settings, case, extent).map_err(|source| Failure::Case { name: case.name.clone(), source })
    });
    let mut total = Report::default();
    for report in reports {
        total.extend(report?);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    for violation in &total.violations {
        writeln!(out, "{violation}")?;
    }
    writeln!(out, "laws held {}, broken {}", total.held, total.violations.len())?;
    out.flush()?;
    Ok(total.violations.is_empty())
}
