//! Which annotations users may set on their own objects.
//!
//! In: the lists `allowedOverrides` and `deniedOverrides` of the settings. Out: which list forbids a key. The lists govern what stands
//! on a pod, a pod template or a Service; who may annotate a namespace is the matter of the cluster's rights, and its annotations
//! count as before. An annotation goes by all its names at once: a list that names one of them means the older ones, too.

use crate::annotation::INJECT;
use crate::checks::hint;
use crate::overrides::{OVERRIDES, Override};
use serde_json::Value;

/// Ends an entry that stands for every key that begins as it does.
const ANY: char = '*';

/// The lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// What users may set.
    pub allowed: Vec<String>,
    /// What they may not, whatever the other list says.
    pub denied: Vec<String>,
}

impl Default for Permitted {
    /// Every annotation may be set.
    fn default() -> Self {
        Permitted { allowed: vec![ANY.to_string()], denied: Vec::new() }
    }
}

impl Permitted {
    /// Whether there is an annotation that may not be set.
    #[must_use]
    pub fn restricts(&self) -> bool {
        !self.denied.is_empty() || !self.allowed.iter().any(|entry| entry.chars().eq([ANY]))
    }

    /// The key as this policy names it, and the setting that forbids it; `None` for what is allowed, and for the keys of others.
    #[must_use]
    pub fn forbids(&self, key: &str) -> Option<(&'static str, &'static str)> {
        let (known, annotation) = OVERRIDES.iter().find_map(|o| Some((*o.keys.iter().find(|k| **k == key)?, o)))?;
        if any_names(&self.denied, annotation) {
            Some((known, "deniedOverrides"))
        } else if any_names(&self.allowed, annotation) {
            None
        } else {
            Some((known, "allowedOverrides"))
        }
    }

    /// Whether an entry stands in both lists.
    #[must_use]
    pub fn contradicts_itself(&self) -> bool {
        self.allowed.iter().any(|entry| self.denied.contains(entry))
    }
}

fn any_names(entries: &[String], annotation: &Override) -> bool {
    entries.iter().any(|entry| annotation.keys.iter().any(|key| names(entry, key)))
}

fn names(entry: &str, key: &str) -> bool {
    entry.strip_suffix(ANY).map_or(entry == key, |prefix| key.starts_with(prefix))
}

/// Reads one of the lists.
///
/// # Errors
/// What it is not, with every entry that is no key.
pub fn read(from: &Value) -> Result<Vec<String>, String> {
    let Some(list) = from.as_array() else { return Err("not a list of annotation keys".to_owned()) };
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for entry in list {
        match entry.as_str() {
            None => problems.push("an entry is not a text".to_owned()),
            Some(INJECT) => problems.push(format!("{INJECT:?} may always be set")),
            Some(text) if OVERRIDES.iter().any(|o| o.keys.iter().any(|key| names(text, key))) => entries.push(text.to_owned()),
            Some(text) if text.ends_with(ANY) => problems.push(format!("no key begins as {text:?}")),
            Some(text) => problems.push(format!("{text:?} is unknown{}", hint(text).replacen("; ", ", ", 1))),
        }
    }
    if problems.is_empty() { Ok(entries) } else { Err(format!("not a list of annotation keys: {}", problems.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::{Permitted, read};
    use crate::annotation as key;
    use crate::overrides::OVERRIDES;
    use serde_json::json;

    fn lists(allowed: &[&str], denied: &[&str]) -> Permitted {
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect();
        Permitted { allowed: texts(allowed), denied: texts(denied) }
    }

    #[test]
    fn without_lists_everything_may_be_set() {
        assert!(!Permitted::default().restricts());
        for known in OVERRIDES.iter().flat_map(|o| o.keys) {
            assert_eq!(Permitted::default().forbids(known), None);
        }
    }

    #[test]
    fn what_is_not_allowed_or_denied_is_forbidden() {
        let (allowed, denied) = ("allowedOverrides", "deniedOverrides");
        for (lists, key, expected) in [
            (lists(&[], &[]), key::PROXY_IMAGE, Some(allowed)),
            (lists(&[key::PROXY_IMAGE], &[]), key::PROXY_IMAGE, None),
            (lists(&[key::PROXY_IMAGE], &[]), key::PROXY_VERSION_OVERRIDE, Some(allowed)),
            (lists(&["config.linkerd.io/proxy-*"], &[]), key::PROXY_VERSION_OVERRIDE, None),
            (lists(&["config.linkerd.io/proxy-*"], &[]), key::WAIT_BEFORE_EXIT, Some(allowed)),
            (lists(&["config.linkerd.io/proxy-*"], &[key::PROXY_IMAGE]), key::PROXY_IMAGE, Some(denied)),
            (lists(&["*"], &["*"]), key::PROXY_IMAGE, Some(denied)),
            (lists(&["*"], &["config.linkerd.io/proxy"]), key::PROXY_IMAGE, None),
            // What is not ours is never forbidden.
            (lists(&[], &["*"]), "config.linkerd.io/trace-collector", None),
            (lists(&[], &["*"]), "example.com/proxy-image", None),
            (lists(&[], &["*"]), key::INJECT, None),
            (lists(&[], &["*"]), key::RECORD, None),
        ] {
            assert_eq!(lists.forbids(key), expected.map(|list| (key, list)), "{lists:?} {key}");
            assert!(lists.restricts(), "{lists:?}");
        }
    }

    #[test]
    fn one_name_stands_for_all_names_of_an_annotation() {
        let names = [key::NATIVE_SIDECAR, key::NATIVE_SIDECAR_BETA, key::NATIVE_SIDECAR_ALPHA];
        for named in names {
            for other in names {
                assert_eq!(lists(&["*"], &[named]).forbids(other), Some((other, "deniedOverrides")));
                assert_eq!(lists(&[named], &[]).forbids(other), None);
            }
        }
    }

    #[test]
    fn every_entry_that_is_no_key_is_named() {
        let fault = "not a list of annotation keys";
        for (list, expected) in [
            (json!([]), Ok(vec![])),
            (json!(["*"]), Ok(vec!["*".to_owned()])),
            (
                json!([key::PROXY_UID, "config.alpha.linkerd.io/*"]),
                Ok(vec![key::PROXY_UID.to_owned(), "config.alpha.linkerd.io/*".to_owned()]),
            ),
            (json!(null), Err(fault.to_owned())),
            (json!(key::PROXY_UID), Err(fault.to_owned())),
            (json!({key::PROXY_UID: true}), Err(fault.to_owned())),
            (
                json!([
                    "config.linkerd.io/proxy-imag",
                    1,
                    key::PROXY_UID,
                    "config.linkerd.io/colour*",
                    "linkerd.io/inject",
                    "a",
                    ""
                ]),
                Err(format!(
                    "{fault}: \"config.linkerd.io/proxy-imag\" is unknown, did you mean proxy-image, an entry is not a text, \
                    no key begins as \"config.linkerd.io/colour*\", \"linkerd.io/inject\" may always be set, \"a\" is unknown, \
                    \"\" is unknown"
                )),
            ),
        ] {
            assert_eq!(read(&list), expected, "{list}");
        }
    }
}
