//! An argument list as flags with their values.
//!
//! Source: `proxy-init/cmd/root.go` of linkerd/linkerd2-proxy-init.

use serde_json::Value;

/// Flags whose values add up when they are given several times; of any other the last one counts.
const LISTS: [&str; 3] = ["--inbound-ports-to-ignore", "--outbound-ports-to-ignore", "--subnets-to-ignore"];

/// Reads arguments of the forms `--flag value`, `--flag=value` and `--flag`; `None` when there is anything else among them. A flag
/// that is written with `=` keeps it, with its value empty of meaning to a merge but for equality.
pub(crate) fn read(arguments: &Value) -> Option<Vec<(String, String)>> {
    let mut flags: Vec<(String, String)> = Vec::new();
    let mut rest = arguments.as_array()?.iter().map(Value::as_str).peekable();
    while let Some(argument) = rest.next() {
        let argument = argument?;
        if !argument.starts_with("--") {
            return None;
        }
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), format!("={value}")),
            None => {
                let value = rest.next_if(|next| next.is_some_and(|next| !next.starts_with("--"))).flatten();
                (argument.to_owned(), value.unwrap_or_default().to_owned())
            }
        };
        match flags.iter_mut().find(|(known, _)| *known == flag) {
            None => flags.push((flag, value)),
            Some((_, list)) if LISTS.contains(&flag.as_str()) => *list = format!("{list},{}", value.trim_start_matches('=')),
            Some((_, earlier)) => *earlier = value,
        }
    }
    Some(flags)
}

/// Writes flags as arguments.
pub(crate) fn write(flags: &[(String, String)]) -> Value {
    let arguments = flags.iter().flat_map(|(flag, value)| match value.as_str() {
        "" => vec![flag.clone()],
        joined if joined.starts_with('=') => vec![format!("{flag}{joined}")],
        value => vec![flag.clone(), value.to_owned()],
    });
    arguments.map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use serde_json::json;

    #[test]
    fn arguments_survive_reading_and_writing() {
        for arguments in [json!([]), json!(["--a", "1", "--ipv6=false", "--quiet", "--b", "2"])] {
            assert_eq!(write(&read(&arguments).unwrap()), arguments);
        }
    }

    #[test]
    fn other_arguments_are_no_flags() {
        for arguments in [json!(["run"]), json!(["--a", "1", "2"]), json!([1]), json!({})] {
            assert_eq!(read(&arguments), None, "{arguments}");
        }
    }

    #[test]
    fn of_a_flag_given_twice_the_last_counts_and_lists_add_up() {
        for (arguments, flag, value) in [
            (json!(["--a", "1", "--a=2"]), "--a", "=2"),
            (
                json!(["--inbound-ports-to-ignore", "4190,4191", "--inbound-ports-to-ignore", "9999"]),
                "--inbound-ports-to-ignore",
                "4190,4191,9999",
            ),
            (
                json!(["--subnets-to-ignore", "10.0.0.0/8", "--subnets-to-ignore=11.0.0.0/8"]),
                "--subnets-to-ignore",
                "10.0.0.0/8,11.0.0.0/8",
            ),
        ] {
            assert_eq!(read(&arguments), Some(vec![(flag.to_owned(), value.to_owned())]), "{arguments}");
        }
    }
}
