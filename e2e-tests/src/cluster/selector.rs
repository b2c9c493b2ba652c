//! Label and field selectors, in their comma-separated equality form: `app=web,tier!=db,canary`.

use serde_json::Value;

/// Whether an object is selected by both selectors, absent ones selecting all.
///
/// # Errors
/// The selector is of a form that is not understood here; the text says which.
pub fn matches(object: &Value, labels: Option<&str>, fields: Option<&str>) -> Result<bool, String> {
    let label = |key: &str| {
        let value = object.pointer("/metadata/labels").and_then(|labels| labels.get(key));
        Ok(value.and_then(Value::as_str).map(str::to_owned))
    };
    let field = |key: &str| match key {
        "metadata.name" | "metadata.namespace" => {
            let value = object.pointer(&format!("/{}", key.replace('.', "/")));
            Ok(Some(value.and_then(Value::as_str).unwrap_or_default().to_owned()))
        }
        _ => Err(format!("field label not supported: {key}")),
    };
    Ok(all(labels, label)? && all(fields, field)?)
}

fn all(selector: Option<&str>, get: impl Fn(&str) -> Result<Option<String>, String>) -> Result<bool, String> {
    for term in selector.unwrap_or_default().split(',').map(str::trim).filter(|term| !term.is_empty()) {
        if term.contains([' ', '(', ')', '>', '<']) {
            return Err(format!("unable to parse requirement: {term:?}"));
        }
        let selected = if let Some((key, value)) = term.split_once("!=") {
            get(key)?.as_deref() != Some(value)
        } else if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
            get(key)?.as_deref() == Some(value)
        } else if let Some(key) = term.strip_prefix('!') {
            get(key)?.is_none()
        } else {
            get(term)?.is_some()
        };
        if !selected {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selects_by_labels_and_fields() {
        let object = json!({"metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": ""}}});
        let table = [
            (None, None, Ok(true)),
            (Some(""), Some(""), Ok(true)),
            (Some("app=web"), None, Ok(true)),
            (Some("app==web, tier="), None, Ok(true)),
            (Some("app!=web"), None, Ok(false)),
            (Some("other!=x,!other,app"), None, Ok(true)),
            (Some("other"), None, Ok(false)),
            (None, Some("metadata.name=web"), Ok(true)),
            (None, Some("metadata.namespace!=shop"), Ok(false)),
            (None, Some("spec.x=1"), Err("field label not supported: spec.x")),
            (Some("app in (web)"), None, Err("unable to parse requirement: \"app in (web)\"")),
        ];
        for (labels, fields, expected) in table {
            let selected = matches(&object, labels, fields);
            assert_eq!(selected, expected.map_err(str::to_owned), "{labels:?} {fields:?}");
        }
    }
}
