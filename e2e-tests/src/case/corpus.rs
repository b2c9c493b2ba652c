//! The corpus in `e2e-tests/conformance`, and other folders and files like it.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;
use thiserror::Error;

use super::{Case, CaseResult, LineError, read_lines};

/// A corpus that cannot be read.
#[derive(Debug, Error)]
pub enum CorpusError {
    /// The file or folder cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line cannot be used.
    #[error("{}, {source}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, and why.
        source: LineError,
    },
    /// The folder has no `.jsonl` file.
    #[error("no .jsonl file in {}", .0.display())]
    Empty(PathBuf),
}

/// The folder of this project's corpus.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// The project's cases and Linkerd's results on them: the corpus, and the extra cases.
#[must_use]
pub fn pairs() -> [(PathBuf, PathBuf); 2] {
    let (own, extra) = (folder(), folder().join("extra"));
    [(own.join("cases"), own.join("linkerd")), (extra.join("cases.jsonl"), extra.join("linkerd.jsonl"))]
}

/// All cases of the corpus, in the order of families and lines.
///
/// # Errors
/// The corpus cannot be read.
pub fn cases() -> Result<Vec<Case>, CorpusError> {
    read_cases(&folder().join("cases"))
}

/// Linkerd's results on the corpus, in the same order.
///
/// # Errors
/// The corpus cannot be read.
pub fn linkerd() -> Result<Vec<CaseResult>, CorpusError> {
    read_results(&folder().join("linkerd"))
}

/// The cases of a file, or of all `.jsonl` files of a folder.
///
/// # Errors
/// Something cannot be read.
pub fn read_cases(path: &Path) -> Result<Vec<Case>, CorpusError> {
    read(path, "case")
}

/// The results of a file, or of all `.jsonl` files of a folder.
///
/// # Errors
/// Something cannot be read.
pub fn read_results(path: &Path) -> Result<Vec<CaseResult>, CorpusError> {
    read(path, "result")
}

fn read<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<Vec<T>, CorpusError> {
    let mut all = Vec::new();
    for path in files(path)? {
        let file = File::open(&path).map_err(|source| CorpusError::Open { path: path.clone(), source })?;
        for item in read_lines(BufReader::new(file), what) {
            all.push(item.map_err(|source| CorpusError::Line { path: path.clone(), source })?);
        }
    }
    Ok(all)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let fail = |source| CorpusError::Open { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fail)? {
        let file = entry.map_err(fail)?.path();
        if file.extension().is_some_and(|end| end == "jsonl") {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(CorpusError::Empty(path.to_owned()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_result() {
        let names = |all: Vec<String>| all;
        let cases = names(cases().unwrap().into_iter().map(|case| case.name).collect());
        let results = names(linkerd().unwrap().into_iter().map(|result| result.name).collect());
        assert_eq!(cases.len(), 1555);
        assert_eq!(cases, results);
    }

    #[test]
    fn says_what_cannot_be_read() {
        let missing = read_cases(Path::new("/does/not/exist")).unwrap_err().to_string();
        assert!(missing.starts_with("cannot read /does/not/exist: "), "{missing}");
        let empty = read_cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap_err();
        assert!(matches!(empty, CorpusError::Empty(_)));
    }
}
