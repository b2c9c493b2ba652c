//! The annotated module in the real `kwctl run`: what it prints is what our own host sees the module answer.

#[cfg(test)]
mod kwctl {
    use std::{
        collections::BTreeSet,
        path::PathBuf,
        process::{Command, Output},
    };

    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use e2e_tests::{
        artefacts,
        case::{Case, Outcome, corpus},
        policy::{Module, Native, Policy as _},
        programs,
        real::Folder,
        sessions::Session,
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

    const REJECTING: &str = r#"{"onInvalidAnnotation": "reject"}"#;
    const FORBIDDING: &str = r#"{"allowedOverrides": ["config.linkerd.io/proxy-memory-*"]}"#;

    /// Name, case of the corpus, settings, outcome, and something that is looked up.
    const SESSIONS: &[(&str, &str, &str, Outcome, &str)] = &[
        ("inject-native-sidecar", "values/native", "{}", Outcome::Injected, "linkerd-config"),
        ("inject-with-cni", "values/cni", "{}", Outcome::Injected, "linkerd-identity-trust-roots"),
        ("inject-owned-by-deployment", "owner/deployment", "{}", Outcome::Injected, "kind: ReplicaSet"),
        ("inject-owned-by-cronjob", "owner/cronjob", "{}", Outcome::Injected, "kind: Job"),
        ("inject-owner-missing", "owner/replicaset-missing", "{}", Outcome::Injected, "Cannot find apps/v1/ReplicaSet"),
        ("inject-with-warning", "annotation/proxy-cpu-request='abc'@pod", "{}", Outcome::Injected, "linkerd-config"),
        ("forbid-annotation", "annotation/proxy-cpu-request='100m'@pod", FORBIDDING, Outcome::Injected, "linkerd-config"),
        ("reject-invalid-annotation", "annotation/proxy-cpu-request='abc'@pod", REJECTING, Outcome::Rejected, ""),
        ("service", "service/several", "{}", Outcome::Annotated, "kind: Namespace"),
        ("skip-host-network", "skip/hostNetwork", "{}", Outcome::Skipped, ""),
        ("skip-with-opaque-ports", "skip/skipped-pod-gets-opaque-ports", "{}", Outcome::Annotated, "kind: Namespace"),
    ];

    #[test]
    fn sessions_are_those_of_the_corpus() {
        let mut recorded = Vec::new();
        for (name, from, settings, outcome, asked) in SESSIONS {
            let settings: Value = serde_json::from_str(settings).unwrap();
            let session = Session::record(name, &Native, &case(from), &settings).unwrap();
            let found = match (&session.answer.allowed, session.answer.changed, &session.answer.audit_annotations["injected"]) {
                (false, ..) => Outcome::Rejected,
                (true, false, _) => Outcome::Skipped,
                (true, true, injected) if injected == "true" => Outcome::Injected,
                (true, true, _) => Outcome::Annotated,
            };
            assert_eq!(found, *outcome, "{name}");
            assert!(session.session.contains(asked), "{name} does not ask for {asked}: {}", session.session);
            recorded.push(session);
        }
        if std::env::var_os("UPDATE_SESSIONS").is_some() {
            recorded.iter().for_each(|session| session.save().unwrap());
        }
        recorded.sort_by(|one, other| one.name.cmp(&other.name));
        let written = Session::all().unwrap();
        let names = |all: &[Session]| all.iter().map(|session| session.name.clone()).collect::<BTreeSet<_>>();
        assert_eq!(names(&written), names(&recorded));
        for (written, recorded) in written.iter().zip(&recorded) {
            assert!(written == recorded, "{} is another; UPDATE_SESSIONS=1 cargo test writes it", recorded.name);
        }
        // The tests by kwctl alone name every one of them.
        let bats = include_str!("../kwctl.bats");
        let missing: Vec<&str> =
            SESSIONS.iter().map(|(name, ..)| *name).filter(|name| !bats.contains(&format!("answers {name}\n"))).collect();
        assert!(missing.is_empty(), "kwctl.bats lacks {missing:?}");
    }

    #[test]
    fn kwctl_answers_as_our_host() {
        let Some(kwctl) = Kwctl::find_or_skip("kwctl_answers_as_our_host") else { return };
        for Session { name, request, settings, session, answer } in Session::all().unwrap() {
            let session = kwctl.file("session.yaml", &session);
            let replay = ["--allow-context-aware", "--replay-host-capabilities-interactions", session.to_str().unwrap()];
            let ran = kwctl.run(&request, &settings, &replay);
            let err = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success() && !err.contains("Replay error"), "{name}: {err}");
            let printed: Printed = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {err}"));
            assert_eq!(printed.allowed, answer.allowed, "{name}");
            assert_eq!(printed.object(&request["object"]), answer.object, "{name}");
            assert_eq!(printed.patch.is_some(), answer.changed, "{name}");
            assert_eq!(printed.warnings.unwrap_or_default(), answer.warnings, "{name}");
            assert_eq!(printed.audit_annotations.unwrap_or_default(), answer.audit_annotations, "{name}");
            let status = printed.status.unwrap_or_default();
            assert_eq!((status.message, status.code), (answer.message, answer.code), "{name}");
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
