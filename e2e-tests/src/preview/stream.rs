//! A stream of YAML documents, kept as text.
//!
//! A document that is not changed has to come out byte for byte, with its comments, so the stream is cut at its markers
//! before anything is parsed. A line that starts with `---` is a marker wherever it stands: YAML allows it nowhere else.

use serde::Deserialize;
use serde_norway::Value;

/// One document: its text, from its marker or the comments before it to the next marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// As it was read.
    pub text: String,
    /// The line that it starts at, counted from 1.
    pub line: usize,
}

impl Document {
    /// The document as a tree, with merge keys (`<<`) resolved.
    ///
    /// # Errors
    /// The text is not YAML; the line named is that of the whole stream.
    pub fn parse(&self) -> Result<Value, serde_norway::Error> {
        if self.text.trim_start().starts_with('{')
            && let Ok(tree) = serde_json::from_str(&self.text)
        {
            return Ok(tree);
        }
        let lines_before = "\n".repeat(self.line.saturating_sub(1));
        let mut tree = Value::deserialize(serde_norway::Deserializer::from_str(&format!("{lines_before}{}", self.text)))?;
        tree.apply_merge()?;
        Ok(tree)
    }

    /// Whether the document says by itself where it starts.
    #[must_use]
    pub fn has_marker(&self) -> bool {
        self.text.lines().find(|line| !is_blank(line)).is_none_or(is_start)
    }

    /// What stands before the first key: comments, directives and the marker. It stays when the rest is written anew.
    #[must_use]
    pub fn head(&self) -> String {
        let mut head = String::new();
        for line in self.text.lines() {
            let after_marker = line.strip_prefix("---").map(str::trim_start);
            match after_marker {
                // A document may begin on the line of its marker.
                Some(rest) if !rest.is_empty() && !rest.starts_with('#') => {
                    head.push_str("---\n");
                    break;
                }
                None if !is_blank(line) => break,
                _ => {
                    head.push_str(line);
                    head.push('\n');
                }
            }
        }
        head
    }
}

/// Cuts a stream into its documents. Joined together they are the stream.
#[must_use]
pub fn split(stream: &str) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut text = String::new();
    let mut line_of_text = 1;
    // What was read so far of a document that has neither marker nor content: comments before the first marker.
    let mut only_blank = true;
    for (number, line) in (1..).zip(stream.split_inclusive('\n')) {
        if is_start(line) && !only_blank {
            documents.push(Document { text: std::mem::take(&mut text), line: line_of_text });
            line_of_text = number;
        }
        only_blank = if is_end(line) { true } else { only_blank && is_blank(line) };
        text.push_str(line);
        if is_end(line) {
            documents.push(Document { text: std::mem::take(&mut text), line: line_of_text });
            line_of_text = number.saturating_add(1);
        }
    }
    if !text.is_empty() {
        documents.push(Document { text, line: line_of_text });
    }
    documents
}

fn is_start(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

fn is_end(line: &str) -> bool {
    line.strip_prefix("...").is_some_and(|rest| rest.trim().is_empty())
}

/// A line without content: empty, a comment or a directive.
fn is_blank(line: &str) -> bool {
    let content = line.trim();
    content.is_empty() || content.starts_with('#') || line.starts_with('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_markers_and_loses_nothing() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("a: 1\n", &["a: 1\n"]),
            ("a: 1\n---\nb: 2", &["a: 1\n", "---\nb: 2"]),
            ("---\na: 1\n---\n---\nb: 2\n", &["---\na: 1\n", "---\n", "---\nb: 2\n"]),
            ("# head\n\n---\na: 1\n", &["# head\n\n---\na: 1\n"]),
            ("%YAML 1.2\n---\na: 1\n", &["%YAML 1.2\n---\na: 1\n"]),
            ("a: 1\n...\n%YAML 1.2\n---\nb: 2\n", &["a: 1\n...\n", "%YAML 1.2\n---\nb: 2\n"]),
            ("a: |\n  ---\n  x\n----\n", &["a: |\n  ---\n  x\n----\n"]),
            ("--- # one\na: 1\n--- {b: 2}\n", &["--- # one\na: 1\n", "--- {b: 2}\n"]),
            ("a: 1\r\n---\r\nb: 2\r\n", &["a: 1\r\n", "---\r\nb: 2\r\n"]),
            ("---\na: 1\n---\n# the end\n", &["---\na: 1\n", "---\n# the end\n"]),
        ];
        for (stream, expected) in table {
            let documents = split(stream);
            assert_eq!(documents.iter().map(|document| document.text.as_str()).collect::<Vec<_>>(), *expected);
            assert_eq!(documents.iter().map(|document| document.text.as_str()).collect::<String>(), *stream);
        }
    }

    #[test]
    fn the_head_stays() {
        let table = [
            ("a: 1\n", ""),
            ("---\na: 1\n# no head\n", "---\n"),
            ("# licence\n\n---\n# Source: web.yaml\na: 1\n", "# licence\n\n---\n# Source: web.yaml\n"),
            ("--- # one\na: 1\n", "--- # one\n"),
            ("--- {a: 1}\n", "---\n"),
        ];
        for (text, head) in table {
            assert_eq!(Document { text: text.to_owned(), line: 1 }.head(), head, "{text:?}");
        }
    }

    #[test]
    fn errors_name_the_line_of_the_stream() {
        let documents = split("a: 1\n---\nb: 2\nc: [\n");
        assert!(documents[0].parse().is_ok());
        let error = documents[1].parse().unwrap_err().to_string();
        assert!(error.contains("line 5") || error.contains("line 4"), "{error}");
    }

    #[test]
    fn merge_keys_are_resolved() {
        let tree = split("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n")[0].parse().unwrap();
        assert_eq!(serde_json::to_value(&tree["c"]).unwrap(), serde_json::json!({"b": 1, "d": 2}));
    }

    #[test]
    fn markers_are_seen() {
        for (text, marker) in [("---\na: 1\n", true), ("# x\n---\n", true), ("a: 1\n", false), ("", true), ("# x\n", true)] {
            assert_eq!(Document { text: text.to_owned(), line: 1 }.has_marker(), marker, "{text:?}");
        }
    }
}
