//! What each program takes, value beside value.

use super::*;

#[test]
fn whole_numbers() {
    for (text, bits, number) in [
        ("5", 32, Some(5)),
        ("+5", 32, Some(5)),
        ("-1", 32, Some(-1)),
        ("08", 32, Some(8)),
        ("2147483647", 32, Some(2_147_483_647)),
        ("2147483648", 32, None),
        ("-2147483648", 32, Some(-2_147_483_648)),
        ("2147483648", 64, Some(2_147_483_648)),
        ("9223372036854775808", 64, None),
        ("", 64, None),
        ("+", 64, None),
        (" 1", 64, None),
        ("1e3", 64, None),
        ("0x10", 64, None),
        ("+-1", 64, None),
    ] {
        assert_eq!(go_int(text, bits), number, "{text:?}");
    }
}

#[test]
fn go_floats() {
    for (text, number) in [
        ("0.5", Some(0.5)),
        (".5", Some(0.5)),
        ("5e-1", Some(0.5)),
        ("+0x1p-2", Some(0.25)),
        ("-0X.8P0", Some(-0.5)),
        ("0x_8.0p-4", Some(0.5)),
        ("1_0.2_5", Some(10.25)),
        ("-Inf", Some(f64::NEG_INFINITY)),
        ("0x1", None),
        ("0xp1", None),
        ("0x1p", None),
        ("1e_5", None),
        ("_1", None),
        ("1_", None),
        ("1__0", None),
        ("", None),
        (" 1", None),
        ("1,5", None),
    ] {
        assert_eq!(go_parse_float(text), number, "{text:?}");
    }
}

#[test]
fn go_durations() {
    for (text, nanoseconds) in [
        ("1s", Some(1_000_000_000)),
        ("1m30s", Some(90_000_000_000)),
        ("1.5h", Some(5_400_000_000_000)),
        (".5s", Some(500_000_000)),
        ("1.s", Some(1_000_000_000)),
        ("2µs", Some(2_000)),
        ("3ns", Some(3)),
        ("-5s", Some(-5_000_000_000)),
        ("-0s", Some(0)),
        ("0", Some(0)),
        ("1h1m1.234s", Some(3_661_234_000_000)),
        ("2562047h", Some(9_223_369_200_000_000_000)),
        ("2562048h", None),
        ("10", None),
        ("1d", None),
        ("", None),
        ("-", None),
        (".s", None),
        ("s", None),
        ("1s ", None),
    ] {
        assert_eq!(go_duration(text), nanoseconds, "{text:?}");
    }
}

#[test]
fn ports() {
    let named = BTreeMap::from([("http".to_owned(), 8080)]);
    for (text, entries) in [
        ("8080, 9090", "8080 9090"),
        ("22,4000-5000,http", "22 4000-5000 8080"),
        (",80,", "80"),
        ("80-80", "80"),
        ("+25,0025", "25 25"),
        ("65536,-1,5-1,1-2-3,25 - 30,x,", ""),
    ] {
        assert_eq!(go_ports(text, &named).join(" "), entries, "{text:?}");
    }
    for (text, readable) in [
        ("1,,,,2", true),
        ("1, 2,\t3- 5", true),
        ("", true),
        ("http", false),
        ("80-79", false),
        ("-1", false),
        ("69420", false),
        ("1,2-,50", false),
    ] {
        assert_eq!(proxy_ports(text), readable, "{text:?}");
    }
}

#[test]
fn proxy_durations() {
    for (text, readable) in [
        ("10s", true),
        (" 1m\t", true),
        ("0", true),
        ("1", false),
        ("1.5s", false),
        ("-1s", false),
        ("1w", false),
        ("", false),
        ("106751d", true),
        ("106752d", false),
    ] {
        assert_eq!(proxy_duration(text), readable, "{text:?}");
    }
}

#[test]
fn networks_of_go_and_of_the_programs() {
    for (text, readable) in [
        ("10.0.0.0/8", true),
        ("fd00::/8", true),
        ("10.0.0.0/08", true),
        ("10.0.0.0/33", false),
        ("010.0.0.0/8", false),
        ("10.0.0.0", false),
        ("10.0.0.0/+8", false),
        ("::/129", false),
    ] {
        assert_eq!(cidr(text), readable, "{text:?}");
    }
    assert!(networks("") && networks(",10.0.0.0/8,") && !networks("10.0.0.0/8, fd00::/8") && !networks(","));
    assert_eq!(subnets("10.0.0.0/8, \"fd00::/8\""), None);
    assert_eq!(subnets("10.0.0.0/8,\"fd00::/8\""), Some(vec!["10.0.0.0/8", "fd00::/8"]));
    assert_eq!(subnets("10.0.0.0/8,"), None);
}

#[test]
fn quantities() {
    for (text, nano, cores) in [
        ("100m", 100_000_000, 1),
        ("1", 1_000_000_000, 1),
        ("1.5", 1_500_000_000, 2),
        ("2500m", 2_500_000_000, 3),
        ("-1", -1_000_000_000, -1),
        ("0", 0, 0),
        ("1e3", 1_000_000_000_000, 1000),
        ("64Mi", 67_108_864_000_000_000, 67_108_864),
        ("1.5Gi", 1_610_612_736_000_000_000, 0),
        ("12E", 12_000_000_000_000_000_000_000_000_000, 0),
        ("9999999999999999999", 9_999_999_999_999_999_999_000_000_000, 0),
        (".5", 500_000_000, 1),
        ("-", 0, 0),
        (".", 0, 0),
        ("Ki", 0, 0),
        ("Ti", 0, 0),
        ("0Ei", 0, 0),
    ] {
        let read = quantity(text).map(|quantity| (quantity.nano, quantity.cores, quantity.is_vast));
        assert_eq!(read, Some((nano, cores, false)), "{text:?}");
    }
    assert!(quantity("1e1000").is_some_and(|quantity| quantity.is_vast));
    for text in ["", "abc", "1 ", "100mm", "1.5.5", "1i", "--1", "Ei", "Pi", ".Ei"] {
        assert_eq!(quantity(text), None, "{text:?}");
    }
}

#[test]
fn floats_as_go_prints_them() {
    for (number, text) in [
        (2102.0, "2102"),
        (999_999.0, "999999"),
        (1_000_000.0, "1e+06"),
        (1_001_060_000.0, "1.00106e+09"),
        (0.3, "0.3"),
        (1e-5, "1e-05"),
        (0.0001, "0.0001"),
        (-1.0, "-1"),
    ] {
        assert_eq!(go_float(number), text);
    }
}

#[test]
fn images() {
    for (text, readable) in [
        ("cr.l5d.io/linkerd/proxy", true),
        ("mirror.test:5000/a/b", true),
        ("proxy", true),
        ("localhost/proxy", true),
        ("Mirror/proxy", true),
        ("[::1]:5000/proxy", true),
        ("a__b/c.d-e", true),
        ("[0]:5000/proxy", true),
        ("10.0.0.7_5000/proxy", true),
        ("-mirror.test/proxy", false),
        ("[]:5000/proxy", false),
        ("[x]/proxy", false),
        ("", false),
        ("mirror.test/Proxy", false),
        ("mirror.test/proxy:1", false),
        ("proxy:1", false),
        ("a@sha256:0", false),
        ("a//b", false),
        ("a/", false),
        ("a___b", false),
        ("-a", false),
        ("https://a/b", false),
    ] {
        assert_eq!(image_name(text), readable, "{text:?}");
    }
    let long = "v".repeat(128);
    for (text, readable) in [
        ("v1", true),
        ("_1.2-3", true),
        (long.as_str(), true),
        ("", false),
        (".1", false),
        ("-1", false),
        ("a b", false),
        ("1+2", false),
        ("sha256:0", false),
    ] {
        assert_eq!(image_tag(text), readable, "{text:?}");
    }
    assert!(!image_tag(&"v".repeat(129)));
}
