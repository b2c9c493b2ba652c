//! What a second call makes of a pod that others edited, as a difference between two manifests.

use crate::case::corpus::{self, CorpusError};
use crate::laws::{Mesh, edits};
use crate::policy::{Native, PolicyError};
use crate::yaml;
use serde_json::Value;
use similar::TextDiff;
use thiserror::Error;

/// The pod that is injected.
const CASE: &str = "realistic/web-api+plain";
/// What others do to it then.
const EDITS: [&str; 3] = ["sidecar with ports, as OPA", "log level, as kubemod", "preStop hook of the proxy"];
const RECORD: &str = "linkerd.io/injection-record";

/// Why there is no difference to show.
#[derive(Debug, Error)]
pub enum SecondCallError {
    /// The corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// The policy gives no answer that can be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The corpus or the table of edits has none of that name.
    #[error("there is no {0}")]
    Missing(&'static str),
}

/// The difference that the second call makes, in lines.
///
/// # Errors
/// The pod, the edits or the policy's answer are not there.
pub fn second_call() -> Result<String, SecondCallError> {
    let case = corpus::cases()?.into_iter().find(|case| case.name == CASE).ok_or(SecondCallError::Missing(CASE))?;
    let mesh = Mesh::new(&Native, &Value::Null, &case, None);
    let mut pod = mesh.call(&mesh.pod())?.pod;
    for name in EDITS {
        let edit = edits::named(name).ok_or(SecondCallError::Missing(name))?;
        (edit.apply)(&mut pod);
    }
    let (before, after) = (manifest(&pod), manifest(&mesh.call(&pod)?.pod));
    let diff = TextDiff::from_lines(&before, &after);
    let text = diff.unified_diff().context_radius(1).to_string();
    let lines = text.lines().filter(|line| !line.starts_with("@@") && !line.is_empty());
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

/// The pod as a manifest; the record, which is long, by its beginning.
fn manifest(pod: &Value) -> String {
    let mut pod = pod.clone();
    if let Some(record) = pod.pointer_mut("/metadata/annotations").and_then(|annotations| annotations.get_mut(RECORD)) {
        let text: String = record.as_str().unwrap_or_default().chars().take(23).collect();
        *record = format!("{text}…").into();
    }
    serde_norway::to_value(&pod).map(|tree| yaml::write(&tree)).unwrap_or_default()
}
