//! Pods that Linkerd's own injector injected.

use super::leaves::Leaves;
use super::rules::{differences, is_asserted};
use super::{Law, Mesh, Report, Violation, says_native_twice, unsound};
use crate::case::Case;
use crate::policy::{Policy, PolicyError};
use serde_json::{Value, json};

/// Tries the pod of a case as Linkerd's injector left it: where the settings say to keep it, nothing in it changes but its opaque
/// ports and the record of them; where they say to adopt it, it comes to have what a first call asserts, and a second call changes
/// nothing.
///
/// # Errors
/// The policy gives no answer that can be read.
pub fn try_adoption(policy: &dyn Policy, case: &Case, injected: &Value) -> Result<Report, PolicyError> {
    let with = |word: &str| Mesh::new(policy, &json!({"foreignInjection": word}), case, None);
    let mut report = Report::default();
    let mut note = |between: &str, wrong: Vec<String>| {
        if wrong.is_empty() {
            report.held = report.held.saturating_add(1);
        }
        let violation = |reason| Violation { case: case.name.clone(), law: Law::Commutation, between: between.to_owned(), reason };
        report.violations.extend(wrong.into_iter().take(3).map(violation));
    };
    let (keep, adopt) = (with("keep"), with("adopt"));

    let kept = keep.call(injected)?;
    let counts = |path: &str| !path.ends_with("/config.linkerd.io/opaque-ports") && path != super::leaves::RECORD;
    let changed = Leaves::of(injected).only(counts).differences(&Leaves::of(&kept.pod).only(counts));
    note("injected by Linkerd, kept", changed.iter().map(ToString::to_string).collect());

    let fresh = adopt.call(&adopt.pod())?;
    let adopted = adopt.call(injected)?;
    if fresh.injected && adopted.injected && !says_native_twice(case) {
        let wrong = unsound(injected, &adopted).into_iter().map(|(law, reason)| format!("{}: {reason}", law.as_str()));
        note("injected by Linkerd, adopted", wrong.collect());
        let asserted = |pod: &Value| Leaves::of(pod).only(is_asserted);
        let wrong = differences(&asserted(&adopted.pod), &asserted(&fresh.pod));
        note("injected by Linkerd, adopted", wrong.iter().map(ToString::to_string).collect());
        let again = adopt.call(&adopted.pod)?;
        let wrong = Leaves::of(&adopted.pod).differences(&Leaves::of(&again.pod));
        note("injected by Linkerd, adopted, called again", wrong.iter().map(ToString::to_string).collect());
    }
    Ok(report)
}
