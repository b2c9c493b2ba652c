//! Carries a decision out on the object, with what an earlier call left in it.

use super::Change;
use crate::annotation as key;
use crate::merge::{self, Earlier};
use crate::response::Outcome;
use crate::warning::{self, Warning};
use serde_json::Value;

/// An object with what an earlier call left in it.
pub(super) struct Edit {
    pub(super) object: Value,
    pub(super) earlier: Option<Earlier>,
    /// The object without what we added earlier.
    pub(super) without_ours: Option<Value>,
    /// Whether what is written is noted for a later call.
    pub(super) remembers: bool,
}

impl Edit {
    pub(super) fn carry_out(self, change: Change) -> Outcome {
        let Edit { object, earlier, without_ours, remembers } = self;
        let before = earlier.is_some().then(|| object.clone());
        // An object that comes out as it went in needs no patch.
        let changed = |object: Value| before.as_ref().is_none_or(|b| *b != object).then_some(object);
        let told = earlier.as_ref().and_then(Earlier::warning);
        match change {
            Change::Inject { mut patch, asked_by, proxy_version, source, warnings } => {
                // What merging has to say is said once; what the pod itself has to say is said each time, and stays on it.
                let lines = warning::lines(&warnings);
                if !lines.is_empty() {
                    patch.annotations.insert(key::WARNINGS, lines.join("\n"));
                }
                let mut warnings: Vec<Warning> = warnings.into_iter().chain(told).collect();
                if remembers {
                    merge::remember(&mut patch);
                }
                let object = match earlier.filter(Earlier::injected) {
                    Some(earlier) => {
                        let mut object = object;
                        warnings.extend(merge::reapply(&mut object, *patch, &earlier));
                        object
                    }
                    None => {
                        let mut object = without_ours.unwrap_or(object);
                        warnings.extend(merge::apply(&mut object, *patch));
                        object
                    }
                };
                Outcome::Injected { object: changed(object), asked_by, proxy_version, source, warnings }
            }
            Change::Annotate { opaque_ports, reasons, mut warnings } => {
                warnings.extend(told);
                warnings.extend(earlier.iter().flat_map(|e| merge::losses(&object, e)));
                let mut object = without_ours.unwrap_or(object);
                if remembers {
                    merge::remember_annotation(&mut object, key::OPAQUE_PORTS, &opaque_ports);
                }
                merge::annotate(&mut object, key::OPAQUE_PORTS, opaque_ports);
                Outcome::Annotated { object: changed(object), reasons, warnings }
            }
            Change::Nothing { reasons, mut warnings } => {
                warnings.extend(told);
                warnings.extend(earlier.iter().flat_map(|e| merge::losses(&object, e)));
                Outcome::Skipped { object: without_ours.and_then(changed), reasons, warnings }
            }
            Change::Refuse(warnings) => Outcome::Invalid(warnings),
        }
    }
}
