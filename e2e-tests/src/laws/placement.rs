//! The order of containers on which the mesh depends.

use serde_json::Value;

/// What stands in the wrong place.
pub(super) fn faults(pod: &Value) -> Vec<String> {
    let names = |list: &str| -> Vec<&str> {
        let items = pod.get("spec").and_then(|s| s.get(list)?.as_array()).map_or(&[][..], Vec::as_slice);
        items.iter().map(|c| c.get("name").and_then(Value::as_str).unwrap_or_default()).collect()
    };
    let (inits, containers) = (names("initContainers"), names("containers"));
    let all: Vec<&&str> = inits.iter().chain(&containers).collect();
    let mut faults: Vec<String> = Vec::new();
    for own in super::OWN_CONTAINERS {
        if all.iter().filter(|name| ***name == own).count() > 1 {
            faults.push(format!("{own} is there twice"));
        }
    }
    // A validator beside linkerd-init is not ours.
    let first = ["linkerd-init", "linkerd-network-validator"].iter().find_map(|own| inits.iter().position(|name| name == own));
    let native = inits.iter().position(|name| *name == "linkerd-proxy");
    match (first, native) {
        (None, _) => faults.push("nothing redirects traffic".to_owned()),
        (Some(0), Some(1)) => {}
        (Some(_), Some(_)) => faults.push(format!("init containers stand in the order {}", inits.join(" "))),
        (Some(at), None) if at.saturating_add(1) != inits.len() => {
            faults.push(format!("{} is not the last init container", inits.get(at).unwrap_or(&"")));
        }
        (Some(_), None) if !containers.contains(&"linkerd-proxy") => faults.push("there is no proxy".to_owned()),
        (Some(_), None) => {}
    }
    if awaits(pod) && containers.first() != Some(&"linkerd-proxy") {
        faults.push(format!("containers stand in the order {}", containers.join(" ")));
    }
    faults
}

/// Whether the containers after the proxy are to wait for it.
fn awaits(pod: &Value) -> bool {
    let containers = pod.get("spec").and_then(|s| s.get("containers")?.as_array()).map_or(&[][..], Vec::as_slice);
    let proxy = containers.iter().find(|c| c.get("name").and_then(Value::as_str) == Some("linkerd-proxy"));
    let command = proxy.and_then(|p| p.pointer("/lifecycle/postStart/exec/command/0")?.as_str());
    command.is_some_and(|command| command.ends_with("/linkerd-await"))
}

#[cfg(test)]
mod tests {
    use super::faults;
    use serde_json::{Value, json};

    fn mk_pod(inits: &[&str], containers: &[&str]) -> Value {
        let list = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
        json!({"spec": {"initContainers": list(inits), "containers": list(containers)}})
    }

    #[test]
    fn each_mode_has_its_order() {
        for (inits, containers, expected) in [
            (vec!["linkerd-init", "linkerd-proxy", "x"], vec!["app"], vec![]),
            (vec!["linkerd-network-validator", "linkerd-proxy"], vec!["app"], vec![]),
            (vec!["x", "linkerd-init"], vec!["app", "linkerd-proxy"], vec![]),
            (
                vec!["x", "linkerd-init", "linkerd-proxy"],
                vec!["app"],
                vec!["init containers stand in the order x linkerd-init linkerd-proxy"],
            ),
            (vec!["linkerd-init", "x"], vec!["app", "linkerd-proxy"], vec!["linkerd-init is not the last init container"]),
            (vec!["linkerd-init"], vec!["app"], vec!["there is no proxy"]),
            (vec!["linkerd-network-validator", "linkerd-init"], vec!["linkerd-proxy"], vec![]),
            (vec!["x"], vec!["linkerd-proxy"], vec!["nothing redirects traffic"]),
            (vec!["linkerd-init", "linkerd-proxy"], vec!["linkerd-proxy"], vec!["linkerd-proxy is there twice"]),
        ] {
            assert_eq!(faults(&mk_pod(&inits, &containers)), expected, "{inits:?} {containers:?}");
        }
    }
}
