use super::{QuantityError, quantity, resource};
use std::cmp::Ordering;

/// What Kubernetes makes of each text: the sign, and the cores that Linkerd takes from it.
const GOOD: &[(&str, bool, i64)] = &[
    ("0", false, 0),
    ("1", false, 1),
    ("100m", false, 1),
    ("1000m", false, 1),
    ("1001m", false, 2),
    ("1m", false, 1),
    ("1u", false, 1),
    ("1n", false, 1),
    ("2.5", false, 3),
    ("+1.0", false, 1),
    (".5", false, 1),
    ("5.", false, 5),
    ("007", false, 7),
    ("1k", false, 1_000),
    ("1M", false, 1_000_000),
    ("1G", false, 1_000_000_000),
    ("1T", false, 1_000_000_000_000),
    ("1P", false, 1_000_000_000_000_000),
    ("1E", false, 1_000_000_000_000_000_000),
    ("10E", false, 0),
    ("1Ki", false, 1_024),
    ("1.Ki", false, 1_024),
    ("1Mi", false, 1_048_576),
    ("1Gi", false, 1_073_741_824),
    ("1Ti", false, 1_099_511_627_776),
    ("1e3", false, 1_000),
    ("1E3", false, 1_000),
    ("12e-1", false, 2),
    ("1e+2", false, 100),
    ("-1", true, -1),
    ("-0.5", true, -1),
    ("-0", false, 0),
    // Read without a digit, as zero.
    ("+", false, 0),
    ("-", false, 0),
    (".", false, 0),
    (".Ki", false, 0),
    // The slow form, from which no cores are taken.
    ("999999999999999999", false, 999_999_999_999_999_999),
    ("1000000000000000000", false, 0),
    ("1.5Ki", false, 0),
    ("1Pi", false, 0),
    ("1Ei", false, 0),
    ("99Ti", false, 108_851_651_149_824),
    ("100Ti", false, 0),
    ("1.0000000001", false, 0),
    ("1e-9", false, 1),
    ("1e-10", false, 0),
    ("1e19", false, 0),
    ("1e999", false, 0),
];

#[test]
fn quantities_are_kubernetes() {
    for (text, negative, cores) in GOOD {
        let read = quantity(text).map(|quantity| (quantity.is_negative(), quantity.whole_cores()));
        assert_eq!(read, Ok((*negative, *cores)), "{text}");
    }
}

#[test]
fn anything_else_is_refused() {
    let shape = "not a quantity such as 100m, 1.5 or 64Mi";
    let suffix = "a quantity whose suffix is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei";
    let exponent = "a quantity whose exponent is beyond 999";
    for (text, error) in [
        ("", shape),
        (" 1", shape),
        ("1 ", shape),
        ("1.2.3", shape),
        ("1-2", shape),
        ("--1", shape),
        ("1,5", shape),
        (".e-10", shape),
        ("\u{661}", shape),
        ("1K", suffix),
        ("1mi", suffix),
        ("1i", suffix),
        ("1KiB", suffix),
        ("1e", suffix),
        ("1e+", suffix),
        ("1e1.5", suffix),
        ("1k3", suffix),
        ("0x10", suffix),
        ("cpu", suffix),
        ("1e1000", exponent),
        ("1e-1000", exponent),
        ("1e2147483648", exponent),
    ] {
        assert_eq!(quantity(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text}");
    }
}

#[test]
fn resources_are_not_negative() {
    assert_eq!(resource("-0"), quantity("0"));
    assert_eq!(resource("-1n").map_err(|e| e.to_string()), Err("a negative quantity".to_owned()));
    assert_eq!(resource("-1e-20"), Err(QuantityError::Negative));
    assert_eq!(resource("1K"), Err(QuantityError::UnknownSuffix));
}

#[test]
fn order_is_that_of_the_values() {
    for (left, right, order) in [
        ("1", "1000m", Ordering::Equal),
        ("1", "1.000", Ordering::Equal),
        ("1k", "1000", Ordering::Equal),
        ("1Ki", "1024", Ordering::Equal),
        ("0", "-0", Ordering::Equal),
        ("0.5Ki", "512", Ordering::Equal),
        ("1.1Ki", "1126400m", Ordering::Equal),
        ("1e-20", "1n", Ordering::Equal),
        ("1.0000000001", "1.000000001", Ordering::Equal),
        ("9.9999999999", "10", Ordering::Equal),
        ("-1e-20", "-1n", Ordering::Equal),
        ("8Ei", "9223372036854775807", Ordering::Equal),
        ("-8Ei", "-9223372036854775807", Ordering::Equal),
        ("9.5Ei", "100Ei", Ordering::Equal),
        ("99m", "100m", Ordering::Less),
        ("999m", "1", Ordering::Less),
        ("1G", "1Gi", Ordering::Less),
        ("0", "1n", Ordering::Less),
        ("-1n", "0", Ordering::Less),
        ("-2", "-1", Ordering::Less),
        ("-1", "1", Ordering::Less),
        ("8Ei", "9223372036854775808", Ordering::Less),
        ("1e30", "1e31", Ordering::Less),
        ("19e29", "2e30", Ordering::Less),
        ("12", "121", Ordering::Less),
    ] {
        let compare = |a: &str, b: &str| quantity(a).and_then(|a| quantity(b).map(|b| a.cmp(&b)));
        assert_eq!(compare(left, right), Ok(order), "{left} {right}");
        assert_eq!(compare(right, left), Ok(order.reverse()), "{right} {left}");
    }
}
