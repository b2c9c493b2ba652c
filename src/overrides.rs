//! What annotations change about the mesh's values, one row an annotation.
//!
//! In: values, the pod, its namespace's annotations. Out: the values changed, and a [`Warning`] for every annotation that could not
//! be used and changed nothing. Every key that works on a pod is inherited from its namespace (D04).
//!
//! Source: `ApplyAnnotationOverrides`, `AppendNamespaceAnnotations` and `MergeAdditionalEnv` in `pkg/inject/inject.go` of
//! linkerd/linkerd2.

mod together;

use crate::annotation as key;
use crate::parse::{boolean, duration, env_entry, image, integer, network, ports, proxy_env, quantity, ratio};
use crate::values::{MAX_CLOSE_WAIT_SECS, Values};
use crate::warning::{Place, Warning};
use crate::workload::Workload;
use std::collections::BTreeMap;
use std::fmt;

/// The annotations that count for a pod: its own, then those of its namespace that it inherits.
#[derive(Clone, Debug)]
pub struct Annotations<'a> {
    pod: Workload<'a>,
    namespace: &'a BTreeMap<String, String>,
}

impl<'a> Annotations<'a> {
    /// The annotations of a pod in a namespace.
    #[must_use]
    pub fn new(pod: Workload<'a>, namespace: &'a BTreeMap<String, String>) -> Self {
        Annotations { pod, namespace }
    }

    /// The annotations that the pod takes over from its namespace: those that mean something on a pod and that it has not itself.
    pub fn inherited(&self) -> impl Iterator<Item = (&'static str, &'a str)> + '_ {
        let keys = OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).chain([key::INJECT]);
        keys.filter_map(|k| match self.pod.annotation(k) {
            Some(_) => None,
            None => self.namespace.get(k).map(|v| (k, v.as_str())),
        })
    }

    /// Whether the pod has the annotation or inherits it.
    #[must_use]
    pub fn has(&self, key: &'static str) -> bool {
        self.first(&[key]).is_some()
    }

    /// An annotation of the namespace.
    pub(crate) fn of_namespace(&self, key: &str) -> Option<&'a str> {
        self.namespace.get(key).map(String::as_str)
    }

    /// The first of the keys that is present, the pod's own before the namespace's (D05).
    pub(crate) fn first(&self, keys: &[&'static str]) -> Option<(Place, &'a str)> {
        let own = keys.iter().find_map(|k| Some((Place::Annotation(k), self.pod.annotation(k)?)));
        own.or_else(|| keys.iter().find_map(|k| Some((Place::NamespaceAnnotation(k), self.namespace.get(*k)?.as_str()))))
    }

    /// The values of one key that count, in the order in which they apply.
    fn layers(&self, o: &Override) -> Vec<(Place, &'a str)> {
        match o.layering {
            Layering::Replace => self.first(o.keys).into_iter().collect(),
            Layering::Merge => {
                let namespace = o.keys.iter().find_map(|k| Some((Place::NamespaceAnnotation(k), self.namespace.get(*k)?.as_str())));
                let own = o.keys.iter().find_map(|k| Some((Place::Annotation(k), self.pod.annotation(k)?)));
                namespace.into_iter().chain(own).collect()
            }
        }
    }
}

/// Whether an annotation is one that pods inherit from their namespace.
pub(crate) fn is_inherited(name: &str) -> bool {
    name == key::INJECT || OVERRIDES.iter().any(|o| o.keys.contains(&name))
}

/// Values under change.
pub struct Scope<'a> {
    /// The values.
    pub values: Values,
    /// What could not be used.
    pub warnings: Vec<Warning>,
    /// Where each additional variable comes from, by name; one that is not here comes from the values.
    pub added_by: BTreeMap<String, Place>,
    pod: Workload<'a>,
    place: Place,
}

impl Scope<'_> {
    /// Names the entries of a list that cannot be read; the others hold.
    fn name_bad_entries(&mut self, list: &ports::PortList) {
        let place = &self.place;
        self.warnings.extend(list.bad.iter().map(|bad| Warning::unused(place.clone(), &bad.text, bad.error)));
    }
}

/// How a namespace's value and a pod's go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layering {
    /// The pod's hides the namespace's.
    Replace,
    /// The namespace's applies first, the pod's over it.
    Merge,
}

/// One annotation, with the older names that it goes by.
pub struct Override {
    /// Its keys, the current one first.
    pub keys: &'static [&'static str],
    /// What it does and takes, for the reference; the module has no use for it.
    #[cfg(not(target_arch = "wasm32"))]
    pub meaning: &'static str,
    layering: Layering,
    /// Takes the value over, or says as a noun phrase what it is not.
    set: fn(&mut Scope<'_>, &str) -> Result<(), Problem>,
}

/// What is wrong with a value.
#[derive(Debug)]
pub struct Problem {
    text: String,
    /// Whether the value may be shown.
    secret: bool,
}

impl<E: fmt::Display> From<E> for Problem {
    fn from(error: E) -> Self {
        Problem { text: error.to_string(), secret: false }
    }
}

macro_rules! overrides {
    ($($keys:expr, $meaning:literal, $set:expr;)*) => {
        &[$(Override {
            keys: $keys,
            #[cfg(not(target_arch = "wasm32"))]
            meaning: $meaning,
            layering: Layering::Replace, set: $set }),*,
            // The one list that grows from layer to layer.
            Override {
                keys: &[key::ADDITIONAL_ENV],
                #[cfg(not(target_arch = "wasm32"))]
                meaning: "environment variables added to the proxy, a JSON list in the shape of a container's env",
                layering: Layering::Merge,
                set: additional_env,
            },
        ]
    };
}

/// Every annotation that changes values.
pub const OVERRIDES: &[Override] = overrides! {
    &[key::PROXY_IMAGE], "image of the injected containers, without tag", |s, t| take(&mut s.values.proxy.image.name, t, image::name(t));
    &[key::PROXY_VERSION_OVERRIDE], "tag of that image", |s, t| take(&mut s.values.proxy.image.version, t, unless_empty(t, image::tag));
    &[key::IMAGE_PULL_POLICY], "pull policy of that image: Always, IfNotPresent or Never",
        |s, t| take(&mut s.values.proxy.image.pull_policy, t, unless_empty(t, image::pull_policy));
    &[key::DEBUG_IMAGE], "image of the debug container, without tag", |s, t| take(&mut s.values.debug_image.name, t, image::name(t));
    &[key::DEBUG_IMAGE_VERSION], "tag of the debug image", |s, t| take(&mut s.values.debug_image.version, t, unless_empty(t, image::tag));
    &[key::DEBUG_IMAGE_PULL_POLICY], "pull policy of the debug image",
        |s, t| take(&mut s.values.debug_image.pull_policy, t, unless_empty(t, image::pull_policy));
    &[key::ENABLE_DEBUG], "adds the debug container: true or false", |s, t| if t.is_empty() { Ok(()) } else { flag(&mut s.values.debug_enabled, t) };
    &[key::CONTROL_PORT], "control port of the proxy", |s, t| {
        let _: () = s.values.proxy.ports.control = ports::port(t)?;
        Ok(())
    };
    &[key::INBOUND_PORT], "inbound port of the proxy", |s, t| {
        let _: () = s.values.proxy.ports.inbound = ports::port(t)?;
        Ok(())
    };
    &[key::ADMIN_PORT], "admin port of the proxy", |s, t| {
        let _: () = s.values.proxy.ports.admin = ports::port(t)?;
        Ok(())
    };
    &[key::OUTBOUND_PORT], "outbound port of the proxy", |s, t| {
        let _: () = s.values.proxy.ports.outbound = ports::port(t)?;
        Ok(())
    };
    &[key::POD_INBOUND_PORTS], "ports on which the application listens, in place of those detected",
        |s, t| { ports::proxy_port_set(t)?; s.values.proxy.pod_inbound_ports = Some(t.to_owned()); Ok(()) };
    &[key::ADMIN_SHUTDOWN], "the admin server can shut the proxy down: enabled or disabled",
        |s, t| {
            let _: () = s.values.proxy.enable_shutdown_endpoint = boolean::enabled(t)?;
            Ok(())
        };
    &[key::LOG_LEVEL], "log filter of the proxy, as warn,linkerd=info", |s, t| take(&mut s.values.proxy.log_level, t, proxy_env::readable("LINKERD2_PROXY_LOG", t));
    &[key::LOG_HTTP_HEADERS], "whether HTTP headers may be logged: insecure or off", |s, t| {
        let known = if matches!(t, "insecure" | "off" | "") { Ok(()) } else { Err("neither insecure nor off") };
        take(&mut s.values.proxy.log_http_headers, t, known)
    };
    &[key::LOG_FORMAT], "log format of the proxy: plain or json", |s, t| take(&mut s.values.proxy.log_format, t, proxy_env::readable("LINKERD2_PROXY_LOG_FORMAT", t));
    &[key::REQUIRE_IDENTITY_PORTS], "inbound ports that demand a mesh identity",
        |s, t| take(&mut s.values.proxy.require_identity_on_inbound_ports, t, ports::proxy_port_set(t));
    &[key::METRICS_HOSTNAME_LABELS], "outbound metrics carry host names: true or false", |s, t| flag(&mut s.values.proxy.hostname_labels, t);
    &[key::OUTBOUND_CONNECT_TIMEOUT], "timeout of outbound connections, a duration as 1s or 250ms",
        |s, t| {
            let _: () = s.values.proxy.outbound_connect_timeout = duration::timeout(t)?.as_milliseconds();
            Ok(())
        };
    &[key::INBOUND_CONNECT_TIMEOUT], "timeout of inbound connections, a duration",
        |s, t| {
            let _: () = s.values.proxy.inbound_connect_timeout = duration::timeout(t)?.as_milliseconds();
            Ok(())
        };
    &[key::OUTBOUND_DISCOVERY_TIMEOUT], "how long unused outbound discovery results are kept, a duration",
        |s, t| {
            let _: () = s.values.proxy.outbound_discovery_cache_unused_timeout = duration::timeout(t)?.as_seconds_or_milliseconds();
            Ok(())
        };
    &[key::INBOUND_DISCOVERY_TIMEOUT], "how long unused inbound discovery results are kept, a duration",
        |s, t| {
            let _: () = s.values.proxy.inbound_discovery_cache_unused_timeout = duration::timeout(t)?.as_seconds_or_milliseconds();
            Ok(())
        };
    &[key::DISABLE_OUTBOUND_DETECT_TIMEOUT], "no timeout of outbound protocol detection: true or false",
        |s, t| flag(&mut s.values.proxy.disable_outbound_protocol_detect_timeout, t);
    &[key::DISABLE_INBOUND_DETECT_TIMEOUT], "no timeout of inbound protocol detection: true or false",
        |s, t| flag(&mut s.values.proxy.disable_inbound_protocol_detect_timeout, t);
    &[key::SHUTDOWN_GRACE_PERIOD], "how long the proxy waits for connections to end, a duration",
        |s, t| {
            let _: () = s.values.proxy.shutdown_grace_period = duration::timeout(t)?.as_milliseconds();
            Ok(())
        };
    &[key::ENABLE_GATEWAY], "the proxy is a multicluster gateway: true or false", |s, t| flag(&mut s.values.proxy.is_gateway, t);
    &[key::WAIT_BEFORE_EXIT], "seconds that the proxy outlives a stop of the pod; not with a native sidecar",
        |s, t| {
            let _: () = s.values.proxy.wait_before_exit_seconds = integer::unsigned(t)?;
            Ok(())
        };
    &[key::NATIVE_SIDECAR, key::NATIVE_SIDECAR_BETA, key::NATIVE_SIDECAR_ALPHA], "the proxy is a native sidecar: true or false",
        |s, t| flag(&mut s.values.proxy.native_sidecar, t);
    &[key::CPU_REQUEST], "CPU request of the injected containers, and the proxy's least number of workers", |s, t| {
        s.values.proxy.workers.minimum = quantity::resource(t)?.whole_cores();
        t.clone_into(&mut s.values.proxy.resources.cpu.request);
        Ok(())
    };
    &[key::CPU_LIMIT], "CPU limit of the injected containers, and the proxy's greatest number of workers", |s, t| {
        s.values.proxy.workers.maximum = quantity::resource(t)?.whole_cores();
        t.clone_into(&mut s.values.proxy.resources.cpu.limit);
        Ok(())
    };
    &[key::CPU_RATIO_LIMIT], "workers of the proxy as a share of the node's CPUs, between 0 and 1",
        |s, t| {
            let _: () = s.values.proxy.workers.maximum_cpu_ratio = ratio::ratio(t)?;
            Ok(())
        };
    &[key::MEMORY_REQUEST], "memory request of the injected containers", |s, t| take(&mut s.values.proxy.resources.memory.request, t, quantity::resource(t));
    &[key::MEMORY_LIMIT], "memory limit of the injected containers", |s, t| take(&mut s.values.proxy.resources.memory.limit, t, quantity::resource(t));
    &[key::EPHEMERAL_STORAGE_REQUEST], "ephemeral storage request of the injected containers",
        |s, t| take(&mut s.values.proxy.resources.ephemeral_storage.request, t, quantity::resource(t));
    &[key::EPHEMERAL_STORAGE_LIMIT], "ephemeral storage limit of the injected containers",
        |s, t| take(&mut s.values.proxy.resources.ephemeral_storage.limit, t, quantity::resource(t));
    &[key::PROXY_UID], "user id of the proxy, from 1", |s, t| {
        let _: () = s.values.proxy.uid = integer::uid(t)?;
        Ok(())
    };
    &[key::PROXY_GID], "group id of the proxy; a negative one means the image's", |s, t| {
        let _: () = s.values.proxy.gid = integer::gid(t)?;
        Ok(())
    };
    &[key::ENABLE_EXTERNAL_PROFILES], "service profiles of names outside the cluster are looked up: true or false",
        |s, t| flag(&mut s.values.proxy.enable_external_profiles, t);
    &[key::SKIP_INBOUND_PORTS], "inbound ports that bypass the proxy: numbers, ranges, names of container ports, comma-separated", |s, t| {
        let names = s.pod.named_ports();
        skip_ports(s, t, &|name| names.get(name).copied(), |v| &mut v.proxy_init.ignore_inbound_ports)
    };
    &[key::SKIP_OUTBOUND_PORTS], "outbound ports that bypass the proxy: numbers and ranges, comma-separated",
        |s, t| skip_ports(s, t, &|_| None, |v| &mut v.proxy_init.ignore_outbound_ports);
    &[key::OPAQUE_PORTS], "ports without protocol detection: numbers, ranges, names of container ports, comma-separated", opaque_ports;
    &[key::AWAIT], "the application waits for the proxy: enabled or disabled", |s, t| {
        let _: () = s.values.proxy.await_ready = boolean::enabled(t)?;
        Ok(())
    };
    &[key::DEFAULT_INBOUND_POLICY], "what inbound traffic is allowed where no policy says: all-unauthenticated, all-authenticated, \
        cluster-unauthenticated, cluster-authenticated, deny or audit", inbound_policy;
    &[key::SKIP_SUBNETS], "networks that bypass the proxy, CIDRs, comma-separated",
        skip_subnets;
    &[key::ACCESS_LOG], "access log of the proxy: apache or json", |s, t| take(&mut s.values.proxy.access_log, t, proxy_env::readable("LINKERD2_PROXY_ACCESS_LOG", t));
    &[key::CLOSE_WAIT_TIMEOUT], "TCP close-wait timeout of the pod, a duration; needs proxyInit.runAsRoot", close_wait;
};

/// Changes the values as the annotations that count for the pod say.
#[must_use]
pub fn apply<'a>(values: Values, annotations: &Annotations<'a>) -> Scope<'a> {
    let configured = values.proxy.ports;
    let mut scope =
        Scope { values, warnings: Vec::new(), added_by: BTreeMap::new(), pod: annotations.pod, place: Place::Configuration };
    if annotations.first(&[key::INJECT]).is_some_and(|(_, value)| value == "ingress") {
        scope.values.proxy.is_ingress = true;
    }
    together::leave_out_files(&mut scope);
    for o in OVERRIDES {
        for (place, text) in annotations.layers(o) {
            scope.place = place.clone();
            if let Err(problem) = (o.set)(&mut scope, text) {
                scope.warnings.push(if problem.secret {
                    Warning::unused_unseen(place, problem.text)
                } else {
                    Warning::unused(place, text, problem.text)
                });
            }
        }
    }
    together::part_ports(&mut scope, annotations, configured);
    together::lower_requests(&mut scope);
    together::trace_attributes(&mut scope);
    scope
}

/// Takes the text over when it was found good.
fn take<T, E: fmt::Display>(to: &mut String, text: &str, checked: Result<T, E>) -> Result<(), Problem> {
    checked?;
    text.clone_into(to);
    Ok(())
}

/// The check, but of an empty text, which stands for the default.
fn unless_empty<E>(text: &str, check: fn(&str) -> Result<(), E>) -> Result<(), E> {
    if text.is_empty() { Ok(()) } else { check(text) }
}

fn flag(to: &mut bool, text: &str) -> Result<(), Problem> {
    *to = boolean::boolean(text)?;
    Ok(())
}

/// A skip list: what can be read of it holds, and each entry that cannot is named (D08).
fn skip_ports(
    scope: &mut Scope<'_>,
    text: &str,
    named: &dyn Fn(&str) -> Option<u16>,
    list: fn(&mut Values) -> &mut String,
) -> Result<(), Problem> {
    let read = ports::list(text, named);
    scope.name_bad_entries(&read);
    *list(&mut scope.values) = read.to_string();
    Ok(())
}

fn opaque_ports(scope: &mut Scope<'_>, text: &str) -> Result<(), Problem> {
    let names = scope.pod.named_ports();
    let read = ports::list(text, &|name| names.get(name).copied());
    scope.name_bad_entries(&read);
    scope.values.proxy.opaque_ports = read.to_string();
    Ok(())
}

fn skip_subnets(scope: &mut Scope<'_>, text: &str) -> Result<(), Problem> {
    let subnets = network::cidr_list_init(text)?;
    if !scope.values.disable_ipv6 && !network::ip6tables_reads(&subnets) {
        return Err("refused by ip6tables, which runs too where IPv6 is on".into());
    }
    text.clone_into(&mut scope.values.proxy_init.skip_subnets);
    Ok(())
}

fn inbound_policy(scope: &mut Scope<'_>, text: &str) -> Result<(), Problem> {
    proxy_env::policy(text)?;
    if scope.values.cluster_networks.is_empty() && proxy_env::policy_needs_networks(text) {
        return Err("one that needs clusterNetworks".into());
    }
    text.clone_into(&mut scope.values.proxy.default_inbound_policy);
    Ok(())
}

fn close_wait(scope: &mut Scope<'_>, text: &str) -> Result<(), Problem> {
    if text.is_empty() {
        return Ok(());
    }
    let seconds = duration::timeout(text)?.whole_seconds();
    if seconds > MAX_CLOSE_WAIT_SECS {
        return Err("longer than the kernel keeps a connection".into());
    }
    if !scope.values.proxy_init.run_as_root {
        return Err("set without proxyInit.runAsRoot".into());
    }
    scope.values.proxy_init.close_wait_timeout_secs = seconds;
    Ok(())
}

/// Entries are merged by name over those of the layers below; one that the API server or the proxy would refuse is left out.
fn additional_env(scope: &mut Scope<'_>, text: &str) -> Result<(), Problem> {
    let secret = |text: String| Problem { text, secret: true };
    let read = env_entry::additional_env(text).map_err(|e| secret(e.to_string()))?;
    for (entry, reason) in &read.refused {
        scope.warnings.push(Warning::unused_unseen(scope.place.clone(), format!("without {entry}, which is {reason}")));
    }
    let mut entries = Vec::new();
    for entry in read.entries {
        if let Some(volume) = env_entry::file_volume(&entry).filter(|volume| !scope.pod.has_empty_dir(volume)) {
            let problem = format!("with an entry from volume {volume:?}, which is no emptyDir of the pod");
            scope.warnings.push(Warning::unused_unseen(scope.place.clone(), problem));
            continue;
        }
        let name = entry.get("name").and_then(serde_json::Value::as_str).unwrap_or_default();
        scope.added_by.insert(name.to_owned(), scope.place.clone());
        entries.push(entry);
    }
    env_entry::lay_over(&mut scope.values.proxy.additional_env, entries);
    Ok(())
}

#[cfg(test)]
mod tests;
