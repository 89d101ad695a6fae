//! Checks the layers inside `frpc` and `frisbee`. A top-level module may import only from modules below it in the table
//! of its crate.
//!
//! Files of the same module may refer to each other. Unit tests are ignored, because they use whole servers and
//! clients.

use super::cancel_safety::sources;
use super::promises::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Modules of `frpc`, from the highest layer to the lowest.
const FRPC: [&str; 19] = [
    "codegen",
    "guide",
    "signal",
    "blocking",
    "server",
    "client",
    "endpoint",
    "service",
    "streaming",
    "calls",
    "wire",
    "context",
    "observe",
    "details",
    "api",
    "schema",
    "clock",
    "settings",
    "debug",
];

/// Modules of `frisbee`, from the highest layer to the lowest.
const FRISBEE: [&str; 26] = [
    "rpc",
    "testing",
    "guide",
    "client",
    "server",
    "acceptor",
    "inspect",
    "runtime",
    "router",
    "adapter",
    "connection",
    "mailbox",
    "transport",
    "timer",
    "executor",
    "error",
    "tls",
    "account",
    "sync",
    "clock",
    "pool",
    "shares",
    "log_limit",
    "settings",
    "malloc_trim",
    "debug",
];

/// A token of a source, with its line number. A token is a word, `::` or another character.
type Token<'a> = (usize, &'a str);

/// Returns the tokens of a source without comments and unit tests.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let (mut found, mut is_test, mut in_tests) = (Vec::new(), false, false);
    for (number, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        in_tests = (in_tests || (is_test && code.starts_with("mod ") && code.ends_with('{'))) && code != "}";
        is_test = code == "#[cfg(test)]";
        let mut rest = if in_tests { "" } else { code.trim_start() };
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
            let (token, following) = rest.split_at(length);
            found.push((number + 1, token));
            rest = following.trim_start();
        }
    }
    found
}

/// Appends the paths of an import tree, each prefixed with `path`. Returns the tokens after the tree.
fn add_paths<'a, 't>(
    mut tokens: &'t [Token<'a>],
    mut path: Vec<&'a str>,
    paths: &mut Vec<(usize, Vec<&'a str>)>,
) -> &'t [Token<'a>] {
    while let [(line, part), rest @ ..] = tokens {
        tokens = rest;
        if *part == "{" {
            while !matches!(tokens, [] | [(_, "}"), ..]) {
                tokens = add_paths(tokens, path.clone(), paths);
                // The alias after `as` does not belong to the path.
                let end = tokens.iter().position(|(_, token)| matches!(*token, "," | "}")).unwrap_or(tokens.len());
                tokens = &tokens[end..];
                if let [(_, ","), rest @ ..] = tokens {
                    tokens = rest;
                }
            }
            return tokens.get(1..).unwrap_or_default();
        }
        path.push(part);
        match tokens {
            [(_, "::"), rest @ ..] if !matches!(rest, [(_, "<"), ..]) => tokens = rest,
            _ => {
                paths.push((*line, path));
                return tokens;
            }
        }
    }
    tokens
}

/// Returns the paths in a source that start with one of these words, with their line numbers.
fn paths<'a>(source: &'a str, first: &[&str]) -> Vec<(usize, Vec<&'a str>)> {
    let tokens = tokens(source);
    let (mut rest, mut paths) = (tokens.as_slice(), Vec::new());
    while let [(_, word), following @ ..] = rest {
        let is_path = first.contains(word) && matches!(following, [(_, "::"), ..]);
        rest = if is_path { add_paths(rest, Vec::new(), &mut paths) } else { following };
    }
    paths
}

/// Returns the top-level modules from which the root of a crate re-exports names.
fn root_names(library: &str) -> BTreeMap<&str, &str> {
    let modules: BTreeSet<_> = library.lines().filter_map(module).collect();
    let names = paths(library, &modules.iter().copied().collect::<Vec<_>>());
    names.into_iter().map(|(_, path)| (path[path.len() - 1], path[0])).collect()
}

/// Returns the module that a line declares.
fn module(line: &str) -> Option<&str> {
    let (_, name) = line.strip_suffix(';')?.split_once("mod ")?;
    (!line.starts_with([' ', '/'])).then_some(name)
}

/// Returns the imports of a crate that refer to a higher layer.
fn imports_up(name: &str, layers: &[&str]) -> Vec<String> {
    let folder = root().join("crates").join(name).join("src");
    let library = fs::read_to_string(folder.join("lib.rs")).expect("crate should have a root");
    let declared: BTreeSet<_> = library.lines().filter_map(module).filter(|name| *name != "tests").collect();
    assert_eq!(declared, layers.iter().copied().collect(), "table of {name} should list its modules");
    let (names, mut files, mut found) = (root_names(&library), Vec::new(), Vec::new());
    sources(&folder, &mut files);
    for file in files {
        let path = file.strip_prefix(&folder).expect("file should be in its folder").with_extension("");
        let own: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        if own[0] == "lib" || own.iter().any(|part| *part == "tests" || part.ends_with("_tests")) {
            continue;
        }
        let source = fs::read_to_string(&file).expect("source should be readable");
        for (line, path) in paths(&source, &["crate", "super"]) {
            let mut at = own.clone();
            for part in path {
                match part {
                    "crate" => at.clear(),
                    "super" => drop(at.pop()),
                    _ => at.push(part),
                }
            }
            // If the root exports a name of another crate, the name has no layer.
            let Some(target) = at.first().map(|first| names.get(first).unwrap_or(first)) else { continue };
            let layer = |module: &str| layers.iter().position(|layer| *layer == module);
            if layer(target).is_some_and(|target| layer(own[0]).is_none_or(|own| target < own)) {
                found.push(format!("crates/{name}/src/{}.rs:{line}: {} imports {target}", own.join("/"), own[0]));
            }
        }
    }
    found
}

#[test]
fn frpc_modules_import_only_lower_layers() {
    let found = imports_up("frpc", &FRPC);
    assert!(found.is_empty(), "imports from a higher layer, see the table of this test:\n{}", found.join("\n"));
}

#[test]
fn frisbee_modules_import_only_lower_layers() {
    let found = imports_up("frisbee", &FRISBEE);
    assert!(found.is_empty(), "imports from a higher layer, see the table of this test:\n{}", found.join("\n"));
}

#[test]
fn import_trees_are_read_to_their_leaves() {
    let source = "use crate::a::{self, b::{C, D as E}, f::*};\nfn g() { super::super::h::i::<u8>(); } // crate::j\n\
        #[cfg(test)]\nmod tests {\n    use crate::k;\n}\nuse crate::l;";
    let found: Vec<_> =
        paths(source, &["crate", "super"]).into_iter().map(|(line, path)| (line, path.join("::"))).collect();
    let expected = [
        (1, "crate::a::self"),
        (1, "crate::a::b::C"),
        (1, "crate::a::b::D"),
        (1, "crate::a::f::*"),
        (2, "super::super::h::i"),
        (7, "crate::l"),
    ];
    assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
}
