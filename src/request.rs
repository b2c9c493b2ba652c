//! What the host sends: the admission request beside the settings.
//!
//! Own structs rather than the SDK's, whose errors carry the whole payload and whose kinds lose the resource's plural name. The
//! object stays a [`Value`] from here on: nothing of the user's goes through a type.

use serde::Deserialize;
use serde_json::Value;

/// The payload of `validate`.
#[derive(Debug, Deserialize)]
pub struct Payload {
    /// The admission request.
    pub request: Request,
    /// The settings of the policy.
    #[serde(default)]
    pub settings: Value,
}

/// The part of an admission request that the policy reads.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Kind of the object; a request that does not say it cannot be judged.
    pub kind: GroupKind,
    /// Namespace of the object; empty for objects of the cluster.
    #[serde(default)]
    pub namespace: Option<String>,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    #[serde(default)]
    pub operation: Option<String>,
    /// Set for sub-resources, as `ephemeralcontainers`.
    #[serde(default)]
    pub sub_resource: Option<String>,
    /// The object as it is to be stored; none when it is deleted.
    #[serde(default)]
    pub object: Option<Value>,
}

/// Group and kind of an object; the group of core objects is empty.
#[derive(Debug, Deserialize)]
pub struct GroupKind {
    /// The API group.
    #[serde(default)]
    pub group: Option<String>,
    /// The kind.
    pub kind: String,
}

/// A payload that is not an admission request. It says where reading ended, never what stood there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the admission request cannot be read: {what} at line {line} column {column}")]
pub struct RequestError {
    what: &'static str,
    line: usize,
    column: usize,
}

impl Payload {
    /// Reads the payload once.
    ///
    /// # Errors
    /// [`RequestError`] when it is not JSON, or not of the shape of a request.
    pub fn read(payload: &[u8]) -> Result<Payload, RequestError> {
        use serde_json::error::Category;
        serde_json::from_slice(payload).map_err(|error| RequestError {
            what: match error.classify() {
                Category::Syntax => "not JSON",
                Category::Eof => "it ends too early",
                Category::Data | Category::Io => "not of its shape",
            },
            line: error.line(),
            column: error.column(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Payload;

    #[test]
    fn errors_name_the_place_and_never_the_payload() {
        for (payload, expected) in [
            ("", "the admission request cannot be read: it ends too early at line 1 column 0"),
            ("{\"request\":", "the admission request cannot be read: it ends too early at line 1 column 11"),
            ("secret", "the admission request cannot be read: not JSON at line 1 column 1"),
            ("{}", "the admission request cannot be read: not of its shape at line 1 column 2"),
            ("{\"request\":\"secret\"}", "the admission request cannot be read: not of its shape at line 1 column 19"),
            ("{\"request\":[]}", "the admission request cannot be read: not of its shape at line 1 column 13"),
            ("{\"request\":{}}", "the admission request cannot be read: not of its shape at line 1 column 13"),
            ("{\"request\":{\"kind\":{}}}", "the admission request cannot be read: not of its shape at line 1 column 21"),
            ("{\"request\":{\"operation\":[]}}", "the admission request cannot be read: not of its shape at line 1 column 24"),
        ] {
            assert_eq!(Payload::read(payload.as_bytes()).unwrap_err().to_string(), expected, "{payload}");
        }
    }

    #[test]
    fn numbers_keep_every_digit() {
        let text = r#"{"request":{"kind":{"kind":"Pod"},"object":{"a":18446744073709551615,"b":0.30000000000000004,"c":-9223372036854775808}}}"#;
        let object = Payload::read(text.as_bytes()).unwrap().request.object.unwrap();
        assert_eq!(object.to_string(), r#"{"a":18446744073709551615,"b":0.30000000000000004,"c":-9223372036854775808}"#);
    }
}
