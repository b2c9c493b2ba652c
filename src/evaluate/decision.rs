//! Whether an object is meshed, and with what.

use crate::annotation as key;
use crate::checks::{self, Injection, Scene};
use crate::cluster::{Cluster, LookupError, Namespace};
use crate::decide::{self, Inject, SkipReason};
use crate::limit_range;
use crate::merge::Hidden;
use crate::openshift::{self, UidRange};
use crate::overrides::{self, Annotations};
use crate::owner::{self, Owner};
use crate::pod_resources;
use crate::render::{self, Mesh};
use crate::settings::{LimitRange, OnInvalidAnnotation, OpenshiftUid, Settings, Source};
use crate::template::Template;
use crate::values::{ValueFault, Values};
use crate::warning::{Place, Warning};
use crate::workload::Workload;
use serde_json::Value;
use std::collections::BTreeMap;

/// One object of a namespace.
pub(super) struct Evaluation<'a> {
    pub(super) settings: &'a Settings,
    pub(super) cluster: &'a Cluster<'a>,
    pub(super) namespace: &'a str,
    /// The object, or the pods that a template stands for.
    pub(super) object: Workload<'a>,
    /// The workload that the template is in.
    pub(super) template: Option<&'a Template<'a>>,
    /// What of its annotations is forbidden, and as good as absent.
    pub(super) hidden: &'a Hidden,
}

/// What becomes of it.
pub(super) enum Decision {
    /// It stays out of the mesh.
    Out {
        reasons: Vec<SkipReason>,
        warnings: Vec<Warning>,
        /// Its namespace, where that had to be asked.
        namespace: Option<Namespace>,
        /// The mesh's values, where they had to be asked.
        values: Option<Box<Values>>,
    },
    /// It is injected.
    In { patch: Box<render::PodPatch>, proxy_version: String, owner: Option<Owner>, warnings: Vec<Warning> },
}

impl Evaluation<'_> {
    pub(super) fn decide(&self) -> Result<Decision, LookupError> {
        let mut reasons = decide::by_object(&self.object, &self.settings.skip_owner_kinds);
        let mut warnings = Vec::new();
        if reasons.contains(&SkipReason::InvalidAtWorkload) {
            warnings.extend(unknown_inject(Place::Annotation(key::INJECT), self.object.annotation(key::INJECT)));
            if self.settings.on_invalid_annotation == OnInvalidAnnotation::Reject {
                warnings.extend(self.other_invalid_annotations());
            }
        }
        let left_out = |kind: &&str| self.settings.skip_owner_kinds.iter().any(|skipped| skipped == *kind);
        if self.template.is_some_and(|template| template.kind.owners.iter().any(left_out)) {
            reasons.push(SkipReason::OwnerKind);
        }
        if !reasons.is_empty() {
            return Ok(self.out(reasons, warnings, None, None));
        }
        let namespace = self.namespace()?;
        let inject = Inject::read(namespace.annotations.get(key::INJECT).map(String::as_str));
        if inject == Inject::Invalid {
            let text = namespace.annotations.get(key::INJECT).map(String::as_str);
            warnings.extend(unknown_inject(Place::NamespaceAnnotation(key::INJECT), text));
        }
        match decide::by_namespace(&self.object, inject) {
            Some(reason) => Ok(self.out(vec![reason], warnings, Some(namespace), None)),
            None => self.inject(namespace, warnings),
        }
    }

    /// Whether the object asks for the mesh itself, rather than its namespace for it.
    pub(super) fn asks_itself(&self) -> bool {
        Inject::read(self.object.annotation(key::INJECT)) == Inject::Enabled
    }

    fn out(
        &self,
        reasons: Vec<SkipReason>,
        mut warnings: Vec<Warning>,
        namespace: Option<Namespace>,
        values: Option<Values>,
    ) -> Decision {
        warnings.extend(checks::of_skipped(&self.scene(namespace.as_ref(), &reasons)));
        Decision::Out { reasons, warnings, namespace, values: values.map(Box::new) }
    }

    fn scene<'s>(&'s self, namespace: Option<&'s Namespace>, reasons: &'s [SkipReason]) -> Scene<'s> {
        Scene { pod: self.object, template: self.template, namespace, reasons }
    }

    fn inject(&self, namespace: Namespace, mut warnings: Vec<Warning>) -> Result<Decision, LookupError> {
        let (mut values, faults) = self.values()?;
        let reasons = decide::by_values(&self.object, &values, self.template.is_some());
        if !reasons.is_empty() {
            return Ok(self.out(reasons, warnings, Some(namespace), Some(values)));
        }
        // No word to the author of a workload depends on the trust anchors.
        if self.settings.source == Source::Cluster && self.template.is_none() {
            values.trust_anchors = self.cluster.trust_anchors(&self.settings.control_plane_namespace)?;
        }
        let owner = match self.template {
            Some(template) => template.name().map(|name| Owner { kind: template.kind.kind.to_owned(), name: name.to_owned() }),
            None => owner::root(&self.object, &mut |owner| self.owner_references(owner)),
        };
        if owner.as_ref().is_some_and(|o| self.settings.skip_owner_kinds.contains(&o.kind)) {
            return Ok(self.out(vec![SkipReason::OwnerKind], warnings, Some(namespace), Some(values)));
        }
        warnings.extend(faults.iter().map(|fault| Warning::plain(Place::Configuration, fault)));
        warnings.extend(owner.as_ref().and_then(render::owner_label_warning));
        let (patch, proxy_version, more) = self.render(&namespace, values, owner.clone(), &|values| self.limits(values));
        warnings.extend(more);
        Ok(Decision::In { patch: Box::new(patch), proxy_version, owner, warnings })
    }

    /// What an object that is rejected for one annotation would be rejected for next; nothing where that cannot be known.
    fn other_invalid_annotations(&self) -> Vec<Warning> {
        let (Ok(namespace), Ok((values, _))) = (self.namespace(), self.values()) else { return Vec::new() };
        let (_, _, mut warnings) = self.render(&namespace, values, None, &|_| limit_range::Report::default());
        warnings.retain(Warning::is_invalid_annotation);
        warnings
    }

    /// What is added to the pod, the version of its proxy, and what there is to say of it.
    fn render(
        &self,
        namespace: &Namespace,
        mut values: Values,
        owner: Option<Owner>,
        limits: &dyn Fn(&mut Values) -> limit_range::Report,
    ) -> (render::PodPatch, String, Vec<Warning>) {
        let (default_opaque_ports, configured_ports) = (values.proxy.opaque_ports.clone(), values.proxy.ports);
        let annotations = Annotations::new(self.object, &namespace.annotations);
        let uid_range = self.uid_range(namespace);
        let of_range =
            uid_range.and_then(|(range, _)| range?.of_proxy()).filter(|_| values.proxy.uid == Values::default().proxy.uid);
        if let Some(uid) = of_range {
            openshift::run_as(&mut values, uid);
        }
        let mut scope = overrides::apply(values, &annotations);
        scope.warnings.extend(pod_resources::fit(&mut scope.values, &self.object));
        let limits = limits(&mut scope.values);
        let mesh = Mesh {
            control_plane: &self.settings.control_plane_namespace,
            namespace: self.namespace,
            owner,
            annotations: annotations.clone(),
            added_by: &scope.added_by,
            uid_of_range: of_range.is_some(),
            default_opaque_ports: &default_opaque_ports,
        };
        let mut patch = render::pod_patch(&scope.values, &self.object, &mesh);
        let mut warnings = std::mem::take(&mut scope.warnings);
        warnings.append(&mut patch.warnings);
        warnings.extend(self.hidden.forbidden(&patch.annotations, &namespace.annotations));
        let injection = Injection {
            annotations: &annotations,
            values: &scope.values,
            configured_ports,
            patch: &patch,
            limits: &limits,
            uid_range,
        };
        warnings.extend(checks::of_injected(&self.scene(Some(namespace), &[]), &injection));
        let proxy_version = scope.values.proxy_version().to_owned();
        crate::leave(scope.values);
        (patch, proxy_version, warnings)
    }

    /// The range of user ids of an OpenShift namespace, where the settings say to follow it: as it is read, and its text.
    fn uid_range<'n>(&self, namespace: &'n Namespace) -> Option<(Option<UidRange>, &'n str)> {
        let text = namespace.annotations.get(key::OPENSHIFT_UID_RANGE)?;
        (self.settings.openshift_uid == OpenshiftUid::Apply).then(|| (UidRange::read(text), text.as_str()))
    }

    /// Fits the resources into the namespace's limit ranges, where the settings say so.
    fn limits(&self, values: &mut Values) -> limit_range::Report {
        if self.settings.limit_range != LimitRange::Apply || self.settings.source == Source::Settings {
            return limit_range::Report::default();
        }
        match self.cluster.limit_ranges(self.namespace) {
            Ok(items) => limit_range::fit(values, &items, &self.object),
            Err(error) => {
                self.cluster.log("warning", &format!("resources as configured: {error}"));
                limit_range::Report { unreadable: Some(error.to_string()), ..limit_range::Report::default() }
            }
        }
    }

    pub(super) fn namespace(&self) -> Result<Namespace, LookupError> {
        match self.settings.source {
            Source::Cluster => self.cluster.namespace(self.namespace),
            Source::Settings => Ok(Namespace { annotations: self.settings.namespace_annotations.clone(), labels: BTreeMap::new() }),
        }
    }

    /// The values of the source with those of the settings over them, and what of them cannot be used.
    pub(super) fn values(&self) -> Result<(Values, Vec<ValueFault>), LookupError> {
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

fn unknown_inject(place: Place, text: Option<&str>) -> Option<Warning> {
    Some(Warning::unused(place, text?, "none of enabled, disabled, ingress"))
}
