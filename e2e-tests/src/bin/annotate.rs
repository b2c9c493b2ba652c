//! Writes the metadata section into a policy's module.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use e2e_tests::annotate::{self, AnnotateError};
use lexopt::Arg;
use thiserror::Error;

const HELP: &str = "\
Writes a policy's metadata into its module, as kwctl annotate does, for machines without kwctl.

Usage: annotate -m METADATA [-u README] -o OUT IN

  -m, --metadata-path FILE  the metadata, YAML: rules, mutating, contextAwareResources, …
  -u, --usage-path FILE     the policy's documentation, which kwctl inspect shows
  -o, --output-path FILE    where the annotated module goes
  IN                        the module that the compiler made
  -h, --help                this text

The section is the one that kwctl writes, without the annotation with kwctl's version.
A module that has a section already is refused.

Exit status: 0 when OUT was written, 2 otherwise.
";

#[derive(Debug, Error)]
enum Failure {
    #[error("{0}; see --help")]
    Usage(#[from] lexopt::Error),
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: io::Error },
    #[error("{0}")]
    Annotate(#[from] AnnotateError),
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("annotate: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Failure> {
    let (mut metadata, mut usage, mut output, mut module) = (None, None, None, None);
    let mut args = lexopt::Parser::from_env();
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Short('m') | Arg::Long("metadata-path") => metadata = Some(PathBuf::from(args.value()?)),
            Arg::Short('u') | Arg::Long("usage-path") => usage = Some(PathBuf::from(args.value()?)),
            Arg::Short('o') | Arg::Long("output-path") => output = Some(PathBuf::from(args.value()?)),
            Arg::Short('h') | Arg::Long("help") => {
                let written = io::stdout().write_all(HELP.as_bytes());
                return written.map_err(|source| Failure::Write { path: "stdout".to_owned(), source });
            }
            Arg::Value(path) if module.is_none() => module = Some(PathBuf::from(path)),
            other => return Err(other.unexpected().into()),
        }
    }
    let metadata = required(metadata, "no metadata, name a file with -m")?;
    let output = required(output, "no output, name a file with -o")?;
    let module = read(&required(module, "no module")?)?;
    let text = read_text(&metadata)?;
    let usage = usage.as_deref().map(read_text).transpose()?;
    let annotated = annotate::annotate(&module, &text, usage.as_deref())?;
    std::fs::write(&output, annotated).map_err(|source| Failure::Write { path: output.display().to_string(), source })
}

fn required(path: Option<PathBuf>, message: &str) -> Result<PathBuf, Failure> {
    path.ok_or_else(|| Failure::Usage(lexopt::Error::Custom(message.into())))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::Read { path: path.display().to_string(), source })
}

fn read_text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|source| Failure::Read { path: path.display().to_string(), source })
}
