//! What may stand in an annotation: good texts, texts that are nearly good, and texts that nobody would write.
//!
//! Every annotation of the policy's table has its pool here. A text that is a quantity with an exponent of four digits or
//! more is never made, for Linkerd's injector works on such a quantity for minutes (D31).

use super::choice::Choice;
use super::variable;

/// Texts for some annotations.
#[derive(Debug)]
pub struct Pool {
    /// The annotations.
    pub keys: &'static [&'static str],
    good: &'static [&'static str],
    near: &'static [&'static str],
}

/// The one whose good texts are made up (see [`variable`]).
const ADDITIONAL_ENV: &str = "config.linkerd.io/proxy-additional-env";

/// All pools.
#[rustfmt::skip]
pub const POOLS: &[Pool] = &[
    Pool {
        keys: &["linkerd.io/inject"],
        good: &["enabled", "enabled", "enabled", "ingress", "disabled"],
        near: &["", "true", "Enabled", " enabled", "enabled ", "disable", "false", "ingres"],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-image", "config.linkerd.io/debug-image"],
        good: &["mirror.test/linkerd/proxy", "proxy", "mirror.test:5000/a/b_c", "10.0.0.7:5000/p", "[fd00::1]:80/p", "a/b.c/d__e"],
        near: &[
            "", "Mirror.test/Proxy", "mirror.test/proxy:v1", "a//b", "/a", "a/", "-a", "a:5000", "a@sha256:00", "true", "1", "~",
        ],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-version", "config.linkerd.io/debug-image-version"],
        good: &["edge-26.8.1", "v2.99", "1", "1.10", "0x10", "2026-01-01", "_a", "", "1e3", "0o17", "1_000", "12:30"],
        near: &[".a", "-a", "a b", "a:b", "a/b", "a@b", "é", "#1", "a #b", "a\nb", "null", "yes", "1.0", "!x", "&a", "*a", "'a'"],
    },
    Pool {
        keys: &["config.linkerd.io/image-pull-policy", "config.linkerd.io/debug-image-pull-policy"],
        good: &["Always", "IfNotPresent", "Never", ""],
        near: &["always", "Always ", "IfNotpresent", "ifnotpresent", "true", "~", "null"],
    },
    Pool {
        keys: &[
            "config.linkerd.io/enable-debug-sidecar",
            "config.linkerd.io/proxy-metrics-hostname-labels",
            "config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout",
            "config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout",
            "config.linkerd.io/enable-gateway",
            "config.linkerd.io/enable-external-profiles",
            "config.linkerd.io/proxy-enable-native-sidecar",
            "config.beta.linkerd.io/proxy-enable-native-sidecar",
            "config.alpha.linkerd.io/proxy-enable-native-sidecar",
        ],
        good: &["true", "false", "1", "0", "t", "F", "TRUE", "False"],
        near: &["", "yes", "tRUE", " true", "true ", "enabled", "2", "null"],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-admin-shutdown", "config.linkerd.io/proxy-await"],
        good: &["enabled", "disabled"],
        near: &["", "true", "false", "Enabled", "enabled ", "disable"],
    },
    Pool {
        keys: &[
            "config.linkerd.io/control-port",
            "config.linkerd.io/inbound-port",
            "config.linkerd.io/admin-port",
            "config.linkerd.io/outbound-port",
        ],
        good: &["4190", "4143", "4191", "4140", "1", "65535", "8080", "4144", "+4145", "007"],
        near: &["", "0", "-1", "65536", "70000", "4143 ", "0x1000", "1e3", "http", "4294967297", "-0", "4_143", "８０"],
    },
    Pool {
        keys: &["config.linkerd.io/pod-inbound-ports", "config.linkerd.io/proxy-require-identity-inbound-ports"],
        good: &["", "80", "8080,9090", "80, 443", "8000-8010", "1-65535", "80,80", "443,80", "+80", "8080-8080", " 80"],
        near: &[",", "80,", ",80", "0", "65536", "http", "80-", "-80", "9-8", "80;443", "80 443", "1-2-3", "80,\t443", "80 - 90"],
    },
    Pool {
        keys: &["config.linkerd.io/skip-inbound-ports", "config.linkerd.io/skip-outbound-ports", "config.linkerd.io/opaque-ports"],
        good: &["", "25", "25,3306", "8000-8010", "http", "db,8080", "http,http", "25, 443 ,587", "0-65535", "4143", "80-80"],
        near: &[
            ",", ",,25", "0", "65536", "-1", "9-8", "1-2-3", "nosuch", "+25", "00025", "25\n26", "25\t,26", "1-70000", "25;26",
            "db-x",
        ],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-log-level"],
        good: &["debug", "warn,linkerd=info", "linkerd[name=\"a\"]=debug", "off", "5", "warn,linkerd2_proxy::a=trace"],
        near: &["", "verbose", "warn,,", "=", "warn,linkerd=loud", "[", "linkerd[a=]", "WARN", " warn ", "$(NAME)", "warn;info"],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-log-http-headers"],
        good: &["insecure", "off", ""],
        near: &["on", "Insecure", "off ", "false", "true", "secure"],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-log-format"],
        good: &["plain", "json"],
        near: &["", "JSON", "text", "json ", "$(NAME)", "yaml"],
    },
    Pool {
        keys: &[
            "config.linkerd.io/proxy-outbound-connect-timeout",
            "config.linkerd.io/proxy-inbound-connect-timeout",
            "config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout",
            "config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout",
            "config.linkerd.io/shutdown-grace-period",
            "config.linkerd.io/close-wait-timeout",
        ],
        good: &[
            "1s", "250ms", "1001ms", "0s", "0", "1m30s", "1h", "1.5s", ".5s", "5s", "1d", "999999ns", "1ms", "2us", "2µs", "2μs",
            "+1s", "2540400h", "1999ms", "0.1s", "1h0m0.001s", "86400s", "4.35s", "72h",
        ],
        near: &[
            "", "1", "-1s", "1 s", "s", "1S", "1min", "1s ", "1,5s", "1e3s", "9223372036854775807ns", "9223372036854775808ns",
            "2562048h", "--1s", "1s1", "1..s", "-0", "-0s", "-1ns", "0.0000001s", "106751d",
        ],
    },
    Pool {
        keys: &["config.alpha.linkerd.io/proxy-wait-before-exit-seconds"],
        good: &["0", "1", "30", "3600", "1000000", "21000000", "2147483648"],
        near: &["", "-1", "1s", "1.5", "+1", "1e3", "18446744073709551615", "18446744073709551616", " 5", "0x5", "05", "1_0"],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-cpu-request", "config.linkerd.io/proxy-cpu-limit"],
        good: &["100m", "1", "2", "0.5", "1500m", "1e0", "0", "+1", "3k", "1E-3", "10u", "0.1", "2000m", "1.0", ".5", "5.", "100n"],
        near: &[
            "", "-1", "100mm", "1 ", " 1", "1c", "1e", "e3", "1ki", "m", "1e999", "1E400", "-0", "--1", "1.2.3", "1e-999", "1K",
            "1KI",
        ],
    },
    Pool {
        keys: &[
            "config.linkerd.io/proxy-memory-request",
            "config.linkerd.io/proxy-memory-limit",
            "config.linkerd.io/proxy-ephemeral-storage-request",
            "config.linkerd.io/proxy-ephemeral-storage-limit",
        ],
        good: &[
            "64Mi", "1Gi", "250M", "1e9", "0", "128974848", "1.5Gi", "100k", "1E", "1Ei", "12e6", "1024Ki", "0.5Gi", "1G",
            "64000000",
        ],
        near: &[
            "", "-64Mi", "64mi", "64MB", "64 Mi", "Mi", "1e999", "64MI", "1e3Mi", "64Mi ", "9223372036854775808", "1e20", "100m",
            "1e-999",
        ],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-cpu-ratio-limit"],
        good: &["0.5", "0.25", "1", "0", "0.999", ".1", "1e-2", "0x1p-2", "0.125", "1.0", "0.1e0", "0.00000001"],
        near: &[
            "", "-0.5", "1.5", "NaN", "Inf", "-0", "+0.5", "50%", "0,5", "1_0", "0_1.5", "nan", "infinity", "1e400", "1e-400",
            "0x.8", " 0.5",
        ],
    },
    Pool {
        keys: &["config.linkerd.io/proxy-uid", "config.linkerd.io/proxy-gid"],
        good: &["2102", "1", "1001060000", "2147483647", "10000", "1000000", "123456789", "+7", "007", "1000001"],
        near: &[
            "", "0", "-1", "2147483648", "1.5", "root", "0x10", "9223372036854775808", " 1", "1 ", "-0", "-2147483649", "1e3",
            "1_000",
        ],
    },
    Pool {
        keys: &["config.linkerd.io/default-inbound-policy"],
        good: &["all-unauthenticated", "all-authenticated", "cluster-unauthenticated", "cluster-authenticated", "deny", "audit"],
        near: &["", "allow", "Deny", "deny ", "$(POLICY)", "cluster", "all_unauthenticated", "$(A)deny", "DENY"],
    },
    Pool {
        keys: &["config.linkerd.io/skip-subnets"],
        good: &[
            "", "10.0.0.0/8", "10.0.0.0/8,192.168.0.0/16", "0.0.0.0/0", "10.1.2.3/32", "10.0.0.1/8", "fd00::/8", "::/0",
            "10.0.0.0/8,10.0.0.0/8",
        ],
        near: &[
            "10.0.0.0", "10.0.0.0/33", "10.0.0/8", "x", ",", "10.0.0.0/8,", " 10.0.0.0/8", "10.0.0.0/08", "010.0.0.0/8",
            "::ffff:10.0.0.0/104", "10.0.0.0/8\n", "fd00::/129", "10.0.0.0/8 , 10.1.0.0/16", "::1%eth0/128", "1.2.3.4/-1",
            "10.0.0.0/+8", "fd00::1.2.3.4/96",
        ],
    },
    Pool {
        keys: &["config.linkerd.io/access-log"],
        good: &["apache", "json", ""],
        near: &["Apache", "common", "json ", "$(NAME)", "true"],
    },
    Pool {
        keys: &[ADDITIONAL_ENV],
        good: &["", "[]", "null", "[{\"name\":\"A\",\"value\":\"b\"}]"],
        near: &[
            "{}", "[", "[1]", "[null]", "[{}]", "[{\"name\":1}]", "[[]]", "\"a\"", "true", "[{\"name\":\"A\",\"value\":1}]",
            " [ ] ", "[]x", "[{\"NAME\":\"A\",\"Value\":\"b\"}]", "[{\"name\":\"A\",\"valueFrom\":{}}]",
            "[{\"name\":\"A\",\"name\":\"B\"}]", "[{\"name\":\"A\",\"value\":\"b\"},]", "nul", "- name: A",
        ],
    },
];

/// What nobody would write, for any annotation.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    "\"", "\\", "a\\\"b", "\n", "\r\n", "\t", "a\nb", "},]", "},\n  ]", "{\"a\":[{\"b\":1},]}",
    "\"},{\"op\":\"remove\",\"path\":\"/spec\"},]", "<a href='x'>&amp;</a>", "+&<>'", "{{ .Values }}", "$(NAME)",
    "$$(NAME)", "%s%n", "null", "~", "true", "- a", "a: b", "# a", "é", "\u{1f600}", "\u{202e}x", "\u{2028}", "\u{feff}",
    "\u{a0}", "\u{1}", "\u{0}", "\u{1b}[31m", "\u{fffd}", "'", "''", "`", "*a", "&a", "!!binary x", "@", "|", ">-",
    "? a", "[", "{", "---", "...", "=", "<<", " ", "   a", "9999999999999999999999", "0x", "1e99", ".", "..", "-",
];

/// Characters that turn a good text into another one.
#[rustfmt::skip]
const CHARACTERS: &[&str] = &[
    " ", ",", "-", ".", "\"", "\\", "\n", "\t", "0", "1", "9", "a", "Z", "+", "_", "/", ":", "=", "[", "]", "{", "}",
    "$", "(", ")", "<", "&", "é", "\u{1}", "'", "#", "%", "e", "m", "s", "@", "!", "*",
];

/// A text for an annotation.
pub fn text(choice: &mut Choice, key: &str) -> String {
    let pool = POOLS.iter().find(|pool| pool.keys.contains(&key));
    let (good, near) = pool.map_or((HOSTILE, HOSTILE), |pool| (pool.good, pool.near));
    let text = match choice.below(14) {
        0..5 if key == ADDITIONAL_ENV => variable::list(choice),
        0..7 => choice.pick(good).to_owned(),
        7..10 => choice.pick(near).to_owned(),
        10 => choice.pick(HOSTILE).to_owned(),
        11 => {
            let (first, second) = (choice.pick(good), {
                let from = if choice.one_in(2) { good } else { near };
                choice.pick(from)
            });
            format!("{first}{}{second}", choice.pick(&[",", ", ", "-", "", "\n"]))
        }
        _ => {
            let text = if key == ADDITIONAL_ENV { variable::list(choice) } else { choice.pick(good).to_owned() };
            altered(choice, &text)
        }
    };
    if is_vast(&text) { choice.pick(good).to_owned() } else { text }
}

/// A hostile or a harmless text, for annotations that are nobody's.
pub fn any_text(choice: &mut Choice) -> String {
    let from = if choice.one_in(3) { HOSTILE } else { &["a", "prod", "a b", "1"] };
    choice.pick(from).to_owned()
}

/// The text with one or two characters more, less or other.
fn altered(choice: &mut Choice, text: &str) -> String {
    let mut characters: Vec<String> = text.chars().map(String::from).collect();
    for _ in 0..=choice.below(2) {
        let at = choice.below(characters.len().saturating_add(1));
        let other = choice.pick(CHARACTERS).to_owned();
        match (choice.below(3), at < characters.len()) {
            (0, true) => drop(characters.remove(at)),
            (1, true) => drop(characters.splice(at..=at, [other])),
            _ => characters.insert(at, other),
        }
    }
    characters.concat()
}

/// Whether a part of the text is a number with an exponent of four digits or more.
fn is_vast(text: &str) -> bool {
    text.match_indices(['e', 'E']).any(|(at, _)| {
        let exponent = text.get(at..).unwrap_or_default().trim_start_matches(['e', 'E']).trim_start_matches(['+', '-']);
        exponent.chars().take_while(char::is_ascii_digit).count() >= 4
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use linkerd_injector_policy::{annotation, overrides::OVERRIDES};

    use super::*;

    #[test]
    fn every_annotation_of_the_table_has_one_pool() {
        let mut pooled: Vec<&str> = POOLS.iter().flat_map(|pool| pool.keys.iter().copied()).collect();
        let mut table: Vec<&str> = OVERRIDES.iter().flat_map(|o| o.keys.iter().copied()).chain([annotation::INJECT]).collect();
        pooled.sort_unstable();
        table.sort_unstable();
        assert_eq!(pooled, table);
    }

    #[test]
    fn all_texts_of_a_pool_and_others_occur() {
        for pool in POOLS {
            let mut choice = Choice::of(1);
            let texts: BTreeSet<String> = (0..4000).map(|_| text(&mut choice, pool.keys[0])).collect();
            let missing: Vec<_> = pool.good.iter().chain(pool.near).filter(|text| !texts.contains(**text)).collect();
            assert!(missing.is_empty(), "{:?}: {missing:?}", pool.keys);
            assert!(HOSTILE.iter().filter(|text| texts.contains(**text)).count() > HOSTILE.len() / 2);
            assert!(texts.len() > pool.good.len() + pool.near.len() + HOSTILE.len(), "altered ones, too");
        }
    }

    #[test]
    fn vast_exponents_are_seen() {
        for (text, expected) in
            [("1e999", false), ("1e1000", true), ("1E-1000", true), ("x1e+10000y", true), ("e", false), ("", false)]
        {
            assert_eq!(is_vast(text), expected, "{text}");
        }
    }
}
