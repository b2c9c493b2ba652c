//! Measures the module in a real policy server, beside a policy that accepts everything and Linkerd's injector.

use std::{
    fs,
    io::{self, Write as _},
    process::ExitCode,
};

use e2e_tests::{
    bench::{
        Modules,
        budget::{self, Budget},
        servers::{Servers, ServersError},
    },
    reference,
};
use thiserror::Error;

const HELP: &str = "\
Measures the module in a real policy server, beside a policy that accepts everything and Linkerd's injector: the same
admission reviews to all of them in turn, then many mixed ones at once to the policy server. Prints tables and the
budgets. Needs policy-server, linkerd-oracle, loadtest, kube-apiserver and etcd on PATH, and the annotated modules in
artefacts/build.

Usage: bench-server

With UPDATE_README set, the ratios are written to the README.

Exit status: 0 when every budget holds, 1 when one does not, 2 when there are no figures.
";
const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
/// What the README's table stands between.
const MARK: &str = "performance-server";

#[derive(Debug, Error)]
enum Failure {
    #[error("{0}; see --help")]
    Usage(#[from] lexopt::Error),
    #[error("{0}")]
    Servers(#[from] ServersError),
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    #[error("there are no marks for {MARK} in the README")]
    Marks,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("bench-server: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    if let Some(arg) = lexopt::Parser::from_env().next()? {
        return match arg {
            lexopt::Arg::Short('h') | lexopt::Arg::Long("help") => {
                io::stdout().write_all(HELP.as_bytes())?;
                Ok(ExitCode::SUCCESS)
            }
            other => Err(other.unexpected().into()),
        };
    }
    let figures = Servers::start(&Modules::annotated())?.measure()?;
    let budgets = figures.budgets();
    write!(io::stdout().lock(), "{}\n{}", figures.table(), budget::report(&budgets))?;
    if std::env::var_os("UPDATE_README").is_some() {
        let text = fs::read_to_string(README)?;
        fs::write(README, reference::put_between_marks(&text, MARK, &figures.ratios()).ok_or(Failure::Marks)?)?;
    }
    Ok(if budgets.iter().all(Budget::holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
