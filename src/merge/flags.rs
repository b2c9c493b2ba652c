//! An argument list as flags with their values.
//!
//! Source: `proxy-init/cmd/root.go` of linkerd/linkerd2-proxy-init.

use serde_json::Value;
use std::collections::BTreeMap;

/// Flags whose values add up when they are given several times; of any other the last one counts.
const LISTS: [&str; 3] = ["--inbound-ports-to-ignore", "--outbound-ports-to-ignore", "--subnets-to-ignore"];

/// One flag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flag {
    /// Its name, with the dashes.
    pub(crate) name: String,
    /// Its value as text, which may be empty; `true` where none is given.
    pub(crate) value: Value,
    /// Whether the value stands behind `=`, in the same argument.
    pub(crate) joined: bool,
}

/// Reads arguments of the forms `--flag value`, `--flag=value` and `--flag`; `None` when there is anything else among them.
pub(crate) fn read(arguments: &Value) -> Option<Vec<Flag>> {
    let mut flags: Vec<Flag> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut rest = arguments.as_array()?.iter().map(Value::as_str).peekable();
    while let Some(argument) = rest.next() {
        let argument = argument?;
        if !argument.starts_with("--") {
            return None;
        }
        let (name, value, joined) = match argument.split_once('=') {
            Some((name, value)) => (name, value.into(), true),
            None => match rest.next_if(|next| next.is_some_and(|next| !next.starts_with("--"))).flatten() {
                Some(value) => (argument, value.into(), false),
                None => (argument, Value::Bool(true), false),
            },
        };
        let flag = Flag { name: name.to_owned(), value, joined };
        let place = *known.entry(flag.name.clone()).or_insert(flags.len());
        match flags.get_mut(place) {
            None => flags.push(flag),
            Some(earlier) => {
                let both = earlier.value.as_str().zip(flag.value.as_str()).filter(|_| LISTS.contains(&name));
                earlier.value = both.map_or(flag.value.clone(), |(first, second)| format!("{first},{second}").into());
            }
        }
    }
    Some(flags)
}

/// The places of flags in a list, by name.
pub(crate) fn places(flags: &[Flag]) -> BTreeMap<&str, usize> {
    super::env_order::places(flags.iter().map(|flag| flag.name.as_str()))
}

/// Whether two lists say the same, in whatever order and form.
pub(crate) fn same(one: &[Flag], other: &[Flag]) -> bool {
    let others = places(other);
    let is_there =
        |flag: &Flag| others.get(flag.name.as_str()).and_then(|at| other.get(*at)).is_some_and(|o| o.value == flag.value);
    one.len() == other.len() && one.iter().all(is_there)
}

/// Writes flags as arguments.
pub(crate) fn write(flags: &[Flag]) -> Value {
    let arguments = flags.iter().flat_map(|flag| match flag.value.as_str() {
        None => vec![flag.name.clone()],
        Some(value) if flag.joined => vec![format!("{}={value}", flag.name)],
        Some(value) => vec![flag.name.clone(), value.to_owned()],
    });
    arguments.map(Value::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{Flag, read, same, write};
    use serde_json::json;

    #[test]
    fn arguments_survive_reading_and_writing() {
        for arguments in [json!([]), json!(["--a", "1", "--ipv6=false", "--quiet", "--b", "2", "--level", "", "--c="])] {
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
            (json!(["--a", "1", "--a=2"]), "--a", "2"),
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
            let flags = read(&arguments).unwrap();
            let said: Vec<_> = flags.iter().map(|f| (f.name.as_str(), f.value.as_str().unwrap())).collect();
            assert_eq!(said, [(flag, value)], "{arguments}");
        }
    }

    #[test]
    fn forms_and_order_mean_nothing() {
        let flags = |arguments: serde_json::Value| -> Vec<Flag> { read(&arguments).unwrap() };
        let one = flags(json!(["--a=1", "--b"]));
        assert!(same(&one, &flags(json!(["--b", "--a", "1"]))));
        for other in [json!(["--a=2", "--b"]), json!(["--a=1", "--b", ""]), json!(["--a=1"]), json!(["--a=1", "--c"])] {
            assert!(!same(&one, &flags(other.clone())), "{other}");
        }
    }
}
