//! The sequence: from a request to its outcome, looking up no more than the decision needs.
//!
//! A failure never touches an object that is known to stay out of the mesh, and never leaves one unmeshed in silence.

mod decision;
mod edit;
mod workload;

use crate::annotation as key;
use crate::cluster::{Cluster, Namespace};
use crate::decide::SkipReason;
use crate::merge::{self, Earlier};
use crate::opaque_ports;
use crate::owner::{self, Owner};
use crate::render;
use crate::request::Request;
use crate::response::{AskedBy, NotOurs, Outcome};
use crate::settings::{OnInvalidAnnotation, Reinvocation, Settings, Source};
use crate::template::TemplateKind;
use crate::values::Values;
use crate::warning::Warning;
use crate::workload::{Kind, Workload};
use decision::{Decision, Evaluation};
use edit::Edit;
use serde_json::Value;

/// What the object gets.
enum Change {
    Inject { patch: Box<render::PodPatch>, asked_by: AskedBy, proxy_version: String, source: Source, warnings: Vec<Warning> },
    Annotate { opaque_ports: String, reasons: Vec<SkipReason>, warnings: Vec<Warning> },
    Nothing { reasons: Vec<SkipReason>, warnings: Vec<Warning> },
    Refuse(Vec<Warning>),
}

/// A kind that is handled, and how.
enum Handled {
    /// It is injected, or annotated.
    Object(Kind),
    /// Its author is told of its pods.
    Workload(&'static TemplateKind),
}

/// Judges a request.
pub(crate) fn evaluate(request: Request, settings: &Settings, cluster: &Cluster<'_>) -> Outcome {
    let handled = match ours(&request, settings) {
        Err(why) => return Outcome::NotOurs(why),
        Ok(handled) => handled,
    };
    let namespace = request.namespace.filter(|n| !n.is_empty());
    match (handled, request.object) {
        (_, None | Some(Value::Null)) => Outcome::NotOurs(NotOurs::NoObject),
        (Handled::Object(kind), Some(object)) => admit(kind, object, namespace.as_deref(), settings, cluster),
        (Handled::Workload(kind), Some(object)) => workload::check(kind, object, namespace.as_deref(), settings, cluster),
    }
}

/// Whether the request is one that is handled.
fn ours(request: &Request, settings: &Settings) -> Result<Handled, NotOurs> {
    let group = request.kind.group.as_deref().unwrap_or_default();
    let object = Kind::of(group, &request.kind.kind).map(Handled::Object);
    let workload = || TemplateKind::of(group, &request.kind.kind).map(Handled::Workload);
    let handled = object.or_else(workload).ok_or(NotOurs::Kind)?;
    if request.sub_resource.as_deref().is_some_and(|s| !s.is_empty()) {
        return Err(NotOurs::SubResource);
    }
    match (handled, request.operation.as_deref()) {
        (Handled::Workload(_), _) if settings.workloads == crate::settings::Workloads::Ignore => Err(NotOurs::WorkloadsIgnored),
        (handled, None | Some("CREATE")) => Ok(handled),
        (handled @ Handled::Workload(_), Some("UPDATE")) => Ok(handled),
        _ => Err(NotOurs::Operation),
    }
}

/// Judges a pod or a service that is to be created.
fn admit(kind: Kind, object: Value, namespace: Option<&str>, settings: &Settings, cluster: &Cluster<'_>) -> Outcome {
    let failed = |error: String| {
        cluster.log("error", &error);
        Outcome::Failed { error, on_error: settings.on_error }
    };
    let remembers = kind == Kind::Pod && settings.reinvocation == Reinvocation::Merge;
    let mut earlier = if remembers { Earlier::of(&object, settings.foreign_injection) } else { None };
    let mut object = object;
    let hidden = merge::hide(&mut object, earlier.as_mut(), &settings.permitted);
    let without_ours = earlier.as_ref().map(|e| e.application_view(&object));
    let view = match Workload::read(kind, without_ours.as_ref().unwrap_or(&object)) {
        Ok(view) => view,
        Err(error) => return failed(error.to_string()),
    };
    let Some(namespace) = namespace.or_else(|| view.namespace()) else {
        return failed("the admission request names no namespace".to_owned());
    };
    let title = format!("{} {namespace}/{}", kind.as_str(), view.name());
    match (Evaluation { settings, cluster, namespace, object: view, template: None, hidden: &hidden }).change() {
        Err(error) => failed(error.to_string()),
        Ok((change, owner)) => {
            let outcome = Edit { object, earlier, without_ours, remembers, hidden: &hidden }.carry_out(change);
            cluster.log("info", &decided(&title, &outcome, owner.as_ref()));
            outcome
        }
    }
}

/// One line for the log.
fn decided(title: &str, outcome: &Outcome, owner: Option<&Owner>) -> String {
    let what = match outcome {
        Outcome::Injected { .. } => "injected",
        Outcome::Invalid(_) => "rejected",
        _ => "not injected",
    };
    let owner = owner.map(|owner| format!(", owner {}/{}", owner.kind, owner.name)).unwrap_or_default();
    format!("{title}: {what}, reason {}{owner}", outcome.reason())
}

impl Evaluation<'_> {
    /// What the object gets, and who owns it as far as that is known.
    fn change(&self) -> Result<(Change, Option<Owner>), crate::cluster::LookupError> {
        Ok(match self.decide()? {
            // What is rejected needs no opaque ports.
            Decision::Out { mut warnings, .. } | Decision::In { mut warnings, .. } if self.rejects(&warnings) => {
                warnings.retain(Warning::is_invalid_annotation);
                (Change::Refuse(warnings), owner::told(&self.object))
            }
            Decision::Out { reasons, warnings, namespace, values } => {
                let change = match &namespace {
                    Some(namespace) => self.stay_out(reasons, warnings, namespace, values.as_deref()),
                    None => self.stay_out_by_itself(reasons, warnings),
                };
                (change, owner::told(&self.object))
            }
            Decision::In { patch, proxy_version, owner, warnings } => {
                let asked_by = if self.asks_itself() { AskedBy::Pod } else { AskedBy::Namespace };
                (Change::Inject { patch, asked_by, proxy_version, source: self.settings.source, warnings }, owner)
            }
        })
    }

    /// An object that stays out whatever its namespace says: only for its opaque ports is the namespace asked.
    fn stay_out_by_itself(&self, reasons: Vec<SkipReason>, mut warnings: Vec<Warning>) -> Change {
        if self.object.annotation(key::OPAQUE_PORTS).is_some() {
            return self.unchanged(reasons, warnings);
        }
        match self.namespace() {
            Ok(namespace) => self.stay_out(reasons, warnings, &namespace, None),
            Err(error) => {
                self.cluster.log("warning", &format!("opaque ports not set: {error}"));
                warnings.extend(self.hidden.forbidden_ports(None));
                self.unchanged(reasons, warnings)
            }
        }
    }

    /// An object that is not injected still gets its opaque ports: those of its namespace, or those that it exposes of the
    /// default ones.
    fn stay_out(
        &self,
        reasons: Vec<SkipReason>,
        mut warnings: Vec<Warning>,
        namespace: &Namespace,
        values: Option<&Values>,
    ) -> Change {
        let inherited = namespace.annotations.get(key::OPAQUE_PORTS).cloned();
        let due = match (self.object.annotation(key::OPAQUE_PORTS), inherited, values) {
            (Some(_), _, _) => None,
            (None, Some(inherited), _) => Some(inherited),
            (None, None, Some(values)) => opaque_ports::exposed(&self.object, &values.proxy.opaque_ports),
            (None, None, None) if !opaque_ports::exposes_ports(&self.object) => None,
            (None, None, None) => match self.values() {
                Ok((values, _)) => opaque_ports::exposed(&self.object, &values.proxy.opaque_ports),
                Err(error) => {
                    self.cluster.log("warning", &format!("opaque ports not set: {error}"));
                    None
                }
            },
        };
        warnings.extend(self.hidden.forbidden_ports(due.as_deref()));
        match due {
            Some(opaque_ports) if !self.rejects(&warnings) => Change::Annotate { opaque_ports, reasons, warnings },
            _ => self.unchanged(reasons, warnings),
        }
    }

    fn unchanged(&self, reasons: Vec<SkipReason>, mut warnings: Vec<Warning>) -> Change {
        if self.rejects(&warnings) {
            warnings.retain(Warning::is_invalid_annotation);
            Change::Refuse(warnings)
        } else {
            Change::Nothing { reasons, warnings }
        }
    }

    /// Whether the settings reject an object with an annotation that cannot be used.
    fn rejects(&self, warnings: &[Warning]) -> bool {
        self.settings.on_invalid_annotation == OnInvalidAnnotation::Reject && warnings.iter().any(Warning::is_invalid_annotation)
    }
}

#[cfg(test)]
mod tests;
