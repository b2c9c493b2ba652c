//! Holds the policy against Linkerd's own injector on a corpus.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use e2e_tests::{
    case::corpus,
    conformance::{ConformanceError, Corpus, Report, Verdict},
    policy::{self, Policy, PolicyError},
};
use lexopt::Arg;
use thiserror::Error;

const HELP: &str = "\
Holds the policy against Linkerd's own injector, object against object, natively and as WebAssembly.

Usage: conformance [options] [CASES LINKERD]...

CASES and LINKERD are two files or two folders of .jsonl files (see e2e-tests/conformance/README.md), any number of
pairs; without any, the project's own corpus and its extra cases. Each case ends as equal, explained by deviations
(D01, …), or unexplained. Prints the unexplained ones, a table of the deviations with the number of cases that need
each and, last, one line with the counts.

Options:
  --complete          also ask that every deviation is needed by a case and every case has a result
  --wasm FILE         the module; artefacts/build/policy.wasm where it exists
  --native-only       leave the module out
  --name TEXT         only cases whose name contains TEXT
  --verbose           print how every case ended
  --write-twins FILE  write Linkerd's new answers about twins, from linkerd-oracle on PATH
  -h, --help          this text

Exit status: 0 when nothing is unexplained, 1 when something is, when a deviation changes nothing where it applies or
touches a path that is not its own, or when --complete asks for more; 2 when the input cannot be used.
";

#[derive(Debug, Error)]
enum Failure {
    #[error("{0}; see --help")]
    Usage(#[from] lexopt::Error),
    #[error("CASES and LINKERD come in pairs; see --help")]
    Pairs,
    #[error("{0}")]
    Conformance(#[from] ConformanceError),
    #[error("{0}")]
    Policy(#[from] PolicyError),
    #[error("cannot write {}: {source}", path.display())]
    Twins { path: PathBuf, source: io::Error },
    #[error("{name}: {source}")]
    Case { name: String, source: PolicyError },
    #[error("cannot write the report: {0}")]
    Write(#[from] io::Error),
}

#[derive(Default)]
struct Options {
    pairs: Vec<(PathBuf, PathBuf)>,
    module: Option<PathBuf>,
    twins: Option<PathBuf>,
    name: String,
    complete: bool,
    verbose: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(Failure::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("conformance: {failure}");
            ExitCode::from(if matches!(failure, Failure::Case { .. } | Failure::Write(_)) { 1 } else { 2 })
        }
    }
}

fn run() -> Result<ExitCode, Failure> {
    let Some(options) = options()? else {
        io::stdout().write_all(HELP.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let native = policy::open(None)?;
    let module = options.module.as_deref().map(|path| policy::open(Some(path))).transpose()?;
    if module.is_none() {
        eprintln!("conformance: no module, natively only");
    }
    let mut corpus = Corpus::default();
    for (cases, linkerd) in &options.pairs {
        corpus.add(cases, linkerd, &options.name)?;
    }
    corpus.ask_about_twins()?;
    if let Some(path) = &options.twins {
        write_twins(&corpus, path).map_err(|source| Failure::Twins { path: path.clone(), source })?;
    }
    let policies: Vec<&dyn Policy> = [Some(&native), module.as_ref()].into_iter().flatten().map(Box::as_ref).collect();
    let report = corpus.run(&policies).map_err(|(name, source)| Failure::Case { name, source })?;
    print(&report, &options)?;
    Ok(if report.failed(options.complete) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn options() -> Result<Option<Options>, Failure> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../artefacts/build/policy.wasm");
    let mut options = Options { module: built.is_file().then_some(built), ..Options::default() };
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut args = lexopt::Parser::from_env();
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Long("complete") => options.complete = true,
            Arg::Long("verbose") => options.verbose = true,
            Arg::Long("wasm") => options.module = Some(args.value()?.into()),
            Arg::Long("native-only") => options.module = None,
            Arg::Long("name") => options.name = args.value()?.to_string_lossy().into_owned(),
            Arg::Long("write-twins") => options.twins = Some(args.value()?.into()),
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Value(path) => paths.push(path.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    if paths.is_empty() {
        options.pairs.extend(corpus::pairs());
    }
    let mut paths = paths.into_iter();
    while let Some(cases) = paths.next() {
        options.pairs.push((cases, paths.next().ok_or(Failure::Pairs)?));
    }
    Ok(Some(options))
}

fn write_twins(corpus: &Corpus, path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for twin in corpus.new_twins() {
        serde_json::to_writer(&mut out, twin)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn print(report: &Report, options: &Options) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for (name, verdicts) in &report.cases {
        for (policy, verdict) in
            verdicts.iter().filter(|(_, verdict)| options.verbose || matches!(verdict, Verdict::Unexplained(_)))
        {
            writeln!(out, "{name} ({policy}): {verdict}")?;
        }
    }
    for fault in &report.faults {
        writeln!(out, "fault: {fault}")?;
    }
    for name in &report.without_result {
        writeln!(out, "without result: {name}")?;
    }
    if options.complete {
        for id in report.unused() {
            writeln!(out, "not needed by any case: {id}")?;
        }
    }
    out.write_all(report.summary().as_bytes())?;
    out.flush()
}
