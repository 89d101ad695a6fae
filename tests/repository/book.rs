//! Checks that the table of contents of the book lists all pages of `docs` and no others, and that links between all
//! pages of the repository are valid.

use super::promises::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Collects the Markdown files below a folder, except guides, which are part of the documentation of a crate, and files
/// of builds.
pub(super) fn pages_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_skipped = name.starts_with('.') || matches!(&*name, "target" | "node_modules" | "guide");
        if path.is_dir() && !is_skipped {
            pages_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

#[test]
fn table_of_contents_lists_every_page() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("file should be readable");
    let listed: BTreeSet<String> =
        summary.lines().filter_map(|line| Some(line.split_once("](")?.1.strip_suffix(')')?.to_owned())).collect();
    let pages: BTreeSet<String> = fs::read_dir(root().join("docs"))
        .expect("folder should be readable")
        .map(|entry| entry.expect("folder entry should be readable").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect();
    let missing: Vec<_> = pages.difference(&listed).collect();
    let absent: Vec<_> = listed.iter().filter(|page| !root().join("docs").join(page).is_file()).collect();
    assert!(
        missing.is_empty() && absent.is_empty(),
        "pages missing in docs/SUMMARY.md: {missing:?}; entries without a page: {absent:?}"
    );
}

/// Returns the lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Returns the anchors that GitHub and mdbook generate for the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let titles = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let is_kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    titles.map(|title| title.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn page_links_resolve_to_files_and_headings() {
    let (mut pages, mut broken) = (Vec::new(), Vec::new());
    pages_below(root(), &mut pages);
    for page in &pages {
        let text = fs::read_to_string(page).expect("file should be readable");
        let links = prose(&text).flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split_once(')')));
        for (link, _) in links.filter(|(link, _)| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let has_anchor = || anchors(&fs::read_to_string(&target).unwrap_or_default()).contains(anchor);
            if !target.exists() || !(anchor.is_empty() || has_anchor()) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links without a target: {broken:#?}");
}
