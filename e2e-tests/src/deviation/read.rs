//! Reads values as the programs that get them do: Go's `strconv` and `time`, Kubernetes quantities, the proxy's
//! environment (`app/src/env/types.rs`), linkerd-init's arguments, image references of container runtimes.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Go's `strconv.ParseInt` in base ten: a sign, digits, nothing else, within `bits`.
pub fn go_int(text: &str, bits: u32) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number: i64 = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()?;
    let highest = i64::MAX.checked_shr(64_u32.saturating_sub(bits)).unwrap_or_default();
    (number <= highest && number >= (!highest)).then_some(number)
}

/// Go's `strconv.ParseBool`.
pub fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Go's `strconv.ParseFloat`: also with `_` between digits, and in base sixteen with a power of two.
pub fn go_parse_float(text: &str) -> Option<f64> {
    let in_hex = text.to_lowercase().contains("0x");
    let is_digit =
        |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || (in_hex && (c.is_ascii_hexdigit() || "xX".contains(c))));
    let mut parts = text.split('_').peekable();
    while let (Some(part), Some(next)) = (parts.next(), parts.peek()) {
        if !is_digit(part.chars().next_back()) || !is_digit(next.chars().next()) {
            return None;
        }
    }
    let plain = text.replace('_', "").to_lowercase();
    let (sign, magnitude) = plain.strip_prefix('-').map_or((1.0, plain.strip_prefix('+').unwrap_or(&plain)), |rest| (-1.0, rest));
    let Some((mantissa, power)) = magnitude.strip_prefix("0x").map(|rest| rest.split_once('p').unwrap_or((rest, ""))) else {
        return plain.parse().ok();
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").chars().map(|c| c.to_digit(16)).collect::<Option<Vec<u32>>>()?;
    let value = digits.iter().fold(0.0, |value, digit| value * 16.0 + f64::from(*digit));
    let shift = i32::try_from(fraction.len()).ok()?.saturating_mul(4);
    let power = power.parse::<i32>().ok()?.saturating_sub(shift);
    (!digits.is_empty()).then(|| sign * value * 2_f64.powi(power))
}

/// Go's `time.ParseDuration`, in nanoseconds.
pub fn go_duration(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (unit, after) = after.split_at_checked(after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len()))?;
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<i128>().ok() };
        let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
        let part = number(fraction)?.checked_mul(unit)?.checked_div(scale)?;
        total = total.checked_add(number(whole)?.checked_mul(unit)?)?.checked_add(part)?;
        rest = after;
    }
    let fits = !text.is_empty() && !text.ends_with(['+', '-']) && total <= i128::from(i64::MAX);
    fits.then_some(if negative { total.saturating_neg() } else { total })
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at_checked(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())).unwrap_or((text, ""))
}

/// A port or a range of ports as Linkerd's injector reads it, written as it writes it.
pub fn go_port_range(text: &str) -> Option<(i64, i64)> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let port = |text: &str| go_int(text, 64).filter(|port| (0..=65_535).contains(port));
    let (low, high) = (port(low)?, port(high)?);
    (low <= high).then_some((low, high))
}

/// One range in its shortest form.
pub fn range_text((low, high): (i64, i64)) -> String {
    if low == high { low.to_string() } else { format!("{low}-{high}") }
}

/// The entries of a list of ports, bad ones left out, names replaced by their ports.
pub fn go_ports(text: &str, named: &BTreeMap<String, i64>) -> Vec<String> {
    let entries = text.split(',').map(str::trim);
    entries.filter_map(|entry| named.get(entry).map(i64::to_string).or_else(|| go_port_range(entry).map(range_text))).collect()
}

/// Whether the proxy reads the text as a set of ports.
pub fn proxy_ports(text: &str) -> bool {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).all(|part| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        matches!((low.trim().parse::<u16>(), high.trim().parse::<u16>()), (Ok(low), Ok(high)) if low <= high)
    })
}

/// Whether the proxy reads the text as a duration and can reckon with it.
pub fn proxy_duration(text: &str) -> bool {
    proxy_milliseconds(text).is_some_and(|milliseconds| milliseconds <= i128::from(i64::MAX) / 1_000_000)
}

/// A duration of the proxy, in milliseconds.
pub fn proxy_milliseconds(text: &str) -> Option<i128> {
    let (magnitude, unit) = digits(text.trim());
    let factor: i128 = match unit {
        "" => return (magnitude.parse() == Ok(0_u64)).then_some(0),
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    i128::from(magnitude.parse::<u64>().ok()?).checked_mul(factor)
}

/// Go's `net.ParseCIDR`.
pub fn cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let (Ok(address), (length, "")) = (address.parse::<IpAddr>(), digits(length)) else { return false };
    length.parse::<u32>().is_ok_and(|length| length <= if address.is_ipv4() { 32 } else { 128 })
}

/// The subnets that linkerd-init reads in the text, a line of comma-separated values of which some may be quoted.
pub fn subnets(text: &str) -> Option<Vec<&str>> {
    text.split(',')
        .map(|part| {
            let bare = part.strip_prefix('"').and_then(|part| part.strip_suffix('"')).unwrap_or(part);
            Some(bare.trim()).filter(|bare| cidr(bare))
        })
        .collect()
}

/// Whether Linkerd's injector takes the text as the cluster's networks.
pub fn networks(text: &str) -> bool {
    text.is_empty() || text.trim_matches(',').split(',').all(cidr)
}

/// A Kubernetes quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In units of 10⁻⁹.
    pub nano: i128,
    /// Rounded up to whole units; zero where Go keeps more digits than an `int64` has, as Linkerd counts cores.
    pub cores: i64,
    /// Written with an exponent that takes an API server too long to reckon with.
    pub is_vast: bool,
}

/// Kubernetes' `resource.ParseQuantity`.
pub fn quantity(text: &str) -> Option<Quantity> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = digits(unsigned);
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
    if text.is_empty() {
        return None;
    }
    let exponent = |text: &str| go_int(text, 64).and_then(|exponent| i32::try_from(exponent.clamp(-100_000, 100_000)).ok());
    let (two, ten): (u32, i32) = match suffix {
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "" => (0, 0),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        _ => (0, exponent(suffix.strip_prefix(['e', 'E'])?)?),
    };
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let no_digit = whole.is_empty() && fraction.is_empty();
    let whole = whole.trim_start_matches('0');
    let places = i32::try_from(fraction.len()).ok()?;
    let mantissa = format!("0{whole}{fraction}").parse::<i128>().ok()?.checked_shl(two)?.saturating_mul(sign);
    let nano = scaled(mantissa, ten.saturating_sub(places).saturating_add(9));
    let length = i32::try_from(whole.len().max(1).saturating_add(fraction.len())).ok()?;
    let spare = match two {
        0 => 18_i32.saturating_sub(length),
        _ if places > 0 => -1,
        _ => 14_i32.saturating_sub(length).saturating_sub(i32::try_from(two.saturating_mul(3) / 10).ok()?),
    };
    let small = spare >= 0 && ten.saturating_sub(places) >= -9;
    // Only Go's short way takes no digits for zero.
    if no_digit && !small {
        return None;
    }
    let cores = if small { i64::try_from(scaled(nano, -9)).unwrap_or(0) } else { 0 };
    Some(Quantity { nano, cores, is_vast: ten.unsigned_abs() > 999 })
}

/// Times a power of ten, rounded away from zero and held within what the type can hold.
fn scaled(number: i128, power: i32) -> i128 {
    let factor = 10_i128.checked_pow(power.unsigned_abs()).unwrap_or(i128::MAX);
    if power >= 0 {
        return number.saturating_mul(factor);
    }
    let rest = number.checked_rem(factor).unwrap_or(0);
    number.checked_div(factor).unwrap_or(0).saturating_add(rest.signum())
}

/// How Go prints a float.
pub fn go_float(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => number.to_string(),
    }
}

/// Whether a container runtime reads the text as the name of an image, without tag and digest.
pub fn image_name(text: &str) -> bool {
    let path = |text: &str| text.split('/').all(path_component);
    let in_domain = text.split_once('/').is_some_and(|(first, rest)| domain(first) && path(rest));
    text.len() <= 255 && (path(text) || in_domain)
}

fn domain(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty() && label.bytes().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    // No more than this is asked of an address, which need not be one.
    let hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = address.map_or_else(|| host.split('.').all(label), |host| !host.is_empty() && host.bytes().all(hexadecimal));
    host && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `[a-z0-9]+` joined by one dot, one or two underscores, or dashes.
fn path_component(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let between = |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    text.starts_with(plain) && text.ends_with(plain) && text.split(plain).all(between)
}

/// Whether a container runtime reads the text as a tag.
pub fn image_tag(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 128 && text.bytes().next().is_some_and(word) && text.bytes().all(|byte| word(byte) || matches!(byte, b'.' | b'-'))
}

#[cfg(test)]
mod tests;
