//! The deliberate differences from Linkerd's injector: one named entry each, which turns Linkerd's answer into ours.
//!
//! In: a case and what Linkerd's injector did with it. Out: what we must do with it, and which entries say so. An entry
//! decides from the case alone whether it applies, may touch its own paths only, and finds the right value in a few
//! lines that share nothing with the policy. Entries are applied in the order of [`DEVIATIONS`], each to what the ones
//! before it left: first whether there is a proxy at all, then what Linkerd meant, then single values.
//!
//! Where Linkerd's answer has no object to start from, because it denied the pod or skipped it, an entry names a
//! *twin*: the same case without what Linkerd stumbles over. Linkerd's answer to the twin is where the entry starts.

mod cni;
mod decide;
mod env;
mod faults;
mod images;
mod inherit;
mod metadata;
mod numbers;
mod object;
mod opaque;
mod pod_resources;
mod ports;
mod read;
mod readable;
pub mod reading;
mod resources;
mod security;
mod table;
mod text;
mod times;
mod variable;

use crate::case::CaseResult;
use crate::compare::{changed_paths, lies_under};
use reading::{LinkerdResult, Outcome, Reading};

use serde_json::Value;
pub use table::DEVIATIONS;

/// One deliberate difference.
pub struct Deviation {
    /// `D01` and so on.
    pub id: &'static str,
    /// Why, in one line.
    pub title: &'static str,
    /// The only paths that the entry may touch, with `*` for any text.
    pub paths: &'static [&'static str],
    applies: fn(&Reading, &LinkerdResult) -> bool,
    twin: fn(&Reading, &LinkerdResult) -> Option<Reading>,
    apply: fn(&Reading, &mut Expected),
}

/// What must come out.
#[derive(Clone, Debug)]
pub struct Expected {
    /// How the request ends.
    pub outcome: Outcome,
    /// The object afterwards, the request's where nothing changes.
    pub object: Value,
    raw_patch: Option<RawPatch>,
}

/// A patch that cannot be read, and the texts that were pasted into it, by annotation.
#[derive(Clone, Debug)]
struct RawPatch {
    patch: String,
    pasted: Vec<(&'static str, String)>,
}

/// What must come out, and why.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What must come out.
    pub expected: Expected,
    /// The entries that were applied.
    pub by: Vec<&'static str>,
    /// What an entry did wrong.
    pub faults: Vec<String>,
}

/// A twin that Linkerd's answer is needed to.
#[derive(Clone, Debug, thiserror::Error)]
#[error("no answer of Linkerd's injector to {}", .twin.name)]
pub struct NoAnswer {
    /// The entry that asks.
    pub id: &'static str,
    /// The entries that were applied before.
    pub by: Vec<&'static str>,
    /// The twin.
    pub twin: Box<Reading>,
}

impl Expected {
    /// What Linkerd's answer says as it stands.
    #[must_use]
    pub fn of(case: &Reading, linkerd: &LinkerdResult) -> Self {
        let object = linkerd.object.clone().unwrap_or_else(|| case.request.object.clone());
        let pasted = || text::pasted(case).into_iter().map(|(key, text)| (key, text.to_owned())).collect();
        let raw_patch = linkerd.raw_patch.clone().map(|patch| RawPatch { patch, pasted: pasted() });
        Self { outcome: linkerd.outcome, object, raw_patch }
    }

    /// Sets or takes away the annotation of opaque ports; where that is all that changes, it decides the outcome.
    fn annotate_opaque_ports(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            object::set_metadata(&mut self.object, "annotations", opaque::KEY, text);
        } else if let Some(annotations) = self.object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
            annotations.remove(opaque::KEY);
        }
        if self.outcome != Outcome::Injected {
            self.outcome = if text.is_some() { Outcome::Annotated } else { Outcome::Skipped };
        }
    }
}

impl Deviation {
    /// Whether the entry has something to say about the case.
    #[must_use]
    pub fn applies(&self, case: &Reading, linkerd: &LinkerdResult) -> bool {
        (self.applies)(case, linkerd)
    }

    /// The case to ask Linkerd's injector about instead, where its answer to this one is no start.
    #[must_use]
    pub fn twin(&self, case: &Reading, linkerd: &LinkerdResult) -> Option<Reading> {
        (self.twin)(case, linkerd).map(|twin| twin.renamed(format!("{}#{}", case.name, self.id)))
    }

    /// Turns Linkerd's answer, or what the entries before made of it, into ours.
    pub fn apply(&self, case: &Reading, expected: &mut Expected) {
        (self.apply)(case, expected);
    }

    /// Applies the entry and says what it did that it should not: nothing at all, or something elsewhere.
    fn checked_apply(&self, case: &Reading, expected: &mut Expected) -> Vec<String> {
        let from = expected.clone();
        self.apply(case, expected);
        let mut paths = changed_paths(&from.object, &expected.object);
        if from.outcome != expected.outcome {
            paths.push("outcome".to_owned());
        }
        if paths.is_empty() {
            return vec![format!("{} applies and changes nothing", self.id)];
        }
        let strays = paths.into_iter().filter(|path| !self.paths.iter().any(|pattern| lies_under(path, pattern)));
        strays.map(|path| format!("{} may not touch {path}", self.id)).collect()
    }
}

/// Finds out what must come out; `answer` gives Linkerd's answer to a twin.
///
/// # Errors
///
/// A twin without an answer.
pub fn explain(
    case: &Reading,
    linkerd: &LinkerdResult,
    answer: &mut dyn FnMut(&Reading) -> Option<LinkerdResult>,
) -> Result<Explanation, NoAnswer> {
    let mut explanation = Explanation { expected: Expected::of(case, linkerd), by: Vec::new(), faults: Vec::new() };
    let (mut asked, mut answered) = (case.clone(), linkerd.clone());
    let mut with_twin: Vec<&Deviation> = Vec::new();
    for entry in DEVIATIONS {
        if !entry.applies(case, &answered) {
            continue;
        }
        if let Some(twin) = entry.twin(&asked, &answered) {
            answered =
                answer(&twin).ok_or_else(|| NoAnswer { id: entry.id, by: explanation.by.clone(), twin: Box::new(twin.clone()) })?;
            explanation.expected = Expected::of(&twin, &answered);
            asked = twin;
            // What the entries before gave back is not in the answer to a twin of their twins.
            with_twin.push(entry);
            with_twin.iter().for_each(|entry| entry.apply(case, &mut explanation.expected));
        } else {
            explanation.faults.extend(entry.checked_apply(case, &mut explanation.expected));
        }
        explanation.by.push(entry.id);
    }
    Ok(explanation)
}

/// What must come out where nobody could be asked about the twin but the policy itself: `ours` on the twin, with the
/// case's own texts.
///
/// An answer to the twin from the policy needs no other entry, for it is no longer Linkerd's.
#[must_use]
pub fn relate(case: &Reading, asked: &NoAnswer, ours: &LinkerdResult) -> Explanation {
    let mut expected = Expected::of(&asked.twin, ours);
    match asked.id {
        "D01" => text::undisguise(case, &mut expected.object),
        id => DEVIATIONS.iter().filter(|entry| entry.id == id).for_each(|entry| entry.apply(case, &mut expected)),
    }
    metadata::forget_record(&mut expected.object);
    if expected.outcome == Outcome::Injected {
        metadata::expect_warnings(&mut expected.object);
    }
    let by = asked.by.iter().copied().chain([asked.id]).collect();
    Explanation { expected, by, faults: Vec::new() }
}

impl Explanation {
    /// Takes from an answer what only its form can be told of: the record of a later call's needs (D36), and from the answer's own
    /// warnings what stands of them on the object (D37). An entry that changes nothing then explains nothing.
    pub fn accept(&mut self, input: &Value, ours: &CaseResult) {
        metadata::accept_record(&mut self.expected.object, ours.object.as_ref().unwrap_or(input));
        if !metadata::accept_warnings(&mut self.expected.object, &ours.warnings) {
            self.by.retain(|id| *id != "D37");
        }
    }
}

#[cfg(test)]
mod tests;
