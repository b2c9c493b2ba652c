//! Certificates of servers on the loopback interface, made anew for every test, and clients that trust them.

use std::{sync::Arc, time::Duration};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use ureq::{
    Agent,
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};

/// Connections that a client keeps for its next requests.
const CONNECTIONS: usize = 32;

/// A certificate for 127.0.0.1 that vouches for itself, and its key.
pub struct Certificate {
    /// The certificate, which is also what a client has to trust.
    pub pem: String,
    /// The private key.
    pub key_pem: String,
    /// The certificate in binary.
    pub der: Vec<u8>,
    /// The private key in binary, as PKCS 8.
    pub key_der: Vec<u8>,
}

impl Certificate {
    /// Makes a key and signs a certificate with it.
    ///
    /// # Errors
    /// There is no randomness to make a key from.
    pub fn for_loopback() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "test server");
        params.subject_alt_names = vec![SanType::IpAddress(std::net::Ipv4Addr::LOCALHOST.into())];
        let key = KeyPair::generate()?;
        let signed = params.self_signed(&key)?;
        Ok(Self { pem: signed.pem(), key_pem: key.serialize_pem(), der: signed.der().to_vec(), key_der: key.serialize_der() })
    }
}

/// A client that trusts the certificates of a PEM file, and no others, and gives answers of every status.
#[must_use]
pub fn client(pem: &[u8]) -> Agent {
    let trusted: Vec<_> = parse_pem(pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    let tls = TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(trusted))).build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(30)))
        .max_idle_connections(CONNECTIONS)
        .max_idle_connections_per_host(CONNECTIONS)
        .build();
    config.into()
}
