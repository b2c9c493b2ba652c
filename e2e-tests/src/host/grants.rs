//! The two allow-lists of a policy: host capabilities and context-aware resources.

use std::collections::BTreeSet;

use crate::refusal::Refusal;

/// What a policy may ask for; by default everything, as in `kwctl run` with `--allow-context-aware`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// `*`, `kubernetes/*` or `kubernetes/get_resource`; `None` allows all, an empty list none.
    pub capabilities: Option<Vec<String>>,
    /// `apiVersion` and `kind`, compared exactly; `None` allows all.
    pub resources: Option<BTreeSet<(String, String)>>,
}

impl Grants {
    /// Allows exactly these kinds, and every capability.
    #[must_use]
    pub fn resources(kinds: &[(&str, &str)]) -> Self {
        let kinds = kinds.iter().map(|(api_version, kind)| ((*api_version).to_owned(), (*kind).to_owned()));
        Self { capabilities: None, resources: Some(kinds.collect()) }
    }

    /// Allows exactly these capabilities, and every kind.
    #[must_use]
    pub fn capabilities(patterns: &[&str]) -> Self {
        Self { capabilities: Some(patterns.iter().map(|pattern| (*pattern).to_owned()).collect()), resources: None }
    }

    /// # Errors
    /// No pattern allows `capability`.
    pub fn check_capability(&self, capability: &str) -> Result<(), Refusal> {
        let allowed = |pattern: &String| {
            pattern == "*"
                || pattern == capability
                || pattern.strip_suffix('*').is_some_and(|prefix| prefix.ends_with('/') && capability.starts_with(prefix))
        };
        match &self.capabilities {
            Some(patterns) if !patterns.iter().any(allowed) => Err(Refusal::capability_not_granted(capability)),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// The kind is not on the list.
    pub fn check_resource(&self, api_version: &str, kind: &str) -> Result<(), Refusal> {
        match &self.resources {
            Some(kinds) if !kinds.contains(&(api_version.to_owned(), kind.to_owned())) => {
                Err(Refusal::resource_not_granted(api_version, kind))
            }
            _ => Ok(()),
        }
    }
}
