//! One additional variable: how Go reads it, and whether the API server takes it.

use super::read::quantity;
use super::reading::Reading;
use serde_json::{Map, Value};

/// The entries of a list of variables as Go reads it: keys in any case, unknown ones left out, null for nothing; none
/// where an entry is of another type.
pub fn entries(list: &Value) -> Option<Vec<Value>> {
    match list {
        Value::Null => Some(Vec::new()),
        Value::Array(entries) => entries.iter().map(|entry| read(entry, ENTRY)).collect(),
        _ => None,
    }
}

/// A field that Go knows: its name, and what is in it.
#[derive(Clone, Copy)]
enum Field {
    Text(&'static str),
    Flag(&'static str),
    Quantity(&'static str),
    Object(&'static str, &'static [Field]),
}

const ENTRY: &[Field] = &[Field::Text("name"), Field::Text("value"), Field::Object("valueFrom", SOURCE)];
const SOURCE: &[Field] = &[
    Field::Object("fieldRef", &[Field::Text("apiVersion"), Field::Text("fieldPath")]),
    Field::Object("resourceFieldRef", &[Field::Text("containerName"), Field::Text("resource"), Field::Quantity("divisor")]),
    Field::Object("configMapKeyRef", &[Field::Text("name"), Field::Text("key"), Field::Flag("optional")]),
    Field::Object("secretKeyRef", &[Field::Text("name"), Field::Text("key"), Field::Flag("optional")]),
    Field::Object("fileKeyRef", &[Field::Text("volumeName"), Field::Text("path"), Field::Text("key"), Field::Flag("optional")]),
];

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::Text(name) | Field::Flag(name) | Field::Quantity(name) | Field::Object(name, _) => name,
        }
    }

    fn read(self, value: &Value) -> Option<Value> {
        let fits = match self {
            Field::Object(_, fields) => return read(value, fields),
            Field::Text(_) => value.is_string(),
            Field::Flag(_) => value.is_boolean(),
            Field::Quantity(_) => value.is_number() || value.as_str().is_some_and(|text| super::read::quantity(text).is_some()),
        };
        fits.then(|| value.clone())
    }
}

fn read(value: &Value, fields: &[Field]) -> Option<Value> {
    let mut result = Map::new();
    let members = match value {
        Value::Null => &Map::new(),
        value => value.as_object()?,
    };
    for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
        if let Some(field) = fields.iter().find(|field| field.name().eq_ignore_ascii_case(key)) {
            result.insert(field.name().to_owned(), field.read(value)?);
        }
    }
    Some(Value::Object(result))
}

/// The text of a member, empty where there is none.
pub fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether the API server takes the entry (`ValidateEnv` of Kubernetes' core validation).
pub fn is_valid(entry: &Value) -> bool {
    let name = text(entry, "name");
    let named = is_variable_name(name);
    let Some(from) = entry.get("valueFrom") else { return named };
    let Some(sources) = from.as_object().filter(|_| text(entry, "value").is_empty()) else { return false };
    let mut sources = sources.iter();
    let (Some((kind, source)), None) = (sources.next(), sources.next()) else { return false };
    named
        && match kind.as_str() {
            "fieldRef" => is_field(text(source, "fieldPath")) && matches!(text(source, "apiVersion"), "" | "v1"),
            "resourceFieldRef" => is_resource(text(source, "resource"), source.get("divisor").and_then(divisor)),
            "configMapKeyRef" | "secretKeyRef" => is_name(text(source, "name")) && is_key(text(source, "key")),
            "fileKeyRef" => {
                is_name(text(source, "volumeName")) && is_path(text(source, "path")) && is_variable_name(text(source, "key"))
            }
            _ => false,
        }
}

/// Whether a divisor is spelt as the API spells it, and a file lies in an empty directory of the pod (D34).
pub fn is_plain(case: &Reading, entry: &Value) -> bool {
    let source = |kind: &str| entry.get("valueFrom").and_then(|from| from.get(kind));
    let divisor = source("resourceFieldRef").and_then(|source| source.get("divisor"));
    let is_plain = divisor.is_none_or(|text| {
        divisor_text(text)
            .is_some_and(|text| DIVISORS.contains(&text.as_str()) || quantity(&text).is_some_and(|zero| zero.nano == 0))
    });
    let volume = source("fileKeyRef").map(|source| text(source, "volumeName"));
    let is_empty_dir = |name: &str| {
        case.spec_list("volumes").any(|volume| text(volume, "name") == name && volume.get("emptyDir").is_some_and(Value::is_object))
    };
    is_plain && volume.is_none_or(is_empty_dir)
}

fn divisor_text(divisor: &Value) -> Option<String> {
    divisor.as_str().map(str::to_owned).or_else(|| divisor.is_number().then(|| divisor.to_string()))
}

fn divisor(divisor: &Value) -> Option<i128> {
    divisor_text(divisor).and_then(|text| quantity(&text)).map(|quantity| quantity.nano)
}

const DIVISORS: &[&str] = &["1m", "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

fn is_field(path: &str) -> bool {
    const FIELDS: [&str; 9] = [
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let subscript =
        ["metadata.labels['", "metadata.annotations['"].iter().find_map(|head| path.strip_prefix(head)?.strip_suffix("']"));
    FIELDS.contains(&path) || subscript.is_some_and(|key| !key.is_empty() && !key.contains('\''))
}

fn is_resource(resource: &str, divisor: Option<i128>) -> bool {
    let kind = ["limits.", "requests."].iter().find_map(|side| resource.strip_prefix(side));
    let is_one_of = |allowed: &[&str]| {
        divisor.is_none_or(|divisor| divisor == 0 || allowed.iter().any(|one| quantity(one).is_some_and(|one| one.nano == divisor)))
    };
    match kind {
        Some("cpu") => is_one_of(&["1m", "1"]),
        Some("memory" | "ephemeral-storage") => is_one_of(DIVISORS.get(1..).unwrap_or_default()),
        Some(kind) if kind.starts_with("hugepages-") => is_one_of(DIVISORS.get(1..).unwrap_or_default()),
        _ => false,
    }
}

fn is_path(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|part| part == "..") && !path.starts_with("..")
}

fn is_variable_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=')
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| {
        label.bytes().next().is_some_and(plain)
            && label.bytes().last().is_some_and(plain)
            && label.bytes().all(|byte| plain(byte) || byte == b'-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

fn is_key(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=253).contains(&key.len()) && key.bytes().all(plain) && !matches!(key, "." | "..") && !key.starts_with("..")
}
