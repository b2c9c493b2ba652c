use serde_json::Value;

use super::*;
use crate::programs;

const ECHO: &str = include_str!("../policy/testdata/echo.wat");
const METADATA: &str = r#"
rules:
  - apiGroups: [""]
    apiVersions: ["v1"]
    resources: ["pods", "services"]
    operations: ["CREATE"]
mutating: true
backgroundAudit: false
executionMode: kubewarden-wapc
policyType: kubernetes
contextAwareResources:
  - {apiVersion: v1, kind: Namespace}
  - {apiVersion: apps/v1, kind: ReplicaSet}
hostCapabilities: [kubernetes/list_resources_all, kubernetes/get_resource]
minimumKubewardenVersion: 1.35.0
annotations:
  io.kubewarden.policy.title: test
  io.kubewarden.kwctl: somebody else's
"#;

fn module() -> Vec<u8> {
    wat::parse_str(ECHO).unwrap()
}

fn json_of(module: &[u8]) -> String {
    String::from_utf8(section(module).unwrap().unwrap().to_vec()).unwrap()
}

#[test]
fn the_section_is_that_of_kwctl_without_its_version() {
    let annotated = annotate(&module(), METADATA, Some("# Test\n")).unwrap();
    assert_eq!(
        json_of(&annotated),
        concat!(
            r#"{"protocolVersion":"v1","rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods","services"],"#,
            r##""operations":["CREATE"]}],"annotations":{"io.kubewarden.policy.title":"test","io.kubewarden.policy.usage":"# Test\n"},"##,
            r#""mutating":true,"backgroundAudit":false,"executionMode":"kubewarden-wapc","policyType":"kubernetes","#,
            r#""contextAwareResources":[{"apiVersion":"apps/v1","kind":"ReplicaSet"},{"apiVersion":"v1","kind":"Namespace"}],"#,
            r#""hostCapabilities":["kubernetes/get_resource","kubernetes/list_resources_all"],"minimumKubewardenVersion":"1.35.0"}"#,
        )
    );
    assert!(annotated.starts_with(&module()), "the code is as it was");
    assert_eq!(Module::new(&annotated).unwrap().protocol_version().unwrap(), "v1");
}

#[test]
fn what_is_not_said_has_kwctls_defaults() {
    let text = "rules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*']}]\nmutating: false\n";
    assert_eq!(
        json_of(&annotate(&module(), text, None).unwrap()),
        concat!(
            r#"{"protocolVersion":"v1","rules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"operations":["*"]}],"#,
            r#""annotations":{},"mutating":false,"backgroundAudit":true,"executionMode":"kubewarden-wapc","#,
            r#""policyType":"kubernetes","contextAwareResources":[]}"#,
        )
    );
}

#[test]
fn the_metadata_of_the_policy_are_valid() {
    let metadata = read_metadata(include_str!("../../../policy-metadata.yml")).unwrap();
    assert!(metadata.mutating && !metadata.background_audit);
}

#[test]
fn an_annotated_module_is_refused() {
    let once = annotate(&module(), METADATA, None).unwrap();
    let twice = annotate(&once, METADATA, None).unwrap_err();
    assert_eq!(twice.to_string(), "module: it is annotated already, annotate the one that the compiler made");
}

#[test]
fn modules_that_are_none_are_refused() {
    assert!(annotate(b"no module", METADATA, None).unwrap_err().to_string().starts_with("module: "));
    let silent = wat::parse_str("(module (memory (export \"memory\") 1))").unwrap();
    let error = annotate(&silent, METADATA, None).unwrap_err().to_string();
    assert!(error.starts_with("module: cannot ask for its protocol version: "), "{error}");
    let other = wat::parse_str(ECHO.replace("\\\"v1\\\"", "\\\"v2\\\"")).unwrap();
    let error = annotate(&other, METADATA, None).unwrap_err().to_string();
    assert_eq!(error, "module: protocol version is \"v2\", not \"v1\"");
}

#[test]
fn every_fault_is_named() {
    let fault = |text: &str| read_metadata(text).unwrap_err().to_string();
    let with = |old: &str, new: &str| {
        assert!(METADATA.contains(old), "{old}");
        METADATA.replace(old, new)
    };
    let table = [
        (with("mutating: true\n", ""), "metadata: missing field `mutating`"),
        (with("mutating", "mutates"), "metadata: unknown field `mutates`, expected one of"),
        (with("kubewarden-wapc", "opa"), "metadata: executionMode: unknown variant `opa`"),
        (with("[\"v1\"]", "[]"), "metadata: rules[0].apiVersions: it is empty"),
        (with("[\"v1\"]", "[v1, '*']"), "metadata: rules[0].apiVersions: beside \"*\" there may be nothing else"),
        (
            with("[\"CREATE\"]", "[create, '*']"),
            "metadata: rules[0].operations: beside \"*\" there may be nothing else; \
             rules[0].operations: \"create\" is none of CREATE, UPDATE, DELETE, CONNECT, *",
        ),
        (with("\"services\"", "'*'"), "metadata: rules[0].resources: \"pods\" may not stand beside \"*\""),
        (with("\"services\"", "'*/*'"), "metadata: rules[0].resources: \"pods\" may not stand beside \"*/*\""),
        (with("\"services\"", "pods/log, pods/*"), "metadata: rules[0].resources: \"pods/log\" may not stand beside \"pods/*\""),
        (with("\"services\"", "pods/log, '*/log'"), "metadata: rules[0].resources: \"pods/log\" may not stand beside \"*/log\""),
        (with("\"services\"", "''"), "metadata: rules[0].resources: one is empty"),
        (with("kind: Namespace", "kind: ''"), "metadata: contextAwareResources: apiVersion and kind may not be empty"),
        (with("1.35.0", "'1.35'"), "metadata: minimumKubewardenVersion: \"1.35\" is not MAJOR.MINOR.PATCH"),
        ("rules: []\nmutating: true".to_owned(), "metadata: rules: there is none"),
    ];
    for (text, expected) in table {
        let found = fault(&text);
        assert!(found.starts_with(expected), "{found}");
    }
    assert!(read_metadata(&METADATA.replace("\"services\"", "pods/log, '*/status'")).is_ok());
}

#[test]
fn the_section_equals_that_of_kwctl() {
    let Some(kwctl) = programs::find_or_skip("kwctl", "annotate::the_section_equals_that_of_kwctl") else {
        return;
    };
    let folder = std::env::temp_dir().join(format!("annotate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let at = |name: &str| folder.join(name);
    let usage = "# Test\n\nWith \"quotes\", `code`, ünïcode and <tags>.\n";
    std::fs::write(at("policy.wasm"), module()).unwrap();
    std::fs::write(at("metadata.yml"), METADATA).unwrap();
    std::fs::write(at("README.md"), usage).unwrap();
    let ran = std::process::Command::new(kwctl)
        .args(["annotate", "-m"])
        .arg(at("metadata.yml"))
        .arg("-u")
        .arg(at("README.md"))
        .arg("-o")
        .arg(at("annotated.wasm"))
        .arg(at("policy.wasm"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let theirs = json_of(&std::fs::read(at("annotated.wasm")).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();

    let ours = json_of(&annotate(&module(), METADATA, Some(usage)).unwrap());
    // Exactly one thing may differ: kwctl's own version, which it puts first among the annotations of this test.
    let parsed: Value = serde_json::from_str(&theirs).unwrap();
    let version = parsed["annotations"][KWCTL].as_str().unwrap();
    assert_eq!(theirs.replace(&format!("\"{KWCTL}\":\"{version}\","), ""), ours);
}
