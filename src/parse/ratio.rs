//! The share of a node's cores that the proxy may use: a float, the only one in this policy.

use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why text is no share of the node's cores.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum RatioError {
    /// Not a number that Go reads as a float, or one outside the open interval; "not a number" itself is outside too.
    #[error("not a number above 0 and below 1")]
    NotRatio,
}

/// Reads a share of the node's cores: Go's `strconv.ParseFloat`, then above 0 and below 1, both excluded.
///
/// As in Go, hexadecimal (`0x1p-2`) and underscores between digits (`0.2_5`) are fine. `NaN` is refused (D11).
///
/// # Errors
/// [`RatioError::NotRatio`].
pub fn ratio(text: &str) -> Result<f64, RatioError> {
    let digits = without_underscores(text).ok_or(RatioError::NotRatio)?;
    let unsigned = digits.strip_prefix('+').unwrap_or(&digits);
    let number = match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        Some(rest) => hexadecimal(rest),
        None => digits.parse().ok(),
    };
    number.filter(|ratio| 0.0 < *ratio && *ratio < 1.0).ok_or(RatioError::NotRatio)
}

/// Takes out underscores where Go allows them: between two digits, or between `0x` and a digit.
fn without_underscores(text: &str) -> Option<String> {
    let hex = text.trim_start_matches(['+', '-']).get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    let is_digit =
        |c: Option<char>| c.is_some_and(|c| if hex { c.is_ascii_hexdigit() || c == 'x' || c == 'X' } else { c.is_ascii_digit() });
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        if c != '_' {
            kept.push(c);
        } else if !is_digit(before) || !is_digit(chars.peek().copied()) {
            return None;
        }
        before = Some(c);
    }
    Some(kept)
}

/// Reads what follows `0x`: hexadecimal digits, perhaps with a point, then `p` and a decimal power of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, power) = text.split_once(['p', 'P'])?;
    let mut power: i64 = power.parse::<i64>().ok()?.clamp(-20_000, 20_000);
    let mut bits: u64 = 0;
    let mut digits = false;
    let mut point = false;
    for c in mantissa.chars() {
        let Some(digit) = c.to_digit(16) else {
            if c != '.' || point {
                return None;
            }
            point = true;
            continue;
        };
        digits = true;
        // Four bits of each digit count until 64 are nearly full; of later ones, only whether any is set.
        let full = bits >= 1 << 59;
        bits = if full { bits | u64::from(digit != 0) } else { (bits << 4) | u64::from(digit) };
        power = power.saturating_add(match (full, point) {
            (true, false) => 4,
            (false, true) => -4,
            _ => 0,
        });
    }
    let mut value = digits.then_some(bits as f64)?;
    while value > 0.0 && value < 1e300 && power != 0 {
        value *= if power > 0 { 2.0 } else { 0.5 };
        power = power.saturating_sub(power.signum());
    }
    Some(value)
}

/// Writes a number as Go's `%v` does: `0.25`, `1e-05`. The proxy, which is written in Rust, reads either form.
#[must_use]
pub fn format(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // Both languages print as few digits as tell the number from its neighbours. Of two equally near, Go takes the even
    // one, as Rust does only where the number of digits is given.
    let places = mantissa.chars().filter(char::is_ascii_digit).count().saturating_sub(1);
    let below_point = usize::try_from(exponent.unsigned_abs()).unwrap_or_default();
    match exponent {
        -4..0 => format!("{number:.*}", places.saturating_add(below_point)),
        0..21 => number.to_string(),
        _ => {
            let text = format!("{number:.places$e}");
            let sign = if exponent < 0 { '-' } else { '+' };
            let mantissa = text.split_once('e').map_or(text.as_str(), |(mantissa, _)| mantissa);
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
    }
}
