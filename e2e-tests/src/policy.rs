//! The policy, run natively or as WebAssembly, behind one trait.
//!
//! Both get the same bytes and the same host, and a refused host call reads the same to both, so that any difference
//! between them is a fault.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use crate::host::Host;

mod metered;
mod module;
mod native;

pub use self::{
    metered::{Cost, Metered},
    module::Module,
    native::Native,
};

/// Why a policy gave no answer. A policy server would deny the request with code 500.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// The module's file cannot be read.
    #[error("cannot read module {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The module is not WebAssembly, or needs what the host does not have.
    #[error("cannot load module: {0}")]
    Load(String),
    /// The instance did not start, trapped, or returned an error.
    #[error("{0}")]
    Call(#[from] wapc::errors::Error),
    /// The answer is not JSON of the right shape.
    #[error("unreadable answer: {0}")]
    Answer(#[from] serde_json::Error),
}

/// What a policy answers to an admission request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Whether the object may be stored.
    pub accepted: bool,
    /// Why not.
    #[serde(default)]
    pub message: Option<String>,
    /// The HTTP status of a refusal.
    #[serde(default)]
    pub code: Option<u16>,
    /// The object to store instead.
    #[serde(default)]
    pub mutated_object: Option<Value>,
    /// What goes into the audit log.
    #[serde(default)]
    pub audit_annotations: Option<BTreeMap<String, String>>,
    /// What the person who asked is shown.
    #[serde(default)]
    pub warnings: Option<Vec<String>>,
}

impl Response {
    /// An audit annotation.
    #[must_use]
    pub fn audit(&self, key: &str) -> Option<&str> {
        self.audit_annotations.as_ref()?.get(key).map(String::as_str)
    }
}

/// What a policy answers to its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsResponse {
    /// Whether the policy can work with them.
    pub valid: bool,
    /// What is wrong with them.
    #[serde(default)]
    pub message: Option<String>,
}

/// A policy that can be asked.
pub trait Policy: Send + Sync {
    /// How it runs: `native` or `wasm`.
    fn name(&self) -> &'static str;

    /// Answers the bytes of one admission request, `{"request": …, "settings": …}`.
    ///
    /// # Errors
    /// There is no answer.
    fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError>;

    /// Checks the bytes of settings.
    ///
    /// # Errors
    /// There is no answer.
    fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError>;

    /// Answers one admission request. As in the policy server, absent settings are empty ones.
    ///
    /// # Errors
    /// There is no answer, or none that can be read.
    fn respond(&self, request: &Value, settings: &Value, host: &Arc<Host>) -> Result<Response, PolicyError> {
        let settings = if settings.is_null() { json!({}) } else { settings.clone() };
        let payload = serde_json::to_vec(&json!({"request": request, "settings": settings}))?;
        Ok(serde_json::from_slice(&self.validate(&payload, host)?)?)
    }

    /// Checks settings.
    ///
    /// # Errors
    /// There is no answer, or none that can be read.
    fn check_settings(&self, settings: &Value) -> Result<SettingsResponse, PolicyError> {
        let settings = if settings.is_null() { json!({}) } else { settings.clone() };
        let payload = serde_json::to_vec(&settings)?;
        Ok(serde_json::from_slice(&self.validate_settings(&payload)?)?)
    }
}

/// The policy in a module file, or the native one where none is given.
///
/// # Errors
/// The module cannot be read or loaded.
pub fn open(module: Option<&Path>) -> Result<Box<dyn Policy>, PolicyError> {
    Ok(match module {
        Some(path) => Box::new(Module::open(path)?),
        None => Box::new(Native),
    })
}

#[cfg(test)]
mod tests;
