//! What a person should know before a pod fails, or works otherwise than meant: one row a check.
//!
//! In: a pod, or the pod template of a workload, with its namespace, and where it is injected what the injection adds. Out: warnings.
//! A check sees the application alone and nothing that an earlier call wrote, so a second call says the same. What annotations have
//! for values is checked where they are read, in [`crate::overrides`].

mod cni;
mod keys;
mod pod;
mod surroundings;

pub(crate) use cni::read_by_plugin;
pub(crate) use keys::hint;

use crate::cluster::Namespace;
use crate::decide::SkipReason;
use crate::limit_range;
use crate::openshift::UidRange;
use crate::overrides::Annotations;
use crate::render::PodPatch;
use crate::template::Template;
use crate::values::{Ports, Values};
use crate::warning::{Place, Warning};
use crate::workload::Workload;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The pod does not start, or its traffic does not flow.
    Failing,
    /// What somebody asked for does not happen.
    Ineffective,
    /// It works, otherwise than one may think.
    Surprising,
}

impl Severity {
    /// Every severity.
    pub const ALL: &[Severity] = &[Severity::Failing, Severity::Ineffective, Severity::Surprising];

    /// The severity in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Failing => "failing",
            Severity::Ineffective => "ineffective",
            Severity::Surprising => "surprising",
        }
    }
}

/// One check.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// How bad it is what it finds.
    pub severity: Severity,
    /// What it reads and when it applies, for the reference; the module has no use for them.
    pub reference: Reference,
    /// What it says: a place for each word that it finds.
    pub sentence: &'static str,
    find: Find,
}

/// What a check reads, and when it applies.
#[cfg(not(target_arch = "wasm32"))]
pub type Reference = (&'static str, &'static str);
/// Nothing, in the module.
#[cfg(target_arch = "wasm32")]
pub type Reference = ();

#[cfg(not(target_arch = "wasm32"))]
macro_rules! reference {
    ($reads:literal, $when:literal) => {
        ($reads, $when)
    };
}
#[cfg(target_arch = "wasm32")]
macro_rules! reference {
    ($reads:literal, $when:literal) => {
        ()
    };
}

/// On what a check looks.
enum Find {
    /// On every pod of a namespace that is known, in the mesh or not.
    Anywhere(fn(&Scene<'_>) -> Vec<Finding>),
    /// On what is injected.
    Injected(fn(&Scene<'_>, &Injection<'_>) -> Vec<Finding>),
}

/// The object, and what is around it.
pub(crate) struct Scene<'a> {
    /// The pod, or the template of those to come.
    pub(crate) pod: Workload<'a>,
    /// The workload that the template is in.
    pub(crate) template: Option<&'a Template<'a>>,
    /// The namespace, where it was looked up.
    pub(crate) namespace: Option<&'a Namespace>,
    /// Why the pod is not injected; none where it is.
    pub(crate) reasons: &'a [SkipReason],
}

/// What is added to the pod, and why so.
pub(crate) struct Injection<'a> {
    /// The annotations that count.
    pub(crate) annotations: &'a Annotations<'a>,
    /// The values with annotations applied.
    pub(crate) values: &'a Values,
    /// The proxy's ports before annotations changed them.
    pub(crate) configured_ports: Ports,
    /// What is rendered.
    pub(crate) patch: &'a PodPatch,
    /// What limit ranges made of the resources.
    pub(crate) limits: &'a limit_range::Report,
    /// The range of user ids that the settings say to follow, and that can be read; and its text.
    pub(crate) uid_range: Option<(Option<UidRange>, &'a str)>,
}

/// What a check finds: where, which value, and the words of its sentence.
struct Finding {
    place: Place,
    value: Option<String>,
    words: Vec<String>,
}

impl Finding {
    fn new(place: Place, words: &[&str]) -> Finding {
        Finding { place, value: None, words: words.iter().map(|word| (*word).to_owned()).collect() }
    }

    /// One about a value, which stands in quotes before the sentence.
    fn of_value(place: Place, value: &str, words: &[&str]) -> Finding {
        Finding { value: Some(value.to_owned()), ..Finding::new(place, words) }
    }
}

/// Every check, the worst first.
pub const CHECKS: &[Check] = &[
    Check {
        name: "port-of-the-proxy",
        severity: Severity::Failing,
        reference: reference!("TCP container ports", "one is a port of the proxy itself"),
        sentence: "port {} of container {} is the proxy's {} port, and only one of them can listen on it",
        find: Find::Injected(pod::ports_of_the_proxy),
    },
    Check {
        name: "user-of-the-proxy",
        severity: Severity::Failing,
        reference: reference!(
            "`runAsUser` and `runAsGroup` of the pod and its containers",
            "one is the proxy's: what that user sends is not redirected"
        ),
        sentence: "container {} runs as the proxy's {} {}, whose traffic bypasses the proxy",
        find: Find::Injected(pod::users_of_the_proxy),
    },
    Check {
        name: "pod-security",
        severity: Severity::Failing,
        reference: reference!(
            "the namespace's label `pod-security.kubernetes.io/enforce`, and what is injected",
            "its level refuses an injected container"
        ),
        sentence: "its pod security level {} refuses {}: {}",
        find: Find::Injected(surroundings::pod_security),
    },
    Check {
        name: "uid-out-of-range",
        severity: Severity::Failing,
        reference: reference!(
            "the namespace's annotation `openshift.io/sa.scc.uid-range`",
            "with `openshiftUid: apply`, the proxy's user is set, and is not of the range"
        ),
        sentence: "the proxy's user {} is outside of the range {} of openshift.io/sa.scc.uid-range",
        find: Find::Injected(surroundings::uid_out_of_range),
    },
    Check {
        name: "limit-range-of-pods",
        severity: Severity::Failing,
        reference: reference!(
            "the namespace's LimitRanges, of type Pod",
            "with `limitRange: apply`, the pod with its sidecar is outside of its minimum, maximum or ratio"
        ),
        sentence: "its {} {} come to {} with the proxy's, and a LimitRange {}",
        find: Find::Injected(surroundings::limit_range_of_pods),
    },
    Check {
        name: "limit-range-unmet",
        severity: Severity::Failing,
        reference: reference!(
            "the namespace's LimitRanges, of type Container",
            "with `limitRange: apply`, one asks an injected container for what nothing gives: a request for its ratio, or more than the pod's own resources leave"
        ),
        sentence: "a LimitRange refuses {}: {}",
        find: Find::Injected(surroundings::limit_range_unmet),
    },
    Check {
        name: "proxy-outlives-job",
        severity: Severity::Failing,
        reference: reference!(
            "the pod's `restartPolicy`",
            "it ends when its containers do, and the proxy is neither a native sidecar nor can be shut down"
        ),
        sentence: "restartPolicy is {}, and the proxy does not end with the others unless it is a native sidecar",
        find: Find::Injected(pod::proxy_outlives_job),
    },
    Check {
        name: "cni-ignores",
        severity: Severity::Failing,
        reference: reference!(
            "`inbound-port`, `outbound-port`, `admin-port`, `control-port`, `close-wait-timeout`",
            "in CNI mode, one changes what linkerd-cni does not read"
        ),
        sentence: "linkerd-cni does not read it, and goes by its own configuration",
        find: Find::Injected(cni::ignored),
    },
    Check {
        name: "cni-reads-otherwise",
        severity: Severity::Failing,
        reference: reference!(
            "the pod's own `skip-inbound-ports`, `skip-outbound-ports`, `skip-subnets`, `proxy-uid`, `proxy-gid`",
            "in CNI mode, linkerd-cni makes something else of one than the injection does"
        ),
        sentence: "linkerd-cni reads it otherwise; {}",
        find: Find::Injected(cni::read_otherwise),
    },
    Check {
        name: "asked-and-skipped",
        severity: Severity::Ineffective,
        reference: reference!(
            "the pod's own `linkerd.io/inject`",
            "it asks for the mesh, and the pod stays out: host network, Windows, no token, another mesh, `skipOwnerKinds`"
        ),
        sentence: "asks for the mesh and stays out: {}",
        find: Find::Anywhere(keys::asked_and_skipped),
    },
    Check {
        name: "inject-as-label",
        severity: Severity::Ineffective,
        reference: reference!(
            "the label `linkerd.io/inject` of the pod, its workload and its namespace",
            "there is no annotation that says so, and the pod is treated otherwise"
        ),
        sentence: "the label linkerd.io/inject has no effect, it has to be an annotation",
        find: Find::Anywhere(keys::inject_as_label),
    },
    Check {
        name: "annotation-on-workload",
        severity: Severity::Ineffective,
        reference: reference!(
            "annotations of the workload",
            "one would mean something on its pods, and its pod template does not have it"
        ),
        sentence: "read in its pod template only{}",
        find: Find::Anywhere(keys::annotations_on_workload),
    },
    Check {
        name: "unknown-annotation",
        severity: Severity::Ineffective,
        reference: reference!(
            "the keys `config.linkerd.io/…`, `config.alpha.linkerd.io/…` and `config.beta.linkerd.io/…` of a pod in the mesh and its namespace, and of a Service",
            "there is no such annotation"
        ),
        sentence: "unknown{}",
        find: Find::Anywhere(keys::unknown),
    },
    Check {
        name: "wait-of-native-sidecar",
        severity: Severity::Ineffective,
        reference: reference!("`proxy-wait-before-exit-seconds`", "the proxy is a native sidecar"),
        sentence: "no effect on a native sidecar, which stops last",
        find: Find::Injected(pod::wait_of_native_sidecar),
    },
    Check {
        name: "wait-beyond-grace",
        severity: Severity::Ineffective,
        reference: reference!(
            "`proxy-wait-before-exit-seconds`, `terminationGracePeriodSeconds`",
            "the proxy waits as long as the pod has to stop, or longer"
        ),
        sentence: "the proxy waits {} s when it is stopped, and terminationGracePeriodSeconds ends it after {} s",
        find: Find::Injected(pod::wait_beyond_grace),
    },
    Check {
        name: "uid-range",
        severity: Severity::Ineffective,
        reference: reference!(
            "the namespace's annotation `openshift.io/sa.scc.uid-range`",
            "with `openshiftUid: apply`, it is not a range with a user for the proxy"
        ),
        sentence: "its openshift.io/sa.scc.uid-range is not a range of two users or more, as 1001060000/10000",
        find: Find::Injected(surroundings::uid_range),
    },
    Check {
        name: "limit-ranges-unread",
        severity: Severity::Ineffective,
        reference: reference!("LimitRanges", "with `limitRange: apply`, they cannot be read; resources are as configured"),
        sentence: "resources are as configured: {}",
        find: Find::Injected(surroundings::limit_ranges_unread),
    },
    Check {
        name: "limit-range",
        severity: Severity::Surprising,
        reference: reference!(
            "the namespace's LimitRanges, of type Container",
            "with `limitRange: apply`, a request or limit would be refused as it is set, or for not being set, and no default gives it"
        ),
        sentence: "a LimitRange {} {} {} {} {}to {}",
        find: Find::Injected(surroundings::limit_range),
    },
    Check {
        name: "quality-of-service",
        severity: Severity::Surprising,
        reference: reference!(
            "requests and limits of CPU and memory",
            "all containers have equal ones, and an injected one has not, nor does LimitRanger fill them in: the pod is no longer Guaranteed, and without limits a ResourceQuota on them refuses it"
        ),
        sentence: "no longer Guaranteed{}, for want of equal requests and limits of {}",
        find: Find::Injected(surroundings::quality_of_service),
    },
    Check {
        name: "quota",
        severity: Severity::Surprising,
        reference: reference!(
            "limits of CPU and memory",
            "all containers have both, as a ResourceQuota on limits demands, and an injected one has not, nor does LimitRanger fill them in"
        ),
        sentence: "all containers have limits of CPU and memory but {}; quotas on limits refuse the pod",
        find: Find::Injected(surroundings::quota),
    },
    Check {
        name: "tcp-probe",
        severity: Severity::Surprising,
        reference: reference!(
            "`tcpSocket` probes",
            "their port is redirected: the proxy answers, whether the application does or not"
        ),
        sentence: "the proxy answers the tcpSocket {} of container {}; use httpGet, grpc or exec",
        find: Find::Injected(pod::tcp_probes),
    },
    Check {
        name: "other-protocols",
        severity: Severity::Surprising,
        reference: reference!("container ports", "one is of UDP or SCTP"),
        sentence: "{} ports bypass the proxy, which carries TCP: {}",
        find: Find::Injected(pod::other_protocols),
    },
];

/// What there is to say of a pod that is not injected.
pub(crate) fn of_skipped(scene: &Scene<'_>) -> Vec<Warning> {
    run(scene, None)
}

/// What there is to say of a pod that is.
pub(crate) fn of_injected(scene: &Scene<'_>, injection: &Injection<'_>) -> Vec<Warning> {
    run(scene, Some(injection))
}

fn run(scene: &Scene<'_>, injection: Option<&Injection<'_>>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for check in CHECKS {
        let findings = match (&check.find, injection) {
            (Find::Anywhere(find), _) => find(scene),
            (Find::Injected(find), Some(injection)) => find(scene, injection),
            (Find::Injected(_), None) => Vec::new(),
        };
        warnings.extend(findings.into_iter().map(|finding| worded(check, finding)));
    }
    warnings
}

fn worded(check: &Check, finding: Finding) -> Warning {
    let mut sentence = String::new();
    let mut words = finding.words.into_iter();
    for (at, part) in check.sentence.split("{}").enumerate() {
        if at > 0 {
            // A name that the API server has not looked at yet may hold a line of its own.
            for character in words.next().unwrap_or_default().chars() {
                if character.is_control() {
                    sentence.extend(character.escape_default());
                } else {
                    sentence.push(character);
                }
            }
        }
        sentence.push_str(part);
    }
    match finding.value {
        Some(value) => Warning::unused(finding.place, &value, sentence),
        None => Warning::plain(finding.place, sentence),
    }
}

#[cfg(test)]
mod tests;
