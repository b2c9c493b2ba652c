//! Cases from a seed: objects that the API server takes, with annotations and a configuration that may be anything.

use serde_json::{Map, Value, json};

use super::{
    choice::Choice,
    owner::{Owners, owners},
    pod, service,
    text::{POOLS, any_text, text},
    values::values,
};
use crate::case::{Case, Namespace, Request};

/// The family of the cases.
pub const FAMILY: &str = "differential";

const TRUST_ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIBizCCATGgAwIBAgIRAKq0bVbZ6m0f8dF9nVn2mDYwCgYIKoZIzj0EAwIwJTEj\nMCEGA1UEAxMacm9vdC5saW5rZXJkLmNsdXN0ZXIubG9jYWwwHhcNMjYwMTAxMDAw\n-----END CERTIFICATE-----\n";

/// The cases of a seed, without end. How many are asked for does not change which they are.
#[derive(Debug, Clone)]
pub struct Generator {
    seed: u64,
    number: u64,
    choice: Choice,
}

impl Generator {
    /// The cases of a seed, from the first.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, number: 0, choice: Choice::of(seed) }
    }
}

impl Iterator for Generator {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        let name = format!("{FAMILY}/{}-{}", self.seed, self.number);
        self.number = self.number.saturating_add(1);
        Some(case(&mut self.choice.fork(), name))
    }
}

fn case(choice: &mut Choice, name: String) -> Case {
    let namespace = choice.pick(&["shop", "shop", "linkerd-apps", "a", "123"]);
    let is_pod = !choice.one_in(8);
    let (of_object, of_namespace) = annotations(choice, is_pod);
    let (object, cluster) =
        if is_pod { a_pod(choice, namespace, of_object) } else { (a_service(choice, namespace, of_object), Vec::new()) };
    Case {
        name,
        family: FAMILY.to_owned(),
        control_plane_namespace: choice.pick(&["linkerd", "linkerd", "linkerd", "linkerd", "mesh", "l5d-2"]).to_owned(),
        values: values(choice),
        trust_anchors: trust_anchors(choice),
        namespace: Namespace {
            name: namespace.to_owned(),
            annotations: of_namespace,
            labels: Map::from_iter([("kubernetes.io/metadata.name".to_owned(), json!(namespace))]),
        },
        cluster,
        request: Request {
            kind: if is_pod { "Pod" } else { "Service" }.to_owned(),
            namespace: namespace.to_owned(),
            operation: "CREATE".to_owned(),
            sub_resource: String::new(),
            object,
        },
    }
}

fn trust_anchors(choice: &mut Choice) -> String {
    match choice.below(12) {
        0 => TRUST_ANCHORS.trim_end().to_owned(),
        1 => format!("\n{TRUST_ANCHORS}\n\n"),
        2 => TRUST_ANCHORS.repeat(2),
        _ => TRUST_ANCHORS.to_owned(),
    }
}

/// The annotations of the object and of its namespace.
fn annotations(choice: &mut Choice, is_pod: bool) -> (Map<String, Value>, Map<String, Value>) {
    let keys: Vec<&str> = POOLS.iter().flat_map(|pool| pool.keys.iter().copied()).collect();
    let (mut own, mut inherited) = (Map::new(), Map::new());
    let (many, of_namespace) = (choice.below(10), choice.below(7));
    for _ in 0..many {
        let key = choice.pick(&keys);
        set(choice, &mut own, key);
        // What both say is where they can contradict each other.
        if choice.one_in(6) {
            set(choice, &mut inherited, key);
        }
    }
    for _ in 0..of_namespace {
        let key = choice.pick(&keys);
        set(choice, &mut inherited, key);
    }
    // Most pods are meant to come into the mesh: of one that stays out, little is to be seen.
    if is_pod && !choice.one_in(12) {
        let asks = if choice.one_in(2) { &mut own } else { &mut inherited };
        asks.insert("linkerd.io/inject".to_owned(), json!(if choice.one_in(8) { "ingress" } else { "enabled" }));
    }
    if choice.one_in(3) {
        let says = if is_pod && choice.one_in(2) { &mut inherited } else { &mut own };
        set(choice, says, "config.linkerd.io/opaque-ports");
    }
    for key in choice.some(OF_OTHERS, 3) {
        let text = any_text(choice);
        own.insert(key.to_owned(), json!(text));
    }
    if choice.one_in(10) {
        let text = any_text(choice);
        let key = choice.pick(OF_OTHERS);
        inherited.insert(key.to_owned(), json!(text));
    }
    (own, inherited)
}

/// Annotations that are nobody's, and such as have to do with the mesh and configure nothing.
const OF_OTHERS: &[&str] = &[
    "example.test/a",
    "prometheus.io/scrape",
    "config.linkerd.io/no-such-thing",
    "config.linkerd.io/proxy-outbound-port",
    "linkerd.io/extension",
    "resource.opentelemetry.io/team",
    "resource.opentelemetry.io/service.version",
    "kubectl.kubernetes.io/default-logs-container",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "viz.linkerd.io/tap-enabled",
];

fn set(choice: &mut Choice, annotations: &mut Map<String, Value>, key: &str) {
    let text = text(choice, key);
    annotations.insert(key.to_owned(), json!(text));
}

const LABELS: &[(&str, &str)] = &[
    ("app", "web"),
    ("app.kubernetes.io/name", "n"),
    ("app.kubernetes.io/instance", "i.1_2"),
    ("version", ""),
    ("linkerd.io/control-plane-ns", "elsewhere"),
    ("linkerd.io/workload-ns", "elsewhere"),
    ("linkerd.io/proxy-deployment", "other"),
    ("linkerd.io/inject", "enabled"),
];

fn a_pod(choice: &mut Choice, namespace: &str, annotations: Map<String, Value>) -> (Value, Vec<Value>) {
    let Owners { references, cluster, labels, prefix } = owners(choice, namespace);
    let mut metadata = Map::from_iter([("namespace".to_owned(), json!(namespace))]);
    if choice.one_in(3) && !references.is_empty() {
        metadata.insert("generateName".to_owned(), json!(format!("{prefix}-")));
    } else {
        metadata.insert("name".to_owned(), json!(format!("{prefix}-x7k2p")));
    }
    let mut labels = labels;
    labels.extend(choice.some(LABELS, 4).into_iter().map(|(key, value)| (key.to_owned(), json!(value))));
    for (key, map) in [("labels", labels), ("annotations", annotations)] {
        if !map.is_empty() || choice.one_in(8) {
            metadata.insert(key.to_owned(), Value::Object(map));
        }
    }
    if !references.is_empty() {
        metadata.insert("ownerReferences".to_owned(), json!(references));
    }
    choice.may_set(&mut metadata, 5, "creationTimestamp", "[null]");
    choice.may_set(&mut metadata, 15, "finalizers", r#"[["example.test/f"]]"#);
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod::spec(choice)});
    if let Some(members) = pod.as_object_mut() {
        choice.may_set(members, 5, "status", "[{}]");
    }
    (pod, cluster)
}

fn a_service(choice: &mut Choice, namespace: &str, annotations: Map<String, Value>) -> Value {
    let mut metadata = Map::from_iter([("name".to_owned(), json!("db")), ("namespace".to_owned(), json!(namespace))]);
    if !annotations.is_empty() || choice.one_in(4) {
        metadata.insert("annotations".to_owned(), Value::Object(annotations));
    }
    choice.may_set(&mut metadata, 5, "labels", r#"[{"app": "web"}, {}]"#);
    json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service::spec(choice)})
}

#[cfg(test)]
mod tests {
    use linkerd_injector_policy::overrides::OVERRIDES;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_cases_however_many() {
        let few: Vec<Case> = Generator::new(5).take(20).collect();
        let many: Vec<Case> = Generator::new(5).take(60).collect();
        assert_eq!(few, many[..20]);
        let names: std::collections::BTreeSet<&String> = many.iter().map(|case| &case.name).collect();
        assert_eq!(names.len(), 60);
        let others: Vec<Case> = Generator::new(6).take(20).collect();
        assert!(few.iter().zip(&others).all(|(one, other)| one.request.object != other.request.object));
    }

    #[test]
    fn every_annotation_of_the_table_occurs_on_pods_and_namespaces() {
        let cases: Vec<Case> = Generator::new(1).take(600).collect();
        for key in OVERRIDES.iter().flat_map(|o| o.keys).chain([&"linkerd.io/inject"]) {
            let own = |case: &&Case| case.request.object["metadata"]["annotations"].get(key).is_some();
            let of_pods = cases.iter().filter(|case| case.request.kind == "Pod").filter(own).count();
            let of_namespaces = cases.iter().filter(|case| case.namespace.annotations.contains_key(*key)).count();
            assert!(of_pods > 10 && of_namespaces > 10, "{key}: {of_pods} pods, {of_namespaces} namespaces");
        }
    }

    #[test]
    fn shapes_of_all_sorts_occur() {
        let cases: Vec<Case> = Generator::new(2).take(2000).collect();
        let pods: Vec<&Value> = cases.iter().filter(|case| case.request.kind == "Pod").map(|case| &case.request.object).collect();
        let share = |what: &str, is: &dyn Fn(&Value) -> bool| {
            let count = pods.iter().filter(|pod| is(pod)).count();
            assert!(count >= 10 && count < pods.len() - 10, "{what}: {count} of {}", pods.len());
        };
        let any = |pod: &Value, list: &str, is: &dyn Fn(&Value) -> bool| pod["spec"][list].as_array().into_iter().flatten().any(is);
        share("init containers", &|pod| any(pod, "initContainers", &|_| true));
        share("native sidecars", &|pod| any(pod, "initContainers", &|container| container["restartPolicy"] == "Always"));
        share("host network", &|pod| pod["spec"]["hostNetwork"] == true);
        share("windows", &|pod| pod["spec"]["os"]["name"] == "windows");
        share("volumes", &|pod| any(pod, "volumes", &|_| true));
        for field in
            ["ports", "livenessProbe", "readinessProbe", "startupProbe", "securityContext", "lifecycle", "volumeMounts", "env"]
        {
            share(field, &|pod| any(pod, "containers", &|container| container.get(field).is_some()));
        }
        for kind in ["ReplicaSet", "Job", "StatefulSet", "DaemonSet", "CronJob"] {
            share(kind, &|pod| {
                pod["metadata"]["ownerReferences"].as_array().into_iter().flatten().any(|owner| owner["kind"] == kind)
            });
        }
        assert!(cases.len() - pods.len() > 100, "services");
        let cni = cases.iter().filter(|case| case.values.get("cniEnabled") == Some(&json!(true))).count();
        assert!(cni > 100 && cni < 1000, "{cni} with CNI");
    }
}
