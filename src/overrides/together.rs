//! What the values come to when every annotation has had its say: what does not go together is put right, and told.

use super::{Annotations, Scope};
use crate::annotation as key;
use crate::parse::{env_entry, quantity};
use crate::values::{Constraint, Ports};
use crate::warning::{Place, Warning};

/// The API server refuses a variable from a file that lies in no `emptyDir` of the pod: those that the mesh's values have are left out
/// (D34).
pub(super) fn leave_out_files(scope: &mut Scope<'_>) {
    let proxy = &mut scope.values.proxy;
    for (path, list) in [("proxy.additionalEnv", &mut proxy.additional_env), ("proxy.experimentalEnv", &mut proxy.experimental_env)]
    {
        list.retain(|entry| {
            let missing = env_entry::file_volume(entry).filter(|volume| !scope.pod.has_empty_dir(volume));
            scope.warnings.extend(missing.map(|volume| {
                let problem = format!("{path} is used without an entry from volume {volume:?}, which is no emptyDir of the pod");
                Warning::plain(Place::Configuration, problem)
            }));
            missing.is_none()
        });
    }
}

/// The annotation that overrides a port of the proxy.
const PORTS: &[(&str, &str)] =
    &[("control", key::CONTROL_PORT), ("inbound", key::INBOUND_PORT), ("admin", key::ADMIN_PORT), ("outbound", key::OUTBOUND_PORT)];

/// Overrides that make the proxy's ports meet are put out of effect (D10).
pub(super) fn part_ports(scope: &mut Scope<'_>, annotations: &Annotations<'_>, configured: Ports) {
    for name in scope.values.proxy.ports.part(configured) {
        let annotation = PORTS.iter().find(|(port, _)| *port == name).and_then(|(_, annotation)| annotations.first(&[annotation]));
        scope.warnings.extend(annotation.map(|(place, text)| Warning::unused(place, text, "another port of the proxy")));
    }
}

/// The API server refuses a request above its limit: it is lowered to it (D26).
pub(super) fn lower_requests(scope: &mut Scope<'_>) {
    let resources = &mut scope.values.proxy.resources;
    let rows: [(&str, &mut Constraint); 3] =
        [("CPU", &mut resources.cpu), ("memory", &mut resources.memory), ("ephemeral storage", &mut resources.ephemeral_storage)];
    for (name, constraint) in rows {
        if constraint.request.is_empty() || constraint.limit.is_empty() {
            continue;
        }
        let (Ok(request), Ok(limit)) = (quantity::quantity(&constraint.request), quantity::quantity(&constraint.limit)) else {
            continue;
        };
        if request > limit {
            scope.warnings.push(Warning::plain(
                Place::Pod,
                format!(
                    "the proxy's {name} request {} is above its limit {}, and lowered to it",
                    constraint.request, constraint.limit
                ),
            ));
            constraint.request.clone_from(&constraint.limit);
        }
    }
}

/// The trace service name and attributes that the pod's labels and annotations give.
pub(super) fn trace_attributes(scope: &mut Scope<'_>) {
    let labels = &mut scope.values.proxy.tracing.labels;
    if let Some(name) = scope.pod.label(key::APP_INSTANCE).or_else(|| scope.pod.label(key::APP_NAME)) {
        labels.insert("service.name".to_owned(), name.to_owned());
    }
    for (name, value) in scope.pod.annotations().into_iter().flatten() {
        if let (Some(attribute), Some(value)) = (name.strip_prefix(key::OTEL_PREFIX), value.as_str()) {
            labels.insert(attribute.to_owned(), value.to_owned());
        }
    }
}
