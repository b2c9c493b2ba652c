//! One line of a policy's log.

use std::fmt;

use serde_json::{Map, Value};

/// How important a line is. A policy cannot send more than these: the SDK turns its other levels into errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For developers of the policy.
    Debug,
    /// One a decision.
    Info,
    /// Something that an administrator should look at.
    Warning,
    /// Something failed.
    Error,
}

impl Level {
    /// The name as it is printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }
}

/// A line as the policy sent it, without the place in the source.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// How important it is.
    pub level: Level,
    /// The sentence.
    pub message: String,
    /// What it is about.
    pub fields: Map<String, Value>,
}

impl LogLine {
    /// Reads what a policy sent. What cannot be read becomes an error line that says so: a lost line would hide a fault.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Self {
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(payload) else {
            return Self { level: Level::Error, message: "unreadable log line".to_owned(), fields: Map::new() };
        };
        for place in ["line", "column", "file"] {
            fields.remove(place);
        }
        let level = match fields.remove("level").as_ref().and_then(Value::as_str) {
            Some("debug" | "trace") => Level::Debug,
            Some("info") => Level::Info,
            Some("warning") => Level::Warning,
            _ => Level::Error,
        };
        let message = match fields.remove("message") {
            Some(Value::String(message)) => message,
            _ => String::new(),
        };
        Self { level, message, fields }
    }
}

impl fmt::Display for LogLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.level.as_str(), self.message)?;
        for (key, value) in &self.fields {
            match value {
                Value::String(text) if !text.is_empty() && !text.contains([' ', '"', '=', '\n']) => {
                    write!(out, " {key}={text}")?;
                }
                other => write!(out, " {key}={other}")?,
            }
        }
        Ok(())
    }
}
