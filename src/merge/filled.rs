//! What the API server and its plugins fill in where a container says nothing: nobody's opinion, which gives way to ours.
//!
//! Source: `pkg/apis/core/v1/defaults.go` and `plugin/pkg/admission/{alwayspullimages,limitranger,serviceaccount}` of
//! kubernetes/kubernetes.

use super::leaf::{self, Kind, canonical, matches};
use super::path::Path;
use super::record::{Key, Record};
use crate::annotation as key;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What is filled in: one of these texts, or a number.
enum Filled {
    Texts(&'static [&'static str]),
    Number(&'static str),
}

use Filled::{Number, Texts};

/// Leaves of a container, with what is filled in.
#[rustfmt::skip]
const DEFAULTS: &[(&[&str], Filled)] = &[
    (&["*", "imagePullPolicy"], Texts(&["IfNotPresent", ALWAYS])),
    (&["*", "terminationMessagePath"], Texts(&["/dev/termination-log"])),
    (&["*", "terminationMessagePolicy"], Texts(&["File"])),
    (&["*", "livenessProbe", "timeoutSeconds"], Number("1")),
    (&["*", "livenessProbe", "periodSeconds"], Number("10")),
    (&["*", "livenessProbe", "successThreshold"], Number("1")),
    (&["*", "livenessProbe", "failureThreshold"], Number("3")),
    (&["*", "readinessProbe", "timeoutSeconds"], Number("1")),
    (&["*", "readinessProbe", "periodSeconds"], Number("10")),
    (&["*", "readinessProbe", "successThreshold"], Number("1")),
    (&["*", "readinessProbe", "failureThreshold"], Number("3")),
    (&["*", "startupProbe", "timeoutSeconds"], Number("1")),
    (&["*", "startupProbe", "periodSeconds"], Number("10")),
    (&["*", "startupProbe", "successThreshold"], Number("1")),
    (&["*", "startupProbe", "failureThreshold"], Number("3")),
];
const ALWAYS: &str = "Always";

/// Where every container that mounts nothing there gets its service account's token.
const TOKEN_MOUNT: &[&str] = &["*", "volumeMounts", "/var/run/secrets/kubernetes.io/serviceaccount"];

/// Whether a leaf that we did not write is as the API server fills it in.
pub(super) fn is_default(path: &Path<'_>, canonical: Option<&[u8]>) -> bool {
    let Some(canonical) = canonical else { return false };
    DEFAULTS.iter().filter(|(pattern, _)| matches(pattern, path)).any(|(_, filled)| match filled {
        Texts(texts) => leaf::as_text(canonical).is_some_and(|text| texts.contains(&text)),
        Number(number) => canonical == number.as_bytes(),
    })
}

/// Whether a plugin of the API server makes that of a leaf, also of one that we wrote.
pub(super) fn is_of_plugin(path: &Path<'_>, canonical: &[u8]) -> bool {
    matches(TOKEN_MOUNT, path) || (matches(&["*", "imagePullPolicy"], path) && leaf::as_text(canonical) == Some(ALWAYS))
}

/// What LimitRanger says that it filled in of our containers, as paths of amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits(BTreeSet<String>);

/// The lists of resources, with their names in LimitRanger's annotation.
const LISTS: [(&str, &str); 2] = [("limits", "limit"), ("requests", "request")];

/// An amount that was filled in.
struct Amount {
    list: &'static str,
    resource: String,
    /// Whether LimitRanger says so; else it is a request that is as its limit.
    by_plugin: bool,
}

impl Limits {
    /// Reads the annotation of a pod, which others can write: it only ever decides what others may change.
    pub(super) fn of(pod: &Value) -> Limits {
        let annotations = pod.get("metadata").and_then(|meta| meta.get("annotations"));
        let annotation = annotations.and_then(|a| a.get(key::LIMIT_RANGER)).and_then(Value::as_str);
        let said = annotation.and_then(|text| text.strip_prefix("LimitRanger plugin set: ")).unwrap_or_default();
        let mut amounts = BTreeSet::new();
        for (list, resources, container) in said.split("; ").filter_map(sentence) {
            if super::OWN_CONTAINERS.contains(&container) {
                amounts.extend(resources.split(", ").map(|resource| path(container, list, resource).join("/")));
            }
        }
        Limits(amounts)
    }

    /// The resources of a container that nobody asked for: what LimitRanger filled in, and requests that are as their limits because
    /// none was given.
    fn filled(&self, record: &Record, name: &str, resources: &Value) -> Vec<Amount> {
        let amount = |list: &str, resource: &str| canonical(Kind::Quantity, resources.get(list)?.get(resource));
        let mut filled = Vec::new();
        for (list, _) in LISTS {
            for resource in resources.get(list).and_then(Value::as_object).into_iter().flat_map(Map::keys) {
                let path = path(name, list, resource);
                let by_plugin = self.0.contains(&path.join("/"));
                let as_limit = list == "requests" && amount("requests", resource) == amount("limits", resource);
                if !record.has(Key::of(&path)) && (by_plugin || as_limit) {
                    filled.push(Amount { list, resource: resource.clone(), by_plugin });
                }
            }
        }
        filled
    }

    /// The resources of a container without what was filled in, of those whose limit or request we now want otherwise; and the paths
    /// of those that LimitRanger filled in, which others may have changed since.
    pub(super) fn without_filled(
        &self,
        record: &Record,
        name: &str,
        resources: &Value,
        wanted: Option<&Value>,
    ) -> (Value, Vec<String>) {
        let want = |list: &str, resource: &str| canonical(Kind::Quantity, wanted?.get(list)?.get(resource));
        let (mut rest, mut dropped) = (resources.clone(), Vec::new());
        for Amount { list, resource, by_plugin } in self.filled(record, name, resources) {
            let as_ever =
                LISTS.iter().all(|(list, _)| record.is(Key::of(&path(name, list, &resource)), want(list, &resource).as_deref()));
            let Some(amounts) = rest.get_mut(list).and_then(Value::as_object_mut).filter(|_| !as_ever) else { continue };
            amounts.remove(&resource);
            if amounts.is_empty() {
                super::edit::set(&mut rest, list, None);
            }
            dropped.extend(by_plugin.then(|| path(name, list, &resource).join(".")));
        }
        (rest, dropped)
    }

    /// The paths of the amounts of a container that were filled in.
    pub(super) fn filled_in(&self, record: &Record, name: &str, container: &Value) -> Vec<String> {
        let resources = container.get("resources").unwrap_or(&Value::Null);
        self.filled(record, name, resources).iter().map(|f| path(name, f.list, &f.resource).join("/")).collect()
    }
}

fn path<'a>(name: &'a str, list: &'a str, resource: &'a str) -> [&'a str; 4] {
    [name, "resources", list, resource]
}

/// One sentence of the annotation, `cpu, memory limit for init container web`: the list, its resources and the container.
fn sentence(text: &str) -> Option<(&'static str, &str, &str)> {
    let (what, whom) = text.rsplit_once(" for ")?;
    let (resources, word) = what.rsplit_once(' ')?;
    let (list, _) = LISTS.into_iter().find(|(_, known)| *known == word)?;
    Some((list, resources, whom.rsplit(' ').next()?))
}

#[cfg(test)]
mod tests {
    use super::{Limits, Path, Record, is_default};
    use serde_json::{Value, json};

    fn limits(annotation: &str) -> Limits {
        Limits::of(&json!({"metadata": {"annotations": {"kubernetes.io/limit-ranger": annotation}}}))
    }

    #[test]
    fn limit_ranger_says_what_it_did() {
        let said = "LimitRanger plugin set: cpu, memory request for container linkerd-init; cpu limit for container app; \
                    cpu limit for init container linkerd-proxy";
        let found: Vec<_> = limits(said).0.into_iter().collect();
        let of_ours =
            ["linkerd-init/resources/requests/cpu", "linkerd-init/resources/requests/memory", "linkerd-proxy/resources/limits/cpu"];
        assert_eq!(found, of_ours);
        for text in
            ["", "LimitRanger plugin set: ", "LimitRanger plugin set: much for container app", "cpu limit for container app"]
        {
            assert_eq!(limits(text), Limits::default(), "{text}");
        }
    }

    #[test]
    fn what_is_filled_in_goes_where_we_want_another() {
        let of = |limit: &str, request: &str| -> Value {
            let amounts = |amount: &str| if amount.is_empty() { json!({}) } else { json!({"cpu": amount}) };
            json!({"limits": amounts(limit), "requests": amounts(request)})
        };
        let record = |limit: &str, request: &str| {
            let mut record = Record::default();
            super::super::three_way::note(&mut record, &Path::of("linkerd-proxy").with("resources"), &of(limit, request));
            record
        };
        let both = limits("LimitRanger plugin set: cpu request for container linkerd-proxy; cpu limit for container linkerd-proxy");
        let none = Limits::default();
        for (limits, base, current, wanted, rest) in [
            // The request is as the limit that we wrote.
            (&none, ("1", ""), ("1", "1"), ("1", ""), json!({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}})),
            (&none, ("1", ""), ("1", "1"), ("", ""), json!({"limits": {"cpu": "1"}})),
            (&none, ("1", ""), ("1", "1000m"), ("2", ""), json!({"limits": {"cpu": "1"}})),
            (&none, ("1", "1"), ("1", "1"), ("", ""), json!({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}})),
            (&none, ("1", ""), ("1", "500m"), ("2", ""), json!({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}})),
            // LimitRanger filled in what we did not write.
            (&both, ("", ""), ("2", "1"), ("", ""), json!({"limits": {"cpu": "2"}, "requests": {"cpu": "1"}})),
            (&both, ("", ""), ("2", "1"), ("", "1"), json!({})),
            (&both, ("", "1"), ("2", "1"), ("", "2"), json!({"requests": {"cpu": "1"}})),
        ] {
            let found = limits.without_filled(
                &record(base.0, base.1),
                "linkerd-proxy",
                &of(current.0, current.1),
                Some(&of(wanted.0, wanted.1)),
            );
            assert_eq!(found.0, rest, "{base:?} {current:?} {wanted:?}");
        }
    }

    #[test]
    fn defaults_go_by_their_place() {
        assert!(is_default(&Path::of("linkerd-proxy").with("livenessProbe").with("periodSeconds"), Some(b"10")));
        assert!(!is_default(&Path::of("linkerd-proxy").with("livenessProbe").with("periodSeconds"), Some(b"11")));
        assert!(!is_default(&Path::of("linkerd-proxy").with("periodSeconds"), Some(b"10")));
        assert!(!is_default(&Path::of("linkerd-proxy").with("imagePullPolicy"), None));
    }
}
