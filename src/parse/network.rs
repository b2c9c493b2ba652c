//! Networks: lists of CIDR blocks as Linkerd's injector, the proxy and `linkerd-init` read them.

use std::net::IpAddr;
use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why text is no network, or no list of them.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum NetworkError {
    /// No address with a prefix length.
    #[error("not a network such as 10.0.0.0/8")]
    NotCidr,
    /// Not a list that the program it is for reads.
    #[error("not a comma-separated list of networks such as 10.0.0.0/8")]
    NotList,
    /// A list over several lines, of which `linkerd-init` reads the first and drops the others.
    #[error("a list of networks over more than one line")]
    SeveralLines,
    /// A list with an IPv6 network, at which `iptables` stops.
    #[error("a list with an IPv6 network, which iptables refuses")]
    Ipv6,
}

/// A network as written: the address may have bits set below the prefix.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cidr {
    /// The address before the slash.
    pub address: IpAddr,
    /// The prefix length in bits: at most 32, or 128 for IPv6.
    pub prefix: u8,
}

/// Reads a network as Go's `net.ParseCIDR` does; nothing is trimmed and a zone is refused.
///
/// # Errors
/// [`NetworkError::NotCidr`].
pub fn cidr(text: &str) -> Result<Cidr, NetworkError> {
    let (address, prefix) = text.split_once('/').ok_or(NetworkError::NotCidr)?;
    let address: IpAddr = address.parse().map_err(|_| NetworkError::NotCidr)?;
    if !prefix.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NetworkError::NotCidr);
    }
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.parse().ok().filter(|prefix| *prefix <= longest).ok_or(NetworkError::NotCidr)?;
    Ok(Cidr { address, prefix })
}

/// Reads a list of subnets as `--subnets-to-ignore` of linkerd2-proxy-init, and `iptables` after it, do; empty text is
/// an empty list.
///
/// The flag is read as one CSV record, so an entry may stand in double quotes, then every entry is trimmed. An empty
/// entry is refused there, and so it is here. A record ends with its line, and what follows is lost in silence: a list
/// over several lines is refused. Each subnet goes to `iptables`, which stops the pod's start at an IPv6 network and at
/// a prefix such as `08`, though not where the prefix is zero and the address does not count.
///
/// # Errors
/// [`NetworkError::NotList`], [`NetworkError::SeveralLines`] or [`NetworkError::Ipv6`].
pub fn cidr_list_init(text: &str) -> Result<Vec<Cidr>, NetworkError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let line = text.trim_matches(['\r', '\n']);
    if line.contains('\n') {
        return Err(NetworkError::SeveralLines);
    }
    line.split(',').map(subnet).collect()
}

/// Whether `ip6tables`, which `linkerd-init` runs with the same subnets unless IPv6 is off, reads all of these.
///
/// A list that [`cidr_list_init`] has read holds IPv4 networks, and no IPv4 address means anything to `ip6tables`.
#[must_use]
pub fn ip6tables_reads(subnets: &[Cidr]) -> bool {
    subnets.iter().all(|subnet| subnet.prefix == 0)
}

/// Reads one subnet that `linkerd-init` is to pass over.
fn subnet(entry: &str) -> Result<Cidr, NetworkError> {
    let text = match entry.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').ok_or(NetworkError::NotList)?,
        None => entry,
    };
    let text = text.trim();
    let network = cidr(text).map_err(|_| NetworkError::NotList)?;
    let padded = text.split_once('/').is_none_or(|(_, prefix)| prefix.starts_with('0'));
    match network {
        Cidr { prefix: 0, .. } => Ok(network),
        Cidr { address: IpAddr::V6(_), .. } => Err(NetworkError::Ipv6),
        Cidr { address: IpAddr::V4(_), .. } if padded => Err(NetworkError::NotList),
        Cidr { address: IpAddr::V4(_), .. } => Ok(network),
    }
}

/// Reads the cluster's networks, of which both Linkerd's injector and the proxy must be able to make sense.
///
/// The injector (`GetPodPatch` of `pkg/inject`) takes commas off both ends and wants a CIDR block in each entry,
/// without blanks; empty text is an empty list. The proxy (`parse_networks` of its `app/src/env/types.rs`) is more
/// lenient with blanks and empty entries, but reads no prefix of more than two digits, or three for IPv6.
///
/// # Errors
/// [`NetworkError::NotList`].
pub fn cluster_networks(text: &str) -> Result<Vec<Cidr>, NetworkError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.trim_matches(',')
        .split(',')
        .map(|entry| cidr(entry).and_then(|_| proxy_cidr(entry)).map_err(|_| NetworkError::NotList))
        .collect()
}

/// Reads a list of networks as the proxy does: entries are trimmed, empty ones passed over.
///
/// # Errors
/// [`NetworkError::NotList`].
pub fn proxy_networks(text: &str) -> Result<Vec<Cidr>, NetworkError> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(|entry| proxy_cidr(entry).map_err(|_| NetworkError::NotList)).collect()
}

/// Reads one network as the proxy's `IpNet` does, but for octets such as `010`, which other programs read as octal or not at all.
fn proxy_cidr(text: &str) -> Result<Cidr, NetworkError> {
    let network = cidr(text)?;
    let digits = text.rsplit_once('/').map_or(0, |(_, prefix)| prefix.len());
    let longest = if network.address.is_ipv4() { 2 } else { 3 };
    if digits <= longest { Ok(network) } else { Err(NetworkError::NotCidr) }
}
