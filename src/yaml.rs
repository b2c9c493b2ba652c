//! A fast reader of YAML as Helm writes it.
//!
//! In: the values of a `linkerd-config` as they stand in a JSON text, and the paths that are wanted of them. Out: what stands at each
//! path, or nothing at the slightest doubt, whereupon the caller reads the text with a full parser. A full parser takes longer over the
//! 220 lines of the chart's values than all else that a call does.
//!
//! The subset: block style, printable ASCII, plain keys, scalars of one line, literal blocks; of JSON's escapes, the ends of lines, and
//! the quotes around a scalar. What is not wanted is checked all the same, so that a text is never taken here that the full parser
//! refuses; it is only not kept. A test holds both against each other.

use serde_json::{Map, Value};
use std::cmp::Ordering;

mod eight;

use eight::{blanks, letters_of_keys, plain, run};

/// Something that is left to the full parser.
struct Doubt;

type Result<T> = std::result::Result<T, Doubt>;

/// How deep a tree may be.
const MAX_DEPTH: usize = 16;
/// How long a key may be: of one that is longer than this, YAML itself has doubts at some point.
const MAX_KEY: usize = 128;
/// The end of a line in a JSON text.
const NEW_LINE: &[u8; 2] = br"\n";
/// A double quote in a JSON text.
const QUOTE: &str = r#"\""#;

/// What stands at a path.
#[derive(Debug, PartialEq)]
pub(crate) enum Node<'t> {
    /// A text, as it stands there.
    Text(&'t str),
    /// Anything else, and texts of several lines.
    Value(Value),
}

impl From<Node<'_>> for Value {
    fn from(node: Node<'_>) -> Value {
        match node {
            Node::Text(text) => text.into(),
            Node::Value(value) => value,
        }
    }
}

/// What stands at each of the dotted `paths` in a mapping, which is what a JSON text holds that begins after its quote, and what follows
/// from the quote at its end on.
///
/// The paths are in the order of their steps, and none leads to another.
pub(crate) fn read<'t>(text: &'t str, paths: &[&str]) -> Option<(Vec<Option<Node<'t>>>, &'t str)> {
    let leaves = paths.iter().map(|_| None).collect();
    let mut reader = Reader { rest: text, line: None, paths, leaves };
    reader.read_document().ok()?;
    Some((reader.leaves, reader.rest))
}

/// What is wanted of a part.
#[derive(Clone, Copy)]
enum Wanted {
    Nothing,
    All,
    /// All, for this path.
    Leaf(usize),
    /// What these paths name, from that step on.
    Below {
        from: usize,
        until: usize,
        step: usize,
    },
}

impl Wanted {
    /// What is wanted of what is in it.
    fn inside(self) -> Wanted {
        if let Wanted::Leaf(_) = self { Wanted::All } else { self }
    }

    /// Whether a scalar that stands here is kept.
    fn is_kept(self) -> bool {
        matches!(self, Wanted::All | Wanted::Leaf(_))
    }
}

/// A line without its indentation.
#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
    /// How long its key is, if it has one.
    key: usize,
}

struct Reader<'t, 'p> {
    rest: &'t str,
    /// The line that is read next.
    line: Option<Line<'t>>,
    paths: &'p [&'p str],
    leaves: Vec<Option<Node<'t>>>,
}

impl<'t> Reader<'t, '_> {
    fn read_document(&mut self) -> Result<()> {
        self.advance()?;
        let wanted = Wanted::Below { from: 0, until: self.paths.len(), step: 0 };
        match self.line {
            Some(Line { indent: 0, text, .. }) if !is_item(text) => self.mapping(0, wanted, 0)?,
            _ => return Err(Doubt),
        };
        if self.line.is_some() { Err(Doubt) } else { Ok(()) }
    }

    fn advance(&mut self) -> Result<()> {
        let from = self.rest;
        self.line = match self.raw_line()? {
            None => None,
            Some(raw) => Some(line(raw, from)?),
        };
        Ok(())
    }

    /// The next line, with quotes as JSON writes them and no other escape.
    fn raw_line(&mut self) -> Result<Option<&'t str>> {
        let bytes = self.rest.as_bytes();
        if bytes.first() == Some(&b'"') {
            return Ok(None);
        }
        let mut end = 0_usize;
        loop {
            end = end.saturating_add(run(bytes.get(end..).unwrap_or_default(), plain));
            let behind = end.saturating_add(2);
            match bytes.get(end..behind) {
                Some(escape) if escape == NEW_LINE => {
                    let raw = self.rest.get(..end);
                    self.rest = self.rest.get(behind..).ok_or(Doubt)?;
                    return Ok(raw);
                }
                Some(escape) if escape == QUOTE.as_bytes() => end = behind,
                _ => return Err(Doubt),
            }
        }
    }

    /// What is wanted of the part under a key; of a key that comes twice, the last part holds.
    ///
    /// Keys in order, as Helm writes them, find their paths in one walk, and `next` says how far it is.
    fn under(&mut self, wanted: Wanted, next: &mut usize, key: &str) -> Wanted {
        let Wanted::Below { from, until, step } = wanted else { return wanted };
        let order = |at: usize| {
            let path = if at < until { self.paths.get(at) } else { None };
            path.and_then(|path| path.as_bytes().get(step..)).map_or(Ordering::Greater, |path| order_of_step(path, key.as_bytes()))
        };
        let past = |mut at: usize, those: Ordering| {
            while order(at) == those {
                at = at.saturating_add(1);
            }
            at
        };
        let mut first = past(*next, Ordering::Less);
        let mut end = past(first, Ordering::Equal);
        if first == end && *next > from && order(next.saturating_sub(1)) != Ordering::Less {
            first = past(from, Ordering::Less);
            end = past(first, Ordering::Equal);
        }
        *next = end;
        if first == end {
            return Wanted::Nothing;
        }
        let step = step.saturating_add(key.len());
        if self.paths.get(first).is_some_and(|path| path.len() == step) {
            return Wanted::Leaf(first);
        }
        self.leaves.get_mut(first..end).unwrap_or_default().fill_with(|| None);
        Wanted::Below { from: first, until: end, step: step.saturating_add(1) }
    }

    /// Takes over what stands at a path, or where paths lead through.
    fn found(&mut self, wanted: Wanted, node: Node<'t>) -> Result<()> {
        match (wanted, node) {
            (Wanted::Leaf(at), node) => *self.leaves.get_mut(at).ok_or(Doubt)? = Some(node),
            (Wanted::Below { .. }, Node::Value(Value::Object(_))) => {}
            // Nothing on the way is nothing at the end.
            (Wanted::Below { from, until, .. }, Node::Value(Value::Null)) => {
                self.leaves.get_mut(from..until).unwrap_or_default().fill_with(|| Some(Node::Value(Value::Null)));
            }
            (Wanted::Below { .. }, _) => return Err(Doubt),
            (Wanted::Nothing | Wanted::All, _) => {}
        }
        Ok(())
    }

    fn mapping(&mut self, indent: usize, wanted: Wanted, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(Doubt);
        }
        let mut map = Map::new();
        let mut next = if let Wanted::Below { from, .. } = wanted { from } else { 0 };
        while let Some(line) = self.at(indent)? {
            let (key, rest) = entry(&line).ok_or(Doubt)?;
            let below = self.under(wanted, &mut next, key);
            let node = if rest.is_empty() {
                self.advance()?;
                Node::Value(self.block(indent, below.inside(), depth.saturating_add(1))?)
            } else {
                self.scalar(rest, indent, below.is_kept())?
            };
            if let Wanted::All = below {
                map.insert(key.to_owned(), node.into());
            } else {
                self.found(below, node)?;
            }
        }
        Ok(Value::Object(map))
    }

    fn sequence(&mut self, indent: usize, wanted: Wanted, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH || matches!(wanted, Wanted::Below { .. }) {
            return Err(Doubt);
        }
        let mut list = Vec::new();
        while let Some(line) = self.at(indent)? {
            // What comes after the items of a list belongs to the mapping that it is in.
            let Some(rest) = line.text.strip_prefix("- ") else { break };
            let key = run(rest.as_bytes(), letters_of_keys);
            let line = Line { indent: indent.saturating_add(2), text: rest, key };
            let item = if entry(&line).is_some() {
                let indent = line.indent;
                self.line = Some(line);
                Node::Value(self.mapping(indent, wanted, depth.saturating_add(1))?)
            } else if rest.starts_with('|') {
                return Err(Doubt);
            } else {
                self.scalar(rest, indent, wanted.is_kept())?
            };
            if wanted.is_kept() {
                list.push(item.into());
            }
        }
        Ok(Value::Array(list))
    }

    /// The line that is read next, if it is of that depth; one that is deeper belongs to nothing.
    fn at(&self, indent: usize) -> Result<Option<Line<'t>>> {
        match self.line {
            Some(line) if line.indent > indent => Err(Doubt),
            Some(line) if line.indent == indent => Ok(Some(line)),
            _ => Ok(None),
        }
    }

    /// What stands on the lines below a key.
    fn block(&mut self, indent: usize, wanted: Wanted, depth: usize) -> Result<Value> {
        match self.line {
            Some(line) if line.indent >= indent && is_item(line.text) => self.sequence(line.indent, wanted, depth),
            Some(line) if line.indent > indent => self.mapping(line.indent, wanted, depth),
            _ => Ok(Value::Null),
        }
    }

    /// What stands behind a key or dash that is indented so.
    fn scalar(&mut self, text: &'t str, indent: usize, kept: bool) -> Result<Node<'t>> {
        if let Some(chomping) = text.strip_prefix('|') {
            return self.literal(chomping, indent, kept);
        }
        self.advance()?;
        let quoted =
            |quote: &str| text.strip_prefix(quote)?.strip_suffix(quote).filter(|t| !t.bytes().any(|b| matches!(b, b'\'' | b'\\')));
        Ok(match text.as_bytes().first() {
            Some(b'{') if text == "{}" => Node::Value(Value::Object(Map::new())),
            Some(b'[') if text == "[]" => Node::Value(Value::Array(Vec::new())),
            Some(b'\\') => Node::Text(quoted(QUOTE).ok_or(Doubt)?),
            Some(b'\'') => Node::Text(quoted("'").ok_or(Doubt)?),
            _ => plain_scalar(text)?,
        })
    }

    /// A literal block; what is left over of it is the line that is read next.
    fn literal(&mut self, chomping: &str, parent: usize, kept: bool) -> Result<Node<'t>> {
        let mut text = String::new();
        let mut depth: Option<usize> = None;
        let mut empty = 0_usize;
        let next = loop {
            let from = self.rest;
            let Some(raw) = self.raw_line()? else { break None };
            if raw.is_empty() && depth.is_some() {
                empty = empty.saturating_add(1);
                continue;
            }
            let indent = run(raw.as_bytes(), blanks);
            if indent == raw.len() || (indent <= parent && depth.is_none()) {
                return Err(Doubt);
            }
            if indent <= parent {
                break Some(line(raw, from)?);
            }
            let first = depth.is_none();
            let within =
                raw.get(*depth.get_or_insert(indent)..).filter(|_| depth.is_some_and(|depth| indent >= depth)).ok_or(Doubt)?;
            if kept {
                if within.contains('\\') {
                    return Err(Doubt);
                }
                text.extend(std::iter::repeat_n('\n', empty.saturating_add(usize::from(!first))));
                text.push_str(within);
            }
            empty = 0;
        };
        self.line = next;
        if depth.is_none() {
            return Err(Doubt);
        }
        text.push_str(match chomping {
            "" => "\n",
            "-" => "",
            _ => return Err(Doubt),
        });
        Ok(Node::Value(text.into()))
    }
}

/// How the first step of a path compares with a key.
fn order_of_step(path: &[u8], key: &[u8]) -> Ordering {
    // No dot of a key is one between steps.
    let same = path.iter().zip(key).take_while(|(step, key)| step == key && **step != b'.').count();
    path.get(same).filter(|byte| **byte != b'.').cmp(&key.get(same))
}

/// Takes the indentation off a line, which begins the text `from`. Blank lines, and blanks at an end, mean too many things.
fn line<'t>(raw: &'t str, from: &str) -> Result<Line<'t>> {
    let from = from.as_bytes();
    let indent = run(from, blanks);
    match raw.get(indent..) {
        Some(text) if !text.is_empty() && text.as_bytes().last() != Some(&b' ') => {
            // It is read to its end at the latest, for there is an escape.
            let key = run(from.get(indent..).unwrap_or_default(), letters_of_keys);
            Ok(Line { indent, text, key })
        }
        _ => Err(Doubt),
    }
}

fn is_item(text: &str) -> bool {
    text.starts_with("- ")
}

/// A plain key, and what stands behind its colon.
fn entry<'t>(line: &Line<'t>) -> Option<(&'t str, &'t str)> {
    let (key, rest) = line.text.split_at_checked(line.key)?;
    let rest = rest.strip_prefix(':')?;
    let is_key = key.len() <= MAX_KEY && key.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ').filter(|rest| !rest.starts_with(' '))? };
    is_key.then_some((key, rest))
}

/// A plain scalar, as YAML 1.2 and the full parser tell them apart.
fn plain_scalar(text: &str) -> Result<Node<'_>> {
    let rest = text.get(1..).unwrap_or_default();
    let node = match text.as_bytes().first() {
        Some(b'0'..=b'9') => number(text, false)?,
        Some(b'-') if rest.starts_with(|c: char| c.is_ascii_digit()) => number(text, true)?,
        Some(b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'_' | b'$' | b'(' | b':') => match text {
            "null" | "Null" | "NULL" => Node::Value(Value::Null),
            "true" | "True" | "TRUE" => Node::Value(true.into()),
            "false" | "False" | "FALSE" => Node::Value(false.into()),
            _ => Node::Text(text),
        },
        _ => return Err(Doubt),
    };
    let means_more = || text.contains(": ") || text.contains(" #") || text.contains('\\') || text.ends_with(':');
    match node {
        Node::Text(_) if text.bytes().any(|byte| matches!(byte, b':' | b'#' | b'\\')) && means_more() => Err(Doubt),
        node => Ok(node),
    }
}

/// What begins with a digit: a number in its plainest form, or what holds a letter that no form of a number has.
fn number(text: &str, negative: bool) -> Result<Node<'_>> {
    let digits = if negative { text.get(1..).unwrap_or_default() } else { text };
    let is_whole = digits.bytes().all(|b| b.is_ascii_digit());
    let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
    if is_whole && digits.len() <= 18 && !leads_with_zero && !(negative && digits == "0") {
        return text.parse::<i64>().map(|number| Node::Value(number.into())).map_err(|_| Doubt);
    }
    let of_numbers = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X' | b'o' | b'O' | b'_' | b'.' | b'+' | b'-');
    let is_address = digits.matches('.').count() > 1 && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !negative && (is_address || !text.bytes().all(of_numbers)) { Ok(Node::Text(text)) } else { Err(Doubt) }
}

#[cfg(test)]
mod tests;
