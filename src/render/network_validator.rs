//! The network validator: waits in CNI mode until traffic is redirected, and fails the pod's start where it is not.
//!
//! Source: `charts/partials/templates/_network-validator.tpl` of linkerd/linkerd2.

use super::api::Container;
use super::{container, resources::resources, security_context_or};
use crate::values::{Values, validator_security_context};
use serde_json::Value;

/// Renders the validator.
pub(super) fn container(values: &Values) -> Value {
    let validator = &values.network_validator;
    let or = |given: &String, ipv4: &str, ipv6: &str| match (given.as_str(), values.disable_ipv6) {
        ("", true) => ipv4.to_owned(),
        ("", false) => ipv6.to_owned(),
        (given, _) => given.to_owned(),
    };
    let arguments = [
        ("--log-format", validator.log_format.clone()),
        ("--log-level", validator.log_level.clone()),
        ("--connect-addr", or(&validator.connect_addr, "1.1.1.1:20001", "[fd00::1]:20001")),
        ("--listen-addr", or(&validator.listen_addr, "0.0.0.0:4140", "[::]:4140")),
        ("--timeout", validator.timeout.clone()),
    ];
    let security_context = || security_context_or(&validator.security_context, || validator_security_context().into());
    Container {
        name: container::VALIDATOR,
        image: values.proxy.image.reference(&values.linkerd_version),
        image_pull_policy: values.proxy.image.pull_policy(&values.image_pull_policy).to_owned(),
        command: Some("/usr/lib/linkerd/linkerd2-network-validator"),
        args: arguments.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect(),
        resources: resources(&values.proxy.resources),
        // Switched off by enableSecurityContext (D21).
        security_context: if validator.enable_security_context { security_context() } else { Value::Null },
        ..Container::default()
    }
    .json()
}
