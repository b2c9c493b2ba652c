//! The proxy's environment: which variables it reads, how, and what it cannot read (D27).
//!
//! A name and a text come in; out comes whether the proxy starts with them. The proxy (linkerd2-proxy at 29637b6:
//! `linkerd/app/src/env.rs` and `env/`, `linkerd/tracing`, `linkerd2-proxy/src/rt.rs`) ends with code 64 at a variable
//! that it cannot read, so its pod never gets ready. What it only grumbles about and passes over is readable here.

use crate::parse::duration::{self, DurationError};
use crate::parse::network::{self, NetworkError};
use crate::parse::ports::{self, PortError};
use crate::pem;
use std::net::{IpAddr, SocketAddr};
use thiserror::Error;

mod group;
mod table;
#[cfg(test)]
mod tests;

pub use group::{GROUPS, Group, conflicts};
pub use table::VARIABLES;

/// Why the proxy cannot read a variable.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum ProxyEnvError {
    /// Neither of Rust's two booleans.
    #[error("neither true nor false")]
    NotBoolean,
    /// No whole number in the range that the proxy works with.
    #[error("not a whole number between {0} and {1}")]
    NotWhole(u64, u64),
    /// No length of time.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// No ratio of a backoff that may be added by chance.
    #[error("not a number between 0 and 100")]
    NotJitter,
    /// No address that a listener can be bound to.
    #[error("not an IP address with a port such as 0.0.0.0:4143")]
    NotSocketAddress,
    /// Neither one nor two such addresses.
    #[error("not one or two IP addresses with a port, separated by a comma")]
    NotSocketAddresses,
    /// No address of a server.
    #[error("not a host with a port such as localhost.:8086")]
    NotAddress,
    /// No DNS name.
    #[error("not a DNS name")]
    NotName,
    /// No name that a certificate can carry.
    #[error("neither a DNS name nor a SPIFFE id")]
    NotIdentity,
    /// No list of DNS suffixes.
    #[error("not a comma-separated list of domain suffixes")]
    NotSuffixes,
    /// No list of networks.
    #[error(transparent)]
    Networks(#[from] NetworkError),
    /// No list of addresses.
    #[error("not a comma-separated list of IP addresses")]
    NotAddresses,
    /// No list of ports.
    #[error(transparent)]
    Ports(#[from] PortError),
    /// None of the proxy's default policies.
    #[error("not one of deny, audit, all-authenticated, all-unauthenticated, cluster-authenticated, cluster-unauthenticated")]
    NotPolicy,
    /// A setting that knows one word.
    #[error("neither empty nor unsafe")]
    NotUnsafe,
    /// Empty where something is needed.
    #[error("empty")]
    Empty,
    /// Without a certificate in it.
    #[error("without a PEM certificate")]
    NoCertificate,
    /// A setting that makes the proxy end whatever it says.
    #[error("not supported by the proxy of an injected pod")]
    Unsupported,
}

/// How the proxy reads a variable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// Anything; what makes no sense is passed over, with a line in the log.
    Any,
    /// Anything but nothing.
    NotEmpty,
    /// Certificates in PEM.
    TrustAnchors,
    /// Must stay empty or unset.
    OnlyEmpty,
    /// Must stay unset: the proxy wants a SPIFFE id with it, and the identity of an injected pod is a DNS name.
    OnlyUnset,
    /// `true` or `false`.
    Boolean,
    /// A whole number between two bounds, both included.
    Whole(u64, u64),
    /// A number between 0 and 100.
    Jitter,
    /// A length of time.
    Duration,
    /// A length of time, or empty for none.
    OptionalDuration,
    /// An IP address with a port.
    SocketAddress,
    /// One or two IP addresses with a port each.
    SocketAddresses,
    /// An IP address or DNS name with a port.
    Address,
    /// A DNS name.
    Name,
    /// A DNS name without a dot at its end.
    LocalName,
    /// A DNS name without a dot at its end, or a SPIFFE id.
    Identity,
    /// DNS suffixes; a lone dot stands for all names.
    Suffixes,
    /// CIDR blocks.
    Networks,
    /// IP addresses.
    Addresses,
    /// Ports and port ranges.
    Ports,
    /// A default inbound policy.
    Policy,
    /// `unsafe`, or empty.
    AuthorityLabels,
}

/// Checks that the proxy can read a value; a variable that it does not parse can have any.
///
/// A value that refers to another variable, `$(NAME)`, is settled by the kubelet when the container starts; nothing is
/// certain about it here, so it passes.
///
/// # Errors
/// What was expected; never the value, which may be secret.
pub fn readable(name: &str, value: &str) -> Result<(), ProxyEnvError> {
    match kind(name) {
        Some(kind) if !refers(value) || kind == Kind::OnlyUnset => check(kind, value),
        _ => Ok(()),
    }
}

/// Checks that the proxy can read a variable whose value is known only when the container starts.
///
/// # Errors
/// [`ProxyEnvError::Unsupported`], where no value will do.
pub fn readable_from_elsewhere(name: &str) -> Result<(), ProxyEnvError> {
    if kind(name) == Some(Kind::OnlyUnset) { Err(ProxyEnvError::Unsupported) } else { Ok(()) }
}

fn kind(name: &str) -> Option<Kind> {
    VARIABLES.iter().find(|(variable, _)| *variable == name).map(|(_, kind)| *kind)
}

/// Checks that a default inbound policy is one that the proxy knows, as it is written: no reference to another variable gives one
/// that can be relied on.
///
/// # Errors
/// [`ProxyEnvError::NotPolicy`].
pub fn policy(text: &str) -> Result<(), ProxyEnvError> {
    check(Kind::Policy, text)
}

/// Whether a default inbound policy works only when the cluster's networks are known, as the proxy sees it: those of the
/// cluster, and `audit`.
#[must_use]
pub fn policy_needs_networks(policy: &str) -> bool {
    matches!(policy, "cluster-authenticated" | "cluster-unauthenticated" | "audit")
}

/// Whether the kubelet may put another variable's value in.
fn refers(value: &str) -> bool {
    value.contains("$(")
}

fn check(kind: Kind, value: &str) -> Result<(), ProxyEnvError> {
    let holds = |condition: bool, error: ProxyEnvError| if condition { Ok(()) } else { Err(error) };
    match kind {
        Kind::Any => Ok(()),
        Kind::NotEmpty => holds(!value.is_empty(), ProxyEnvError::Empty),
        Kind::TrustAnchors => holds(pem::bundle(value).is_ok(), ProxyEnvError::NoCertificate),
        Kind::OnlyEmpty => holds(value.is_empty(), ProxyEnvError::Unsupported),
        Kind::OnlyUnset => Err(ProxyEnvError::Unsupported),
        Kind::Boolean => holds(matches!(value, "true" | "false"), ProxyEnvError::NotBoolean),
        Kind::Whole(low, high) => {
            let number = value.parse::<u64>().ok();
            holds(number.is_some_and(|number| low <= number && number <= high), ProxyEnvError::NotWhole(low, high))
        }
        Kind::Jitter => {
            let number = value.parse::<f64>().ok();
            holds(number.is_some_and(|number| (0.0..=100.0).contains(&number)), ProxyEnvError::NotJitter)
        }
        Kind::OptionalDuration if value.is_empty() => Ok(()),
        Kind::Duration | Kind::OptionalDuration => Ok(duration::proxy_duration(value).map(drop)?),
        Kind::SocketAddress => holds(value.parse::<SocketAddr>().is_ok(), ProxyEnvError::NotSocketAddress),
        Kind::SocketAddresses => {
            let mut addresses = value.split(',').map(str::parse::<SocketAddr>);
            holds(addresses.clone().count() <= 2 && addresses.all(|a| a.is_ok()), ProxyEnvError::NotSocketAddresses)
        }
        Kind::Address => holds(address(value), ProxyEnvError::NotAddress),
        Kind::Name => holds(dns_name(value), ProxyEnvError::NotName),
        Kind::LocalName => holds(relative_name(value), ProxyEnvError::NotName),
        Kind::Identity => holds(relative_name(value) || spiffe_id(value), ProxyEnvError::NotIdentity),
        Kind::Suffixes => {
            let mut suffixes = value.split(',').map(str::trim);
            holds(suffixes.all(|suffix| suffix.is_empty() || suffix == "." || dns_name(suffix)), ProxyEnvError::NotSuffixes)
        }
        Kind::Networks => Ok(network::proxy_networks(value).map(drop)?),
        Kind::Addresses => holds(value.split(',').all(|a| a.parse::<IpAddr>().is_ok()), ProxyEnvError::NotAddresses),
        Kind::Ports => Ok(ports::proxy_port_set(value).map(drop)?),
        Kind::Policy => {
            let known = matches!(value, "deny" | "all-authenticated" | "all-unauthenticated") || policy_needs_networks(value);
            holds(known, ProxyEnvError::NotPolicy)
        }
        Kind::AuthorityLabels => holds(value.is_empty() || value.eq_ignore_ascii_case("unsafe"), ProxyEnvError::NotUnsafe),
    }
}

/// Whether the text is a socket address, or a DNS name with a port.
fn address(text: &str) -> bool {
    let named = || text.rsplit_once(':').is_some_and(|(host, port)| dns_name(host) && port.parse::<u16>().is_ok());
    text.parse::<SocketAddr>().is_ok() || named()
}

/// Whether the text is a DNS name as the proxy's `linkerd-dns-name` reads one: underscores and one dot at the end are
/// fine, a last label of digits alone is not.
fn dns_name(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text);
    let last = labels.rsplit('.').next().unwrap_or_default();
    text.len() <= 253 && labels.split('.').all(label) && !last.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text is one label of a DNS name.
fn label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether the text is a DNS name without a dot at its end.
fn relative_name(text: &str) -> bool {
    !text.ends_with('.') && dns_name(text)
}

/// Whether the text is a SPIFFE id. The proxy takes any URI for an identity; no other kind is in use.
fn spiffe_id(text: &str) -> bool {
    let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/');
    text.strip_prefix("spiffe://")
        .is_some_and(|rest| rest.chars().all(path) && dns_name(rest.split('/').next().unwrap_or_default()))
}
