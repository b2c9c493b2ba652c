//! Small edits of JSON objects and of their lists of named items.

use serde_json::{Map, Value};

/// The object at a key, made where there is none. What has another shape was refused when the object was read.
pub(super) fn child<'a>(of: &'a mut Value, key: &str) -> &'a mut Value {
    if !of.is_object() {
        *of = Value::Object(Map::new());
    }
    made(of, key, || Value::Object(Map::new()), Value::is_object)
}

/// The list at a key, made where there is none.
pub(super) fn list<'a>(of: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    made(of, key, || Value::Array(Vec::new()), Value::is_array).as_array_mut()
}

/// The list at a key, where there is one.
pub(super) fn existing<'a>(of: &'a mut Value, key: &str) -> Option<&'a mut Vec<Value>> {
    of.get_mut(key)?.as_array_mut()
}

fn made<'a>(of: &'a mut Value, key: &str, empty: fn() -> Value, is: fn(&Value) -> bool) -> &'a mut Value {
    // Indexing inserts a null where there is no such key; the caller has made sure that this is an object.
    #[allow(clippy::indexing_slicing, reason = "a JSON object, which grows by indexing")]
    let at = &mut of[key];
    if !is(at) {
        *at = empty();
    }
    at
}

/// Sets a key of an object, or takes it out.
pub(super) fn set(map: &mut Value, key: &str, value: Option<Value>) {
    match (map.as_object_mut(), value) {
        (Some(map), Some(value)) => {
            map.insert(key.to_owned(), value);
        }
        (Some(map), None) => {
            map.remove(key);
        }
        (None, _) => {}
    }
}

/// The name of an item; empty where it has none.
pub(super) fn name_of(item: &Value) -> &str {
    item.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// The items of a list.
pub(super) fn items<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The item of that name.
pub(super) fn named<'a>(of: &'a Value, key: &str, name: &str) -> Option<&'a Value> {
    items(of, key).iter().find(|item| name_of(item) == name)
}

/// Takes all items of a name out of a list.
pub(super) fn take_out(of: &mut Value, key: &str, name: &str) {
    if let Some(items) = existing(of, key) {
        items.retain(|item| name_of(item) != name);
    }
}

/// Puts a value in the place of the first item of its name, or at the end.
pub(super) fn put_named(of: &mut Value, key: &str, value: Value) {
    let Some(items) = list(of, key) else { return };
    match items.iter_mut().find(|item| name_of(item) == name_of(&value)) {
        Some(item) => *item = value,
        None => items.push(value),
    }
}
