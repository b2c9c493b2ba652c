//! What may happen to the record.

use serde_json::Value;

/// The annotation that holds it.
const RECORD: &str = "linkerd.io/injection-record";

/// What becomes of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is as if it had never been written.
    Missing,
    /// It cannot be read, and a warning says so.
    Unreadable,
    /// It can be read, and tells lies.
    Forged,
}

/// One way in which a record goes wrong.
pub(super) struct Way {
    /// Its name in violations.
    pub(super) name: &'static str,
    /// What becomes of the record.
    pub(super) fate: Fate,
    /// The annotation instead of the right one.
    pub(super) spoil: fn(&str) -> Option<String>,
}

const fn way(name: &'static str, fate: Fate, spoil: fn(&str) -> Option<String>) -> Way {
    Way { name, fate, spoil }
}

/// Every way.
pub(super) const WAYS: &[Way] = &[
    way("record missing", Fate::Missing, |_| None),
    way("record corrupted", Fate::Unreadable, |_| Some("v1:%%%".to_owned())),
    way("record cut short", Fate::Unreadable, |record| Some(record.get(..record.len().saturating_sub(3))?.to_owned())),
    way("record of another version", Fate::Unreadable, |record| Some(record.replacen("v1:", "v2:", 1))),
    way("record empty", Fate::Unreadable, |_| Some(String::new())),
    way("record of nothing", Fate::Forged, |_| Some("v1:".to_owned())),
    way("record of half of it", Fate::Forged, |record| {
        let (version, pairs) = record.split_once(':')?;
        // Three pairs of eight bytes are 32 characters.
        let kept: String = pairs.as_bytes().chunks(32).step_by(2).flat_map(|c| c.iter().map(|b| char::from(*b))).collect();
        Some(format!("{version}:{kept}"))
    }),
    way("record of other values", Fate::Forged, |record| {
        let (version, pairs) = record.split_once(':')?;
        let turned = pairs.chars().enumerate().map(|(at, c)| if at.checked_rem(32)? == 7 { Some('A') } else { Some(c) });
        Some(format!("{version}:{}", turned.collect::<Option<String>>()?))
    }),
];

/// The record of a pod.
pub(super) fn of(pod: &Value) -> Option<&str> {
    pod.get("metadata")?.get("annotations")?.get(RECORD)?.as_str()
}

/// Writes another record, or takes it out.
pub(super) fn put(pod: &mut Value, record: Option<String>) {
    let annotations = pod.get_mut("metadata").and_then(|m| m.get_mut("annotations")).and_then(Value::as_object_mut);
    match (annotations, record) {
        (Some(annotations), Some(record)) => {
            annotations.insert(RECORD.to_owned(), record.into());
        }
        (Some(annotations), None) => {
            annotations.remove(RECORD);
        }
        (None, _) => {}
    }
}

/// Whether a warning is about it.
pub(super) fn is_named(warnings: &[String]) -> bool {
    warnings.iter().any(|warning| warning.contains(RECORD))
}
