//! Checks that all dependency lines in pages name the version of the workspace.

use super::book::pages_below;
use super::promises::root;
use std::fs;

/// Returns the version requirement in a line `NAME = REQUIREMENT` for a package of this repository.
fn requirement(text: &str) -> Option<&str> {
    let (name, requirement) = text.trim().split_once(" = ")?;
    let is_ours = name.starts_with("frpc") || name.starts_with("frisbee");
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    (is_ours && is_name && requirement.starts_with(['{', '"'])).then_some(requirement)
}

#[test]
fn install_lines_name_workspace_version() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("manifest should be readable");
    let (_, version) = manifest.split_once("\nversion = \"").expect("workspace should have a version");
    let (minor, _) = version
        .split_once('"')
        .and_then(|(version, _)| version.rsplit_once('.'))
        .expect("version should have three numbers");
    let (mut pages, mut count, mut wrong) = (Vec::new(), 0, Vec::new());
    pages_below(root(), &mut pages);
    for path in &pages {
        let page = fs::read_to_string(path).expect("page should be readable");
        for requirement in page.lines().flat_map(|line| line.split('`')).filter_map(requirement) {
            count += 1;
            let is_plain = requirement.starts_with(&format!("\"{minor}\""));
            let is_table = requirement.contains(&format!("version = \"{minor}\""))
                && !requirement.contains("git =")
                && !requirement.contains("path =");
            if !is_plain && !is_table {
                wrong.push(format!("{}: {requirement}", path.display()));
            }
        }
    }
    assert!(count >= 12, "only {count} lines were found");
    assert!(wrong.is_empty(), "lines that should name the version {minor}:\n{}", wrong.join("\n"));
}
