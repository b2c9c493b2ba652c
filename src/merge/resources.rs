//! Requests and limits of a merged container: each may come from another hand, and the API server refuses a request above its limit.

use super::leaf::{Kind, canonical};
use crate::parse::quantity;
use serde_json::Value;

/// Makes requests fit their limits after a merge, and names the resources whose request was lowered.
///
/// The API server writes a limit down as the request, too, where there is none. Such a request follows its limit: it goes when the
/// limit changed, and is written anew.
pub(super) fn settle(merged: &mut Value, current: &Value, wanted: &Value) -> Vec<String> {
    let amount = |of: &Value, list: &str, name: &str| canonical(Kind::Quantity, of.get("resources")?.get(list)?.get(name));
    let limits: Vec<(String, String)> = list(merged, "limits");
    let mut lowered = Vec::new();
    for (name, limit) in limits {
        let limit_changed = amount(merged, "limits", &name) != amount(current, "limits", &name);
        let followed = amount(current, "requests", &name) == amount(current, "limits", &name);
        let asked_for = amount(wanted, "requests", &name).is_some();
        let Some(requests) = merged.pointer_mut("/resources/requests").and_then(Value::as_object_mut) else { continue };
        if limit_changed && followed && !asked_for {
            requests.remove(&name);
            continue;
        }
        let Some(request) = requests.get(&name).and_then(Value::as_str) else { continue };
        if let (Ok(asked), Ok(most)) = (quantity::quantity(request), quantity::quantity(&limit))
            && asked > most
        {
            requests.insert(name.clone(), limit.into());
            lowered.push(name);
        }
    }
    let no_requests = merged.pointer("/resources/requests").and_then(Value::as_object).is_some_and(serde_json::Map::is_empty);
    if no_requests && let Some(resources) = merged.get_mut("resources").and_then(Value::as_object_mut) {
        resources.remove("requests");
    }
    lowered
}

/// The amounts of a list of resources that are written as text.
fn list(container: &Value, key: &str) -> Vec<(String, String)> {
    let amounts = container.get("resources").and_then(|r| r.get(key)).and_then(Value::as_object).into_iter().flatten();
    amounts.filter_map(|(name, amount)| Some((name.clone(), amount.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::settle;
    use serde_json::{Value, json};

    fn container(limit: &str, request: &str) -> Value {
        let of = |amount: &str| if amount.is_empty() { json!({}) } else { json!({"cpu": amount}) };
        json!({"resources": {"limits": of(limit), "requests": of(request)}})
    }

    #[test]
    fn requests_fit_their_limits() {
        for (current, wanted, merged, expected, lowered) in [
            // A request that the API server made of the limit follows it.
            (("1", "1"), ("500m", ""), ("500m", "1"), json!({"limits": {"cpu": "500m"}}), vec![]),
            // One that was asked for stays.
            (("1", "1"), ("2", "1"), ("2", "1"), json!({"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}), vec![]),
            // One of another hand is lowered where it would be refused.
            (
                ("1", "900m"),
                ("500m", ""),
                ("500m", "900m"),
                json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "500m"}}),
                vec!["cpu"],
            ),
            // Nothing changed, nothing happens, in whatever spelling.
            (("1000m", "1"), ("1", ""), ("1000m", "1"), json!({"limits": {"cpu": "1000m"}, "requests": {"cpu": "1"}}), vec![]),
        ] {
            let mut result = container(merged.0, merged.1);
            let names = settle(&mut result, &container(current.0, current.1), &container(wanted.0, wanted.1));
            assert_eq!(
                (result["resources"].clone(), names),
                (expected, lowered.into_iter().map(str::to_owned).collect::<Vec<_>>())
            );
        }
    }
}
