//! The table: which entry applies when, what it may touch, and what it does.

use super::reading::{LinkerdResult, Reading};
use super::{
    Deviation, Expected, cni, decide, env, faults, images, inherit, metadata, numbers, object, opaque, pod_resources, ports,
    resources, security, text, times,
};
use serde_json::{Value, json};

/// Every deliberate difference, in the order in which they are applied.
pub const DEVIATIONS: &[Deviation] = &[
    Deviation {
        id: "D24",
        title: "a request for a sub-resource is returned as it is",
        paths: &["*"],
        applies: decide::d24_applies,
        twin: no_twin,
        apply: decide::d24_apply,
    },
    Deviation {
        id: "D06",
        title: "an invalid inject value on the namespace does not outvote the pod's own valid one",
        paths: &["*"],
        applies: decide::d06_applies,
        twin: decide::d06_twin,
        apply: as_it_is,
    },
    Deviation {
        id: "D18",
        title: "sidecars are also known by digest and by the configured image; leftovers are none",
        paths: &["*"],
        applies: decide::d18_applies,
        twin: decide::d18_twin,
        apply: decide::d18_apply,
    },
    Deviation {
        id: "D22",
        title: "Windows pods are skipped",
        paths: &["*"],
        applies: decide::d22_applies,
        twin: no_twin,
        apply: decide::d22_apply,
    },
    Deviation {
        id: "D11",
        title: "a typo does not deny the pod: what is configured holds",
        paths: &["*"],
        applies: faults::d11_applies,
        twin: faults::d11_twin,
        apply: faults::d11_apply,
    },
    Deviation {
        id: "D01",
        title: "any text arrives intact: no unescaped pasting, no rewriting of },], no HTML",
        paths: &["*"],
        applies: text::d01_applies,
        twin: text::d01_twin,
        apply: text::d01_apply,
    },
    Deviation {
        id: "D02",
        title: "whole numbers are printed as such, not as floats",
        paths: &[
            "spec/initContainers[linkerd-init]/args",
            "spec/*[linkerd-proxy]/env[LINKERD2_PROXY_*]/value",
            "spec/*[linkerd-proxy]/lifecycle/preStop",
        ],
        applies: numbers::d02_applies,
        twin: no_twin,
        apply: numbers::d02_apply,
    },
    Deviation {
        id: "D19",
        title: "leftovers of an earlier injection are replaced, not duplicated",
        paths: &["spec/volumes", "spec/initContainers", "spec/containers"],
        applies: inherit::d19_applies,
        twin: no_twin,
        apply: inherit::d19_apply,
    },
    Deviation {
        id: "D04",
        title: "every config key that works on a pod is inherited from its namespace",
        paths: &["metadata/annotations", "spec/containers", "spec/initContainers"],
        applies: inherit::d04_applies,
        twin: no_twin,
        apply: inherit::d04_apply,
    },
    Deviation {
        id: "D05",
        title: "the pod's own native-sidecar keys come before the namespace's",
        paths: &["spec/containers", "spec/initContainers"],
        applies: inherit::d05_applies,
        twin: no_twin,
        apply: inherit::d05_apply,
    },
    Deviation {
        id: "D20",
        title: "the annotations file that the proxy is told of is mounted",
        paths: &["spec/volumes[linkerd-podinfo]/downwardAPI/items"],
        applies: d20_applies,
        twin: no_twin,
        apply: d20_apply,
    },
    Deviation {
        id: "D21",
        title: "networkValidator.enableSecurityContext and proxy.requireTLSOnInboundPorts are honoured",
        paths: &["spec/initContainers[linkerd-network-validator]/securityContext", "spec/*[linkerd-proxy]/env"],
        applies: env::d21_applies,
        twin: no_twin,
        apply: env::d21_apply,
    },
    Deviation {
        id: "D03",
        title: "pod-inbound-ports replaces the detected list",
        paths: &["spec/*[linkerd-proxy]/env[LINKERD2_PROXY_INBOUND_PORTS]/value"],
        applies: ports::d03_applies,
        twin: no_twin,
        apply: ports::d03_apply,
    },
    Deviation {
        id: "D07",
        title: "inbound ports: numeric order, all probes, TCP only",
        paths: &["spec/*[linkerd-proxy]/env[LINKERD2_PROXY_INBOUND_PORTS]/value"],
        applies: ports::d07_applies,
        twin: no_twin,
        apply: ports::d07_apply,
    },
    Deviation {
        id: "D10",
        title: "port overrides are 1 to 65535 and no two are equal",
        paths: &[
            "spec/*[linkerd-proxy]/env[LINKERD2_PROXY_*_LISTEN_ADDR*]/value",
            "spec/*[linkerd-proxy]/ports",
            "spec/*[linkerd-proxy]/*Probe/httpGet/port",
            "spec/*[linkerd-proxy]/lifecycle/postStart",
            "spec/initContainers[linkerd-init]/args",
        ],
        applies: ports::d10_applies,
        twin: no_twin,
        apply: ports::d10_apply,
    },
    Deviation {
        id: "D08",
        title: "skip lists are parsed: trimmed, names resolved, bad and double entries dropped",
        paths: &["spec/initContainers[linkerd-init]/args"],
        applies: ports::d08_applies,
        twin: no_twin,
        apply: ports::d08_apply,
    },
    Deviation {
        id: "D09",
        title: "the default opaque ports are ranges, and each port is listed once",
        paths: &["outcome", "metadata", "spec/*[linkerd-proxy]/env[LINKERD2_PROXY_INBOUND_PORTS_DISABLE_PROTOCOL_DETECTION]"],
        applies: opaque::d09_applies,
        twin: no_twin,
        apply: opaque::d09_apply,
    },
    Deviation {
        id: "D12",
        title: "durations are exact",
        paths: &[
            "spec/*[linkerd-proxy]/env[LINKERD2_PROXY_*_TIMEOUT]/value",
            "spec/*[linkerd-proxy]/env[LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD]/value",
        ],
        applies: times::d12_applies,
        twin: no_twin,
        apply: times::d12_apply,
    },
    Deviation {
        id: "D13",
        title: "the proxy's user is 1 to 2147483647",
        paths: &["spec/*[linkerd-proxy]/securityContext/runAsUser", "spec/initContainers[linkerd-init]/args"],
        applies: resources::d13_applies,
        twin: no_twin,
        apply: resources::d13_apply,
    },
    Deviation {
        id: "D30",
        title: "image references are such that a container runtime can read them",
        paths: &["spec/*[linkerd-*]/image", "metadata/annotations[linkerd.io/proxy-version]"],
        applies: images::d30_applies,
        twin: no_twin,
        apply: images::d30_apply,
    },
    Deviation {
        id: "D26",
        title: "a value that the API server refuses is not written",
        paths: &[
            "spec/*[linkerd-*]/resources",
            "spec/*[linkerd-*]/imagePullPolicy",
            "spec/*[linkerd-proxy]/securityContext/runAsGroup",
            "spec/*[linkerd-proxy]/env",
            "spec/initContainers[linkerd-init]/args",
        ],
        applies: d26_applies,
        twin: no_twin,
        apply: d26_apply,
    },
    Deviation {
        id: "D31",
        title: "a quantity with an exponent beyond 999 is ignored",
        paths: &["spec/*[linkerd-*]/resources", "spec/*[linkerd-proxy]/env[LINKERD2_PROXY_CORES*]"],
        applies: resources::d31_applies,
        twin: no_twin,
        apply: resources::d31_apply,
    },
    Deviation {
        id: "D34",
        title: "an additional variable's divisor is spelt as the API spells it, its file lies in an emptyDir of the pod",
        paths: &["spec/*[linkerd-proxy]/env"],
        applies: env::d34_applies,
        twin: no_twin,
        apply: env::d34_apply,
    },
    Deviation {
        id: "D27",
        title: "a value that the proxy or linkerd-init cannot read is not written",
        paths: &[
            "spec/*[linkerd-proxy]/env",
            "spec/initContainers[linkerd-init]/args",
            "spec/initContainers[linkerd-init]/securityContext",
        ],
        applies: times::d27_applies,
        twin: no_twin,
        apply: times::d27_apply,
    },
    Deviation {
        id: "D32",
        title: "skipped subnets are on one line, with prefixes that iptables takes",
        paths: &["spec/initContainers[linkerd-init]/args"],
        applies: times::d32_applies,
        twin: no_twin,
        apply: times::d32_apply,
    },
    Deviation {
        id: "D33",
        title: "an additional variable that the proxy reads but cannot run with is left out",
        paths: &["spec/*[linkerd-proxy]/env"],
        applies: env::d33_applies,
        twin: no_twin,
        apply: env::d33_apply,
    },
    Deviation {
        id: "D35",
        title: "additional variables that do not fit together with the others are left out",
        paths: &["spec/*[linkerd-proxy]/env"],
        applies: env::d35_applies,
        twin: no_twin,
        apply: env::d35_apply,
    },
    Deviation {
        id: "D16",
        title: "an additional variable replaces the one of its name",
        paths: &["spec/*[linkerd-proxy]/env"],
        applies: env::d16_applies,
        twin: no_twin,
        apply: env::d16_apply,
    },
    Deviation {
        id: "D14",
        title: "capabilities that the application adds go nowhere else",
        paths: &[
            "spec/*[linkerd-proxy]/securityContext/capabilities",
            "spec/initContainers[linkerd-init]/securityContext/capabilities/add",
        ],
        applies: security::d14_applies,
        twin: no_twin,
        apply: security::d14_apply,
    },
    Deviation {
        id: "D15",
        title: "the proxy drops all capabilities",
        paths: &["spec/*[linkerd-proxy]/securityContext/capabilities"],
        applies: security::d15_applies,
        twin: no_twin,
        apply: security::d15_apply,
    },
    Deviation {
        id: "D29",
        title: "linkerd-init keeps NET_ADMIN and NET_RAW however the application spells them",
        paths: &["spec/initContainers[linkerd-init]/securityContext/capabilities/drop"],
        applies: security::d29_applies,
        twin: no_twin,
        apply: security::d29_apply,
    },
    Deviation {
        id: "D28",
        title: "the owner of a Deployment's pod is read off its names",
        paths: &["metadata/labels"],
        applies: metadata::d28_applies,
        twin: no_twin,
        apply: metadata::d28_apply,
    },
    Deviation {
        id: "D17",
        title: "owner labels that fit, of CronJobs too, and of the owner that is the controller",
        paths: &["metadata/labels"],
        applies: metadata::d17_applies,
        twin: no_twin,
        apply: metadata::d17_apply,
    },
    Deviation {
        id: "D23",
        title: "kubectl's default container stays the application's",
        paths: &["metadata/annotations[kubectl.kubernetes.io/default-container]"],
        applies: metadata::d23_applies,
        twin: no_twin,
        apply: metadata::d23_apply,
    },
    Deviation {
        id: "D25",
        title: "the created-by annotation names this policy",
        paths: &["metadata/annotations[linkerd.io/created-by]"],
        applies: metadata::d25_applies,
        twin: no_twin,
        apply: metadata::d25_apply,
    },
    Deviation {
        id: "D39",
        title: "the injected containers' resources fit into those of the pod as a whole",
        paths: &["spec/*[linkerd-*]/resources"],
        applies: pod_resources::d39_applies,
        twin: no_twin,
        apply: pod_resources::d39_apply,
    },
    Deviation {
        id: "D36",
        title: "an annotation records what a later call needs to merge",
        paths: &["metadata/annotations[linkerd.io/injection-record]"],
        applies: metadata::d36_applies,
        twin: no_twin,
        apply: metadata::d36_apply,
    },
    Deviation {
        id: "D37",
        title: "an annotation says what a person should know of the injection",
        paths: &["metadata/annotations[linkerd.io/injection-warnings]"],
        applies: metadata::d37_applies,
        twin: no_twin,
        apply: metadata::d37_apply,
    },
    Deviation {
        id: "D38",
        title: "in CNI mode, what a pod inherits is written as linkerd-cni reads it",
        paths: &[
            "metadata/annotations[config.linkerd.io/skip-*]",
            "metadata/annotations[config.linkerd.io/proxy-uid]",
            "metadata/annotations[config.linkerd.io/proxy-gid]",
        ],
        applies: cni::d38_applies,
        twin: no_twin,
        apply: cni::d38_apply,
    },
];

/// For entries that start from Linkerd's own answer.
pub fn no_twin(_: &Reading, _: &LinkerdResult) -> Option<Reading> {
    None
}

/// For entries whose twin says it all.
pub fn as_it_is(_: &Reading, _: &mut Expected) {}

fn d26_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && (resources::d26_applies(case) || images::d26_applies(case) || env::applies(case, "D26"))
}

fn d26_apply(case: &Reading, expected: &mut Expected) {
    resources::d26_apply(case, &mut expected.object);
    images::d26_apply(case, &mut expected.object);
    env::apply(case, &mut expected.object, "D26");
}

fn d20_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && resources::traces(case)
}

fn d20_apply(_: &Reading, expected: &mut Expected) {
    let item = json!({"path": "annotations", "fieldRef": {"fieldPath": "metadata.annotations"}});
    let volumes = object::elements(&mut expected.object, "volumes");
    for volume in volumes.filter(|volume| object::is_named(volume, "linkerd-podinfo")) {
        if let Some(items) = volume.pointer_mut("/downwardAPI/items").and_then(Value::as_array_mut) {
            items.push(item.clone());
        }
    }
}
