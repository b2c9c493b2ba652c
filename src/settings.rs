//! The policy's settings: strict, and every fault named at once.
//!
//! In: the settings object of the policy. Out: [`Settings`], or all [`SettingsError`]s. What `values` holds is checked by
//! [`Settings::validate`] alone, when the policy is installed; a request reads it only when something is rendered.

use crate::pem;
use crate::permitted::Permitted;
use crate::values::{ValueFault, Values};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

mod table;

pub use table::{Reference, SETTINGS, Setting};

/// Where the mesh's configuration comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The ConfigMaps of the control-plane namespace, with `values` over them.
    #[default]
    Cluster,
    /// `values` alone, with no look-up at all.
    Settings,
}

impl Source {
    /// The source for machines, as the setting spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Cluster => "cluster",
            Source::Settings => "settings",
        }
    }
}

/// What becomes of an object with an annotation that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalidAnnotation {
    /// A warning, and the configured value.
    #[default]
    Warn,
    /// The object is rejected, with all such annotations named.
    Reject,
}

/// What becomes of an object that cannot be judged, for want of configuration or by an error of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// It is rejected with code 500.
    #[default]
    Reject,
    /// It is let through unchanged, with a warning.
    Skip,
}

/// What a second call does with a pod that an earlier call injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reinvocation {
    /// Merges.
    #[default]
    Merge,
    /// Leaves it alone.
    Skip,
}

/// What becomes of a pod that Linkerd's own injector or CLI injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForeignInjection {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is taken over.
    Adopt,
}

/// Whether workload objects are checked for their authors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Workloads {
    /// They are checked, and warnings returned.
    #[default]
    Warn,
    /// They are let through unread.
    Ignore,
}

/// Whether the namespace's LimitRanges shape the resources of the injected containers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitRange {
    /// It is not read.
    #[default]
    Ignore,
    /// Resources are filled and clamped as it demands.
    Apply,
}

/// Whether the namespace's range of user ids, as OpenShift gives one, gives the proxy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenshiftUid {
    /// It is not read.
    #[default]
    Ignore,
    /// Where nothing else sets the proxy's user, it is one of the range.
    Apply,
}

/// The settings of the policy; the defaults are those of an empty object.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Namespace of Linkerd's control plane.
    pub control_plane_namespace: String,
    /// Where configuration comes from.
    pub source: Source,
    /// Values in the shape of the control-plane chart's, over the source's.
    pub values: Value,
    /// With [`Source::Settings`], the annotations of every namespace.
    pub namespace_annotations: BTreeMap<String, String>,
    /// What an unusable annotation does.
    pub on_invalid_annotation: OnInvalidAnnotation,
    /// What an error does.
    pub on_error: OnError,
    /// What a second call does.
    pub reinvocation: Reinvocation,
    /// What becomes of pods that others injected.
    pub foreign_injection: ForeignInjection,
    /// Whether workload objects are checked.
    pub workloads: Workloads,
    /// Whether LimitRanges are followed.
    pub limit_range: LimitRange,
    /// Whether OpenShift's ranges of user ids are followed.
    pub openshift_uid: OpenshiftUid,
    /// Kinds whose pods are not injected, as `Job`.
    pub skip_owner_kinds: Vec<String>,
    /// Which annotations users may set on their own objects.
    pub permitted: Permitted,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            control_plane_namespace: "linkerd".to_owned(),
            source: Source::default(),
            values: Value::Null,
            namespace_annotations: BTreeMap::new(),
            on_invalid_annotation: OnInvalidAnnotation::default(),
            on_error: OnError::default(),
            reinvocation: Reinvocation::default(),
            foreign_injection: ForeignInjection::default(),
            workloads: Workloads::default(),
            limit_range: LimitRange::default(),
            openshift_uid: OpenshiftUid::default(),
            skip_owner_kinds: Vec::new(),
            permitted: Permitted::default(),
        }
    }
}

/// One fault of the settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The settings are not an object.
    #[error("the settings are not an object")]
    NotAnObject,
    /// A key that no setting has.
    #[error("{key:?} is not a setting; settings are {}", Names)]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A setting of the wrong shape or content.
    #[error("{setting} is {problem}")]
    Invalid {
        /// The setting, or a path in it.
        setting: String,
        /// What it is not.
        problem: String,
    },
    /// A leaf of `values`.
    #[error(transparent)]
    Values(#[from] ValueFault),
    /// Settings that do not go together.
    #[error("{0}")]
    Conflict(&'static str),
}

/// All faults of the settings, separated by semicolons when shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SettingsErrors(pub Vec<SettingsError>);

impl fmt::Display for SettingsErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

/// The names of all settings, for a person.
struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, setting) in SETTINGS.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(setting.name)?;
        }
        Ok(())
    }
}

impl Settings {
    /// Reads the settings of a request; what `values` holds is not looked at.
    ///
    /// # Errors
    /// Every fault there is.
    pub fn read(settings: Value) -> Result<Settings, SettingsErrors> {
        let mut map = match settings {
            Value::Null => Map::new(),
            Value::Object(map) => map,
            _ => return Err(SettingsErrors(vec![SettingsError::NotAnObject])),
        };
        let mut read = Settings::default();
        let mut errors = Vec::new();
        for (key, value) in &mut map {
            match SETTINGS.iter().find(|s| s.name == key) {
                None => errors.push(SettingsError::UnknownKey { key: key.clone() }),
                Some(setting) => {
                    if let Err(problem) = (setting.read)(&mut read, value) {
                        errors.push(SettingsError::Invalid { setting: setting.name.to_owned(), problem });
                    }
                }
            }
        }
        crate::leave(map);
        if errors.is_empty() { Ok(read) } else { Err(SettingsErrors(errors)) }
    }

    /// Checks settings in full, as when the policy is installed.
    ///
    /// # Errors
    /// Every fault there is, those in `values` included.
    pub fn validate(settings: &Value) -> Result<(), SettingsErrors> {
        let (read, mut errors) = match Settings::read(settings.clone()) {
            Ok(read) => (read, Vec::new()),
            Err(SettingsErrors(errors)) => {
                // What can be read is checked all the same, so that one look finds every fault.
                let mut rest = settings.clone();
                if let Value::Object(map) = &mut rest {
                    map.retain(|key, value| {
                        let mut scratch = Settings::default();
                        SETTINGS.iter().any(|s| s.name == key && (s.read)(&mut scratch, &mut value.clone()).is_ok())
                    });
                }
                (Settings::read(rest).unwrap_or_default(), errors)
            }
        };
        // A list that is not given says nothing that another could contradict.
        if settings.get("allowedOverrides").is_some() && read.permitted.contradicts_itself() {
            errors.push(SettingsError::Conflict("allowedOverrides and deniedOverrides have an entry in common"));
        }
        let mut values = Values::default();
        errors.extend(values.layer(&read.values).into_iter().map(SettingsError::Values));
        match read.source {
            Source::Cluster => {
                if !read.namespace_annotations.is_empty() {
                    errors.push(SettingsError::Conflict(
                        "namespaceAnnotations has no effect with source: cluster; annotate the namespaces",
                    ));
                }
                if !values.trust_anchors.is_empty() {
                    errors.push(SettingsError::Conflict(
                        "values.identityTrustAnchorsPEM has no effect with source: cluster; its trust roots are read",
                    ));
                }
            }
            Source::Settings => {
                if read.limit_range == LimitRange::Apply {
                    errors.push(SettingsError::Conflict("limitRange has no effect with source: settings; nothing is looked up"));
                }
                errors.extend(values.settle().into_iter().map(SettingsError::Values));
                if let Err(problem) = pem::bundle(&values.trust_anchors) {
                    errors.push(SettingsError::Invalid {
                        setting: "values.identityTrustAnchorsPEM".to_owned(),
                        problem: format!("{problem}; with source: settings it is required"),
                    });
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(SettingsErrors(errors)) }
    }
}

#[cfg(test)]
mod tests;
