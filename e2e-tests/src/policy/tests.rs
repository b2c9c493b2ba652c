use super::*;
use crate::{cluster::Manifests, host::Host};

/// A guest that asks for a namespace, answers with what it heard, and keeps a count of its calls.
///
/// Its `validate` answers with the host's answer or, on refusal, with the host's error text; `protocol_version` with
/// `"v1"`; anything else with the number of calls this instance has seen, which must always be 1.
const ECHO: &str = include_str!("testdata/echo.wat");

fn echo() -> Module {
    Module::new(ECHO.as_bytes()).unwrap()
}

fn ask(module: &Module, host: Host) -> String {
    String::from_utf8(module.call("validate", b"", &Arc::new(host)).unwrap()).unwrap()
}

#[test]
fn the_guest_hears_the_host() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let module = echo();
    assert_eq!(ask(&module, Host::new(Manifests::new(vec![namespace.clone()]))), namespace.to_string());
    assert_eq!(
        ask(&module, Host::new(Manifests::default())),
        "Callback evaluation failure: Cannot find v1/Namespace named 'shop' inside of namespace 'None'"
    );
    assert_eq!(ask(&module, Host::alone()), "Callback evaluation failure: kube::Client was not initialized properly");
}

#[test]
fn every_call_has_its_own_instance() {
    let module = echo();
    assert_eq!(module.protocol_version().unwrap(), "v1");
    for _ in 0..3 {
        assert_eq!(module.call("count", b"", &Arc::new(Host::alone())).unwrap(), b"1");
    }
}

#[test]
fn what_is_no_module_is_refused() {
    assert!(matches!(Module::new(b"no module"), Err(PolicyError::Load(_))));
    let missing = Module::open(Path::new("/does/not/exist.wasm")).err().unwrap().to_string();
    assert!(missing.starts_with("cannot read module /does/not/exist.wasm: "), "{missing}");
    let trap = ECHO.replace("(global.get $calls)", "(unreachable)");
    let trap = Module::new(trap.as_bytes()).unwrap().call("count", b"", &Arc::new(Host::alone())).unwrap_err();
    assert!(trap.to_string().starts_with("Guest call failure: error while executing at wasm backtrace"), "{trap}");
}

#[test]
fn the_native_policy_answers() {
    let settings = Native.check_settings(&Value::Null).unwrap();
    assert_eq!(settings, SettingsResponse { valid: true, message: None });
    assert_eq!(Native.name(), "native");
}

#[test]
fn the_memory_after_a_call_is_what_it_has_grown_to() {
    let grown = ECHO.replace("(call $guest_request ", "(drop (memory.grow (i32.const 4)))\n    (call $guest_request ");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    for host in [Host::alone(), Host::new(Manifests::new(vec![namespace]))] {
        let host = Arc::new(host);
        assert_eq!(echo().memory_after("validate", b"", &host).unwrap(), 65_536);
        assert_eq!(Module::new(grown.as_bytes()).unwrap().memory_after("validate", b"", &host).unwrap(), 5 * 65_536);
    }
    let trap = ECHO.replace("(global.get $calls)", "(unreachable)");
    let trap = Module::new(trap.as_bytes()).unwrap().memory_after("count", b"", &Arc::new(Host::alone())).unwrap_err();
    assert!(trap.to_string().contains("unreachable"), "{trap}");
}
