//! Ports, port ranges and lists of them: what Linkerd's injector, the proxy and `linkerd-init` read.

use std::fmt;
use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why text is no port, no range, or no list of them.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum PortError {
    /// No port that a program can listen on.
    #[error("not a port between 1 and 65535")]
    NotPort,
    /// Neither a port nor a range.
    #[error("not a port or a range such as 8080-8090, between 0 and 65535")]
    NotRange,
    /// A range that ends before it begins.
    #[error("a range that ends below its start")]
    Backwards,
    /// Not a list that the proxy reads.
    #[error("not a list of ports and ranges such as 80,8080-8090")]
    NotProxyList,
}

/// The ports from `low` to `high`, both included; a single port where they are equal.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PortRange {
    /// The first port.
    pub low: u16,
    /// The last port, never below `low`.
    pub high: u16,
}

impl PortRange {
    /// The range that holds one port.
    #[must_use]
    pub const fn single(port: u16) -> Self {
        Self { low: port, high: port }
    }

    /// Whether the port lies in the range.
    #[must_use]
    pub const fn contains(self, port: u16) -> bool {
        self.low <= port && port <= self.high
    }
}

impl fmt::Display for PortRange {
    /// Writes `80` or `80-90`, as `PortRange.ToString` of Linkerd's `pkg/util` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high { write!(f, "{}", self.low) } else { write!(f, "{}-{}", self.low, self.high) }
    }
}

/// Ports as a set, which tells quickly whether one is in it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PortSet(Vec<PortRange>);

impl PortSet {
    /// The ports of these ranges.
    #[must_use]
    pub fn of(mut ranges: Vec<PortRange>) -> Self {
        ranges.sort_unstable();
        let mut apart: Vec<PortRange> = Vec::new();
        for range in ranges {
            match apart.last_mut().filter(|last| range.low <= last.high.saturating_add(1)) {
                Some(last) => last.high = last.high.max(range.high),
                None => apart.push(range),
            }
        }
        Self(apart)
    }

    /// Whether the port is one of them.
    #[must_use]
    pub fn contains(&self, port: u16) -> bool {
        let at = self.0.partition_point(|range| range.high < port);
        self.0.get(at).is_some_and(|range| range.contains(port))
    }
}

/// An entry of a list that is neither a known name, a port nor a range.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BadEntry {
    /// The entry as written, white space around it taken off.
    pub text: String,
    /// What is wrong with it.
    pub error: PortError,
}

/// The good entries of a list, in the order written, and the bad ones apart.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PortList {
    /// What could be read; a port that is listed twice is here twice.
    pub ranges: Vec<PortRange>,
    /// What could not.
    pub bad: Vec<BadEntry>,
}

impl fmt::Display for PortList {
    /// Writes the good entries as [`join`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&join(&self.ranges))
    }
}

/// Writes ranges separated by commas, as Linkerd, the proxy and `linkerd-init` read them.
#[must_use]
pub fn join(ranges: &[PortRange]) -> String {
    ranges.iter().map(PortRange::to_string).collect::<Vec<_>>().join(",")
}

/// Reads a port that one of the proxy's listeners is to have: Go's `strconv.ParseInt` in base 10, then 1 to 65535 (D10).
///
/// # Errors
/// [`PortError::NotPort`].
pub fn port(text: &str) -> Result<u16, PortError> {
    number(text).filter(|port| *port != 0).ok_or(PortError::NotPort)
}

/// Reads `N` or `N-M` as `ParsePortRange` of Linkerd's `pkg/util` and of linkerd2-proxy-init does; no blanks inside.
///
/// # Errors
/// [`PortError::NotRange`] or [`PortError::Backwards`].
pub fn port_range(text: &str) -> Result<PortRange, PortError> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    // Whoever writes a second hyphen means no range, though `1--1` would read as one.
    if high.contains('-') {
        return Err(PortError::NotRange);
    }
    ordered(number(low), number(high), PortError::NotRange)
}

/// Reads a list of ports to skip (D08): entries are trimmed, empty ones passed over, names resolved before numbers.
///
/// `named` gives the number of a container port's name. What it writes in the end, `linkerd-init` reads.
pub fn list(text: &str, named: &dyn Fn(&str) -> Option<u16>) -> PortList {
    let mut list = PortList::default();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        match named(entry).map_or_else(|| port_range(entry), |port| Ok(PortRange::single(port))) {
            Ok(range) => list.ranges.push(range),
            Err(error) => list.bad.push(BadEntry { text: entry.to_owned(), error }),
        }
    }
    list
}

/// Reads a list of opaque ports as `ParseContainerOpaquePorts` of Linkerd's `pkg/util` does.
///
/// Linkerd takes one comma off the end and passes over what it cannot read, empty entries too: the same as [`list`],
/// where an empty entry is no bad one.
pub fn opaque(text: &str, named: &dyn Fn(&str) -> Option<u16>) -> PortList {
    list(text, named)
}

/// Reads a list of ports as the proxy does (`parse_port_range_set` of linkerd2-proxy's `app/src/env/types.rs`).
///
/// White space may stand around entries and bounds; empty entries, and an empty list, are fine.
///
/// # Errors
/// [`PortError::NotProxyList`] or [`PortError::Backwards`]: one bad entry makes the whole list unreadable.
pub fn proxy_port_set(text: &str) -> Result<Vec<PortRange>, PortError> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (low, high) = entry.split_once('-').unwrap_or((entry, entry));
            ordered(low.trim().parse().ok(), high.trim().parse().ok(), PortError::NotProxyList)
        })
        .collect()
}

/// Reads a number from 0 to 65535 as Go's `strconv.Atoi` does: `+25` and `0025` are 25, `-0` is 0.
fn number(text: &str) -> Option<u16> {
    text.parse::<i64>().ok().and_then(|number| u16::try_from(number).ok())
}

/// Makes a range of two bounds.
fn ordered(low: Option<u16>, high: Option<u16>, unreadable: PortError) -> Result<PortRange, PortError> {
    match (low, high) {
        (Some(low), Some(high)) if low <= high => Ok(PortRange { low, high }),
        (Some(_), Some(_)) => Err(PortError::Backwards),
        _ => Err(unreadable),
    }
}
