//! Where the containers that are added stand among the others.
//!
//! A first call puts them where Linkerd does. A later call moves one only where an invariant is broken, never to win a fight: a native
//! proxy starts right after what redirects traffic to it and before all others; a proxy for which others wait comes first; without a
//! native proxy, traffic is redirected only when all other init containers are done.

use super::edit::{existing, list, name_of};
use crate::render::{Place, container};
use serde_json::Value;

/// The list in which a container of ours lives.
pub(super) fn list_of(place: Place, name: &str) -> &'static str {
    match name {
        container::INIT | container::VALIDATOR => "initContainers",
        container::PROXY if place == Place::Native => "initContainers",
        _ => "containers",
    }
}

/// Puts in a container that is not there yet.
pub(super) fn put(spec: &mut Value, place: Place, added: Value) {
    let name = name_of(&added).to_owned();
    let Some(containers) = list(spec, list_of(place, &name)) else { return };
    let at = match (name.as_str(), place) {
        (container::INIT | container::VALIDATOR, Place::Native) | (container::PROXY, Place::First) => 0,
        (container::PROXY, Place::Native) => containers.len().min(1),
        _ => containers.len(),
    };
    containers.insert(at, added);
}

/// Moves what breaks an invariant; `init` is the name of the container that redirects traffic, or waits for that.
pub(super) fn settle(spec: &mut Value, place: Place, init: &str) {
    let is_init = |c: &Value| name_of(c) == init;
    let is_proxy = |c: &Value| name_of(c) == container::PROXY;
    match place {
        Place::Native => to_front(spec, "initContainers", &[&is_init, &is_proxy]),
        Place::First => to_front(spec, "containers", &[&is_proxy]),
        Place::Last => {}
    }
    if place != Place::Native
        && let Some(containers) = existing(spec, "initContainers")
        && let Some(at) = containers.iter().position(is_init)
        && at.saturating_add(1) != containers.len()
    {
        let init = containers.remove(at);
        containers.push(init);
    }
}

/// Makes a list begin with these containers, in this order, as far as they are in it.
fn to_front(spec: &mut Value, key: &str, order: &[&dyn Fn(&Value) -> bool]) {
    let Some(containers) = existing(spec, key) else { return };
    let mut front = 0_usize;
    for is in order {
        if let Some(at) = containers.iter().position(is) {
            if at > front {
                let moved = containers.remove(at);
                containers.insert(front, moved);
            }
            front = front.saturating_add(1);
        }
    }
}
