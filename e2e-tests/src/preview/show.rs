//! The three forms of output.

use std::io;

use serde_json::{Map, Value as Json, json};
use serde_norway::Value as Yaml;
use similar::TextDiff;

use super::{
    Manifest, Output, Preview,
    input::{Item, Shape},
    tree,
};
use crate::yaml;

/// Writes what the previews of the manifests' objects say.
///
/// # Errors
/// The output cannot be written.
pub fn write(
    output: Output,
    manifests: &[Vec<Manifest>],
    previews: &[Vec<Option<Preview>>],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut previews = previews.iter();
    let mut stream = Stream { out, written: false, ends_in_newline: true };
    for manifests in manifests {
        let mut first_of_input = true;
        for manifest in manifests {
            let previews = previews.next().map_or(&[][..], Vec::as_slice);
            match output {
                Output::Yaml => stream.document(manifest, previews, first_of_input)?,
                Output::Diff { colour } => {
                    for (item, preview) in changed(manifest, previews) {
                        let text = diff(&item.tree, preview);
                        stream.out.write_all(if colour { colour_diff(&text) } else { text }.as_bytes())?;
                    }
                }
                Output::Patch => {
                    for preview in previews.iter().flatten().filter(|preview| preview.rejected.is_none()) {
                        writeln!(stream.out, "{}", patch(preview))?;
                    }
                }
            }
            first_of_input = false;
        }
    }
    stream.out.flush()
}

fn changed<'a>(manifest: &'a Manifest, previews: &'a [Option<Preview>]) -> impl Iterator<Item = (&'a Item, &'a Preview)> {
    let pairs = manifest.items.iter().zip(previews);
    pairs.filter_map(|(item, preview)| preview.as_ref().filter(|preview| preview.after.is_some()).map(|preview| (item, preview)))
}

/// A stream of documents that is being written.
struct Stream<'a> {
    out: &'a mut dyn io::Write,
    written: bool,
    ends_in_newline: bool,
}

impl Stream<'_> {
    fn document(&mut self, manifest: &Manifest, previews: &[Option<Preview>], first_of_input: bool) -> io::Result<()> {
        let Some(text) = document(manifest, previews) else {
            return Ok(());
        };
        // Where an input began, or a rejected document stood, a marker may be missing between two documents.
        let marked = if text == manifest.document.text { manifest.document.has_marker() } else { has_marker(&text) };
        if self.written && !self.ends_in_newline && (first_of_input || marked) {
            self.out.write_all(b"\n")?;
        }
        if self.written && !marked {
            self.out.write_all(b"---\n")?;
        }
        self.out.write_all(text.as_bytes())?;
        self.written = self.written || !text.is_empty();
        self.ends_in_newline = text.ends_with('\n');
        Ok(())
    }
}

fn has_marker(text: &str) -> bool {
    super::Document { text: text.to_owned(), line: 1 }.has_marker()
}

/// The document's new text: as it was where nothing changes, absent where its only object is rejected.
fn document(manifest: &Manifest, previews: &[Option<Preview>]) -> Option<String> {
    let head = manifest.document.head();
    match manifest.shape {
        Shape::Object => match previews.first().and_then(Option::as_ref) {
            Some(Preview { rejected: Some(_), .. }) => None,
            Some(Preview { after: Some(after), .. }) => {
                Some(format!("{head}{}", yaml::write(&tree::update(&manifest.tree, after))))
            }
            _ => Some(manifest.document.text.clone()),
        },
        Shape::Request => {
            let (item, preview) = (manifest.items.first()?, previews.first()?.as_ref()?);
            let after = preview.after.as_ref().map(|after| tree::update(&item.tree, after));
            preview.rejected.is_none().then(|| format!("{head}{}", yaml::write(&after.unwrap_or_else(|| item.tree.clone()))))
        }
        Shape::List => {
            let touched = |preview: &Preview| preview.after.is_some() || preview.rejected.is_some();
            if !previews.iter().flatten().any(touched) {
                return Some(manifest.document.text.clone());
            }
            let mut list = manifest.tree.clone();
            let items = manifest.items.iter().zip(previews).filter_map(|(item, preview)| match preview {
                Some(Preview { rejected: Some(_), .. }) => None,
                Some(Preview { after: Some(after), .. }) => Some(updated_item(item, after)),
                _ => Some(item.tree.clone()),
            });
            let items = Yaml::Sequence(items.collect());
            if let Some(slot) = list.get_mut("items") {
                *slot = items;
            }
            Some(format!("{head}{}", yaml::write(&list)))
        }
    }
}

/// A list's item, without the type that it did not have by itself.
fn updated_item(item: &Item, after: &Json) -> Yaml {
    let mut after = after.clone();
    if let Some(fields) = after.as_object_mut() {
        fields.retain(|key, _| !matches!(key.as_str(), "apiVersion" | "kind") || item.tree.get(key.as_str()).is_some());
    }
    tree::update(&item.tree, &after)
}

/// A unified diff of the object's YAML before and after; both are written anew, so that only content differs.
#[must_use]
pub fn diff(before: &Yaml, preview: &Preview) -> String {
    let Some(after) = &preview.after else {
        return String::new();
    };
    let [_, _, (_, namespace), _] = &preview.identity;
    let (old, new) = (yaml::write(before), yaml::write(&tree::update(before, after)));
    TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header(
            &format!("{} in {namespace}", preview.title),
            &format!("{} in {namespace}, {}", preview.title, preview.outcome.as_str()),
        )
        .to_string()
}

/// A diff with the colours that terminals usually have for it.
#[must_use]
pub fn colour_diff(diff: &str) -> String {
    const RESET: &str = "\x1b[0m";
    let mut coloured = String::new();
    for line in diff.lines() {
        let colour = match line.chars().next() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => "\x1b[1m",
            Some('@') => "\x1b[36m",
            Some('+') => "\x1b[32m",
            Some('-') => "\x1b[31m",
            _ => "",
        };
        let reset = if colour.is_empty() { "" } else { RESET };
        coloured.push_str(&format!("{colour}{line}{reset}\n"));
    }
    coloured
}

/// One line of JSON: which object, and its RFC 6902 patch, empty where nothing changes.
fn patch(preview: &Preview) -> Json {
    let operations = preview.after.as_ref().map(|after| json_patch::diff(&preview.before, after)).unwrap_or_default();
    let mut line: Map<String, Json> = preview.identity.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    line.insert("patch".to_owned(), json!(operations));
    Json::Object(line)
}
