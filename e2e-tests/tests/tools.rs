//! The tools as programs: what they print and how they exit.

#[cfg(test)]
mod tools {
    use std::{
        io::Write as _,
        path::PathBuf,
        process::{Command, Output, Stdio},
    };

    use serde_json::Value;

    const POD: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: web
  annotations:
    linkerd.io/inject: enabled
    config.linkerd.io/proxy-log-level: debug # loud
spec:
  containers:
  - name: web
    image: nginx
";
    const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap # kept\nmetadata: {name: c}\n";

    /// A folder that goes away with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("tools-{test}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str, text: &str) -> String {
            let path = self.0.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        }

        fn path(&self) -> &str {
            self.0.to_str().unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn run(program: &str, args: &[&str], stdin: &str) -> Output {
        let mut child =
            Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A program that refuses its arguments does not read on.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        child.wait_with_output().unwrap()
    }

    fn preview(args: &[&str], stdin: &str) -> (i32, String, String) {
        let ran = run(env!("CARGO_BIN_EXE_preview"), args, stdin);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (ran.status.code().unwrap(), text(ran.stdout), text(ran.stderr))
    }

    #[test]
    fn preview_injects_and_passes_the_rest_through() {
        let (code, out, err) = preview(&["-f", "-", "-q"], &format!("{CONFIG}---\n{POD}---\n{CONFIG}"));
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.starts_with(&format!("{CONFIG}---\napiVersion: v1\nkind: Pod\n")), "{out}");
        assert!(out.ends_with(&format!("---\n{CONFIG}")), "{out}");
        assert!(out.contains("linkerd-proxy") && !out.contains("kube-api-access"), "{out}");
    }

    #[test]
    fn preview_reads_several_files_and_lists() {
        let folder = Folder::new("files");
        let (first, second) = (folder.file("a.yaml", CONFIG), folder.file("b.yaml", "apiVersion: v1\nkind: List\nitems: []\n"));
        let (code, out, _) = preview(&["-f", &first, &second, "-f", &first], "");
        assert_eq!((code, out), (0, format!("{CONFIG}---\napiVersion: v1\nkind: List\nitems: []\n---\n{CONFIG}")));
    }

    #[test]
    fn preview_diffs_and_patches() {
        let (code, out, _) = preview(&["-f", "-", "--diff"], POD);
        assert_eq!(code, 0);
        assert!(out.starts_with("--- Pod/web in default\n+++ Pod/web in default, injected\n@@ "), "{out}");
        let (_, coloured, _) = preview(&["-f", "-", "--diff", "--color", "always"], POD);
        assert!(coloured.contains("\x1b[32m+"), "{coloured}");

        let (code, out, _) = preview(&["-f", "-", "--patch"], POD);
        assert_eq!(code, 0);
        let line: Value = serde_json::from_str(&out).unwrap();
        let patch: json_patch::Patch = serde_json::from_value(line["patch"].clone()).unwrap();
        let mut object: Value = serde_norway::from_str(POD).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
        let (_, yaml, _) = preview(&["-f", "-"], POD);
        assert_eq!(object, serde_norway::from_str::<Value>(&yaml).unwrap());
    }

    /// The words are those that `kubectl apply` prints, once, though the workload and its pod say them both.
    #[test]
    fn preview_tells_the_author_of_a_workload() {
        let template = "metadata: {annotations: {config.linkerd.io/skip-inbond-ports: '25'}}, spec: {containers: [{name: app, ports: [{containerPort: 4191}]}]}";
        let metadata = "{name: web, annotations: {config.linkerd.io/proxy-uid: '7'}}";
        let deployment =
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {metadata}\nspec: {{template: {{{template}}}}}\n");
        let told = [
            "warning: Deployment/web: pod: port 4191 of container app is the proxy's admin port, and only one of them can listen on it",
            "warning: Deployment/web: Deployment: \"config.linkerd.io/proxy-uid\" is read in its pod template only",
            "warning: Deployment/web: annotations: \"config.linkerd.io/skip-inbond-ports\" is unknown; did you mean skip-inbound-ports",
        ];
        let enabled = "linkerd.io/inject=enabled";
        let (code, out, err) = preview(&["-f", "-", "-q", "--exit-warnings", "--namespace-annotation", enabled], &deployment);
        assert_eq!((code, err.lines().collect::<Vec<_>>()), (3, told.to_vec()));
        assert!(out.contains("linkerd.io/injection-warnings"), "{out}");
        // Where nobody asked for the mesh, nobody is told anything.
        let (code, _, err) = preview(&["-f", "-", "-q", "--exit-warnings"], &deployment);
        assert_eq!((code, err.as_str()), (0, ""));
    }

    #[test]
    fn preview_exits_as_it_says() {
        let folder = Folder::new("exits");
        let bad = folder.file("bad.yaml", "noSuchSetting: 1\n");
        let warned = POD.replace("config.linkerd.io/proxy-log-level: debug", "config.linkerd.io/proxy-cpu-request: nonsense");
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n---\n";
        let rejected = format!("{namespace}{POD}");
        let empty = Folder::new("empty");
        let table: &[(&[&str], &str, i32, &str)] = &[
            (&["-f", "-"], POD, 0, ""),
            (&["-f", "-"], &warned, 0, "warning: Pod/web: config.linkerd.io/proxy-cpu-request"),
            (&["-f", "-", "--exit-warnings"], &warned, 3, "warning: Pod/web: config.linkerd.io/proxy-cpu-request"),
            (&["-f", "-", "--exit-warnings"], POD, 0, ""),
            // A cluster without a control plane is what it is.
            (&["-f", "-", "--cluster", empty.path()], &rejected, 1, "error: Pod/web: rejected: "),
            (&["-f", "-", "--settings", &bad], POD, 2, "preview: settings are not valid: "),
            (&["-f", "-"], "a: [", 2, "preview: stdin: "),
            (&["-f", "/does/not/exist.yaml"], "", 2, "preview: cannot read /does/not/exist.yaml: "),
            (&["-f", "-", "--cluster", "/does/not/exist"], POD, 2, "preview: cluster: cannot read /does/not/exist: "),
            (&["-f", "-", "--wasm", "/does/not/exist.wasm"], POD, 2, "preview: cannot read module /does/not/exist.wasm: "),
            (&[], "", 2, "preview: no input, name a file with -f; see --help"),
            (&["-f", "-", "--diff", "--patch"], POD, 2, "preview: --diff and --patch exclude each other; see --help"),
            (&["-f", "-", "--color", "blue"], POD, 2, "preview: --color \"blue\" is not auto, always or never; see --help"),
            (
                &["-f", "-", "--namespace-annotation", "x"],
                POD,
                2,
                "preview: --namespace-annotation \"x\" is not KEY=VALUE; see --help",
            ),
            (&["-f", "-", "--no-such-option"], POD, 2, "preview: invalid option '--no-such-option'; see --help"),
        ];
        for (args, stdin, code, message) in table {
            let (found, _, err) = preview(args, stdin);
            assert_eq!(found, *code, "{args:?}: {err}");
            assert!(err.lines().any(|line| line.starts_with(message)) || message.is_empty(), "{args:?}: {err}");
        }
    }

    #[test]
    fn a_namespace_can_be_annotated() {
        let plain = POD.replace("linkerd.io/inject: enabled", "a: b");
        let (_, out, err) = preview(&["-f", "-"], &plain);
        assert!(!out.contains("linkerd-proxy") && err.contains("Pod/web: skipped ("), "{err}");
        let (_, out, _) = preview(&["-f", "-", "--namespace-annotation", "linkerd.io/inject=enabled"], &plain);
        assert!(out.contains("linkerd-proxy"), "{out}");
    }

    #[test]
    fn cases_name_the_line_that_is_wrong() {
        let ran = run(env!("CARGO_BIN_EXE_cases"), &[], "\n{\"name\":\"a\"}\n");
        assert_eq!(ran.status.code(), Some(2));
        let err = String::from_utf8(ran.stderr).unwrap();
        assert!(err.starts_with("cases: line 2: not a case: missing field `controlPlaneNamespace`"), "{err}");
    }

    #[test]
    fn help_is_no_error() {
        for program in [env!("CARGO_BIN_EXE_preview"), env!("CARGO_BIN_EXE_cases"), env!("CARGO_BIN_EXE_annotate")] {
            let ran = run(program, &["--help"], "");
            assert_eq!(ran.status.code(), Some(0));
            assert!(String::from_utf8(ran.stdout).unwrap().contains("Usage: "));
        }
    }

    #[test]
    fn annotate_writes_what_it_was_given() {
        let folder = Folder::new("annotate");
        let module = wat::parse_str(include_str!("../src/policy/testdata/echo.wat")).unwrap();
        std::fs::write(folder.0.join("in.wasm"), module).unwrap();
        let metadata = folder.file(
            "metadata.yml",
            "rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]\nmutating: true\n",
        );
        let usage = folder.file("README.md", "# Usage\n");
        let (input, output) = (format!("{}/in.wasm", folder.path()), format!("{}/out.wasm", folder.path()));
        let annotate = |input: &str| {
            let args = ["-m", &metadata, "-u", &usage, "-o", &output, input];
            let ran = run(env!("CARGO_BIN_EXE_annotate"), &args, "");
            (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
        };
        assert_eq!(annotate(&input), (Some(0), String::new()));
        let written = std::fs::read(&output).unwrap();
        let section: Value = serde_json::from_slice(e2e_tests::annotate::section(&written).unwrap().unwrap()).unwrap();
        assert_eq!(section["annotations"]["io.kubewarden.policy.usage"], "# Usage\n");
        let (code, err) = annotate(&output);
        assert_eq!(code, Some(2));
        assert!(err.starts_with("annotate: module: it is annotated already"), "{err}");
    }
}
