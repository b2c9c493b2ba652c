use super::{PortError, PortRange, list, opaque, port, port_range, proxy_port_set};

fn named(name: &str) -> Option<u16> {
    match name {
        "mysql" => Some(3306),
        "80" => Some(8080),
        _ => None,
    }
}

#[test]
fn ports_are_those_one_can_listen_on() {
    for (text, value) in [("1", 1), ("65535", 65_535), ("+5", 5), ("08", 8)] {
        assert_eq!(port(text), Ok(value), "{text}");
    }
    for text in ["", "0", "-0", "-1", "65536", "4294967296", "http", " 80", "80 ", "0x50", "8e1", "80-81"] {
        assert_eq!(port(text).map_err(|e| e.to_string()), Err("not a port between 1 and 65535".to_owned()), "{text}");
    }
}

#[test]
fn ranges_are_linkerds() {
    for (text, low, high, written) in [
        ("0", 0, 0, "0"),
        ("65535", 65_535, 65_535, "65535"),
        ("+25", 25, 25, "25"),
        ("0025", 25, 25, "25"),
        ("80-90", 80, 90, "80-90"),
        ("80-80", 80, 80, "80"),
        ("0-65535", 0, 65_535, "0-65535"),
        ("+1-+2", 1, 2, "1-2"),
    ] {
        assert_eq!(port_range(text), Ok(PortRange { low, high }), "{text}");
        assert_eq!(PortRange { low, high }.to_string(), written, "{text}");
    }
    let shape = "not a port or a range such as 8080-8090, between 0 and 65535";
    for (text, error) in [
        ("", shape),
        ("-", shape),
        ("-1", shape),
        ("1-", shape),
        ("1-2-3", shape),
        ("1--1", shape),
        ("25 - 30", shape),
        (" 25", shape),
        ("65536", shape),
        ("1-65536", shape),
        ("http", shape),
        ("30-25", "a range that ends below its start"),
    ] {
        assert_eq!(port_range(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text}");
    }
}

#[test]
fn ranges_hold_both_ends() {
    let range = PortRange { low: 80, high: 90 };
    for (port, held) in [(79, false), (80, true), (90, true), (91, false)] {
        assert_eq!(range.contains(port), held, "{port}");
    }
}

#[test]
fn lists_keep_order_and_set_the_bad_apart() {
    for (text, good, bad) in [
        ("", "", vec![]),
        (",", "", vec![]),
        ("25,", "25", vec![]),
        (",25,,26,,", "25,26", vec![]),
        (" 8080 ,\t9090-9091\n", "8080,9090-9091", vec![]),
        ("25,25", "25,25", vec![]),
        ("mysql,25", "3306,25", vec![]),
        ("80", "8080", vec![]),
        (
            "x,25,30-25,70000",
            "25",
            vec![("x", PortError::NotRange), ("30-25", PortError::Backwards), ("70000", PortError::NotRange)],
        ),
        ("mysql-3307", "", vec![("mysql-3307", PortError::NotRange)]),
    ] {
        for read in [list, opaque] {
            let list = read(text, &named);
            assert_eq!(list.to_string(), good, "{text:?}");
            let found: Vec<_> = list.bad.iter().map(|entry| (entry.text.as_str(), entry.error)).collect();
            assert_eq!(found, bad, "{text:?}");
        }
    }
}

#[test]
fn proxy_lists_are_the_proxys() {
    for (text, count) in
        [("", 0), (" ", 0), (",,", 0), ("1-65535", 1), ("1, 2,\t3- 5", 3), ("+80,0080", 2), ("0", 1), ("1, , 2,", 2)]
    {
        assert_eq!(proxy_port_set(text).map(|ranges| ranges.len()), Ok(count), "{text:?}");
    }
    let shape = "not a list of ports and ranges such as 80,8080-8090";
    for (text, error) in [
        ("x", shape),
        ("80,http", shape),
        ("-1", shape),
        ("1-", shape),
        ("1-2-3", shape),
        ("65536", shape),
        ("1-65536", shape),
        ("-0", shape),
        ("80-79", "a range that ends below its start"),
    ] {
        assert_eq!(proxy_port_set(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text:?}");
    }
}

#[test]
fn a_set_is_its_ports_however_they_are_written() {
    let set = |text: &str| super::PortSet::of(super::list(text, &|_| None).ranges);
    for (one, other) in [("", ""), ("80", "80,80"), ("1-3", "3,2,1"), ("1-5,4-9,20", "20,1-9"), ("65535,1-65534", "1-65535")] {
        assert_eq!(set(one), set(other), "{one} {other}");
    }
    for (one, other) in [("", "80"), ("80", "81"), ("1-3", "1,3")] {
        assert_ne!(set(one), set(other), "{one} {other}");
    }
    let ports = set("10-20,30,0,65535");
    for (port, there) in
        [(0, true), (1, false), (9, false), (10, true), (20, true), (21, false), (30, true), (31, false), (65535, true)]
    {
        assert_eq!(ports.contains(port), there, "{port}");
    }
}
