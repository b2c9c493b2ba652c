//! When two pods are the same to a law, and what of an edit has to survive.

use super::leaves::{Difference, Leaves, RECORD, TOKEN_VOLUME, WARNINGS, port_set};

/// Leaves on which the mesh depends, which nobody but the policy decides; `*` stands for any end.
const ASSERTED: &[&str] = &[
    "linkerd-proxy/list",
    "linkerd-proxy/name",
    "linkerd-proxy/restartPolicy",
    "linkerd-proxy/securityContext/runAsUser",
    "linkerd-proxy/securityContext/runAsGroup",
    "linkerd-proxy/env/_pod_*",
    "linkerd-proxy/env/_l5d_*",
    "linkerd-proxy/env/LINKERD2_PROXY_IDENTITY_*",
    "linkerd-proxy/env/LINKERD2_PROXY_DESTINATION_SVC_*",
    "linkerd-proxy/env/LINKERD2_PROXY_POLICY_SVC_*",
    "linkerd-proxy/env/LINKERD2_PROXY_CONTROL_LISTEN_ADDR",
    "linkerd-proxy/env/LINKERD2_PROXY_ADMIN_LISTEN_ADDR",
    "linkerd-proxy/env/LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
    "linkerd-proxy/env/LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR*",
    "linkerd-proxy/volumeMounts//var/run/linkerd/identity/*",
    "linkerd-proxy/volumeMounts//var/run/secrets/tokens",
    "linkerd-init/list",
    "linkerd-init/command*",
    "linkerd-init/args/--incoming-proxy-port",
    "linkerd-init/args/--outgoing-proxy-port",
    "linkerd-init/args/--proxy-uid",
    "linkerd-init/args/--proxy-gid",
    "linkerd-network-validator/list",
    "volumes/*",
    "metadata/annotations/linkerd.io/created-by",
    "metadata/annotations/linkerd.io/proxy-version",
    "metadata/annotations/linkerd.io/trust-root-sha256",
    "metadata/labels/linkerd.io/control-plane-ns",
    "metadata/labels/linkerd.io/workload-ns",
];

/// Whether a leaf is asserted.
pub(super) fn is_asserted(path: &str) -> bool {
    ASSERTED.iter().any(|pattern| pattern.strip_suffix('*').map_or(path == *pattern, |start| path.starts_with(start)))
}

/// The annotation of LimitRanger.
const LIMIT_RANGER: &str = "metadata/annotations/kubernetes.io/limit-ranger";

/// Where two pods are not the same. What LimitRanger did last, its annotation says, not what it did in all; a token's volume stays when
/// the last container that mounted it is gone.
pub(super) fn differences(left: &Leaves, right: &Leaves) -> Vec<Difference> {
    let counts = |path: &str| path != LIMIT_RANGER && path != TOKEN_VOLUME;
    left.only(counts).differences(&right.only(counts))
}

/// The same, whatever the records say; without one, nobody knows whose an inherited annotation is, and the warnings name it as the pod's.
pub(super) fn differences_but_record(left: &Leaves, right: &Leaves) -> Vec<Difference> {
    differences(left, right).into_iter().filter(|d| d.path != RECORD && d.path != WARNINGS).collect()
}

/// What of an edit, which made `edited` of `before`, is lost in `after` without a word.
///
/// Where an annotation was taken out, `fresh` may inherit it; where a container with a name of ours was taken out of a pod without a
/// sidecar, it may have ours; and where the host network was joined, the API server repeats port numbers.
pub(super) fn lost(before: &Leaves, edited: &Leaves, after: &Leaves, fresh: &Leaves, warnings: &[String]) -> Vec<String> {
    let edits = before.differences(edited).into_iter().filter(|d| !d.path.ends_with("/env-order") && d.path != LIMIT_RANGER);
    let lost = edits.filter(|edit| {
        let now = after.get(&edit.path);
        let gives_way = edit.path.starts_with("metadata/annotations/") || before.get("linkerd-proxy/name").is_none();
        let inherited = edit.right.is_none() && gives_way && now == fresh.get(&edit.path);
        let repeated = edit.path.contains("/ports/") && edit.right.as_ref().is_some_and(|port| port.contains("hostPort"));
        // The plugin that does it does it again.
        let pulled = edit.path.ends_with("/imagePullPolicy") && edit.right.as_deref() == Some("\"Always\"");
        now != edit.right.as_deref()
            && !inherited
            && !repeated
            && !pulled
            && !survives_in_a_list(edit, now)
            && !is_named(&edit.path, warnings)
    });
    lost.map(|edit| format!("{edit}; came out as {}", after.get(&edit.path).unwrap_or("nothing"))).collect()
}

/// Whether what was added to a list of ports is still in it.
fn survives_in_a_list(edit: &Difference, now: Option<&str>) -> bool {
    let is_ports = edit.path.contains("/env/LINKERD2_PROXY_INBOUND_PORTS") || edit.path.ends_with("-ports-to-ignore");
    let list = |text: Option<&str>| -> Vec<String> { port_set(text.unwrap_or_default()).split(',').map(str::to_owned).collect() };
    let (before, edited, now) = (list(edit.left.as_deref()), list(edit.right.as_deref()), list(now));
    is_ports && edited.iter().filter(|entry| !before.contains(entry)).all(|entry| now.contains(entry))
}

/// Whether a warning names the leaf, or the part of the pod that it went with.
fn is_named(path: &str, warnings: &[String]) -> bool {
    let (part, rest) = path.split_once('/').unwrap_or((path, ""));
    let (part, rest) = if part == "metadata" { rest.split_once('/').unwrap_or((rest, "")) } else { (part, rest) };
    let leaf =
        if part == "annotations" || part == "labels" || part == "volumes" { rest } else { rest.rsplit('/').next().unwrap_or(rest) };
    warnings.iter().any(|warning| {
        warning.contains(part) && (warning.contains(leaf) || warning.contains("is gone") || warning.contains("taken out"))
    })
}
