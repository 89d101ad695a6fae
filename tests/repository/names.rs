//! Checks that the names of all tests in the repository are short and name their subject.

use super::promises::{root, tests_in};
use std::collections::BTreeSet;

/// Maximum length of a test's name in characters. A longer name usually describes more than one behavior.
const LONGEST: usize = 60;

/// Words that do not name the part of the program that a test covers.
const VAGUE: [&str; 6] = ["what", "whatever", "who", "whoever", "whom", "thing"];

fn test_names() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for folder in ["benches", "crates", "examples", "tests"] {
        tests_in(&root().join(folder), &mut tests);
    }
    tests
}

#[test]
fn test_names_are_short_and_specific() {
    let tests = test_names();
    assert!(tests.len() > 900, "only {} tests were found", tests.len());
    let is_bad = |name: &&String| name.len() > LONGEST || name.split('_').any(|word| VAGUE.contains(&word));
    let bad: Vec<_> = tests.iter().filter(is_bad).collect();
    assert!(bad.is_empty(), "test names longer than {LONGEST} characters, or with one of {VAGUE:?}: {bad:#?}");
}
