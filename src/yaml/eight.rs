//! Bytes of a text, eight at a time: how far from a place on they are of one kind.

/// The same byte eight times.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// How many bytes there are before the first that `marks` marks by its top bit, in words of eight of which the first is the lowest; what
/// is no ASCII need not be marked right, nor what comes after the first that is marked.
pub(super) fn run(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let mut rest = bytes;
    loop {
        let (word, behind) = match rest.split_first_chunk() {
            Some((chunk, behind)) => (u64::from_le_bytes(*chunk), behind),
            // What is not there counts as no ASCII.
            None => (rest.iter().rev().fold(u64::MAX, |word, byte| word << 8 | u64::from(*byte)), &[][..]),
        };
        let marked = (marks(word) | word) & each(0x80);
        if marked != 0 {
            let in_word = usize::try_from(marked.trailing_zeros() >> 3).unwrap_or_default();
            return bytes.len().saturating_sub(rest.len()).saturating_add(in_word);
        }
        rest = behind;
    }
}

/// Marks what is below a bound.
fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(each(bound))
}

/// Marks what is at least a bound.
fn from(word: u64, bound: u8) -> u64 {
    word.wrapping_add(each(0x80_u8.wrapping_sub(bound)))
}

/// Marks all but blanks.
pub(super) fn blanks(word: u64) -> u64 {
    from(word ^ each(b' '), 1)
}

/// Marks all but printable ASCII that neither ends nor escapes anything in JSON.
pub(super) fn plain(word: u64) -> u64 {
    below(word, b' ') | from(word, 0x7f) | below(word ^ each(b'"'), 1) | below(word ^ each(b'\\'), 1)
}

/// Marks all but letters, digits and `_./-`.
pub(super) fn letters_of_keys(word: u64) -> u64 {
    let lower = word | each(b' ');
    let letters = from(lower, b'a') & !from(lower, b'z' + 1);
    let from_dash_to_nine = from(word, b'-') & !from(word, b'9' + 1);
    !(letters | from_dash_to_nine) & from(word ^ each(b'_'), 1)
}
