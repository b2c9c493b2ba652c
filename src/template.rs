//! Workloads that make pods, and the pod template in each.
//!
//! In: a workload as the host sent it. Out: a view of the pods that its controller will make of it, as far as the template tells.
//! Templates are read for the sake of those who write them, and never written.

use crate::workload::{Kind, ShapeError, Workload};
use serde_json::{Map, Value};

/// A kind of workload.
#[derive(Debug, PartialEq, Eq)]
pub struct TemplateKind {
    group: &'static str,
    /// Its name.
    pub kind: &'static str,
    /// Where its pod template is, from the top.
    path: &'static [&'static str],
    /// The kinds by which its pods know their owner.
    pub owners: &'static [&'static str],
}

const fn at_spec(group: &'static str, kind: &'static str, owners: &'static [&'static str]) -> TemplateKind {
    TemplateKind { group, kind, path: &["spec", "template"], owners }
}

/// Every kind of workload that is looked at.
const KINDS: &[TemplateKind] = &[
    at_spec("apps", "DaemonSet", &["DaemonSet"]),
    at_spec("apps", "Deployment", &["Deployment"]),
    at_spec("apps", "ReplicaSet", &["ReplicaSet"]),
    at_spec("apps", "StatefulSet", &["StatefulSet"]),
    at_spec("batch", "Job", &["Job"]),
    TemplateKind {
        group: "batch",
        kind: "CronJob",
        path: &["spec", "jobTemplate", "spec", "template"],
        owners: &["Job", "CronJob"],
    },
];

impl TemplateKind {
    /// The kind of that group and name, when it is one of a workload.
    #[must_use]
    pub fn of(group: &str, kind: &str) -> Option<&'static TemplateKind> {
        KINDS.iter().find(|k| k.group == group && k.kind == kind)
    }

    /// The pod template of a workload.
    pub fn template_mut<'a>(&self, workload: &'a mut Value) -> Option<&'a mut Value> {
        self.path.iter().try_fold(workload, |at, step| at.get_mut(step))
    }

    /// Where its pod template is, for a person.
    #[must_use]
    pub fn place(&self) -> String {
        self.path.join(".")
    }
}

/// A workload with its pod template.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// Its kind.
    pub kind: &'static TemplateKind,
    meta: Option<&'a Value>,
    /// Its pods, without what their controller adds.
    pub pod: Workload<'a>,
}

impl<'a> Template<'a> {
    /// Views a workload.
    ///
    /// # Errors
    /// [`ShapeError`] when its template is not of the shape of a pod.
    pub fn read(kind: &'static TemplateKind, workload: &'a Value) -> Result<Template<'a>, ShapeError> {
        let template = kind.path.iter().fold(workload, |at, step| at.get(step).unwrap_or(&Value::Null));
        Ok(Template { kind, meta: workload.get("metadata"), pod: Workload::read(Kind::Pod, template)? })
    }

    /// The name of the workload; none where the API server has yet to make one up.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.meta?.get("name")?.as_str().filter(|name| !name.is_empty())
    }

    /// The namespace of the workload, where it names one itself.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.meta?.get("namespace")?.as_str().filter(|name| !name.is_empty())
    }

    /// The workload's own annotations, which are none of its pods'.
    #[must_use]
    pub fn annotations(&self) -> Option<&'a Map<String, Value>> {
        self.meta?.get("annotations")?.as_object()
    }

    /// One label of the workload's own.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.meta?.get("labels")?.get(key)?.as_str()
    }

    /// Whether a controller made it: a Deployment its ReplicaSet, a CronJob its Job.
    #[must_use]
    pub fn is_owned(&self) -> bool {
        let references = self.meta.and_then(|m| m.get("ownerReferences")).and_then(Value::as_array);
        let made = matches!(self.kind.kind, "ReplicaSet" | "Job");
        made && references.is_some_and(|references| !references.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, Template, TemplateKind};
    use serde_json::json;

    #[test]
    fn each_kind_is_read_at_its_own_place() {
        for (group, kind, place) in [
            ("apps", "DaemonSet", "/spec/template"),
            ("apps", "Deployment", "/spec/template"),
            ("apps", "ReplicaSet", "/spec/template"),
            ("apps", "StatefulSet", "/spec/template"),
            ("batch", "Job", "/spec/template"),
            ("batch", "CronJob", "/spec/jobTemplate/spec/template"),
        ] {
            let template = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": []}});
            let mut workload = json!({"spec": {"template": template("a"), "jobTemplate": {"spec": {"template": template("b")}}}});
            *workload.pointer_mut(place).unwrap() = template("it");
            let read = Template::read(TemplateKind::of(group, kind).unwrap(), &workload).unwrap();
            assert_eq!(read.pod.name(), "it", "{kind}");
        }
        assert_eq!(KINDS.len(), 6);
        for (group, kind) in
            [("", "Deployment"), ("batch", "Deployment"), ("apps", "deployment"), ("", "ReplicationController"), ("", "Pod")]
        {
            assert_eq!(TemplateKind::of(group, kind), None, "{group} {kind}");
        }
    }

    #[test]
    fn a_template_is_seen_as_a_pod() {
        let template = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"containers": [{"name": "app"}]}});
        let workload = json!({"metadata": {"name": "web", "annotations": {"c": "d"}}, "spec": {"template": template}});
        let read = Template::read(TemplateKind::of("apps", "Deployment").unwrap(), &workload).unwrap();
        assert_eq!((read.name(), read.pod.annotation("a"), read.pod.annotation("c")), (Some("web"), Some("b"), None));
        let read = Template::read(TemplateKind::of("batch", "CronJob").unwrap(), &workload);
        assert_eq!(read.unwrap_err().to_string(), "the object cannot be read: the object is not an object");
    }

    #[test]
    fn what_a_controller_makes_is_owned() {
        let owned = |group: &str, kind: &str, owners: serde_json::Value| {
            let workload = json!({"metadata": {"ownerReferences": owners}, "spec": {"template": {"spec": {"containers": []}}}});
            Template::read(TemplateKind::of(group, kind).unwrap(), &workload).unwrap().is_owned()
        };
        assert!(owned("apps", "ReplicaSet", json!([{"kind": "Deployment", "name": "web"}])));
        assert!(owned("batch", "Job", json!([{"kind": "CronJob", "name": "nightly"}])));
        assert!(!owned("apps", "ReplicaSet", json!([])));
        assert!(!owned("batch", "Job", json!(null)));
        // An operator's Deployment is still what a person wrote.
        assert!(!owned("apps", "Deployment", json!([{"kind": "Shop", "name": "web"}])));
    }
}
