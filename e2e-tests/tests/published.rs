//! The module on its way to users: pushed to a registry, pulled from it, loaded by a policy server, run by `make serve`.

#[cfg(test)]
mod published {
    use std::{
        ffi::OsStr,
        fs,
        path::Path,
        process::{Child, Command, Stdio},
        sync::Arc,
        thread::sleep,
        time::{Duration, Instant},
    };

    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use e2e_tests::{
        artefacts,
        cluster::Manifests,
        host::Host,
        policy::{Native, Policy as _},
        programs,
        real::{Folder, free_ports, policy_server::PolicyServer, registry::Registry},
    };
    use serde_json::Value;

    const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    const POLICY: &str = "linkerd-injector-offline";
    const EXAMPLES: &[&str] = &["pod-create.json", "service-create.json"];

    fn example(name: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(artefacts::folder().join("examples").join(name)).unwrap()).unwrap()
    }

    /// What a server answers to the examples is what the policy makes of them, in the settings that need no cluster.
    fn assert_served(ask: impl Fn(&Value) -> Value) {
        let [policies] = <[Value; 1]>::try_from(artefacts::documents("policies.yml").unwrap()).unwrap();
        for name in EXAMPLES {
            let review = example(name);
            let host = Arc::new(Host::new(Manifests::new(Vec::new())));
            let expected =
                Native.respond(&review["request"], &policies[POLICY]["settings"], &host).unwrap().mutated_object.unwrap();
            let answer = ask(&review)["response"].clone();
            assert_eq!((&answer["allowed"], &answer["uid"]), (&Value::Bool(true), &review["request"]["uid"]), "{answer}");
            let patch = BASE64_STANDARD.decode(answer["patch"].as_str().unwrap()).unwrap();
            let patch: json_patch::Patch = serde_json::from_slice(&patch).unwrap();
            let mut object = review["request"]["object"].clone();
            json_patch::patch(&mut object, &patch).unwrap();
            assert_eq!(object, expected, "{name}");
        }
    }

    #[test]
    fn pushed_pulled_and_served() {
        let test = "pushed_pulled_and_served";
        let Some(registry) = programs::find_or_skip("docker-registry", test) else { return };
        let Some(kwctl) = programs::find_or_skip("kwctl", test) else { return };
        let Some(module) = artefacts::annotated_module_or_skip(test) else { return };
        let registry = Registry::start(&registry).unwrap();
        let folder = Folder::new("published").unwrap();
        let sources = registry.sources();
        fs::write(folder.file("trust.json"), "{}").unwrap();

        let pushed = Command::new(Path::new(REPOSITORY).join(".ci/push"))
            .arg(&module)
            .arg(format!("{}/policies", registry.name()))
            .envs([("SOURCES", &sources), ("PUSHED", &folder.file("pushed"))])
            .env_remove("TAG")
            .env("HOME", folder.path())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&pushed.stderr);
        assert!(pushed.status.success(), "{err}");
        let pushed = String::from_utf8(pushed.stdout).unwrap();
        let (name, digest) = pushed.trim_end().rsplit_once('@').unwrap();
        assert_eq!(name, format!("{}/policies/linkerd-injector-policy", registry.name()));
        assert_eq!(fs::read_to_string(folder.file("pushed")).unwrap(), pushed);

        let kwctl = |args: &[&OsStr]| {
            let ran =
                Command::new(&kwctl).args(args).arg("--sources-path").arg(&sources).env("HOME", folder.path()).output().unwrap();
            assert!(ran.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
            String::from_utf8(ran.stdout).unwrap()
        };
        let tagged = format!("registry://{name}:v{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(kwctl(&["digest".as_ref(), tagged.as_ref()]).trim_end(), format!("{tagged}@{digest}"));
        let pulled = folder.file("pulled.wasm");
        for uri in [tagged.clone(), format!("registry://{name}@{digest}")] {
            let trust = folder.file("trust.json");
            kwctl(&[
                "pull".as_ref(),
                "--sigstore-trust-config".as_ref(),
                trust.as_ref(),
                "--output-path".as_ref(),
                pulled.as_ref(),
                uri.as_ref(),
            ]);
            assert!(fs::read(&pulled).unwrap() == fs::read(&module).unwrap(), "{uri} is another module");
            fs::remove_file(&pulled).unwrap();
        }

        let Some(server) = programs::find_or_skip("policy-server", &format!("{test}, by policy-server")) else { return };
        let text = fs::read_to_string(artefacts::folder().join("policies.yml")).unwrap();
        let policies = text.replace("module: MODULE", &format!("module: {tagged}"));
        let flags: [&OsStr; 2] = ["--sources-path".as_ref(), sources.as_ref()];
        let server = PolicyServer::start(&server, &folder.file("server"), &policies, None, &flags).unwrap();
        assert_served(|review| server.ask(POLICY, review).unwrap());
    }

    /// A program that ends with the test.
    struct Running(Child);

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn make_serve_serves() {
        let test = "make_serve_serves";
        if programs::find_or_skip("policy-server", test).is_none() || artefacts::annotated_module_or_skip(test).is_none() {
            return;
        }
        let [port, readiness] = free_ports().unwrap();
        // The script becomes the server, so that nothing is left when it ends.
        let serve = Command::new(Path::new(REPOSITORY).join(".ci/serve"))
            .arg("artefacts/build/annotated-policy.wasm")
            .envs([("PORT", port.to_string()), ("READINESS_PORT", readiness.to_string())])
            .env_remove("KUBECONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut serve = Running(serve);
        let started = Instant::now();
        while ureq::get(format!("http://127.0.0.1:{readiness}/readiness")).call().is_err() {
            assert_eq!(serve.0.try_wait().unwrap(), None, "it ended");
            assert!(started.elapsed() < Duration::from_secs(60), "it is not ready after a minute");
            sleep(Duration::from_millis(100));
        }
        assert_served(|review| {
            let mut answer = ureq::post(format!("http://127.0.0.1:{port}/validate/{POLICY}")).send_json(review).unwrap();
            answer.body_mut().read_json().unwrap()
        });
    }
}
