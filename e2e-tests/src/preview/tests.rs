use serde_json::json;

use self::fake::{DEPLOYMENT, Fake, INJECTED, POD};
use super::*;

mod fake;

struct Ran {
    out: String,
    err: String,
    seen: Seen,
}

fn preview(options: &Options, inputs: &[&str]) -> Result<Ran, PreviewError> {
    let inputs: Vec<Input> = inputs.iter().map(|text| Input { name: "in.yaml".to_owned(), text: (*text).to_owned() }).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let seen = run(options, &Fake, &inputs, &mut out, &mut err)?;
    Ok(Ran { out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap(), seen })
}

fn quietly(inputs: &[&str]) -> Ran {
    preview(&Options { quiet: true, ..Options::default() }, inputs).unwrap()
}

#[test]
fn other_documents_come_out_as_they_went_in() {
    let config = "# kept: yes\napiVersion: v1\nkind: ConfigMap # comment\nmetadata: {name: c}\ndata: {a: 'b'}\n";
    let streams = [
        config.to_owned(),
        format!("---\n{config}---\n# nothing\n---\n\n{config}..."),
        format!("{config}---\n{{}}\n---\n- a\n- b\n---\njust text"),
        "{\"apiVersion\": \"v1\", \"kind\": \"Secret\"}".to_owned(),
        String::new(),
        POD.replace("KEY", "other"),
        "a: 1\r\n---\r\nb: 2\r\n".to_owned(),
    ];
    for stream in streams {
        assert_eq!(quietly(&[&stream]).out, stream);
    }
}

#[test]
fn a_workload_is_shown_by_its_template_in_its_place() {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c} # kept\n";
    let ran = quietly(&[&format!("{config}---\n{DEPLOYMENT}---\n{config}")]);
    assert_eq!(ran.out, format!("{config}---\n{INJECTED}---\n{config}"));
    assert_eq!(ran.seen, Seen { objects: 1, rejected: 0, warnings: 0 });
}

#[test]
fn files_are_joined_by_markers() {
    let joined = quietly(&["a: 1", DEPLOYMENT, "---\nb: 2\n", "c: 3\n"]).out;
    assert_eq!(joined, format!("a: 1\n---\n{INJECTED}---\nb: 2\n---\nc: 3\n"));
}

#[test]
fn a_namespace_in_the_input_counts() {
    let plain = DEPLOYMENT.replace("inject: please", "x: y");
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, annotations: {inject: please}}\n";
    assert!(quietly(&[&plain, namespace]).out.contains("injected: 'yes'"));
    assert!(!quietly(&[&plain]).out.contains("injected: 'yes'"));
    let shop = Options { namespace: "shop".to_owned(), quiet: true, ..Options::default() };
    assert!(!preview(&shop, &[&plain, namespace]).unwrap().out.contains("injected: 'yes'"));
    let annotated = Options { namespace_annotations: json!({"inject": "please"}).as_object().cloned().unwrap(), ..shop };
    assert!(preview(&annotated, &[&plain]).unwrap().out.contains("injected: 'yes'"));
}

#[test]
fn lists_are_taken_apart() {
    let indented = |text: &str| text.lines().skip(1).map(|line| format!("  {line}\n")).collect::<String>();
    let list = format!(
        "kind: List\napiVersion: v1\nitems:\n- {}- {{kind: Secret, apiVersion: v1, z: 1, a: 2}}\n",
        indented(DEPLOYMENT).trim_start()
    );
    let expected = format!(
        "kind: List\napiVersion: v1\nitems:\n- {}- kind: Secret\n  apiVersion: v1\n  z: 1\n  a: 2\n",
        indented(INJECTED).trim_start()
    );
    assert_eq!(quietly(&[&list]).out, expected);

    let pods = "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a, annotations: {inject: x}}\n  spec: {containers: [{name: a}]}\n";
    let out: Value = serde_norway::from_str(&quietly(&[pods]).out).unwrap();
    assert_eq!(out["items"][0]["metadata"]["labels"], json!({"injected": "yes"}));
    assert_eq!(out["items"][0].get("kind"), None, "the item still does not say what it is");
    assert_eq!(out["items"][0]["spec"], json!({"containers": [{"name": "proxy", "image": "p"}, {"name": "a"}]}));
}

#[test]
fn a_review_shows_its_object() {
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "namespace": "shop",
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {"inject": "x"}}, "spec": {"containers": [{"name": "a"}]}},
        },
    });
    for input in [&review, &review["request"]] {
        let ran = quietly(&[&input.to_string()]);
        let out: Value = serde_norway::from_str(&ran.out).unwrap();
        assert_eq!(out["metadata"]["labels"], json!({"injected": "yes"}), "{}", ran.out);
        assert_eq!(out["spec"]["containers"][1], json!({"name": "a"}));
    }
}

#[test]
fn warnings_and_rejections_are_told() {
    let warned = POD.replace("KEY", "warn");
    let rejected = POD.replace("KEY", "reject").replace("name: a, ", "name: b, ");
    let ran = preview(&Options::default(), &[&warned, &rejected, "a: 1\n"]).unwrap();
    assert_eq!(ran.out, format!("{warned}---\na: 1\n"), "what is rejected is left out");
    let lines: Vec<&str> = ran.err.lines().skip(1).collect();
    assert_eq!(lines, ["warning: Pod/a: why", "Pod/a: skipped (not_asked)", "error: Pod/b: rejected: why"]);
    assert!(ran.err.starts_with("note: no cluster given, "), "{}", ran.err);
    assert_eq!(ran.seen, Seen { objects: 2, rejected: 1, warnings: 1 });
    let quiet = quietly(&[&warned, &rejected]).err;
    assert_eq!(quiet, "warning: Pod/a: why\nerror: Pod/b: rejected: why\n");
}

#[test]
fn a_workload_hears_its_own_warnings_and_those_of_its_pod_once() {
    let both = DEPLOYMENT.replace("name: web ", "annotations: {warn: same}\n  name: web ").replace("inject: please", "warn: same");
    let ran = quietly(&[&both]);
    assert_eq!(ran.err, "warning: Deployment/web: same\n");
    let rejected = DEPLOYMENT.replace("name: web ", "annotations: {reject: no}\n  name: web ");
    assert_eq!(quietly(&[&rejected]).err, "error: Deployment/web: rejected: no\n");
}

#[test]
fn a_diff_shows_content_only() {
    let options = |colour| Options { output: Output::Diff { colour }, quiet: true, ..Options::default() };
    let plain = preview(&options(false), &[DEPLOYMENT, "a: 1\n"]).unwrap().out;
    assert_eq!(
        plain,
        "--- Deployment/web in default
+++ Deployment/web in default, injected
@@ -8,7 +8,11 @@
     metadata:
       annotations:
         inject: please
+      labels:
+        injected: 'yes'
     spec:
       containers:
+      - name: proxy
+        image: p
       - image: nginx
         name: app
"
    );
    let coloured = preview(&options(true), &[DEPLOYMENT]).unwrap().out;
    assert!(coloured.contains("\x1b[32m+        injected: 'yes'\x1b[0m\n"), "{coloured}");
    assert!(coloured.starts_with("\x1b[1m--- Deployment/web in default\x1b[0m\n"), "{coloured}");
    let without: String = coloured.split("\x1b[").map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect();
    assert_eq!(without, plain);
}

#[test]
fn a_patch_is_one_line_an_object() {
    let options = Options { output: Output::Patch, quiet: true, ..Options::default() };
    let unchanged = POD.replace("KEY", "other");
    let out = preview(&options, &[DEPLOYMENT, "a: 1\n", &unchanged]).unwrap().out;
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["apiVersion"], &lines[0]["kind"], &lines[0]["namespace"], &lines[0]["name"]),
        (&json!("apps/v1"), &json!("Deployment"), &json!("default"), &json!("web"))
    );
    let patch: json_patch::Patch = serde_json::from_value(lines[0]["patch"].clone()).unwrap();
    let mut object: Value = serde_norway::from_str(DEPLOYMENT).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    assert_eq!(object, serde_norway::from_str::<Value>(INJECTED).unwrap());
    assert_eq!(lines[1]["patch"], json!([]));
}

#[test]
fn nothing_to_preview_is_said() {
    let ran = preview(&Options::default(), &["a: 1\n"]).unwrap();
    assert_eq!(ran.err, "note: nothing in the input is a pod, a workload or a service\n");
}

#[test]
fn what_cannot_be_used_is_named() {
    let fail = |options: &Options, input: &str| preview(options, &[input]).err().unwrap().to_string();
    let none = Options::default();
    assert_eq!(
        fail(&Options { settings: json!({"wrong": 1}), ..Options::default() }, ""),
        "settings are not valid: unknown key \"wrong\""
    );
    assert!(fail(&none, "a: 1\n---\nb: [\n").starts_with("in.yaml: "));
    assert!(fail(&none, "a: 1\n---\n? {x: y}\n: b\n").starts_with("in.yaml, line 2: "));
    let cluster = Options { cluster: Some("/does/not/exist".into()), ..Options::default() };
    assert!(fail(&cluster, "").starts_with("cluster: cannot read /does/not/exist: "));
}
