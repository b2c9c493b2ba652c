//! The sequence: from a request to its outcome, looking up no more than the decision needs.
//!
//! A failure never touches an object that is known to stay out of the mesh, and never leaves one unmeshed in silence.

use crate::annotation as key;
use crate::cluster::{Cluster, LookupError, Namespace};
use crate::decide::{self, Inject, SkipReason};
use crate::merge::{self, Earlier};
use crate::opaque_ports;
use crate::overrides::{self, Annotations};
use crate::owner::{self, Owner};
use crate::render::{self, Mesh};
use crate::request::Request;
use crate::response::{NotOurs, Outcome};
use crate::settings::{OnInvalidAnnotation, Reinvocation, Settings, Source};
use crate::values::{ValueFault, Values};
use crate::warning::{Place, Warning};
use crate::workload::{Kind, Workload};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the object gets.
enum Change {
    Inject { patch: Box<render::PodPatch>, proxy_version: String, warnings: Vec<Warning> },
    Annotate { opaque_ports: String, reasons: Vec<SkipReason>, warnings: Vec<Warning> },
    Nothing { reasons: Vec<SkipReason>, warnings: Vec<Warning> },
    Refuse(Vec<Warning>),
}

/// Judges a request.
pub(crate) fn evaluate(request: Request, settings: &Settings, cluster: &Cluster<'_>) -> Outcome {
    let (kind, object) = match ours(request.kind.group.as_deref(), &request) {
        Err(why) => return Outcome::NotOurs(why),
        Ok(kind) => match request.object {
            None | Some(Value::Null) => return Outcome::NotOurs(NotOurs::NoObject),
            Some(object) => (kind, object),
        },
    };
    let failed = |error: String| {
        cluster.log("error", &error);
        Outcome::Failed { error, on_error: settings.on_error }
    };
    let remembers = kind == Kind::Pod && settings.reinvocation == Reinvocation::Merge;
    let earlier = if remembers { Earlier::of(&object, settings.foreign_injection) } else { None };
    let without_ours = earlier.as_ref().map(|e| e.application_view(&object));
    let view = match Workload::read(kind, without_ours.as_ref().unwrap_or(&object)) {
        Ok(view) => view,
        Err(error) => return failed(error.to_string()),
    };
    let Some(namespace) = request.namespace.as_deref().filter(|n| !n.is_empty()).or_else(|| view.namespace()) else {
        return failed("the admission request names no namespace".to_owned());
    };
    match (Evaluation { settings, cluster, namespace, object: view }).change() {
        Err(error) => failed(error.to_string()),
        Ok(Change::Refuse(warnings)) => Outcome::Invalid(warnings),
        Ok(change) => Edit { object, earlier, without_ours, remembers }.carry_out(change),
    }
}

/// An object with what an earlier call left in it.
struct Edit {
    object: Value,
    earlier: Option<Earlier>,
    /// The object without what we added earlier.
    without_ours: Option<Value>,
    /// Whether what is written is noted for a later call.
    remembers: bool,
}

impl Edit {
    fn carry_out(self, change: Change) -> Outcome {
        let Edit { object, earlier, without_ours, remembers } = self;
        let before = earlier.is_some().then(|| object.clone());
        // An object that comes out as it went in needs no patch.
        let changed = |object: Value| before.as_ref().is_none_or(|b| *b != object).then_some(object);
        let told = earlier.as_ref().and_then(Earlier::warning);
        match change {
            Change::Inject { mut patch, proxy_version, warnings } => {
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
                        merge::apply(&mut object, *patch);
                        object
                    }
                };
                Outcome::Injected { object: changed(object), proxy_version, warnings }
            }
            Change::Annotate { opaque_ports, reasons, mut warnings } => {
                warnings.extend(earlier.iter().flat_map(|e| merge::losses(&object, e)));
                let mut object = without_ours.unwrap_or(object);
                if remembers {
                    merge::remember_annotation(&mut object, key::OPAQUE_PORTS, &opaque_ports);
                }
                merge::annotate(&mut object, key::OPAQUE_PORTS, opaque_ports);
                Outcome::Annotated { object: changed(object), reasons, warnings }
            }
            Change::Nothing { reasons, mut warnings } => {
                warnings.extend(earlier.iter().flat_map(|e| merge::losses(&object, e)));
                Outcome::Skipped { object: without_ours.and_then(changed), reasons, warnings }
            }
            Change::Refuse(warnings) => Outcome::Invalid(warnings),
        }
    }
}

/// Whether the request is one that is handled.
fn ours(group: Option<&str>, request: &Request) -> Result<Kind, NotOurs> {
    let kind = Kind::of(group.unwrap_or_default(), &request.kind.kind).ok_or(NotOurs::Kind)?;
    if request.sub_resource.as_deref().is_some_and(|s| !s.is_empty()) {
        return Err(NotOurs::SubResource);
    }
    match request.operation.as_deref() {
        None | Some("CREATE") => Ok(kind),
        Some(_) => Err(NotOurs::Operation),
    }
}

/// One object of a namespace.
struct Evaluation<'a> {
    settings: &'a Settings,
    cluster: &'a Cluster<'a>,
    namespace: &'a str,
    object: Workload<'a>,
}

impl Evaluation<'_> {
    fn change(&self) -> Result<Change, LookupError> {
        let reasons = decide::by_object(&self.object, &self.settings.skip_owner_kinds);
        let mut warnings = Vec::new();
        if reasons.contains(&SkipReason::InvalidAtWorkload) {
            warnings.extend(self.unknown_inject(Place::Annotation(key::INJECT), self.object.annotation(key::INJECT)));
        }
        if !reasons.is_empty() {
            return Ok(self.stay_out_by_itself(reasons, warnings));
        }
        let namespace = self.namespace()?;
        let inject = Inject::read(namespace.annotations.get(key::INJECT).map(String::as_str));
        if inject == Inject::Invalid {
            let text = namespace.annotations.get(key::INJECT).map(String::as_str);
            warnings.extend(self.unknown_inject(Place::NamespaceAnnotation(key::INJECT), text));
        }
        match decide::by_namespace(&self.object, inject) {
            Some(reason) => Ok(self.stay_out(vec![reason], warnings, &namespace, None)),
            None => self.inject(&namespace, warnings),
        }
    }

    fn unknown_inject(&self, place: Place, text: Option<&str>) -> Option<Warning> {
        Some(Warning::unused(place, text?, "none of enabled, disabled, ingress"))
    }

    /// An object that stays out whatever its namespace says: only for its opaque ports is the namespace asked.
    fn stay_out_by_itself(&self, reasons: Vec<SkipReason>, warnings: Vec<Warning>) -> Change {
        if self.object.annotation(key::OPAQUE_PORTS).is_some() {
            return self.unchanged(reasons, warnings);
        }
        match self.namespace() {
            Ok(namespace) => self.stay_out(reasons, warnings, &namespace, None),
            Err(error) => {
                self.cluster.log("warning", &format!("opaque ports not set: {error}"));
                self.unchanged(reasons, warnings)
            }
        }
    }

    /// An object that is not injected still gets its opaque ports: those of its namespace, or those that it exposes of the
    /// default ones.
    fn stay_out(&self, reasons: Vec<SkipReason>, warnings: Vec<Warning>, namespace: &Namespace, values: Option<&Values>) -> Change {
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
        match due {
            Some(opaque_ports) if !self.rejects(&warnings) => Change::Annotate { opaque_ports, reasons, warnings },
            _ => self.unchanged(reasons, warnings),
        }
    }

    fn unchanged(&self, reasons: Vec<SkipReason>, warnings: Vec<Warning>) -> Change {
        if self.rejects(&warnings) { Change::Refuse(warnings) } else { Change::Nothing { reasons, warnings } }
    }

    /// Whether the settings reject an object with an annotation that cannot be used.
    fn rejects(&self, warnings: &[Warning]) -> bool {
        self.settings.on_invalid_annotation == OnInvalidAnnotation::Reject && warnings.iter().any(Warning::is_invalid_annotation)
    }

    fn inject(&self, namespace: &Namespace, mut warnings: Vec<Warning>) -> Result<Change, LookupError> {
        let (mut values, faults) = self.values()?;
        let reasons = decide::by_values(&self.object, &values);
        if !reasons.is_empty() {
            return Ok(self.stay_out(reasons, warnings, namespace, Some(&values)));
        }
        if self.settings.source == Source::Cluster {
            values.trust_anchors = self.cluster.trust_anchors(&self.settings.control_plane_namespace)?;
        }
        let owner = owner::root(&self.object, &mut |owner| self.owner_references(owner));
        if owner.as_ref().is_some_and(|o| self.settings.skip_owner_kinds.contains(&o.kind)) {
            return Ok(self.stay_out(vec![SkipReason::OwnerKind], warnings, namespace, Some(&values)));
        }
        warnings.extend(faults.iter().map(|fault| Warning::plain(Place::Configuration, fault)));
        warnings.extend(owner.as_ref().and_then(render::owner_label_warning));

        let default_opaque_ports = values.proxy.opaque_ports.clone();
        let annotations = Annotations::new(self.object, &namespace.annotations);
        let scope = overrides::apply(values, &annotations);
        let mesh = Mesh {
            control_plane: &self.settings.control_plane_namespace,
            namespace: self.namespace,
            owner,
            annotations,
            added_by: &scope.added_by,
            default_opaque_ports: &default_opaque_ports,
        };
        let mut patch = render::pod_patch(&scope.values, &self.object, &mesh);
        warnings.extend(scope.warnings);
        warnings.append(&mut patch.warnings);
        if self.rejects(&warnings) {
            warnings.retain(Warning::is_invalid_annotation);
            return Ok(Change::Refuse(warnings));
        }
        Ok(Change::Inject { proxy_version: scope.values.proxy_version().to_owned(), patch: Box::new(patch), warnings })
    }

    fn namespace(&self) -> Result<Namespace, LookupError> {
        match self.settings.source {
            Source::Cluster => self.cluster.namespace(self.namespace),
            Source::Settings => Ok(Namespace { annotations: self.settings.namespace_annotations.clone(), labels: BTreeMap::new() }),
        }
    }

    /// The values of the source with those of the settings over them, and what of them cannot be used.
    fn values(&self) -> Result<(Values, Vec<ValueFault>), LookupError> {
        let (mut values, mut faults) = match self.settings.source {
            Source::Cluster => self.cluster.values(&self.settings.control_plane_namespace)?,
            Source::Settings => (Values::default(), Vec::new()),
        };
        faults.extend(values.layer(&self.settings.values));
        faults.extend(values.settle());
        Ok((values, faults))
    }

    /// An owner that cannot be read stands for itself, as in Linkerd; what to grant is logged.
    fn owner_references(&self, owner: &Owner) -> Option<Vec<Value>> {
        if self.settings.source == Source::Settings {
            return None;
        }
        match self.cluster.owner_references(self.namespace, owner) {
            Ok(references) => Some(references),
            Err(LookupError::NotFound(_)) => None,
            Err(error) => {
                self.cluster.log("warning", &format!("owner taken as the root: {error}"));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
