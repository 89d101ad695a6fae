//! Prose in comments, pages and texts uses the constructions of the field.
//!
//! Counts constructions that other Rust network projects hardly use, for each crate, and compares them with the ceilings in
//! `words.txt`. A ceiling may only fall: `UPDATE_GOLDEN=1 cargo test … prose` lowers those that are too high.

use super::promises::root;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A construction: the alternatives for each of its words in a row.
type Construction = &'static [&'static [&'static str]];

const RELATIVE_SUBJECTS: &[&str] = &["what", "whatever", "whoever", "whom", "who"];
const AFTER_RELATIVE: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "had", "come", "comes", "came", "wait", "waits", "go", "goes", "stand",
    "stands", "it", "they", "a", "the", "an", "each", "can", "may", "does", "do", "did", "follow", "follows", "need",
    "needs", "other", "others",
];
const CONSTRUCTIONS: &[Construction] = &[
    &[RELATIVE_SUBJECTS, AFTER_RELATIVE],
    &[&["told", "tell", "tells", "telling"]],
    &[&["behind"]],
    &[&["ask", "asks", "asked", "asking"]],
    &[&["stand", "stands", "stood"]],
    &[&["nobody", "nobody's", "somebody", "everybody", "whoever"]],
    &[&["beside", "besides"]],
    &[&["anew", "meanwhile", "thereby", "therein", "thereof", "hence", "whereby"]],
    &[&["of", "to", "by", "in", "for", "from", "with", "behind", "on"], &["which", "whom", "whose"]],
    &[&["let", "lets"], &["go"]],
    &[&["go", "goes", "gone"], &["on"]],
    &[&["give", "gives", "given", "gave"], &["up"]],
    &[&["come", "comes", "came"], &["in", "out", "from", "with", "to", "back", "of", "late", "together"]],
    &[&["of"], &["ours"]],
];

/// Files of other origin, of machines, or with these constructions on purpose.
const SKIPPED: &[&str] = &[
    ".git",
    "CHANGELOG.md",
    "build",
    "corpus",
    "dist",
    "expected",
    "generated",
    "golden",
    "node_modules",
    "performance",
    "target",
    "words.rs",
];

/// The ceiling of new folders: 3 in 1000 words.
const GOAL: usize = 30;

/// Ceilings are multiples of 0.5 in 1000 words, so that deleted prose does not exceed them.
const STEP: usize = 5;

#[derive(Default)]
struct Count {
    words: usize,
    hits: usize,
}

impl Count {
    fn add(&mut self, text: &str) {
        let words: Vec<String> = text
            .split(|c: char| !c.is_ascii_alphabetic() && c != '\'')
            .filter(|word| word.len() > 1 || *word == "a")
            .map(str::to_ascii_lowercase)
            .collect();
        self.words += words.len();
        for at in 0..words.len() {
            self.hits += CONSTRUCTIONS.iter().filter(|construction| begins_with(&words[at..], construction)).count();
        }
    }

    /// Constructions in ten thousand words.
    fn rate(&self) -> usize {
        self.hits * 10_000 / self.words.max(1)
    }
}

fn begins_with(words: &[String], construction: Construction) -> bool {
    words.len() >= construction.len()
        && words.iter().zip(construction).all(|(word, alternatives)| alternatives.contains(&word.as_str()))
}

/// Adds the prose of a file: pages without code, and comments and texts of several words in code.
fn add_file(path: &Path, count: &mut Count) {
    let Some(kind @ ("md" | "rs" | "ts" | "py")) = path.extension().and_then(|kind| kind.to_str()) else { return };
    let Ok(text) = fs::read_to_string(path) else { return };
    let mut is_fenced = false;
    for line in text.lines().map(str::trim_start) {
        let comment = match kind {
            "md" => Some(line),
            "py" => line.split_once('#').map(|(_, comment)| comment).or(line.contains("\"\"\"").then_some(line)),
            "ts" if line.starts_with('*') => Some(line),
            _ => line.strip_prefix("//").map(|comment| comment.trim_start_matches(['/', '!', ' '])),
        };
        match comment {
            Some(comment) if comment.starts_with("```") => is_fenced = !is_fenced,
            Some(comment) if !is_fenced => count.add(comment),
            Some(_) => {}
            None => {
                is_fenced = false;
                line.split('"').skip(1).step_by(2).filter(|text| text.contains(' ')).for_each(|text| count.add(text));
            }
        }
    }
}

fn add_folder(folder: &Path, count: &mut Count) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| *skipped == name)) {
            continue;
        }
        if path.is_dir() { add_folder(&path, count) } else { add_file(&path, count) }
    }
}

/// The count of each crate, client and other folder, and of the pages at the root.
fn counts() -> BTreeMap<String, Count> {
    let mut counts = BTreeMap::<String, Count>::new();
    for folder in ["benches", "docs", "examples", "tests"] {
        add_folder(&root().join(folder), counts.entry(folder.to_owned()).or_default());
    }
    for group in ["crates", "clients"] {
        for entry in fs::read_dir(root().join(group)).expect("the folder can be read") {
            let path = entry.expect("the entry can be read").path();
            let name = format!("{group}/{}", path.file_name().expect("an entry has a name").to_string_lossy());
            add_folder(&path, counts.entry(name).or_default());
        }
    }
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        add_file(&root().join(page), counts.entry(page.to_owned()).or_default());
    }
    counts
}

#[test]
fn prose_stays_below_its_ceilings() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("repository/words.txt");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let ceilings: BTreeMap<&str, usize> = text
        .lines()
        .filter_map(|line| line.rsplit_once(' '))
        .filter_map(|(name, rate)| Some((name.trim(), rate.parse().ok()?)))
        .collect();
    let counts = counts();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let mut lowered = String::new();
        for (name, count) in &counts {
            let ceiling = ceilings
                .get(name.as_str())
                .copied()
                .unwrap_or(usize::MAX)
                .min((count.rate() + 1).next_multiple_of(STEP));
            let _ = writeln!(lowered, "{name} {ceiling}");
        }
        fs::write(&file, lowered).expect("the ceilings can be written");
        return;
    }
    let ceiling = |name: &str| ceilings.get(name).copied().unwrap_or(GOAL);
    let above: Vec<_> = counts
        .iter()
        .filter(|(name, count)| count.rate() > ceiling(name))
        .map(|(name, count)| format!("{name}: {} in 10000 words, at most {} allowed", count.rate(), ceiling(name)))
        .collect();
    assert!(above.is_empty(), "rewrite with the words of the field, see CONTRIBUTING.md: {above:#?}");
}
