//! What the API server allows in an environment variable: `ValidateEnv` of Kubernetes' `pkg/apis/core/validation`.

use super::{EntryError, text};
use serde_json::{Map, Value};

/// The fields of a pod that a variable can be taken from; `spec.host` is an old name of `spec.nodeName`.
const FIELDS: [&str; 10] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.host",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The divisors of processor time, and those of bytes. Kubernetes also takes other spellings of the same, as `1000m`.
const CPU_DIVISORS: [&str; 3] = ["0", "1m", "1"];
const BYTE_DIVISORS: [&str; 14] = ["0", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// The longest key of a config map or secret, and the longest DNS subdomain, in bytes.
const MAX_KEY: usize = 253;

/// Checks an entry that has the right shape.
pub(super) fn check(env: &Map<String, Value>) -> Result<(), EntryError> {
    match text(env, "name") {
        "" => return Err(EntryError::NoName),
        name if !is_name(name) => return Err(EntryError::BadName),
        _ => {}
    }
    let Some(sources) = env.get("valueFrom").and_then(Value::as_object) else { return Ok(()) };
    let mut sources = sources.iter().filter_map(|(kind, source)| Some((kind.as_str(), source.as_object()?)));
    let (kind, source) = sources.next().ok_or(EntryError::NoSource)?;
    if env.contains_key("value") {
        return Err(EntryError::ValueAndSource);
    }
    if sources.next().is_some() {
        return Err(EntryError::ManySources);
    }
    let require = |condition: bool, error: EntryError| if condition { Ok(()) } else { Err(error) };
    match kind {
        "fieldRef" => {
            let version = matches!(text(source, "apiVersion"), "" | "v1");
            require(version && is_field(text(source, "fieldPath")), EntryError::BadField)
        }
        "resourceFieldRef" => resource(text(source, "resource"), text(source, "divisor")),
        "fileKeyRef" => {
            let path = text(source, "path");
            let inside = !path.is_empty() && path.split('/').all(|part| part != "..");
            require(inside && !text(source, "volumeName").is_empty(), EntryError::BadObject)?;
            require(is_name(text(source, "key")), EntryError::BadKey)
        }
        _ => {
            require(is_subdomain(text(source, "name")), EntryError::BadObject)?;
            require(is_key(text(source, "key")), EntryError::BadKey)
        }
    }
}

/// Whether the text is the name of a variable: printable ASCII without `=`.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=')
}

/// Whether a variable can be taken from the field, a label or annotation in brackets among them.
fn is_field(path: &str) -> bool {
    let subscript = |map: &str| path.strip_prefix(map).and_then(|rest| rest.strip_prefix("['")?.strip_suffix("']"));
    if let Some(key) = subscript("metadata.labels") {
        is_qualified(key)
    } else if let Some(key) = subscript("metadata.annotations") {
        // In lower case, the kelvin sign is a letter of ASCII, and the only one; the tables of all others are large.
        is_qualified(&key.replace('\u{212a}', "k").to_ascii_lowercase())
    } else {
        FIELDS.contains(&path)
    }
}

fn resource(name: &str, divisor: &str) -> Result<(), EntryError> {
    let divisors = match name.split_once('.') {
        Some(("limits" | "requests", "cpu")) => CPU_DIVISORS.as_slice(),
        Some(("limits" | "requests", "memory" | "ephemeral-storage")) => BYTE_DIVISORS.as_slice(),
        Some(("limits" | "requests", other)) if other.starts_with("hugepages-") => BYTE_DIVISORS.as_slice(),
        _ => return Err(EntryError::BadResource),
    };
    if divisors.contains(&divisor) { Ok(()) } else { Err(EntryError::BadDivisor) }
}

/// Whether the text can be a key of a config map or a secret.
fn is_key(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_KEY).contains(&text.len()) && text.bytes().all(allowed) && text != "." && !text.starts_with("..")
}

/// Whether the text is a key of a label or annotation: a name, perhaps with a domain and a slash before it.
fn is_qualified(text: &str) -> bool {
    let (domain, name) = text.split_once('/').map_or((None, text), |(domain, name)| (Some(domain), name));
    domain.is_none_or(is_subdomain)
        && name.len() <= 63
        && is_framed(name, |byte| byte.is_ascii_alphanumeric(), |byte| matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether the text is a DNS subdomain as RFC 1123 has it, in lower case.
fn is_subdomain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= MAX_KEY && text.split('.').all(|label| is_framed(label, plain, |byte| byte == b'-'))
}

/// Whether the text starts and ends with a plain byte, and has only plain ones and inner ones between.
fn is_framed(text: &str, plain: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let ends = text.bytes().next().is_some_and(&plain) && text.bytes().last().is_some_and(&plain);
    ends && text.bytes().all(|byte| plain(byte) || inner(byte))
}
