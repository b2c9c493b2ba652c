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

/// What a call costs with a host that has the namespace.
fn cost(module: &str) -> Result<Cost, PolicyError> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    Metered::new(module.as_bytes()).unwrap().cost("validate", b"", &Arc::new(Host::new(Manifests::new(vec![namespace]))))
}

#[test]
fn a_call_costs_the_memory_to_which_it_grows_and_the_instructions_that_it_runs() {
    let grown = ECHO.replace("(call $guest_request ", "(drop (memory.grow (i32.const 4)))\n    (call $guest_request ");
    let (plain, grown) = (cost(ECHO).unwrap(), cost(&grown).unwrap());
    assert_eq!((plain.memory, grown.memory), (65_536, 5 * 65_536));
    // A constant, and the growing; what is dropped is dropped for nothing.
    assert_eq!(grown.instructions.checked_sub(plain.instructions), Some(2));
    assert_eq!(cost(ECHO).unwrap(), plain);
    let alone = Metered::new(ECHO.as_bytes()).unwrap().cost("validate", b"", &Arc::new(Host::alone())).unwrap();
    assert_eq!(alone.memory, plain.memory);
    let trap = cost(&ECHO.replace("(call $guest_request ", "(unreachable) (call $guest_request ")).unwrap_err();
    assert!(trap.to_string().contains("unreachable"), "{trap}");
}
