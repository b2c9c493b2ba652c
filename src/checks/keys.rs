//! Words of people that nobody reads: keys that are none, labels that should be annotations, annotations in the wrong place.

use super::{Finding, Scene};
use crate::annotation as key;
use crate::decide::{Inject, SkipReason};
use crate::overrides::OVERRIDES;
use crate::warning::Place;
use crate::workload::Kind;

/// Where the annotations live that configure a proxy.
const DOMAINS: [&str; 3] = ["config.linkerd.io/", "config.alpha.linkerd.io/", "config.beta.linkerd.io/"];

/// Keys there that others read: extensions of Linkerd.
const OF_OTHERS: [&str; 2] = ["config.linkerd.io/trace-collector", "config.alpha.linkerd.io/trace-collector-service-account"];

/// Every key that means something on a pod.
fn known() -> impl Iterator<Item = &'static str> {
    OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).chain([key::INJECT])
}

/// The name within its domain.
fn name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// The pod asks for the mesh itself, and cannot have it.
pub(super) fn asked_and_skipped(scene: &Scene<'_>) -> Vec<Finding> {
    if Inject::read(scene.pod.annotation(key::INJECT)) != Inject::Enabled {
        return Vec::new();
    }
    let hopeless = |reason: &&SkipReason| match reason {
        SkipReason::HostNetwork | SkipReason::Windows | SkipReason::NoToken | SkipReason::OwnerKind => true,
        // One of Linkerd's makes it a pod of the mesh, which is what it asks for.
        SkipReason::SidecarExists => scene.pod.containers().any(|c| matches!(c.name(), "istio-proxy" | "istio-init")),
        _ => false,
    };
    let reason = scene.reasons.iter().find(hopeless);
    reason.map(|reason| Finding::new(Place::Pod, &[&reason.to_string()])).into_iter().collect()
}

/// What an inject annotation or label asks for, where the pod itself is treated otherwise and has no annotation that says so.
fn is_unheard(scene: &Scene<'_>, asks: Option<&str>) -> bool {
    let refuses = asks == Some("disabled");
    let heard = scene.reasons.is_empty() != refuses;
    let undecided = scene.reasons.iter().all(|reason| matches!(reason, SkipReason::NotEnabled | SkipReason::InvalidAtNamespace));
    asks.is_some_and(|asks| !asks.is_empty()) && scene.pod.annotation(key::INJECT).is_none() && undecided && !heard
}

/// The inject annotation as a label.
pub(super) fn inject_as_label(scene: &Scene<'_>) -> Vec<Finding> {
    let namespace = scene.namespace.filter(|namespace| !namespace.annotations.contains_key(key::INJECT));
    let labels = [
        (Place::Pod, scene.pod.label(key::INJECT)),
        (Place::Workload(scene.template.map_or("", |t| t.kind.kind)), scene.template.and_then(|t| t.label(key::INJECT))),
        (Place::Namespace, namespace.and_then(|n| n.labels.get(key::INJECT)).map(String::as_str)),
    ];
    let unheard = labels.into_iter().filter(|(_, label)| is_unheard(scene, *label));
    unheard.map(|(place, _)| Finding::new(place, &[])).collect()
}

/// Annotations of a workload that only mean something on its pods.
pub(super) fn annotations_on_workload(scene: &Scene<'_>) -> Vec<Finding> {
    let Some(template) = scene.template else { return Vec::new() };
    let own = |key: &str| template.annotations()?.get(key)?.as_str();
    let unheard = is_unheard(scene, own(key::INJECT));
    let asked = scene.reasons.is_empty() || (unheard && Inject::read(own(key::INJECT)) == Inject::Enabled);
    let misplaced = |key: &&str| match *key {
        key::INJECT => unheard,
        // A key of a pod that nobody asked to mesh means nothing anywhere.
        key => asked && own(key).is_some() && scene.pod.annotation(key).is_none(),
    };
    let keys: Vec<&str> = [key::INJECT].into_iter().chain(known().filter(|k| *k != key::INJECT)).filter(misplaced).collect();
    let Some((first, others)) = keys.split_first() else { return Vec::new() };
    let others = match others.len() {
        0 => String::new(),
        1 => ", as is 1 other".to_owned(),
        more => format!(", as are {more} others"),
    };
    let place = Place::Workload(template.kind.kind);
    vec![Finding::of_value(place, first, &[&others])]
}

/// Keys of Linkerd's domains that are none.
pub(super) fn unknown(scene: &Scene<'_>) -> Vec<Finding> {
    // A service is asked for its opaque ports, in the mesh or not.
    if !scene.reasons.is_empty() && scene.pod.kind() != Kind::Service {
        return Vec::new();
    }
    let own = scene.pod.annotations().into_iter().flat_map(|map| map.keys()).map(|key| (Place::Annotations, key));
    let namespace = scene.namespace.into_iter().flat_map(|n| n.annotations.keys());
    let all = own.chain(namespace.map(|key| (Place::NamespaceAnnotations, key)));
    // More than are shown need no hint.
    const HINTS: usize = 32;
    let unknown = all.filter(|(_, key)| is_unknown(key)).enumerate();
    let hinted = unknown.map(|(at, (place, key))| (place, key, if at < HINTS { hint(key) } else { String::new() }));
    hinted.map(|(place, key, hint)| Finding::of_value(place, key, &[&hint])).collect()
}

fn is_unknown(key: &str) -> bool {
    DOMAINS.iter().any(|domain| key.starts_with(domain)) && !OF_OTHERS.contains(&key) && !known().any(|known| known == key)
}

/// The key that may have been meant: under another domain, or so few letters away that it is no other word.
pub(crate) fn hint(key: &str) -> String {
    // The longest name that a key may have.
    const LONGEST: usize = 63;
    if name(key).len() > LONGEST {
        return String::new();
    }
    let domain = key.strip_suffix(name(key)).unwrap_or_default();
    let wanted = name(key).to_ascii_lowercase();
    let near = known().map(|known| (distance(&wanted, name(known)), known)).min_by_key(|(distance, _)| *distance);
    match near.filter(|(distance, _)| *distance <= allowed(&wanted)) {
        Some((_, near)) if near.strip_suffix(name(near)) == Some(domain) => format!("; did you mean {}", name(near)),
        Some((_, near)) => format!("; did you mean {near}"),
        None => String::new(),
    }
}

/// One letter in four may be wrong, and two at least.
fn allowed(word: &str) -> usize {
    (word.chars().count() / 4).max(2)
}

/// How many letters have to be added, taken away or replaced to make one word of another.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut before = index;
        let mut left = index.saturating_add(1);
        let mut next = vec![left];
        for (other, above) in to.iter().zip(row.iter().skip(1)) {
            let replaced = before.saturating_add(usize::from(letter != *other));
            before = *above;
            left = replaced.min(above.saturating_add(1)).min(left.saturating_add(1));
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{DOMAINS, OF_OTHERS, distance, hint, is_unknown, known};

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("proxy-cpu-limits", "proxy-cpu-limit", 1),
            ("porxy", "proxy", 2),
            ("größe", "grosse", 3),
        ] {
            assert_eq!((distance(from, to), distance(to, from)), (expected, expected), "{from} {to}");
        }
    }

    #[test]
    fn every_known_key_is_known_and_the_hint_for_its_typo() {
        for key in known() {
            assert!(!is_unknown(key), "{key}");
            let typo = format!("{key}x");
            assert_eq!(is_unknown(&typo), DOMAINS.iter().any(|domain| key.starts_with(domain)), "{key}");
            assert!(hint(&typo).ends_with(super::name(key)), "{key}: {}", hint(&typo));
        }
        for key in OF_OTHERS {
            assert!(!is_unknown(key), "{key}");
        }
    }

    #[test]
    fn hints_are_of_one_word_or_none() {
        for (key, expected) in [
            ("config.linkerd.io/proxy-cpu-limits", "; did you mean proxy-cpu-limit"),
            ("config.linkerd.io/proxy-memory-requst", "; did you mean proxy-memory-request"),
            ("config.linkerd.io/skip-inbound-port", "; did you mean skip-inbound-ports"),
            ("config.linkerd.io/Proxy-UID", "; did you mean proxy-uid"),
            ("config.linkerd.io/inject", "; did you mean linkerd.io/inject"),
            (
                "config.linkerd.io/proxy-wait-before-exit-seconds",
                "; did you mean config.alpha.linkerd.io/proxy-wait-before-exit-seconds",
            ),
            ("config.alpha.linkerd.io/proxy-await", "; did you mean config.linkerd.io/proxy-await"),
            ("config.linkerd.io/", ""),
            ("config.linkerd.io/disable-identity", ""),
            ("config.linkerd.io/colour", ""),
        ] {
            assert!(is_unknown(key), "{key}");
            assert_eq!(hint(key), expected, "{key}");
        }
        for key in ["linkerd.io/injct", "config.linkerd.iox/proxy-uid", "viz.linkerd.io/tap", "config.linkerd.io"] {
            assert!(!is_unknown(key), "{key}");
        }
    }
}
