//! Edits of what was injected.

use super::Touches::{Asserted, Sidecar};
use super::{Edit, add, add_variable, annotate, container, edit, list_at, map_at, mount, proxy, spec, variable};
use crate::laws::api_server::{containers_mut, items_mut};
use serde_json::{Map, Value, json};

#[rustfmt::skip]
pub(super) const EDITS: &[Edit] = &[
    edit("tap", Sidecar, tap),
    edit("tracing, as jaeger", Sidecar, jaeger),
    edit("variables and token in every container, as AWS", Sidecar, aws),
    edit("resources of containers without any, as LimitRanger", Sidecar, limits),
    edit("resources of the proxy changed", Sidecar, |pod| of_proxy(pod, |p| {
        p.insert("resources".to_owned(), json!({"limits": {"cpu": "3", "memory": "3Gi"}, "requests": {"cpu": "0.3", "memory": "1Gi"}}));
    })),
    edit("inbound ports added to the proxy's", Sidecar, |pod| {
        if let Some(ports) = proxy(pod).and_then(|p| variable(p, "LINKERD2_PROXY_INBOUND_PORTS")) {
            let known = ports.get("value").and_then(Value::as_str).unwrap_or_default().to_owned();
            if !known.split(',').any(|port| port == "15001") {
                ports.insert("value".to_owned(), format!("{known}{}15001,15002", if known.is_empty() { "" } else { "," }).into());
            }
        }
    }),
    edit("preStop hook of the proxy", Sidecar, |pod| of_proxy(pod, |p| {
        if let Some(lifecycle) = map_at(p, "lifecycle") {
            lifecycle.insert("preStop".to_owned(), json!({"sleep": {"seconds": 5}}));
        }
    })),
    edit("volume mounted into the proxy", Sidecar, |pod| if proxy(pod).is_some() {
        add(pod, "volumes", Some(0), json!({"name": "corporate-ca", "secret": {"secretName": "ca"}}));
        of_proxy(pod, |p| mount(p, "corporate-ca", "/etc/ssl/corporate"));
    }),
    edit("images from a mirror", Sidecar, mirror),
    edit("images always pulled", Sidecar, |pod| for (_, container) in containers_mut(pod) {
        container.insert("imagePullPolicy".to_owned(), "Always".into());
    }),
    edit("variable of the proxy set twice", Sidecar, |pod| of_proxy(pod, |p| {
        let twice = |env: &[Value]| env.iter().filter(|v| v.get("name").and_then(Value::as_str) == Some("LINKERD2_PROXY_LOG")).count() > 1;
        if let Some(env) = list_at(p, "env") && !twice(env) {
            env.push(json!({"name": "LINKERD2_PROXY_LOG", "value": "info,mine=debug"}));
        }
    })),
    edit("variable of the proxy changed in place", Sidecar, |pod| of_proxy(pod, |p| {
        if let Some(log) = variable(p, "LINKERD2_PROXY_LOG") { log.insert("value".to_owned(), "info,other=debug".into()); }
    })),
    edit("variable of the proxy taken out", Sidecar, |pod| of_proxy(pod, |p| {
        if let Some(env) = list_at(p, "env") { env.retain(|v| v.get("name").and_then(Value::as_str) != Some("LINKERD2_PROXY_LOG")); }
    })),
    edit("variables before the proxy's own, with references", Sidecar, |pod| of_proxy(pod, |p| {
        add_variable(p, "TAIL", "$(_pod_ns)/$(HEAD)");
        if variable(p, "HEAD").is_none() && let Some(env) = list_at(p, "env") { env.insert(0, json!({"name": "HEAD", "value": "mine"})); }
    })),
    edit("probe timings of the proxy", Sidecar, |pod| of_proxy(pod, |p| for probe in ["livenessProbe", "readinessProbe"] {
        if let Some(probe) = p.get_mut(probe).and_then(Value::as_object_mut) {
            probe.insert("timeoutSeconds".to_owned(), 7.into());
            probe.insert("failureThreshold".to_owned(), 9.into());
        }
    })),
    edit("security context of the proxy tightened", Sidecar, |pod| of_proxy(pod, |p| {
        if let Some(context) = map_at(p, "securityContext") {
            context.insert("seccompProfile".to_owned(), json!({"type": "Localhost", "localhostProfile": "proxy.json"}));
            context.insert("appArmorProfile".to_owned(), json!({"type": "RuntimeDefault"}));
        }
    })),
    edit("port of the proxy added", Sidecar, |pod| of_proxy(pod, |p| {
        if let Some(ports) = list_at(p, "ports") && !ports.iter().any(|p| p.get("containerPort") == Some(&json!(4999))) {
            ports.push(json!({"containerPort": 4999, "name": "extra", "protocol": "UDP"}));
        }
    })),
    edit("flags of linkerd-init", Sidecar, init_flags),
    edit("resources of linkerd-init", Sidecar, |pod| {
        let init = ["linkerd-init", "linkerd-network-validator"].into_iter().find(|n| container(pod, n).is_some());
        if let Some(init) = init.and_then(|n| container(pod, n)) {
            init.insert("resources".to_owned(), json!({"limits": {"cpu": "10m", "memory": "20Mi"}, "requests": {"cpu": "10m", "memory": "20Mi"}}));
        }
    }),
    edit("proxy moved to the end", Sidecar, |pod| for list in ["containers", "initContainers"] {
        if let Some(items) = spec(pod).and_then(|s| s.get_mut(list)).and_then(Value::as_array_mut) {
            items.sort_by_key(|c| c.get("name").and_then(Value::as_str) == Some("linkerd-proxy"));
        }
    }),
    edit("label and annotations beside ours", Sidecar, |pod| if proxy(pod).is_some() {
        annotate(pod, "prometheus.io/port", "4191");
        annotate(pod, "sidecar.example.test/seen", "linkerd-proxy");
    }),
    edit("user of the proxy changed", Asserted, |pod| of_proxy(pod, |p| {
        if let Some(context) = map_at(p, "securityContext") { context.insert("runAsUser".to_owned(), 1_234.into()); }
    })),
    edit("address of the control plane changed", Asserted, |pod| set(pod, "LINKERD2_PROXY_DESTINATION_SVC_ADDR", "elsewhere.test:8086")),
    edit("listen address changed", Asserted, |pod| set(pod, "LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "0.0.0.0:1")),
    edit("user in the flags of linkerd-init changed", Asserted, |pod| {
        let args = container(pod, "linkerd-init").and_then(|c| list_at(c, "args"));
        let after = args.and_then(|args| args.iter_mut().skip_while(|a| a.as_str() != Some("--proxy-uid")).nth(1));
        if let Some(uid) = after { *uid = "1234".into(); }
    }),
    edit("source of the identity token changed", Asserted, |pod| {
        let volumes = spec(pod).and_then(|s| s.get_mut("volumes"));
        if let Some(token) = items_mut(volumes).find(|v| v.get("name").and_then(Value::as_str) == Some("linkerd-identity-token")) {
            token.remove("projected");
            token.insert("emptyDir".to_owned(), json!({}));
        }
    }),
    edit("linkerd-init taken out", Asserted, |pod| {
        if let Some(inits) = spec(pod).and_then(|s| s.get_mut("initContainers")).and_then(Value::as_array_mut) {
            inits.retain(|c| c.get("name").and_then(Value::as_str) != Some("linkerd-init"));
        }
    }),
    edit("volume and mount of the identity taken out", Asserted, |pod| if proxy(pod).is_some() {
        let volume = "linkerd-identity-end-entity";
        if let Some(volumes) = spec(pod).and_then(|s| list_at(s, "volumes")) { volumes.retain(|v| v.get("name").and_then(Value::as_str) != Some(volume)); }
        of_proxy(pod, |p| if let Some(mounts) = list_at(p, "volumeMounts") { mounts.retain(|m| m.get("name").and_then(Value::as_str) != Some(volume)); });
    }),
    edit("word on who injected changed", Asserted, |pod| if proxy(pod).is_some() {
        annotate(pod, "linkerd.io/proxy-version", "v0");
    }),
];

fn of_proxy(pod: &mut Value, edit: impl FnOnce(&mut Map<String, Value>)) {
    if let Some(proxy) = proxy(pod) {
        edit(proxy);
    }
}

fn set(pod: &mut Value, name: &str, value: &str) {
    of_proxy(pod, |proxy| {
        if let Some(variable) = variable(proxy, name) {
            variable.insert("value".to_owned(), value.into());
        }
    });
}

/// Once its annotation is there, it does nothing more.
fn tap(pod: &mut Value) {
    let done = pod.get("metadata").and_then(|m| m.get("annotations")?.get("viz.linkerd.io/tap-enabled")).is_some();
    if done || proxy(pod).is_none() {
        return;
    }
    of_proxy(pod, |p| {
        add_variable(p, "LINKERD2_PROXY_TAP_SVC_NAME", "tap.linkerd-viz.serviceaccount.identity.linkerd.cluster.local")
    });
    annotate(pod, "viz.linkerd.io/tap-enabled", "true");
}

fn jaeger(pod: &mut Value) {
    let done = pod.get("metadata").and_then(|m| m.get("annotations")?.get("jaeger.linkerd.io/tracing-enabled")).is_some();
    if done || proxy(pod).is_none() {
        return;
    }
    let items = json!([{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]);
    add(pod, "volumes", None, json!({"name": "podinfo", "downwardAPI": {"items": items}}));
    of_proxy(pod, |p| {
        add_variable(p, "LINKERD2_PROXY_TRACE_ATTRIBUTES_PATH", "/var/run/linkerd/podinfo/labels");
        add_variable(p, "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_ADDR", "collector.linkerd-jaeger:55678");
        add_variable(
            p,
            "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_NAME",
            "collector.linkerd-jaeger.serviceaccount.identity.linkerd.cluster.local",
        );
        mount(p, "podinfo", "/var/run/linkerd/podinfo");
    });
    annotate(pod, "jaeger.linkerd.io/tracing-enabled", "true");
}

pub(crate) fn aws(pod: &mut Value) {
    let token = json!([{"serviceAccountToken": {"audience": "sts.amazonaws.com", "expirationSeconds": 86400, "path": "token"}}]);
    add(pod, "volumes", None, json!({"name": "aws-iam-token", "projected": {"sources": token}}));
    for (_, container) in containers_mut(pod) {
        add_variable(container, "AWS_ROLE_ARN", "arn:aws:iam::111122223333:role/shop");
        add_variable(container, "AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/secrets/eks.amazonaws.com/serviceaccount/token");
        mount(container, "aws-iam-token", "/var/run/secrets/eks.amazonaws.com/serviceaccount");
    }
}

fn limits(pod: &mut Value) {
    for (_, container) in containers_mut(pod) {
        for (map, amounts) in
            [("limits", json!({"cpu": "0.5", "memory": "0.5Gi"})), ("requests", json!({"cpu": "250m", "memory": "64Mi"}))]
        {
            let Some(map) = map_at(container, "resources").and_then(|r| map_at(r, map)) else { continue };
            for (resource, amount) in amounts.as_object().into_iter().flatten() {
                map.entry(resource.clone()).or_insert_with(|| amount.clone());
            }
        }
    }
}

fn mirror(pod: &mut Value) {
    for (_, container) in containers_mut(pod) {
        let image = container.get("image").and_then(Value::as_str).unwrap_or_default().to_owned();
        if !image.starts_with("mirror.test/") {
            container.insert("image".to_owned(), format!("mirror.test/{image}").into());
        }
    }
}

fn init_flags(pod: &mut Value) {
    let Some(args) = container(pod, "linkerd-init").and_then(|c| list_at(c, "args")) else { return };
    if let Some(at) = args.iter().position(|a| a.as_str() == Some("--inbound-ports-to-ignore"))
        && let Some(ports) = args.get_mut(at.saturating_add(1))
    {
        let known = ports.as_str().unwrap_or_default().to_owned();
        if !known.ends_with(",6060") {
            *ports = format!("{known},6060").into();
        }
    }
    if !args.iter().any(|a| a.as_str() == Some("--verbose")) {
        args.push("--verbose".into());
    }
}
