//! The files that the build leaves, for tests that need the module.

use std::path::{Path, PathBuf};

use crate::programs;

/// The module, or the word that `test` is skipped because it is not built.
#[must_use]
pub fn module_or_skip(test: &str) -> Option<PathBuf> {
    built_or_skip("policy.wasm", test)
}

/// The module with its metadata, or the word that `test` is skipped because it is not built.
#[must_use]
pub fn annotated_module_or_skip(test: &str) -> Option<PathBuf> {
    built_or_skip("annotated-policy.wasm", test)
}

fn built_or_skip(file: &str, test: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../artefacts/build").join(file);
    if let Ok(path) = path.canonicalize() {
        return Some(path);
    }
    programs::skip(test, &format!("artefacts/build/{file} is not built"));
    None
}
