//! The paths of all rows in the order in which a reader of sorted keys meets them, made when the policy is compiled.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "run by the compiler, which refuses what goes wrong")]

use super::rows::ROWS;

/// How many rows there are.
const COUNT: usize = ROWS.len();

/// The place of each row's path among [`PATHS`].
pub(super) const PLACES: [u8; COUNT] = {
    let mut places = [0; COUNT];
    let mut row = 0;
    while row < COUNT {
        let mut other = 0;
        while other < COUNT {
            if comes_before(ROWS[other].path.as_bytes(), ROWS[row].path.as_bytes()) {
                places[row] += 1;
            }
            other += 1;
        }
        row += 1;
    }
    places
};

/// The paths, step by step in the order of their bytes.
pub(super) const PATHS: [&str; COUNT] = {
    let mut paths = [""; COUNT];
    let mut row = 0;
    while row < COUNT {
        paths[PLACES[row] as usize] = ROWS[row].path;
        row += 1;
    }
    paths
};

/// Whether a path comes before another: where a step ends, it comes before a longer one.
const fn comes_before(path: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < path.len() && at < other.len() {
        let (byte, than) = (path[at], other[at]);
        if byte != than {
            return byte == b'.' || (than != b'.' && byte < than);
        }
        at += 1;
    }
    path.len() < other.len()
}
