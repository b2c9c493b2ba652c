//! What an earlier call wrote, so that a later one can tell our words from those of others.
//!
//! Only equality with what we wrote is ever asked, so the record holds hashes, of the path and of the value of every leaf. It is an
//! annotation, which users can write: it never decides an asserted leaf.

use super::leaf::Sink;
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
        let mut text = VERSION.to_owned();
        URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
        text
    }

    /// Notes a leaf.
    pub(crate) fn note(&mut self, path: Key, said: Said) {
        self.0.insert(path.hash(), said.hash());
    }

    /// Knows no more of a leaf.
    pub(crate) fn forget(&mut self, path: Key) {
        self.0.remove(&path.hash());
    }

    /// Whether we wrote the leaf at all.
    pub(crate) fn has(&self, path: Key) -> bool {
        self.0.contains_key(&path.hash())
    }

    /// Whether the leaf is as we wrote it; one that we did not write is as we left it where there is none.
    pub(crate) fn is(&self, path: Key, canonical: Option<&[u8]>) -> bool {
        self.0.get(&path.hash()).copied() == canonical.map(|text| Said::of(text).hash())
    }
}

/// What a leaf says, as far as its hash has come.
#[derive(Default)]
pub(crate) struct Said(fnv::FnvHasher);

impl Said {
    /// A leaf that says this.
    pub(crate) fn of(text: &[u8]) -> Said {
        let mut said = Said::default();
        said.put(text);
        said
    }

    fn hash(self) -> u32 {
        folded(self.0.finish())
    }
}

impl Sink for Said {
    fn put(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

/// What a path is recorded by: the hash of its steps, one a line, as far as it has come.
#[derive(Clone, Copy)]
pub(crate) struct Key(u64);

impl Key {
    /// The key of these steps.
    pub(crate) fn of(steps: &[&str]) -> Key {
        let Some((first, rest)) = steps.split_first() else { return Key(fnv::FnvHasher::default().finish()) };
        let mut hasher = fnv::FnvHasher::default();
        hasher.write(first.as_bytes());
        rest.iter().fold(Key(hasher.finish()), |key, step| key.with(step))
    }

    /// The key with one more step.
    pub(crate) fn with(self, step: &str) -> Key {
        let mut hasher = fnv::FnvHasher::with_key(self.0);
        hasher.write(b"\n");
        hasher.write(step.as_bytes());
        Key(hasher.finish())
    }

    fn hash(self) -> u32 {
        folded(self.0)
    }
}

/// Hashes need no secret here: whoever could forge a value could forge the record.
fn folded(wide: u64) -> u32 {
    #[allow(clippy::cast_possible_truncation, reason = "both halves are folded into one")]
    let folded = (wide ^ (wide >> 32)) as u32;
    folded
}
