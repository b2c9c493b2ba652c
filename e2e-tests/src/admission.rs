//! Admission requests as a policy server hands them to a policy.

use serde_json::{Map, Value, json};

use crate::kinds;

/// What an admission request is made of.
#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {
    /// The kind that the webhook matched.
    pub kind: &'a str,
    /// The namespace of the request; the object's own may be absent.
    pub namespace: &'a str,
    /// `CREATE`, `UPDATE`, …
    pub operation: &'a str,
    /// The object to be stored.
    pub object: &'a Value,
    /// Who sent it.
    pub user: &'a str,
}

impl Admission<'_> {
    /// The request as the policy server writes it: camelCase keys, absent ones left out.
    #[must_use]
    pub fn request(&self) -> Value {
        let given = self.object.get("apiVersion").and_then(Value::as_str);
        let api_version = given
            .or_else(|| kinds::KINDS.iter().find(|known| known.kind == self.kind).map(|known| known.api_version))
            .unwrap_or("v1");
        let (group, version) = kinds::group_version(api_version);
        let kind = json!({"group": group, "version": version, "kind": self.kind});
        let resource = json!({"group": group, "version": version, "resource": kinds::plural(api_version, self.kind)});
        let mut request = Map::new();
        let mut put = |key: &str, value: Value| request.insert(key.to_owned(), value);
        put("uid", json!("6b1f1b53-9f3c-4b0e-8f3e-2d0c6f1a7c55"));
        put("kind", kind.clone());
        put("resource", resource.clone());
        put("requestKind", kind);
        put("requestResource", resource);
        if let Some(name) = self.object.pointer("/metadata/name").and_then(Value::as_str) {
            put("name", json!(name));
        }
        if !self.namespace.is_empty() {
            put("namespace", json!(self.namespace));
        }
        put("operation", json!(self.operation));
        put("userInfo", json!({"username": self.user, "groups": ["system:authenticated"]}));
        if !self.object.is_null() {
            put("object", self.object.clone());
        }
        put("dryRun", json!(false));
        put("options", json!({"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"}));
        Value::Object(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_the_policy_server_sends() {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
        let admission = Admission { kind: "Deployment", namespace: "shop", operation: "CREATE", object: &object, user: "jane" };
        let request = admission.request();
        assert_eq!(request["kind"], json!({"group": "apps", "version": "v1", "kind": "Deployment"}));
        assert_eq!(request["resource"], json!({"group": "apps", "version": "v1", "resource": "deployments"}));
        assert_eq!(request["name"], "web");
        assert_eq!(request["object"], object);

        let unnamed = json!({"metadata": {"generateName": "web-"}});
        let request = Admission { kind: "Pod", namespace: "", object: &unnamed, ..admission }.request();
        assert_eq!(request["resource"], json!({"group": "", "version": "v1", "resource": "pods"}));
        assert_eq!((request.get("name"), request.get("namespace")), (None, None));
    }
}
