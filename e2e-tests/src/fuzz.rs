//! What must hold whatever comes in: the bodies of the fuzz targets, and of the test that runs them over a small corpus.
//!
//! In: any bytes, which each target makes something else of. Out: what does not hold, in a sentence. A panic of the policy is one of
//! the program. The targets of libFuzzer are in `e2e-tests/fuzz`, and call these.

use std::sync::{Arc, LazyLock};

use linkerd_injector_policy::overrides::OVERRIDES;
use serde_json::{Map, Value, json};

use crate::{
    added::taken_away,
    case::{Case, control_plane, corpus},
    cluster::Manifests,
    host::Host,
    laws::{Extent, try_case},
    policy::{Native, Policy as _, Response},
};

mod mutate;

pub use self::mutate::Mutations;

/// What does not hold.
pub type Held = Result<(), String>;

/// One target: its name, which is that of its folder in `e2e-tests/fuzz/corpus`, and its body.
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// What must hold of these bytes.
    pub body: fn(&[u8]) -> Held,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "request", body: request },
    Target { name: "settings", body: settings },
    Target { name: "annotations", body: annotations },
    Target { name: "values", body: values },
    Target { name: "record", body: record },
];

/// The longest line of an answer.
const LONGEST: usize = 120;

/// Any case with a pod that asks for the mesh, and the cluster that all is tried in.
static MESHED: LazyLock<Option<Case>> =
    LazyLock::new(|| corpus::cases().ok()?.into_iter().find(|case| case.name == "realistic/web-api+plain"));

fn meshed() -> Result<Case, String> {
    MESHED.clone().ok_or_else(|| "there is no corpus".to_owned())
}

/// A payload as the host sends it.
///
/// # Errors
/// What does not hold of the answer.
pub fn request(data: &[u8]) -> Held {
    let case = meshed()?;
    let manifests = case.manifests();
    let response = ask(data, &manifests)?;
    // Of what is not read, not every letter is looked at: no policy server sends it.
    let Ok(payload) = serde_json::from_slice::<Value>(data) else { return Ok(()) };
    let Some(output) = &response.mutated_object else { return Ok(()) };
    let input = payload.pointer("/request/object").unwrap_or(&Value::Null);
    // What the settings forbid is taken off, and an earlier injection is changed.
    let first = input.pointer("/metadata/annotations/linkerd.io~1injection-record").is_none();
    let lenient = payload.pointer("/settings/deniedOverrides").or_else(|| payload.pointer("/settings/allowedOverrides")).is_none();
    if first && lenient {
        intact(input, output)?;
        if response.audit("injected") == Some("true") {
            let mut meshed = case.clone();
            meshed.request.object = input.clone();
            laws(&meshed, payload.get("settings").unwrap_or(&Value::Null))?;
        }
    }
    let mut again = payload.clone();
    if let Some(object) = again.pointer_mut("/request/object") {
        *object = output.clone();
    }
    let second = ask(&serde_json::to_vec(&again).map_err(|error| error.to_string())?, &manifests)?;
    holds(second.mutated_object.is_none_or(|object| object == *output), "a second call changes something")
}

/// Settings, when the policy is installed and with a request.
///
/// # Errors
/// What does not hold of the answers.
pub fn settings(data: &[u8]) -> Held {
    let answer = Native.validate_settings(data).map_err(|error| error.to_string())?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| format!("an answer to settings is no JSON: {error}"))?;
    let valid = answer.get("valid").and_then(Value::as_bool).ok_or("an answer to settings does not say whether they are valid")?;
    holds(valid == answer.get("message").is_none_or(Value::is_null), "settings are refused without a word, or accepted with one")?;
    let Ok(settings) = serde_json::from_slice::<Value>(data) else {
        return holds(!valid, "settings that are no JSON are valid");
    };
    let case = meshed()?;
    let payload = json!({"request": case.admission_request(), "settings": settings}).to_string();
    let response = ask(payload.as_bytes(), &case.manifests())?;
    // What is refused when it is installed is refused in a request, too, unless it is within values; what is valid is never the reason of an error.
    let of_settings = response.message.is_some_and(|message| message.contains("the settings cannot be used"));
    holds(!(valid && of_settings), "settings that are valid cannot be used")
}

/// Annotations: each line is one, of the pod or after an exclamation mark of its namespace; a number before the first space chooses the
/// key.
///
/// # Errors
/// What does not hold of the answers.
pub fn annotations(data: &[u8]) -> Held {
    let case = annotated(data)?;
    let payload = json!({"request": case.admission_request(), "settings": case.settings(&Value::Null)}).to_string();
    request(payload.as_bytes())?;
    let response = ask(payload.as_bytes(), &case.manifests())?;
    holds(response.accepted, "an annotation costs a pod its start")?;
    laws(&case, &Value::Null)
}

/// The case that the lines make.
///
/// # Errors
/// There is no corpus.
pub fn annotated(data: &[u8]) -> Result<Case, String> {
    let keys: Vec<&str> = OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).chain(["linkerd.io/inject"]).collect();
    let mut case = meshed()?;
    let mut own = Map::from_iter([("linkerd.io/inject".to_owned(), json!("enabled"))]);
    for line in String::from_utf8_lossy(data).split('\n').take(16) {
        let (line, of_namespace) = line.strip_prefix('!').map_or((line, false), |rest| (rest, true));
        let (number, text) = line.split_once(' ').unwrap_or((line, ""));
        let number =
            number.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(10).wrapping_add(usize::from(byte.wrapping_sub(b'0'))));
        let Some(key) = number.checked_rem(keys.len()).and_then(|at| keys.get(at)) else { continue };
        let map = if of_namespace { &mut case.namespace.annotations } else { &mut own };
        map.insert((*key).to_owned(), json!(text));
    }
    if let Some(metadata) = case.request.object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("annotations".to_owned(), own.into());
    }
    Ok(case)
}

/// The text of the ConfigMap `linkerd-config`.
///
/// # Errors
/// What does not hold of the answer.
pub fn values(data: &[u8]) -> Held {
    let case = meshed()?;
    let [mut config, roots] = control_plane(&case.control_plane_namespace, &json!({}), &case.trust_anchors);
    if let Some(data_of) = config.get_mut("data").and_then(Value::as_object_mut) {
        data_of.insert("values".to_owned(), json!(String::from_utf8_lossy(data)));
    }
    let metadata = json!({"name": case.namespace.name, "annotations": case.namespace.annotations});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
    let payload = json!({"request": case.admission_request(), "settings": case.settings(&Value::Null)}).to_string();
    let response = ask(payload.as_bytes(), &Manifests::new(vec![namespace, config, roots]))?;
    if let Some(output) = &response.mutated_object {
        intact(&case.request.object, output)?;
        let mut case = case;
        if let Ok(values) = serde_norway::from_slice(data) {
            case.values = values;
        }
        return laws(&case, &Value::Null);
    }
    let refused = response.message.unwrap_or_default();
    let told = refused.contains("ConfigMap linkerd/linkerd-config cannot be used: ");
    let reasons = ["disabled_automount_service_account_token_account", "sidecar_already_exists"];
    let skipped =
        response.audit_annotations.as_ref().and_then(|audit| audit.get("reason")).is_some_and(|r| reasons.contains(&r.as_str()));
    holds(told || skipped, "a pod stays out of the mesh in silence")
}

/// What stands in the record of a pod that is injected, as its text and as the bytes that it encodes.
///
/// # Errors
/// What does not hold of the answers.
pub fn record(data: &[u8]) -> Held {
    use base64::Engine as _;
    let encoded = format!("v1:{}", base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(data));
    let case = meshed()?;
    let payload = |object: &Value| {
        let mut request = case.admission_request();
        if let Some(place) = request.get_mut("object") {
            *place = object.clone();
        }
        json!({"request": request, "settings": case.settings(&Value::Null)}).to_string().into_bytes()
    };
    let manifests = case.manifests();
    let first = ask(&payload(&case.request.object), &manifests)?.mutated_object.ok_or("a pod that asks is not injected")?;
    for text in [encoded, String::from_utf8_lossy(data).into_owned()] {
        for (name, mut pod) in [("a new pod", case.request.object.clone()), ("an injected pod", first.clone())] {
            let Some(annotations) = pod.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) else { continue };
            annotations.insert("linkerd.io/injection-record".to_owned(), json!(text));
            let response = ask(&payload(&pod), &manifests)?;
            holds(response.audit("injected") == Some("true"), &format!("a record keeps {name} out of the mesh"))?;
            let output = response.mutated_object.unwrap_or(pod);
            let again = ask(&payload(&output), &manifests)?;
            holds(again.mutated_object.is_none(), &format!("a second call changes {name} with a forged record"))?;
            let asserted = |pod: &Value| proxy_env(pod, "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS").cloned();
            holds(asserted(&output) == asserted(&first), &format!("a record decides whom {name} trusts"))?;
        }
    }
    Ok(())
}

fn proxy_env<'a>(pod: &'a Value, name: &str) -> Option<&'a Value> {
    let lists = ["initContainers", "containers"].into_iter().filter_map(|list| pod.get("spec")?.get(list)?.as_array());
    let proxy = lists.flatten().find(|container| container.get("name").is_some_and(|n| n == "linkerd-proxy"))?;
    proxy.get("env")?.as_array()?.iter().find(|entry| entry.get("name").is_some_and(|n| n == name))?.get("value")
}

/// The four laws, with one in so many of all edits.
fn laws(case: &Case, settings: &Value) -> Held {
    let report = try_case(&Native, settings, case, Extent::Share(48)).map_err(|error| error.to_string())?;
    report.violations.first().map_or(Ok(()), |violation| Err(violation.to_string()))
}

/// An answer that is one.
fn ask(payload: &[u8], cluster: &Manifests) -> Result<Response, String> {
    let host = Arc::new(Host::new(cluster.clone()));
    let bytes = Native.validate(payload, &host).map_err(|error| error.to_string())?;
    let response: Response = serde_json::from_slice(&bytes).map_err(|error| format!("an answer is not of its shape: {error}"))?;
    let refused = [response.message.is_some(), response.code.is_some()];
    holds(refused == [!response.accepted; 2], "an answer is neither a refusal nor an acceptance")?;
    holds(response.accepted || response.mutated_object.is_none(), "what is refused is changed")?;
    holds(response.audit("injected").is_some() && response.audit("reason").is_some(), "an answer does not say why")?;
    let line = |warning: &String| warning.chars().count() <= LONGEST && !warning.contains(char::is_control);
    holds(response.warnings.iter().flatten().all(line), "a warning is no line")?;
    Ok(response)
}

/// The user's part of an object is as it was.
fn intact(input: &Value, output: &Value) -> Held {
    let (before, after) = taken_away(input, output);
    holds(before == after, "something of the user's is lost or changed")
}

fn holds(condition: bool, otherwise: &str) -> Held {
    if condition { Ok(()) } else { Err(otherwise.to_owned()) }
}
