//! Services, such as the API server takes.

use serde_json::{Map, Value, json};

use super::choice::Choice;

/// A service's spec.
pub fn spec(choice: &mut Choice) -> Value {
    let mut spec = Map::new();
    if choice.one_in(12) {
        return json!({"type": "ExternalName", "externalName": "a.example.test"});
    }
    spec.insert("ports".to_owned(), ports(choice));
    choice.may_set(&mut spec, 3, "selector", r#"[{"app": "web"}, {}]"#);
    choice.may_set(&mut spec, 4, "type", r#"["ClusterIP", "NodePort", "LoadBalancer"]"#);
    choice.may_set(&mut spec, 8, "clusterIP", r#"["None"]"#);
    if spec.get("clusterIP").is_some() {
        spec.remove("type");
    }
    choice.may_set(&mut spec, 6, "sessionAffinity", r#"["None", "ClientIP"]"#);
    choice.may_set(&mut spec, 12, "publishNotReadyAddresses", "[true]");
    Value::Object(spec)
}

const PORTS: &[u16] = &[80, 443, 25, 3306, 5432, 6379, 8080, 11211, 9300, 65535, 1, 587];

fn ports(choice: &mut Choice) -> Value {
    let mut numbers = choice.some(PORTS, 5);
    if numbers.is_empty() {
        numbers.push(3306);
    }
    let ports = numbers.into_iter().map(|number| {
        let mut port = Map::from_iter([("name".to_owned(), json!(format!("p{number}"))), ("port".to_owned(), json!(number))]);
        choice.may_set(&mut port, 2, "targetPort", r#"[8080, "http", 3306, 25, "mysql", 5432, "a1"]"#);
        choice.may_set(&mut port, 4, "protocol", r#"["TCP", "UDP"]"#);
        choice.may_set(&mut port, 8, "appProtocol", r#"["http", "linkerd.io/opaque", "kubernetes.io/h2c"]"#);
        Value::Object(port)
    });
    Value::Array(ports.collect())
}
