//! A real API server and a real policy server, set up with the files of `artefacts`, as a cluster would be.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use e2e_tests::{
    artefacts,
    case::{chart_defaults, control_plane, corpus},
    kinds, programs,
    real::{
        Folder,
        api_server::{Answer, ApiServer, Programs},
        policy_server::PolicyServer,
    },
};
use serde::Deserialize as _;
use serde_json::{Value, json};

/// How long the API server may take to see what was just created.
const PATIENCE: Duration = Duration::from_secs(20);

/// The cluster of one test.
pub struct Mesh {
    // Fields are dropped in order: whoever asks goes before whoever answers.
    policies: PolicyServer,
    pub api: ApiServer,
    pub folder: Folder,
}

impl Mesh {
    /// Starts both servers, with all rights of `artefacts/rbac.yaml` but those on the configuration; or says that `test` is skipped.
    pub fn start(test: &str) -> Option<Self> {
        let program = programs::find_or_skip("policy-server", test)?;
        let module = artefacts::annotated_module_or_skip(test)?;
        let api = ApiServer::start(&Programs::find_or_skip(test)?, &[]).unwrap();
        let folder = Folder::new("in-cluster").unwrap();
        create(&api, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubewarden"}}));
        let labels = json!({"config.linkerd.io/admission-webhooks": "disabled"});
        create(&api, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "linkerd", "labels": labels}}));
        for object in artefact("rbac.yaml").iter().filter(|object| object["kind"] != "RoleBinding") {
            create(&api, object);
        }
        let kubeconfig = folder.file("kubeconfig");
        fs::write(&kubeconfig, service_account(&api).to_string()).unwrap();
        let text = fs::read_to_string(shipped().join("policies.yml")).unwrap();
        let policies = text.replace("module: MODULE", &format!("module: file://{}", module.display()));
        let policies = PolicyServer::start(&program, &folder.file("policy-server"), &policies, &kubeconfig).unwrap();
        Some(Self { policies, api, folder })
    }

    /// Gives the policy server its rights on the configuration.
    pub fn grant(&self) {
        for object in artefact("rbac.yaml").iter().filter(|object| object["kind"] == "RoleBinding") {
            self.create(object);
        }
    }

    /// The configuration of the control plane, the chart's, in two ConfigMaps.
    pub fn configuration() -> [Value; 2] {
        control_plane("linkerd", &json!(chart_defaults()), &trust_anchors())
    }

    /// Our webhook as `artefacts` ships it, but for the address, which in a cluster is a service.
    pub fn webhook(&self) -> Value {
        let [mut configuration] = <[Value; 1]>::try_from(artefact("reinvocation-webhook.yaml")).unwrap();
        configuration["webhooks"][0]["clientConfig"] = client(&self.policies.url("linkerd-injector"), &self.policies.ca);
        configuration
    }

    /// A namespace with the service account that its pods run under; nobody else makes one here.
    pub fn namespace(&self, name: &str, annotations: &Value) {
        self.create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}}));
        self.create(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}));
    }

    /// Creates an object that nothing may hinder, and gives it as it is stored.
    pub fn create(&self, object: &Value) -> Value {
        create(&self.api, object)
    }

    /// What would become of an object.
    pub fn dry_run(&self, object: &Value) -> Answer {
        self.api.post(&format!("{}?dryRun=All", kinds::collection(object)), object).unwrap()
    }

    /// Asks until the answer is there: the API server sees new webhooks, rights and objects a moment later.
    pub fn until<T>(&self, what: &str, ask: impl Fn() -> Result<T, String>) -> T {
        let started = Instant::now();
        loop {
            match ask() {
                Ok(answer) => return answer,
                Err(last) if started.elapsed() > PATIENCE => {
                    let log = self.policies.log();
                    let log: Vec<&str> = log.lines().filter(|line| !line.contains("INFO")).collect();
                    panic!("{what}: not after {} s: {last}\n{}", PATIENCE.as_secs(), log.join("\n"))
                }
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    }
}

/// How a webhook on the loopback is called.
pub fn client(url: &str, ca: &str) -> Value {
    json!({"url": url, "caBundle": BASE64_STANDARD.encode(ca)})
}

/// The trust anchors of the mesh.
pub fn trust_anchors() -> String {
    corpus::cases().unwrap().swap_remove(0).trust_anchors
}

/// The container or init container of a pod with this name.
pub fn container<'a>(pod: &'a Value, name: &str) -> &'a Value {
    let lists = ["initContainers", "containers"].into_iter().filter_map(|list| pod["spec"][list].as_array());
    lists.flatten().find(|container| container["name"] == name).unwrap_or_else(|| panic!("no container {name} in {pod}"))
}

fn create(api: &ApiServer, object: &Value) -> Value {
    let answer = api.post(&kinds::collection(object), object).unwrap();
    assert!(answer.is_success(), "{}: {}", object["kind"], answer.message());
    answer.body
}

/// A kubeconfig of the policy server's service account.
fn service_account(api: &ApiServer) -> Value {
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}});
    let answer = api.post("/api/v1/namespaces/kubewarden/serviceaccounts/linkerd-injector/token", &request).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": api.url(), "certificate-authority": api.certificate()}}],
        "users": [{"name": "linkerd-injector", "user": {"token": answer.body["status"]["token"]}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "linkerd-injector"}}],
        "current-context": "test",
    })
}

fn artefact(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(shipped().join(name)).unwrap();
    serde_norway::Deserializer::from_str(&text).map(|document| Value::deserialize(document).unwrap()).collect()
}

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../artefacts")
}
