//! Every failure through the host, natively and as a module: each look-up fails in each way, for each kind of object, under each
//! setting of `onError`; and requests that cannot be answered as they stand.
//!
//! The expectations are computed from a few lines of the rules: a failure touches no object that stays out of the mesh, and
//! leaves none that might belong into it unmeshed in silence.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use std::{sync::Arc, thread, time::Duration};

use e2e_tests::{
    admission::Admission,
    artefacts,
    case::control_plane,
    cluster::{Answer, Asked, Cluster, Faults, Manifests},
    host::{Grants, Host},
    policy::{Policy, Response},
    query::Query,
    refusal::Refusal,
};
use linkerd_injector_policy::warning::parted;
use serde_json::{Value, json};

/// Stands for what no answer may show.
const SECRET: &str = "hunter2-s3cret";
const ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/// What can be looked up, in the order in which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LookUp {
    Namespace,
    Config,
    Roots,
    ReplicaSet,
    Job,
    LimitRanges,
}

impl LookUp {
    const ALL: [LookUp; 6] =
        [LookUp::Namespace, LookUp::Config, LookUp::Roots, LookUp::ReplicaSet, LookUp::Job, LookUp::LimitRanges];

    fn api_version(self) -> &'static str {
        match self {
            LookUp::ReplicaSet => "apps/v1",
            LookUp::Job => "batch/v1",
            _ => "v1",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            LookUp::Namespace => "Namespace",
            LookUp::Config | LookUp::Roots => "ConfigMap",
            LookUp::ReplicaSet => "ReplicaSet",
            LookUp::Job => "Job",
            LookUp::LimitRanges => "LimitRange",
        }
    }

    fn name(self) -> &'static str {
        match self {
            LookUp::Namespace => "shop",
            LookUp::Config => "linkerd-config",
            LookUp::Roots => "linkerd-identity-trust-roots",
            LookUp::ReplicaSet => "web-6f7c0",
            LookUp::Job => "nightly-1",
            // All are asked for at once.
            LookUp::LimitRanges => "",
        }
    }

    /// As messages call it.
    fn target(self) -> String {
        match self {
            LookUp::Namespace => "Namespace shop".to_owned(),
            LookUp::Config | LookUp::Roots => format!("ConfigMap mesh/{}", self.name()),
            LookUp::ReplicaSet | LookUp::Job => format!("{} shop/{}", self.kind(), self.name()),
            LookUp::LimitRanges => "LimitRanges".to_owned(),
        }
    }

    /// Whether the pod can be injected without an answer.
    fn is_dispensable(self) -> bool {
        matches!(self, LookUp::ReplicaSet | LookUp::Job | LookUp::LimitRanges)
    }

    fn is(self, query: &Query) -> bool {
        query.resource() == Some((self.api_version(), self.kind())) && query.name().unwrap_or_default() == self.name()
    }
}

/// How a look-up can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NotFound,
    Forbidden,
    KindNotGranted,
    CapabilityNotGranted,
    UnknownKind,
    NoCluster,
    ChannelFull,
    ChannelClosed,
    Garbage,
    Nothing,
    NotUtf8,
    WrongShape,
    EmptyObject,
    /// It takes its time: no fault, but one of hosts, and nothing comes of it. How long an answer may take is the policy server's matter.
    Slow,
}

impl Fault {
    const ALL: [Fault; 14] = [
        Fault::NotFound,
        Fault::Forbidden,
        Fault::KindNotGranted,
        Fault::CapabilityNotGranted,
        Fault::UnknownKind,
        Fault::NoCluster,
        Fault::ChannelFull,
        Fault::ChannelClosed,
        Fault::Garbage,
        Fault::Nothing,
        Fault::NotUtf8,
        Fault::WrongShape,
        Fault::EmptyObject,
        Fault::Slow,
    ];

    /// The first look-up that the fault hits, when it is brought about at this one: a grant is of a kind, or of all.
    fn hits(self, at: LookUp) -> LookUp {
        match (self, at) {
            (Fault::CapabilityNotGranted, _) => LookUp::Namespace,
            (Fault::KindNotGranted, LookUp::Roots) => LookUp::Config,
            (_, at) => at,
        }
    }

    /// What a person is told after the name of what was looked up.
    fn told(self, at: LookUp) -> String {
        match self {
            Fault::NotFound if at.kind() == "ConfigMap" => " not found: create it, or correct controlPlaneNamespace".to_owned(),
            Fault::NotFound => " not found".to_owned(),
            Fault::Forbidden if at == LookUp::LimitRanges => {
                " are forbidden: grant list and watch on them to the policy server's service account".to_owned()
            }
            Fault::Forbidden => " is forbidden: grant get on it to the policy server's service account".to_owned(),
            Fault::KindNotGranted => {
                let are = if at == LookUp::LimitRanges { "are" } else { "is" };
                format!(" {are} not granted: list {} in the policy's contextAwareResources", at.kind())
            }
            Fault::CapabilityNotGranted => {
                " is not granted: allow kubernetes/get_resource in the policy's hostCapabilities".to_owned()
            }
            Fault::UnknownKind | Fault::NoCluster | Fault::ChannelFull | Fault::ChannelClosed => {
                " cannot be read: no answer from the API server".to_owned()
            }
            Fault::Garbage | Fault::Nothing | Fault::NotUtf8 | Fault::WrongShape => {
                " cannot be used: the answer is not of its shape".to_owned()
            }
            Fault::EmptyObject => match at {
                LookUp::Config => " cannot be used: it has no values".to_owned(),
                LookUp::Roots => " cannot be used: it has no ca-bundle.crt".to_owned(),
                _ => " cannot be used: the answer is not of its shape".to_owned(),
            },
            Fault::Slow => String::new(),
        }
    }

    /// The cluster in which the look-up fails so.
    fn cluster(self, at: LookUp, around: Manifests) -> Faults {
        Faults::new(around, move |query| at.is(query).then(|| self.answer(at)).flatten())
    }

    fn answer(self, at: LookUp) -> Option<Answer> {
        let refused = |refusal| Some(Err(refusal));
        match self {
            Fault::NotFound => {
                let namespace = (at != LookUp::Namespace).then_some("a");
                refused(Refusal::not_found(at.api_version(), at.kind(), at.name(), namespace))
            }
            Fault::Forbidden => refused(Refusal::forbidden("", &format!("{}s", at.kind().to_lowercase()), at.name(), Some(SECRET))),
            Fault::KindNotGranted | Fault::CapabilityNotGranted => None,
            Fault::UnknownKind => refused(Refusal::unknown_kind(at.api_version(), at.kind())),
            Fault::NoCluster => refused(Refusal::no_cluster()),
            Fault::ChannelFull => {
                refused(Refusal::Denied(format!("Error sending request over callback channel: no available capacity {SECRET}")))
            }
            Fault::ChannelClosed => {
                refused(Refusal::Denied(format!("Error sending request over callback channel: channel closed {SECRET}")))
            }
            Fault::Garbage => Some(Ok(SECRET.as_bytes().to_vec())),
            Fault::Nothing => Some(Ok(Vec::new())),
            Fault::Slow => {
                thread::sleep(Duration::from_millis(20));
                None
            }
            Fault::NotUtf8 => Some(Ok(b"{\"metadata\":{\"labels\":{\"a\":\"\xff\"}},\"data\":{\"a\":\"\xff\"}}".to_vec())),
            Fault::WrongShape => Some(Ok(json!({"metadata": SECRET, "data": SECRET}).to_string().into_bytes())),
            Fault::EmptyObject => Some(Ok(b"{}".to_vec())),
        }
    }

    /// What the policy is granted.
    fn grants(self, at: LookUp) -> Grants {
        let others = LookUp::ALL.iter().filter(|look_up| look_up.kind() != at.kind());
        let others: Vec<(&str, &str)> = others.map(|look_up| (look_up.api_version(), look_up.kind())).collect();
        match self {
            Fault::KindNotGranted => Grants::resources(&others),
            Fault::CapabilityNotGranted => Grants::capabilities(&["oci/*", "kubernetes/can_i"]),
            _ => Grants::default(),
        }
    }

    /// Whether the host refuses that look-up itself, so that the cluster never hears of it.
    fn denies(self, at: LookUp, look_up: LookUp) -> bool {
        match self {
            Fault::KindNotGranted => look_up.kind() == at.kind(),
            Fault::CapabilityNotGranted => true,
            _ => false,
        }
    }
}

/// An object of the cluster's users, and what the policy does with it when nothing fails.
struct Subject {
    name: &'static str,
    kind: &'static str,
    object: Value,
    /// The annotation of its namespace.
    namespace: Option<&'static str>,
    /// What is looked up for it.
    look_ups: &'static [LookUp],
    /// Whether it stays out of the mesh whatever its namespace says, and why.
    stays_out: Option<&'static str>,
    /// How it ends.
    end: &'static str,
}

const TO_OPAQUE_PORTS: &[LookUp] = &[LookUp::Namespace, LookUp::Config];
const OF_A_REPLICA_SET: &[LookUp] = &[LookUp::Namespace, LookUp::Config, LookUp::Roots, LookUp::ReplicaSet, LookUp::LimitRanges];
const OF_A_JOB: &[LookUp] = &[LookUp::Namespace, LookUp::Config, LookUp::Roots, LookUp::Job, LookUp::LimitRanges];

fn pod(annotations: Value, host_network: bool) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": "web-", "annotations": annotations,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6f7c0", "uid": "1", "controller": true}],
        },
        "spec": {
            "hostNetwork": host_network,
            "containers": [{"name": "app", "image": "i", "ports": [{"containerPort": 3306}], "env": [{"name": "A", "value": SECRET}]}],
        },
    })
}

fn subjects() -> Vec<Subject> {
    let meshed = |name, object, namespace| Subject {
        name,
        kind: "Pod",
        object,
        namespace,
        look_ups: OF_A_REPLICA_SET,
        stays_out: None,
        end: "injected",
    };
    let out = |name, object, namespace, reason| Subject {
        name,
        kind: "Pod",
        object,
        namespace,
        look_ups: TO_OPAQUE_PORTS,
        stays_out: Some(reason),
        end: reason,
    };
    let enabled = || json!({"linkerd.io/inject": "enabled"});
    let mut nightly = pod(enabled(), false);
    nightly["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "nightly-1", "uid": "3", "controller": true}]);
    let template = |annotations: Value| {
        let metadata = json!({"name": "web"});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": pod(annotations, false)}})
    };
    // Its pods' trust anchors and owner are nothing to tell its author of.
    let of_template = &[LookUp::Namespace, LookUp::Config, LookUp::LimitRanges];
    let deployment = |name, object, namespace| Subject {
        kind: "Deployment",
        look_ups: of_template,
        end: "workload_checked",
        ..meshed(name, object, namespace)
    };
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": [{"port": 3306}]}});
    vec![
        meshed("a pod that asks", pod(enabled(), false), None),
        meshed("a pod that asks as an ingress", pod(json!({"linkerd.io/inject": "ingress"}), false), Some("disabled")),
        meshed("a pod whose namespace asks", pod(json!({}), false), Some("enabled")),
        Subject { look_ups: OF_A_JOB, ..meshed("a pod of a job", nightly, None) },
        deployment("a template that asks", template(enabled()), None),
        deployment("a template whose namespace asks", template(json!({})), Some("enabled")),
        Subject {
            look_ups: TO_OPAQUE_PORTS,
            end: "injection_enable_annotation_absent",
            ..meshed("a pod that no one asks for", pod(json!({}), false), None)
        },
        out(
            "a disabled pod",
            pod(json!({"linkerd.io/inject": "disabled"}), false),
            Some("enabled"),
            "injection_disable_annotation_present",
        ),
        out("a pod on the host's network", pod(json!({}), true), Some("enabled"), "host_network_enabled"),
        Subject { kind: "Service", ..out("a service", service, Some("enabled"), "unsupported_resource") },
    ]
}

fn cluster(namespace: Option<&str>) -> Manifests {
    let annotations = namespace.map_or_else(|| json!({}), |inject| json!({"linkerd.io/inject": inject}));
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "2"});
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "annotations": annotations}}),
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web-6f7c0", "namespace": "shop", "ownerReferences": [owner]}}),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "nightly-1", "namespace": "shop", "ownerReferences":
            [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "4"}]}}),
        json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "shop"}, "spec": {"limits": []}}),
    ];
    objects.extend(control_plane("mesh", &json!({"proxy": {"accessLog": SECRET}}), ANCHORS));
    Manifests::new(objects)
}

fn request(kind: &str, object: &Value, operation: &str) -> Value {
    Admission { kind, namespace: "shop", operation, object, user: "jane" }.request()
}

/// What is asked, answered and logged.
struct Seen {
    response: Response,
    look_ups: Vec<String>,
    logged: Vec<String>,
}

fn ask(policy: &dyn Policy, request: &Value, settings: &Value, grants: Grants, cluster: impl Cluster + 'static) -> Seen {
    let asked = Asked::new(cluster);
    let host = Arc::new(Host::new(asked.clone()).with_grants(grants));
    let response = policy.respond(request, settings, &host).unwrap();
    let look_ups = asked.look_ups().into_iter().map(|(_, kind, name)| format!("{kind} {}", name.unwrap_or_default())).collect();
    let logged: Vec<String> = host.logged().iter().map(ToString::to_string).collect();
    let shown = format!("{:?} {:?} {:?} {logged:?}", response.message, response.warnings, response.audit_annotations);
    assert!(!shown.contains(SECRET), "a secret is shown: {shown}");
    // A decision is one line; the others are about failures.
    let (decided, logged): (Vec<String>, Vec<String>) = logged.into_iter().partition(|line| line.starts_with("INFO "));
    let of_workload = request["kind"]["kind"] == "Deployment";
    assert_eq!(decided.len(), usize::from(!of_workload && is_decision(&response)), "{shown}");
    Seen { response, look_ups, logged }
}

/// Whether an answer decides about an object that is handled.
fn is_decision(response: &Response) -> bool {
    let reason = response.audit("reason").unwrap_or_default();
    reason != "error" && !reason.ends_with("_not_handled") && reason != "no_object"
}

fn settings(on_error: &str) -> Value {
    json!({"controlPlaneNamespace": "mesh", "onError": on_error, "limitRange": "apply"})
}

/// An answer to a failure, by the setting.
fn assert_failed(response: &Response, message: &str, on_error: &str, context: &str) {
    assert_eq!(response.mutated_object, None, "{context}");
    assert_eq!((response.audit("injected"), response.audit("reason")), (Some("false"), Some("error")), "{context}");
    if on_error == "skip" {
        assert!(response.accepted, "{context}");
        assert_eq!((&response.message, response.code), (&None, None), "{context}");
        assert_eq!(response.warnings.as_deref(), Some(&parted(&format!("not injected: {message}"))[..]), "{context}");
    } else {
        assert!(!response.accepted, "{context}");
        assert_eq!(response.message, Some(format!("linkerd-injector-policy: {message}")), "{context}");
        assert_eq!((response.code, &response.warnings), (Some(500), &None), "{context}");
    }
}

#[test]
fn every_look_up_fails_in_every_way() {
    let policies = artefacts::policies_or_skip("every_look_up_fails_in_every_way").unwrap();
    let mut count = 0;
    for subject in subjects() {
        for at in LookUp::ALL {
            for fault in Fault::ALL {
                for on_error in ["reject", "skip"] {
                    for policy in &policies {
                        assert_right(policy.as_ref(), &subject, at, fault, on_error);
                        count += 1;
                    }
                }
            }
        }
    }
    assert_eq!(count, 10 * 6 * 14 * 2 * policies.len());
}

fn assert_right(policy: &dyn Policy, subject: &Subject, at: LookUp, fault: Fault, on_error: &str) {
    let context = format!("{}: {at:?} {fault:?}, onError {on_error}, {}", subject.name, policy.name());
    let request = request(subject.kind, &subject.object, "CREATE");
    let around = fault.cluster(at, cluster(subject.namespace));
    let Seen { response, look_ups, logged } = ask(policy, &request, &settings(on_error), fault.grants(at), around);

    let failing = Some(fault.hits(at)).filter(|look_up| fault != Fault::Slow && subject.look_ups.contains(look_up));
    let told = failing.map(|look_up| format!("{}{}", look_up.target(), fault.told(look_up))).unwrap_or_default();
    // What can be done without the answer goes on after it.
    let goes_on = failing.is_none_or(LookUp::is_dispensable);
    let expected = subject.look_ups.iter().filter(|look_up| goes_on || **look_up <= failing.unwrap());
    let expected = expected.filter(|look_up| !fault.denies(at, **look_up));
    let expected: Vec<String> = expected.map(|look_up| format!("{} {}", look_up.kind(), look_up.name())).collect();
    assert_eq!(look_ups, expected, "{context}");

    let warned: Vec<String> = response.warnings.clone().unwrap_or_default();
    let unlimited = || parted(&format!("namespace: resources are as configured: {told}"));
    if subject.kind == "Deployment" {
        assert_eq!((response.accepted, &response.mutated_object), (true, &None), "{context}");
        let asks = subject.namespace.is_none();
        let (said, log) = match failing {
            None => (None, None),
            Some(LookUp::LimitRanges) => (Some(unlimited()), Some(format!("WARNING resources as configured: {told}"))),
            // Where its namespace cannot be read, nobody knows whether that asks.
            Some(look_up) => {
                let said = parted(&format!("Deployment: its pods cannot be injected: {told}"));
                (
                    Some(said).filter(|_| asks || look_up != LookUp::Namespace),
                    Some(format!("WARNING Deployment not checked: {told}")),
                )
            }
        };
        assert_eq!(warned, said.unwrap_or_default(), "{context}");
        assert_eq!(logged, log.into_iter().collect::<Vec<_>>(), "{context}");
        return;
    }
    match failing {
        None | Some(LookUp::ReplicaSet | LookUp::Job | LookUp::LimitRanges) => {
            let unlimited = Some(unlimited()).filter(|_| failing == Some(LookUp::LimitRanges)).unwrap_or_default();
            assert_eq!((response.accepted, warned), (true, unlimited), "{context}");
            let output = response.mutated_object.as_ref().unwrap_or_else(|| panic!("{context}: nothing changed"));
            if subject.end == "injected" {
                assert_eq!(response.audit("injected"), Some("true"), "{context}");
                let found = !matches!(failing, Some(LookUp::ReplicaSet | LookUp::Job));
                let owner = match (subject.look_ups == OF_A_JOB, found) {
                    (false, true) => "linkerd.io/proxy-deployment",
                    (false, false) => "linkerd.io/proxy-replicaset",
                    (true, true) => "linkerd.io/proxy-cronjob",
                    (true, false) => "linkerd.io/proxy-job",
                };
                assert!(output["metadata"]["labels"].get(owner).is_some(), "{context}: {}", output["metadata"]["labels"]);
            } else {
                assert_eq!(response.audit("reason"), Some(subject.end), "{context}");
                assert_eq!(output["metadata"]["annotations"]["config.linkerd.io/opaque-ports"], "3306", "{context}");
            }
            let of_limits = failing == Some(LookUp::LimitRanges);
            let quiet = failing.is_none() || (fault == Fault::NotFound && !of_limits);
            let line = format!("WARNING {}: {told}", if of_limits { "resources as configured" } else { "owner taken as the root" });
            assert_eq!(logged, if quiet { vec![] } else { vec![line] }, "{context}");
        }
        // Whether it is to be meshed is unknown, or how.
        Some(look_up) if subject.stays_out.is_none() && (subject.end == "injected" || look_up == LookUp::Namespace) => {
            assert_failed(&response, &told, on_error, &context);
            assert_eq!(logged, [format!("ERROR {told}")], "{context}");
        }
        // It stays out: let through as it is.
        Some(_) => {
            assert!(response.accepted, "{context}");
            assert_eq!((&response.mutated_object, &response.warnings), (&None, &None), "{context}");
            assert_eq!((response.audit("injected"), response.audit("reason")), (Some("false"), Some(subject.end)), "{context}");
            assert_eq!(logged, [format!("WARNING opaque ports not set: {told}")], "{context}");
        }
    }
}

/// What ConfigMaps may hold that cannot be used.
#[test]
fn configuration_that_cannot_be_used() {
    let policies = artefacts::policies_or_skip("configuration_that_cannot_be_used").unwrap();
    let table = [
        (LookUp::Config, json!({"values": SECRET}), "its values are not a YAML object"),
        (LookUp::Config, json!({"values": "- a"}), "its values are not a YAML object"),
        (LookUp::Config, json!({"values": format!("a: [{SECRET}")}), "its values are not a YAML object"),
        (LookUp::Config, json!({"values": "a: *b"}), "its values are not a YAML object"),
        (LookUp::Config, json!({"global": "a: b"}), "it has no values"),
        (LookUp::Roots, json!({"ca-bundle.crt": ""}), "its ca-bundle.crt is not a bundle of PEM certificates"),
        (LookUp::Roots, json!({"ca-bundle.crt": SECRET}), "its ca-bundle.crt is not a bundle of PEM certificates"),
        (
            LookUp::Roots,
            json!({"ca-bundle.crt": format!("-----BEGIN CERTIFICATE-----\n{SECRET}\n")}),
            "its ca-bundle.crt is not a bundle of PEM certificates",
        ),
        (LookUp::Roots, json!({"ca.crt": ANCHORS}), "it has no ca-bundle.crt"),
    ];
    for (at, data, problem) in table {
        let told = format!("{} cannot be used: {problem}", at.target());
        let answer = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data}).to_string();
        for subject in subjects().into_iter().filter(|subject| subject.kind != "Deployment") {
            for on_error in ["reject", "skip"] {
                for policy in &policies {
                    let context = format!("{}: {answer}, onError {on_error}, {}", subject.name, policy.name());
                    let answer = answer.clone();
                    let around =
                        Faults::new(cluster(subject.namespace), move |query| at.is(query).then(|| Ok(answer.clone().into_bytes())));
                    let request = request(subject.kind, &subject.object, "CREATE");
                    let seen = ask(policy.as_ref(), &request, &settings(on_error), Grants::default(), around);
                    if subject.end == "injected" {
                        assert_failed(&seen.response, &told, on_error, &context);
                        assert_eq!(seen.logged, [format!("ERROR {told}")], "{context}");
                    } else {
                        assert!(seen.response.accepted, "{context}");
                        assert_eq!(seen.response.mutated_object.is_none(), at == LookUp::Config, "{context}");
                        let line = format!("WARNING opaque ports not set: {told}");
                        assert_eq!(seen.logged, if at == LookUp::Config { vec![line] } else { vec![] }, "{context}");
                    }
                }
            }
        }
    }
}

#[test]
fn requests_that_cannot_be_read() {
    let policies = artefacts::policies_or_skip("requests_that_cannot_be_read").unwrap();
    let good = request("Pod", &pod(json!({"linkerd.io/inject": "enabled"}), false), "CREATE");
    let with = |path: &str, value: Value| {
        let mut request = good.clone();
        *request.pointer_mut(path).unwrap() = value;
        request
    };
    let without_kind = {
        let mut request = good.clone();
        request.as_object_mut().unwrap().remove("kind");
        request
    };
    let unread = "the admission request cannot be read: not of its shape at line 1 column ";
    let table = [
        (json!(SECRET), unread),
        (json!([]), unread),
        (json!({}), unread),
        (Value::Null, unread),
        (without_kind, unread),
        (with("/kind", json!([])), unread),
        (with("/kind/kind", json!(1)), unread),
        (with("/operation", json!({})), unread),
        (with("/namespace", json!([])), unread),
        (with("/object", json!(SECRET)), "the object cannot be read: the object is not an object"),
        (with("/object/spec", json!([])), "the object cannot be read: spec is not an object"),
        (with("/object/spec/containers", json!(null)), "the object cannot be read: spec.containers is not a list of objects"),
        (
            with("/object/metadata/annotations", json!({"a": {SECRET: SECRET}})),
            "the object cannot be read: metadata.annotations[\"a\"] is not text",
        ),
        (with("/namespace", json!("")), "the admission request names no namespace"),
    ];
    for (request, told) in table {
        for on_error in ["reject", "skip"] {
            for policy in &policies {
                let context = format!("{request}, onError {on_error}, {}", policy.name());
                let seen = ask(policy.as_ref(), &request, &settings(on_error), Grants::default(), cluster(None));
                assert_eq!(seen.look_ups, [""; 0], "{context}");
                let (said, prefix) = match on_error {
                    "skip" => (seen.response.warnings.as_ref().unwrap().join("\n").replace(" …\n… ", " "), "not injected: "),
                    _ => (seen.response.message.clone().unwrap(), "linkerd-injector-policy: "),
                };
                let said = said.strip_prefix(prefix).unwrap_or_else(|| panic!("{context}: {:?}", seen.response));
                // Where reading ended is of no interest here.
                let place = said.strip_prefix(told).unwrap_or_else(|| panic!("{context}: {said}"));
                assert!(place.chars().all(|c| c.is_ascii_digit()), "{context}: {said}");
                assert_failed(&seen.response, &format!("{told}{place}"), on_error, &context);
            }
        }
    }
}

#[test]
fn what_is_none_of_the_policys_business_is_let_through_unread() {
    let policies = artefacts::policies_or_skip("what_is_none_of_the_policys_business_is_let_through_unread").unwrap();
    let meshed = pod(json!({"linkerd.io/inject": "enabled"}), false);
    let sub_resource = |name: &str, operation: &str, object: &Value| {
        let mut request = request("Pod", object, operation);
        request["subResource"] = json!(name);
        request
    };
    let deleted = {
        let mut request = request("Pod", &Value::Null, "DELETE");
        request["oldObject"] = meshed.clone();
        request
    };
    let null_object = {
        let mut request = request("Pod", &meshed, "CREATE");
        request["object"] = Value::Null;
        request
    };
    let other_group = {
        let mut request = request("Pod", &meshed, "CREATE");
        request["kind"]["group"] = json!("metrics.k8s.io");
        request
    };
    let table = [
        (deleted, "operation_not_handled"),
        (request("Pod", &meshed, "DELETE"), "operation_not_handled"),
        (request("Pod", &meshed, "UPDATE"), "operation_not_handled"),
        (request("Pod", &meshed, "CONNECT"), "operation_not_handled"),
        (request("Service", &json!({"spec": {"ports": [{"port": 3306}]}}), "UPDATE"), "operation_not_handled"),
        (request("Pod", &Value::Null, "CREATE"), "no_object"),
        (null_object, "no_object"),
        (sub_resource("ephemeralcontainers", "UPDATE", &meshed), "subresource_not_handled"),
        (sub_resource("binding", "CREATE", &json!({"target": {"name": "node"}})), "subresource_not_handled"),
        (sub_resource("eviction", "CREATE", &json!({})), "subresource_not_handled"),
        (sub_resource("status", "CREATE", &json!(SECRET)), "subresource_not_handled"),
        (request("Secret", &json!({"data": {"a": SECRET}}), "CREATE"), "kind_not_handled"),
        (other_group, "kind_not_handled"),
        (request("", &Value::Null, ""), "kind_not_handled"),
    ];
    for (request, reason) in table {
        for policy in &policies {
            // Not even the settings' errors reach it: there is nothing to fail.
            let seen = ask(policy.as_ref(), &request, &settings("reject"), Grants::capabilities(&[]), cluster(Some("enabled")));
            let context = format!("{request}: {:?}, {}", seen.response, policy.name());
            assert!(seen.response.accepted && seen.response.mutated_object.is_none(), "{context}");
            assert_eq!(
                (seen.response.audit("injected"), seen.response.audit("reason")),
                (Some("false"), Some(reason)),
                "{context}"
            );
            assert_eq!((seen.response.warnings, seen.look_ups.len(), seen.logged.len()), (None, 0, 0), "{context}");
        }
    }
}

#[test]
fn unreadable_bytes_go_by_the_setting_beside_them_where_it_can_be_read() {
    for policy in artefacts::policies_or_skip("unreadable_bytes_go_by_the_setting_beside_them_where_it_can_be_read").unwrap() {
        for (payload, accepted) in [
            (r#"{"request":1,"settings":{"onError":"skip"}}"#, true),
            (r#"{"settings":{"onError":"skip"}}"#, true),
            (r#"{"request":1,"settings":{"onError":"reject"}}"#, false),
            (r#"{"request":1,"settings":{}}"#, false),
            (r#"{"request":1}"#, false),
            (r#"{"request":1,"settings":{"onError":"other"}}"#, false),
            (r#"{"request":{"kind":{"kind":"Pod"},"settings":{"onError":"skip"}"#, false),
            ("", false),
        ] {
            let answer = policy.validate(payload.as_bytes(), &Arc::new(Host::alone())).unwrap();
            let response: Response = serde_json::from_slice(&answer).unwrap();
            assert_eq!((response.accepted, response.audit("reason")), (accepted, Some("error")), "{payload}");
        }
    }
}

#[test]
fn settings_that_cannot_be_used_are_an_error_of_every_request() {
    let meshed = request("Pod", &pod(json!({"linkerd.io/inject": "enabled"}), false), "CREATE");
    for policy in artefacts::policies_or_skip("settings_that_cannot_be_used_are_an_error_of_every_request").unwrap() {
        let settings = json!({"controlPlaneNamespace": "", "onError": "skip", "other": 1});
        let seen = ask(policy.as_ref(), &meshed, &settings, Grants::default(), cluster(None));
        assert_eq!((seen.response.accepted, seen.response.code, seen.look_ups.len()), (false, Some(500), 0));
        let message = seen.response.message.unwrap();
        assert!(message.contains("controlPlaneNamespace") && message.contains("other"), "{message}");
    }
}
