//! What the policy would make of manifests, before they are applied.
//!
//! Text in, text out: documents are read from a stream, workloads are shown by the pods that they would create, and
//! everything that the policy leaves alone comes out byte for byte.

use std::{fmt, io, path::PathBuf};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::{
    cluster::{Manifests, ReadError},
    host::{Level, Logs},
    policy::{Policy, PolicyError},
    settings::{self, SettingsError},
};

mod input;
mod object;
mod pod;
mod show;
mod stream;
mod surroundings;
mod tree;

pub use self::{
    input::{Item, Manifest},
    object::{Preview, Previewer},
    show::{colour_diff, diff},
    stream::{Document, split},
    surroundings::Surroundings,
};

/// What is written to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// All documents, the workloads changed as the policy would change them.
    #[default]
    Yaml,
    /// What changes, as a unified diff for people.
    Diff {
        /// With the colours of a terminal.
        colour: bool,
    },
    /// What changes, as JSON patches, one a line.
    Patch,
}

/// How to preview.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What is written to stdout.
    pub output: Output,
    /// The policy's settings; null for none.
    pub settings: Value,
    /// A folder with the state of the cluster.
    pub cluster: Option<PathBuf>,
    /// Annotations that every namespace has in addition.
    pub namespace_annotations: Map<String, Value>,
    /// Where objects without a namespace go; empty means `default`.
    pub namespace: String,
    /// Only warnings and errors on stderr.
    pub quiet: bool,
    /// The policy's log on stderr.
    pub verbose: bool,
}

/// One file, or stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name in messages.
    pub name: String,
    /// What it holds.
    pub text: String,
}

/// Why there is no preview.
#[derive(Debug, Error)]
pub enum PreviewError {
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(#[from] SettingsError),
    /// The cluster folder cannot be used.
    #[error("cluster: {0}")]
    Cluster(#[from] ReadError),
    /// A document is not YAML.
    #[error("{name}: {source}")]
    Format {
        /// The input.
        name: String,
        /// Where and why.
        source: serde_norway::Error,
    },
    /// A document cannot be said in JSON, as the Kubernetes API needs it.
    #[error("{name}, line {line}: {source}")]
    NotJson {
        /// The input.
        name: String,
        /// Where the document starts.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// The policy gives no answer.
    #[error("{object}: {source}")]
    Policy {
        /// What it was asked about.
        object: String,
        /// Why.
        source: PolicyError,
    },
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// What was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// How many objects were looked at.
    pub objects: usize,
    /// How many of them the policy rejected.
    pub rejected: usize,
    /// How many warnings it gave.
    pub warnings: usize,
}

/// Previews all inputs: the result goes to `out`, what there is to say about it to `err`.
///
/// # Errors
/// Something cannot be read, written, or answered. Nothing is written to `out` before everything was read and answered.
pub fn run(
    options: &Options,
    policy: &dyn Policy,
    inputs: &[Input],
    out: &mut dyn io::Write,
    err: &mut dyn io::Write,
) -> Result<Seen, PreviewError> {
    settings::check(policy, &options.settings)?;
    let cluster = options.cluster.as_deref().map(Manifests::open).transpose()?;
    let default_namespace = if options.namespace.is_empty() { "default" } else { &options.namespace };

    let mut manifests = Vec::new();
    for input in inputs {
        manifests.push(input::read(input)?);
    }
    let mut surroundings = Surroundings::new(cluster, options.namespace_annotations.clone());
    for item in manifests.iter().flatten().flat_map(|manifest| &manifest.items) {
        surroundings.add(&item.object, default_namespace);
    }
    let previewed = |item: &Item| object::is_previewed(&item.object);
    if manifests.iter().flatten().any(|manifest| manifest.items.iter().any(previewed))
        && let Some(note) = surroundings.add_control_plane(&options.settings)
        && !options.quiet
    {
        writeln!(err, "note: {note}")?;
    }

    let logs = if options.verbose { Logs::Stderr(Level::Debug) } else { Logs::Kept };
    let mut previewer = Previewer::new(policy, &options.settings, surroundings, default_namespace, logs);
    let mut seen = Seen::default();
    let mut previews = Vec::new();
    for manifest in manifests.iter().flatten() {
        let mut of_manifest = Vec::new();
        for item in &manifest.items {
            let preview = previewer
                .preview(&item.object)
                .map_err(|source| PreviewError::Policy { object: object::title(&item.object), source })?;
            if let Some(preview) = &preview {
                tell(preview, options.quiet, &mut seen, err)?;
            }
            of_manifest.push(preview);
        }
        previews.push(of_manifest);
    }
    if seen.objects == 0 && !options.quiet {
        writeln!(err, "note: nothing in the input is a pod, a workload or a service")?;
    }
    show::write(options.output, &manifests, &previews, out)?;
    Ok(seen)
}

fn tell(preview: &Preview, quiet: bool, seen: &mut Seen, err: &mut dyn io::Write) -> io::Result<()> {
    let title = &preview.title;
    seen.objects = seen.objects.saturating_add(1);
    seen.warnings = seen.warnings.saturating_add(preview.warnings.len());
    if !quiet {
        for note in &preview.notes {
            writeln!(err, "note: {note}")?;
        }
    }
    for warning in &preview.warnings {
        writeln!(err, "warning: {title}: {warning}")?;
    }
    if let Some(message) = &preview.rejected {
        seen.rejected = seen.rejected.saturating_add(1);
        writeln!(err, "error: {title}: rejected: {message}")?;
    } else if !quiet {
        let reasons = if preview.reasons.is_empty() { String::new() } else { format!(" ({})", preview.reasons.join(", ")) };
        writeln!(err, "{title}: {}{reasons}", preview.outcome.as_str())?;
    }
    Ok(())
}

impl fmt::Display for Seen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { objects, rejected, warnings } = self;
        write!(out, "{objects} objects, {rejected} rejected, {warnings} warnings")
    }
}

#[cfg(test)]
mod tests;
