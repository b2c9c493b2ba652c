//! The policy's own crate, called directly.

use std::sync::Arc;

use super::{Policy, PolicyError};
use crate::host::Host;

/// The policy compiled into this program.
#[derive(Debug, Clone, Copy)]
pub struct Native;

impl Policy for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
        // waPC's guest library puts these two words before the host's text.
        let call = |binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
            host.call(binding, namespace, operation, payload)
                .map_err(|refusal| format!("Host error: {refusal}"))
        };
        Ok(linkerd_injector_policy::validate(payload, &call))
    }

    fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError> {
        Ok(linkerd_injector_policy::validate_settings(payload))
    }
}
