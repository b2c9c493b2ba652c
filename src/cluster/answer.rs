//! The text of the mesh's values in the host's answer, where it stands.
//!
//! It is the largest text that a call gets: it is read as JSON escapes it, without a copy.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The key of the text in the ConfigMap.
const VALUES: &str = "values";

#[derive(serde::Deserialize)]
struct ConfigMap<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

/// Where in an answer the key of the values stands.
struct Data<'a>(Option<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Data<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Data<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data<'de>, A::Error> {
                let mut values = None;
                while let Some(key) = map.next_key::<&'de str>()? {
                    if key == VALUES {
                        values = Some(key);
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        map.next_value::<Cow<'de, str>>()?;
                    }
                }
                Ok(Data(values))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// The text of the values from behind its quote on, where the answer is a ConfigMap with one; nothing at the slightest doubt.
pub(super) fn values_in(answer: &[u8]) -> Option<&str> {
    let answer = std::str::from_utf8(answer).ok()?;
    let key = serde_json::from_str::<ConfigMap<'_>>(answer).ok()?.data.0?;
    // The key is a part of the answer; as JSON, the value follows it.
    let at = key.as_ptr().addr().checked_sub(answer.as_ptr().addr())?;
    let behind = answer.get(at..)?.strip_prefix(VALUES)?.strip_prefix('"')?;
    behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')
}

#[cfg(test)]
mod tests {
    use super::values_in;

    #[test]
    fn where_the_values_stand() {
        for (answer, expected) in [
            (r#"{"data":{"values":"a: 1\n"}}"#, Some(r#"a: 1\n"}}"#)),
            (
                r#"{"kind": "ConfigMap", "data" : { "x": "values", "values" : "", "y": "\u0041" }, "metadata": {"values": 1}}"#,
                Some(r#"", "y": "\u0041" }, "metadata": {"values": 1}}"#),
            ),
            (r#"{"data":{"values":"1","values":"2"}}"#, Some(r#"2"}}"#)),
            (r#"{"data":{"values":1}}"#, None),
            (r#"{"data":{"values":null}}"#, None),
            (r#"{"data":{"values":"","x":1}}"#, None),
            (r#"{"data":{"v\u0061lues":""}}"#, None),
            (r#"{"data":{},"values":""}"#, None),
            (r#"{"data":null}"#, None),
            (r#"{}"#, None),
            (r#"[]"#, None),
            (r#"{"data":{"values":"a: 1\n"}"#, None),
            ("{\"data\":{\"values\":\"a: 1\n\"}}", None),
            (r#"{"data":{"values":""}} x"#, None),
        ] {
            assert_eq!(values_in(answer.as_bytes()), expected, "{answer}");
        }
        assert_eq!(values_in(b"{\"data\":{\"values\":\"\xff\"}}"), None);
    }
}
