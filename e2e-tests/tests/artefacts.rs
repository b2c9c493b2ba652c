//! What is shipped with the module: the files agree with each other, with the policy's tables, and with the policy.

#[cfg(test)]
mod shipped {
    use std::{
        collections::{BTreeMap, BTreeSet},
        fs,
        path::Path,
        process::Command,
        sync::Arc,
    };

    use e2e_tests::{
        artefacts::{documents, documents_of, folder},
        cluster::{Asked, Manifests},
        host::Host,
        policy::{Native, Policy as _},
        programs,
        real::Folder,
        settings,
    };
    use linkerd_injector_policy::settings::SETTINGS;
    use serde_json::{Value, json};

    const NAME: &str = "linkerd-injector-policy";

    fn one(file: &str) -> Value {
        let [document] = <[Value; 1]>::try_from(documents(file).unwrap()).unwrap();
        document
    }

    fn metadata() -> Value {
        documents_of(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../policy-metadata.yml"))).unwrap().remove(0)
    }

    /// A list as a set, for lists whose order means nothing.
    fn set(list: &Value) -> BTreeSet<String> {
        list.as_array().unwrap().iter().map(Value::to_string).collect()
    }

    /// A YAML text that is the value of an annotation.
    fn yaml(text: &Value) -> Value {
        serde_norway::from_str(text.as_str().unwrap()).unwrap()
    }

    #[test]
    fn every_file_is_of_the_same_version() {
        let version = env!("CARGO_PKG_VERSION");
        let annotations = &metadata()["annotations"];
        assert_eq!(annotations["io.kubewarden.policy.version"], version);
        let image = format!("{}:v{version}", annotations["io.kubewarden.policy.ociUrl"].as_str().unwrap());
        for file in ["cluster-admission-policy.yaml", "admission-policy.yaml"] {
            assert_eq!(one(file)["spec"]["module"], format!("registry://{image}"), "{file}");
        }
        let package = one("artifacthub-pkg.yml");
        assert_eq!((&package["version"], &package["containersImages"][0]["image"]), (&json!(version), &json!(image)));
    }

    /// What `make artifacthub` writes, without kwctl; `kwctl.bats` compares the file with kwctl's own.
    #[test]
    fn the_package_says_what_the_metadata_says() {
        let (metadata, package) = (metadata(), one("artifacthub-pkg.yml"));
        let said = |key: &str| metadata["annotations"][key].clone();
        assert_eq!(package["name"], said("io.kubewarden.policy.title"));
        assert_eq!(package["displayName"], said("io.artifacthub.displayName"));
        assert_eq!(package["description"], said("io.kubewarden.policy.description"));
        assert_eq!(package["license"], said("io.kubewarden.policy.license"));
        assert_eq!(package["homeURL"], said("io.kubewarden.policy.url"));
        let keywords: Vec<&str> = package["keywords"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(json!(keywords.join(", ")), said("io.artifacthub.keywords"));
        let source = json!({"name": "source", "url": said("io.kubewarden.policy.source")});
        assert!(package["links"].as_array().unwrap().contains(&source));
        assert!(
            said("io.kubewarden.policy.author").as_str().unwrap().contains(package["maintainers"][0]["email"].as_str().unwrap())
        );
        let annotations = &package["annotations"];
        assert_eq!(annotations["kubewarden/mutation"], metadata["mutating"].to_string());
        assert_eq!(annotations["kubewarden/resources"], said("io.artifacthub.resources"));
        assert_eq!(yaml(&annotations["kubewarden/rules"]), metadata["rules"]);
        assert_eq!(set(&yaml(&annotations["kubewarden/contextAwareResources"])), set(&metadata["contextAwareResources"]));
        assert_eq!(yaml(&annotations["kubewarden/questions-ui"]), one("questions-ui.yml"));
    }

    #[test]
    fn the_policy_asks_for_what_the_metadata_says() {
        let metadata = metadata();
        let spec = &one("cluster-admission-policy.yaml")["spec"];
        for key in ["rules", "mutating", "backgroundAudit"] {
            assert_eq!(spec[key], metadata[key], "{key}");
        }
        assert_eq!(set(&spec["contextAwareResources"]), set(&metadata["contextAwareResources"]));
        let policies = one("policies.yml");
        assert_eq!(set(&policies["linkerd-injector"]["contextAwareResources"]), set(&metadata["contextAwareResources"]));
        assert_eq!(set(&policies["linkerd-injector"]["hostCapabilities"]), set(&metadata["hostCapabilities"]));
    }

    /// Where the webhook of the component serves, no request may be lost that the policy's own would have got.
    #[test]
    fn the_reinvocation_webhook_is_the_policys_own() {
        let policy = one("cluster-admission-policy.yaml");
        let webhook = &one("reinvocation/webhook.yaml")["webhooks"][0];
        let spec = &policy["spec"];
        for key in ["failurePolicy", "sideEffects", "timeoutSeconds", "objectSelector"] {
            assert_eq!(webhook[key], spec[key], "{key}");
        }
        let mut rules = webhook["rules"].clone();
        for rule in rules.as_array_mut().unwrap() {
            assert_eq!(rule.as_object_mut().unwrap().remove("scope"), Some(json!("Namespaced")));
        }
        assert_eq!(rules, spec["rules"]);
        // Kubewarden adds its own namespace to those that a policy is not asked about.
        let mut namespaces = webhook["namespaceSelector"]["matchExpressions"].clone();
        let own = namespaces.pointer_mut("/1/values").unwrap().as_array_mut().unwrap().pop();
        assert_eq!(own, Some(json!("kubewarden")));
        assert_eq!(namespaces, spec["namespaceSelector"]["matchExpressions"]);
        let service = &webhook["clientConfig"]["service"];
        let server = one("policy-server.yaml")["metadata"]["name"].as_str().unwrap().to_owned();
        assert_eq!(spec["policyServer"], server);
        assert_eq!(service["name"], format!("policy-server-{server}"));
        assert_eq!(service["path"], format!("/validate/clusterwide-{}", policy["metadata"]["name"].as_str().unwrap()));
        assert_eq!(webhook["reinvocationPolicy"], "IfNeeded");
    }

    #[test]
    fn every_setting_has_its_question() {
        let questions = one("questions-ui.yml");
        let questions = questions["questions"].as_array().unwrap();
        let asked: Vec<&str> = questions.iter().map(|question| question["variable"].as_str().unwrap()).collect();
        let settings: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        assert_eq!(asked, settings);
        let mut defaults = BTreeMap::new();
        for (question, setting) in questions.iter().zip(SETTINGS) {
            let name = setting.name;
            let (default, _) = setting.reference;
            assert_eq!(question["default"], serde_norway::from_str::<Value>(default).unwrap(), "{name}");
            defaults.insert(name, question["default"].clone());
            let refused = Native.check_settings(&json!({name: "Nonsense"})).unwrap();
            let options: Option<Vec<&str>> =
                question["options"].as_array().map(|options| options.iter().filter_map(Value::as_str).collect());
            match options {
                Some(options) => {
                    assert_eq!(question["type"], "enum", "{name}");
                    assert_eq!(refused.message.unwrap(), format!("{name} is not one of {}", options.join(", ")));
                }
                None => assert!(!refused.message.unwrap().contains("is not one of"), "{name} has options"),
            }
            for sub in question["subquestions"].as_array().into_iter().flatten() {
                assert!(sub["variable"].as_str().unwrap().starts_with(&format!("{name}.")), "{sub}");
            }
        }
        settings::check(&Native, &json!(defaults)).unwrap();
    }

    #[test]
    fn shipped_settings_can_be_used() {
        let policies = one("policies.yml");
        let all = [
            one("cluster-admission-policy.yaml")["spec"]["settings"].clone(),
            one("admission-policy.yaml")["spec"]["settings"].clone(),
            policies["linkerd-injector"]["settings"].clone(),
            policies["linkerd-injector-offline"]["settings"].clone(),
            one("examples/settings.yaml"),
            one("examples/settings-offline.yaml"),
        ];
        for settings in &all {
            settings::check(&Native, settings).unwrap();
        }
        assert_eq!(policies["linkerd-injector-offline"]["settings"], one("examples/settings-offline.yaml"));
    }

    /// A namespaced policy may look nothing up.
    #[test]
    fn the_namespaced_policy_injects_without_a_look_up() {
        let policy = one("admission-policy.yaml");
        assert_eq!(policy["spec"].get("contextAwareResources"), None);
        assert_eq!(policy["spec"]["rules"], one("cluster-admission-policy.yaml")["spec"]["rules"]);
        for example in ["pod-create.json", "service-create.json"] {
            let review: Value =
                serde_json::from_str(&fs::read_to_string(folder().join("examples").join(example)).unwrap()).unwrap();
            let asked = Asked::new(Manifests::new(Vec::new()));
            let host = Arc::new(Host::new(asked.clone()));
            let response = Native.respond(&review["request"], &policy["spec"]["settings"], &host).unwrap();
            assert!(response.accepted && response.mutated_object.is_some(), "{example}: {:?}", response.message);
            assert_eq!(asked.queries(), [], "{example}");
        }
    }

    /// `kubectl apply -k artefacts`, and the component in a kustomization of the user's own.
    #[test]
    fn kustomizations_can_be_built() {
        let Some(kubectl) = programs::find_or_skip("kubectl", "kustomizations_can_be_built") else { return };
        let build = |folder: &Path| -> Vec<Value> {
            let built = Command::new(&kubectl).arg("kustomize").arg(folder).output().unwrap();
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            let file = Folder::new("kustomize").unwrap();
            fs::write(file.file("built.yaml"), built.stdout).unwrap();
            documents_of(&file.file("built.yaml")).unwrap()
        };
        let find = |all: &[Value], kind: &str, name: &str| -> Option<Value> {
            all.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name).cloned()
        };
        let plain = build(&folder());
        let shipped: Vec<Value> = ["rbac.yaml", "policy-server.yaml", "cluster-admission-policy.yaml"]
            .iter()
            .flat_map(|file| documents(file).unwrap())
            .collect();
        assert_eq!(set(&json!(plain)), set(&json!(shipped)));

        // Where kubectl is too old for components, it says that it does not know the field, and so does this test.
        let own = Folder::new("kustomization").unwrap();
        let shipped = folder().canonicalize().unwrap();
        let up = "../".repeat(own.path().components().count());
        let (resources, component) = (format!("{up}{}", shipped.display()), format!("{up}{}/reinvocation", shipped.display()));
        let text = json!({"resources": [resources], "components": [component]});
        fs::write(own.file("kustomization.yaml"), text.to_string()).unwrap();
        let built = build(own.path());
        let mut policy = one("cluster-admission-policy.yaml");
        policy["spec"]["matchConditions"] = json!([{"name": "served-by-the-reinvocation-webhook", "expression": "false"}]);
        assert_eq!(find(&built, "ClusterAdmissionPolicy", NAME), Some(policy));
        assert_eq!(find(&built, "MutatingWebhookConfiguration", NAME), Some(one("reinvocation/webhook.yaml")));
    }
}
