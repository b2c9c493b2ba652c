//! The debug container.
//!
//! Source: `charts/partials/templates/_debug.tpl` of linkerd/linkerd2.

use super::api::{Container, Handler, Probe};
use super::container;
use crate::values::Values;
use serde_json::Value;

/// Renders the debug container. Its probes never fail: some clusters demand probes of every container.
pub(super) fn container(values: &Values) -> Value {
    let infallible = || Some(Probe::of(Handler::Exec(vec!["true".to_owned()])));
    Container {
        name: container::DEBUG,
        image: values.debug_image.reference(&values.linkerd_version),
        image_pull_policy: values.debug_image.pull_policy(&values.image_pull_policy).to_owned(),
        termination_message_policy: Some("FallbackToLogsOnError"),
        liveness_probe: infallible(),
        readiness_probe: infallible(),
        ..Container::default()
    }
    .json()
}
