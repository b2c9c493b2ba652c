//! What an earlier call wrote, so that a later one can tell our words from those of others.
//!
//! Only equality with what we wrote is ever asked, so the record holds hashes, of the path and of the value of every leaf. It is an
//! annotation, which users can write: it never decides an asserted leaf.

use super::leaf;
use crate::gather;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// The version of the format; another one is as good as none.
const VERSION: &str = "v1:";

/// Hashes of leaves, by the hash of their path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record(BTreeMap<u32, u32>);

/// A record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot be read, and is taken as absent")]
pub(crate) struct RecordError;

impl Record {
    /// Reads an annotation.
    ///
    /// # Errors
    /// [`RecordError`] for another version, and for what no version wrote.
    pub(crate) fn read(text: &str) -> Result<Record, RecordError> {
        let bytes = text.strip_prefix(VERSION).and_then(|t| URL_SAFE_NO_PAD.decode(t).ok()).ok_or(RecordError)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0_u32, |n, b| (n << 8) | u32::from(*b));
        if bytes.len() % 8 != 0 {
            return Err(RecordError);
        }
        let pairs = bytes.chunks(8).filter_map(|pair| pair.split_at_checked(4));
        Ok(Record(gather::map(pairs.map(|(path, value)| (number(path), number(value))))))
    }

    /// Writes the annotation.
    pub(crate) fn write(&self) -> String {
        let mut bytes = Vec::with_capacity(self.0.len().saturating_mul(8));
        for (path, value) in &self.0 {
            bytes.extend_from_slice(&path.to_be_bytes());
            bytes.extend_from_slice(&value.to_be_bytes());
        }
        format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Notes a leaf.
    pub(crate) fn note(&mut self, path: &[String], canonical: &str) {
        self.0.insert(of_path(path), hash(canonical));
    }

    /// Whether we wrote the leaf at all.
    pub(crate) fn has(&self, path: &[String]) -> bool {
        self.0.contains_key(&of_path(path))
    }

    /// Whether the leaf is as we wrote it; one that we did not write is as we left it where there is none.
    pub(crate) fn is(&self, path: &[String], canonical: Option<&str>) -> bool {
        self.0.get(&of_path(path)).copied() == canonical.map(hash)
    }
}

impl Record {
    /// Whether the text of an annotation or label is as we wrote it.
    pub(crate) fn is_text(&self, path: &[String], text: &str) -> bool {
        let canonical = leaf::canonical(leaf::Kind::Exact, Some(&text.into()));
        self.is(path, canonical.as_deref())
    }
}

/// The hash of the steps, one a line.
fn of_path(path: &[String]) -> u32 {
    let mut hasher = fnv::FnvHasher::default();
    for (at, step) in path.iter().enumerate() {
        hasher.write(if at > 0 { b"\n" } else { b"" });
        hasher.write(step.as_bytes());
    }
    folded(&hasher)
}

fn hash(text: &str) -> u32 {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(text.as_bytes());
    folded(&hasher)
}

/// Hashes need no secret here: whoever could forge a value could forge the record.
fn folded(hasher: &fnv::FnvHasher) -> u32 {
    let wide = hasher.finish();
    #[allow(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
    let folded = (wide ^ (wide >> 32)) as u32;
    folded
}
