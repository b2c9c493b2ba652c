//! What a person is told: one line, or few where a sentence needs them, of at most 120 characters, stable from call to call.

use serde_json::{Map, Value};
use std::fmt;

/// The longest line that clients show whole.
pub const MAX_CHARS: usize = 120;

/// Where the thing stands that a warning is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// An annotation of the object.
    Annotation(&'static str),
    /// An annotation of its namespace.
    NamespaceAnnotation(&'static str),
    /// The keys of its annotations.
    Annotations,
    /// The keys of its namespace's annotations.
    NamespaceAnnotations,
    /// Its namespace as a whole.
    Namespace,
    /// The workload, of this kind, whose pod template is meant.
    Workload(&'static str),
    /// The pod as a whole.
    Pod,
    /// The mesh's configuration.
    Configuration,
}

/// One thing that a person should act on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    place: Place,
    value: Option<String>,
    problem: String,
    unused: bool,
    /// Whether it is about a thing that is gone with the answer, so that no later call can say it again.
    passing: bool,
}

impl Warning {
    /// An annotation whose value was not used; `problem` says what it is not, as a noun phrase.
    #[must_use]
    pub fn unused(place: Place, value: &str, problem: impl fmt::Display) -> Self {
        Warning { place, value: Some(value.to_owned()), problem: problem.to_string(), unused: true, passing: false }
    }

    /// The same, of an annotation whose text may hold a secret and is not shown.
    #[must_use]
    pub fn unused_unseen(place: Place, problem: impl fmt::Display) -> Self {
        Warning { place, value: None, problem: format!("is {problem}"), unused: true, passing: false }
    }

    /// An annotation that the object may not have, by one of the lists in the settings, and that is taken off.
    #[must_use]
    pub fn forbidden(name: &'static str, list: &str) -> Self {
        let problem = format!("is forbidden by {list} of the policy");
        Warning { place: Place::Annotation(name), value: None, problem, unused: true, passing: true }
    }

    /// Anything else, in a sentence that needs no value.
    #[must_use]
    pub fn plain(place: Place, sentence: impl fmt::Display) -> Self {
        Warning { place, value: None, problem: sentence.to_string(), unused: false, passing: false }
    }

    /// Whether a later call could not say it again.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.passing
    }

    /// Whether the warning is about an annotation of the object that was not used, the case that `onInvalidAnnotation` decides. Of
    /// an annotation of the namespace, who wrote the object knows nothing.
    #[must_use]
    pub fn is_invalid_annotation(&self) -> bool {
        self.unused && matches!(self.place, Place::Annotation(_) | Place::Annotations)
    }

    /// The lines in which a client shows it: a value gives way to what is said of it, and a longer sentence goes on in another line.
    fn lines(&self) -> Vec<String> {
        parted(&self.to_string())
    }
}

/// Each warning once, as many as clients show: the API server cuts off what is beyond 4 KiB in all.
#[must_use]
pub fn lines(warnings: &[Warning]) -> Vec<String> {
    at_most(32, warnings, Warning::lines)
}

/// Each warning once, whole, as many as a message can be thought to hold.
#[must_use]
pub fn sentences(warnings: &[Warning]) -> Vec<String> {
    at_most(512, warnings, |warning| vec![warning.to_string()])
}

fn at_most(most: usize, warnings: &[Warning], parts: fn(&Warning) -> Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut seen = Map::new();
    let mut more = 0_usize;
    for warning in warnings {
        if seen.insert(warning.to_string(), Value::Null).is_some() {
            continue;
        }
        let parts = parts(warning);
        if more == 0 && lines.len().saturating_add(parts.len()) <= most {
            lines.extend(parts);
        } else {
            more = more.saturating_add(1);
        }
    }
    if more > 0 {
        lines.push(format!("{more} more warnings"));
    }
    lines
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Place::Annotation(name) => (*name).to_owned(),
            Place::NamespaceAnnotation(name) => format!("namespace's {name}"),
            Place::Annotations => "annotations".to_owned(),
            Place::NamespaceAnnotations => "namespace's annotations".to_owned(),
            Place::Namespace => "namespace".to_owned(),
            Place::Workload(kind) => (*kind).to_owned(),
            Place::Pod => "pod".to_owned(),
            Place::Configuration => "mesh".to_owned(),
        };
        match &self.value {
            None if self.unused => write!(f, "{place} {}", self.problem),
            None => write!(f, "{place}: {}", self.problem),
            Some(value) => {
                let rest = format!("{place}: \"\" is {}", self.problem).chars().count();
                write!(f, "{place}: {} is {}", quoted(value, MAX_CHARS.saturating_sub(rest).max(8)), self.problem)
            }
        }
    }
}

/// The value in quotes and escaped, of at most `room` characters between them.
pub(crate) fn quoted(value: &str, room: usize) -> String {
    let debug = format!("{value:?}");
    let escaped = debug.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&debug);
    format!("\"{}\"", shortened(escaped, room))
}

/// The text, or as much of it as fits with an ellipsis.
#[must_use]
pub fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(room.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The text in lines that clients show whole, parted between words; an ellipsis says where it goes on. What is beyond a few lines
/// is cut off.
#[must_use]
pub fn parted(text: &str) -> Vec<String> {
    const MOST: usize = 4;
    let mut lines = Vec::new();
    let mut rest = text.to_owned();
    while rest.chars().count() > MAX_CHARS && lines.len() < MOST.saturating_sub(1) {
        let room: String = rest.chars().take(MAX_CHARS.saturating_sub(2)).collect();
        // A word that fills a line is no place to go on from.
        let Some((line, _)) = room.rsplit_once(' ').filter(|(line, _)| line.chars().count() > MAX_CHARS / 2) else { break };
        let next = rest.strip_prefix(line).unwrap_or_default().trim_start();
        let next = format!("… {next}");
        lines.push(format!("{line} …"));
        rest = next;
    }
    lines.push(shortened(&rest, MAX_CHARS));
    lines
}

#[cfg(test)]
mod tests;
