//! A policy that does on demand what a policy can do.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    host::Host,
    policy::{Policy, PolicyError},
};

/// Injects what asks for it, rejects and warns on demand: enough to see what a preview does with each answer.
pub struct Fake;

impl Policy for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn validate(&self, payload: &[u8], host: &Arc<Host>) -> Result<Vec<u8>, PolicyError> {
        let payload: Value = serde_json::from_slice(payload)?;
        let request = &payload["request"];
        let mut object = request["object"].clone();
        let query = json!({"api_version": "v1", "kind": "Namespace", "name": request["namespace"], "disable_cache": false});
        let namespace = host.call("kubewarden", "kubernetes", "get_resource", query.to_string().as_bytes());
        let namespace: Value = serde_json::from_slice(&namespace.unwrap())?;
        let annotation = |key: &str| {
            let of = |object: &Value| object["metadata"]["annotations"][key].as_str().map(str::to_owned);
            of(&object).or_else(|| of(&namespace))
        };
        let warnings: Vec<String> = annotation("warn").into_iter().collect();
        if let Some(message) = annotation("reject") {
            return Ok(serde_json::to_vec(&json!({"accepted": false, "message": message, "warnings": warnings}))?);
        }
        let wanted = annotation("inject").is_some() && request["kind"]["kind"] == "Pod";
        if !wanted {
            let audit = json!({"injected": "false", "reason": "not_asked"});
            return Ok(serde_json::to_vec(&json!({"accepted": true, "warnings": warnings, "audit_annotations": audit}))?);
        }
        object["metadata"]["labels"]["injected"] = json!("yes");
        let mounts = object["spec"]["containers"][0]["volumeMounts"].clone();
        let proxy = json!({"name": "proxy", "image": "p", "volumeMounts": mounts});
        object["spec"]["containers"].as_array_mut().unwrap().insert(0, proxy);
        let audit = json!({"injected": "true"});
        Ok(serde_json::to_vec(&json!({
            "accepted": true, "mutated_object": object, "warnings": warnings, "audit_annotations": audit
        }))?)
    }

    fn validate_settings(&self, payload: &[u8]) -> Result<Vec<u8>, PolicyError> {
        let settings: Value = serde_json::from_slice(payload)?;
        let wrong = settings.get("wrong").is_some();
        Ok(serde_json::to_vec(&json!({"valid": !wrong, "message": wrong.then_some("unknown key \"wrong\"")}))?)
    }
}

/// Asks to be injected.
pub const DEPLOYMENT: &str = "\
# the shop's front
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # a name
spec:
  replicas: 2
  template:
    metadata:
      annotations:
        inject: please
    spec:
      containers:
      - image: nginx
        name: app
";
/// [`DEPLOYMENT`] as the preview shows it.
pub const INJECTED: &str = "\
# the shop's front
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  template:
    metadata:
      annotations:
        inject: please
      labels:
        injected: 'yes'
    spec:
      containers:
      - name: proxy
        image: p
      - image: nginx
        name: app
";
/// A pod with an annotation of which the key is still to be said.
pub const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {KEY: why}}\nspec: {containers: [{name: a}]}\n";
