//! The volumes that the injected containers mount.
//!
//! Source: `charts/patch/templates/patch.json` and `charts/partials/templates/_volumes.tpl` of linkerd/linkerd2.

use super::json::{Json, json, object};
use crate::values::Values;
use k8s_openapi::api::core::v1::{
    DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource, ObjectFieldSelector, ProjectedVolumeSource,
    ServiceAccountTokenProjection, VolumeMount, VolumeProjection,
};
use serde_json::Value;

/// Names of the volumes.
pub(super) const XTABLES_LOCK: &str = "linkerd-proxy-init-xtables-lock";
/// Every volume that is added in some mode.
pub(super) const NAMES: &[&str] = &[XTABLES_LOCK, END_ENTITY, PODINFO, TOKEN];
const END_ENTITY: &str = "linkerd-identity-end-entity";
const PODINFO: &str = "linkerd-podinfo";
const TOKEN: &str = "linkerd-identity-token";

/// The kind of source of the volume of that name.
pub(super) fn source(name: &str) -> Option<&'static str> {
    match name {
        XTABLES_LOCK | END_ENTITY => Some("emptyDir"),
        PODINFO => Some("downwardAPI"),
        TOKEN => Some("projected"),
        _ => None,
    }
}

/// The volumes, in Linkerd's order.
pub(super) fn volumes(values: &Values) -> Vec<Value> {
    let mut volumes = Vec::new();
    if !values.cni_enabled {
        volumes.push(volume(XTABLES_LOCK, "emptyDir", EmptyDirVolumeSource::default()));
    }
    let memory = EmptyDirVolumeSource { medium: Some("Memory".to_owned()), size_limit: None };
    volumes.push(volume(END_ENTITY, "emptyDir", memory));
    if values.proxy.tracing.enabled {
        // The proxy is told where both files are (D20).
        let files = Some(vec![podinfo("labels"), podinfo("annotations")]);
        volumes.push(volume(PODINFO, "downwardAPI", DownwardAPIVolumeSource { items: files, default_mode: None }));
    }
    if values.token_projection {
        let token = ServiceAccountTokenProjection {
            audience: Some("identity.l5d.io".to_owned()),
            expiration_seconds: Some(86_400),
            path: TOKEN.to_owned(),
        };
        let sources = Some(vec![VolumeProjection { service_account_token: Some(token), ..VolumeProjection::default() }]);
        volumes.push(volume(TOKEN, "projected", ProjectedVolumeSource { sources, default_mode: None }));
    }
    volumes
}

/// A volume of a typed source. The type of a whole volume would bring that of claim templates and with it a time library, a sixth
/// of the module.
fn volume<T: Json + serde::Serialize>(name: &str, kind: &'static str, source: T) -> Value {
    object([("name", name.into()), (kind, json(source))])
}

/// The mounts of the proxy, without the application's token.
pub(super) fn proxy_mounts(values: &Values) -> Vec<VolumeMount> {
    let mut mounts = vec![mount(END_ENTITY, "/var/run/linkerd/identity/end-entity")];
    if values.proxy.tracing.enabled {
        mounts.push(mount(PODINFO, "/var/run/linkerd/podinfo"));
    }
    if values.token_projection {
        mounts.push(mount(TOKEN, "/var/run/secrets/tokens"));
    }
    mounts
}

/// A mount of a volume at a path.
pub(super) fn mount(name: &str, path: &str) -> VolumeMount {
    VolumeMount { name: name.to_owned(), mount_path: path.to_owned(), ..VolumeMount::default() }
}

/// The mount of the service account's token, as the application's first container has it.
pub(super) fn token_mount(pod: &crate::workload::Workload<'_>) -> Option<VolumeMount> {
    let of = pod.first_container()?.token_mount()?;
    let text = |key| of.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(VolumeMount {
        read_only: Some(of.get("readOnly").and_then(Value::as_bool).unwrap_or(false)),
        ..mount(text("name"), text("mountPath"))
    })
}

fn podinfo(field: &str) -> DownwardAPIVolumeFile {
    DownwardAPIVolumeFile {
        path: field.to_owned(),
        field_ref: Some(ObjectFieldSelector { field_path: format!("metadata.{field}"), api_version: None }),
        ..DownwardAPIVolumeFile::default()
    }
}
