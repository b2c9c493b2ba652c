//! Choices from a seed.

use fastrand::Rng;
use serde_json::{Map, Value};

/// A source of choices: the same seed gives the same ones.
#[derive(Debug, Clone)]
pub struct Choice(Rng);

impl Choice {
    /// The choices of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// Choices of their own, so that how many are made of one does not move the others.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.0.fork())
    }

    /// True once in `many` times.
    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// A number from 0 that is less than `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.usize(..end) }
    }

    /// One of several.
    pub fn pick<T: Clone + Default>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len());
        from.get(at).cloned().unwrap_or_default()
    }

    /// Some of several, each once, in another order, less than `end` of them.
    pub fn some<T: Clone>(&mut self, from: &[T], end: usize) -> Vec<T> {
        let mut picked = from.to_vec();
        self.0.shuffle(&mut picked);
        picked.truncate(self.below(end));
        picked
    }

    /// One of the values that a JSON list has.
    pub fn json(&mut self, list: &str) -> Value {
        let values: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
        self.pick(&values)
    }

    /// Sets a member to one of the values of a JSON list, once in `many` times.
    pub fn may_set(&mut self, into: &mut Map<String, Value>, many: usize, key: &str, list: &str) {
        if self.one_in(many) {
            let value = self.json(list);
            into.insert(key.to_owned(), value);
        }
    }
}
