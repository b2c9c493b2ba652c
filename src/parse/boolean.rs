//! Truth values: text in, `bool` out.

use thiserror::Error;

/// Why text is no truth value.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum BooleanError {
    /// None of the twelve words that Go reads as a boolean.
    #[error("neither true nor false")]
    NotBoolean,
    /// Neither of the two words of a switch.
    #[error("neither enabled nor disabled")]
    NotSwitch,
}

/// Reads a boolean as Go's `strconv.ParseBool` does: `1 t T TRUE true True`, `0 f F FALSE false False`.
///
/// # Errors
/// [`BooleanError::NotBoolean`] for any other text, `yes` and `on` among them.
pub fn boolean(text: &str) -> Result<bool, BooleanError> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(BooleanError::NotBoolean),
    }
}

/// Reads a switch, `enabled` or `disabled`, as `ApplyAnnotationOverrides` of Linkerd's `pkg/inject` does.
///
/// # Errors
/// [`BooleanError::NotSwitch`] for any other text, booleans among them.
pub fn enabled(text: &str) -> Result<bool, BooleanError> {
    match text {
        "enabled" => Ok(true),
        "disabled" => Ok(false),
        _ => Err(BooleanError::NotSwitch),
    }
}

#[cfg(test)]
mod tests {
    use super::{boolean, enabled};

    #[test]
    fn booleans_are_gos() {
        for text in ["1", "t", "T", "TRUE", "true", "True"] {
            assert_eq!(boolean(text), Ok(true), "{text}");
        }
        for text in ["0", "f", "F", "FALSE", "false", "False"] {
            assert_eq!(boolean(text), Ok(false), "{text}");
        }
        for text in ["", " true", "true ", "tRUE", "yes", "on", "enabled", "2", "01"] {
            let error = boolean(text).map_err(|error| error.to_string());
            assert_eq!(error, Err("neither true nor false".to_owned()), "{text}");
        }
    }

    #[test]
    fn switches_have_two_words() {
        assert_eq!(enabled("enabled"), Ok(true));
        assert_eq!(enabled("disabled"), Ok(false));
        for text in ["", "Enabled", "enabled ", "true", "1"] {
            let error = enabled(text).map_err(|error| error.to_string());
            assert_eq!(error, Err("neither enabled nor disabled".to_owned()), "{text}");
        }
    }
}
