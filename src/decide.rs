//! Whether an object is meshed.
//!
//! In: the object, its namespace's annotations, the values. Out: the reasons that keep it out, in Linkerd's words and order where
//! Linkerd has them. Source: `pkg/inject/report.go` and `pkg/healthcheck/sidecar.go` of linkerd/linkerd2.

use crate::annotation;
use crate::values::Values;
use crate::workload::{Kind, List, Workload};
use std::fmt;

/// Why an object stays out of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// The pod shares its node's network.
    HostNetwork,
    /// The pod has a mesh sidecar already.
    SidecarExists,
    /// The kind has no pod template.
    UnsupportedResource,
    /// Neither the pod nor its namespace asks for the mesh.
    NotEnabled,
    /// The pod refuses the mesh.
    Disabled,
    /// The pod's inject annotation has a value that means nothing.
    InvalidAtWorkload,
    /// The namespace's inject annotation has a value that means nothing, and the pod says nothing itself (D06).
    InvalidAtNamespace,
    /// The proxy could not get an identity: no service account token, and token projection is off.
    NoToken,
    /// The pod runs on Windows (D22).
    Windows,
    /// The settings leave pods of this kind of owner out.
    OwnerKind,
}

impl SkipReason {
    /// Every reason.
    pub const ALL: &[SkipReason] = &[
        SkipReason::HostNetwork,
        SkipReason::SidecarExists,
        SkipReason::UnsupportedResource,
        SkipReason::NotEnabled,
        SkipReason::Disabled,
        SkipReason::InvalidAtWorkload,
        SkipReason::InvalidAtNamespace,
        SkipReason::NoToken,
        SkipReason::Windows,
        SkipReason::OwnerKind,
    ];

    /// The reason for machines; those that Linkerd has are spelled as there.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            SkipReason::HostNetwork => "host_network_enabled",
            SkipReason::SidecarExists => "sidecar_already_exists",
            SkipReason::UnsupportedResource => "unsupported_resource",
            SkipReason::NotEnabled => "injection_enable_annotation_absent",
            SkipReason::Disabled => "injection_disable_annotation_present",
            SkipReason::InvalidAtWorkload => "invalid_inject_annotation_at_workload",
            SkipReason::InvalidAtNamespace => "invalid_inject_annotation_at_ns",
            SkipReason::NoToken => "disabled_automount_service_account_token_account",
            SkipReason::Windows => "windows_pod",
            SkipReason::OwnerKind => "owner_kind_skipped",
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SkipReason::HostNetwork => "the pod uses the host network",
            SkipReason::SidecarExists => "the pod has a mesh sidecar already",
            SkipReason::UnsupportedResource => "this kind has no pod template",
            SkipReason::NotEnabled => "neither the pod nor its namespace is annotated linkerd.io/inject: enabled",
            SkipReason::Disabled => "the pod is annotated linkerd.io/inject: disabled",
            SkipReason::InvalidAtWorkload => "the pod's linkerd.io/inject is none of enabled, disabled, ingress",
            SkipReason::InvalidAtNamespace => "the namespace's linkerd.io/inject is none of enabled, disabled, ingress",
            SkipReason::NoToken => "the pod mounts no service account token, and token projection is off",
            SkipReason::Windows => "the pod runs on Windows",
            SkipReason::OwnerKind => "pods of this kind of owner are left out by skipOwnerKinds",
        })
    }
}

/// What an inject annotation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inject {
    /// Nothing: absent or empty.
    Unset,
    /// Injection, or injection in ingress mode.
    Enabled,
    /// No injection.
    Disabled,
    /// A value that means nothing.
    Invalid,
}

impl Inject {
    /// Reads an inject annotation.
    #[must_use]
    pub fn read(annotation: Option<&str>) -> Inject {
        match annotation {
            None | Some("") => Inject::Unset,
            Some("enabled" | "ingress") => Inject::Enabled,
            Some("disabled") => Inject::Disabled,
            Some(_) => Inject::Invalid,
        }
    }
}

/// The reasons that the object alone gives, whatever its namespace says.
#[must_use]
pub fn by_object(object: &Workload<'_>, skip_owner_kinds: &[String]) -> Vec<SkipReason> {
    if object.kind() == Kind::Service {
        return vec![SkipReason::UnsupportedResource];
    }
    let mut reasons = Vec::new();
    if object.host_network() {
        reasons.push(SkipReason::HostNetwork);
    }
    if has_sidecar(object, SIDECARS) {
        reasons.push(SkipReason::SidecarExists);
    }
    match Inject::read(object.annotation(annotation::INJECT)) {
        Inject::Disabled => reasons.push(SkipReason::Disabled),
        Inject::Invalid => reasons.push(SkipReason::InvalidAtWorkload),
        Inject::Unset | Inject::Enabled => {}
    }
    if object.is_windows() {
        reasons.push(SkipReason::Windows);
    }
    if !skip_owner_kinds.is_empty() && crate::owner::told(object).is_some_and(|owner| skip_owner_kinds.contains(&owner.kind)) {
        reasons.push(SkipReason::OwnerKind);
    }
    reasons
}

/// The reason that the namespace gives, for a pod that gives none itself.
#[must_use]
pub fn by_namespace(pod: &Workload<'_>, namespace: Inject) -> Option<SkipReason> {
    match (Inject::read(pod.annotation(annotation::INJECT)), namespace) {
        (Inject::Enabled, _) | (Inject::Unset, Inject::Enabled) => None,
        (Inject::Unset, Inject::Invalid) => Some(SkipReason::InvalidAtNamespace),
        (Inject::Unset, Inject::Unset | Inject::Disabled) => Some(SkipReason::NotEnabled),
        (Inject::Disabled, _) => Some(SkipReason::Disabled),
        (Inject::Invalid, _) => Some(SkipReason::InvalidAtWorkload),
    }
}

/// The reasons that the mesh's values give; to a pod that is yet to be made, the API server will mount the token that it does not refuse.
#[must_use]
pub fn by_values(pod: &Workload<'_>, values: &Values, to_come: bool) -> Vec<SkipReason> {
    let mut reasons = Vec::new();
    let configured = [Sidecar { list: None, name: "", image: &values.proxy.image.name }];
    if has_sidecar(pod, &configured) {
        reasons.push(SkipReason::SidecarExists);
    }
    let mounted = || to_come || pod.first_container().and_then(|c| c.token_mount()).is_some();
    if !values.token_projection && (pod.token_refused() || !mounted()) {
        reasons.push(SkipReason::NoToken);
    }
    reasons
}

/// A mesh sidecar by which a pod is known to be meshed: by name, or by image of any tag or digest (D18).
struct Sidecar<'a> {
    /// The only list where it counts.
    list: Option<List>,
    name: &'a str,
    image: &'a str,
}

const SIDECARS: &[Sidecar<'static>] = &[
    Sidecar { list: None, name: "linkerd-proxy", image: "cr.l5d.io/linkerd/proxy" },
    Sidecar { list: None, name: "istio-proxy", image: "gcr.io/istio-release/proxyv2" },
    Sidecar { list: Some(List::Init), name: "linkerd-init", image: "cr.l5d.io/linkerd/proxy-init" },
    // Nobody's injection puts one there, and two containers of one name cannot be: it is the user's, and stays.
    Sidecar { list: Some(List::Main), name: "linkerd-init", image: "" },
    Sidecar { list: Some(List::Init), name: "istio-init", image: "gcr.io/istio-release/proxy_init" },
];

/// Containers of ours that mesh nothing by themselves, whatever image they have: leftovers are replaced by name (D19).
const LEFTOVERS: &[&str] = &["linkerd-network-validator", "linkerd-debug"];

fn has_sidecar(pod: &Workload<'_>, known: &[Sidecar<'_>]) -> bool {
    let is = |list: List, name: &str, image: &str| {
        known.iter().filter(|s| s.list.is_none_or(|l| l == list)).any(|s| {
            let same_image = || image.strip_prefix(s.image).is_some_and(|rest| rest.starts_with([':', '@']));
            (!s.name.is_empty() && name == s.name) || (!LEFTOVERS.contains(&name) && !s.image.is_empty() && same_image())
        })
    };
    [List::Init, List::Main].into_iter().any(|list| pod.containers_of(list).any(|c| is(list, c.name(), c.image())))
}

#[cfg(test)]
mod tests;
