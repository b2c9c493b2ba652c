//! A policy that accepts every request, as Kubewarden's SDK and its template make policies: it reads the request and its settings, so
//! that it could judge, and accepts.
//!
//! What it costs is what any policy costs: a new instance, the request copied into it and read, the answer copied out. Other policies
//! are measured against it.

use kubewarden_policy_sdk::{
    accept_request, protocol_version_guest, request::ValidationRequest, settings::Validatable, validate_settings, wapc_guest,
};
use serde::Deserialize;
use wapc_guest::{CallResult, register_function};

/// Called once by the host on every instance.
#[allow(unsafe_code, reason = "waPC finds this function by its unmangled name")]
#[unsafe(no_mangle)]
pub extern "C" fn wapc_init() {
    register_function("validate", validate);
    register_function("validate_settings", validate_settings::<Settings>);
    register_function("protocol_version", protocol_version_guest);
}

/// There is nothing to set.
#[derive(Default, Deserialize)]
struct Settings {}

impl Validatable for Settings {
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

fn validate(payload: &[u8]) -> CallResult {
    ValidationRequest::<Settings>::new(payload)?;
    accept_request()
}
