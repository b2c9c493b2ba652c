//! The module's face to the host: what waPC calls.

use wapc_guest::{CallResult, register_function};

/// Called once by the host on every instance.
#[allow(unsafe_code, reason = "waPC finds this function by its unmangled name")]
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings);
    register_function("protocol_version", kubewarden_policy_sdk::protocol_version_guest);
}

fn validate(payload: &[u8]) -> CallResult {
    Ok(crate::validate(payload, &|binding, namespace, operation, payload| {
        wapc_guest::host_call(binding, namespace, operation, payload).map_err(|error| error.to_string())
    }))
}

fn validate_settings(payload: &[u8]) -> CallResult {
    Ok(crate::validate_settings(payload))
}
