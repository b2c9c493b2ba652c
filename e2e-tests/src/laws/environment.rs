//! The environment of the proxy, as the kubelet reads it.

use serde_json::Value;

/// Variables of the proxy that are named twice, and references of ours to what is defined too late.
pub(super) fn faults(pod: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let lists = super::api_server::CONTAINER_LISTS.iter().filter_map(|list| pod.get("spec")?.get(list)?.as_array());
    let proxy = lists.flatten().find(|c| c.get("name").and_then(Value::as_str) == Some("linkerd-proxy"));
    let env = proxy.and_then(|p| p.get("env")?.as_array()).map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = env.iter().map(|v| v.get("name").and_then(Value::as_str).unwrap_or_default()).collect();
    for (place, name) in names.iter().enumerate() {
        if names.iter().take(place).any(|earlier| earlier == name) {
            faults.push(format!("{name} is there twice"));
        }
        let value = env.get(place).and_then(|v| v.get("value")?.as_str()).unwrap_or_default();
        // What the user's own entries refer to is theirs to order.
        let ours = name.starts_with("LINKERD2_PROXY_") || name.starts_with('_');
        for reference in references(value).into_iter().filter(|_| ours) {
            if !names.iter().take(place).any(|earlier| *earlier == reference) {
                faults.push(format!("{name} refers to {reference}, which is not defined before it"));
            }
        }
    }
    faults
}

/// The names between `$(` and `)`, where the dollar sign is not one of a pair.
fn references(value: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some((_, after)) = rest.split_once('$') {
        rest = after.strip_prefix('$').unwrap_or(after);
        if rest.len() == after.len()
            && let Some((name, _)) = after.strip_prefix('(').and_then(|open| open.split_once(')'))
        {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::faults;
    use serde_json::json;

    #[test]
    fn references_need_an_earlier_definition() {
        for (env, expected) in [
            (json!([{"name": "_a", "value": "1"}, {"name": "LINKERD2_PROXY_B", "value": "$(_a)/$$(none)"}]), vec![]),
            (
                json!([{"name": "LINKERD2_PROXY_B", "value": "$(_a)"}, {"name": "_a"}]),
                vec!["LINKERD2_PROXY_B refers to _a, which is not defined before it"],
            ),
            (json!([{"name": "MINE", "value": "$(LATER)"}, {"name": "LATER"}]), vec![]),
            (json!([{"name": "A"}, {"name": "A"}]), vec!["A is there twice"]),
        ] {
            let pod = json!({"spec": {"containers": [{"name": "linkerd-proxy", "env": env}]}});
            assert_eq!(faults(&pod), expected, "{pod}");
        }
    }
}
