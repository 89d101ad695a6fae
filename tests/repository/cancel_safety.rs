//! Checks that each public async function documents the effect of dropping its future.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the sources in a folder and its subfolders.
pub(super) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("folder should be readable") {
        let path = entry.expect("folder entry should be readable").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|is| is == "rs") {
            found.push(path);
        }
    }
}

/// Returns the public async functions of a file whose documentation has no section on cancel safety.
fn silent(source: &str) -> Vec<String> {
    let (mut is_documented, mut silent) = (false, Vec::new());
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("pub async fn") && !is_documented {
            silent.push(line.to_owned());
        }
        is_documented =
            (is_documented || line == "/// # Cancel safety") && (line.starts_with("///") || line.starts_with("#["));
    }
    silent
}

#[test]
fn public_async_functions_document_cancel_safety() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut files = Vec::new();
    for name in ["frisbee", "frpc"] {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 50, "only {} files were found", files.len());
    let mut missing = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("file should be readable");
        missing.extend(silent(&source).into_iter().map(|function| format!("{}: {function}", file.display())));
    }
    assert!(missing.is_empty(), "functions without a section `# Cancel safety`:\n{}", missing.join("\n"));
    assert_eq!(
        silent("/// # Cancel safety\n/// Safe.\npub async fn good() {}\npub async fn bad() {}"),
        ["pub async fn bad() {}"]
    );
}
