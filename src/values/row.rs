//! What a row of the chart's values is, and how it takes a leaf over.

use crate::values::Values;
use serde_json::Value;
use std::borrow::Cow;

/// One leaf of the chart's values.
pub(super) struct Row {
    /// Dotted path in the chart's values.
    pub(super) path: &'static str,
    set: Set,
}

/// Takes a leaf over, or says what it is not.
type Take = fn(&mut Values, &Value) -> Result<(), String>;
/// Says what a text is not.
type Check = fn(&str) -> Result<(), String>;

/// How a leaf is taken over.
enum Set {
    /// Text, or a number or boolean that YAML made of it.
    Text(fn(&mut Values) -> &mut String, Check),
    /// Anything else.
    Other(Take),
}

/// What stands at a leaf.
pub(crate) enum Leaf<'a> {
    /// A text.
    Text(&'a str),
    /// Anything else, or a text as well.
    Other(&'a Value),
}

pub(super) const fn row(path: &'static str, take: Take) -> Row {
    Row { path, set: Set::Other(take) }
}

pub(super) const fn text(path: &'static str, field: fn(&mut Values) -> &mut String, check: Check) -> Row {
    Row { path, set: Set::Text(field, check) }
}

impl Row {
    /// Takes the leaf over, or says what it is not.
    pub(super) fn set(&self, values: &mut Values, leaf: Leaf<'_>) -> Result<(), String> {
        match (&self.set, leaf) {
            (Set::Text(field, check), Leaf::Text(text)) => take_text(field(values), text, *check),
            (Set::Text(field, check), Leaf::Other(value)) => take_text(field(values), &text_of(value)?, *check),
            (Set::Other(take), Leaf::Text(text)) => take(values, &text.into()),
            (Set::Other(take), Leaf::Other(value)) => take(values, value),
        }
    }
}

/// The text of a leaf, of which YAML may have made a number or boolean.
pub(super) fn text_of(value: &Value) -> Result<Cow<'_, str>, String> {
    Ok(match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(number) => Cow::Owned(number.to_string()),
        Value::Bool(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
        Value::Array(_) | Value::Object(_) => return Err("not a text".to_owned()),
    })
}

/// What is there already was found good before; most of what a chart writes are its defaults.
fn take_text(to: &mut String, text: &str, check: Check) -> Result<(), String> {
    if to == text {
        debug_assert_eq!(check(text), Ok(()), "a value that was never checked");
        return Ok(());
    }
    check(text)?;
    text.clone_into(to);
    Ok(())
}
