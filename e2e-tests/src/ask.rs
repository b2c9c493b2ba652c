//! One question to the policy, built up piece by piece, for tests that say in a line what they ask.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    admission::Admission,
    case::control_plane,
    cluster::{Cluster, Faults, Manifests},
    host::Host,
    kinds,
    policy::{Policy, PolicyError, Response},
    query::Query,
    refusal::Refusal,
};

/// Any bundle does where no proxy reads it.
const ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
/// The namespace of all that is asked about.
pub const NAMESPACE: &str = "shop";

/// An object that is created in a namespace of a mesh.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The object.
    pub object: Value,
    kind: &'static str,
    operation: &'static str,
    annotations: Value,
    labels: Value,
    values: Value,
    settings: Value,
    objects: Vec<Value>,
    lists_fail: bool,
}

/// What was answered and logged.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The answer.
    pub response: Response,
    /// The object as it is stored.
    pub object: Value,
    /// What was logged.
    pub logged: Vec<String>,
}

impl Ask {
    /// A pod with these annotations, and these fields of its spec beside one container `app`.
    #[must_use]
    pub fn pod(annotations: Value, spec: Value) -> Self {
        let metadata = json!({"name": "web", "annotations": annotations});
        Self::about("Pod", json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": with_app(spec)}))
    }

    /// A pod that asks for the mesh, with these annotations too.
    #[must_use]
    pub fn meshed(annotations: Value, spec: Value) -> Self {
        let mut ask = Self::pod(annotations, spec);
        put(&mut ask.object, &["metadata", "annotations", "linkerd.io/inject"], json!("enabled"));
        ask
    }

    /// A workload with this metadata of its own, whose template has these annotations and these fields of its spec.
    #[must_use]
    pub fn workload(kind: &'static str, metadata: Value, annotations: Value, spec: Value) -> Self {
        let known = kinds::KINDS.iter().find(|known| known.kind == kind);
        let template = json!({"metadata": {"annotations": annotations}, "spec": with_app(spec)});
        let spec = if kind == "CronJob" {
            json!({"jobTemplate": {"spec": {"template": template}}})
        } else {
            json!({"template": template})
        };
        let mut object =
            json!({"apiVersion": known.map_or("v1", |known| known.api_version), "kind": kind, "metadata": metadata, "spec": spec});
        put(&mut object, &["metadata", "name"], json!("web"));
        Self::about(kind, object)
    }

    /// Any object.
    #[must_use]
    pub fn about(kind: &'static str, object: Value) -> Self {
        let nothing = json!({});
        Self {
            object,
            kind,
            operation: "CREATE",
            annotations: nothing.clone(),
            labels: nothing.clone(),
            values: nothing.clone(),
            settings: nothing,
            objects: Vec::new(),
            lists_fail: false,
        }
    }

    /// Another operation than creation.
    #[must_use]
    pub fn operation(self, operation: &'static str) -> Self {
        Self { operation, ..self }
    }

    /// The annotations of its namespace.
    #[must_use]
    pub fn namespace(self, annotations: Value) -> Self {
        Self { annotations, ..self }
    }

    /// The labels of its namespace.
    #[must_use]
    pub fn labels(self, labels: Value) -> Self {
        Self { labels, ..self }
    }

    /// The mesh's values.
    #[must_use]
    pub fn values(self, values: Value) -> Self {
        Self { values, ..self }
    }

    /// The policy's settings.
    #[must_use]
    pub fn settings(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    /// A LimitRange of its namespace with these items, where the settings say to follow it.
    #[must_use]
    pub fn limits(mut self, items: Value) -> Self {
        self.objects.push(json!({
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits", "namespace": NAMESPACE}, "spec": {"limits": items},
        }));
        put(&mut self.settings, &["limitRange"], json!("apply"));
        self
    }

    /// One more object of the cluster.
    #[must_use]
    pub fn object(mut self, object: Value) -> Self {
        self.objects.push(object);
        self
    }

    /// No list can be read.
    #[must_use]
    pub fn lists_fail(self) -> Self {
        Self { lists_fail: true, ..self }
    }

    /// Asks.
    ///
    /// # Errors
    /// There is no answer, or none that can be read.
    pub fn of(&self, policy: &dyn Policy) -> Result<Answer, PolicyError> {
        self.about_object(policy, &self.object)
    }

    /// Asks about another object in the same place.
    ///
    /// # Errors
    /// There is no answer, or none that can be read.
    pub fn about_object(&self, policy: &dyn Policy, object: &Value) -> Result<Answer, PolicyError> {
        let host = Arc::new(Host::new(self.cluster()));
        let (kind, operation) = (self.kind, self.operation);
        let request = Admission { kind, namespace: NAMESPACE, operation, object, user: "jane" }.request();
        let response = policy.respond(&request, &self.settings, &host)?;
        let stored = response.mutated_object.clone().unwrap_or_else(|| object.clone());
        Ok(Answer { object: stored, response, logged: host.logged().iter().map(ToString::to_string).collect() })
    }

    fn cluster(&self) -> impl Cluster + 'static {
        let metadata = json!({"name": NAMESPACE, "annotations": self.annotations, "labels": self.labels});
        let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})];
        objects.extend(control_plane("linkerd", &self.values, ANCHORS));
        objects.extend(self.objects.iter().cloned());
        let fails = self.lists_fail;
        Faults::new(Manifests::new(objects), move |query| match query {
            Query::KubernetesListResourceAll { api_version, kind, .. } if fails => {
                Some(Err(Refusal::forbidden(api_version, kind, "", None)))
            }
            _ => None,
        })
    }
}

impl Answer {
    /// What the person is told.
    #[must_use]
    pub fn warnings(&self) -> Vec<&str> {
        self.response.warnings.iter().flatten().map(String::as_str).collect()
    }

    /// Whether the object joined the mesh.
    #[must_use]
    pub fn is_injected(&self) -> bool {
        self.response.audit("injected") == Some("true")
    }

    /// The container or init container of that name.
    #[must_use]
    pub fn container(&self, name: &str) -> Option<&Value> {
        let lists = ["initContainers", "containers"].into_iter().filter_map(|list| self.object.get("spec")?.get(list)?.as_array());
        lists.flatten().find(|container| container.get("name").is_some_and(|known| known == name))
    }

    /// The names of a list of containers.
    #[must_use]
    pub fn names(&self, list: &str) -> Vec<&str> {
        let containers = self.object.get("spec").and_then(|spec| spec.get(list)?.as_array()).into_iter().flatten();
        containers.filter_map(|container| container.get("name")?.as_str()).collect()
    }

    /// The value of a variable of the proxy.
    #[must_use]
    pub fn env(&self, name: &str) -> Option<&str> {
        let env = self.container("linkerd-proxy")?.get("env")?.as_array()?;
        env.iter().find(|entry| entry.get("name").is_some_and(|known| known == name))?.get("value")?.as_str()
    }

    /// An annotation of the object.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.object.get("metadata")?.get("annotations")?.get(key)?.as_str()
    }

    /// What linkerd-init is told by a flag.
    #[must_use]
    pub fn flag(&self, flag: &str) -> Option<&str> {
        let arguments = self.container("linkerd-init")?.get("args")?.as_array()?;
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at.checked_add(1)?)?.as_str()
    }
}

fn with_app(mut spec: Value) -> Value {
    if spec.get("containers").is_none() {
        put(&mut spec, &["containers"], json!([{"name": "app", "image": "app"}]));
    }
    spec
}

fn put(at: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *at = value;
        return;
    };
    if !at.is_object() {
        *at = json!({});
    }
    if let Some(map) = at.as_object_mut() {
        put(map.entry((*first).to_owned()).or_insert(Value::Null), rest, value);
    }
}
