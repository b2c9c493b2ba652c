//! The kinds that the host and the tools know: their group, plural and scope.

use serde_json::Value;

/// One kind of the Kubernetes API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// `v1` or `group/version`.
    pub api_version: &'static str,
    /// As written in manifests.
    pub kind: &'static str,
    /// As written in URLs.
    pub plural: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

const fn namespaced(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind { api_version, kind, plural, namespaced: true }
}

const fn cluster_wide(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind { api_version, kind, plural, namespaced: false }
}

/// Kinds that every cluster serves and that an injector may meet.
pub const KINDS: &[Kind] = &[
    cluster_wide("v1", "Namespace", "namespaces"),
    cluster_wide("v1", "Node", "nodes"),
    cluster_wide("v1", "PersistentVolume", "persistentvolumes"),
    namespaced("v1", "ConfigMap", "configmaps"),
    namespaced("v1", "Endpoints", "endpoints"),
    namespaced("v1", "LimitRange", "limitranges"),
    namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    namespaced("v1", "Pod", "pods"),
    namespaced("v1", "PodTemplate", "podtemplates"),
    namespaced("v1", "ReplicationController", "replicationcontrollers"),
    namespaced("v1", "ResourceQuota", "resourcequotas"),
    namespaced("v1", "Secret", "secrets"),
    namespaced("v1", "Service", "services"),
    namespaced("v1", "ServiceAccount", "serviceaccounts"),
    namespaced("apps/v1", "ControllerRevision", "controllerrevisions"),
    namespaced("apps/v1", "DaemonSet", "daemonsets"),
    namespaced("apps/v1", "Deployment", "deployments"),
    namespaced("apps/v1", "ReplicaSet", "replicasets"),
    namespaced("apps/v1", "StatefulSet", "statefulsets"),
    namespaced("batch/v1", "CronJob", "cronjobs"),
    namespaced("batch/v1", "Job", "jobs"),
    cluster_wide("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"),
    cluster_wide("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings"),
    namespaced("rbac.authorization.k8s.io/v1", "Role", "roles"),
    namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
];

/// Finds a kind by `apiVersion` and `kind`.
#[must_use]
pub fn find(api_version: &str, kind: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|known| known.api_version == api_version && known.kind == kind)
}

/// `apiVersion` as group and version.
#[must_use]
pub fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// The plural of a kind: the known one, or the lower-case name with an `s`, which is what most kinds have.
#[must_use]
pub fn plural(api_version: &str, kind: &str) -> String {
    find(api_version, kind).map_or_else(|| format!("{}s", kind.to_lowercase()), |known| known.plural.to_owned())
}

/// The path at which an API server creates objects of this one's kind, in this one's namespace.
#[must_use]
pub fn collection(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let (api_version, kind) = (text("/apiVersion").unwrap_or_default(), text("/kind").unwrap_or_default());
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let namespace = text("/metadata/namespace").map(|name| format!("/namespaces/{name}")).unwrap_or_default();
    format!("/{root}/{api_version}{namespace}/{}", plural(api_version, kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_created_where_their_kind_lives() {
        let object = |api_version, kind, metadata| json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
        assert_eq!(collection(&object("v1", "Namespace", json!({"name": "shop"}))), "/api/v1/namespaces");
        let deployment = object("apps/v1", "Deployment", json!({"name": "web", "namespace": "shop"}));
        assert_eq!(collection(&deployment), "/apis/apps/v1/namespaces/shop/deployments");
    }
}
