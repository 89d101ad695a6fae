//! The table of contents of the book lists every page of `docs`, and no other.

use super::promises::root;
use std::collections::BTreeSet;
use std::fs;

#[test]
fn table_of_contents_lists_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the table of contents can be read");
    let listed: BTreeSet<String> =
        summary.lines().filter_map(|line| Some(line.split_once("](")?.1.strip_suffix(')')?.to_owned())).collect();
    let pages: BTreeSet<String> = fs::read_dir(root().join("docs"))
        .expect("the folder can be read")
        .map(|entry| entry.expect("the entry can be read").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    let missing: Vec<_> = pages.difference(&listed).collect();
    let absent: Vec<_> = listed.iter().filter(|page| !root().join("docs").join(page).is_file()).collect();
    assert!(missing.is_empty() && absent.is_empty(), "not in docs/SUMMARY.md: {missing:?}; no such page: {absent:?}");
}
