use super::{ImageError, name, pull_policy, tag};

#[test]
fn names_follow_the_reference_grammar() {
    for text in [
        "cr.l5d.io/linkerd/proxy",
        "proxy",
        "linkerd/proxy",
        "localhost/proxy",
        "localhost:5000/proxy",
        "127.0.0.1:5000/a/b/c",
        "[2001:db8::1]/proxy",
        "[2001:db8::1]:5000/proxy",
        "Registry/proxy",
        "REGISTRY.example.com:443/linkerd/proxy",
        "a.b_c__d---e/f",
        "foo_bar.com/proxy",
        "0/0",
        "xn--n3h.com/proxy",
    ] {
        assert_eq!(name(text), Ok(()), "{text}");
    }
    for text in [
        "",
        "/",
        "proxy/",
        "/proxy",
        "a//b",
        "proxy:1",
        "localhost:5000",
        "a/b:5000/c",
        "proxy@sha256:00",
        "Proxy",
        "linkerd/Proxy",
        " proxy",
        "proxy ",
        "a..b",
        "a___b",
        "a._b",
        "-a",
        "a-",
        "a_",
        ".a/b",
        "host:/a",
        "host:x/a",
        "[]/a",
        "[::1/a",
        "[::1]x/a",
        "-h.com/A",
        "h-.com:1/a",
        "pr\u{f6}xy",
        "a # b",
        "http://a/b",
        "\"a\"",
    ] {
        let shape = "not an image name such as registry.example/linkerd/proxy, without tag or digest";
        assert_eq!(name(text).map_err(|e| e.to_string()), Err(shape.to_owned()), "{text}");
    }
    assert_eq!(name(&"a".repeat(255)), Ok(()));
    let long = name(&"a".repeat(256)).map_err(|e| e.to_string());
    assert_eq!(long, Err("an image name of more than 255 characters".to_owned()));
}

#[test]
fn tags_follow_the_reference_grammar() {
    let longest = "v".repeat(128);
    for text in ["edge-26.8.1", "1e3", "_", "A", "0", "a..b--__", &longest] {
        assert_eq!(tag(text), Ok(()), "{text}");
    }
    for text in ["", "-a", ".a", "a b", "1 # x", "a:b", "a/b", "a@b", "a+b", "\u{e9}", "a\n", &"v".repeat(129)] {
        let shape = "not an image tag of up to 128 letters, digits, dots, dashes and underscores";
        assert_eq!(tag(text).map_err(|e| e.to_string()), Err(shape.to_owned()), "{text}");
    }
}

#[test]
fn pull_policies_are_the_apis() {
    for text in ["", "Always", "IfNotPresent", "Never"] {
        assert_eq!(pull_policy(text), Ok(()), "{text}");
    }
    for text in ["always", "y", "true", "IfPresent", " Always"] {
        assert_eq!(pull_policy(text), Err(ImageError::NotPullPolicy), "{text}");
    }
    assert_eq!(ImageError::NotPullPolicy.to_string(), "not one of Always, IfNotPresent, Never");
}
