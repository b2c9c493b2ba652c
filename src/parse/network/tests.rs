use super::{cidr, cidr_list_init, cluster_networks, ip6tables_reads, proxy_networks};

#[test]
fn networks_are_gos() {
    for (text, address, prefix) in [
        ("10.0.0.0/8", "10.0.0.0", 8),
        ("10.0.0.1/8", "10.0.0.1", 8),
        ("0.0.0.0/0", "0.0.0.0", 0),
        ("1.2.3.4/32", "1.2.3.4", 32),
        ("1.2.3.4/032", "1.2.3.4", 32),
        ("fd00::/8", "fd00::", 8),
        ("::/0", "::", 0),
        ("::ffff:1.2.3.4/120", "::ffff:1.2.3.4", 120),
        ("2001:DB8::1/128", "2001:db8::1", 128),
    ] {
        let network = cidr(text).map(|network| (network.address.to_string(), network.prefix));
        assert_eq!(network, Ok((address.to_owned(), prefix)), "{text}");
    }
    for text in [
        "",
        "/",
        "10.0.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "::/129",
        "10.0.0.0/+8",
        "10.0.0.0/-1",
        "10.0.0.0/8/8",
        "010.0.0.0/8",
        "10.0.0/8",
        " 10.0.0.0/8",
        "10.0.0.0/8 ",
        "10.0.0.0 /8",
        "256.0.0.0/8",
        "fe80::1%eth0/64",
        "1.2.3.4.5/8",
        "x/8",
        "10.0.0.0/x",
        ":::/8",
        "10.0.0.0/4294967304",
    ] {
        assert_eq!(cidr(text).map_err(|e| e.to_string()), Err("not a network such as 10.0.0.0/8".to_owned()), "{text}");
    }
}

#[test]
fn subnets_to_ignore_are_linkerd_inits() {
    for (text, count) in [
        ("", 0),
        ("10.0.0.0/8", 1),
        (" 10.0.0.0/8 ,\t192.168.0.0/16", 2),
        ("10.0.0.1/8", 1),
        ("\"10.0.0.0/8\",\" 1.1.1.1/32 \"", 2),
        ("10.0.0.0/8\n", 1),
        ("\r\n10.0.0.0/8\r\n", 1),
        ("::/0,0.0.0.0/00", 2),
    ] {
        assert_eq!(cidr_list_init(text).map(|list| list.len()), Ok(count), "{text:?}");
    }
    let shape = "not a comma-separated list of networks such as 10.0.0.0/8";
    let lines = "a list of networks over more than one line";
    for (text, error) in [
        (" ", shape),
        ("\n", shape),
        (",", shape),
        ("10.0.0.0/8,", shape),
        (",10.0.0.0/8", shape),
        ("10.0.0.0", shape),
        ("10.0.0.0/8 192.168.0.0/16", shape),
        ("\"10.0.0.0/8", shape),
        (" \"10.0.0.0/8\"", shape),
        ("\"10.0.0.0/8\" ", shape),
        ("\"10.0.0.0/8,1.2.3.4/8\"", shape),
        ("\"", shape),
        ("x", shape),
        ("10.0.0.0/08", shape),
        ("10.0.0.0/8,fd00::/8", "a list with an IPv6 network, which iptables refuses"),
        ("10.0.0.0/8\n192.168.0.0/16", lines),
        ("10.0.0.0/8,\r\n192.168.0.0/16", lines),
    ] {
        assert_eq!(cidr_list_init(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text:?}");
    }
}

#[test]
fn ip6tables_reads_no_ipv4_network() {
    for (text, read) in [("", true), ("0.0.0.0/0,::/0", true), ("10.0.0.0/8", false), ("0.0.0.0/0,1.2.3.4/32", false)] {
        assert_eq!(cidr_list_init(text).map(|subnets| ip6tables_reads(&subnets)), Ok(read), "{text:?}");
    }
}

#[test]
fn cluster_networks_are_read_by_both() {
    for (text, count) in [("", 0), ("10.0.0.0/8", 1), (",,10.0.0.0/8,fd00::/8,,", 2), ("10.0.0.1/08", 1), ("::/008", 1)] {
        assert_eq!(cluster_networks(text).map(|list| list.len()), Ok(count), "{text:?}");
        assert_eq!(proxy_networks(text).map(|list| list.len()), Ok(count), "{text:?}");
    }
    for text in
        [",", " ", "10.0.0.0/8, fd00::/8", "10.0.0.0/8,,fd00::/8", "10.0.0.0", "10.0.0.0/008", "::/0008", "10.0.0.0/33", "x"]
    {
        let shape = "not a comma-separated list of networks such as 10.0.0.0/8";
        assert_eq!(cluster_networks(text).map_err(|e| e.to_string()), Err(shape.to_owned()), "{text:?}");
    }
}

#[test]
fn proxy_networks_are_the_proxys() {
    for (text, count) in [(" , ", 0), (" 10.0.0.0/8 ,,fd00::/8 ", 2)] {
        assert_eq!(proxy_networks(text).map(|list| list.len()), Ok(count), "{text:?}");
    }
    for text in ["10.0.0.0", "10.0.0.0/8;", "10.0.0.0/33", "10.0.0.0/008", "x"] {
        assert!(proxy_networks(text).is_err(), "{text:?}");
    }
}
