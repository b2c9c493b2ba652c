//! The path to a part of what we add: the container or map, its field, and so on down to a leaf.
//!
//! Every leaf of every container is walked to on every call, so a step costs little: a path grows and shrinks in place, and knows the
//! rows of the table of leaves that can still match, and its own hash.

use super::leaf::{ROWS, Row};
use super::record::Key;

/// A path.
pub(crate) struct Path {
    /// The steps, one after the other.
    text: String,
    steps: Vec<Step>,
    /// For each step, the rows that match as far as it goes.
    rows: Vec<&'static Row>,
}

/// One step: where its text and its rows begin, and the key of the path that ends here.
struct Step {
    text: usize,
    rows: usize,
    key: Key,
}

impl Path {
    /// The path of these steps.
    pub(crate) fn of(steps: &[&str]) -> Path {
        let mut path = Path { text: String::new(), steps: Vec::new(), rows: Vec::new() };
        for step in steps {
            path.push(step);
        }
        path
    }

    /// Runs with one more step.
    pub(crate) fn within<T>(&mut self, step: &str, run: impl FnOnce(&mut Path) -> T) -> T {
        self.push(step);
        let result = run(self);
        if let Some(last) = self.steps.pop() {
            self.text.truncate(last.text);
            self.rows.truncate(last.rows);
        }
        result
    }

    fn push(&mut self, step: &str) {
        let depth = self.steps.len();
        let (text, rows) = (self.text.len(), self.rows.len());
        let key = match self.steps.last() {
            None => Key::of(&[step]),
            Some(last) => last.key.with(step),
        };
        match self.steps.last() {
            None => self.rows.extend(ROWS.iter().filter(|row| row.has_step(depth, step))),
            Some(last) => {
                for at in last.rows..rows {
                    if let Some(row) = self.rows.get(at).copied().filter(|row| row.has_step(depth, step)) {
                        self.rows.push(row);
                    }
                }
            }
        }
        self.text.push_str(step);
        self.steps.push(Step { text, rows, key });
    }

    /// The rows of the table that match as far as the path goes, in their order.
    pub(super) fn rows(&self) -> &[&'static Row] {
        self.steps.last().and_then(|last| self.rows.get(last.rows..)).unwrap_or_default()
    }

    /// How many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The steps.
    pub(crate) fn steps(&self) -> Vec<&str> {
        let ends = self.steps.iter().skip(1).map(|step| step.text).chain([self.text.len()]);
        self.steps.iter().zip(ends).filter_map(|(step, end)| self.text.get(step.text..end)).collect()
    }

    /// What the path is recorded by.
    pub(crate) fn key(&self) -> Key {
        self.steps.last().map_or_else(|| Key::of(&[]), |last| last.key)
    }
}
