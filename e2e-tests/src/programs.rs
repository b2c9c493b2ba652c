//! Real programs that some tests ask, and the tests' word that they were skipped where a program is not there.
//!
//! A test that needs a program begins with
//!
//! ```text
//! let Some(kwctl) = programs::find_or_skip("kwctl", "annotation_equals_that_of_kwctl") else { return };
//! ```
//!
//! A skipped test passes, so it has to be counted where people look: it says so on stderr, and, where the environment
//! variable `SKIPPED_LIST` names a file, adds the line `TEST: PROGRAM is not on PATH` to it. Whoever runs the tests
//! empties that file first and prints its lines and their number at the end.

use std::{
    env,
    fs::{self, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

/// The variable with the name of the file that skipped tests are listed in.
pub const SKIPPED_LIST: &str = "SKIPPED_LIST";

/// Finds a program on `PATH`.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    find_in(program, &env::var_os("PATH")?)
}

/// Finds a program on `PATH`, or says that `test` is skipped for want of it.
#[must_use]
pub fn find_or_skip(program: &str, test: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        skip(test, &format!("{program} is not on PATH"));
    }
    found
}

/// Says that `test` is skipped, and why.
pub fn skip(test: &str, why: &str) {
    eprintln!("skipped: {why}");
    if let Some(list) = env::var_os(SKIPPED_LIST).filter(|list| !list.is_empty()) {
        note(Path::new(&list), test, why);
    }
}

fn note(list: &Path, test: &str, why: &str) {
    // One write, so that tests that run at the same time do not mix their lines.
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(list)
        .and_then(|mut list| list.write_all(format!("{test}: {why}\n").as_bytes()));
    if let Err(error) = written {
        eprintln!("cannot add to {}: {error}", list.display());
    }
}

fn find_in(program: &str, path: &std::ffi::OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(program)).find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found() {
        assert!(find("cargo").is_some());
        assert!(find("no-such-program-anywhere").is_none());
        assert!(find_in("src", std::ffi::OsStr::new(env!("CARGO_MANIFEST_DIR"))).is_none(), "a folder is no program");
    }

    #[test]
    fn skipped_tests_are_listed() {
        let list = env::temp_dir().join(format!("skipped-{}", std::process::id()));
        note(&list, "a", "x is not on PATH");
        note(&list, "b", "y is not on PATH");
        assert_eq!(fs::read_to_string(&list).unwrap(), "a: x is not on PATH\nb: y is not on PATH\n");
        fs::remove_file(&list).unwrap();
    }
}
