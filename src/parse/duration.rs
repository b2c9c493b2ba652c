//! Lengths of time: Go's spelling in annotations, the proxy's spelling in its environment.

use std::time;
use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why text is no length of time.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum DurationError {
    /// No Go duration, or a number without a unit.
    #[error("not a duration such as 500ms, 10s or 1m30s")]
    NotDuration,
    /// A unit that Go does not know; days are one.
    #[error("a duration whose unit is none of ns, us, ms, s, m, h")]
    UnknownUnit,
    /// More than 63 bits of nanoseconds hold, about 292 years.
    #[error("a duration of more than 292 years")]
    TooLong,
    /// A length of time below zero, which no program reads.
    #[error("a negative duration")]
    Negative,
    /// Not what the proxy reads as a duration.
    #[error("not a duration such as 500ms, 10s, 5m, 1h or 365d")]
    NotProxyDuration,
}

/// A length of time in nanoseconds, of either sign.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Duration(i64);

impl Duration {
    /// The length in nanoseconds.
    #[must_use]
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// The whole seconds in it; a fraction is cut off.
    #[must_use]
    pub const fn whole_seconds(self) -> i64 {
        self.0 / NANOS_A_SECOND
    }

    /// The whole milliseconds in it as the proxy reads them, `1500ms`; a fraction is cut off (D12).
    #[must_use]
    pub fn as_milliseconds(self) -> String {
        format!("{}ms", self.0 / NANOS_A_MILLISECOND)
    }

    /// Whole seconds, `5s`, where its milliseconds make up such, else whole milliseconds, `500ms` (D12).
    #[must_use]
    pub fn as_seconds_or_milliseconds(self) -> String {
        if self.0 / NANOS_A_MILLISECOND % 1000 == 0 { format!("{}s", self.whole_seconds()) } else { self.as_milliseconds() }
    }
}

const NANOS_A_MILLISECOND: i64 = 1_000_000;
const NANOS_A_SECOND: i64 = 1_000_000_000;

/// The units of Go's `time.ParseDuration` and their nanoseconds; a micro sign has two code points.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The largest magnitude that Go's reader holds while it adds up: that of the most negative duration.
const MAX_MAGNITUDE: u64 = 1 << 63;

/// Reads a duration as Go's `time.ParseDuration` does: `[-+]`, then numbers with a unit each, or a bare `0`.
///
/// Fractions are computed exactly and cut off below a nanosecond, where Go multiplies floats (D12).
///
/// # Errors
/// [`DurationError::NotDuration`], [`DurationError::UnknownUnit`] or [`DurationError::TooLong`].
pub fn duration(text: &str) -> Result<Duration, DurationError> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Duration(0));
    }
    if rest.is_empty() {
        return Err(DurationError::NotDuration);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (term, after) = term(rest)?;
        total = total.checked_add(term).filter(|sum| *sum <= MAX_MAGNITUDE).ok_or(DurationError::TooLong)?;
        rest = after;
    }
    let nanoseconds = if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() };
    nanoseconds.map(Duration).ok_or(DurationError::TooLong)
}

/// Reads a duration that a program is to wait: Go's spelling, zero or more.
///
/// # Errors
/// Those of [`duration`], and [`DurationError::Negative`] (D27).
pub fn timeout(text: &str) -> Result<Duration, DurationError> {
    duration(text).and_then(|value| if value.0 < 0 { Err(DurationError::Negative) } else { Ok(value) })
}

/// Reads one number with its unit; returns its nanoseconds and what follows.
fn term(text: &str) -> Result<(u64, &str), DurationError> {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(DurationError::NotDuration);
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(end).ok_or(DurationError::NotDuration)?;
    if unit.is_empty() {
        return Err(DurationError::NotDuration);
    }
    let nanos = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, nanos)| *nanos).ok_or(DurationError::UnknownUnit)?;
    let value = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| DurationError::TooLong)? };
    let value = nanos.checked_mul(value).and_then(|sum| sum.checked_add(part(fraction, nanos)));
    Ok((value.filter(|sum| *sum <= MAX_MAGNITUDE).ok_or(DurationError::TooLong)?, rest))
}

/// The whole nanoseconds in a fraction of a unit, given by the fraction's digits.
///
/// Works from the last digit to the first; cutting off at each step loses nothing, for all that is added later is whole.
fn part(digits: &str, nanos: u64) -> u64 {
    digits.bytes().rev().fold(0, |sum: u64, byte| {
        let digit = u64::from(byte.saturating_sub(b'0'));
        digit.saturating_mul(nanos).saturating_add(sum) / 10
    })
}

/// Splits leading ASCII digits off.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Reads a duration as the proxy does (`parse_duration` of linkerd2-proxy's `app/src/env/types.rs`): digits and one of
/// `ms s m h d`, with white space around, or a bare zero.
///
/// The proxy has no bound of its own, but multiplies days without a check, so that too many silently become some other
/// length, and panics where it adds a huge length to the time of day. What exceeds Go's 292 years is refused.
///
/// # Errors
/// [`DurationError::NotProxyDuration`] or [`DurationError::TooLong`].
pub fn proxy_duration(text: &str) -> Result<time::Duration, DurationError> {
    let (digits, unit) = split_digits(text.trim());
    let number: u64 = digits.parse().map_err(|_| DurationError::NotProxyDuration)?;
    let nanos = match unit {
        "" if number == 0 => 0,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(DurationError::NotProxyDuration),
    };
    let length = number.checked_mul(nanos).filter(|length| *length < MAX_MAGNITUDE);
    length.map(time::Duration::from_nanos).ok_or(DurationError::TooLong)
}
