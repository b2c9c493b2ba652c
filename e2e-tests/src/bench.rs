//! What is measured, and how much it may be.
//!
//! [`scenario`] has the requests, [`guest`] the figures of the module on its own, [`server`] those of the module in a real policy
//! server, beside a policy that accepts everything and Linkerd's injector. Both end in a table and in [`budget`]s. Only ratios count:
//! they hold on any machine, times do not.

pub mod budget;
pub mod guest;
pub mod loadtest;
pub mod scenario;
pub mod server;
pub mod servers;

use std::path::{Path, PathBuf};

/// The policies that are measured, as files.
#[derive(Debug, Clone)]
pub struct Modules {
    /// This project's policy.
    pub policy: PathBuf,
    /// The policy that accepts everything.
    pub accept_all: PathBuf,
}

impl Modules {
    /// The modules without metadata, as they are compiled.
    #[must_use]
    pub fn plain() -> Self {
        Self::built("policy.wasm", "accept-all.wasm")
    }

    /// The modules with their metadata, as a policy server takes them.
    #[must_use]
    pub fn annotated() -> Self {
        Self::built("annotated-policy.wasm", "annotated-accept-all.wasm")
    }

    fn built(policy: &str, accept_all: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../artefacts/build");
        let folder = folder.canonicalize().unwrap_or(folder);
        Self { policy: folder.join(policy), accept_all: folder.join(accept_all) }
    }
}

/// Bytes for people, of which a thousand make a kilobyte.
fn kilobytes(bytes: u64) -> String {
    format!("{} KB", bytes.div_ceil(1000))
}

/// Memory for people.
fn mebibytes(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "nobody counts the bytes of a gigabyte")]
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    format!("{mebibytes:.1} MiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_never_told_smaller_than_they_are() {
        let table = [(0, "0 KB"), (1, "1 KB"), (700_000, "700 KB"), (700_001, "701 KB")];
        for (bytes, text) in table {
            assert_eq!(kilobytes(bytes), text);
        }
        assert_eq!(mebibytes(17 * 65_536), "1.1 MiB");
    }
}
