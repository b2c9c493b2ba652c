//! Each setting, good and bad, and all faults at once.

use super::{
    ForeignInjection, LimitRange, OnError, OnInvalidAnnotation, OpenshiftUid, Reinvocation, SETTINGS, Settings, SettingsErrors,
    Source, Workloads,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/// Settings that need no cluster, with the given ones over them.
fn standalone(over: Value) -> Value {
    let mut settings = json!({"source": "settings", "values": {"identityTrustAnchorsPEM": ANCHORS}});
    for (key, value) in over.as_object().unwrap() {
        match (settings.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => below.extend(above.clone()),
            _ => settings[key] = value.clone(),
        }
    }
    settings
}

fn faults(checked: Result<impl Sized, SettingsErrors>) -> Vec<String> {
    checked.err().map(|errors| errors.0.iter().map(ToString::to_string).collect()).unwrap_or_default()
}

#[test]
fn empty_settings_are_the_defaults() {
    for settings in [json!({}), json!(null)] {
        assert_eq!(Settings::read(settings.clone()), Ok(Settings::default()));
        assert_eq!(Settings::validate(&settings), Ok(()));
    }
    let defaults = Settings::default();
    assert_eq!(defaults.control_plane_namespace, "linkerd");
    assert_eq!(defaults.source, Source::Cluster);
    assert_eq!(defaults.on_invalid_annotation, OnInvalidAnnotation::Warn);
    assert_eq!(defaults.on_error, OnError::Reject);
    assert_eq!(defaults.reinvocation, Reinvocation::Merge);
    assert_eq!(defaults.foreign_injection, ForeignInjection::Keep);
    assert_eq!(defaults.workloads, Workloads::Warn);
    assert_eq!(defaults.limit_range, LimitRange::Ignore);
    assert_eq!(defaults.openshift_uid, OpenshiftUid::Ignore);
}

type Change = fn(&mut Settings);

#[test]
fn each_setting_changes_its_own_field_alone() {
    let opposite = || Settings {
        source: Source::Settings,
        on_invalid_annotation: OnInvalidAnnotation::Reject,
        on_error: OnError::Skip,
        reinvocation: Reinvocation::Skip,
        foreign_injection: ForeignInjection::Adopt,
        workloads: Workloads::Ignore,
        limit_range: LimitRange::Apply,
        openshift_uid: OpenshiftUid::Apply,
        ..Settings::default()
    };
    let changed = |below: Settings, change: Change| {
        let mut settings = below;
        change(&mut settings);
        settings
    };
    let rows: Vec<(&str, Value, Change)> = vec![
        ("controlPlaneNamespace", json!("mesh"), |s| s.control_plane_namespace = "mesh".to_owned()),
        ("source", json!("cluster"), |s| s.source = Source::Cluster),
        ("source", json!("settings"), |s| s.source = Source::Settings),
        ("values", json!({"any": [1]}), |s| s.values = json!({"any": [1]})),
        ("namespaceAnnotations", json!({"a": "b"}), |s| s.namespace_annotations = [("a".to_owned(), "b".to_owned())].into()),
        ("onInvalidAnnotation", json!("warn"), |s| s.on_invalid_annotation = OnInvalidAnnotation::Warn),
        ("onInvalidAnnotation", json!("reject"), |s| s.on_invalid_annotation = OnInvalidAnnotation::Reject),
        ("onError", json!("reject"), |s| s.on_error = OnError::Reject),
        ("onError", json!("skip"), |s| s.on_error = OnError::Skip),
        ("reinvocation", json!("merge"), |s| s.reinvocation = Reinvocation::Merge),
        ("reinvocation", json!("skip"), |s| s.reinvocation = Reinvocation::Skip),
        ("foreignInjection", json!("keep"), |s| s.foreign_injection = ForeignInjection::Keep),
        ("foreignInjection", json!("adopt"), |s| s.foreign_injection = ForeignInjection::Adopt),
        ("workloads", json!("warn"), |s| s.workloads = Workloads::Warn),
        ("workloads", json!("ignore"), |s| s.workloads = Workloads::Ignore),
        ("limitRange", json!("ignore"), |s| s.limit_range = LimitRange::Ignore),
        ("limitRange", json!("apply"), |s| s.limit_range = LimitRange::Apply),
        ("openshiftUid", json!("ignore"), |s| s.openshift_uid = OpenshiftUid::Ignore),
        ("openshiftUid", json!("apply"), |s| s.openshift_uid = OpenshiftUid::Apply),
        ("skipOwnerKinds", json!(["Job", "CronJob"]), |s| s.skip_owner_kinds = vec!["Job".to_owned(), "CronJob".to_owned()]),
        ("skipOwnerKinds", json!([]), |s| s.skip_owner_kinds = Vec::new()),
        ("allowedOverrides", json!([]), |s| s.permitted.allowed = Vec::new()),
        ("allowedOverrides", json!(["*"]), |s| s.permitted.allowed = vec!["*".to_owned()]),
        ("deniedOverrides", json!(["config.linkerd.io/proxy-uid"]), |s| {
            s.permitted.denied = vec!["config.linkerd.io/proxy-uid".to_owned()];
        }),
    ];
    for (name, value, change) in &rows {
        let read = Settings::read(json!({*name: value})).unwrap();
        assert_eq!(read, changed(Settings::default(), *change), "{name} {value}");
        // The same over the opposite of every default.
        let setting = SETTINGS.iter().find(|s| s.name == *name).unwrap();
        let mut over = opposite();
        assert_eq!((setting.read)(&mut over, &mut value.clone()), Ok(()), "{name} {value}");
        assert_eq!(over, changed(opposite(), *change), "{name} {value}");
    }
    let tested: BTreeSet<_> = rows.iter().map(|(name, ..)| *name).collect();
    assert_eq!(tested, SETTINGS.iter().map(|s| s.name).collect());
}

/// A setting, a value that it does not take, and the fault.
const BAD: &[(&str, &str, &str)] = &[
    ("controlPlaneNamespace", r#""""#, "controlPlaneNamespace is not the name of a namespace"),
    ("controlPlaneNamespace", "null", "controlPlaneNamespace is not the name of a namespace"),
    ("controlPlaneNamespace", "1", "controlPlaneNamespace is not the name of a namespace"),
    ("controlPlaneNamespace", r#""Linkerd""#, "controlPlaneNamespace is not the name of a namespace"),
    ("controlPlaneNamespace", r#""a.b""#, "controlPlaneNamespace is not the name of a namespace"),
    ("controlPlaneNamespace", r#""-a""#, "controlPlaneNamespace is not the name of a namespace"),
    ("controlPlaneNamespace", r#""a-""#, "controlPlaneNamespace is not the name of a namespace"),
    ("source", r#""Cluster""#, "source is not one of cluster, settings"),
    ("source", "null", "source is not one of cluster, settings"),
    ("values", "[]", "values is not an object"),
    ("values", "null", "values is not an object"),
    ("namespaceAnnotations", r#""a""#, "namespaceAnnotations is not an object"),
    ("namespaceAnnotations", r#"{"a": "b", "c": true}"#, r#"namespaceAnnotations is an object whose "c" is not a text"#),
    ("onInvalidAnnotation", r#""ignore""#, "onInvalidAnnotation is not one of warn, reject"),
    ("onError", r#""Skip""#, "onError is not one of reject, skip"),
    ("onError", "true", "onError is not one of reject, skip"),
    ("reinvocation", r#""""#, "reinvocation is not one of merge, skip"),
    ("foreignInjection", r#""drop""#, "foreignInjection is not one of keep, adopt"),
    ("workloads", "false", "workloads is not one of warn, ignore"),
    ("limitRange", "[]", "limitRange is not one of ignore, apply"),
    ("openshiftUid", "true", "openshiftUid is not one of ignore, apply"),
    ("skipOwnerKinds", r#""Job""#, "skipOwnerKinds is not a list of kinds, as [Job, CronJob]"),
    ("skipOwnerKinds", r#"["job"]"#, "skipOwnerKinds is not a list of kinds, as [Job, CronJob]"),
    ("skipOwnerKinds", r#"["Job", 1]"#, "skipOwnerKinds is not a list of kinds, as [Job, CronJob]"),
    ("allowedOverrides", "null", "allowedOverrides is not a list of annotation keys"),
    (
        "allowedOverrides",
        r#"["config.linkerd.io/proxy-imag", 1]"#,
        "allowedOverrides is not a list of annotation keys: \"config.linkerd.io/proxy-imag\" is unknown, did you mean proxy-image, \
            an entry is not a text",
    ),
    ("deniedOverrides", r#""*""#, "deniedOverrides is not a list of annotation keys"),
    (
        "deniedOverrides",
        r#"["proxy-image"]"#,
        "deniedOverrides is not a list of annotation keys: \"proxy-image\" is unknown, \
        did you mean config.linkerd.io/proxy-image",
    ),
    ("skipOwnerKinds", r#"["batch/Job"]"#, "skipOwnerKinds is not a list of kinds, as [Job, CronJob]"),
];

#[test]
fn a_bad_setting_is_named_with_what_it_is_not() {
    for (name, value, expected) in BAD {
        let settings = json!({*name: serde_json::from_str::<Value>(value).unwrap()});
        assert_eq!(faults(Settings::read(settings.clone())), [*expected], "{name} {value}");
        assert_eq!(faults(Settings::validate(&settings)), [*expected], "{name} {value}");
    }
    let tested: BTreeSet<_> = BAD.iter().map(|(name, ..)| *name).collect();
    assert_eq!(tested, SETTINGS.iter().map(|s| s.name).collect());
}

#[test]
fn a_namespaces_name_has_one_to_63_characters() {
    for (length, fine) in [(1, true), (63, true), (64, false)] {
        let settings = json!({"controlPlaneNamespace": "a".repeat(length)});
        assert_eq!(Settings::read(settings.clone()).is_ok(), fine, "{length}");
    }
}

#[test]
fn an_unknown_key_is_answered_with_all_that_are_known() {
    for key in ["onerror", "OnError", "on_error", ""] {
        let expected = format!(
            "{key:?} is not a setting; settings are controlPlaneNamespace, source, values, namespaceAnnotations, onInvalidAnnotation, \
                onError, reinvocation, foreignInjection, workloads, limitRange, openshiftUid, skipOwnerKinds, allowedOverrides, deniedOverrides"
        );
        for checked in [Settings::read(json!({key: 1})).map(drop), Settings::validate(&json!({key: 1}))] {
            assert_eq!(faults(checked).as_slice(), std::slice::from_ref(&expected));
        }
    }
}

#[test]
fn settings_that_are_no_object_are_refused() {
    for settings in [json!("secret"), json!([]), json!(1), json!(true)] {
        assert_eq!(faults(Settings::read(settings.clone())), ["the settings are not an object"], "{settings}");
        assert_eq!(faults(Settings::validate(&settings)), ["the settings are not an object"], "{settings}");
    }
}

#[test]
fn all_faults_come_in_one_message() {
    let settings = json!({
        "onError": "never",
        "source": "settings",
        "sauce": "x",
        "skipOwnerKinds": "Job",
        "values": {
            "clusterDomain": "a b",
            "proxy": {"uid": 0, "ports": {"admin": "x"}, "image": "app:1"},
            "proxyInit": {"closeWaitTimeoutSecs": 30},
        },
    });
    let message = "onError is not one of reject, skip; \
        \"sauce\" is not a setting; settings are controlPlaneNamespace, source, values, namespaceAnnotations, onInvalidAnnotation, \
        onError, reinvocation, foreignInjection, workloads, limitRange, openshiftUid, skipOwnerKinds, allowedOverrides, deniedOverrides; \
        skipOwnerKinds is not a list of kinds, as [Job, CronJob]; \
        values.clusterDomain is not a DNS name; \
        values.proxy.image is not an object; \
        values.proxy.ports.admin is not a port between 1 and 65535; \
        values.proxy.uid is not a whole number from 1 to 2147483647; \
        values.proxyInit.closeWaitTimeoutSecs is set without proxyInit.runAsRoot; \
        values.identityTrustAnchorsPEM is not a bundle of PEM certificates; with source: settings it is required";
    assert_eq!(Settings::validate(&settings).unwrap_err().to_string(), message);
}

#[test]
fn without_the_cluster_trust_anchors_are_required() {
    assert_eq!(Settings::validate(&standalone(json!({}))), Ok(()));
    let required = |problem: &str| format!("values.identityTrustAnchorsPEM is {problem}; with source: settings it is required");
    let unfinished = "-----BEGIN CERTIFICATE-----\nsecret\n";
    for (settings, expected) in [
        (json!({"source": "settings"}), required("not a bundle of PEM certificates")),
        (standalone(json!({"values": {"identityTrustAnchorsPEM": ""}})), required("not a bundle of PEM certificates")),
        (standalone(json!({"values": {"identityTrustAnchorsPEM": null}})), required("not a bundle of PEM certificates")),
        (standalone(json!({"values": {"identityTrustAnchorsPEM": "secret"}})), required("not a bundle of PEM certificates")),
        (
            standalone(json!({"values": {"identityTrustAnchorsPEM": unfinished}})),
            required("a bundle with an unfinished certificate"),
        ),
    ] {
        assert_eq!(faults(Settings::validate(&settings)), [expected]);
    }
}

#[test]
fn what_has_no_effect_is_refused() {
    let annotations = json!({"namespaceAnnotations": {"linkerd.io/inject": "enabled"}});
    assert_eq!(Settings::validate(&standalone(annotations.clone())), Ok(()));
    let no_annotations = "namespaceAnnotations has no effect with source: cluster; annotate the namespaces";
    assert_eq!(faults(Settings::validate(&annotations)), [no_annotations]);
    assert_eq!(Settings::validate(&json!({"namespaceAnnotations": {}})), Ok(()));
    let anchors = json!({"values": {"identityTrustAnchorsPEM": ANCHORS}});
    let no_anchors = "values.identityTrustAnchorsPEM has no effect with source: cluster; its trust roots are read";
    assert_eq!(faults(Settings::validate(&anchors)), [no_anchors]);
    let limits = json!({"limitRange": "apply"});
    assert_eq!(Settings::validate(&limits), Ok(()));
    let both = json!({"allowedOverrides": ["config.linkerd.io/proxy-uid"], "deniedOverrides": ["config.linkerd.io/proxy-uid"]});
    assert_eq!(faults(Settings::validate(&both)), ["allowedOverrides and deniedOverrides have an entry in common"]);
    let no_look_up = "limitRange has no effect with source: settings; nothing is looked up";
    assert_eq!(faults(Settings::validate(&standalone(limits))), [no_look_up]);
}

#[test]
fn leaves_of_values_are_named_by_their_path() {
    for (values, expected) in [
        (
            json!({"proxy": {"image": {"name": "app:1"}}}),
            "values.proxy.image.name is not an image name such as registry.example/linkerd/proxy, without tag or digest",
        ),
        (json!({"proxy": {"accessLog": ["x"]}}), "values.proxy.accessLog is not a text"),
        (json!({"proxy": {"resources": {"cpu": {"limit": "-1"}}}}), "values.proxy.resources.cpu.limit is a negative quantity"),
        (json!({"proxy": []}), "values.proxy is not an object"),
        (json!({"cniEnabled": "true"}), "values.cniEnabled is neither true nor false"),
    ] {
        assert_eq!(faults(Settings::validate(&json!({"values": values}))), [expected], "{values}");
        assert_eq!(faults(Settings::validate(&standalone(json!({"values": values})))), [expected], "{values}");
        // A request reads them only when something is rendered.
        assert_eq!(Settings::read(json!({"values": values})).unwrap().values, values);
    }
}

#[test]
fn values_are_checked_together_when_no_other_layer_follows() {
    for (values, expected) in [
        (
            json!({"proxyInit": {"closeWaitTimeoutSecs": 30}}),
            "values.proxyInit.closeWaitTimeoutSecs is set without proxyInit.runAsRoot",
        ),
        (json!({"proxy": {"ports": {"admin": 4143}}}), "values.proxy.ports.admin is that of another port of the proxy"),
    ] {
        assert_eq!(faults(Settings::validate(&standalone(json!({"values": values})))), [expected], "{values}");
        // Over the ConfigMap's values they may well go together.
        assert_eq!(Settings::validate(&json!({"values": values})), Ok(()), "{values}");
    }
    let rooted = json!({"values": {"proxyInit": {"closeWaitTimeoutSecs": 30, "runAsRoot": true}}});
    assert_eq!(Settings::validate(&standalone(rooted)), Ok(()));
}

#[test]
fn the_reference_gives_each_default() {
    for setting in SETTINGS {
        let (default, meaning) = setting.reference;
        let value = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
        let mut read = Settings::read(json!({setting.name: value})).unwrap();
        if setting.name == "values" {
            assert_eq!(std::mem::take(&mut read.values), json!({}));
        }
        assert_eq!(read, Settings::default(), "{}", setting.name);
        assert!(!meaning.is_empty() && !meaning.ends_with('.'), "{}", setting.name);
    }
}

#[test]
fn the_host_is_answered_in_full() {
    for (payload, expected) in [
        ("{}", r#"{"valid":true,"message":null}"#),
        ("null", r#"{"valid":true,"message":null}"#),
        (r#"{"onError":"skip","workloads":"ignore"}"#, r#"{"valid":true,"message":null}"#),
        (
            r#"{"onError":1,"source":2}"#,
            r#"{"valid":false,"message":"onError is not one of reject, skip; source is not one of cluster, settings"}"#,
        ),
        ("", r#"{"valid":false,"message":"the settings are not an object"}"#),
        ("secret", r#"{"valid":false,"message":"the settings are not an object"}"#),
        ("[]", r#"{"valid":false,"message":"the settings are not an object"}"#),
    ] {
        assert_eq!(String::from_utf8(crate::validate_settings(payload.as_bytes())).unwrap(), expected, "{payload}");
    }
}
