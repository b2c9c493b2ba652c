//! What the program in a container gets: the kubelet's part, for one container of a pod.

use serde_json::Value;

/// The container of that name, wherever it stands.
#[must_use]
pub fn find<'a>(pod: &'a Value, name: &str) -> Option<&'a Value> {
    ["/spec/initContainers", "/spec/containers"]
        .into_iter()
        .filter_map(|list| pod.pointer(list)?.as_array())
        .flatten()
        .find(|container| text(container, "/name") == Some(name))
}

/// The arguments of a container, as written.
#[must_use]
pub fn args(container: &Value) -> Vec<String> {
    let args = container.get("args").and_then(Value::as_array);
    args.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether a container's environment has a variable of that name, wherever its value is from.
#[must_use]
pub fn names(container: &Value, variable: &str) -> bool {
    let entries = container.get("env").and_then(Value::as_array);
    entries.into_iter().flatten().any(|entry| text(entry, "/name") == Some(variable))
}

/// The environment of a container in its order, `$(NAME)` expanded, fields of the pod filled in.
///
/// What is read from a Secret or a ConfigMap is left out, as a kubelet does with an optional reference to one that is
/// not there.
#[must_use]
pub fn environment(pod: &Value, container: &Value) -> Vec<(String, String)> {
    let mut environment: Vec<(String, String)> = Vec::new();
    for entry in container.get("env").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = text(entry, "/name") else { continue };
        let value = if let Some(path) = text(entry, "/valueFrom/fieldRef/fieldPath") {
            field(pod, path)
        } else if entry.pointer("/valueFrom/resourceFieldRef").is_some() {
            "1".to_owned()
        } else if entry.pointer("/valueFrom").is_some_and(|from| !from.is_null()) {
            continue;
        } else {
            expand(text(entry, "/value").unwrap_or_default(), &environment)
        };
        // A later entry of the same name hides the earlier one.
        environment.retain(|(earlier, _)| earlier != name);
        environment.push((name.to_owned(), value));
    }
    environment
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// A field of the pod as it would be on a node.
fn field(pod: &Value, path: &str) -> String {
    let known = match path {
        "metadata.name" => text(pod, "/metadata/name").or(Some("web-0")),
        "metadata.namespace" => text(pod, "/metadata/namespace").or(Some("shop")),
        "metadata.uid" => Some("6b1f1b53-9f3c-4b0e-8f3e-2d0c6f1a7c55"),
        "spec.serviceAccountName" => text(pod, "/spec/serviceAccountName").or(Some("default")),
        "spec.nodeName" => text(pod, "/spec/nodeName").or(Some("node-1")),
        "status.hostIP" | "status.hostIPs" | "status.podIP" | "status.podIPs" => Some("127.0.0.1"),
        _ => None,
    };
    let keyed = |map: &str| {
        let key = path.strip_prefix(map)?.strip_prefix("['")?.strip_suffix("']")?;
        pod.pointer(&format!("/{}", map.replace('.', "/")))?.get(key)?.as_str()
    };
    known.or_else(|| keyed("metadata.labels")).or_else(|| keyed("metadata.annotations")).unwrap_or_default().to_owned()
}

/// Kubernetes' `third_party/forked/golang/expansion`: `$(NAME)` is the value of an earlier variable, or stays as it is
/// where there is none; `$$` is a dollar sign that begins nothing.
fn expand(text: &str, environment: &[(String, String)]) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(tail) = after.strip_prefix('$') {
            expanded.push('$');
            rest = tail;
        } else if let Some((name, tail)) = after.strip_prefix('(').and_then(|after| after.split_once(')')) {
            match environment.iter().find(|(known, _)| known == name) {
                Some((_, value)) => expanded.push_str(value),
                None => expanded.push_str(&format!("$({name})")),
            }
            rest = tail;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_expanded_as_by_the_kubelet() {
        let environment = vec![("A".to_owned(), "x".to_owned()), ("B".to_owned(), "$(A)".to_owned())];
        let table = [
            ("", ""),
            ("plain", "plain"),
            ("$(A)", "x"),
            ("$(A).$(A)", "x.x"),
            ("$(B)", "$(A)"),
            ("$(C)", "$(C)"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$x"),
            ("$A", "$A"),
            ("$(A", "$(A"),
            ("$", "$"),
            ("a$", "a$"),
        ];
        for (text, expected) in table {
            assert_eq!(expand(text, &environment), expected, "{text:?}");
        }
    }

    #[test]
    fn the_environment_is_read_in_order() {
        let pod = json!({
            "metadata": {"name": "web-1", "labels": {"app": "web"}},
            "spec": {"initContainers": [{"name": "p", "args": ["--a", "b"], "env": [
                {"name": "LATE", "value": "$(NS)"},
                {"name": "NS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
                {"name": "NONE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['none']"}}},
                {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                {"name": "BOTH", "value": "$(NS)/$(APP)"},
                {"name": "APP"},
            ]}]},
        });
        let container = find(&pod, "p").unwrap();
        assert_eq!(args(container), ["--a", "b"]);
        let expected = [("LATE", "$(NS)"), ("NS", "shop"), ("NONE", ""), ("CPU", "1"), ("BOTH", "shop/web"), ("APP", "")];
        assert_eq!(environment(&pod, container), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!((names(container, "KEY"), names(container, "TOKEN")), (true, false));
        assert_eq!(find(&pod, "q"), None);
    }
}
