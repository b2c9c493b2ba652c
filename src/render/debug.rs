//! The debug container.
//!
//! Source: `charts/partials/templates/_debug.tpl` of linkerd/linkerd2.

use super::{container, json, resources::resources};
use crate::values::Values;
use k8s_openapi::api::core::v1::{Container, ExecAction, Probe};
use serde_json::Value;

/// Renders the debug container. Its probes never fail: some clusters demand probes of every container.
pub(super) fn container(values: &Values) -> Value {
    let infallible = || Some(Probe { exec: Some(ExecAction { command: Some(vec!["true".to_owned()]) }), ..Probe::default() });
    json(Container {
        name: container::DEBUG.to_owned(),
        image: Some(values.debug_image.reference(&values.linkerd_version)),
        image_pull_policy: Some(values.debug_image.pull_policy(&values.image_pull_policy).to_owned()),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        liveness_probe: infallible(),
        readiness_probe: infallible(),
        resources: resources(&values.debug_resources),
        ..Container::default()
    })
}
