//! Every setting, one row each: its key, its reference, and how its value is read.

use super::{ForeignInjection, LimitRange, OnError, OnInvalidAnnotation, OpenshiftUid, Reinvocation, Settings, Source, Workloads};
use crate::permitted;
use serde_json::Value;
use std::collections::BTreeMap;

/// One row a setting.
pub struct Setting {
    /// Its key.
    pub name: &'static str,
    /// Its default and its meaning, for the reference; the module has no use for them.
    pub reference: Reference,
    /// Reads a value, which may be taken.
    pub(super) read: fn(&mut Settings, &mut Value) -> Result<(), String>,
}

/// The default and the meaning of a setting.
#[cfg(not(target_arch = "wasm32"))]
pub type Reference = (&'static str, &'static str);
/// Nothing, in the module.
#[cfg(target_arch = "wasm32")]
pub type Reference = ();

#[cfg(not(target_arch = "wasm32"))]
macro_rules! reference {
    ($default:literal, $meaning:literal) => {
        ($default, $meaning)
    };
}
#[cfg(target_arch = "wasm32")]
macro_rules! reference {
    ($default:literal, $meaning:literal) => {
        ()
    };
}

/// Every setting.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "controlPlaneNamespace",
        reference: reference!("linkerd", "namespace of Linkerd's control plane"),
        read: |s, v| namespace(&mut s.control_plane_namespace, v),
    },
    Setting {
        name: "source",
        reference: reference!(
            "cluster",
            "`cluster`: the ConfigMaps `linkerd-config` and `linkerd-identity-trust-roots` of the control-plane namespace; `settings`: `values` alone, with no look-up at all"
        ),
        read: |s, v| choice(&mut s.source, v, &[("cluster", Source::Cluster), ("settings", Source::Settings)]),
    },
    Setting {
        name: "values",
        reference: reference!(
            "{}",
            "values in the shape of the linkerd-control-plane chart's, merged over those of the source; with `source: settings` the trust anchors are `values.identityTrustAnchorsPEM`, and required"
        ),
        read: |s, v| object(v).map(|()| s.values = v.take()),
    },
    Setting {
        name: "namespaceAnnotations",
        reference: reference!("{}", "with `source: settings`, stands for the annotations of every namespace"),
        read: |s, v| texts(&mut s.namespace_annotations, v),
    },
    Setting {
        name: "onInvalidAnnotation",
        reference: reference!(
            "warn",
            "an annotation that cannot be used: `warn`: the configured value holds, with a warning; `reject`: the object is rejected with code 422, all such annotations named"
        ),
        read: |s, v| {
            let options = [("warn", OnInvalidAnnotation::Warn), ("reject", OnInvalidAnnotation::Reject)];
            choice(&mut s.on_invalid_annotation, v, &options)
        },
    },
    Setting {
        name: "onError",
        reference: reference!(
            "reject",
            "an object that cannot be judged, for want of configuration: `reject`: it is rejected with code 500; `skip`: it is let through unchanged, with a warning"
        ),
        read: |s, v| choice(&mut s.on_error, v, &[("reject", OnError::Reject), ("skip", OnError::Skip)]),
    },
    Setting {
        name: "reinvocation",
        reference: reference!(
            "merge",
            "a pod that an earlier call injected: `merge`: later edits take effect and nobody's are lost; `skip`: it is left alone, and no record is written"
        ),
        read: |s, v| choice(&mut s.reinvocation, v, &[("merge", Reinvocation::Merge), ("skip", Reinvocation::Skip)]),
    },
    Setting {
        name: "foreignInjection",
        reference: reference!("keep", "a pod that Linkerd's own injector or CLI injected: `keep`: left alone; `adopt`: taken over"),
        read: |s, v| choice(&mut s.foreign_injection, v, &[("keep", ForeignInjection::Keep), ("adopt", ForeignInjection::Adopt)]),
    },
    Setting {
        name: "workloads",
        reference: reference!(
            "warn",
            "workloads (Deployment, DaemonSet, StatefulSet, ReplicaSet, Job, CronJob): `warn`: their pod template is checked, and their author warned in advance; `ignore`: let through unread"
        ),
        read: |s, v| choice(&mut s.workloads, v, &[("warn", Workloads::Warn), ("ignore", Workloads::Ignore)]),
    },
    Setting {
        name: "limitRange",
        reference: reference!(
            "ignore",
            "the namespace's LimitRanges: `ignore`: not read; `apply`: the sidecar's resources are filled and clamped so that they are accepted, with a warning for what was set otherwise; needs [more rights](artefacts/rbac-limitranges.yaml), granted before"
        ),
        read: |s, v| choice(&mut s.limit_range, v, &[("ignore", LimitRange::Ignore), ("apply", LimitRange::Apply)]),
    },
    Setting {
        name: "openshiftUid",
        reference: reference!(
            "ignore",
            "the namespace's annotation `openshift.io/sa.scc.uid-range`: `ignore`: not read; `apply`: where neither annotations nor values set the proxy's user, it is the second of the range (the first is the application's)"
        ),
        read: |s, v| choice(&mut s.openshift_uid, v, &[("ignore", OpenshiftUid::Ignore), ("apply", OpenshiftUid::Apply)]),
    },
    Setting {
        name: "skipOwnerKinds",
        reference: reference!("[]", "kinds whose pods are not injected, as `[Job, CronJob]`"),
        read: |s, v| kinds(&mut s.skip_owner_kinds, v),
    },
    Setting {
        name: "allowedOverrides",
        reference: reference!(
            r#"["*"]"#,
            "annotations of the [list below](#annotations) that users may set on pods and Services, by key, or as the beginning of keys before a `*`; any other counts as absent, is taken off what is injected and named in a warning, or with `onInvalidAnnotation: reject` has the object rejected, and the author of a pod template is warned; namespaces may have all of them, and `linkerd.io/inject` may always be set"
        ),
        read: |s, v| permitted::read(v).map(|list| s.permitted.allowed = list),
    },
    Setting {
        name: "deniedOverrides",
        reference: reference!("[]", "annotations that users may not set so, whatever `allowedOverrides` says"),
        read: |s, v| permitted::read(v).map(|list| s.permitted.denied = list),
    },
];

fn choice<T: Copy>(to: &mut T, from: &Value, options: &[(&str, T)]) -> Result<(), String> {
    match from.as_str().and_then(|text| options.iter().find(|(name, _)| *name == text)) {
        Some((_, option)) => {
            *to = *option;
            Ok(())
        }
        None => {
            let names: Vec<_> = options.iter().map(|(name, _)| *name).collect();
            Err(format!("not one of {}", names.join(", ")))
        }
    }
}

fn object(from: &Value) -> Result<(), String> {
    if from.is_object() { Ok(()) } else { Err("not an object".to_owned()) }
}

/// The name of a namespace: a DNS label.
fn namespace(to: &mut String, from: &Value) -> Result<(), String> {
    let fine = |text: &&str| {
        let bytes = text.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
            && bytes.first() != Some(&b'-')
            && bytes.last() != Some(&b'-')
    };
    match from.as_str().filter(fine) {
        Some(text) => text.clone_into(to),
        None => return Err("not the name of a namespace".to_owned()),
    }
    Ok(())
}

fn texts(to: &mut BTreeMap<String, String>, from: &Value) -> Result<(), String> {
    object(from)?;
    for (key, value) in from.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(text) => to.insert(key.clone(), text.to_owned()),
            None => return Err(format!("an object whose {key:?} is not a text")),
        };
    }
    Ok(())
}

fn kinds(to: &mut Vec<String>, from: &Value) -> Result<(), String> {
    let problem = || "not a list of kinds, as [Job, CronJob]".to_owned();
    let list = from.as_array().ok_or_else(problem)?;
    for kind in list {
        let name = kind
            .as_str()
            .filter(|k| k.starts_with(|c: char| c.is_ascii_uppercase()) && k.chars().all(|c| c.is_ascii_alphanumeric()));
        to.push(name.ok_or_else(problem)?.to_owned());
    }
    Ok(())
}
