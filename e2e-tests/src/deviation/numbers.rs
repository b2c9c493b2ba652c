//! Whole numbers that Linkerd prints as floats (D02).

use super::object::{self, PROXY, set_arg, set_env};
use super::read::go_float;
use super::reading::{LinkerdResult, Reading};
use super::{Expected, decide, inherit, resources};
use serde_json::{Value, json};

/// Where a number is printed.
enum Place {
    Argument(&'static str),
    Variable(String),
    Sleep,
}

/// The numbers that Linkerd prints, where it prints them.
fn printed(case: &Reading) -> impl Iterator<Item = (Place, i128)> {
    let (uid, gid) = resources::linkerd_ids(case);
    let arguments = [("--proxy-uid", uid), ("--proxy-gid", gid), ("--timeout-close-wait-secs", inherit::linkerd_close_wait(case))];
    let arguments = arguments.into_iter().filter(|_| !case.value_is_true("/cniEnabled"));
    let arguments = arguments.filter(|(flag, number)| *flag != "--proxy-gid" || *number >= 0);
    let arguments = arguments.map(|(flag, number)| (Place::Argument(flag), i128::from(number)));
    let cores =
        resources::linkerd_cores(case).into_iter().map(|(name, number)| (Place::Variable(name.to_owned()), i128::from(number)));
    let sleeps = !inherit::linkerd_native(case);
    let sleep = Some((Place::Sleep, i128::from(inherit::wait_before_exit(case)))).filter(|_| sleeps);
    let parameters = parameters(case).into_iter().filter_map(|(name, value)| {
        let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))?;
        Some((Place::Variable(name), number))
    });
    arguments.chain(cores).chain(sleep).chain(parameters)
}

/// The variables of the proxy's inbound and outbound parameters.
pub fn parameters(case: &Reading) -> Vec<(String, &Value)> {
    fn walk<'a>(name: &str, value: &'a Value, depth: usize, found: &mut Vec<(String, &'a Value)>) {
        match (value, depth) {
            (value, 0) => found.push((name.to_owned(), value)),
            (Value::Object(members), depth) => {
                for (key, value) in members {
                    walk(&format!("{name}_{}", snake(key)), value, depth.saturating_sub(1), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for direction in ["inbound", "outbound"] {
        let name = format!("LINKERD2_PROXY_{}", direction.to_uppercase());
        walk(&name, case.value(&format!("/proxy/{direction}")), 3, &mut found);
    }
    found
}

fn snake(key: &str) -> String {
    let mut snake = String::new();
    for c in key.chars() {
        if c.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(c.to_uppercase());
    }
    snake
}

#[expect(clippy::cast_precision_loss, reason = "the loss is what Linkerd's injector has")]
fn is_mangled(number: i128) -> bool {
    go_float(number as f64) != number.to_string()
}

/// D02: numbers are printed as numbers.
pub fn d02_applies(case: &Reading, _: &LinkerdResult) -> bool {
    decide::injects(case) && printed(case).any(|(_, number)| is_mangled(number))
}

/// Prints them all.
pub fn d02_apply(case: &Reading, expected: &mut Expected) {
    let object = &mut expected.object;
    for (place, number) in printed(case).filter(|(_, number)| is_mangled(*number)) {
        let text = number.to_string();
        match place {
            Place::Argument(flag) => set_arg(object, flag, Some(&text), &[]),
            Place::Variable(name) => set_env(object, &name, Some(&text), &[]),
            Place::Sleep => {
                let command =
                    object::container(object, PROXY).and_then(|proxy| proxy.pointer_mut("/lifecycle/preStop/exec/command/1"));
                if let Some(seconds) = command {
                    *seconds = json!(text);
                }
            }
        }
    }
}
