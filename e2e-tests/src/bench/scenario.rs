//! The requests that are measured: a table of what is admitted, with the configuration in the settings or in the cluster.
//!
//! Both configurations say the same, so that the policy makes the same object of a request.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    admission::Admission,
    case::{Case, Outcome, config_values, control_plane, corpus},
    cluster::{Cached, Manifests},
    host::{Host, Logs},
    laws::edits,
    policy::{Native, Policy as _, PolicyError},
    settings::{self, SettingsError},
};

/// The case of the corpus whose pod is the typical one: a web server with probes, resources and variables.
const TYPICAL: &str = "realistic/web-api+plain";
/// Where the control plane runs.
const CONTROL_PLANE: &str = "linkerd";
/// What other webhooks do to an injected pod.
const EDITS: &[&str] = &["sidecar with ports, as OPA", "log level, as kubemod", "preStop hook of the proxy"];

/// Where the policy has its configuration from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Configuration {
    /// The policy's settings; nothing is looked up.
    Settings,
    /// The namespace and the control plane's two ConfigMaps, with all of the chart's values.
    ConfigMaps,
}

impl Configuration {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Settings, Self::ConfigMaps];

    /// The name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::ConfigMaps => "ConfigMaps",
        }
    }
}

/// The namespaces of the scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// Its pods join the mesh.
    Meshed,
    /// Nobody says anything.
    Plain,
}

impl Namespace {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Meshed, Self::Plain];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Meshed => "shop",
            Self::Plain => "plain",
        }
    }
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name in tables.
    pub name: &'static str,
    /// The kind that is admitted.
    pub kind: &'static str,
    /// Where.
    pub namespace: Namespace,
    /// What becomes of it on a first call.
    outcome: Outcome,
    /// The object, made of the typical pod.
    object: fn(Value) -> Value,
    /// On a second call, what others did after the first.
    edits: Option<&'static [&'static str]>,
}

impl Scenario {
    /// What the policy makes of it: a second call has something to write only where others changed something.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if self.edits.is_some_and(<[_]>::is_empty) { Outcome::Skipped } else { self.outcome }
    }
}

/// A pod that nobody meshes and that exposes nothing.
pub const NOT_MESHED: Scenario = Scenario {
    name: "not meshed, no ports",
    kind: "Pod",
    namespace: Namespace::Plain,
    outcome: Outcome::Skipped,
    object: without_ports,
    edits: None,
};
/// The typical pod, which is meshed.
pub const TYPICAL_POD: Scenario =
    Scenario { name: "typical pod", namespace: Namespace::Meshed, outcome: Outcome::Injected, object: |pod| pod, ..NOT_MESHED };
/// A pod with 30 containers.
pub const THIRTY_CONTAINERS: Scenario = Scenario { name: "30 containers", object: thirty_containers, ..TYPICAL_POD };

/// Every request that is measured.
pub const SCENARIOS: [Scenario; 9] = [
    NOT_MESHED,
    Scenario { name: "not meshed, with ports", object: |pod| pod, ..NOT_MESHED },
    TYPICAL_POD,
    THIRTY_CONTAINERS,
    Scenario { name: "env of 2,000 entries", object: |pod| with_env(pod, 2000), ..TYPICAL_POD },
    Scenario { name: "second call, no change", edits: Some(&[]), ..TYPICAL_POD },
    Scenario { name: "second call, foreign edits", edits: Some(EDITS), ..TYPICAL_POD },
    Scenario { name: "Service", kind: "Service", outcome: Outcome::Annotated, object: |_| service(), ..TYPICAL_POD },
    Scenario { name: "Deployment, check only", kind: "Deployment", outcome: Outcome::Skipped, object: deployment, ..TYPICAL_POD },
];

/// The pods by which growth is measured: entries of the first container's environment, from few to many in two steps of equal length.
pub const GROWTH: [(usize, Scenario); 3] = [
    (1, Scenario { name: "env of 1 entry", object: |pod| with_env(pod, 1), ..TYPICAL_POD }),
    (1000, Scenario { name: "env of 1,000 entries", object: |pod| with_env(pod, 1000), ..TYPICAL_POD }),
    (2000, Scenario { name: "env of 2,000 entries", object: |pod| with_env(pod, 2000), ..TYPICAL_POD }),
];

/// Why there is no request.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The corpus cannot be read.
    #[error(transparent)]
    Corpus(#[from] corpus::CorpusError),
    /// The settings of the example cannot be read.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The first call gives no answer.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The corpus or the table of edits has none of that name.
    #[error("there is no {0}")]
    Missing(&'static str),
}

/// What a policy is called with.
pub struct Call {
    /// Request and settings.
    pub payload: Vec<u8>,
    /// Who answers.
    pub host: Arc<Host>,
}

/// The mesh that the requests are made in.
pub struct World {
    pod: Value,
    settings: Value,
}

impl World {
    /// Reads the typical pod from the corpus and the configuration from the example settings.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn read() -> Result<Self, ScenarioError> {
        let case = corpus::cases()?.into_iter().find(|case| case.name == TYPICAL).ok_or(ScenarioError::Missing(TYPICAL))?;
        let mut pod = case.request.object;
        if let Some(annotations) = pod.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
            // The namespace says whether it joins the mesh.
            annotations.remove("linkerd.io/inject");
        }
        let example = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../artefacts/examples/settings-offline.yaml"));
        Ok(Self { pod, settings: settings::read(&example)? })
    }

    /// The policy's settings, for objects of that namespace.
    #[must_use]
    pub fn settings(&self, configuration: Configuration, namespace: Namespace) -> Value {
        match configuration {
            Configuration::ConfigMaps => json!({"controlPlaneNamespace": CONTROL_PLANE}),
            Configuration::Settings => {
                let mut settings = self.settings.clone();
                if let Some(annotations) = settings.get_mut("namespaceAnnotations") {
                    *annotations = self.annotations(namespace);
                }
                settings
            }
        }
    }

    /// What a policy finds in the cluster: the namespaces and the control plane's ConfigMaps.
    #[must_use]
    pub fn objects(&self) -> Vec<Value> {
        let namespaces = Namespace::ALL.map(|namespace| {
            let metadata = json!({"name": namespace.name(), "annotations": self.annotations(namespace)});
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        });
        let mut values = self.values();
        let trust_anchors = values.remove("identityTrustAnchorsPEM").unwrap_or_default();
        let maps = control_plane(CONTROL_PLANE, &config_values(&values), trust_anchors.as_str().unwrap_or_default());
        namespaces.into_iter().chain(maps).collect()
    }

    /// The same mesh as a case of the corpus, for Linkerd's injector.
    #[must_use]
    pub fn case(&self) -> Case {
        let namespace = Namespace::Meshed;
        let mut values = self.values();
        let trust_anchors = values.remove("identityTrustAnchorsPEM").unwrap_or_default();
        Case {
            name: "bench".to_owned(),
            family: String::new(),
            control_plane_namespace: CONTROL_PLANE.to_owned(),
            values,
            trust_anchors: trust_anchors.as_str().unwrap_or_default().to_owned(),
            namespace: crate::case::Namespace {
                name: namespace.name().to_owned(),
                annotations: self.annotations(namespace).as_object().cloned().unwrap_or_default(),
                labels: serde_json::Map::new(),
            },
            // Its own namespace and the configuration are not among a case's objects.
            cluster: self.objects().into_iter().filter(|object| is_named(object, Namespace::Plain.name())).collect(),
            request: crate::case::Request {
                kind: "Pod".to_owned(),
                namespace: namespace.name().to_owned(),
                operation: "CREATE".to_owned(),
                sub_resource: String::new(),
                object: self.pod.clone(),
            },
        }
    }

    /// The admission request of a scenario.
    ///
    /// # Errors
    /// The first call, which comes before a second one, gives no answer, or there is no edit of that name.
    pub fn request(&self, scenario: &Scenario) -> Result<Value, ScenarioError> {
        let mut object = (scenario.object)(self.pod.clone());
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("namespace".to_owned(), scenario.namespace.name().into());
        }
        if let Some(edits) = scenario.edits {
            let settings = self.settings(Configuration::Settings, scenario.namespace);
            let first = Native.respond(&admission(scenario, &object), &settings, &Arc::new(Host::alone()))?;
            object = first.mutated_object.unwrap_or(object);
            for name in edits {
                let edit = edits::named(name).ok_or(ScenarioError::Missing(name))?;
                (edit.apply)(&mut object);
            }
        }
        Ok(admission(scenario, &object))
    }

    /// A scenario as a policy gets it.
    ///
    /// # Errors
    /// There is no request.
    pub fn call(&self, scenario: &Scenario, configuration: Configuration) -> Result<Call, ScenarioError> {
        let request = self.request(scenario)?;
        let payload = json!({"request": request, "settings": self.settings(configuration, scenario.namespace)});
        let host = match configuration {
            Configuration::Settings => Host::alone(),
            Configuration::ConfigMaps => Host::new(Cached::new(Manifests::new(self.objects()))),
        };
        // Each call logs a line, and there are many calls.
        Ok(Call { payload: payload.to_string().into_bytes(), host: Arc::new(host.with_logs(Logs::Dropped)) })
    }

    fn annotations(&self, namespace: Namespace) -> Value {
        match namespace {
            Namespace::Meshed => self.settings.get("namespaceAnnotations").cloned().unwrap_or_default(),
            Namespace::Plain => json!({}),
        }
    }

    fn values(&self) -> serde_json::Map<String, Value> {
        self.settings.get("values").and_then(Value::as_object).cloned().unwrap_or_default()
    }
}

fn is_named(object: &Value, name: &str) -> bool {
    object.pointer("/metadata/name").and_then(Value::as_str) == Some(name)
}

fn admission(scenario: &Scenario, object: &Value) -> Value {
    let (kind, namespace) = (scenario.kind, scenario.namespace.name());
    let user = "system:serviceaccount:kube-system:replicaset-controller";
    Admission { kind, namespace, operation: "CREATE", object, user }.request()
}

fn containers(pod: &mut Value) -> Option<&mut Vec<Value>> {
    pod.pointer_mut("/spec/containers")?.as_array_mut()
}

fn without_ports(mut pod: Value) -> Value {
    for container in containers(&mut pod).into_iter().flatten().filter_map(Value::as_object_mut) {
        container.retain(|key, _| key != "ports" && !key.ends_with("Probe"));
    }
    pod
}

fn thirty_containers(mut pod: Value) -> Value {
    if let Some(containers) = containers(&mut pod)
        && let Some(first) = containers.first().cloned()
    {
        containers.extend((1..30_u16).map(|number| {
            let mut container = first.clone();
            if let Some(container) = container.as_object_mut() {
                let port = 8080_u16.saturating_add(number);
                container.insert("name".to_owned(), format!("app-{number}").into());
                container.insert("ports".to_owned(), json!([{"containerPort": port, "name": format!("http-{number}")}]));
                container.retain(|key, _| !key.ends_with("Probe"));
            }
            container
        }));
    }
    pod
}

fn with_env(mut pod: Value, entries: usize) -> Value {
    let env: Vec<Value> =
        (0..entries).map(|n| json!({"name": format!("FEATURE_{n:04}"), "value": format!("the value of feature {n}")})).collect();
    if let Some(first) = containers(&mut pod).and_then(|containers| containers.first_mut()).and_then(Value::as_object_mut) {
        first.insert("env".to_owned(), env.into());
    }
    pod
}

fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "db"},
        "spec": {"selector": {"app": "db"}, "ports": [{"name": "http", "port": 80}, {"name": "mysql", "port": 3306}]},
    })
}

fn deployment(pod: Value) -> Value {
    let labels = json!({"app": "web"});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": labels},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod.get("spec")},
        },
    })
}

#[cfg(test)]
mod tests;
