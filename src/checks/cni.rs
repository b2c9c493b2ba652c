//! Where linkerd-cni and the injection read one pod in two ways.
//!
//! linkerd-cni redirects the traffic of a pod by the configuration of its node, and by five annotations of the pod, or else of its
//! namespace. Of these it takes an empty one for none, does not know the names of ports, and takes no white space off.
//!
//! Source: `cmdAdd` and `getAnnotationOverride` in `cni-plugin/main.go`, `ParsePortRange` in `pkg/util/portrange.go` and
//! `BuildFirewallConfiguration` in `proxy-init/cmd/root.go` of linkerd/linkerd2-proxy-init.

use super::{Finding, Injection, Scene};
use crate::annotation as key;
use crate::parse::network;
use crate::parse::ports::{self, PortSet};
use crate::values::{Ports, Values};
use crate::warning::Place;

/// The annotation that sets a port of the proxy, and the port.
type PortOf = (&'static str, fn(&Ports) -> u16);

/// Overrides that linkerd-cni does not look at, where they change something.
pub(super) fn ignored(_: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    if !injection.values.cni_enabled {
        return Vec::new();
    }
    let (before, now) = (injection.configured_ports, injection.values.proxy.ports);
    let rows: [PortOf; 4] = [
        (key::INBOUND_PORT, |p| p.inbound),
        (key::OUTBOUND_PORT, |p| p.outbound),
        (key::ADMIN_PORT, |p| p.admin),
        (key::CONTROL_PORT, |p| p.control),
    ];
    let changed = rows.iter().filter(|(_, of)| of(&before) != of(&now)).map(|(key, _)| *key);
    let close_wait = (injection.values.proxy_init.close_wait_timeout_secs != 0).then_some(key::CLOSE_WAIT_TIMEOUT);
    let found = changed.chain(close_wait).filter_map(|key| injection.annotations.first(&[key]));
    found.map(|(place, _)| Finding::new(place, &[])).collect()
}

/// The annotations that linkerd-cni reads, in the form in which the injection means them.
pub(crate) fn read_by_plugin(values: &Values) -> [(&'static str, Option<String>); 5] {
    let gid = values.proxy.gid.map(|gid| gid.to_string());
    [
        (key::SKIP_INBOUND_PORTS, Some(values.proxy_init.ignore_inbound_ports.clone())),
        (key::SKIP_OUTBOUND_PORTS, Some(values.proxy_init.ignore_outbound_ports.clone())),
        (key::SKIP_SUBNETS, Some(values.proxy_init.skip_subnets.clone())),
        (key::PROXY_UID, Some(values.proxy.uid.to_string())),
        (key::PROXY_GID, gid),
    ]
}

/// Words of which linkerd-cni makes something else: the pod's own, and of those that it inherits, which are written down as both read
/// them, the ones that mean nothing here and something there.
pub(super) fn read_otherwise(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Finding> {
    if !injection.values.cni_enabled {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (key, meant) in read_by_plugin(injection.values) {
        let of_namespace = injection.annotations.of_namespace(key).filter(|text| !text.is_empty());
        let means_nothing = meant.as_deref().is_none_or(str::is_empty);
        let (place, read) = match scene.pod.annotation(key) {
            Some("") => (Place::Annotation(key), of_namespace),
            Some(own) => (Place::Annotation(key), Some(own)),
            None => (Place::NamespaceAnnotation(key), of_namespace.filter(|_| means_nothing)),
        };
        // Where linkerd-cni reads nothing, its own configuration holds.
        let Some(read) = read else { continue };
        let same = match key {
            key::SKIP_INBOUND_PORTS | key::SKIP_OUTBOUND_PORTS => {
                let names = scene.pod.named_ports();
                let named = |name: &str| if key == key::SKIP_INBOUND_PORTS { names.get(name).copied() } else { None };
                let meant = ports::list(meant.as_deref().unwrap_or_default(), &named).ranges;
                let read = read.split(',').filter_map(|entry| ports::port_range(entry).ok()).collect();
                PortSet::of(read) == PortSet::of(meant)
            }
            key::SKIP_SUBNETS => {
                let networks = |text: &str| network::cidr_list_init(text).ok();
                networks(read).is_some() && networks(read) == networks(meant.as_deref().unwrap_or_default())
            }
            _ => read.parse::<i64>().ok().map(|id| id.max(-1)) == Some(meant.as_deref().and_then(|m| m.parse().ok()).unwrap_or(-1)),
        };
        if !same {
            let advice = match meant.filter(|meant| !meant.is_empty()) {
                Some(meant) => format!("write {meant}"),
                None => "take it out".to_owned(),
            };
            findings.push(Finding::new(place, &[&advice]));
        }
    }
    findings
}
