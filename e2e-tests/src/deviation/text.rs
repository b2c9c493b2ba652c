//! Texts that reach the pod as they were written (D01): repairs the patches into which Linkerd's injector pasted
//! annotations without escaping, and of which it then rewrote every `},` followed by blanks and `]`.

use super::object::{PROXY, container, is_named, put, set_metadata};
use super::reading::{INHERITED, LinkerdResult, Outcome, Reading};
use super::{Expected, RawPatch, decide, faults, images, opaque, resources};
use serde_json::Value;

const TRACING_PREFIX: &str = "resource.opentelemetry.io/";

/// The annotations that Linkerd pastes into its patch: what the pod inherits, and the version that it took.
pub fn pasted(case: &Reading) -> Vec<(&'static str, &str)> {
    let inherited = INHERITED.iter().filter(|key| case.own(key).is_none());
    let version = case.linkerd_text("config.linkerd.io/proxy-version").filter(|version| !version.is_empty());
    let inherited = inherited.filter_map(|key| Some((*key, case.of_namespace(key)?)));
    inherited.chain(version.map(|version| ("linkerd.io/proxy-version", version))).collect()
}

/// Whether pasting the text between quotes gives another text, or none.
fn is_altered(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '"' | '\\') || c < ' ')
}

/// What Linkerd's regular expression for trailing commas makes of the text.
fn without_commas(text: &str) -> String {
    let mut rest = text;
    let mut result = String::new();
    while let Some((head, tail)) = rest.split_once("},") {
        let after = tail.trim_start_matches(['\t', '\n', '\x0c', '\r', ' ']);
        result.push_str(head);
        rest = if let Some(after) = after.strip_prefix(']') {
            result.push_str("}\n]");
            after
        } else {
            result.push_str("},");
            tail
        };
    }
    result + rest
}

/// The inherited opaque ports of what is not meshed go through a template for HTML.
fn is_altered_in_html(case: &Reading) -> bool {
    let text = case.of_namespace(opaque::KEY).filter(|_| case.own(opaque::KEY).is_none());
    text.is_some_and(|text| is_altered(text) || text.contains(['&', '<', '>', '\'', '+']))
}

/// Whether Linkerd's answer has something in the place of a container that is none, because its YAML was not.
fn has_broken_container(linkerd: &LinkerdResult) -> bool {
    let lists = ["/spec/initContainers", "/spec/containers"].into_iter();
    let containers = lists.filter_map(|list| linkerd.object.as_ref()?.pointer(list)?.as_array()).flatten();
    let in_patch = linkerd.raw_patch.as_ref().is_some_and(|patch| patch.contains("\"Error\": \"error converting YAML"));
    in_patch || containers.into_iter().any(|container| container.get("Error").is_some())
}

/// A character that the YAML between Linkerd's values and its templates cannot carry.
fn is_no_yaml_character(c: char) -> bool {
    matches!(c, '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// What ended a line in YAML of old, and still does in Go's.
fn is_old_line_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Stands for a character in a twin, where the character itself would end Linkerd's YAML.
fn disguised(c: char) -> char {
    char::from_u32(u32::from(c).saturating_add(DISGUISE)).unwrap_or(c)
}

fn undisguised(text: &str) -> String {
    let plain = |c: char| u32::from(c).checked_sub(DISGUISE).and_then(char::from_u32).filter(|c| is_hidden_in_traces(*c));
    text.chars().map(|c| plain(c).unwrap_or(c)).collect()
}

/// Where the characters begin that no one uses in public.
const DISGUISE: u32 = 0xe000;

/// What the twin of a case has other characters for in the attributes of traces, which stand in a block of YAML.
fn is_hidden_in_traces(c: char) -> bool {
    c < ' ' || is_no_yaml_character(c) || is_old_line_break(c)
}

/// Names that YAML takes for something else than text.
fn is_no_yaml_text(text: &str) -> bool {
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    words.contains(&text.to_lowercase().as_str()) || text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// D01: any text arrives as it is.
pub fn d01_applies(case: &Reading, linkerd: &LinkerdResult) -> bool {
    if !decide::injects(case) {
        let is_wrong = is_altered_in_html(case) || (linkerd.outcome == Outcome::Error && is_misread(case, linkerd));
        return case.request.sub_resource.is_empty() && !decide::is_left_out(case, linkerd) && is_wrong;
    }
    let unusable = linkerd.outcome == Outcome::BadPatch || has_broken_container(linkerd) || is_misread(case, linkerd);
    let mut pasted = pasted(case).into_iter().filter(|(key, text)| !faults::replaces(key, text));
    let altered =
        pasted.any(|(_, text)| is_altered(text) || without_commas(text) != text) || is_no_yaml_text(&case.control_plane_namespace);
    unusable || (altered && linkerd.outcome == Outcome::Injected)
}

/// What Linkerd writes into its YAML without quotes.
const UNQUOTED: [&str; 6] = [
    "config.linkerd.io/proxy-image",
    "config.linkerd.io/proxy-version",
    "config.linkerd.io/image-pull-policy",
    "config.linkerd.io/debug-image",
    "config.linkerd.io/debug-image-version",
    "config.linkerd.io/debug-image-pull-policy",
];

/// Whether the text may be more to YAML than a text.
fn is_wild(text: &str) -> bool {
    !text.chars().all(|c| c.is_ascii_alphanumeric() || ",-./:_".contains(c))
        || text.ends_with(':')
        || text.starts_with(',')
        || text == "-"
}

/// Whether Linkerd denied the pod because of its YAML, or read a line break of old in it, which it made a blank.
fn is_misread(case: &Reading, linkerd: &LinkerdResult) -> bool {
    let is_yaml = linkerd.message.as_ref().is_some_and(|message| message.contains("yaml: "));
    let printed = ["proxy-log-level", "proxy-log-format", "access-log", "proxy-additional-env"];
    let printed = printed.map(|key| case.linkerd_text(&format!("config.linkerd.io/{key}")));
    let merged = case.of_namespace("config.linkerd.io/proxy-additional-env");
    let mut texts = pasted(case).into_iter().map(|(_, text)| text).chain(printed.into_iter().chain([merged]).flatten());
    let mut attributes = pod_annotations(case).filter(|(key, _)| key.starts_with(TRACING_PREFIX) && resources::traces(case));
    let is_broken = texts.any(|text| text.contains('\u{85}'))
        || attributes.any(|(_, text)| text.as_str().is_some_and(|text| text.contains(is_old_line_break)));
    if linkerd.outcome == Outcome::Error { is_yaml } else { is_broken }
}

fn pod_annotations(case: &Reading) -> impl Iterator<Item = (&String, &Value)> {
    case.request.object.pointer("/metadata/annotations").and_then(Value::as_object).into_iter().flatten()
}

/// Rewrites every text in a value.
fn rewrite(value: &mut Value, text: &dyn Fn(&str) -> String) {
    match value {
        Value::String(old) => *old = text(old),
        Value::Array(elements) => elements.iter_mut().for_each(|element| rewrite(element, text)),
        Value::Object(members) => members.values_mut().for_each(|member| rewrite(member, text)),
        _ => {}
    }
}

/// Where the YAML broke: the same case with texts that do not break it.
pub fn d01_twin(case: &Reading, linkerd: &LinkerdResult) -> Option<Reading> {
    let mut twin = (has_broken_container(linkerd) || is_misread(case, linkerd)).then(|| case.clone())?;
    let hide = |hidden: &'static dyn Fn(char) -> bool| {
        move |text: &str| text.chars().map(|c| if hidden(c) { disguised(c) } else { c }).collect()
    };
    rewrite(&mut twin.request.object, &hide(&is_no_yaml_character));
    for text in twin.namespace.annotations.values_mut() {
        rewrite(text, &hide(&is_no_yaml_character));
    }
    for key in UNQUOTED.into_iter().chain(["config.linkerd.io/skip-inbound-ports"]) {
        if let Some(text) = twin.text(key).filter(|text| is_wild(text)).map(str::to_owned) {
            let tame = |(at, c): (usize, char)| match c {
                c if c.is_ascii_alphanumeric() => c,
                _ if at == 0 => '_',
                ',' | '.' => c,
                _ => '@',
            };
            twin.replace_annotation(key, &text.chars().enumerate().map(tame).collect::<String>());
        }
    }
    for (key, text) in pod_annotations(case).filter(|(key, _)| key.starts_with(TRACING_PREFIX)) {
        let hidden = hide(&is_hidden_in_traces)(text.as_str().unwrap_or_default());
        twin.replace_annotation(key, &hidden);
    }
    Some(twin)
}

/// Repairs the patch and applies it, and sets every annotation that was pasted.
pub fn d01_apply(case: &Reading, expected: &mut Expected) {
    if !decide::injects(case) {
        if expected.outcome != Outcome::Skipped {
            expected.annotate_opaque_ports(case.of_namespace(opaque::KEY).or(opaque::linkerd_default(case).as_deref()));
        }
        return undisguise_own(case, &mut expected.object);
    }
    if let Some(raw) = expected.raw_patch.take()
        && let Some(object) = repaired(case, raw)
    {
        expected.object = object;
        expected.outcome = Outcome::Injected;
    }
    for (key, text) in pasted(case) {
        set_metadata(&mut expected.object, "annotations", key, text);
    }
    undisguise(case, &mut expected.object);
    if UNQUOTED.iter().any(|key| case.linkerd_text(key).is_some_and(is_wild)) {
        images::set_written(case, &mut expected.object);
    }
    let Some(proxy) = container(&mut expected.object, PROXY) else { return };
    // A later one of the name is an additional variable.
    let env = proxy.get_mut("env").and_then(Value::as_array_mut);
    if let Some(entry) = env.into_iter().flatten().find(|entry| is_named(entry, "_l5d_ns")) {
        put(entry, &["value"], case.control_plane_namespace.as_str());
    }
}

/// Gives annotations and all that was disguised their own texts back after a twin was asked.
pub fn undisguise(case: &Reading, object: &mut Value) {
    undisguise_own(case, object);
    for (key, text) in pasted(case).into_iter().filter(|(key, _)| key.starts_with("config")) {
        set_metadata(object, "annotations", key, text);
    }
}

fn undisguise_own(case: &Reading, object: &mut Value) {
    rewrite(object, &undisguised);
    for (key, value) in pod_annotations(case).filter(|(key, _)| !key.starts_with("linkerd.io/")) {
        let written = object.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(key));
        if written.is_some_and(|text| text != value) {
            put(object, &["metadata", "annotations", key], value.clone());
        }
    }
}

/// The object after the patch that Linkerd meant.
fn repaired(case: &Reading, raw: RawPatch) -> Option<Value> {
    let RawPatch { mut patch, pasted } = raw;
    for (key, text) in pasted {
        let head = format!("\"path\": \"/metadata/annotations/{}\",\n    \"value\": \"", key.replace('/', "~1"));
        let foot = "\"\n  }";
        let escaped = Value::from(text.as_str()).to_string();
        let escaped = escaped.strip_prefix('"')?.strip_suffix('"')?;
        patch = patch.replace(&format!("{head}{}{foot}", without_commas(&text)), &format!("{head}{escaped}{foot}"));
    }
    let mut operations: Value = serde_json::from_str(&escaped_line_breaks(&patch)).ok()?;
    for text in written(case) {
        let mangled = mangled(&text);
        if mangled != text {
            rewrite(&mut operations, &|found| found.replace(&mangled, &text));
        }
    }
    let mut object = case.request.object.clone();
    json_patch::patch(&mut object, &serde_json::from_value::<json_patch::Patch>(operations).ok()?).ok()?;
    Some(object)
}

/// The regular expression leaves raw line breaks inside of strings.
fn escaped_line_breaks(patch: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let mut result = String::new();
    for c in patch.chars() {
        match c {
            '\n' if in_string => result.push_str("\\n"),
            c => result.push(c),
        }
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    result
}

/// What a text becomes that was escaped before the regular expression found it.
fn mangled(text: &str) -> String {
    let rewritten = without_commas(&Value::from(text).to_string()).replace('\n', "\\n");
    serde_json::from_str(&rewritten).unwrap_or_default()
}

/// Every text of the case that may stand in a patch.
fn written(case: &Reading) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                texts.push(text.clone());
                if let Ok(inner @ Value::Array(_)) = serde_json::from_str::<Value>(text) {
                    collect(&inner, texts);
                }
            }
            Value::Array(elements) => elements.iter().for_each(|element| collect(element, texts)),
            Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(&Value::Object(case.values.clone()), &mut texts);
    collect(&Value::Object(case.namespace.annotations.clone()), &mut texts);
    case.request.object.get("metadata").into_iter().for_each(|metadata| collect(metadata, &mut texts));
    texts
}

#[cfg(test)]
mod tests;
