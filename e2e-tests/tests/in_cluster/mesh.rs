//! A real API server and a real policy server, set up with the files of `artefacts`, as a cluster would be.

use std::{
    fs, thread,
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
        Self::start_with(test, &[])
    }

    /// The same with more policies, by id and settings.
    pub fn start_with(test: &str, more: &[(&str, Value)]) -> Option<Self> {
        let program = programs::find_or_skip("policy-server", test)?;
        let module = artefacts::annotated_module_or_skip(test)?;
        let api = ApiServer::start(&Programs::find_or_skip(test)?, &[]).unwrap();
        let folder = Folder::new("in-cluster").unwrap();
        namespaces(&api);
        for object in artefact("rbac.yaml").iter().filter(|object| object["kind"] != "RoleBinding") {
            create(&api, object);
        }
        let kubeconfig = folder.file("kubeconfig");
        fs::write(&kubeconfig, service_account(&api).to_string()).unwrap();
        let text = fs::read_to_string(artefacts::folder().join("policies.yml")).unwrap();
        let mut policies: Value = serde_norway::from_str(&text).unwrap();
        for (id, settings) in more {
            policies[id] = policies["linkerd-injector"].clone();
            policies[id]["settings"] = settings.clone();
        }
        for policy in policies.as_object_mut().unwrap().values_mut() {
            policy["module"] = json!(format!("file://{}", module.display()));
        }
        // JSON is YAML.
        let policies = policies.to_string();
        let policies = PolicyServer::start(&program, &folder.file("policy-server"), &policies, Some(&kubeconfig), &[]).unwrap();
        Some(Self { policies, api, folder })
    }

    /// The policy server.
    pub fn policies(&self) -> &PolicyServer {
        &self.policies
    }

    /// Gives the policy server its rights on the configuration.
    pub fn grant(&self) {
        for object in artefact("rbac.yaml").iter().filter(|object| object["kind"] == "RoleBinding") {
            self.create(object);
        }
    }

    /// Gives it the rights that following limit ranges takes.
    pub fn grant_limit_ranges(&self) {
        for object in artefact("rbac-limitranges.yaml") {
            self.create(&object);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": "system:serviceaccount:kubewarden:linkerd-injector",
                "resourceAttributes": {"verb": "list", "resource": "limitranges"},
            },
        });
        self.until("the right to list limit ranges", || {
            let answer =
                self.api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review).map_err(|error| error.to_string())?;
            if answer.body["status"]["allowed"] == true { Ok(()) } else { Err(answer.body.to_string()) }
        });
    }

    /// The configuration of the control plane, the chart's, in two ConfigMaps.
    pub fn configuration() -> [Value; 2] {
        control_plane("linkerd", &json!(chart_defaults()), &trust_anchors())
    }

    /// Our webhook as `artefacts` ships it, but for the address, which in a cluster is a service.
    pub fn webhook(&self) -> Value {
        let [mut configuration] = <[Value; 1]>::try_from(artefact("reinvocation/webhook.yaml")).unwrap();
        configuration["webhooks"][0]["clientConfig"] = client(&self.policies.url("linkerd-injector"), &self.policies.ca);
        configuration
    }

    /// The webhook of one of several policies, for the namespaces whose label `policy` names it.
    pub fn webhook_of(&self, id: &str) -> Value {
        let mut configuration = self.webhook();
        configuration["metadata"]["name"] = json!(id);
        let webhook = &mut configuration["webhooks"][0];
        webhook["clientConfig"] = client(&self.policies.url(id), &self.policies.ca);
        webhook["failurePolicy"] = json!("Fail");
        webhook["namespaceSelector"] = json!({"matchLabels": {"policy": id}});
        configuration
    }

    /// A namespace with the service account that its pods run under; nobody else makes one here.
    pub fn namespace(&self, name: &str, annotations: &Value) {
        self.labelled_namespace(name, annotations, &json!({}));
    }

    /// The same with labels.
    pub fn labelled_namespace(&self, name: &str, annotations: &Value, labels: &Value) {
        let metadata = json!({"name": name, "annotations": annotations, "labels": labels});
        self.create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
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
        until_or_show(what, ask, || {
            let log = self.policies.log();
            log.lines().filter(|line| !line.contains("INFO")).collect::<Vec<_>>().join("\n")
        })
    }
}

/// Asks until the answer is there.
pub fn until<T>(what: &str, ask: impl Fn() -> Result<T, String>) -> T {
    until_or_show(what, ask, String::new)
}

fn until_or_show<T>(what: &str, ask: impl Fn() -> Result<T, String>, show: impl Fn() -> String) -> T {
    let started = Instant::now();
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(last) if started.elapsed() > PATIENCE => {
                panic!("{what}: not after {} s: {last}\n{}", PATIENCE.as_secs(), show())
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
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

/// The namespaces that Kubewarden and Linkerd live in.
pub fn namespaces(api: &ApiServer) {
    create(api, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubewarden"}}));
    let labels = json!({"config.linkerd.io/admission-webhooks": "disabled"});
    create(api, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "linkerd", "labels": labels}}));
}

/// Creates an object that nothing may hinder, and gives it as it is stored.
pub fn create(api: &ApiServer, object: &Value) -> Value {
    let answer = api.post(&kinds::collection(object), object).unwrap();
    assert!(answer.is_success(), "{}: {}", object["kind"], answer.message());
    answer.body
}

/// A token of a service account in the namespace of Kubewarden.
pub fn token(api: &ApiServer, account: &str) -> Value {
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}});
    let answer = api.post(&format!("/api/v1/namespaces/kubewarden/serviceaccounts/{account}/token"), &request).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body["status"]["token"].clone()
}

/// A kubeconfig of the policy server's service account.
fn service_account(api: &ApiServer) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": api.url(), "certificate-authority": api.certificate()}}],
        "users": [{"name": "linkerd-injector", "user": {"token": token(api, "linkerd-injector")}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "linkerd-injector"}}],
        "current-context": "test",
    })
}

/// The documents of a shipped file.
pub fn artefact(name: &str) -> Vec<Value> {
    artefacts::documents(name).unwrap()
}
