//! The volumes that the injected containers mount.
//!
//! Source: `charts/patch/templates/patch.json` and `charts/partials/templates/_volumes.tpl` of linkerd/linkerd2.

use super::api::{Mount, list, object};
use crate::values::Values;
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
        volumes.push(object([("name", XTABLES_LOCK.into()), ("emptyDir", object([]))]));
    }
    volumes.push(object([("name", END_ENTITY.into()), ("emptyDir", object([("medium", "Memory".into())]))]));
    if values.proxy.tracing.enabled {
        // The proxy is told where both files are (D20).
        let files = list([podinfo("labels", "metadata.labels"), podinfo("annotations", "metadata.annotations")]);
        volumes.push(object([("name", PODINFO.into()), ("downwardAPI", object([("items", files)]))]));
    }
    if values.token_projection {
        let token = object([("audience", "identity.l5d.io".into()), ("expirationSeconds", 86_400.into()), ("path", TOKEN.into())]);
        let sources = list([object([("serviceAccountToken", token)])]);
        volumes.push(object([("name", TOKEN.into()), ("projected", object([("sources", sources)]))]));
    }
    volumes
}

/// The mounts of the proxy, without the application's token.
pub(super) fn proxy_mounts(values: &Values) -> Vec<Mount> {
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
pub(super) fn mount(name: &str, path: &str) -> Mount {
    Mount { name: name.to_owned(), path: path.to_owned(), read_only: None }
}

/// The mount of the service account's token, as the application's first container has it.
pub(super) fn token_mount(pod: &crate::workload::Workload<'_>) -> Option<Mount> {
    let of = pod.first_container()?.token_mount()?;
    let text = |key| of.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(Mount {
        read_only: Some(of.get("readOnly").and_then(Value::as_bool).unwrap_or(false)),
        ..mount(text("name"), text("mountPath"))
    })
}

fn podinfo(file: &'static str, field: &'static str) -> Value {
    object([("path", file.into()), ("fieldRef", object([("fieldPath", field.into())]))])
}
