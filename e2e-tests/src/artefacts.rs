//! The files that are shipped with the module, and those that the build leaves.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    policy::{Module, Native, Policy, PolicyError},
    programs,
};

/// The folder of what is shipped.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../artefacts")
}

/// The documents of a YAML file in that folder.
///
/// # Errors
/// The file cannot be read, or is not YAML.
pub fn documents(name: &str) -> io::Result<Vec<Value>> {
    documents_of(&folder().join(name))
}

/// The documents of a YAML file.
///
/// # Errors
/// The file cannot be read, or is not YAML.
pub fn documents_of(path: &Path) -> io::Result<Vec<Value>> {
    let text = fs::read_to_string(path)?;
    let documents = serde_norway::Deserializer::from_str(&text).map(Value::deserialize);
    documents.collect::<Result<_, _>>().map_err(io::Error::other)
}

/// The module, or the word that `test` is skipped because it is not built.
#[must_use]
pub fn module_or_skip(test: &str) -> Option<PathBuf> {
    built_or_skip("policy.wasm", test)
}

/// The policy natively and, where it is built, as a module; or the word that the part of `test` with the module is skipped.
///
/// # Errors
/// The module cannot be loaded.
pub fn policies_or_skip(test: &str) -> Result<Vec<Box<dyn Policy>>, PolicyError> {
    let mut policies: Vec<Box<dyn Policy>> = vec![Box::new(Native)];
    if let Some(path) = module_or_skip(&format!("{test} (wasm)")) {
        policies.push(Box::new(Module::open(&path)?));
    }
    Ok(policies)
}

/// The module with its metadata, or the word that `test` is skipped because it is not built.
#[must_use]
pub fn annotated_module_or_skip(test: &str) -> Option<PathBuf> {
    built_or_skip("annotated-policy.wasm", test)
}

fn built_or_skip(file: &str, test: &str) -> Option<PathBuf> {
    let path = folder().join("build").join(file);
    if let Ok(path) = path.canonicalize() {
        return Some(path);
    }
    programs::skip(test, &format!("artefacts/build/{file} is not built"));
    None
}
