//! Container images: names, tags and pull policies that runtimes and the API server can read (D26, D30).

use thiserror::Error;

#[cfg(test)]
mod tests;

/// Why text is no part of an image reference.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum ImageError {
    /// No repository name in the reference grammar of the distribution project.
    #[error("not an image name such as registry.example/linkerd/proxy, without tag or digest")]
    NotName,
    /// A repository name longer than runtimes take.
    #[error("an image name of more than 255 characters")]
    NameTooLong,
    /// No tag in the reference grammar.
    #[error("not an image tag of up to 128 letters, digits, dots, dashes and underscores")]
    NotTag,
    /// None of the API's pull policies.
    #[error("not one of Always, IfNotPresent, Never")]
    NotPullPolicy,
}

/// The longest name that every runtime takes, in bytes.
const MAX_NAME: usize = 255;
/// The longest tag, in bytes.
const MAX_TAG: usize = 128;

/// Checks an image's name, to which a colon and a tag are added: `[HOST[:PORT]/]COMPONENT[/COMPONENT…]` (D30).
///
/// The grammar is that of `github.com/distribution/reference`, which the kubelet and the runtimes use.
///
/// # Errors
/// [`ImageError::NotName`] or [`ImageError::NameTooLong`].
pub fn name(text: &str) -> Result<(), ImageError> {
    if text.len() > MAX_NAME {
        return Err(ImageError::NameTooLong);
    }
    let whole = path(text);
    let hosted = || text.split_once('/').is_some_and(|(first, rest)| host(first) && path(rest));
    if whole || hosted() { Ok(()) } else { Err(ImageError::NotName) }
}

/// Checks an image's tag (D30). An empty one is none.
///
/// # Errors
/// [`ImageError::NotTag`].
pub fn tag(text: &str) -> Result<(), ImageError> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let start = text.bytes().next().is_some_and(word);
    if start && text.len() <= MAX_TAG && text.bytes().all(|byte| word(byte) || byte == b'.' || byte == b'-') {
        Ok(())
    } else {
        Err(ImageError::NotTag)
    }
}

/// Checks a pull policy; an empty one leaves the choice to the API server (D26).
///
/// # Errors
/// [`ImageError::NotPullPolicy`].
pub fn pull_policy(text: &str) -> Result<(), ImageError> {
    if matches!(text, "" | "Always" | "IfNotPresent" | "Never") { Ok(()) } else { Err(ImageError::NotPullPolicy) }
}

/// Whether the text is `COMPONENT[/COMPONENT…]`.
fn path(text: &str) -> bool {
    text.split('/').all(component)
}

/// Whether the text is runs of lower-case letters and digits, joined by `.`, `_`, `__` or any number of dashes.
fn component(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut rest = text;
    loop {
        let word = rest.trim_start_matches(letter);
        if word.len() == rest.len() {
            return false;
        }
        if word.is_empty() {
            return true;
        }
        let dashes = word.trim_start_matches('-');
        rest = if dashes.len() < word.len() {
            dashes
        } else if let Some(after) = word.strip_prefix("__").or_else(|| word.strip_prefix(['.', '_'])) {
            after
        } else {
            return false;
        };
    }
}

/// Whether the text is a host name, an IPv4 address or a bracketed IPv6 address, perhaps with a port.
fn host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let port = port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let address = |inner: &str| !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
    let bracketed = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    port && bracketed.map_or_else(|| name.split('.').all(label), address)
}

/// Whether the text is letters and digits, with dashes only between them.
fn label(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}
