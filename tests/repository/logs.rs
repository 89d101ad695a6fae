//! The page of log lines has every line that the libraries write as information, warning or error, and no other.

use super::promises::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates whose output is for their callers, and not a log.
const PROGRAMS: [&str; 2] = ["frpc-build", "frpc-cli"];

/// The level and the text of each line in the sources below a folder.
fn written(folder: &Path, into: &mut BTreeSet<(String, String)>) {
    for entry in fs::read_dir(folder).expect("it is a folder") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            written(&path, into);
        } else if path.extension().is_some_and(|is| is == "rs") {
            let text = fs::read_to_string(&path).expect("it is text");
            for level in ["error", "warn", "info"] {
                for call in text.split(&format!("tracing::{level}!(")).skip(1) {
                    into.insert((level.to_owned(), message(call)));
                }
            }
        }
    }
}

/// The last string of a macro call. `call` begins after the opening parenthesis.
fn message(call: &str) -> String {
    let (mut depth, mut is_quoted, mut is_escaped) = (1, false, false);
    let (mut found, mut text) = (String::new(), String::new());
    for letter in call.chars() {
        match letter {
            _ if is_escaped => {
                is_escaped = false;
                text.push(letter);
            }
            '\\' if is_quoted => is_escaped = true,
            '"' => {
                if is_quoted {
                    found = std::mem::take(&mut text);
                }
                is_quoted = !is_quoted;
            }
            _ if is_quoted => text.push(letter),
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    // A string that continues in the next line.
    found.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The level and the text of each row of the page's tables.
fn shown() -> BTreeSet<(String, String)> {
    let page = ["docs/logs.md", "docs/logs-fleet.md", "docs/logs-restart.md"]
        .map(|page| fs::read_to_string(root().join(page)).expect("the page is there"))
        .concat();
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let level = cells.next()?;
        let text = cells.next()?.strip_prefix("``")?.strip_suffix("``")?.trim();
        Some((level.to_owned(), text.to_owned()))
    });
    rows.collect()
}

#[test]
fn the_page_of_logs_has_each_line_of_the_libraries_and_no_other() {
    let mut lines = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).expect("it is a folder") {
        let path = entry.expect("it can be listed").path();
        if path.file_name().is_some_and(|name| !PROGRAMS.iter().any(|program| *program == name)) {
            written(&path.join("src"), &mut lines);
        }
    }
    assert!(lines.len() > 20, "only {} lines were found", lines.len());
    let shown = shown();
    let missing: Vec<_> = lines.difference(&shown).collect();
    let others: Vec<_> = shown.difference(&lines).collect();
    assert!(missing.is_empty() && others.is_empty(), "missing in docs/logs.md: {missing:#?}\nnot written: {others:#?}");
}
