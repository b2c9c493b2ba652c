//! The mesh's values in the host's answer, read where they stand.
//!
//! They are the longest text that a call gets. It is read as JSON escapes it, once and without a copy.

use crate::values::Values;
use crate::yaml::{self, Node};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;

/// What stands before the text in JSON without blanks, as the host writes it.
const START: &str = r#""values":""#;

#[derive(serde::Deserialize)]
struct ConfigMap<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

/// The values among texts that JSON writes as they are; no map of them is needed.
struct Data<'a>(Option<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for Data<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = Data<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Data<'de>, A::Error> {
                let mut values = None;
                while let Some((key, text)) = map.next_entry::<&'de str, &'de str>()? {
                    if key == "values" {
                        values = Some(text);
                    }
                }
                Ok(Data(values))
            }
        }
        deserializer.deserialize_map(Texts)
    }
}

/// What stands at each of [`Values::PATHS`], where the answer is a ConfigMap with values; nothing at the slightest doubt.
pub(super) fn leaves_of(answer: &[u8]) -> Option<Vec<Option<Node<'_>>>> {
    let answer = std::str::from_utf8(answer).ok()?;
    let (before, text) = answer.split_once(START)?;
    let (leaves, behind) = yaml::read(text, Values::PATHS)?;
    // Around the text, which is read now, the answer is JSON like any other, and what is left of the values stands where they were found.
    let around = [before, START, behind].concat();
    let left = serde_json::from_slice::<ConfigMap<'_>>(around.as_bytes()).ok()?.data.0?;
    let at = left.as_ptr().addr().checked_sub(around.as_ptr().addr())?;
    (at == before.len().saturating_add(START.len())).then_some(leaves)
}

#[cfg(test)]
mod tests {
    use super::leaves_of;

    #[test]
    fn where_the_values_stand() {
        let taken = |answer: &str| leaves_of(answer.as_bytes()).is_some();
        for answer in [
            r#"{"data":{"values":"a: 1\n"}}"#,
            r#"{"kind": "Config\u004dap", "data" : { "x": "values", "values":"a: \"\"\n", "y": "A" }, "metadata": {"values": 1}}"#,
            r#"{"data":{"values":"a: 1\n"},"metadata":{"labels":{"values":"b: 1\n"}}}"#,
            r#"{"data":{"values":"a: 1\n"} }"#,
        ] {
            assert!(taken(answer), "{answer}");
        }
        for answer in [
            r#"{"data":{"values": "a: 1\n"}}"#,
            r#"{"data":{"values":""}}"#,
            r#"{"data":{"values":1}}"#,
            r#"{"data":{"values":null}}"#,
            r#"{"data":{"values":"a: 1\n","values":"b: 1\n"}}"#,
            r#"{"data":{"values":"a: 1\n","values":""}}"#,
            r#"{"data":{"values":"a: 1\n","x":"\u0041"}}"#,
            r#"{"data":{"values":"a: 1\n","v\u0061lues":"b: 1\n"}}"#,
            r#"{"data":{"values":"a: 1\n","x":1}}"#,
            r#"{"data":{"v\u0061lues":"a: 1\n"}}"#,
            r#"{"data":{},"values":"a: 1\n"}"#,
            r#"{"labels":{"values":"b: 1\n"},"data":{"values":"a: 1\n"}}"#,
            r#"{"data":{"values":"a: 1\n"},"data":{}}"#,
            r#"{"data":"values":"a: 1\n"}"#,
            r#"["data",{"values":"a: 1\n"}]"#,
            r#"{"data":{"values":"a: 1\n"}"#,
            r#"{"data":{"values":"a: 1\n}}"#,
            r#"{"data":{"values":"a: 1\n"}} x"#,
            r#"{"data":{"values":"a: 1\n"x}}"#,
            "{\"data\":{\"values\":\"a: 1\n\"}}",
            "{}",
            "",
        ] {
            assert!(!taken(answer), "{answer}");
        }
        assert!(leaves_of(b"{\"data\":{\"values\":\"a: 1\\n\",\"x\":\"\xff\"}}").is_none());
    }
}
