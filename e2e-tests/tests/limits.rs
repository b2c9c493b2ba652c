//! Input at the limits of what an API server stores, and beyond: the work grows as the input does, and nothing is lost.
//!
//! Work is counted, in instructions of the module, so that no clock is asked: three sizes, each four times the one before. What a size
//! adds must not be more than a good four times what the one before added.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use std::{sync::Arc, thread};

use e2e_tests::{
    added::taken_away,
    admission::Admission,
    artefacts,
    case::control_plane,
    cluster::Manifests,
    host::Host,
    policy::{Metered, Native, Policy, Response},
    real::ask_all,
};
use linkerd_injector_policy::overrides::OVERRIDES;
use serde_json::{Map, Value, json};

const ANCHORS: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/// A request, and the cluster that it is made in.
struct Asked {
    kind: &'static str,
    object: Value,
    settings: Value,
    namespace: Map<String, Value>,
    values: Value,
    more: Vec<Value>,
}

impl Asked {
    fn pod(annotations: Value, spec: Value) -> Asked {
        let mut object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": annotations},
            "spec": {"containers": [{"name": "app", "image": "registry.test/app:1"}]}});
        object["metadata"]["annotations"].as_object_mut().unwrap().entry("linkerd.io/inject").or_insert_with(|| json!("enabled"));
        object["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        Asked { kind: "Pod", object, settings: json!({}), namespace: Map::new(), values: json!({}), more: Vec::new() }
    }

    fn payload(&self) -> Vec<u8> {
        let Asked { kind, object, .. } = self;
        let request = Admission { kind, namespace: "shop", operation: "CREATE", object, user: "jane" }.request();
        serde_json::to_vec(&json!({"request": request, "settings": self.settings})).unwrap()
    }

    fn host(&self) -> Arc<Host> {
        let metadata = json!({"name": "shop", "annotations": self.namespace});
        let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})];
        objects.extend(control_plane("linkerd", &self.values, ANCHORS));
        objects.extend(self.more.iter().cloned());
        Arc::new(Host::new(Manifests::new(objects)))
    }

    fn answer(&self, policy: &dyn Policy) -> Response {
        serde_json::from_slice(&policy.validate(&self.payload(), &self.host()).unwrap()).unwrap()
    }

    /// The same question about what came of it.
    fn again(self) -> Asked {
        let object = self.answer(&Native).mutated_object.unwrap();
        Asked { object, ..self }
    }
}

/// Something of which there can be more or less.
type Growth = (&'static str, usize, fn(usize) -> Asked);

fn names(prefix: &str, many: usize) -> impl Iterator<Item = String> {
    (0..many).map(move |n| format!("{prefix}{n}"))
}

fn containers(many: usize) -> Value {
    let port = |n: usize| json!({"name": format!("p{n}"), "containerPort": 1 + n % 65535});
    names("c", many).enumerate().map(|(n, name)| json!({"name": name, "image": "i", "ports": [port(n)]})).collect()
}

/// What grows, with the smallest size.
const GROWTHS: &[Growth] = &[
    ("containers", 250, |n| Asked::pod(json!({}), json!({"containers": containers(n)}))),
    ("containers, on a later call", 250, |n| Asked::pod(json!({}), json!({"containers": containers(n)})).again()),
    ("init containers", 250, |n| Asked::pod(json!({}), json!({"initContainers": containers(n)}))),
    ("init containers, without native sidecars, on a later call", 250, |n| {
        Asked::pod(json!({"config.linkerd.io/proxy-enable-native-sidecar": "false"}), json!({"initContainers": containers(n)}))
            .again()
    }),
    ("containers of one name", 250, |n| {
        Asked::pod(json!({}), json!({"containers": (0..n).map(|_| json!({"name": "app", "image": "i"})).collect::<Value>()}))
    }),
    ("containers named as the proxy", 250, |n| {
        let debug = |_| json!({"name": "linkerd-debug", "image": "i"});
        Asked::pod(
            json!({"config.linkerd.io/enable-debug-sidecar": "true"}),
            json!({"containers": (0..n).map(debug).collect::<Value>()}),
        )
    }),
    ("ports of a container", 1000, |n| {
        let ports: Value = (0..n).map(|n| json!({"containerPort": 1 + n % 65535, "name": format!("p{n}")})).collect();
        Asked::pod(
            json!({"config.linkerd.io/skip-inbound-ports": "p1,p2"}),
            json!({"containers": [{"name": "app", "ports": ports}]}),
        )
    }),
    ("ports of a container, on a later call", 1000, |n| {
        let ports: Value = (0..n).map(|n| json!({"containerPort": 1 + n % 65535})).collect();
        Asked::pod(json!({}), json!({"containers": [{"name": "app", "ports": ports}]})).again()
    }),
    ("opaque ports of a pod that stays out", 1000, |n| {
        let ports: Value = (0..n).map(|n| json!({"containerPort": 1 + n % 65535})).collect();
        let mut asked = Asked::pod(json!({}), json!({"containers": [{"name": "app", "ports": ports}]}));
        asked.object["metadata"]["annotations"] = json!({});
        asked.values = json!({"proxy": {"opaquePorts": "1-65535"}});
        asked
    }),
    ("default opaque ports", 1000, |n| {
        let ports: Value = (0..n).map(|n| json!({"containerPort": 1 + n % 65535})).collect();
        let mut asked = Asked::pod(json!({}), json!({"containers": [{"name": "app", "ports": ports}]}));
        asked.values = json!({"proxy": {"opaquePorts": (0..n).map(|n| format!("{},", 1 + 2 * n % 65535)).collect::<String>()}});
        asked
    }),
    ("named ports that a list names", 500, |n| {
        let ports: Value = names("p", n).map(|name| json!({"containerPort": 80, "name": name})).collect();
        let list: Vec<String> = names("p", n).collect();
        let annotations =
            json!({"config.linkerd.io/skip-inbound-ports": list.join(","), "config.linkerd.io/opaque-ports": list.join(",")});
        Asked::pod(annotations, json!({"containers": [{"name": "app", "ports": ports}]}))
    }),
    ("variables of a container", 2000, |n| {
        let env: Value = names("A", n).map(|name| json!({"name": name, "value": "x"})).collect();
        Asked::pod(json!({}), json!({"containers": [{"name": "app", "env": env}]}))
    }),
    ("variables of the proxy", 250, |n| {
        let env: Value = names("A", n).map(|name| json!({"name": name, "value": "$(A1) x"})).collect();
        Asked::pod(json!({"config.linkerd.io/proxy-additional-env": env.to_string()}), json!({}))
    }),
    ("variables of the proxy that others added", 250, |n| {
        let mut asked = Asked::pod(json!({}), json!({})).again();
        let proxy = asked.object["spec"]["initContainers"].as_array_mut().unwrap().last_mut().unwrap();
        proxy["env"].as_array_mut().unwrap().extend(names("A", n).map(|name| json!({"name": name, "value": "$(A1) x"})));
        asked
    }),
    ("variables of the proxy of one name", 250, |n| {
        let env: Value = (0..n).map(|n| json!({"name": "A", "value": n.to_string()})).collect();
        Asked::pod(json!({"config.linkerd.io/proxy-additional-env": env.to_string()}), json!({}))
    }),
    ("volumes", 1000, |n| {
        Asked::pod(json!({}), json!({"volumes": names("v", n).map(|v| json!({"name": v, "emptyDir": {}})).collect::<Value>()}))
    }),
    ("volumes, on a later call", 1000, |n| {
        let volumes: Value = names("v", n).map(|v| json!({"name": v, "emptyDir": {}})).collect();
        Asked::pod(json!({}), json!({"volumes": volumes})).again()
    }),
    ("mounts", 1000, |n| {
        let mounts: Value = names("/m", n).map(|path| json!({"name": "v", "mountPath": path})).collect();
        Asked::pod(json!({}), json!({"containers": [{"name": "app", "volumeMounts": mounts}]})).again()
    }),
    ("annotations of others", 2000, |n| {
        Asked::pod(names("example.com/a", n).map(|key| (key, json!("x"))).collect::<Map<String, Value>>().into(), json!({}))
    }),
    ("unknown annotations", 500, |n| {
        Asked::pod(names("config.linkerd.io/a", n).map(|key| (key, json!("x"))).collect::<Map<String, Value>>().into(), json!({}))
    }),
    ("trace attributes", 500, |n| {
        let keys = names("resource.opentelemetry.io/a", n);
        let mut asked = Asked::pod(keys.map(|key| (key, json!("x"))).collect::<Map<String, Value>>().into(), json!({}));
        asked.values = json!({"proxy": {"tracing": {"enabled": true, "collector": {"endpoint": "c:4317", "meshIdentity": {"serviceAccountName": "c", "namespace": "t"}}}}});
        asked
    }),
    ("labels", 2000, |n| {
        let mut asked = Asked::pod(json!({}), json!({})).again();
        asked.object["metadata"]["labels"].as_object_mut().unwrap().extend(names("l", n).map(|key| (key, json!("x"))));
        asked
    }),
    ("owners", 500, |n| {
        let mut asked = Asked::pod(json!({}), json!({}));
        let owners = names("web-", n).map(|name| json!({"apiVersion": "v1", "kind": "Shop", "name": name, "uid": name}));
        asked.object["metadata"]["ownerReferences"] = owners.collect();
        asked
    }),
    ("owners and labels, without a record", 500, |n| {
        let mut asked = Asked::pod(json!({}), json!({})).again();
        let owners = names("web-", n).map(|name| json!({"apiVersion": "v1", "kind": "Shop", "name": name, "uid": name}));
        asked.object["metadata"]["ownerReferences"] = owners.collect();
        asked.object["metadata"]["annotations"].as_object_mut().unwrap().remove("linkerd.io/injection-record");
        asked
    }),
    ("a record", 8000, |n| {
        let mut asked = Asked::pod(json!({}), json!({})).again();
        let record = asked.object["metadata"]["annotations"]["linkerd.io/injection-record"].as_str().unwrap().to_owned();
        // Groups of 32 characters are 24 bytes, three pairs.
        let more: String = (0..n / 8).map(|n| format!("{n:032}")).collect();
        asked.object["metadata"]["annotations"]["linkerd.io/injection-record"] = json!(format!("v1:{more}{}", &record[3..]));
        asked
    }),
    ("annotations of the namespace", 2000, |n| {
        let mut asked = Asked::pod(json!({}), json!({}));
        asked.namespace = names("example.com/a", n).map(|key| (key, json!("x"))).collect();
        asked
    }),
    ("values that nobody reads", 500, |n| {
        let mut asked = Asked::pod(json!({}), json!({}));
        asked.values = json!({"podAnnotations": names("a", n).map(|key| (key, json!("x"))).collect::<Map<String, Value>>()});
        asked
    }),
    ("limit ranges", 500, |n| {
        let mut asked = Asked::pod(json!({}), json!({}));
        asked.settings = json!({"limitRange": "apply"});
        let item = json!({"type": "Container", "max": {"cpu": "4"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}});
        asked.more.extend(names("l", n).map(|name| {
            json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name, "namespace": "shop"}, "spec": {"limits": [item]}})
        }));
        asked
    }),
    ("lists of overrides", 1000, |n| {
        let mut asked = Asked::pod(json!({"config.linkerd.io/proxy-uid": "1"}), json!({}));
        asked.settings = json!({"deniedOverrides": vec!["config.linkerd.io/proxy-image"; n]});
        asked
    }),
    ("kinds of owners to skip", 1000, |n| {
        let mut asked = Asked::pod(json!({}), json!({}));
        asked.settings = json!({"skipOwnerKinds": names("K", n).collect::<Vec<_>>()});
        asked
    }),
    ("ports of a service", 1000, |n| {
        let ports: Value = (0..n).map(|n| json!({"port": 1 + n % 65535})).collect();
        let object = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"}, "spec": {"ports": ports}});
        Asked { kind: "Service", object, values: json!({"proxy": {"opaquePorts": "1-65535"}}), ..Asked::pod(json!({}), json!({})) }
    }),
    ("containers of a template", 250, |n| {
        let Asked { object, .. } = Asked::pod(json!({}), json!({"containers": containers(n)}));
        let object =
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": object}});
        Asked { kind: "Deployment", object, ..Asked::pod(json!({}), json!({})) }
    }),
    ("tcpSocket probes", 250, |n| {
        let probed = |name| json!({"name": name, "readinessProbe": {"tcpSocket": {"port": 80}}, "livenessProbe": {"tcpSocket": {"port": 81}}});
        Asked::pod(json!({}), json!({"containers": names("c", n).map(probed).collect::<Value>()}))
    }),
    ("capabilities", 500, |n| {
        let drop: Vec<String> = names("CAP_", n).collect();
        Asked::pod(json!({}), json!({"containers": [{"name": "app", "securityContext": {"capabilities": {"drop": drop}}}]}))
    }),
];

/// What an annotation's text may consist of.
const TEXTS: &[&str] =
    &["x", "1,", "1-65535,", "\u{e9}\u{1f600}", "a=b,", "10.0.0.0/8,", "9", "[", "\"\\", "1ns", "{\"name\":\"A\"},"];

/// So few instructions are as good as none.
const FEW: u64 = 10_000;

/// What each of the last two sizes added, over what the one before it added.
fn ratio(metered: &Metered, sizes: [Asked; 3]) -> f64 {
    let work = sizes.map(|asked| metered.cost("validate", &asked.payload(), &asked.host()).unwrap().instructions);
    (work[2].saturating_sub(work[1])) as f64 / (work[1].saturating_sub(work[0]).max(FEW)) as f64
}

/// The most that may be added, where four times as much is linear and a logarithm is allowed.
const MOST: f64 = 5.0;

fn workers() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[test]
fn the_work_grows_as_the_input_does() {
    let Some(path) = artefacts::module_or_skip("the_work_grows_as_the_input_does") else { return };
    let metered = Metered::open(&path).unwrap();
    let ratios = ask_all(GROWTHS, workers(), |(_, n, grown)| ratio(&metered, [grown(*n), grown(4 * n), grown(16 * n)]));
    let steep: Vec<String> = GROWTHS
        .iter()
        .zip(ratios)
        .filter(|(_, ratio)| *ratio > MOST)
        .map(|((name, ..), ratio)| format!("{name}: {ratio:.1}"))
        .collect();
    assert!(steep.is_empty(), "more than {MOST} times: {}", steep.join(", "));
}

#[test]
fn the_work_grows_as_an_annotation_does() {
    let Some(path) = artefacts::module_or_skip("the_work_grows_as_an_annotation_does") else { return };
    let metered = Metered::open(&path).unwrap();
    let keys = OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).chain([
        "linkerd.io/inject",
        "linkerd.io/injection-record",
        "a.b/c~d",
    ]);
    let tries: Vec<(&str, &str)> = keys.flat_map(|key| TEXTS.iter().map(move |text| (key, *text))).collect();
    let ratios = ask_all(&tries, workers(), |(key, text)| {
        let of = |many: usize| Asked::pod(json!({*key: text.repeat(many / text.len())}), json!({}));
        ratio(&metered, [of(2_000), of(8_000), of(32_000)])
    });
    let steep: Vec<String> = tries
        .iter()
        .zip(ratios)
        .filter(|(_, ratio)| *ratio > MOST)
        .map(|((key, text), ratio)| format!("{key} {text:?}: {ratio:.1}"))
        .collect();
    assert!(steep.is_empty(), "more than {MOST} times: {}", steep.join(", "));
}

/// What is odd, and must come through as it is.
fn odd_objects() -> Vec<(&'static str, Asked)> {
    let with = |name, key: &str, value: Value| {
        let mut asked = Asked::pod(json!({}), json!({}));
        asked.object[key] = value;
        (name, asked)
    };
    let numbers: Value = serde_json::from_str(
        "[9007199254740993, -9007199254740993, 18446744073709551615, -9223372036854775808, 1e400e0]"
            .replace(", 1e400e0", "")
            .as_str(),
    )
    .unwrap();
    // An object of 120 levels is within what is read.
    let deep = (0..100).fold(json!("end"), |inner, n| if n % 2 == 0 { json!({"a.b/c~d": inner}) } else { json!([inner]) });
    let keys =
        json!({"a/b": 1, "a~1b": 2, "~0": 3, "": 4, ".": 5, "a.b.c": 6, "\u{0}": 7, "\u{202e}": 8, "\u{1f600}": 9, "$ref": 10});
    let mut sure = Asked::pod(json!({"a/b~c.d": "\u{0}\u{1f}\u{7f}\u{2028}", "": "empty", "~1": "tilde"}), json!({}));
    sure.object["metadata"]["labels"] = json!({"a.b/c~d": "\"\\/"});
    let mut nulls = Asked::pod(json!({}), json!({}));
    for key in
        ["initContainers", "volumes", "securityContext", "nodeSelector", "tolerations", "hostNetwork", "os", "serviceAccountName"]
    {
        nulls.object["spec"][key] = Value::Null;
    }
    for key in ["labels", "ownerReferences", "generateName", "finalizers", "managedFields", "creationTimestamp"] {
        nulls.object["metadata"][key] = Value::Null;
    }
    for key in ["ports", "env", "envFrom", "resources", "livenessProbe", "securityContext", "volumeMounts", "lifecycle", "command"]
    {
        nulls.object["spec"]["containers"][0][key] = Value::Null;
    }
    nulls.object["status"] = Value::Null;
    let twice = json!([{"name": "app", "image": "a"}, {"name": "app", "image": "b"}, {"name": ""}, {}]);
    vec![
        with("numbers", "status", numbers),
        with("depth", "status", deep),
        with("keys", "status", keys),
        ("annotations", sure),
        ("nulls", nulls),
        ("names twice", Asked::pod(json!({}), json!({"containers": twice, "initContainers": twice, "volumes": twice}))),
        (
            "a megabyte of annotations",
            Asked::pod(
                json!({"example.com/a": "\u{e9}".repeat(500_000), "config.linkerd.io/opaque-ports": "9".repeat(500_000)}),
                json!({}),
            ),
        ),
    ]
}

#[test]
fn nothing_odd_is_lost() {
    for policy in artefacts::policies_or_skip("nothing_odd_is_lost").unwrap() {
        for (name, asked) in odd_objects() {
            let response = asked.answer(policy.as_ref());
            assert_eq!(response.audit("injected"), Some("true"), "{name}: {:?}", response.message);
            let output = response.mutated_object.unwrap();
            let (before, after) = taken_away(&asked.object, &output);
            assert_eq!(after, before, "{name}");
            let again = Asked { object: output, ..asked }.answer(policy.as_ref());
            assert_eq!(again.mutated_object, None, "{name}");
        }
    }
}

#[test]
fn what_cannot_be_read_goes_by_the_setting() {
    let good = String::from_utf8(Asked::pod(json!({}), json!({})).payload()).unwrap();
    let with =
        |text: &str| good.replace(r#""image":"registry.test/app:1""#, &format!(r#""image":"registry.test/app:1","x":{text}"#));
    let deep = |open: &str, end: &str, close: &str, many: usize| format!("{}{end}{}", open.repeat(many), close.repeat(many));
    let unreadable = [
        ("levels beyond those of JSON's readers", with(&deep("[", "", "]", 200))),
        ("many levels", with(&deep("{\"a\":", "1", "}", 100_000))),
        ("half a surrogate pair", with(r#""\ud800""#)),
        ("the halves of a pair in the wrong order", with(r#""\ude00\ud83d""#)),
        ("an escape that is none", with(r#""\x41""#)),
        ("a number beyond all floats", with("1e400")),
        ("a control character in a text", with("\"\u{1}\"")),
        ("something after its end", format!("{good}x")),
    ];
    for policy in artefacts::policies_or_skip("what_cannot_be_read_goes_by_the_setting").unwrap() {
        let ask = |payload: &str| -> Response {
            let host = Asked::pod(json!({}), json!({})).host();
            serde_json::from_slice(&policy.validate(payload.as_bytes(), &host).unwrap()).unwrap()
        };
        assert_eq!(ask(&with(r#""\ud83d\ude00""#)).audit("injected"), Some("true"));
        for (name, payload) in &unreadable {
            let rejected = ask(payload);
            assert_eq!((rejected.accepted, rejected.code), (false, Some(500)), "{name}");
            let message = rejected.message.unwrap();
            assert!(message.starts_with("linkerd-injector-policy: the admission request cannot be read: "), "{name}: {message}");
            let skipping = payload.replace(r#""settings":{}"#, r#""settings":{"onError":"skip"}"#);
            let skipped = ask(&skipping);
            // Where not even the settings can be told from the rest, nobody says to let it through.
            let legible = serde_json::from_str::<Beside>(&skipping).is_ok();
            assert_eq!(skipped.accepted, legible, "{name}");
            assert_eq!(skipped.warnings.is_some(), legible, "{name}");
        }
        // A number beyond whole ones is what every reader of JSON makes of it.
        let wide: Response = ask(&with("123456789012345678901234567890"));
        let image = &wide.mutated_object.unwrap()["spec"]["containers"][0]["x"];
        assert_eq!(image, &serde_json::from_str::<Value>("123456789012345678901234567890").unwrap());
    }
}

/// A payload of which the settings alone are read.
#[derive(serde::Deserialize)]
struct Beside {
    #[allow(dead_code, reason = "it is read, and that is all")]
    settings: Value,
}
