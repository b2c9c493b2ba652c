//! The policy's own crate, called directly.

use std::sync::Arc;

use super::{Policy, PolicyError};
use crate::{host::Host, refusal::Refusal};

/// The policy compiled into this program.
#[derive(Debug, Clone, Copy)]
pub struct Native;

impl Policy for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
        let call = |binding: &str, namespace: &str, operation: &str, payload: &[u8]| {
            heard_by_guest(host.call(binding, namespace, operation, payload))
        };
        Ok(linkerd_injector_policy::validate(payload, &call))
    }

    fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError> {
        Ok(linkerd_injector_policy::validate_settings(payload))
    }
}

/// A refusal as the policy's module hears it: waPC's guest library puts two words before the host's text.
fn heard_by_guest(answer: Result<Vec<u8>, Refusal>) -> Result<Vec<u8>, String> {
    answer.map_err(|refusal| format!("Host error: {refusal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_reads_as_in_the_module() {
        assert_eq!(heard_by_guest(Ok(b"x".to_vec())), Ok(b"x".to_vec()));
        assert_eq!(
            heard_by_guest(Err(Refusal::no_cluster())).unwrap_err(),
            "Host error: Callback evaluation failure: kube::Client was not initialized properly"
        );
    }
}
