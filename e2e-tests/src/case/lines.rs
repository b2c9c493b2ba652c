//! Files with one JSON document a line.

use std::io::{self, BufRead};

use serde::de::DeserializeOwned;
use thiserror::Error;

/// A line that cannot be used.
#[derive(Debug, Error)]
pub enum LineError {
    /// The input cannot be read.
    #[error("line {line}: cannot read: {source}")]
    Read {
        /// Counted from 1.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// The line is not what it should be.
    #[error("line {line}: not a {what}: {reason}")]
    Format {
        /// Counted from 1.
        line: usize,
        /// What it should be.
        what: &'static str,
        /// What is wrong; the column counts within the line.
        reason: String,
    },
}

/// Reads one `what` a line, without the empty lines.
pub fn read_lines<T: DeserializeOwned>(input: impl BufRead, what: &'static str) -> impl Iterator<Item = Result<T, LineError>> {
    (1..).zip(input.lines()).filter_map(move |(line, text)| match text {
        Err(source) => Some(Err(LineError::Read { line, source })),
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => Some(serde_json::from_str(&text).map_err(|error| {
            // The JSON reader saw one line only, so its own line number would mislead.
            let reason = error.to_string().replace(" at line 1 column ", " at column ");
            LineError::Format { line, what, reason }
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_line() {
        let read = |text: &str| {
            read_lines::<u8>(text.as_bytes(), "number").map(|item| item.map_err(|error| error.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(read("1\n\n2\n"), [Ok(1), Ok(2)]);
        assert_eq!(read("1\n\nx"), [Ok(1), Err("line 3: not a number: expected value at column 1".to_owned())]);
        assert_eq!(read("300"), [Err("line 1: not a number: invalid value: integer `300`, expected u8 at column 3".to_owned())]);
    }
}
