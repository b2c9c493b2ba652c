//! Why the host does not answer, in the host's words.
//!
//! A policy sees errors as text only, so it has to recognise them by what they say. The texts here are those of
//! Kubewarden 1.36 (policy-evaluator, `callback.rs` and `callback_handler/kubernetes/client.rs`).

use thiserror::Error;

use crate::kinds;

/// A refused call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Refused before the cluster was asked: not granted, not known, not readable.
    #[error("{0}")]
    Denied(String),
    /// The cluster was asked and the question failed.
    #[error("Callback evaluation failure: {0}")]
    Failed(String),
}

impl Refusal {
    /// The object does not exist.
    #[must_use]
    pub fn not_found(api_version: &str, kind: &str, name: &str, namespace: Option<&str>) -> Self {
        Self::Failed(format!("Cannot find {api_version}/{kind} named '{name}' inside of namespace '{namespace:?}'"))
    }

    /// The cluster serves no such kind.
    #[must_use]
    pub fn unknown_kind(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!("Cannot find resource {api_version}/{kind}"))
    }

    /// The cluster serves no such group or version.
    #[must_use]
    pub fn unknown_group(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!(
            "error finding resource {api_version} / {kind}: ApiError: 404 page not found\n: Failed to parse error data \
             (Status {{ status: Some(Failure), code: 404, message: \"404 page not found\\n\", metadata: None, \
             reason: \"Failed to parse error data\", details: None }})"
        ))
    }

    /// The policy server's account may not read it. The API server says of a Namespace that it is in itself.
    #[must_use]
    pub fn forbidden(api_version: &str, kind: &str, name: &str, namespace: Option<&str>) -> Self {
        let (group, _) = kinds::group_version(api_version);
        let plural = kinds::plural(api_version, kind);
        let place = match namespace.or_else(|| (kind == "Namespace").then_some(name)) {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => "at the cluster scope".to_owned(),
        };
        let dot = if group.is_empty() { "" } else { "." };
        let message = format!(
            "{plural}{dot}{group} \"{name}\" is forbidden: User \"system:serviceaccount:kubewarden:policy-server\" \
             cannot get resource \"{plural}\" in API group \"{group}\" {place}"
        );
        Self::Failed(format!(
            "ApiError: {message}: Forbidden (Status {{ status: Some(Failure), code: 403, message: {message:?}, \
             metadata: Some(ListMeta {{ continue_: None, remaining_item_count: None, resource_version: None, \
             self_link: None }}), reason: \"Forbidden\", details: Some(StatusDetails {{ name: {name:?}, group: {group:?}, \
             kind: {plural:?}, uid: \"\", causes: [], retry_after_seconds: 0 }}) }})\n\nCaused by:\n    {message}: Forbidden"
        ))
    }

    /// A namespaced kind was asked for without a namespace.
    #[must_use]
    pub fn namespace_missing(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!("Resource {api_version}/{kind} is namespaced, but no namespace was provided"))
    }

    /// A kind without namespaces was asked for inside one.
    #[must_use]
    pub fn cluster_wide(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!("resource {api_version}/{kind} is cluster wide. Cannot search for it inside of a namespace"))
    }

    /// There is no cluster.
    #[must_use]
    pub fn no_cluster() -> Self {
        Self::Failed("kube::Client was not initialized properly".to_owned())
    }

    /// The kind is not among the policy's `contextAwareResources`.
    #[must_use]
    pub fn resource_not_granted(api_version: &str, kind: &str) -> Self {
        Self::Denied(format!(
            "Policy has not been granted access to Kubernetes {api_version}/{kind} resources. The violation has been reported."
        ))
    }

    /// The operation is not among the policy's `hostCapabilities`.
    #[must_use]
    pub fn capability_not_granted(capability: &str) -> Self {
        Self::Denied(format!(
            "Policy has not been granted access to the '{capability}' host capability. The violation has been reported."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_cluster_was_asked_for_carries_the_prefix() {
        let table = [
            (
                Refusal::not_found("v1", "ConfigMap", "linkerd-config", Some("linkerd")),
                "Callback evaluation failure: Cannot find v1/ConfigMap named 'linkerd-config' inside of namespace 'Some(\"linkerd\")'",
            ),
            (
                Refusal::not_found("v1", "Namespace", "shop", None),
                "Callback evaluation failure: Cannot find v1/Namespace named 'shop' inside of namespace 'None'",
            ),
            (Refusal::unknown_kind("v1", "Foo"), "Callback evaluation failure: Cannot find resource v1/Foo"),
            (
                Refusal::namespace_missing("v1", "ConfigMap"),
                "Callback evaluation failure: Resource v1/ConfigMap is namespaced, but no namespace was provided",
            ),
            (Refusal::no_cluster(), "Callback evaluation failure: kube::Client was not initialized properly"),
            (
                Refusal::resource_not_granted("v1", "ConfigMap"),
                "Policy has not been granted access to Kubernetes v1/ConfigMap resources. The violation has been reported.",
            ),
            (
                Refusal::capability_not_granted("kubernetes/get_resource"),
                "Policy has not been granted access to the 'kubernetes/get_resource' host capability. The violation has been reported.",
            ),
        ];
        for (refusal, text) in table {
            assert_eq!(refusal.to_string(), text);
        }
    }

    /// Texts that kwctl 1.36, in front of an API server 1.36, gave to a guest.
    #[test]
    fn the_words_of_the_api_server_are_handed_on() {
        let table = [
            (
                Refusal::forbidden("v1", "ConfigMap", "linkerd-config", Some("linkerd")),
                r#"Callback evaluation failure: ApiError: configmaps "linkerd-config" is forbidden: User "system:serviceaccount:kubewarden:policy-server" cannot get resource "configmaps" in API group "" in the namespace "linkerd": Forbidden (Status { status: Some(Failure), code: 403, message: "configmaps \"linkerd-config\" is forbidden: User \"system:serviceaccount:kubewarden:policy-server\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"linkerd\"", metadata: Some(ListMeta { continue_: None, remaining_item_count: None, resource_version: None, self_link: None }), reason: "Forbidden", details: Some(StatusDetails { name: "linkerd-config", group: "", kind: "configmaps", uid: "", causes: [], retry_after_seconds: 0 }) })

Caused by:
    configmaps "linkerd-config" is forbidden: User "system:serviceaccount:kubewarden:policy-server" cannot get resource "configmaps" in API group "" in the namespace "linkerd": Forbidden"#,
            ),
            (
                Refusal::forbidden("apps/v1", "ReplicaSet", "web", Some("shop")),
                r#"Callback evaluation failure: ApiError: replicasets.apps "web" is forbidden: User "system:serviceaccount:kubewarden:policy-server" cannot get resource "replicasets" in API group "apps" in the namespace "shop": Forbidden (Status { status: Some(Failure), code: 403, message: "replicasets.apps \"web\" is forbidden: User \"system:serviceaccount:kubewarden:policy-server\" cannot get resource \"replicasets\" in API group \"apps\" in the namespace \"shop\"", metadata: Some(ListMeta { continue_: None, remaining_item_count: None, resource_version: None, self_link: None }), reason: "Forbidden", details: Some(StatusDetails { name: "web", group: "apps", kind: "replicasets", uid: "", causes: [], retry_after_seconds: 0 }) })

Caused by:
    replicasets.apps "web" is forbidden: User "system:serviceaccount:kubewarden:policy-server" cannot get resource "replicasets" in API group "apps" in the namespace "shop": Forbidden"#,
            ),
            (
                Refusal::unknown_group("no.such/v1", "Foo"),
                "Callback evaluation failure: error finding resource no.such/v1 / Foo: ApiError: 404 page not found\n: Failed to parse error data (Status { status: Some(Failure), code: 404, message: \"404 page not found\\n\", metadata: None, reason: \"Failed to parse error data\", details: None })",
            ),
        ];
        for (refusal, text) in table {
            assert_eq!(refusal.to_string(), text);
        }
        let namespace = Refusal::forbidden("v1", "Namespace", "nope", None).to_string();
        assert!(namespace.contains(r#"in API group "" in the namespace "nope": Forbidden (Status"#), "{namespace}");
    }
}
