//! What the README says that is made from the policy: its own tables, and what it does.
//!
//! A test holds the README against them; with `UPDATE_README` set it writes them there.

mod parity;
mod second_call;

pub use parity::parity;
pub use second_call::{SecondCallError, second_call};

use linkerd_injector_policy::{checks::CHECKS, overrides::OVERRIDES, settings::SETTINGS};

/// The table of settings.
#[must_use]
pub fn settings() -> String {
    let rows = SETTINGS.iter().map(|setting| {
        let (default, meaning) = setting.reference;
        format!("| `{}` | `{default}` | {meaning} |\n", setting.name)
    });
    format!("| setting | default | meaning |\n|---|---|---|\n{}", rows.collect::<String>())
}

/// The table of annotations.
#[must_use]
pub fn annotations() -> String {
    let rows = OVERRIDES.iter().map(|o| {
        let keys: Vec<String> = o.keys.iter().map(|key| format!("`{key}`")).collect();
        format!("| {} | {} |\n", keys.join(", formerly "), o.meaning)
    });
    format!("| annotation | meaning |\n|---|---|\n{}", rows.collect::<String>())
}

/// The table of checks.
#[must_use]
pub fn checks() -> String {
    let rows = CHECKS.iter().map(|check| {
        let (reads, when) = check.reference;
        let sentence = check.sentence.replace("{}", "…");
        format!("| {} | {} | {reads} | {when} | {sentence} |\n", check.name, check.severity.as_str())
    });
    format!(
        "| check | what it finds is | it reads | and speaks when | it says |\n|---|---|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

/// The text with `table` between the marks of that name; `None` when the marks are not there.
#[must_use]
pub fn put_between_marks(text: &str, name: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(&format!("<!-- {name} -->\n"))?;
    let (_, after) = rest.split_once(&format!("<!-- /{name} -->\n"))?;
    Some(format!("{before}<!-- {name} -->\n{table}<!-- /{name} -->\n{after}"))
}
