//! Shows what the policy makes of manifests before they are applied.

use std::{
    io::{self, BufWriter, IsTerminal, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use e2e_tests::{
    policy::{self, PolicyError},
    preview::{self, Input, Options, Output, PreviewError, Seen},
    settings::{self, SettingsError},
};
use lexopt::{Arg, ValueExt};
use serde_json::{Value, json};
use thiserror::Error;

const HELP: &str = "\
Shows what linkerd-injector-policy makes of manifests, before they are applied.

Usage: preview -f FILE… [OPTIONS]
       helm template … | preview -f - --diff

Pods and Services are shown as the policy would store them. Deployments, DaemonSets,
StatefulSets, ReplicaSets, ReplicationControllers, Jobs and CronJobs are shown by the
pod that their controller would create, put back into their pod template. Everything
else comes out as it went in, in the same place, comments included. The result is there
to be read: what is applied stays as it is, for its pods are injected when they are made.

Input:
  -f, --filename FILE   manifests in YAML or JSON, any number of documents; - is stdin;
                        may be given several times. Lists (kubectl get -o yaml) are
                        taken apart, an AdmissionReview or AdmissionRequest is answered
                        and its object shown.

Output (one of):
                        without an option: all documents, changed ones as YAML
  --diff                what changes, as a unified diff
  --patch               what changes, as JSON patches (RFC 6902), one object a line:
                        {\"apiVersion\",\"kind\",\"namespace\",\"name\",\"patch\"}
  --color WHEN          colours in a diff: auto (default), always or never

The cluster around the manifests:
  --cluster DIR         a folder with manifests of what is in the cluster: Namespaces,
                        ConfigMaps linkerd-config and linkerd-identity-trust-roots,
                        ReplicaSets, … as kubectl get -o yaml prints them. Without it,
                        the defaults of Linkerd's chart and a placeholder trust anchor
                        are used.
  --settings FILE       settings of the policy, YAML or JSON
  --namespace NAME      where objects without a namespace go (default: default)
  --namespace-annotation KEY=VALUE
                        an annotation that every namespace has in addition, such as
                        linkerd.io/inject=enabled; may be given several times
  Namespaces and ConfigMaps among the manifests count as part of the cluster.

Other options:
  --wasm FILE           ask this module, not the policy compiled into this program
  --exit-warnings       exit with 3 when there were warnings
  -q, --quiet           only warnings and errors on stderr
  -v, --verbose         also what the policy logs
  -h, --help            this text

stderr says what becomes of each object and has the policy's warnings, in the words that
kubectl apply shows. A rejected object is left out of the output.

Exit status: 0 all objects would be admitted
             1 the policy rejects one
             2 wrong usage, invalid settings, unreadable input
             3 with --exit-warnings: all would be admitted, some with warnings

Examples:
  preview -f web.yaml --namespace-annotation linkerd.io/inject=enabled --diff
  kubectl get deploy,sts -n shop -o yaml | preview -f - --cluster state/ --diff | less -R
  preview -f web.yaml --patch | jq .patch
";

#[derive(Debug, Error)]
enum Failure {
    #[error("{0}; see --help")]
    Usage(#[from] lexopt::Error),
    #[error("cannot read {name}: {source}")]
    Read { name: String, source: io::Error },
    #[error("{0}")]
    Settings(#[from] SettingsError),
    #[error("{0}")]
    Policy(#[from] PolicyError),
    #[error("{0}")]
    Preview(#[from] PreviewError),
}

struct Arguments {
    options: Options,
    files: Vec<PathBuf>,
    module: Option<PathBuf>,
    exit_warnings: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(code),
        // Nobody reads on, as in `preview … | head`.
        Err(Failure::Preview(PreviewError::Write(error))) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("preview: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<u8, Failure> {
    let Some(arguments) = arguments()? else {
        let written = io::stdout().write_all(HELP.as_bytes());
        written.map_err(PreviewError::Write)?;
        return Ok(0);
    };
    let policy = policy::open(arguments.module.as_deref())?;
    let inputs = arguments.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::new(io::stdout().lock());
    let Seen { rejected, warnings, .. } =
        preview::run(&arguments.options, policy.as_ref(), &inputs, &mut out, &mut io::stderr().lock())?;
    Ok(match (rejected, warnings) {
        (1.., _) => 1,
        (_, 1..) if arguments.exit_warnings => 3,
        _ => 0,
    })
}

fn arguments() -> Result<Option<Arguments>, Failure> {
    let mut found = Arguments { options: Options::default(), files: Vec::new(), module: None, exit_warnings: false };
    let mut output = None;
    let mut colour = String::from("auto");
    let mut args = lexopt::Parser::from_env();
    while let Some(arg) = args.next()? {
        match arg {
            Arg::Short('f') | Arg::Long("filename") => {
                found.files.push(args.value()?.into());
                // As in kubectl's shell expansions: -f a.yaml b.yaml.
                found.files.extend(args.values().into_iter().flatten().map(PathBuf::from));
            }
            Arg::Long("diff") if output.is_none() => output = Some(Output::Diff { colour: false }),
            Arg::Long("patch") if output.is_none() => output = Some(Output::Patch),
            Arg::Long("diff" | "patch") => {
                return Err(usage("--diff and --patch exclude each other"));
            }
            Arg::Long("color") => colour = args.value()?.string()?,
            Arg::Long("cluster") => found.options.cluster = Some(args.value()?.into()),
            Arg::Long("settings") => found.options.settings = settings::read(Path::new(&args.value()?))?,
            Arg::Long("namespace") | Arg::Short('n') => found.options.namespace = args.value()?.string()?,
            Arg::Long("namespace-annotation") => {
                let given = args.value()?.string()?;
                let (key, value) = given
                    .split_once('=')
                    .filter(|(key, _)| !key.is_empty())
                    .ok_or_else(|| usage(format!("--namespace-annotation {given:?} is not KEY=VALUE")))?;
                found.options.namespace_annotations.insert(key.to_owned(), json!(value));
            }
            Arg::Long("wasm") => found.module = Some(args.value()?.into()),
            Arg::Long("exit-warnings") => found.exit_warnings = true,
            Arg::Short('q') | Arg::Long("quiet") => found.options.quiet = true,
            Arg::Short('v') | Arg::Long("verbose") => found.options.verbose = true,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            other => return Err(other.unexpected().into()),
        }
    }
    if found.files.is_empty() {
        return Err(usage("no input, name a file with -f"));
    }
    let colour = match colour.as_str() {
        "always" => true,
        "never" => false,
        "auto" => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        other => {
            return Err(usage(format!("--color {other:?} is not auto, always or never")));
        }
    };
    found.options.output = match output {
        Some(Output::Diff { .. }) => Output::Diff { colour },
        Some(output) => output,
        None => Output::Yaml,
    };
    if found.options.settings == Value::Null {
        found.options.settings = json!({});
    }
    Ok(Some(found))
}

fn usage(message: impl Into<String>) -> Failure {
    Failure::Usage(lexopt::Error::Custom(message.into().into()))
}

fn read(file: &Path) -> Result<Input, Failure> {
    let mut text = String::new();
    let stdin = file == Path::new("-");
    let name = if stdin { "stdin".to_owned() } else { file.display().to_string() };
    let read = if stdin {
        io::stdin().lock().read_to_string(&mut text).map(|_| ())
    } else {
        std::fs::read_to_string(file).map(|content| text = content)
    };
    read.map_err(|source| Failure::Read { name: name.clone(), source })?;
    Ok(Input { name, text })
}
