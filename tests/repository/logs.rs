//! Checks that the page of log lines lists all lines that the libraries log as information, warning or error, and no
//! others.

use super::promises::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Levels of log lines that operators see.
const LEVELS: [&str; 3] = ["error", "warn", "info"];

/// Crates with output that is addressed to their callers and does not go to a log.
const PROGRAMS: [&str; 3] = ["frpc-build", "frpc-cli", "frpc-languages"];

/// Calls `look` with each source in a folder and its subfolders.
fn each_source(folder: &Path, look: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        if path.is_dir() {
            each_source(&path, look);
        } else if path.extension().is_some_and(|is| is == "rs") {
            look(&path, &fs::read_to_string(&path).expect("file should be readable"));
        }
    }
}

/// Like [`each_source`], for the sources of all libraries.
fn each_source_of_libraries(mut look: impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(root().join("crates")).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        if path.file_name().is_some_and(|name| !PROGRAMS.iter().any(|program| *program == name)) {
            each_source(&path.join("src"), &mut look);
        }
    }
}

/// Returns the level and the text of each log line in the sources.
fn written() -> BTreeSet<(String, String)> {
    let mut lines = BTreeSet::new();
    each_source_of_libraries(|_, text| {
        for level in LEVELS {
            for call in text.split(&format!("tracing::{level}!(")).skip(1) {
                lines.insert((level.to_owned(), message(call)));
            }
        }
    });
    lines
}

/// Returns the target of a call of a logging macro. It is a string, or a constant in the same file. `call` starts after
/// the opening parenthesis.
fn target<'a>(call: &'a str, text: &'a str) -> Option<&'a str> {
    let given = call.trim_start().strip_prefix("target:")?.split(',').next()?.trim();
    let string = match given.strip_prefix('"') {
        Some(string) => string,
        None => text.split_once(&format!("const {given}: &str = \""))?.1,
    };
    string.split('"').next()
}

/// Returns the last string in a call of a macro. `call` starts after the opening parenthesis.
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
    // The string may continue in the next line.
    found.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the level and the text of each row of the page's tables.
fn shown() -> BTreeSet<(String, String)> {
    let page = ["docs/logs.md", "docs/logs-fleet.md", "docs/logs-restart.md"]
        .map(|page| fs::read_to_string(root().join(page)).expect("file should be readable"))
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
fn logs_page_matches_library_log_lines() {
    let lines = written();
    assert!(lines.len() > 20, "only {} log lines were found", lines.len());
    let shown = shown();
    let missing: Vec<_> = lines.difference(&shown).collect();
    let others: Vec<_> = shown.difference(&lines).collect();
    assert!(
        missing.is_empty() && others.is_empty(),
        "log lines missing in docs/logs.md: {missing:#?}\ndocumented lines that are not written: {others:#?}"
    );
}

/// Operators filter the log by target, so targets must not depend on the module that logs a line.
#[test]
fn log_targets_match_logs_page() {
    let (mut used, mut without) = (BTreeSet::new(), Vec::new());
    each_source_of_libraries(|path, text| {
        for level in LEVELS.into_iter().chain(["debug", "trace"]) {
            for call in text.split(&format!("tracing::{level}!(")).skip(1) {
                match target(call, text) {
                    Some(target) => _ = used.insert(target.to_owned()),
                    None if LEVELS.contains(&level) => without.push((path.to_owned(), message(call))),
                    None => {}
                }
            }
        }
    });
    let page = fs::read_to_string(root().join("docs/logs.md")).expect("file should be readable");
    let table = page.split_once("| target | lines about |").expect("page should contain a table of targets").1;
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|')).skip(1);
    let shown: BTreeSet<_> = rows.filter_map(|row| Some(row.split('`').nth(1)?.to_owned())).collect();
    assert!(without.is_empty(), "log lines without a target: {without:#?}");
    assert_eq!(used, shown, "docs/logs.md should list the targets");
}
