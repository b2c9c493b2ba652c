//! What values cannot have together, whichever layer it comes from.
//!
//! In: values with all layers on them. Out: the values with what cannot work put out of effect, and a fault for each such thing.

use crate::parse::{network, ports, proxy_env};
use crate::values::{ControlStreams, Ports, ValueFault, Values, parameters};

impl Values {
    /// Puts out of effect what cannot work together, and returns what that was. To be called once, over all layers.
    pub fn settle(&mut self) -> Vec<ValueFault> {
        let mut faults = Vec::new();
        let mut fault = |path: &str, problem: &str| faults.push(ValueFault { path: path.to_owned(), problem: problem.to_owned() });
        if self.proxy_init.close_wait_timeout_secs != 0 && !self.proxy_init.run_as_root {
            self.proxy_init.close_wait_timeout_secs = 0;
            fault("proxyInit.closeWaitTimeoutSecs", "set without proxyInit.runAsRoot");
        }
        let tracing = &mut self.proxy.tracing;
        if tracing.enabled {
            for (path, text) in [
                ("proxy.tracing.collector.endpoint", &tracing.endpoint),
                ("proxy.tracing.collector.meshIdentity.serviceAccountName", &tracing.service_account_name),
                ("proxy.tracing.collector.meshIdentity.namespace", &tracing.namespace),
            ] {
                if text.is_empty() {
                    tracing.enabled = false;
                    fault(path, "empty while tracing is enabled");
                }
            }
        }
        for name in self.proxy.ports.part(Ports::default_chart()) {
            fault(&format!("proxy.ports.{name}"), "that of another port of the proxy");
        }
        if self.cluster_networks.is_empty() && proxy_env::policy_needs_networks(&self.proxy.default_inbound_policy) {
            self.proxy.default_inbound_policy = "all-unauthenticated".to_owned();
            fault("proxy.defaultInboundPolicy", "one that needs clusterNetworks");
        }
        let streams = &mut self.proxy.control_streams;
        let ordered = {
            let of = |name: &str| match name.strip_prefix("LINKERD2_PROXY_CONTROL_STREAM_") {
                Some("INITIAL_TIMEOUT") => Some(streams.initial_timeout.as_str()),
                Some("IDLE_TIMEOUT") => Some(streams.idle_timeout.as_str()),
                Some("LIFETIME") => Some(streams.lifetime.as_str()),
                _ => None,
            };
            proxy_env::conflicts(&of).next().is_none()
        };
        if !ordered {
            *streams = ControlStreams::default_chart();
            fault("proxy.control.streams", "not in the order initialTimeout, idleTimeout, lifetime");
        }
        let subnets = network::cidr_list_init(&self.proxy_init.skip_subnets).unwrap_or_default();
        if !self.disable_ipv6 && !network::ip6tables_reads(&subnets) {
            self.proxy_init.skip_subnets.clear();
            fault("proxyInit.skipSubnets", "refused by ip6tables, which runs too where IPv6 is on");
        }
        for (path, direction, scopes) in
            [("proxy.inbound", "inbound", &self.proxy.inbound), ("proxy.outbound", "outbound", &self.proxy.outbound)]
        {
            for (name, text) in parameters::variables(direction, scopes) {
                if let Err(error) = proxy_env::readable(&format!("LINKERD2_PROXY_{name}"), &text) {
                    fault(path, &format!("an object whose {name} is {error}"));
                }
            }
        }
        // Of a list, the entries that can be read hold.
        for (path, list, names) in [
            ("proxyInit.ignoreInboundPorts", &self.proxy_init.ignore_inbound_ports, true),
            ("proxyInit.ignoreOutboundPorts", &self.proxy_init.ignore_outbound_ports, false),
            ("proxy.opaquePorts", &self.proxy.opaque_ports, false),
        ] {
            // The name of a container port means something on some pods.
            let named = |name: &str| (names && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(1);
            if let Some(bad) = ports::list(list, &named).bad.first() {
                fault(path, &format!("a list with an entry that is {}", bad.error));
            }
        }
        faults
    }
}
