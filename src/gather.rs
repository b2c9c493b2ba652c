//! Maps made of pairs.
//!
//! They are filled one by one: `collect` sorts first, with a sort of its own for every iterator, several kilobytes of the module each.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A map of what an iterator gives; of a key that comes twice, the last value.
pub(crate) fn map<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}

/// The same as a JSON object.
pub(crate) fn object(pairs: impl IntoIterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut map = Map::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}
