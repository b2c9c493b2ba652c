//! Random JSON, from a seed.

use fastrand::Rng;
use serde_json::{Map, Number, Value, json};

/// How long the random tests are; 1 unless the environment says more.
pub fn rounds() -> u64 {
    std::env::var("PROPERTY_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// How the name of every planted key begins.
const PLANTED: &str = "unknownTo";

/// Words that a reader may take for something it knows.
const WORDS: &[&str] = &[
    "name",
    "kind",
    "metadata",
    "spec",
    "annotations",
    "containers",
    "initContainers",
    "volumes",
    "env",
    "value",
    "resources",
    "ports",
    "enabled",
    "disabled",
    "linkerd.io/inject",
    "config.linkerd.io/proxy-cpu-limit",
    "Pod",
    "Service",
    "CREATE",
    "linkerd",
    "$(NAME)",
    "true",
    "1",
    "-1",
    "100m",
    "1e400",
    "\u{0}",
    "é\u{202e}",
    "{\"a\":1}",
    "]]>",
    "---\n",
    "",
];

/// A source of choices.
pub struct Random(Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.0.usize(..from.len())]
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.0.usize(..many) == 0
    }

    fn text(&mut self) -> String {
        match self.below(4) {
            0 => (0..self.below(12)).map(|_| self.0.char(..)).collect(),
            1 => self.pick(WORDS).repeat(1 + self.below(40)),
            _ => (*self.pick(WORDS)).to_owned(),
        }
    }

    fn number(&mut self) -> Value {
        match self.below(6) {
            0 => json!(self.0.i64(..)),
            1 => json!(self.0.u64(..)),
            2 => json!(self.0.i64(-1..70_000)),
            3 => Number::from_f64(self.0.f64() * 1e300).map_or(Value::Null, Value::Number),
            4 => json!(-0.0),
            _ => json!(0),
        }
    }

    /// Any JSON, no deeper than `depth`.
    pub fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.0.bool()),
            2 => self.number(),
            3 | 4 => json!(self.text()),
            5 | 6 => (0..self.below(5)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object((0..self.below(6)).map(|_| (self.text(), self.value(depth - 1))).collect()),
        }
    }

    /// Puts unknown keys into objects at every level, and says how many.
    pub fn plant(&mut self, into: &mut Value) -> usize {
        self.plant_at(into, "", true)
    }

    fn plant_at(&mut self, value: &mut Value, key: &str, always: bool) -> usize {
        match value {
            Value::Object(map) => {
                // What stands under these keys are texts by any name, and the API server takes nothing else.
                let texts = matches!(key, "annotations" | "labels" | "nodeSelector");
                let mut planted = 0;
                for (key, value) in map.iter_mut() {
                    planted += self.plant_at(value, key, false);
                }
                if always || self.one_in(2) {
                    let value = if texts { json!(self.text()) } else { self.value(3) };
                    planted += usize::from(map.insert(format!("{PLANTED}{}", self.below(1000)), value).is_none());
                }
                planted
            }
            Value::Array(items) => items.iter_mut().map(|item| self.plant_at(item, key, false)).sum(),
            _ => 0,
        }
    }

    /// Replaces a value, or a part of it, by something else.
    pub fn damage(&mut self, value: &mut Value) {
        let go_on = !self.one_in(4);
        match value {
            Value::Object(map) if go_on && !map.is_empty() => {
                let key = self.below(map.len());
                let key = map.keys().nth(key).cloned().unwrap_or_default();
                if self.one_in(12) {
                    map.remove(&key);
                } else if let Some(part) = map.get_mut(&key) {
                    self.damage(part);
                }
            }
            Value::Array(items) if go_on && !items.is_empty() => {
                let at = self.below(items.len());
                match self.below(8) {
                    0 => drop(items.remove(at)),
                    1 => items.push(items[at].clone()),
                    _ => self.damage(&mut items[at]),
                }
            }
            other => *other = self.value(3),
        }
    }
}

/// How many planted keys there are.
pub fn planted(value: &Value) -> usize {
    let here = |map: &Map<String, Value>| map.keys().filter(|key| key.starts_with(PLANTED)).count();
    match value {
        Value::Object(map) => here(map) + map.values().map(planted).sum::<usize>(),
        Value::Array(items) => items.iter().map(planted).sum(),
        _ => 0,
    }
}
