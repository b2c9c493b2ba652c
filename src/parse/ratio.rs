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
///
/// The digits are those of its JSON, which are as few as tell the number from its neighbours, as Go's are.
#[must_use]
pub fn format(number: f64) -> String {
    let text = serde_json::Number::from_f64(number).map(|json| json.to_string()).unwrap_or_default();
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let (digits, places) = (all.trim_matches('0'), all.len().saturating_sub(all.trim_start_matches('0').len()));
    // Where the point is, counted from the first digit that is not zero.
    let point = power.parse::<isize>().unwrap_or_default().saturating_add_unsigned(whole.len()).saturating_sub_unsigned(places);
    let (first, rest) = digits.split_at_checked(1).unwrap_or(("0", ""));
    let zeros = |number: isize| "0".repeat(usize::try_from(number).unwrap_or_default());
    let within = usize::try_from(point).unwrap_or_default();
    match point {
        _ if digits.is_empty() => format!("{sign}0"),
        -3..=0 => format!("{sign}0.{}{digits}", zeros(point.saturating_neg())),
        1..=21 => match digits.split_at_checked(within) {
            Some((whole, "")) => format!("{sign}{whole}"),
            Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{digits}{}", zeros(point.saturating_sub_unsigned(digits.len()))),
        },
        _ => {
            let exponent = point.saturating_sub(1);
            let (dot, direction) = (if rest.is_empty() { "" } else { "." }, if exponent < 0 { '-' } else { '+' });
            format!("{sign}{first}{dot}{rest}e{direction}{:02}", exponent.unsigned_abs())
        }
    }
}
