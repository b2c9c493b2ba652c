//! What a pod takes over from its namespace, and what hides it.

use super::{Annotations, Kind, Texts, Values, Workload, changed, every_key, mk_pod, overridden, owned};

fn inherited(pod: Texts<'_>, namespace: Texts<'_>) -> Vec<(String, String)> {
    let (pod, namespace) = (mk_pod(pod), owned(namespace));
    let annotations = Annotations::new(Workload::read(Kind::Pod, &pod).unwrap(), &namespace);
    annotations.inherited().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// The keys that Linkerd lets a pod inherit, and those that this project adds (D04).
const KEYS: &[&str] = &[
    "linkerd.io/inject",
    "config.linkerd.io/access-log",
    "config.linkerd.io/admin-port",
    "config.linkerd.io/close-wait-timeout",
    "config.linkerd.io/control-port",
    "config.linkerd.io/debug-image",
    "config.linkerd.io/debug-image-pull-policy",
    "config.linkerd.io/debug-image-version",
    "config.linkerd.io/default-inbound-policy",
    "config.linkerd.io/enable-debug-sidecar",
    "config.linkerd.io/enable-external-profiles",
    "config.linkerd.io/enable-gateway",
    "config.linkerd.io/image-pull-policy",
    "config.linkerd.io/inbound-port",
    "config.linkerd.io/opaque-ports",
    "config.linkerd.io/outbound-port",
    "config.linkerd.io/pod-inbound-ports",
    "config.linkerd.io/proxy-additional-env",
    "config.linkerd.io/proxy-admin-shutdown",
    "config.linkerd.io/proxy-await",
    "config.linkerd.io/proxy-cpu-limit",
    "config.linkerd.io/proxy-cpu-ratio-limit",
    "config.linkerd.io/proxy-cpu-request",
    "config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout",
    "config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout",
    "config.linkerd.io/proxy-enable-native-sidecar",
    "config.linkerd.io/proxy-ephemeral-storage-limit",
    "config.linkerd.io/proxy-ephemeral-storage-request",
    "config.linkerd.io/proxy-gid",
    "config.linkerd.io/proxy-image",
    "config.linkerd.io/proxy-inbound-connect-timeout",
    "config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout",
    "config.linkerd.io/proxy-log-format",
    "config.linkerd.io/proxy-log-http-headers",
    "config.linkerd.io/proxy-log-level",
    "config.linkerd.io/proxy-memory-limit",
    "config.linkerd.io/proxy-memory-request",
    "config.linkerd.io/proxy-metrics-hostname-labels",
    "config.linkerd.io/proxy-outbound-connect-timeout",
    "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout",
    "config.linkerd.io/proxy-require-identity-inbound-ports",
    "config.linkerd.io/proxy-uid",
    "config.linkerd.io/proxy-version",
    "config.linkerd.io/shutdown-grace-period",
    "config.linkerd.io/skip-inbound-ports",
    "config.linkerd.io/skip-outbound-ports",
    "config.linkerd.io/skip-subnets",
    "config.alpha.linkerd.io/proxy-enable-native-sidecar",
    "config.alpha.linkerd.io/proxy-wait-before-exit-seconds",
    "config.beta.linkerd.io/proxy-enable-native-sidecar",
];

#[test]
fn every_key_that_works_on_a_pod_is_inherited() {
    let mut keys = every_key();
    keys.push("linkerd.io/inject");
    keys.sort_unstable();
    let mut expected = KEYS.to_vec();
    expected.sort_unstable();
    assert_eq!(keys, expected);
    // Any text arrives as it is, good or bad, and is hidden by any text of the pod's own.
    for key in KEYS {
        for text in ["", "x", "say \"hi\"\n},]<\\>", "ü"] {
            assert_eq!(inherited(&[], &[(key, text)]), [((*key).to_owned(), text.to_owned())], "{key} {text:?}");
            for own in ["", "x", "enabled"] {
                assert_eq!(inherited(&[(key, own)], &[(key, text)]), [], "{key} {own:?} over {text:?}");
            }
        }
    }
}

#[test]
fn what_means_nothing_on_a_pod_is_not_inherited() {
    for key in [
        "config.linkerd.io/proxy-uidd",
        "config.linkerd.io/admission-webhooks",
        "resource.opentelemetry.io/a",
        "linkerd.io/created-by",
        "linkerd.io/proxy-version",
        "example.com/a",
        "proxy-uid",
    ] {
        assert_eq!(inherited(&[], &[(key, "x")]), [], "{key}");
    }
}

#[test]
fn a_bad_value_of_the_pod_hides_the_namespaces_good_one() {
    let below = changed(&Values::default(), |v| v.proxy.uid = 7);
    let key = "config.linkerd.io/proxy-uid";
    let line = "config.linkerd.io/proxy-uid: \"0\" is not a user id between 1 and 2147483647".to_owned();
    assert_eq!(overridden(&below, &[(key, "0")], &[(key, "9")]), (below, vec![line]));
}

#[test]
fn ingress_mode_follows_the_inject_annotation_that_counts() {
    let key = "linkerd.io/inject";
    for (pod, namespace, ingress) in [
        (None, None, false),
        (None, Some("enabled"), false),
        (None, Some("ingress"), true),
        (Some("ingress"), None, true),
        (Some("ingress"), Some("enabled"), true),
        (Some("enabled"), Some("ingress"), false),
        (Some(""), Some("ingress"), false),
        (Some("Ingress"), Some("ingress"), false),
    ] {
        let pair = |text: Option<&'static str>| text.map(|t| (key, t)).into_iter().collect::<Vec<_>>();
        for configured in [false, true] {
            let below = changed(&Values::default(), |v| v.proxy.is_ingress = configured);
            let expected = changed(&Values::default(), |v| v.proxy.is_ingress = configured || ingress);
            assert_eq!(overridden(&below, &pair(pod), &pair(namespace)), (expected, vec![]), "{pod:?} {namespace:?}");
        }
    }
}

/// The three names of one annotation, the current one first.
const NATIVE: [&str; 3] = [
    "config.linkerd.io/proxy-enable-native-sidecar",
    "config.beta.linkerd.io/proxy-enable-native-sidecar",
    "config.alpha.linkerd.io/proxy-enable-native-sidecar",
];

/// Every way to set or leave out the three names on the pod and on the namespace: the first that is present decides, the pod's
/// before the namespace's, and a bad one leaves what is configured.
#[test]
fn of_the_three_names_of_native_sidecars_the_first_present_decides() {
    let choices = [None, Some("true"), Some("false"), Some("yes")];
    let mut triples: Vec<Vec<(&str, &str)>> = vec![vec![]];
    for key in NATIVE {
        let grown = |triple: &Vec<(&'static str, &'static str)>| {
            let triple = triple.clone();
            choices.map(move |text| triple.iter().copied().chain(text.map(|t| (key, t))).collect())
        };
        triples = triples.iter().flat_map(grown).collect();
    }
    assert_eq!(triples.len(), 64);
    for pod in &triples {
        for namespace in &triples {
            let own = pod.first().map(|(key, text)| ((*key).to_owned(), *text));
            let first = own.or_else(|| namespace.first().map(|(key, text)| (format!("namespace's {key}"), *text)));
            for configured in [true, false] {
                let below = changed(&Values::default(), |v| v.proxy.native_sidecar = configured);
                let (native, warnings) = match &first {
                    None => (configured, vec![]),
                    Some((_, "true")) => (true, vec![]),
                    Some((_, "false")) => (false, vec![]),
                    Some((place, text)) => (configured, vec![format!("{place}: {text:?} is neither true nor false")]),
                };
                let expected = changed(&below, |v| v.proxy.native_sidecar = native);
                assert_eq!(overridden(&below, pod, namespace), (expected, warnings), "{pod:?} {namespace:?}");
            }
        }
    }
}
