//! What annotations change about values: row by row, then inheritance, then the rules that span rows.

use super::{Annotations, OVERRIDES, apply};
use crate::values::Values;
use crate::workload::{Kind, Workload};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

mod env;
mod inherit;
mod rows;
mod rules;

type Texts<'a> = &'a [(&'a str, &'a str)];

fn mk_pod(annotations: Texts<'_>) -> Value {
    let annotations: BTreeMap<_, _> = annotations.iter().copied().collect();
    let port = |name: &str, number: u16| json!({"name": name, "containerPort": number});
    json!({
        "metadata": {"annotations": annotations},
        "spec": {"containers": [{"name": "app", "ports": [port("web", 8080), port("mysql", 3306)]}]},
    })
}

fn owned(annotations: Texts<'_>) -> BTreeMap<String, String> {
    annotations.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// The values that hold for a pod with these annotations in a namespace with those, and the warnings.
fn overridden(values: &Values, pod: Texts<'_>, namespace: Texts<'_>) -> (Values, Vec<String>) {
    let (pod, namespace) = (mk_pod(pod), owned(namespace));
    let annotations = Annotations::new(Workload::read(Kind::Pod, &pod).unwrap(), &namespace);
    let scope = apply(values.clone(), &annotations);
    (scope.values, scope.warnings.iter().map(ToString::to_string).collect())
}

fn changed(values: &Values, change: impl Fn(&mut Values)) -> Values {
    let mut changed = values.clone();
    change(&mut changed);
    changed
}

fn every_key() -> Vec<&'static str> {
    OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).collect()
}

#[test]
fn keys_are_unique_and_their_meanings_short() {
    let keys: BTreeSet<_> = every_key().into_iter().collect();
    assert_eq!(keys.len(), every_key().len());
    for o in OVERRIDES {
        assert!(o.meaning.chars().count() <= 160, "{:?}", o.keys);
        assert!(!o.meaning.contains('\n') && !o.meaning.contains("  "), "{:?}", o.keys);
        assert!(!o.meaning.ends_with('.'), "{:?}", o.keys);
    }
}

#[test]
fn no_annotation_changes_nothing() {
    let bases = [Values::default(), changed(&Values::default(), |v| v.proxy.uid = 7)];
    for values in &bases {
        assert_eq!(overridden(values, &[], &[]), (values.clone(), vec![]));
        let unknown: Texts<'_> =
            &[("config.linkerd.io/proxy-uidd", "x"), ("example.com/proxy-uid", "9"), ("linkerd.io/inject", "enabled")];
        assert_eq!(overridden(values, unknown, unknown), (values.clone(), vec![]));
    }
}
