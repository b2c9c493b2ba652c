//! What is tried of each check: what it finds, and its neighbours that it does not.

use super::Try;
use e2e_tests::ask::Ask;
use serde_json::{Value, json};

fn plain(check: &'static str, annotations: Value, spec: Value, told: &'static [&'static str]) -> Try {
    Try { check, ask: Ask::meshed(annotations, spec), told }
}

fn with(check: &'static str, ask: Ask, told: &'static [&'static str]) -> Try {
    Try { check, ask, told }
}

fn ports(ports: Value) -> Value {
    json!({"containers": [{"name": "app", "image": "app", "ports": ports}]})
}

fn app(fields: Value) -> Value {
    let mut container = json!({"name": "app", "image": "app"});
    for (key, value) in fields.as_object().unwrap() {
        container[key] = value.clone();
    }
    json!({"containers": [container]})
}

fn cni(annotations: Value, spec: Value) -> Ask {
    Ask::meshed(annotations, spec).values(json!({"cniEnabled": true}))
}

fn not_native(annotations: Value, spec: Value) -> Ask {
    Ask::meshed(annotations, spec).values(json!({"proxy": {"nativeSidecar": false}}))
}

fn enforced(level: &str) -> Value {
    json!({"pod-security.kubernetes.io/enforce": level})
}

const RANGE: &str = "1001060000/10000";

fn openshift(annotations: Value, range: &str, setting: &str) -> Ask {
    Ask::meshed(annotations, json!({}))
        .namespace(json!({"openshift.io/sa.scc.uid-range": range}))
        .settings(json!({"openshiftUid": setting}))
}

fn early(fields: Value) -> Value {
    let mut container = json!({"name": "early", "securityContext": {"runAsUser": 2102}});
    for (key, value) in fields.as_object().unwrap() {
        container[key] = value.clone();
    }
    json!({"containers": [{"name": "app"}], "initContainers": [container]})
}

fn service(annotations: Value) -> Ask {
    let metadata = json!({"name": "web", "annotations": annotations});
    Ask::about("Service", json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}))
}

fn whole(resources: Value, own: Value) -> Value {
    let mut spec = app(json!({"resources": own}));
    spec["resources"] = resources;
    spec
}

fn burstable() -> Value {
    json!({"limits": {"cpu": "1", "memory": "64Mi"}, "requests": {"cpu": "100m"}})
}

fn resources(cpu: &str, memory: &str) -> Value {
    json!({"limits": {"cpu": cpu, "memory": memory}, "requests": {"cpu": cpu, "memory": memory}})
}

pub fn tries() -> Vec<Try> {
    [of_pods(), of_cni(), of_keys(), of_namespaces(), of_limit_ranges()].into_iter().flatten().collect()
}

fn of_pods() -> Vec<Try> {
    let tcp = |port: Value| json!({"tcpSocket": {"port": port}});
    let wait = |seconds: &str| json!({"config.alpha.linkerd.io/proxy-wait-before-exit-seconds": seconds});
    vec![
        plain(
            "port-of-the-proxy",
            json!({}),
            ports(json!([{"containerPort": 4191}, {"containerPort": 8080}])),
            &["pod: port 4191 of container app is the proxy's admin port, and only one of them can listen on it"],
        ),
        plain(
            "port-of-the-proxy",
            json!({}),
            json!({
                "containers": [{"name": "app", "ports": [{"containerPort": 4143}, {"containerPort": 4140, "protocol": "TCP"}]}],
                "initContainers": [{"name": "side", "restartPolicy": "Always", "ports": [{"containerPort": 4190}]}],
            }),
            &[
                "pod: port 4190 of container side is the proxy's control port, and only one of them can listen on it",
                "pod: port 4143 of container app is the proxy's inbound port, and only one of them can listen on it",
                "pod: port 4140 of container app is the proxy's outbound port, and only one of them can listen on it",
            ],
        ),
        plain(
            "port-of-the-proxy",
            json!({"config.linkerd.io/admin-port": "8080"}),
            ports(json!([{"containerPort": 8080}])),
            &["pod: port 8080 of container app is the proxy's admin port, and only one of them can listen on it"],
        ),
        plain("port-of-the-proxy", json!({"config.linkerd.io/admin-port": "4291"}), ports(json!([{"containerPort": 4191}])), &[]),
        plain("port-of-the-proxy", json!({}), ports(json!([{"containerPort": 4192}])), &[]),
        plain(
            "user-of-the-proxy",
            json!({}),
            app(json!({"securityContext": {"runAsUser": 2102}})),
            &["pod: container app runs as the proxy's user 2102, whose traffic bypasses the proxy"],
        ),
        plain(
            "user-of-the-proxy",
            json!({"config.linkerd.io/proxy-uid": "1000", "config.linkerd.io/proxy-gid": "2000"}),
            json!({
                "securityContext": {"runAsUser": 1000},
                "containers": [{"name": "app"}, {"name": "other", "securityContext": {"runAsUser": 1001, "runAsGroup": 2000}}],
            }),
            &[
                "pod: container app runs as the proxy's user 1000, whose traffic bypasses the proxy",
                "pod: container other runs as the proxy's group 2000, whose traffic bypasses the proxy",
            ],
        ),
        plain("user-of-the-proxy", json!({}), app(json!({"securityContext": {"runAsUser": 2103, "runAsGroup": 2102}})), &[]),
        // An init container that ends before the proxy starts gets out by this alone; beside a native sidecar, it bypasses it.
        with(
            "user-of-the-proxy",
            not_native(json!({}), early(json!({}))).values(json!({"cniEnabled": true, "proxy": {"nativeSidecar": false}})),
            &[],
        ),
        with("user-of-the-proxy", not_native(json!({}), early(json!({}))), &[]),
        with(
            "user-of-the-proxy",
            not_native(json!({}), early(json!({"restartPolicy": "Always"}))),
            &["pod: container early runs as the proxy's user 2102, whose traffic bypasses the proxy"],
        ),
        plain(
            "user-of-the-proxy",
            json!({}),
            early(json!({})),
            &["pod: container early runs as the proxy's user 2102, whose traffic bypasses the proxy"],
        ),
        plain(
            "user-of-the-proxy",
            json!({}),
            json!({"securityContext": {"runAsUser": 2102}, "containers": [{"name": "app", "securityContext": {"runAsUser": 7}}]}),
            &[],
        ),
        with(
            "proxy-outlives-job",
            not_native(json!({}), json!({"restartPolicy": "Never"})),
            &["pod: restartPolicy is Never, and the proxy does not end with the others unless it is a native sidecar"],
        ),
        plain(
            "proxy-outlives-job",
            json!({"config.linkerd.io/proxy-enable-native-sidecar": "false"}),
            json!({"restartPolicy": "OnFailure"}),
            &["pod: restartPolicy is OnFailure, and the proxy does not end with the others unless it is a native sidecar"],
        ),
        plain("proxy-outlives-job", json!({}), json!({"restartPolicy": "Never"}), &[]),
        with("proxy-outlives-job", not_native(json!({}), json!({"restartPolicy": "Always"})), &[]),
        with(
            "proxy-outlives-job",
            not_native(json!({"config.linkerd.io/proxy-admin-shutdown": "enabled"}), json!({"restartPolicy": "Never"})),
            &[],
        ),
        plain(
            "wait-of-native-sidecar",
            wait("40"),
            json!({}),
            &["config.alpha.linkerd.io/proxy-wait-before-exit-seconds: no effect on a native sidecar, which stops last"],
        ),
        with(
            "wait-of-native-sidecar",
            Ask::meshed(json!({}), json!({})).namespace(wait("1")),
            &[
                "namespace's config.alpha.linkerd.io/proxy-wait-before-exit-seconds: no effect on a native sidecar, which stops last",
            ],
        ),
        plain("wait-of-native-sidecar", wait("0"), json!({}), &[]),
        with("wait-of-native-sidecar", not_native(wait("29"), json!({})), &[]),
        with(
            "wait-of-native-sidecar",
            Ask::meshed(json!({}), json!({})).values(json!({"proxy": {"waitBeforeExitSeconds": 5}})),
            &[],
        ),
        with(
            "wait-beyond-grace",
            not_native(wait("40"), json!({"terminationGracePeriodSeconds": 30})),
            &["pod: the proxy waits 40 s when it is stopped, and terminationGracePeriodSeconds ends it after 30 s"],
        ),
        with(
            "wait-beyond-grace",
            not_native(wait("30"), json!({})),
            &["pod: the proxy waits 30 s when it is stopped, and terminationGracePeriodSeconds ends it after 30 s"],
        ),
        with("wait-beyond-grace", not_native(wait("29"), json!({})), &[]),
        with("wait-beyond-grace", not_native(wait("40"), json!({"terminationGracePeriodSeconds": 41})), &[]),
        with("wait-beyond-grace", not_native(json!({}), json!({"terminationGracePeriodSeconds": 0})), &[]),
        plain(
            "tcp-probe",
            json!({}),
            app(json!({"readinessProbe": tcp(json!(8080)), "livenessProbe": tcp(json!(8080))})),
            &["pod: the proxy answers the tcpSocket readinessProbe and livenessProbe of container app; use httpGet, grpc or exec"],
        ),
        plain(
            "tcp-probe",
            json!({}),
            app(json!({"ports": [{"name": "web", "containerPort": 80}], "startupProbe": tcp(json!("web"))})),
            &["pod: the proxy answers the tcpSocket startupProbe of container app; use httpGet, grpc or exec"],
        ),
        plain("tcp-probe", json!({}), app(json!({"readinessProbe": {"httpGet": {"port": 8080}}})), &[]),
        plain("tcp-probe", json!({}), app(json!({"readinessProbe": {"tcpSocket": {"port": 8080, "host": "db.example"}}})), &[]),
        plain(
            "tcp-probe",
            json!({}),
            app(json!({"readinessProbe": {"tcpSocket": {"port": 8080, "host": ""}}})),
            &["pod: the proxy answers the tcpSocket readinessProbe of container app; use httpGet, grpc or exec"],
        ),
        plain(
            "tcp-probe",
            json!({"config.linkerd.io/skip-inbound-ports": "8000-8080"}),
            app(json!({"readinessProbe": tcp(json!(8080))})),
            &[],
        ),
        plain(
            "other-protocols",
            json!({}),
            json!({"containers": [
                {"name": "app", "ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 53}, {"containerPort": 7, "protocol": "SCTP"}]},
                {"name": "b", "ports": [{"containerPort": 53, "protocol": "UDP"}, {"containerPort": 123, "protocol": "UDP"}]},
            ]}),
            &[
                "pod: UDP ports bypass the proxy, which carries TCP: 53, 123",
                "pod: SCTP ports bypass the proxy, which carries TCP: 7",
            ],
        ),
        plain("other-protocols", json!({}), ports(json!([{"containerPort": 53, "protocol": "TCP"}, {"containerPort": 1}])), &[]),
        plain(
            "quality-of-service",
            json!({}),
            app(json!({"resources": resources("1", "64Mi")})),
            &["pod: no longer Guaranteed, and refused by quotas on limits, for want of equal requests and limits of the proxy"],
        ),
        plain(
            "quality-of-service",
            json!({"config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/proxy-memory-limit": "64Mi", "config.linkerd.io/proxy-memory-request": "32Mi"}),
            app(json!({"resources": {"limits": {"cpu": "1", "memory": "64Mi"}}})),
            &["pod: no longer Guaranteed, for want of equal requests and limits of the proxy"],
        ),
        plain(
            "quality-of-service",
            json!({"config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/proxy-memory-limit": "64Mi"}),
            app(json!({"resources": resources("1000m", "64Mi")})),
            &[],
        ),
        plain("quality-of-service", json!({}), app(json!({"resources": {"limits": {"memory": "64Mi"}}})), &[]),
        plain(
            "quality-of-service",
            json!({"config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/proxy-memory-limit": "64Mi", "config.linkerd.io/enable-debug-sidecar": "true"}),
            app(json!({"resources": {"limits": {"cpu": 1, "memory": "64Mi"}}})),
            &[
                "pod: no longer Guaranteed, and refused by quotas on limits, for want of equal requests and limits of the debug container",
            ],
        ),
        plain(
            "quota",
            json!({}),
            app(json!({"resources": burstable()})),
            &["pod: all containers have limits of CPU and memory but the proxy; quotas on limits refuse the pod"],
        ),
        plain(
            "quota",
            json!({"config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/proxy-memory-limit": "64Mi", "config.linkerd.io/enable-debug-sidecar": "true"}),
            app(json!({"resources": burstable()})),
            &["pod: all containers have limits of CPU and memory but the debug container; quotas on limits refuse the pod"],
        ),
        plain(
            "quota",
            json!({"config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/proxy-memory-limit": "64Mi"}),
            app(json!({"resources": burstable()})),
            &[],
        ),
        plain("quota", json!({}), app(json!({"resources": {"limits": {"memory": "64Mi"}}})), &[]),
        plain("quota", json!({}), whole(resources("2", "128Mi"), burstable()), &[]),
        plain("quality-of-service", json!({}), whole(resources("2", "128Mi"), resources("1", "64Mi")), &[]),
        plain(
            "quota",
            json!({"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory limit for container app"}),
            app(json!({"resources": burstable()})),
            &[],
        ),
        plain("quality-of-service", json!({}), json!({}), &[]),
        plain(
            "quality-of-service",
            json!({"kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu, memory limit for container app"}),
            app(json!({"resources": resources("1", "64Mi")})),
            &[],
        ),
    ]
}

fn of_cni() -> Vec<Try> {
    let annotation = |key: &str, text: &str| json!({format!("config.linkerd.io/{key}"): text});
    let named = || ports(json!([{"name": "web", "containerPort": 8080}]));
    vec![
        with(
            "cni-ignores",
            cni(
                json!({
                    "config.linkerd.io/inbound-port": "5143", "config.linkerd.io/outbound-port": "5140",
                    "config.linkerd.io/admin-port": "5191", "config.linkerd.io/control-port": "5190",
                }),
                json!({}),
            ),
            &[
                "config.linkerd.io/inbound-port: linkerd-cni does not read it, and goes by its own configuration",
                "config.linkerd.io/outbound-port: linkerd-cni does not read it, and goes by its own configuration",
                "config.linkerd.io/admin-port: linkerd-cni does not read it, and goes by its own configuration",
                "config.linkerd.io/control-port: linkerd-cni does not read it, and goes by its own configuration",
            ],
        ),
        with(
            "cni-ignores",
            cni(json!({}), json!({})).namespace(annotation("inbound-port", "5143")),
            &["namespace's config.linkerd.io/inbound-port: linkerd-cni does not read it, and goes by its own configuration"],
        ),
        with(
            "cni-ignores",
            Ask::meshed(annotation("close-wait-timeout", "30s"), json!({}))
                .values(json!({"cniEnabled": true, "proxyInit": {"runAsRoot": true}})),
            &["config.linkerd.io/close-wait-timeout: linkerd-cni does not read it, and goes by its own configuration"],
        ),
        with("cni-ignores", cni(annotation("inbound-port", "4143"), json!({})), &[]),
        plain("cni-ignores", annotation("inbound-port", "5143"), json!({}), &[]),
        with(
            "cni-reads-otherwise",
            cni(annotation("skip-inbound-ports", "8080, 9090"), json!({})),
            &["config.linkerd.io/skip-inbound-ports: linkerd-cni reads it otherwise; write 8080,9090"],
        ),
        with(
            "cni-reads-otherwise",
            cni(annotation("skip-inbound-ports", "web,25"), named()),
            &["config.linkerd.io/skip-inbound-ports: linkerd-cni reads it otherwise; write 8080,25"],
        ),
        with(
            "cni-reads-otherwise",
            cni(annotation("proxy-uid", "0"), json!({})),
            &[
                "config.linkerd.io/proxy-uid: \"0\" is not a user id between 1 and 2147483647",
                "config.linkerd.io/proxy-uid: linkerd-cni reads it otherwise; write 2102",
            ],
        ),
        with(
            "cni-reads-otherwise",
            cni(annotation("proxy-gid", "x"), json!({})),
            &[
                "config.linkerd.io/proxy-gid: \"x\" is not a group id of at most 2147483647",
                "config.linkerd.io/proxy-gid: linkerd-cni reads it otherwise; take it out",
            ],
        ),
        with(
            "cni-reads-otherwise",
            cni(json!({}), json!({})).namespace(annotation("skip-subnets", "x")),
            &[
                "namespace's config.linkerd.io/skip-subnets: \"x\" is not a comma-separated list of networks such as 10.0.0.0/8",
                "namespace's config.linkerd.io/skip-subnets: linkerd-cni reads it otherwise; take it out",
            ],
        ),
        with(
            "cni-reads-otherwise",
            cni(annotation("skip-outbound-ports", ""), json!({})).namespace(annotation("skip-outbound-ports", "25")),
            &["config.linkerd.io/skip-outbound-ports: linkerd-cni reads it otherwise; take it out"],
        ),
        with("cni-reads-otherwise", cni(annotation("skip-inbound-ports", "8080,9090-9099,25"), json!({})), &[]),
        with("cni-reads-otherwise", cni(json!({}), named()).namespace(annotation("skip-inbound-ports", "web , 25")), &[]),
        with("cni-reads-otherwise", cni(annotation("skip-outbound-ports", ""), json!({})), &[]),
        with("cni-reads-otherwise", cni(annotation("proxy-gid", "-1"), json!({})), &[]),
        with("cni-reads-otherwise", cni(annotation("proxy-uid", "1001060000"), json!({})), &[]),
        with("cni-reads-otherwise", cni(annotation("skip-subnets", "10.0.0.0/8,192.168.0.0/16"), json!({})), &[]),
        plain("cni-reads-otherwise", annotation("skip-inbound-ports", "8080, 9090"), json!({}), &[]),
    ]
}

fn of_keys() -> Vec<Try> {
    let enabled = || json!({"linkerd.io/inject": "enabled"});
    let labelled = |mut ask: Ask, value: &str| {
        ask.object["metadata"]["labels"] = json!({"linkerd.io/inject": value});
        ask
    };
    let bare = || Ask::pod(json!({}), json!({}));
    let deployment = |metadata: Value, annotations: Value| Ask::workload("Deployment", metadata, annotations, json!({}));
    const LABEL: &[&str] = &["pod: the label linkerd.io/inject has no effect, it has to be an annotation"];
    vec![
        plain(
            "asked-and-skipped",
            json!({}),
            json!({"hostNetwork": true}),
            &["pod: asks for the mesh and stays out: the pod uses the host network"],
        ),
        plain(
            "asked-and-skipped",
            json!({}),
            json!({"nodeSelector": {"kubernetes.io/os": "windows"}}),
            &["pod: asks for the mesh and stays out: the pod runs on Windows"],
        ),
        with(
            "asked-and-skipped",
            Ask::meshed(json!({}), json!({})).values(json!({"identity": {"serviceAccountTokenProjection": false}})),
            &["pod: asks for the mesh and stays out: the pod mounts no service account token, and token projection is off"],
        ),
        plain(
            "asked-and-skipped",
            json!({}),
            json!({"containers": [{"name": "app"}, {"name": "istio-proxy"}]}),
            &["pod: asks for the mesh and stays out: the pod has a mesh sidecar already"],
        ),
        with(
            "asked-and-skipped",
            Ask::workload("CronJob", json!({}), enabled(), json!({})).settings(json!({"skipOwnerKinds": ["Job"]})),
            &["pod: asks for the mesh and stays out: pods of this kind of owner are left out by skipOwnerKinds"],
        ),
        plain("asked-and-skipped", json!({}), json!({"containers": [{"name": "app"}, {"name": "linkerd-proxy"}]}), &[]),
        with("asked-and-skipped", Ask::pod(json!({}), json!({"hostNetwork": true})).namespace(enabled()), &[]),
        with("asked-and-skipped", Ask::pod(json!({"linkerd.io/inject": "disabled"}), json!({"hostNetwork": true})), &[]),
        with("inject-as-label", labelled(bare(), "enabled"), LABEL),
        with("inject-as-label", labelled(bare(), "disabled").namespace(enabled()), LABEL),
        with(
            "inject-as-label",
            bare().labels(enabled()),
            &["namespace: the label linkerd.io/inject has no effect, it has to be an annotation"],
        ),
        with(
            "inject-as-label",
            deployment(json!({"labels": {"linkerd.io/inject": "enabled"}}), json!({})),
            &["Deployment: the label linkerd.io/inject has no effect, it has to be an annotation"],
        ),
        with("inject-as-label", labelled(bare(), "enabled").namespace(enabled()), &[]),
        with("inject-as-label", labelled(Ask::meshed(json!({}), json!({})), "enabled").labels(enabled()), &[]),
        with("inject-as-label", bare().labels(enabled()).namespace(enabled()), &[]),
        with("inject-as-label", labelled(Ask::pod(json!({"linkerd.io/inject": "disabled"}), json!({})), "enabled"), &[]),
        with("inject-as-label", bare().labels(json!({"linkerd.io/is-control-plane": "true"})), &[]),
        with(
            "annotation-on-workload",
            deployment(json!({"annotations": enabled()}), json!({})),
            &["Deployment: \"linkerd.io/inject\" is read in its pod template only"],
        ),
        with(
            "annotation-on-workload",
            Ask::workload(
                "CronJob",
                json!({"annotations": {"linkerd.io/inject": "enabled", "config.linkerd.io/proxy-uid": "7"}}),
                json!({}),
                json!({}),
            ),
            &["CronJob: \"linkerd.io/inject\" is read in its pod template only, as is 1 other"],
        ),
        with(
            "annotation-on-workload",
            deployment(
                json!({"annotations": {"config.linkerd.io/proxy-uid": "7", "config.linkerd.io/skip-inbound-ports": "7", "config.linkerd.io/admin-port": "7"}}),
                enabled(),
            ),
            &["Deployment: \"config.linkerd.io/admin-port\" is read in its pod template only, as are 2 others"],
        ),
        with(
            "annotation-on-workload",
            deployment(json!({"annotations": {"linkerd.io/inject": "disabled"}}), json!({})).namespace(enabled()),
            &["Deployment: \"linkerd.io/inject\" is read in its pod template only"],
        ),
        with("annotation-on-workload", deployment(json!({"annotations": enabled()}), enabled()), &[]),
        with("annotation-on-workload", deployment(json!({"annotations": enabled()}), json!({})).namespace(enabled()), &[]),
        with("annotation-on-workload", deployment(json!({"annotations": {"config.linkerd.io/proxy-uid": "7"}}), json!({})), &[]),
        with("annotation-on-workload", deployment(json!({"annotations": {"a": "b"}}), enabled()), &[]),
        plain(
            "unknown-annotation",
            json!({"config.linkerd.io/proxy-cpu-limits": "1", "config.linkerd.io/colour": "red"}),
            json!({}),
            &[
                "annotations: \"config.linkerd.io/colour\" is unknown",
                "annotations: \"config.linkerd.io/proxy-cpu-limits\" is unknown; did you mean proxy-cpu-limit",
            ],
        ),
        with(
            "unknown-annotation",
            Ask::meshed(json!({}), json!({})).namespace(json!({"config.linkerd.io/proxy-wait-before-exit-seconds": "4"})),
            &[
                "namespace's annotations: \"config.linke…\" is unknown; did you mean config.alpha.linkerd.io/proxy-wait-before-exit-seconds",
            ],
        ),
        with(
            "unknown-annotation",
            deployment(json!({}), json!({"linkerd.io/inject": "enabled", "config.linkerd.io/skip-inbond-ports": "1"})),
            &["annotations: \"config.linkerd.io/skip-inbond-ports\" is unknown; did you mean skip-inbound-ports"],
        ),
        plain(
            "unknown-annotation",
            json!({"config.linkerd.io/proxy-cpu-limit": "1", "config.linkerd.io/trace-collector": "x", "linkerd.io/x": "", "a.io/b": ""}),
            json!({}),
            &[],
        ),
        with("unknown-annotation", Ask::pod(json!({"config.linkerd.io/proxy-cpu-limits": "1"}), json!({})), &[]),
        with(
            "unknown-annotation",
            service(json!({"config.linkerd.io/opaque-port": "1", "config.linkerd.io/opaque-ports": "2"})),
            &["annotations: \"config.linkerd.io/opaque-port\" is unknown; did you mean opaque-ports"],
        ),
        with("unknown-annotation", service(json!({"config.linkerd.io/opaque-ports": "1"})), &[]),
    ]
}

fn of_namespaces() -> Vec<Try> {
    let in_level = |ask: Ask, level: &str| ask.labels(enforced(level));
    let debug = || json!({"config.linkerd.io/enable-debug-sidecar": "true"});
    vec![
        with(
            "pod-security",
            in_level(Ask::meshed(json!({}), json!({})), "restricted"),
            &["namespace: its pod security level restricted refuses linkerd-init: it adds NET_ADMIN and NET_RAW; use linkerd-cni"],
        ),
        with(
            "pod-security",
            in_level(Ask::meshed(json!({}), json!({})), "baseline"),
            &["namespace: its pod security level baseline refuses linkerd-init: it adds NET_ADMIN and NET_RAW; use linkerd-cni"],
        ),
        with(
            "pod-security",
            in_level(Ask::meshed(json!({}), json!({})).values(json!({"proxyInit": {"privileged": true}})), "baseline"),
            &["namespace: its pod security level baseline refuses linkerd-init: it is privileged; use linkerd-cni"],
        ),
        with(
            "pod-security",
            in_level(cni(debug(), json!({})), "restricted"),
            &["namespace: its pod security level restricted refuses linkerd-debug: allowPrivilegeEscalation is not false"],
        ),
        with(
            "pod-security",
            in_level(
                Ask::meshed(json!({}), json!({}))
                    .values(json!({"cniEnabled": true, "proxy": {"securityContext": {"allowPrivilegeEscalation": false}}})),
                "restricted",
            ),
            &["namespace: its pod security level restricted refuses linkerd-proxy: it does not drop ALL"],
        ),
        with("pod-security", in_level(cni(json!({}), json!({})), "restricted"), &[]),
        with("pod-security", in_level(cni(debug(), json!({})), "baseline"), &[]),
        with("pod-security", in_level(Ask::meshed(json!({}), json!({})), "privileged"), &[]),
        with(
            "pod-security",
            Ask::meshed(json!({}), json!({})).labels(json!({"pod-security.kubernetes.io/warn": "restricted"})),
            &[],
        ),
        with(
            "uid-out-of-range",
            openshift(json!({"config.linkerd.io/proxy-uid": "2102"}), RANGE, "apply"),
            &["pod: the proxy's user 2102 is outside of the range 1001060000/10000 of openshift.io/sa.scc.uid-range"],
        ),
        with(
            "uid-out-of-range",
            openshift(json!({}), RANGE, "apply").values(json!({"proxy": {"uid": 7}})),
            &["pod: the proxy's user 7 is outside of the range 1001060000/10000 of openshift.io/sa.scc.uid-range"],
        ),
        with("uid-out-of-range", openshift(json!({}), RANGE, "apply"), &[]),
        with("uid-out-of-range", openshift(json!({"config.linkerd.io/proxy-uid": "1001069999"}), RANGE, "apply"), &[]),
        with("uid-out-of-range", openshift(json!({"config.linkerd.io/proxy-uid": "7"}), RANGE, "ignore"), &[]),
        with(
            "uid-range",
            openshift(json!({}), "many", "apply"),
            &["namespace: its openshift.io/sa.scc.uid-range is not a range of two users or more, as 1001060000/10000"],
        ),
        with("uid-range", openshift(json!({}), "many", "ignore"), &[]),
        with("uid-range", openshift(json!({}), "1000-1999", "apply"), &[]),
    ]
}

fn of_limit_ranges() -> Vec<Try> {
    let amounts = |cpu: (&str, &str), memory: (&str, &str)| {
        let rows = [("cpu-request", cpu.0), ("cpu-limit", cpu.1), ("memory-request", memory.0), ("memory-limit", memory.1)];
        let set = rows.iter().filter(|(_, text)| !text.is_empty());
        Value::Object(set.map(|(key, text)| (format!("config.linkerd.io/proxy-{key}"), json!(text))).collect())
    };
    let asking = |annotations: Value| Ask::meshed(annotations, json!({}));
    let app_with = |memory: &str| app(json!({"resources": {"limits": {"memory": memory}}}));
    let most = || json!([{"type": "Pod", "max": {"memory": "128Mi"}}]);
    vec![
        with(
            "limit-range",
            asking(amounts(("10m", "2"), ("", "512Mi")))
                .limits(json!([{"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "1", "memory": "256Mi"}}])),
            &[
                "namespace: a LimitRange raises the proxy's cpu request from 10m to 100m",
                "namespace: a LimitRange lowers the proxy's cpu limit from 2 to 1",
                "namespace: a LimitRange lowers the proxy's memory limit from 512Mi to 256Mi",
            ],
        ),
        with(
            "limit-range",
            asking(amounts(("100m", "1"), ("", ""))).limits(json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "4"}}])),
            &["namespace: a LimitRange raises the proxy's cpu request from 100m to 250m"],
        ),
        with(
            "limit-range",
            asking(amounts(("20m", ""), ("", ""))).limits(json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "4"}}])),
            &["namespace: a LimitRange sets the proxy's cpu limit to 80m"],
        ),
        with("limit-range", asking(json!({})).limits(json!([{"type": "Container", "min": {"cpu": "100m"}}])), &[]),
        with(
            "limit-range-unmet",
            asking(json!({})).limits(json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "4"}}])),
            &["namespace: a LimitRange refuses linkerd-proxy: its cpu ratio needs a request; set proxy-cpu-request"],
        ),
        with(
            "limit-range-unmet",
            asking(json!({"config.linkerd.io/proxy-cpu-request": "1", "config.linkerd.io/enable-debug-sidecar": "true"}))
                .limits(json!([{"type": "Container", "maxLimitRequestRatio": {"cpu": "4"}}])),
            &[
                "namespace: a LimitRange refuses linkerd-debug: its cpu ratio needs a request; give it a default",
                "namespace: a LimitRange sets the proxy's cpu limit to 4",
            ],
        ),
        with(
            "limit-range-unmet",
            asking(json!({"config.linkerd.io/enable-debug-sidecar": "true"}))
                .limits(json!([{"type": "Container", "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "4"}}])),
            &[],
        ),
        with(
            "limit-range",
            asking(amounts(("100m", ""), ("", ""))).limits(json!([{"type": "Container", "min": {"cpu": "0.1"}}])),
            &[],
        ),
        with(
            "limit-range",
            asking(amounts(("10m", ""), ("", "")))
                .object(json!({
                    "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits", "namespace": "other"},
                    "spec": {"limits": [{"type": "Container", "min": {"cpu": "1"}}]},
                }))
                .settings(json!({"limitRange": "apply"})),
            &[],
        ),
        with(
            "limit-range-of-pods",
            Ask::meshed(amounts(("", ""), ("", "100Mi")), app_with("64Mi")).limits(most()),
            &[
                "pod: its memory requests come to 171966464 with the proxy's, and a LimitRange allows pods 128Mi",
                "pod: its memory limits come to 171966464 with the proxy's, and a LimitRange allows pods 128Mi",
            ],
        ),
        with("limit-range-of-pods", Ask::meshed(amounts(("", ""), ("", "64Mi")), app_with("64Mi")).limits(most()), &[]),
        with(
            "limit-range-of-pods",
            Ask::meshed(amounts(("20m", "1"), ("", "")), json!({}))
                .limits(json!([{"type": "Pod", "maxLimitRequestRatio": {"cpu": "4"}}])),
            &["pod: its cpu limits come to 1 for requests of 20m with the proxy's, and a LimitRange allows pods a ratio of 4"],
        ),
        with(
            "limit-ranges-unread",
            asking(json!({})).settings(json!({"limitRange": "apply"})).lists_fail(),
            &[
                "namespace: resources are as configured: LimitRanges are forbidden: grant list and watch on them to the policy …",
                "… server's service account",
            ],
        ),
        with("limit-ranges-unread", asking(json!({})).lists_fail(), &[]),
        with("limit-ranges-unread", asking(json!({})).settings(json!({"limitRange": "apply"})), &[]),
    ]
}
