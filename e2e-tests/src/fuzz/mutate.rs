//! A bounded number of variations on a corpus, the same on every run.

use fastrand::Rng;

/// Words that one of the readers knows.
const WORDS: &[&str] = &[
    "linkerd.io/inject",
    "enabled",
    "disabled",
    "config.linkerd.io/",
    "\"metadata\":{}",
    "null",
    "true",
    "-1",
    "65536",
    "1e400",
    "0.5",
    "18446744073709551616",
    "\\ud800",
    "\\u0000",
    "$(_pod_ns)",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\",
    "\n",
    "\n!",
    "1-65535",
    ",",
    ":",
    "&a",
    "*a",
    "v1:",
    "AAAA",
    "100m",
    "1Ei",
    "10.0.0.0/8",
    "=off",
    "\u{feff}",
    "\u{202e}",
    "é",
    "/",
    "~1",
    "..",
];

/// Variations on a corpus.
pub struct Mutations<'a> {
    corpus: &'a [Vec<u8>],
    random: Rng,
}

impl<'a> Mutations<'a> {
    /// Variations that this seed chooses.
    #[must_use]
    pub fn new(corpus: &'a [Vec<u8>], seed: u64) -> Self {
        Self { corpus, random: Rng::with_seed(seed) }
    }

    fn place(&mut self, bytes: &[u8]) -> usize {
        self.random.usize(..=bytes.len())
    }
}

impl Iterator for Mutations<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let mut bytes = self.random.choice(self.corpus)?.clone();
        for _ in 0..self.random.usize(1..4) {
            let at = self.place(&bytes);
            match self.random.usize(..6) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at.saturating_add(self.random.usize(..8))).min(bytes.len()))),
                2 => drop(bytes.splice(at..at, self.random.choice(WORDS)?.bytes())),
                3 => bytes.insert(at, self.random.u8(..)),
                4 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.random.u8(..8);
                    }
                }
                _ => {
                    let other = self.random.choice(self.corpus)?;
                    let from = self.place(other);
                    bytes.truncate(at);
                    bytes.extend(other.iter().skip(from));
                }
            }
        }
        Some(bytes)
    }
}
