//! Quantities as the API server writes them.

/// The powers of ten of the decimal suffixes.
const DECIMAL: &[(&str, u32)] =
    &[("n", 0), ("u", 3), ("m", 6), ("", 9), ("k", 12), ("M", 15), ("G", 18), ("T", 21), ("P", 24), ("E", 27)];
/// The powers of two of the binary suffixes.
const BINARY: &[(&str, u32)] = &[("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
/// A whole in billionths.
const ONE: i128 = 1_000_000_000;
/// A thousandth in billionths, to which the amounts of resources are rounded up.
const MILLI: i128 = 1_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Decimal,
    Exponent,
    Binary,
}

/// The amount of a resource in the one form that the API server writes; as it is when it is no amount.
#[must_use]
pub fn canonical(text: &str) -> String {
    read(text).map_or_else(|| text.to_owned(), |(amount, format)| write(amount, format))
}

/// The amount of a resource in billionths.
#[must_use]
pub fn billionths(text: &str) -> Option<i128> {
    read(text).map(|(amount, _)| amount)
}

fn read(text: &str) -> Option<(i128, Format)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at_checked(end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let below = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let decimal = DECIMAL.iter().find(|(known, _)| *known == suffix);
    let (scale, format) = if let Some((_, power)) = decimal {
        (10_i128.checked_pow(*power)?, Format::Decimal)
    } else if let Some((_, power)) = BINARY.iter().find(|(known, _)| *known == suffix) {
        (ONE.checked_mul(2_i128.checked_pow(*power)?)?, Format::Binary)
    } else {
        let power: u32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
        (10_i128.checked_pow(power.checked_add(9)?)?, Format::Exponent)
    };
    let billionths = rounded_up(digits.checked_mul(scale)?, below)?;
    let amount = rounded_up(billionths, MILLI)?.checked_mul(MILLI)?;
    Some((if text.starts_with('-') { amount.checked_neg()? } else { amount }, format))
}

fn rounded_up(amount: i128, unit: i128) -> Option<i128> {
    let whole = amount.checked_div(unit)?;
    if amount.checked_rem(unit)? == 0 { Some(whole) } else { whole.checked_add(1) }
}

fn write(amount: i128, format: Format) -> String {
    let is_multiple = |unit: i128| amount.checked_rem(unit) == Some(0);
    let times = |unit: i128| amount.checked_div(unit).unwrap_or_default();
    if amount == 0 {
        return "0".to_owned();
    }
    // Small and broken amounts are written in decimal, lest they be rounded.
    if format == Format::Binary && amount.unsigned_abs() >= 1024_u128.saturating_mul(ONE.unsigned_abs()) && is_multiple(ONE) {
        let unit = |power: u32| ONE.saturating_mul(2_i128.saturating_pow(power));
        let suffix = BINARY.iter().rev().find(|(_, power)| is_multiple(unit(*power)));
        return suffix.map_or_else(|| times(ONE).to_string(), |(name, power)| format!("{}{name}", times(unit(*power))));
    }
    let unit = |power: u32| 10_i128.saturating_pow(power);
    let suffix = DECIMAL.iter().rev().find(|(_, power)| is_multiple(unit(*power)));
    suffix.map_or_else(String::new, |(name, power)| match (format, i64::from(*power).saturating_sub(9)) {
        (Format::Exponent, exponent) if exponent != 0 => format!("{}e{exponent}", times(unit(*power))),
        _ => format!("{}{name}", times(unit(*power))),
    })
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn amounts_have_one_form() {
        for (text, expected) in [
            ("0", "0"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("0.25Gi", "256Mi"),
            ("1024Mi", "1Gi"),
            ("1000Mi", "1000Mi"),
            ("512Ki", "512Ki"),
            ("1Ki", "1Ki"),
            ("0.5Ki", "512"),
            ("1000k", "1M"),
            ("1e3", "1e3"),
            ("1000e0", "1e3"),
            ("10E2", "1e3"),
            ("1u", "1m"),
            ("100", "100"),
            ("128974848", "128974848"),
            ("-1", "-1"),
            ("a lot", "a lot"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }
}
