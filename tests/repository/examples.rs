//! Checks the examples in the documentation of items. The items that programs use most must have one, and all examples
//! must be compiled.

use super::cancel_safety::sources;
use super::promises::root;
use std::fs;

/// The public items that examples, pages, tests and benchmarks of this repository use most, in descending order. Each
/// has the folder of its crate and its name. Items with the same name in two crates are counted together.
const MOST_NAMED: [(&str, &str); 45] = [
    ("frpc", "Server"),
    ("frisbee", "Server"),
    ("frpc", "Request"),
    ("frpc", "Channel"),
    ("frpc", "Response"),
    ("frpc", "Status"),
    ("frisbee", "Client"),
    ("frisbee", "Connection"),
    ("frpc", "ResponseStream"),
    ("frisbee", "Handlers"),
    ("frisbee-core", "Operation"),
    ("frisbee-core", "Packet"),
    ("frpc", "Error"),
    ("frisbee", "Error"),
    ("frpc", "Streaming"),
    ("polyglot", "Message"),
    ("frpc", "iter"),
    ("frisbee-core", "PacketId"),
    ("frisbee", "Workers"),
    ("frisbee", "Router"),
    ("frisbee-core", "Outbox"),
    ("polyglot", "Decoder"),
    ("frisbee", "memory"),
    ("frisbee-core", "HeaderForm"),
    ("frisbee", "Policy"),
    ("frisbee-pubsub", "Broker"),
    ("frpc", "ServerBuilder"),
    ("frisbee", "ServerBuilder"),
    ("polyglot", "Encoder"),
    ("polyglot", "Root"),
    ("frpc", "Acceptor"),
    ("frisbee", "Acceptor"),
    ("frpc", "RequestStream"),
    ("frpc-build", "Builder"),
    ("frisbee", "Stream"),
    ("polyglot", "Form"),
    ("frpc", "CallResponse"),
    ("frisbee", "HandOffTarget"),
    ("frpc", "ChannelBuilder"),
    ("frpc-build", "configure"),
    ("frpc-build", "compile_protos"),
    ("frpc", "Metadata"),
    ("frpc-build", "Codec"),
    ("frpc", "include_proto"),
    ("frpc", "Middleware"),
];

/// Declarations of items that appear in a library's documentation.
const DECLARATIONS: [&str; 5] = ["pub struct ", "pub enum ", "pub trait ", "pub fn ", "macro_rules! "];

/// Returns all sources of a library.
fn library(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    sources(&root().join("crates").join(folder).join("src"), &mut files);
    let read = |path: std::path::PathBuf| {
        (path.display().to_string(), fs::read_to_string(&path).expect("file should be readable"))
    };
    files.into_iter().map(read).collect()
}

/// Returns whether the documentation of a top-level item contains code. Returns `None` if the source does not declare
/// the item.
fn has_example(source: &str, item: &str) -> Option<bool> {
    let mut has_code = false;
    for line in source.lines() {
        let name = DECLARATIONS.iter().find_map(|kind| line.strip_prefix(kind));
        let name = name.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default());
        if name == Some(item) {
            return Some(has_code);
        }
        let is_in_front = line.starts_with("///") || line.starts_with("#[") || line.starts_with([' ', ')']);
        has_code = is_in_front && (has_code || line.starts_with("/// ```"));
    }
    None
}

/// Returns the lines of a source that exclude a code block in documentation from the tests.
fn ignored(source: &str) -> Vec<&str> {
    let is_opening = |line: &&str| {
        let comment = line.trim_start();
        let text = comment.strip_prefix("///").or_else(|| comment.strip_prefix("//!"));
        text.is_some_and(|text| text.trim_start().starts_with("```") && text.contains("ignore"))
    };
    source.lines().filter(is_opening).collect()
}

#[test]
fn doc_comment_code_blocks_are_compiled() {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("folder should be readable") {
        let folder = entry.expect("folder entry should be readable").file_name();
        for (path, source) in library(&folder.to_string_lossy()) {
            found.extend(ignored(&source).into_iter().map(|line| format!("{path}: {}", line.trim())));
        }
    }
    assert!(found.is_empty(), "examples that should run or be marked `no_run`:\n{}", found.join("\n"));
    assert_eq!(ignored("//! ```\n//! ```\n    /// ```rust,ignore\n// ```ignore"), ["    /// ```rust,ignore"]);
}

#[test]
fn most_used_items_have_example() {
    let mut missing = Vec::new();
    for (folder, item) in MOST_NAMED {
        let found: Vec<_> = library(folder).iter().filter_map(|(_, source)| has_example(source, item)).collect();
        assert!(!found.is_empty(), "{folder} should contain the item {item}");
        if !found.contains(&true) {
            missing.push(format!("{folder}: {item}"));
        }
    }
    assert!(missing.is_empty(), "items without an example: {missing:?}");
    assert_eq!(
        has_example("/// Good.\n/// ```\n/// ```\n#[derive(Debug)]\npub struct A;\npub struct B;", "B"),
        Some(false)
    );
}
