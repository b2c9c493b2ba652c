//! Settings files of the tools.

use std::path::Path;

use serde_json::{Value, json};
use thiserror::Error;

use crate::policy::{Policy, PolicyError};

/// Settings that cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read settings {path}: {source}")]
    Read {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not YAML or JSON.
    #[error("settings {path}: {source}")]
    Format {
        /// Which file.
        path: String,
        /// Where and why.
        source: serde_norway::Error,
    },
    /// The file holds something else than settings.
    #[error("settings {0}: not an object")]
    NotAnObject(String),
    /// The policy refuses them.
    #[error("settings are not valid: {0}")]
    Invalid(String),
    /// The policy gives no answer.
    #[error("settings cannot be checked: {0}")]
    Policy(#[from] PolicyError),
}

/// Reads a settings file, YAML or JSON; an empty one is empty settings.
///
/// # Errors
/// The file cannot be read or does not hold an object.
pub fn read(path: &Path) -> Result<Value, SettingsError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: name.clone(), source })?;
    let settings = serde_norway::from_str(&text).map_err(|source| SettingsError::Format { path: name.clone(), source })?;
    match settings {
        Value::Null => Ok(json!({})),
        Value::Object(_) => Ok(settings),
        _ => Err(SettingsError::NotAnObject(name)),
    }
}

/// Asks the policy whether it can work with the settings, as a policy server does before it starts.
///
/// # Errors
/// It cannot, or gives no answer.
pub fn check(policy: &dyn Policy, settings: &Value) -> Result<(), SettingsError> {
    let response = policy.check_settings(settings)?;
    if response.valid {
        return Ok(());
    }
    Err(SettingsError::Invalid(response.message.unwrap_or_else(|| "the policy does not say why".to_owned())))
}
