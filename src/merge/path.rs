//! The path to a part of what we add: the container or map, its field, and so on down to a leaf.
//!
//! Every leaf of every container is walked to on every call, so a step costs little: it stands on the stack, refers to the one before
//! it, and knows the rows of the table of leaves that can still match, and the key of the path that ends with it.

use super::leaf::{ROWS, Row};
use super::record::Key;

/// A path, as its last step.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    before: Option<&'a Path<'a>>,
    step: &'a str,
    len: usize,
    key: Key,
    /// The rows that match as far as the path goes, each a bit.
    rows: u64,
}

const _: () = assert!(ROWS.len() <= 64, "a bit for each row");

impl<'a> Path<'a> {
    /// The path of one step.
    pub(crate) fn of(step: &'a str) -> Path<'a> {
        let rows = matching(u64::MAX, 0, step);
        Path { before: None, step, len: 1, key: Key::of(&[step]), rows }
    }

    /// The path with one more step.
    pub(crate) fn with(&'a self, step: &'a str) -> Path<'a> {
        let rows = matching(self.rows, self.len, step);
        Path { before: Some(self), step, len: self.len.saturating_add(1), key: self.key.with(step), rows }
    }

    /// The rows of the table that match as far as the path goes, in their order.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static Row> {
        rows(self.rows).map(|(_, row)| row)
    }

    /// How many steps there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The steps.
    pub(crate) fn steps(&self) -> Vec<&'a str> {
        let mut steps: Vec<&str> = std::iter::successors(Some(self), |path| path.before).map(|path| path.step).collect();
        steps.reverse();
        steps
    }

    /// What the path is recorded by.
    pub(crate) fn key(&self) -> Key {
        self.key
    }
}

/// The rows of these bits, each with its bit.
fn rows(mut bits: u64) -> impl Iterator<Item = (u64, &'static Row)> {
    std::iter::from_fn(move || {
        let at = bits.trailing_zeros();
        let bit = bits & bits.wrapping_neg();
        bits ^= bit;
        Some((bit, ROWS.get(usize::try_from(at).ok()?)?))
    })
}

/// Those of the rows that have the step at that depth.
fn matching(of: u64, depth: usize, step: &str) -> u64 {
    rows(of).filter(|(_, row)| row.has_step(depth, step)).fold(0, |bits, (bit, _)| bits | bit)
}
