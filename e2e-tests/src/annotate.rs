//! Writes a policy's metadata into its module, as `kwctl annotate` does.
//!
//! A policy server reads what a policy needs and does from one custom section of the module. The section holds JSON,
//! written here byte for byte as kwctl writes it, but for one annotation: kwctl puts its own version under
//! `io.kubewarden.kwctl`, and a module that kwctl did not write has no such annotation.

use std::collections::BTreeMap;

use serde::Deserialize as _;
use thiserror::Error;
use wasm_encoder::{CustomSection, Encode as _, Section as _};
use wasmparser::{Parser, Payload};

use crate::policy::{Module, PolicyError};

mod metadata;

pub use self::metadata::{ContextAwareResource, Fault, Metadata, Rule};

/// The name of the section.
pub const SECTION: &str = "io.kubewarden.metadata";
/// The annotation that holds the policy's documentation.
pub const USAGE: &str = "io.kubewarden.policy.usage";
/// The annotation that holds the version of kwctl, where kwctl wrote the section.
pub const KWCTL: &str = "io.kubewarden.kwctl";

/// A module that cannot be annotated.
#[derive(Debug, Error)]
pub enum AnnotateError {
    /// The metadata file is not YAML, or lacks a key.
    #[error("metadata: {0}")]
    Format(#[from] serde_norway::Error),
    /// The metadata are not such as a policy server accepts.
    #[error("metadata: {}", join(.0))]
    Invalid(Vec<Fault>),
    /// The module is not WebAssembly.
    #[error("module: {0}")]
    Module(#[from] wasmparser::BinaryReaderError),
    /// The module has a section already; readers would go on to read that one.
    #[error("module: it is annotated already, annotate the one that the compiler made")]
    Annotated,
    /// The module does not say which protocol it speaks.
    #[error("module: cannot ask for its protocol version: {0}")]
    Protocol(#[from] PolicyError),
    /// The module speaks a protocol that no policy server knows.
    #[error("module: protocol version is {0:?}, not \"v1\"")]
    UnknownProtocol(String),
    /// The metadata cannot be written.
    #[error("metadata cannot be written: {0}")]
    Write(#[from] serde_json::Error),
}

fn join(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Reads metadata from YAML and checks them; all faults are named at once.
///
/// # Errors
/// The text is not YAML, lacks a key, or states something that a policy server refuses.
pub fn read_metadata(text: &str) -> Result<Metadata, AnnotateError> {
    let metadata = Metadata::deserialize(serde_norway::Deserializer::from_str(text))?;
    let faults = metadata.faults();
    if faults.is_empty() { Ok(metadata) } else { Err(AnnotateError::Invalid(faults)) }
}

/// The module with its metadata: `text` is the metadata file, `usage` the policy's documentation.
///
/// # Errors
/// The metadata or the module cannot be used.
pub fn annotate(module: &[u8], text: &str, usage: Option<&str>) -> Result<Vec<u8>, AnnotateError> {
    let mut metadata = read_metadata(text)?;
    if section(module)?.is_some() {
        return Err(AnnotateError::Annotated);
    }
    let version = Module::new(module)?.protocol_version()?;
    if version != "v1" {
        return Err(AnnotateError::UnknownProtocol(version));
    }
    metadata.protocol_version = Some(version);
    let annotations = metadata.annotations.get_or_insert_with(BTreeMap::new);
    annotations.remove(KWCTL);
    if let Some(usage) = usage {
        annotations.insert(USAGE.to_owned(), usage.to_owned());
    }
    let json = serde_json::to_vec(&metadata)?;
    let section = CustomSection { name: SECTION.into(), data: (&json).into() };
    let mut annotated = module.to_vec();
    annotated.push(section.id());
    section.encode(&mut annotated);
    Ok(annotated)
}

/// The metadata section of a module, as policy servers find it: the first of its name.
///
/// # Errors
/// The bytes are not WebAssembly.
pub fn section(module: &[u8]) -> Result<Option<&[u8]>, wasmparser::BinaryReaderError> {
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload?
            && section.name() == SECTION
        {
            return Ok(Some(section.data()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
