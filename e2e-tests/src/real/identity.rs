//! The files of a proxy's identity, which it reads before its environment counts as read.

use std::{fs, io, path::PathBuf};

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use thiserror::Error;

use super::Folder;

/// Why there are no such files.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// A key, a request or a certificate cannot be made.
    #[error("cannot make an identity: {0}")]
    Make(#[from] rcgen::Error),
    /// A file cannot be written.
    #[error("cannot write an identity: {0}")]
    Write(#[from] io::Error),
}

/// What `linkerd2-proxy-identity` and the kubelet would have written, in a folder that goes away.
#[derive(Debug)]
pub struct Identity {
    folder: Folder,
    trust_anchors: String,
}

impl Identity {
    /// Makes a key with its request, a trust anchor and a token.
    ///
    /// # Errors
    /// Something cannot be made or written.
    pub fn new() -> Result<Self, IdentityError> {
        let folder = Folder::new("identity")?;
        let key = KeyPair::generate()?;
        fs::write(folder.file("key.p8"), key.serialize_der())?;
        let request = CertificateParams::new(["web.shop.serviceaccount.identity.linkerd.cluster.local".to_owned()])?;
        fs::write(folder.file("csr.der"), request.serialize_request(&key)?.der())?;
        fs::write(folder.file("token"), "token")?;
        let mut anchor = CertificateParams::new(["root.linkerd.cluster.local".to_owned()])?;
        anchor.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let trust_anchors = anchor.self_signed(&KeyPair::generate()?)?.pem();
        Ok(Self { folder, trust_anchors })
    }

    /// The folder with `key.p8` and `csr.der`.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// A file that can be read as a service-account token.
    #[must_use]
    pub fn token(&self) -> PathBuf {
        self.folder.file("token")
    }

    /// The trust anchor, as PEM.
    #[must_use]
    pub fn trust_anchors(&self) -> &str {
        &self.trust_anchors
    }
}
