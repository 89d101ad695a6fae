//! Checks that the manifest, the documentation and the README of `frpc` list the same features.

use super::promises::root;
use std::collections::BTreeSet;
use std::fs;

/// Features that only the benchmarks of this project use.
const INTERNAL: [&str; 1] = ["tokio-uring"];

/// Returns the names in backticks in the first column of the table below a heading.
fn listed(text: &str, heading: &str) -> BTreeSet<String> {
    let (_, table) = text.split_once(heading).expect("page should contain a list of features");
    let rows =
        table.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("file should be readable")
}

#[test]
fn manifest_rustdoc_and_readme_features_match() {
    let manifest = read("crates/frpc/Cargo.toml");
    let (_, features) = manifest.split_once("[features]\n").expect("manifest should have features");
    let features = features.lines().take_while(|line| !line.starts_with('['));
    let names = features.filter_map(|line| line.split_once(" = [")).map(|(name, _)| name.to_owned());
    let declared: BTreeSet<_> = names.filter(|name| !INTERNAL.contains(&name.as_str())).collect();

    let library = read("crates/frpc/src/lib.rs");
    let docs: Vec<_> = library.lines().map(|line| line.trim_start_matches("//!").trim_start()).collect();
    assert_eq!(listed(&docs.join("\n"), "# Features"), declared);
    assert_eq!(listed(&read("README.md"), "## Features"), declared);
}
