use super::{DurationError, duration, proxy_duration, timeout};
use std::time;

#[test]
fn durations_are_gos() {
    for (text, nanoseconds) in [
        ("0", 0),
        ("-0", 0),
        ("+0", 0),
        ("0s", 0),
        ("5s", 5_000_000_000),
        ("+5s", 5_000_000_000),
        ("-5s", -5_000_000_000),
        ("1ns", 1),
        ("1us", 1_000),
        ("1\u{b5}s", 1_000),
        ("1\u{3bc}s", 1_000),
        ("1ms", 1_000_000),
        ("1m", 60_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("1.5h", 5_400_000_000_000),
        (".5s", 500_000_000),
        ("5.s", 5_000_000_000),
        ("1.0s0.5s", 1_500_000_000),
        ("0.0000000001h", 360),
        ("0.9999999999999999999999s", 999_999_999),
        ("0.3333333333333333333h", 1_199_999_999_999),
        ("2562047h47m16.854775807s", i64::MAX),
        ("9223372036854775807ns", i64::MAX),
        ("-9223372036854775808ns", i64::MIN),
    ] {
        assert_eq!(duration(text).map(super::Duration::nanoseconds), Ok(nanoseconds), "{text}");
    }
}

#[test]
fn what_go_refuses_is_refused() {
    let shape = "not a duration such as 500ms, 10s or 1m30s";
    let unit = "a duration whose unit is none of ns, us, ms, s, m, h";
    let long = "a duration of more than 292 years";
    for (text, error) in [
        ("", shape),
        ("-", shape),
        ("+", shape),
        ("10", shape),
        ("1.5", shape),
        (".s", shape),
        (".", shape),
        ("s", shape),
        (" 1s", shape),
        ("1s5", shape),
        ("--1s", shape),
        ("1s-1s", unit),
        ("1d", unit),
        ("1s ", unit),
        ("1 s", unit),
        ("1S", unit),
        ("1\u{3bc}", unit),
        ("9223372036854775808ns", long),
        ("-9223372036854775809ns", long),
        ("18446744073709551616ns", long),
        ("2562047h47m16.854775808s", long),
        ("9223372036854775808ns9223372036854775808ns", long),
        ("2562048h", long),
    ] {
        assert_eq!(duration(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text}");
    }
}

#[test]
fn timeouts_are_not_negative() {
    assert_eq!(timeout("-0s"), duration("0"));
    assert_eq!(timeout("1ns"), duration("1ns"));
    assert_eq!(timeout("-1ns").map_err(|e| e.to_string()), Err("a negative duration".to_owned()));
    assert_eq!(timeout("1d"), Err(DurationError::UnknownUnit));
}

#[test]
fn texts_are_exact() {
    for (text, milliseconds, either, seconds) in [
        ("0", "0ms", "0s", 0),
        ("999us", "0ms", "0s", 0),
        ("1000.4ms", "1000ms", "1s", 1),
        ("1001ms", "1001ms", "1001ms", 1),
        ("1003ms", "1003ms", "1003ms", 1),
        ("500ms", "500ms", "500ms", 0),
        ("5s", "5000ms", "5s", 5),
        ("1m30s", "90000ms", "90s", 90),
        ("1.9999s", "1999ms", "1999ms", 1),
    ] {
        let value = duration(text);
        let texts = value.map(|value| (value.as_milliseconds(), value.as_seconds_or_milliseconds(), value.whole_seconds()));
        assert_eq!(texts, Ok((milliseconds.to_owned(), either.to_owned(), seconds)), "{text}");
        assert!(proxy_duration(milliseconds).is_ok(), "{text}");
        assert!(proxy_duration(either).is_ok(), "{text}");
    }
}

#[test]
fn proxy_durations_are_the_proxys() {
    for (text, value) in [
        ("0", time::Duration::ZERO),
        ("00", time::Duration::ZERO),
        ("0s", time::Duration::ZERO),
        (" 10ms\t", time::Duration::from_millis(10)),
        ("\u{a0}1s\u{2003}\n", time::Duration::from_secs(1)),
        ("5m", time::Duration::from_secs(300)),
        ("1h", time::Duration::from_secs(3_600)),
        ("365d", time::Duration::from_secs(31_536_000)),
        ("9223372036s", time::Duration::from_secs(9_223_372_036)),
        ("106751d", time::Duration::from_secs(106_751 * 86_400)),
    ] {
        assert_eq!(proxy_duration(text), Ok(value), "{text}");
    }
    for text in ["", "1", "-1s", "+1s", "1 s", "1.5s", "1us", "1s1s", "18446744073709551616s", "\u{663}s"] {
        let error = proxy_duration(text).map_err(|e| e.to_string());
        assert_eq!(error, Err("not a duration such as 500ms, 10s, 5m, 1h or 365d".to_owned()), "{text}");
    }
    for text in ["9223372037s", "106752d", "18446744073709551615ms", "213503982334602d"] {
        let error = proxy_duration(text).map_err(|e| e.to_string());
        assert_eq!(error, Err("a duration of more than 292 years".to_owned()), "{text}");
    }
}
