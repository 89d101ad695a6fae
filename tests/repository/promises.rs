//! Checks that the tests named on the pages of promises and of changes of a schema exist, and that each promise names
//! one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests should be in a folder of the repository")
}

/// Returns the pages of promises and the page of threats.
fn pages() -> [String; 3] {
    ["promises", "promises-limits", "threats"]
        .map(|page| fs::read_to_string(root().join(format!("docs/{page}.md"))).expect("file should be readable"))
}

/// Collects the names of test functions. In Rust, they are recognized by the attribute or the macro before them.
pub(super) fn tests_in(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        if path.is_dir() {
            tests_in(&path, into);
        } else if path.extension().is_some_and(|is| is == "py") {
            let text = fs::read_to_string(&path).expect("file should be readable");
            let functions = text.lines().filter_map(|line| line.strip_prefix("def ")?.split_once('('));
            into.extend(functions.map(|(name, _)| name.to_owned()).filter(|name| name.starts_with("test_")));
        } else if path.extension().is_some_and(|is| is == "rs") {
            let text = fs::read_to_string(&path).expect("file should be readable");
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            for (at, line) in lines.iter().enumerate() {
                let function = line.trim_start_matches("async ").strip_prefix("fn ");
                if let Some(function) = function
                    && let Some((name, _)) = function.split_once('(')
                    && lines[at.saturating_sub(3)..at]
                        .iter()
                        .any(|line| line.starts_with("#[") && line.contains("test"))
                {
                    into.insert(name.to_owned());
                }
                // This line belongs to a list of tests that a macro generates.
                if let Some((name, _)) = line.split_once(" \"")
                    && line.ends_with('"')
                    && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                {
                    into.insert(name.to_owned());
                }
            }
        }
    }
}

/// Returns words in backticks that look like the name of a test.
fn named(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_name = |word: &&str| {
        word.matches('_').count() >= 2 && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    quoted.filter(is_name).collect()
}

#[test]
fn tests_named_by_promises_exist() {
    let mut tests = BTreeSet::new();
    for folder in ["crates", "tests", "examples", "clients/c/tests", "clients/python/tests"] {
        tests_in(&root().join(folder), &mut tests);
    }
    let evolution = fs::read_to_string(root().join("docs/evolution.md")).expect("file should be readable");
    let page = pages().concat() + &evolution;
    let names = named(&page);
    assert!(names.len() > 80, "only {} tests are named", names.len());
    let missing: Vec<_> = names.into_iter().filter(|name| !tests.contains(*name)).collect();
    assert!(missing.is_empty(), "named tests that do not exist: {missing:#?}");
}

#[test]
fn promises_name_tests() {
    let [promises, limits, threats] = pages();
    for promise in promises.split("\n* ").skip(1).chain(limits.split("\n* ").skip(1)) {
        assert!(!named(promise).is_empty(), "promise should be verified by a test: {promise}");
    }
    let rows: Vec<_> = threats.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #")).collect();
    assert_eq!(rows.len(), 54);
    for (row, number) in rows.iter().zip(1..) {
        assert!(row.starts_with(&format!("| {number} |")), "{row}");
        assert!(!named(row).is_empty(), "row should be verified by a test: {row}");
    }
}
