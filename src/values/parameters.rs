//! Parameters of the proxy's servers and clients, as environment variables.
//!
//! In: `proxy.inbound` or `proxy.outbound`, three levels deep. Out: one variable for each parameter, named by direction, scope,
//! protocol and parameter. Source: the last loop of `charts/partials/templates/_proxy.tpl` of linkerd/linkerd2.

use serde_json::{Map, Value};

/// The variables, without their common prefix `LINKERD2_PROXY_`, in order.
pub(crate) fn variables(direction: &str, scopes: &Map<String, Value>) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    for (scope, protocols) in scopes {
        for (protocol, parameters) in protocols.as_object().into_iter().flatten() {
            for (parameter, value) in parameters.as_object().into_iter().flatten() {
                let text = match value {
                    Value::Null => continue,
                    Value::String(text) => text.clone(),
                    other => serde_json::to_string(other).unwrap_or_default(),
                };
                variables.push(([direction, scope, protocol, parameter].map(screaming_snake).join("_"), text));
            }
        }
    }
    variables
}

/// `keepAliveInterval` as `KEEP_ALIVE_INTERVAL`; a run of capitals is one word.
fn screaming_snake(name: &str) -> String {
    let mut snake = String::new();
    let mut letters = name.chars().peekable();
    let mut before = '_';
    while let Some(letter) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase() && before != '_' && (!before.is_ascii_uppercase() || next_is_lower) {
            snake.push('_');
        }
        before = if matches!(letter, ' ' | '-') { '_' } else { letter };
        snake.push(before.to_ascii_uppercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::screaming_snake;

    #[test]
    fn names_of_parameters() {
        for (name, expected) in [
            ("inbound", "INBOUND"),
            ("http2", "HTTP2"),
            ("keepAliveInterval", "KEEP_ALIVE_INTERVAL"),
            ("maxConcurrentStreams", "MAX_CONCURRENT_STREAMS"),
            ("HTTPServer", "HTTP_SERVER"),
            ("noHTTPS", "NO_HTTPS"),
            ("fail-fast", "FAIL_FAST"),
            ("already_snake", "ALREADY_SNAKE"),
        ] {
            assert_eq!(screaming_snake(name), expected);
        }
    }
}
