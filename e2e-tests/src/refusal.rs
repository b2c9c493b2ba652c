//! Why the host does not answer, in the host's words.
//!
//! A policy sees errors as text only, so it has to recognise them by what they say. The texts here are those of
//! Kubewarden 1.36 (policy-evaluator, `callback.rs` and `callback_handler/kubernetes/client.rs`).

use thiserror::Error;

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
        Self::Failed(format!(
            "Cannot find {api_version}/{kind} named '{name}' inside of namespace '{namespace:?}'"
        ))
    }

    /// The cluster serves no such kind.
    #[must_use]
    pub fn unknown_kind(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!("Cannot find resource {api_version}/{kind}"))
    }

    /// The policy server's account may not read it. `plural` is the resource's name in URLs, such as `configmaps`.
    #[must_use]
    pub fn forbidden(group: &str, plural: &str, name: &str, namespace: Option<&str>) -> Self {
        let place = namespace.map_or_else(
            || "at the cluster scope".to_owned(),
            |namespace| format!("in the namespace \"{namespace}\""),
        );
        let message = format!(
            "{plural}{dot}{group} \"{name}\" is forbidden: User \"system:serviceaccount:kubewarden:policy-server\" \
             cannot get resource \"{plural}\" in API group \"{group}\" {place}",
            dot = if group.is_empty() { "" } else { "." },
        );
        Self::Failed(format!(
            "ApiError: {message}: Forbidden (Status {{ status: Some(Failure), message: {message:?}, reason: \"Forbidden\", \
             code: 403 }})\n\nCaused by:\n    {message}: Forbidden"
        ))
    }

    /// A namespaced kind was asked for without a namespace.
    #[must_use]
    pub fn namespace_missing(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!(
            "Resource {api_version}/{kind} is namespaced, but no namespace was provided"
        ))
    }

    /// A kind without namespaces was asked for inside one.
    #[must_use]
    pub fn cluster_wide(api_version: &str, kind: &str) -> Self {
        Self::Failed(format!(
            "resource {api_version}/{kind} is cluster wide. Cannot search for it inside of a namespace"
        ))
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
            (
                Refusal::unknown_kind("v1", "Foo"),
                "Callback evaluation failure: Cannot find resource v1/Foo",
            ),
            (
                Refusal::namespace_missing("v1", "ConfigMap"),
                "Callback evaluation failure: Resource v1/ConfigMap is namespaced, but no namespace was provided",
            ),
            (
                Refusal::no_cluster(),
                "Callback evaluation failure: kube::Client was not initialized properly",
            ),
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
        let forbidden =
            Refusal::forbidden("", "configmaps", "linkerd-config", Some("linkerd")).to_string();
        assert!(forbidden.starts_with("Callback evaluation failure: ApiError: configmaps \"linkerd-config\" is forbidden: User"));
        assert!(forbidden.contains("code: 403") && forbidden.contains("Caused by:"));
    }
}
