//! The annotated module in the real `kwctl run`: what it prints is what our own host sees the module answer.

#[cfg(test)]
mod kwctl {
    use std::{
        path::PathBuf,
        process::{Command, Output},
        sync::Arc,
    };

    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use e2e_tests::{
        artefacts,
        case::{Case, CaseResult, Outcome, corpus},
        cluster::Recorder,
        host::Host,
        policy::{Module, Policy as _},
        programs,
        real::Folder,
    };
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// What `kwctl run` prints.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Printed {
        allowed: bool,
        patch: Option<String>,
        audit_annotations: Option<Value>,
        warnings: Option<Vec<String>>,
        status: Option<Status>,
    }

    #[derive(Deserialize, Default)]
    struct Status {
        message: Option<String>,
        code: Option<u16>,
    }

    impl Printed {
        /// The object that an API server would go on with.
        fn object(&self, object: &Value) -> Value {
            let mut object = object.clone();
            if let Some(patch) = &self.patch {
                let patch: json_patch::Patch = serde_json::from_slice(&BASE64_STANDARD.decode(patch).unwrap()).unwrap();
                json_patch::patch(&mut object, &patch).unwrap();
            }
            object
        }
    }

    /// kwctl with the annotated module and a folder of its own.
    struct Kwctl {
        program: PathBuf,
        module: PathBuf,
        folder: Folder,
    }

    impl Kwctl {
        fn find_or_skip(test: &str) -> Option<Self> {
            let program = programs::find_or_skip("kwctl", test)?;
            let module = artefacts::annotated_module_or_skip(test)?;
            Some(Self { program, module, folder: Folder::new("kwctl").unwrap() })
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.folder.file(name);
            std::fs::write(&path, text).unwrap();
            path
        }

        fn run(&self, request: &Value, settings: &Value, more: &[&str]) -> Output {
            // Nothing is signed here, and an empty trust configuration keeps kwctl from fetching Sigstore's over the network.
            let trust = self.file("trust.json", "{}");
            let request = self.file("request.json", &request.to_string());
            Command::new(&self.program)
                .arg("run")
                .args(["--settings-json", &settings.to_string(), "--sigstore-trust-config"])
                .arg(trust)
                .arg("--request-path")
                .arg(request)
                .args(more)
                .arg(&self.module)
                .env("HOME", self.folder.path())
                .env_remove("KUBECONFIG")
                .output()
                .unwrap()
        }
    }

    fn case(name: &str) -> Case {
        corpus::cases().unwrap().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name:?}"))
    }

    #[test]
    fn kwctl_answers_as_our_host() {
        let Some(kwctl) = Kwctl::find_or_skip("kwctl_answers_as_our_host") else { return };
        let policy = Module::open(&kwctl.module).unwrap();
        let warn = json!({});
        let reject = json!({"onInvalidAnnotation": "reject"});
        let table = [
            ("values/native", &warn, Outcome::Injected, "linkerd-config"),
            ("values/cni", &warn, Outcome::Injected, "linkerd-identity-trust-roots"),
            ("owner/deployment", &warn, Outcome::Injected, "kind: ReplicaSet"),
            ("owner/cronjob", &warn, Outcome::Injected, "kind: Job"),
            ("owner/replicaset-missing", &warn, Outcome::Injected, "Cannot find apps/v1/ReplicaSet"),
            ("skip/skipped-pod-gets-opaque-ports", &warn, Outcome::Annotated, "kind: Namespace"),
            ("skip/hostNetwork", &warn, Outcome::Skipped, ""),
            ("service/several", &warn, Outcome::Annotated, "kind: Namespace"),
            ("annotation/proxy-cpu-request='abc'@pod", &warn, Outcome::Injected, "linkerd-config"),
            ("annotation/proxy-cpu-request='abc'@pod", &reject, Outcome::Rejected, ""),
        ];
        for (name, settings, outcome, asked) in table {
            let case = case(name);
            let request = case.admission_request();
            let settings = case.settings(settings);
            let recorder = Recorder::new(case.manifests());
            let expected = policy.respond(&request, &settings, &Arc::new(Host::new(recorder.clone()))).unwrap();
            assert_eq!(CaseResult::of(name, &case.request.object, expected.clone()).outcome, outcome, "{name}");
            let session = recorder.session().unwrap();
            assert!(session.contains(asked), "{name} does not ask for {asked}: {session}");

            let session = kwctl.file("session.yaml", &session);
            let replay = ["--allow-context-aware", "--replay-host-capabilities-interactions", session.to_str().unwrap()];
            let ran = kwctl.run(&request, &settings, &replay);
            let err = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success() && !err.contains("Replay error"), "{name}: {err}");
            let printed: Printed = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {err}"));
            assert_eq!(printed.allowed, expected.accepted, "{name}");
            let object = expected.mutated_object.as_ref().unwrap_or(&case.request.object);
            assert_eq!(printed.object(&case.request.object), *object, "{name}");
            assert_eq!(printed.patch.is_some(), *object != case.request.object, "{name}");
            assert_eq!(printed.warnings.as_deref().unwrap_or_default(), expected.warnings.as_deref().unwrap_or_default(), "{name}");
            assert_eq!(printed.audit_annotations, expected.audit_annotations.map(|audit| json!(audit)), "{name}");
            let status = printed.status.unwrap_or_default();
            assert_eq!((status.message, status.code), (expected.message, expected.code), "{name}");
        }
    }

    #[test]
    fn kwctl_refuses_bad_settings() {
        let Some(kwctl) = Kwctl::find_or_skip("kwctl_refuses_bad_settings") else { return };
        let settings = json!({
            "onErrors": "skip",
            "onError": "explode",
            "source": 7,
            "skipOwnerKinds": "Job",
            "values": {"proxy": {"ports": {"admin": "x"}}},
        });
        let checked = Module::open(&kwctl.module).unwrap().check_settings(&settings).unwrap();
        let message = checked.message.unwrap();
        for fault in ["\"onErrors\"", "onError is", "source is", "skipOwnerKinds is", "proxy.ports.admin"] {
            assert!(message.contains(fault), "{fault}: {message}");
        }
        let ran = kwctl.run(&case("skip/hostNetwork").admission_request(), &settings, &[]);
        let err = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{err}");
        assert!(err.contains(&format!("Provided settings are not valid: {message}")), "{err}");
        assert!(ran.stdout.is_empty());
    }
}
