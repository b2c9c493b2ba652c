//! What the sources may not have, or only where there is a reason.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use e2e_tests::artefacts;

/// Every use of the word `unsafe` in our code: the file, the line, and why it is there.
const UNSAFE: &[(&str, &str, &str)] = &[
    ("src/guest.rs", "#[unsafe(no_mangle)]", "waPC finds the function by its name; it runs no unsafe code"),
    ("e2e-tests/accept-all/src/lib.rs", "#[unsafe(no_mangle)]", "waPC finds the function by its name; it runs no unsafe code"),
];

fn root() -> PathBuf {
    artefacts::folder().join("..").canonicalize().unwrap()
}

/// Every Rust file of ours, with its path from the top.
fn sources() -> BTreeMap<String, String> {
    let (root, mut found) = (root(), BTreeMap::new());
    let mut folders: Vec<PathBuf> = ["src", "e2e-tests"].iter().map(|folder| root.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// A line without what stands in quotes and after slashes.
fn code(line: &str) -> String {
    let mut code = String::new();
    for (number, part) in line.replace("\\\"", "").split('"').enumerate() {
        if number % 2 == 0 {
            code.push_str(part);
        }
    }
    code.split("//").next().unwrap_or_default().to_owned()
}

/// Whether the keyword is in a line of code.
fn is_unsafe(line: &str) -> bool {
    code(line).split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

#[test]
fn unsafe_is_where_there_is_a_reason() {
    let found: BTreeSet<(String, String)> = sources()
        .iter()
        .flat_map(|(name, text)| text.lines().filter(|line| is_unsafe(line)).map(|line| (name.clone(), line.trim().to_owned())))
        .collect();
    let allowed = UNSAFE.iter().map(|(name, line, _)| ((*name).to_owned(), (*line).to_owned())).collect();
    assert_eq!(found, allowed);
    assert!(UNSAFE.iter().all(|(.., reason)| !reason.is_empty()));
}

#[test]
fn the_keyword_is_told_from_the_word() {
    for (line, expected) in [
        ("unsafe { f() }", true),
        ("    unsafe fn f();", true),
        ("#[unsafe(no_mangle)]", true),
        ("#[allow(unsafe_code)]", false),
        ("let a = \"unsafe\";", false),
        ("// unsafe", false),
        ("f(\"a \\\" unsafe\");", false),
    ] {
        assert_eq!(is_unsafe(line), expected, "{line}");
    }
}

#[test]
fn no_lint_against_unsafe_code_is_switched_off_elsewhere() {
    let files: BTreeSet<&str> = UNSAFE.iter().map(|(name, ..)| *name).collect();
    for (name, text) in sources() {
        let switched_off = text.lines().any(|line| code(line).contains("(unsafe_code"));
        assert_eq!(switched_off, files.contains(name.as_str()), "{name}");
    }
    let manifests = ["Cargo.toml", "e2e-tests/Cargo.toml", "e2e-tests/accept-all/Cargo.toml"];
    let texts = manifests.map(|name| fs::read_to_string(root().join(Path::new(name))).unwrap());
    assert!(texts[0].contains("unsafe_code = \"deny\""));
    assert!(texts.iter().all(|text| text.contains("[lints]\nworkspace = true")));
}
