//! A variable of the proxy.
//!
//! There are seventy, and a JSON object of two fields has room for eleven: as values, they would be a third of the memory that a
//! request asks for. So they stay typed until the pod is written.

use super::json::Json;
use k8s_openapi::api::core::v1::{EnvVar, EnvVarSource, ObjectFieldSelector};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A variable of the proxy.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// One with a text.
    Text {
        /// Its name.
        name: String,
        /// The text.
        value: String,
    },
    /// One with what a field of the pod says.
    Field {
        /// Its name.
        name: &'static str,
        /// The field's path.
        path: &'static str,
    },
    /// One that values or annotations give, as an entry of an environment.
    Given(Value),
}

impl Variable {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Variable::Text { name, .. } => name,
            Variable::Field { name, .. } => name,
            Variable::Given(entry) => entry.get("name").and_then(Value::as_str).unwrap_or_default(),
        }
    }

    /// The same as a value.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            Variable::Text { name, value } => EnvVar { name, value: Some(value), value_from: None }.json(),
            Variable::Field { name, path } => {
                let field_ref = Some(ObjectFieldSelector { field_path: path.to_owned(), api_version: None });
                let value_from = Some(EnvVarSource { field_ref, ..EnvVarSource::default() });
                EnvVar { name: name.to_owned(), value: None, value_from }.json()
            }
            Variable::Given(entry) => entry,
        }
    }
}

impl Serialize for Variable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Variable::Text { name, value } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("value", value)?;
                map.end()
            }
            Variable::Field { name, path } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("valueFrom", &One("fieldRef", &One("fieldPath", path)))?;
                map.end()
            }
            Variable::Given(entry) => entry.serialize(serializer),
        }
    }
}

/// An object of one field.
struct One<'a, T: ?Sized>(&'static str, &'a T);

impl<T: Serialize + ?Sized> Serialize for One<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, self.1)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::Variable;
    use serde_json::json;

    #[test]
    fn a_variable_is_written_as_its_value_is() {
        let entry = json!({"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}});
        for (variable, name, expected) in [
            (Variable::Text { name: "A".to_owned(), value: "a\n\"b\"".to_owned() }, "A", json!({"name": "A", "value": "a\n\"b\""})),
            (Variable::Text { name: "A".to_owned(), value: String::new() }, "A", json!({"name": "A", "value": ""})),
            (
                Variable::Field { name: "_pod_ip", path: "status.podIP" },
                "_pod_ip",
                json!({"name": "_pod_ip", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}),
            ),
            (Variable::Given(entry.clone()), "C", entry),
        ] {
            assert_eq!(variable.name(), name);
            assert_eq!(serde_json::to_string(&variable).unwrap(), expected.to_string());
            assert_eq!(variable.into_value(), expected);
        }
    }
}
