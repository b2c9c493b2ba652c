//! Whole numbers: text in, exact integers out, never through a float (D02).

use thiserror::Error;

/// Why text is not the whole number that was expected.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum IntegerError {
    /// No decimal integer of 64 bits.
    #[error("not a whole number")]
    NotSigned,
    /// No decimal integer of 64 bits without a sign.
    #[error("not a whole number of zero or more")]
    NotUnsigned,
    /// No user that the proxy may run as (D13).
    #[error("not a user id between 1 and 2147483647")]
    NotUid,
    /// No group that the API server accepts (D26).
    #[error("not a group id of at most 2147483647")]
    NotGid,
}

/// The largest user or group id that the API server accepts.
pub const MAX_ID: i64 = 2_147_483_647;

/// Reads an integer as Go's `strconv.ParseInt(text, 10, 64)` does: a sign and leading zeros are fine.
///
/// # Errors
/// [`IntegerError::NotSigned`] for anything else.
pub fn signed(text: &str) -> Result<i64, IntegerError> {
    text.parse().map_err(|_| IntegerError::NotSigned)
}

/// Reads an integer as Go's `strconv.ParseUint(text, 10, 64)` does: digits only, no sign at all.
///
/// # Errors
/// [`IntegerError::NotUnsigned`] for anything else.
pub fn unsigned(text: &str) -> Result<u64, IntegerError> {
    // Rust takes a plus sign where Go's unsigned reader does not.
    if text.starts_with('+') {
        return Err(IntegerError::NotUnsigned);
    }
    text.parse().map_err(|_| IntegerError::NotUnsigned)
}

/// Reads the numeric user that the proxy runs as: never root, and within what the API server accepts (D13).
///
/// # Errors
/// [`IntegerError::NotUid`] for anything that is not 1 to 2147483647.
pub fn uid(text: &str) -> Result<i64, IntegerError> {
    signed(text).ok().filter(|id| (1..=MAX_ID).contains(id)).ok_or(IntegerError::NotUid)
}

/// Reads the numeric group that the proxy runs as; a negative one means that no group is set, as in Linkerd's chart.
///
/// # Errors
/// [`IntegerError::NotGid`] for what is no integer, or above 2147483647 (D26).
pub fn gid(text: &str) -> Result<Option<i64>, IntegerError> {
    let id = signed(text).ok().filter(|id| *id <= MAX_ID).ok_or(IntegerError::NotGid)?;
    Ok((id >= 0).then_some(id))
}

#[cfg(test)]
mod tests {
    use super::{IntegerError, gid, signed, uid, unsigned};

    #[test]
    fn signed_is_gos_parse_int() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("+5", 5),
            ("0025", 25),
            ("-1", -1),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(signed(text), Ok(value), "{text}");
        }
        for text in
            ["", "+", "-", "1_000", "0x10", " 1", "1 ", "1.0", "1e3", "9223372036854775808", "-9223372036854775809", "\u{663}"]
        {
            assert_eq!(signed(text), Err(IntegerError::NotSigned), "{text}");
        }
    }

    #[test]
    fn unsigned_is_gos_parse_uint() {
        for (text, value) in [("0", 0), ("007", 7), ("18446744073709551615", u64::MAX)] {
            assert_eq!(unsigned(text), Ok(value), "{text}");
        }
        for text in ["", "+1", "-1", "-0", "1s", "18446744073709551616"] {
            assert_eq!(unsigned(text), Err(IntegerError::NotUnsigned), "{text}");
        }
    }

    #[test]
    fn ids_have_bounds() {
        for (text, value) in [("1", 1), ("2102", 2102), ("1001060000", 1_001_060_000), ("2147483647", 2_147_483_647)] {
            assert_eq!(uid(text), Ok(value), "{text}");
            assert_eq!(gid(text), Ok(Some(value)), "{text}");
        }
        for text in ["0", "-1", "2147483648", "root", ""] {
            assert_eq!(uid(text), Err(IntegerError::NotUid), "{text}");
        }
        assert_eq!(gid("0"), Ok(Some(0)));
        assert_eq!(gid("-1"), Ok(None));
        for text in ["2147483648", "x", ""] {
            assert_eq!(gid(text), Err(IntegerError::NotGid), "{text}");
        }
    }

    #[test]
    fn errors_name_the_expectation() {
        for (error, text) in [
            (IntegerError::NotSigned, "not a whole number"),
            (IntegerError::NotUnsigned, "not a whole number of zero or more"),
            (IntegerError::NotUid, "not a user id between 1 and 2147483647"),
            (IntegerError::NotGid, "not a group id of at most 2147483647"),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }
}
