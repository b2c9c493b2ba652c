//! The init container, which redirects the pod's traffic to the proxy.
//!
//! Source: `charts/partials/templates/_proxy-init.tpl` and `injectProxyInit` in `pkg/inject/inject.go` of linkerd/linkerd2.

use super::{capabilities, container, dropped_by_app, hardened, json, resources::resources, volume};
use crate::parse::ports::{self, PortList, PortRange};
use crate::values::Values;
use crate::workload::Workload;
use k8s_openapi::api::core::v1::{Container, SecurityContext};
use serde_json::Value;
use std::collections::BTreeSet;

/// The user and group that values of 0 stand for, which would be root.
const NOBODY: i64 = 65534;

/// Renders the init container.
pub(super) fn container(values: &Values, pod: &Workload<'_>) -> Value {
    let mut mounts = vec![volume::mount(volume::XTABLES_LOCK, &values.proxy_init.xt_mount_path)];
    mounts.extend(volume::token_mount(pod));
    json(Container {
        name: container::INIT.to_owned(),
        image: Some(values.proxy.image.reference(&values.linkerd_version)),
        image_pull_policy: Some(values.proxy.image.pull_policy(&values.image_pull_policy).to_owned()),
        command: Some(vec!["/usr/lib/linkerd/linkerd2-proxy-init".to_owned()]),
        args: Some(arguments(values, pod)),
        resources: resources(&values.proxy.resources),
        security_context: Some(security_context(values, pod)),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        volume_mounts: Some(mounts),
        ..Container::default()
    })
}

fn arguments(values: &Values, pod: &Workload<'_>) -> Vec<String> {
    let (proxy, init) = (&values.proxy, &values.proxy_init);
    let mut arguments: Vec<String> = Vec::new();
    let mut flag = |name: &str, value: &dyn ToString| arguments.extend([name.to_owned(), value.to_string()]);
    if init.iptables_mode == "nft" {
        flag("--firewall-bin-path", &"iptables-nft");
        flag("--firewall-save-bin-path", &"iptables-nft-save");
    }
    let ipv6_off = values.disable_ipv6.then(|| "--ipv6=false".to_owned());
    let at = arguments.len();
    let mut flag = |name: &str, value: &dyn ToString| arguments.extend([name.to_owned(), value.to_string()]);
    flag("--incoming-proxy-port", &proxy.ports.inbound);
    flag("--outgoing-proxy-port", &proxy.ports.outbound);
    flag("--proxy-uid", &proxy.uid);
    if let Some(gid) = &proxy.gid {
        flag("--proxy-gid", gid);
    }
    let own = [PortRange::single(proxy.ports.control), PortRange::single(proxy.ports.admin)];
    let names = pod.named_ports();
    let skipped = ports::list(&init.ignore_inbound_ports, &|name| names.get(name).copied()).ranges;
    flag("--inbound-ports-to-ignore", &unique(own.into_iter().chain(skipped)));
    let skipped = unique(ports::list(&init.ignore_outbound_ports, &|_| None).ranges);
    if !skipped.is_empty() {
        flag("--outbound-ports-to-ignore", &skipped);
    }
    if init.close_wait_timeout_secs != 0 {
        flag("--timeout-close-wait-secs", &init.close_wait_timeout_secs);
    }
    for (name, text) in
        [("--log-format", &init.log_format), ("--log-level", &init.log_level), ("--subnets-to-ignore", &init.skip_subnets)]
    {
        if !text.is_empty() {
            flag(name, text);
        }
    }
    arguments.splice(at..at, ipv6_off);
    arguments
}

/// The ranges as the program reads them, each once (D08).
fn unique(ranges: impl IntoIterator<Item = PortRange>) -> String {
    let mut seen = BTreeSet::new();
    let ranges = ranges.into_iter().filter(|range| seen.insert(*range)).collect();
    PortList { ranges, bad: Vec::new() }.to_string()
}

/// iptables needs two capabilities, so what would take them away is not mirrored from the application.
fn security_context(values: &Values, pod: &Workload<'_>) -> SecurityContext {
    let init = &values.proxy_init;
    let given = match (dropped_by_app(pod), &values.proxy.capabilities) {
        (Some(drop), _) => crate::values::Capabilities { add: Vec::new(), drop },
        (None, Some(of_proxy)) => of_proxy.clone(),
        (None, None) => init.capabilities.clone(),
    };
    let from_init_values = dropped_by_app(pod).is_none() && values.proxy.capabilities.is_none();
    let needed = ["NET_ADMIN", "NET_RAW"];
    let add = needed.iter().map(|n| (*n).to_owned()).chain(given.add).collect();
    let drop = given.drop.into_iter().filter(|name| from_init_values || !needed.iter().any(|n| same_capability(name, n))).collect();
    let powerful = init.close_wait_timeout_secs != 0 || init.privileged;
    let or_nobody = |id| if id == 0 { NOBODY } else { id };
    SecurityContext {
        allow_privilege_escalation: Some(powerful),
        privileged: Some(powerful),
        capabilities: capabilities(add, drop),
        run_as_non_root: Some(!init.run_as_root),
        run_as_user: Some(if init.run_as_root { 0 } else { or_nobody(init.run_as_user) }),
        run_as_group: Some(if init.run_as_root { 0 } else { or_nobody(init.run_as_group) }),
        ..hardened()
    }
}

/// Runtimes read capability names in any case and with or without their prefix (D29).
fn same_capability(name: &str, known: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    upper.strip_prefix("CAP_").unwrap_or(&upper) == known
}
