//! Carries a decision out on the object, with what an earlier call left in it.

use super::Change;
use crate::annotation as key;
use crate::merge::{self, Earlier, Hidden, Injected};
use crate::response::Outcome;
use crate::warning::{self, Warning};
use serde_json::Value;

/// An object with what an earlier call left in it.
pub(super) struct Edit<'a> {
    pub(super) object: Value,
    pub(super) earlier: Option<Earlier>,
    /// The object without what we added earlier.
    pub(super) without_ours: Option<Value>,
    /// Whether what is written is noted for a later call.
    pub(super) remembers: bool,
    /// What was taken out of the object because it is forbidden.
    pub(super) hidden: &'a Hidden,
}

impl Edit<'_> {
    pub(super) fn carry_out(self, change: Change) -> Outcome {
        let Edit { mut object, earlier, mut without_ours, remembers, hidden } = self;
        let before = (earlier.is_some() || !hidden.is_empty()).then(|| {
            let mut before = object.clone();
            hidden.put_back(&mut before, true);
            before
        });
        if !matches!(change, Change::Inject { .. }) {
            hidden.put_back(&mut object, false);
            without_ours.iter_mut().for_each(|view| hidden.put_back(view, false));
        }
        // An object that comes out as it went in needs no patch.
        let changed = |object: Value| before.as_ref().is_none_or(|b| *b != object).then_some(object);
        let told = earlier.as_ref().and_then(Earlier::warning);
        match change {
            Change::Inject { mut patch, asked_by, proxy_version, source, warnings } => {
                // What merging has to say is said once; what the pod itself has to say is said each time, and stays on it.
                let lasting: Vec<Warning> = warnings.iter().filter(|w| !w.is_passing()).cloned().collect();
                let lines = warning::lines(&lasting);
                if !lines.is_empty() {
                    patch.annotations.insert(key::WARNINGS, lines.join("\n"));
                }
                let mut warnings: Vec<Warning> = warnings.into_iter().chain(told).collect();
                if remembers {
                    merge::remember(&mut patch);
                }
                let object = match earlier.filter(Earlier::injected) {
                    Some(earlier) => {
                        warnings.extend(merge::reapply(&mut object, *patch, &earlier));
                        changed(object).map(Injected::from)
                    }
                    None => {
                        let (injected, gave_way) = merge::apply(without_ours.unwrap_or(object), *patch);
                        warnings.extend(gave_way);
                        Some(injected)
                    }
                };
                Outcome::Injected { object, asked_by, proxy_version, source, warnings }
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
                let (rest, out) =
                    if hidden.is_empty() { (object, without_ours) } else { (Value::Null, without_ours.or(Some(object))) };
                crate::leave(rest);
                Outcome::Skipped { object: out.and_then(changed), reasons, warnings }
            }
            Change::Refuse(warnings) => Outcome::Invalid(warnings),
        }
    }
}
