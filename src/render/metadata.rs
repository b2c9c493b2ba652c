//! Annotations and labels of an injected pod.
//!
//! Source: `controller/proxy-injector/webhook.go`, `injectObjectMeta` and `populateMeta` in `pkg/inject/inject.go` of
//! linkerd/linkerd2.

use super::Place;
use crate::annotation as key;
use crate::checks::read_by_plugin;
use crate::gather;
use crate::opaque_ports;
use crate::overrides::Annotations;
use crate::owner::Owner;
use crate::values::Values;
use crate::warning::{Place as WarningPlace, Warning};
use crate::workload::Workload;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The longest value that a label may have.
const MAX_LABEL: usize = 63;

/// Where a pod is meshed.
#[derive(Clone, Debug)]
pub struct Mesh<'a> {
    /// Namespace of the control plane.
    pub control_plane: &'a str,
    /// Namespace of the pod.
    pub namespace: &'a str,
    /// The workload that owns the pod.
    pub owner: Option<Owner>,
    /// The annotations that count for the pod.
    pub annotations: Annotations<'a>,
    /// Where each additional variable comes from, by name.
    pub added_by: &'a BTreeMap<String, WarningPlace>,
    /// Whether the proxy's user is one of its namespace's range.
    pub uid_of_range: bool,
    /// The default opaque ports as configured, before annotations changed them.
    pub default_opaque_ports: &'a str,
}

/// Who injected the pod: this policy (D25).
fn created_by() -> String {
    concat!("linkerd-injector-policy ", env!("CARGO_PKG_VERSION")).to_owned()
}

/// Annotations: who, what version, which anchors, and all that the pod inherits from its namespace.
pub(super) fn annotations(values: &Values, pod: &Workload<'_>, mesh: &Mesh<'_>, place: Place) -> BTreeMap<&'static str, String> {
    let mut annotations: BTreeMap<&'static str, String> = gather::map(mesh.annotations.inherited().map(|(k, v)| (k, v.to_owned())));
    if values.cni_enabled {
        for_plugin(&mut annotations, values, mesh);
    }
    annotations.insert(key::CREATED_BY, created_by());
    annotations.insert(key::PROXY_VERSION, values.proxy_version().to_owned());
    annotations.insert(key::TRUST_ROOT_SHA256, sha256(&values.trust_anchors));
    if let Some(ports) = default_opaque_ports(pod, mesh) {
        annotations.insert(key::OPAQUE_PORTS, ports);
    }
    // Where the proxy comes first, kubectl would take it for the application (D23).
    if place == Place::First && pod.annotation(key::DEFAULT_CONTAINER).is_none() {
        let app = pod.first_container().map(|c| c.name()).filter(|name| !name.is_empty());
        annotations.extend(app.map(|name| (key::DEFAULT_CONTAINER, name.to_owned())));
    }
    annotations
}

/// Where linkerd-cni redirects traffic, it reads annotations itself, and the pod's before the namespace's: what a pod inherits is
/// written so that it reads what the injection means (D38). An empty text it would take for none.
fn for_plugin(annotations: &mut BTreeMap<&'static str, String>, values: &Values, mesh: &Mesh<'_>) {
    for (name, meant) in read_by_plugin(values) {
        let Some(meant) = meant.filter(|meant| !meant.is_empty()) else { continue };
        // A user that comes from elsewhere, it has to be told of, too.
        let of_range = name == key::PROXY_UID && !mesh.annotations.has(name) && mesh.uid_of_range;
        if of_range || annotations.contains_key(name) {
            annotations.insert(name, meant);
        }
    }
}

/// The opaque ports annotation of a pod that neither has nor inherits one.
pub(super) fn default_opaque_ports(pod: &Workload<'_>, mesh: &Mesh<'_>) -> Option<String> {
    if mesh.annotations.has(key::OPAQUE_PORTS) {
        return None;
    }
    opaque_ports::exposed(pod, mesh.default_opaque_ports)
}

/// Labels: the mesh, the namespace and the owner, unless its name is no label value (D17).
pub(super) fn labels(mesh: &Mesh<'_>) -> BTreeMap<&'static str, String> {
    let mut labels =
        gather::map([(key::CONTROL_PLANE_NS, mesh.control_plane.to_owned()), (key::WORKLOAD_NS, mesh.namespace.to_owned())]);
    if let Some(owner) = mesh.owner.as_ref().filter(|o| is_label_value(&o.name)) {
        labels.extend(owner.label().map(|label| (label, owner.name.clone())));
    }
    labels
}

/// Whether the API server takes a text as the value of a label.
fn is_label_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    bytes.len() <= MAX_LABEL
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && ends(bytes.first())
        && ends(bytes.last())
}

/// Says that an owner's name cannot be the value of its label.
#[must_use]
pub fn owner_label_warning(owner: &Owner) -> Option<Warning> {
    let label = owner.label().filter(|_| !is_label_value(&owner.name))?;
    let sentence = format!("no label {label}: the name of the {} is no label value of up to {MAX_LABEL} characters", owner.kind);
    Some(Warning::plain(WarningPlace::Pod, sentence))
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
