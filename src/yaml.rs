//! A fast reader of YAML as Helm writes it.
//!
//! In: the values of a `linkerd-config`, and the paths that are wanted of them. Out: the tree of these, or nothing at the slightest
//! doubt, whereupon the caller reads the text with a full parser. A full parser takes longer over the 220 lines of the chart's values
//! than all else that a call does.
//!
//! The subset: block style, printable ASCII, plain keys, scalars of one line, literal blocks. What is not wanted is checked all the
//! same, so that a text is never taken here that the full parser refuses; it is only not kept. A test holds both against each other.

use serde_json::{Map, Value};

/// Something that is left to the full parser.
struct Doubt;

type Result<T> = std::result::Result<T, Doubt>;

/// How deep a tree may be.
const MAX_DEPTH: usize = 16;
/// How long a key may be: of one that is longer than this, YAML itself has doubts at some point.
const MAX_KEY: usize = 128;

/// Reads a mapping of which only the dotted `paths` are wanted, with all that is below them.
pub(crate) fn read<'p>(text: &str, paths: impl Iterator<Item = &'p str>) -> Option<Value> {
    let printable = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    if !text.bytes().all(printable) {
        return None;
    }
    let mut reader = Reader { rest: text.strip_suffix('\n')?.split('\n'), line: None };
    reader.read_document(&Wanted::Some(paths.collect())).ok()
}

/// What is wanted of a part.
enum Wanted<'p> {
    All,
    /// What these paths name, from here on.
    Some(Vec<&'p str>),
    Nothing,
}

impl<'p> Wanted<'p> {
    /// What is wanted of the part under a key.
    fn under(&self, key: &str) -> Wanted<'p> {
        let Wanted::Some(paths) = self else { return self.same() };
        let mut below = Vec::new();
        for path in paths {
            // Where the step ends tells most paths apart.
            match path.as_bytes().get(key.len()) {
                None if *path == key => return Wanted::All,
                Some(b'.') => below.extend(path.strip_prefix(key).and_then(|rest| rest.strip_prefix('.'))),
                _ => {}
            }
        }
        if below.is_empty() { Wanted::Nothing } else { Wanted::Some(below) }
    }

    /// What is wanted of an item of a list, through which no path leads.
    fn same(&self) -> Wanted<'p> {
        if self.is_kept() { Wanted::All } else { Wanted::Nothing }
    }

    /// Whether a scalar that stands here is kept.
    fn is_kept(&self) -> bool {
        !matches!(self, Wanted::Nothing)
    }
}

/// A line without its indentation.
#[derive(Clone, Copy)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
}

struct Reader<'t> {
    rest: std::str::Split<'t, char>,
    /// The line that is read next.
    line: Option<Line<'t>>,
}

impl<'t> Reader<'t> {
    fn read_document(&mut self, wanted: &Wanted<'_>) -> Result<Value> {
        self.advance()?;
        let value = match self.line {
            Some(Line { indent: 0, text }) if !is_item(text) => self.mapping(0, wanted, 0)?,
            _ => return Err(Doubt),
        };
        if self.line.is_some() { Err(Doubt) } else { Ok(value) }
    }

    fn advance(&mut self) -> Result<()> {
        self.line = match self.rest.next() {
            None => None,
            Some(raw) => Some(line(raw)?),
        };
        Ok(())
    }

    fn mapping(&mut self, indent: usize, wanted: &Wanted<'_>, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(Doubt);
        }
        let mut map = Map::new();
        while let Some(line) = self.at(indent)? {
            let (key, rest) = entry(line.text).ok_or(Doubt)?;
            let below = wanted.under(key);
            let value = if rest.is_empty() {
                self.advance()?;
                self.block(indent, &below, depth.saturating_add(1))?
            } else {
                self.scalar(rest, indent, below.is_kept())?
            };
            if below.is_kept() {
                map.insert(key.to_owned(), value);
            }
        }
        Ok(Value::Object(map))
    }

    fn sequence(&mut self, indent: usize, wanted: &Wanted<'_>, depth: usize) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(Doubt);
        }
        let (below, mut list) = (wanted.same(), Vec::new());
        while let Some(line) = self.at(indent)? {
            // What comes after the items of a list belongs to the mapping that it is in.
            let Some(rest) = line.text.strip_prefix("- ") else { break };
            let item = if entry(rest).is_some() {
                let indent = indent.saturating_add(2);
                self.line = Some(Line { indent, text: rest });
                self.mapping(indent, &below, depth.saturating_add(1))?
            } else if rest.starts_with('|') {
                return Err(Doubt);
            } else {
                self.scalar(rest, indent, below.is_kept())?
            };
            if below.is_kept() {
                list.push(item);
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
    fn block(&mut self, indent: usize, wanted: &Wanted<'_>, depth: usize) -> Result<Value> {
        match self.line {
            Some(line) if line.indent >= indent && is_item(line.text) => self.sequence(line.indent, wanted, depth),
            Some(line) if line.indent > indent => self.mapping(line.indent, wanted, depth),
            _ => Ok(Value::Null),
        }
    }

    /// What stands behind a key or dash that is indented so.
    fn scalar(&mut self, text: &'t str, indent: usize, kept: bool) -> Result<Value> {
        if let Some(chomping) = text.strip_prefix('|') {
            return self.literal(chomping, indent, kept);
        }
        self.advance()?;
        let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|t| !t.contains([quote, '\\']));
        let value = match text.as_bytes().first() {
            Some(b'{') if text == "{}" => return Ok(Value::Object(Map::new())),
            Some(b'[') if text == "[]" => return Ok(Value::Array(Vec::new())),
            Some(b'"') => Scalar::Text(quoted('"').ok_or(Doubt)?),
            Some(b'\'') => Scalar::Text(quoted('\'').ok_or(Doubt)?),
            _ => plain(text)?,
        };
        Ok(match value {
            Scalar::Text(text) if kept => text.into(),
            Scalar::Text(_) => Value::Null,
            Scalar::Other(value) => value,
        })
    }

    /// A literal block; what is left over of it is the line that is read next.
    fn literal(&mut self, chomping: &str, parent: usize, kept: bool) -> Result<Value> {
        let mut text = String::new();
        let mut depth: Option<usize> = None;
        let mut empty = 0_usize;
        let next = loop {
            let Some(raw) = self.rest.next() else { break None };
            if raw.is_empty() && depth.is_some() {
                empty = empty.saturating_add(1);
                continue;
            }
            let content = raw.trim_start_matches(' ');
            let indent = raw.len().saturating_sub(content.len());
            if content.is_empty() || (indent <= parent && depth.is_none()) {
                return Err(Doubt);
            }
            if indent <= parent {
                break Some(line(raw)?);
            }
            let first = depth.is_none();
            let within =
                raw.get(*depth.get_or_insert(indent)..).filter(|_| depth.is_some_and(|depth| indent >= depth)).ok_or(Doubt)?;
            if kept {
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
        Ok(text.into())
    }
}

/// Takes the indentation off a line. Blank lines, and blanks at an end, mean too many things.
fn line(raw: &str) -> Result<Line<'_>> {
    let text = raw.trim_start_matches(' ');
    if text.is_empty() || text.ends_with(' ') {
        return Err(Doubt);
    }
    Ok(Line { indent: raw.len().saturating_sub(text.len()), text })
}

fn is_item(text: &str) -> bool {
    text.starts_with("- ")
}

/// A plain key, and what stands behind its colon.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let is_key = key.len() <= MAX_KEY && key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.bytes().all(letters);
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ').filter(|rest| !rest.starts_with(' '))? };
    is_key.then_some((key, rest))
}

enum Scalar<'t> {
    Text(&'t str),
    Other(Value),
}

/// A plain scalar, as YAML 1.2 and the full parser tell them apart.
fn plain(text: &str) -> Result<Scalar<'_>> {
    if text.contains(": ") || text.contains(" #") || text.ends_with(':') {
        return Err(Doubt);
    }
    let rest = text.get(1..).unwrap_or_default();
    match text.as_bytes().first() {
        Some(b'0'..=b'9') => number(text, false),
        Some(b'-') if rest.starts_with(|c: char| c.is_ascii_digit()) => number(text, true),
        Some(b'A'..=b'Z' | b'a'..=b'z' | b'/' | b'_' | b'$' | b'(' | b':') => Ok(match text {
            "null" | "Null" | "NULL" => Scalar::Other(Value::Null),
            "true" | "True" | "TRUE" => Scalar::Other(true.into()),
            "false" | "False" | "FALSE" => Scalar::Other(false.into()),
            _ => Scalar::Text(text),
        }),
        _ => Err(Doubt),
    }
}

/// What begins with a digit: a number in its plainest form, or what holds a letter that no form of a number has.
fn number(text: &str, negative: bool) -> Result<Scalar<'_>> {
    let digits = if negative { text.get(1..).unwrap_or_default() } else { text };
    let is_whole = digits.bytes().all(|b| b.is_ascii_digit());
    let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
    if is_whole && digits.len() <= 18 && !leads_with_zero && !(negative && digits == "0") {
        return text.parse::<i64>().map(|number| Scalar::Other(number.into())).map_err(|_| Doubt);
    }
    let of_numbers = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'x' | b'X' | b'o' | b'O' | b'_' | b'.' | b'+' | b'-');
    let is_address = digits.matches('.').count() > 1 && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !negative && (is_address || !text.bytes().all(of_numbers)) { Ok(Scalar::Text(text)) } else { Err(Doubt) }
}

#[cfg(test)]
mod tests;
