//! The network validator: waits in CNI mode until traffic is redirected, and fails the pod's start where it is not.
//!
//! Source: `charts/partials/templates/_network-validator.tpl` of linkerd/linkerd2.

use super::{container, json, resources::resources, with_security_context};
use crate::values::{Values, validator_security_context};
use k8s_openapi::api::core::v1::Container;
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
    let rendered = json(Container {
        name: container::VALIDATOR.to_owned(),
        image: Some(values.proxy.image.reference(&values.linkerd_version)),
        image_pull_policy: Some(values.proxy.image.pull_policy(&values.image_pull_policy).to_owned()),
        command: Some(vec!["/usr/lib/linkerd/linkerd2-network-validator".to_owned()]),
        args: Some(arguments.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()),
        resources: resources(&values.proxy.resources),
        ..Container::default()
    });
    // Switched off by enableSecurityContext (D21).
    match (validator.enable_security_context, validator.security_context.is_empty()) {
        (false, _) => rendered,
        (true, true) => with_security_context(rendered, &validator_security_context()),
        (true, false) => with_security_context(rendered, &validator.security_context),
    }
}
