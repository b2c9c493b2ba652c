//! Variables that the proxy can read one by one, yet not together.

use super::{policy_needs_networks, refers};
use crate::parse::duration::proxy_duration;
use crate::parse::network::proxy_networks;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

/// Variables that must fit together.
#[derive(Debug)]
pub struct Group {
    /// Their names, the one to blame first.
    pub variables: &'static [&'static str],
    /// What does not fit, as in `… is set to {misfit}`; lower case.
    pub misfit: &'static str,
    /// Whether values, in the order of the names, fit.
    fits: fn(&[Option<&str>]) -> bool,
}

/// All such groups. The proxy ends with code 64 at a misfit, with code 1 where two listeners want one port, and its admin
/// server panics at a misfit of DNS lifetimes.
pub const GROUPS: &[Group] = &[
    Group {
        variables: &["LINKERD2_PROXY_INBOUND_DEFAULT_POLICY", "LINKERD2_PROXY_POLICY_CLUSTER_NETWORKS"],
        misfit: "a policy that needs cluster networks, without any",
        fits: policy,
    },
    Group {
        variables: &[
            "LINKERD2_PROXY_CONTROL_STREAM_INITIAL_TIMEOUT",
            "LINKERD2_PROXY_CONTROL_STREAM_IDLE_TIMEOUT",
            "LINKERD2_PROXY_CONTROL_STREAM_LIFETIME",
        ],
        misfit: "stream limits that are not in the order initial, idle, lifetime",
        fits: ascending,
    },
    Group {
        variables: &[
            "LINKERD2_PROXY_INBOUND_CONNECT_EXP_BACKOFF_MIN",
            "LINKERD2_PROXY_INBOUND_CONNECT_EXP_BACKOFF_MAX",
            "LINKERD2_PROXY_INBOUND_CONNECT_EXP_BACKOFF_JITTER",
        ],
        misfit: BACKOFF,
        fits: backoff,
    },
    Group {
        variables: &[
            "LINKERD2_PROXY_OUTBOUND_CONNECT_EXP_BACKOFF_MIN",
            "LINKERD2_PROXY_OUTBOUND_CONNECT_EXP_BACKOFF_MAX",
            "LINKERD2_PROXY_OUTBOUND_CONNECT_EXP_BACKOFF_JITTER",
        ],
        misfit: BACKOFF,
        fits: backoff,
    },
    Group {
        variables: &["LINKERD2_PROXY_DNS_MIN_TTL", "LINKERD2_PROXY_DNS_MAX_TTL"],
        misfit: "a lower bound of DNS lifetimes above the upper one, which is a day unless set",
        fits: lifetimes,
    },
    Group {
        variables: &["LINKERD2_PROXY_TRACE_COLLECTOR_SVC_ADDR", "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_NAME"],
        misfit: "a collector with an address but no name, or a name but no address",
        fits: server,
    },
    Group {
        variables: &[
            "LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
            "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS",
            "LINKERD2_PROXY_ADMIN_LISTEN_ADDR",
            "LINKERD2_PROXY_CONTROL_LISTEN_ADDR",
        ],
        misfit: "a port that another listener of the proxy has",
        fits: distinct,
    },
];

const BACKOFF: &str = "a backoff without both bounds, or whose upper bound is zero or below the lower one";

/// The groups in which the values of an environment do not fit together.
///
/// `value` looks a variable up in the whole environment that the proxy gets: `None` where it is not set. A group with a
/// reference to another variable, `$(NAME)`, in it is taken to fit; give one for a value that is not known, too.
pub fn conflicts<'a>(value: &'a dyn Fn(&str) -> Option<&'a str>) -> impl Iterator<Item = &'static Group> + 'a {
    GROUPS.iter().filter(move |group| {
        let values: Vec<Option<&str>> = group.variables.iter().map(|name| value(name)).collect();
        !values.iter().flatten().any(|value| refers(value)) && !(group.fits)(&values)
    })
}

/// `parse_default_policy` of the proxy.
fn policy(values: &[Option<&str>]) -> bool {
    match values {
        [Some(policy), networks] if policy_needs_networks(policy) => {
            networks.is_some_and(|networks| proxy_networks(networks).map_or(true, |networks| !networks.is_empty()))
        }
        _ => true,
    }
}

/// `mk_receive_limits` of the proxy: none of the limits that are set may exceed a later one.
fn ascending(values: &[Option<&str>]) -> bool {
    let limits = values.iter().flatten().filter_map(|value| proxy_duration(value).ok());
    limits.is_sorted()
}

/// `parse_backoff` of the proxy.
fn backoff(values: &[Option<&str>]) -> bool {
    match values {
        [None, None, None] => true,
        [Some(min), Some(max), _] => match (proxy_duration(min), proxy_duration(max)) {
            (Ok(min), Ok(max)) => min <= max && max > Duration::ZERO,
            _ => true,
        },
        _ => false,
    }
}

/// The proxy's resolver panics at the first answer where its lower bound exceeds its upper one.
fn lifetimes(values: &[Option<&str>]) -> bool {
    const DAY: Duration = Duration::from_secs(86_400);
    match values {
        [Some(min), max] => match (proxy_duration(min), max.map_or(Ok(DAY), proxy_duration)) {
            (Ok(min), Ok(max)) => min <= max,
            _ => true,
        },
        _ => true,
    }
}

/// `parse_control_addr` of the proxy: a server on the loopback needs no name, any other does.
fn server(values: &[Option<&str>]) -> bool {
    match values {
        [None, None] | [Some(_), Some(_)] => true,
        [Some(address), None] => {
            let named = || address.rsplit_once(':').is_some_and(|(host, _)| host.eq_ignore_ascii_case("localhost."));
            address.parse::<SocketAddr>().map_or_else(|_| named(), |address| address.ip().is_loopback())
        }
        _ => false,
    }
}

/// Two listeners never share a port. The control port counts though it is opened only when tap is on, for an extension
/// may turn tap on later; port 0 stands for any free one.
fn distinct(values: &[Option<&str>]) -> bool {
    let port = |value: &str| value.split(',').next()?.parse::<SocketAddr>().ok().map(|address| address.port());
    let mut ports = BTreeSet::new();
    values.iter().flatten().filter_map(|value| port(value)).filter(|port| *port != 0).all(|port| ports.insert(port))
}
