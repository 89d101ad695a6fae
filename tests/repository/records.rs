//! Checks that the paths and names in records, comments and pages exist.

use super::cancel_safety::sources;
use super::promises::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Files that an example asks its reader to write, or that a build script generates.
const OF_READERS: [&str; 5] = ["examples/client.rs", "geometry.rs", "page-n.body.rs", "page-n.rs", "protos.rs"];

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("record should be readable")
}

/// Returns the Rust sources of the repository with their paths relative to its root.
fn all_sources() -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for folder in ["benches", "clients", "crates", "examples", "fuzz", "tests"] {
        sources(&root().join(folder), &mut files);
    }
    let path =
        |file: &PathBuf| file.strip_prefix(root()).expect("source should be below the root").display().to_string();
    files.into_iter().map(|file| (path(&file), file)).collect()
}

/// Returns whether a source contains a word.
fn has_word(source: &str, word: &str) -> bool {
    source.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

/// Returns the folders and files that mutation tests cover. Checks that each of them exists.
fn examined() -> Vec<String> {
    let settings = read(".cargo/mutants.toml");
    let (_, list) = settings.split_once("examine_globs = [").expect("settings should have globs");
    let list = list.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(|glob| glob.trim_end_matches("**").to_owned()).collect()
}

#[test]
fn planted_and_missed_mutants_name_existing_code() {
    let examined = examined();
    let mut wrong: Vec<_> = examined.iter().filter(|path| !root().join(path).exists()).cloned().collect();
    assert!(examined.len() > 20, "only {} places were found", examined.len());
    let missed = read(".ci/mutants-missed.txt");
    for entry in missed.lines().filter(|line| line.starts_with("crates/")) {
        let (path, defect) = entry.split_once(": ").expect("entry should have a path and a defect");
        let source = fs::read_to_string(root().join(path)).unwrap_or_default();
        // A mutant names the function, with its type or trait, at the end. If the whole function is replaced, it is
        // named first instead.
        let function = defect.rsplit_once(" in ").map(|(_, function)| function);
        let function =
            function.or_else(|| defect.strip_prefix("replace ")?.split_once(" with ").map(|(whole, _)| whole));
        let names = function.unwrap_or_default().split(" -> ").next().unwrap_or_default();
        let names: Vec<_> =
            names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()).collect();
        let is_planted = examined.iter().any(|place| path.starts_with(place.as_str()));
        let has_function = names.last().is_none_or(|name| source.contains(&format!("fn {name}")));
        if !is_planted || !has_function || !names.iter().all(|name| has_word(&source, name)) {
            wrong.push(entry.to_owned());
        }
    }
    assert!(wrong.is_empty(), "places that do not exist or are not examined:\n{}", wrong.join("\n"));
}

/// Returns the names of Rust sources in backticks, with brace lists expanded.
fn named_files(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2).filter(|name| name.len() > 3 && name.ends_with(".rs"));
    let is_path = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || "_-./{,}".contains(c));
    let mut files = BTreeSet::new();
    for name in quoted.filter(is_path) {
        match name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            Some((before, (choices, after))) => {
                files.extend(choices.split(',').map(|choice| format!("{before}{choice}{after}")));
            }
            None => drop(files.insert(name.to_owned())),
        }
    }
    files
}

#[test]
fn source_files_in_comments_and_pages_exist() {
    let sources = all_sources();
    // Paths in comments omit the folder `src`.
    let known: Vec<_> =
        sources.iter().flat_map(|(path, _)| [format!("/{path}"), format!("/{}", path.replace("/src/", "/"))]).collect();
    let mut texts: Vec<_> = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"]
        .map(|page| (page.to_owned(), read(page)))
        .into();
    for entry in fs::read_dir(root().join("docs")).expect("there should be pages") {
        let path = entry.expect("page should be listed").path();
        if path.extension().is_some_and(|is| is == "md") {
            texts.push((path.display().to_string(), fs::read_to_string(&path).expect("page should be readable")));
        }
    }
    for (path, file) in &sources {
        let source = fs::read_to_string(file).expect("source should be readable");
        let comments = source.lines().filter_map(|line| line.split_once("//")).map(|(_, comment)| comment);
        texts.push((path.clone(), comments.collect::<Vec<_>>().join("\n")));
    }
    let mut wrong = Vec::new();
    for (place, text) in texts {
        for name in named_files(&text) {
            let ending = format!("/{name}");
            if !OF_READERS.contains(&name.as_str()) && !known.iter().any(|path| path.ends_with(&ending)) {
                wrong.push(format!("{place}: {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "files that do not exist:\n{}", wrong.join("\n"));
}

#[test]
fn drawings_above_enums_name_existing_states() {
    let mut wrong = Vec::new();
    let mut drawings = 0;
    for (path, file) in all_sources() {
        let source = fs::read_to_string(file).expect("source should be readable");
        for (at, _) in source.match_indices("/// ```text\n") {
            let (drawing, rest) = source[at..].split_at(source[at..].find("/// ```\n").unwrap_or_default());
            let item = rest.lines().find(|line| !line.starts_with(['/', '#'])).unwrap_or_default();
            if !item.split(' ').any(|word| word == "enum") {
                continue;
            }
            drawings += 1;
            let code: String =
                source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            // Names in capitals are those of frames in other protocols.
            let is_name = |word: &&str| word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
            let words = drawing.split(|c: char| !c.is_alphanumeric()).filter(is_name);
            wrong.extend(words.filter(|word| !has_word(&code, word)).map(|word| format!("{path}: {word}")));
        }
    }
    assert!(drawings >= 2, "only {drawings} drawings were found");
    assert!(wrong.is_empty(), "states that do not exist:\n{}", wrong.join("\n"));
}

/// Options of `cargo test` and of its programs that have a value, except `--skip`.
const WITH_VALUE: [&str; 9] =
    ["-p", "--test", "--features", "--target", "--manifest-path", "--bin", "--message-format", "--test-threads", "-Z"];

/// Returns the filters of the `cargo test` commands in a text: names of tests that are run or skipped.
fn test_filters(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let commands = lines.flat_map(|line| line.split("cargo ").skip(1)).filter_map(|command| {
        let (before, arguments) = command.split_once("test ")?;
        (before.is_empty() || before.starts_with('+')).then_some(arguments)
    });
    let mut filters = Vec::new();
    for command in commands {
        let command = command.split(['`', '#', '|', '&', '>', ',']).next().unwrap_or_default();
        let mut words = command.split_whitespace();
        while let Some(word) = words.next() {
            if WITH_VALUE.contains(&word) {
                words.next();
            } else if word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                filters.push(word.to_owned());
            }
        }
    }
    filters
}

/// Checks that each filter matches some test of the workspace, not necessarily of the package that the command names.
/// Regression test: `.ci/full` ran no test of the replicated store, because its filter was the former name of a test,
/// and a filter that matches nothing is not an error.
#[test]
fn filters_of_test_commands_match_tests() {
    let mut names = BTreeSet::new();
    for (path, file) in all_sources() {
        let source = fs::read_to_string(file).expect("source should be readable");
        let words = source.split(|c: char| !c.is_alphanumeric() && c != '_').collect::<Vec<_>>();
        let defined = words.windows(2).filter(|pair| ["fn", "mod"].contains(&pair[0]));
        names.extend(defined.map(|pair| pair[1].to_owned()));
        names.extend(path.split('/').map(str::to_owned));
    }
    let mut wrong = Vec::new();
    let mut count = 0;
    let examples = ["examples/exchange", "examples/protocols", "examples/replicated"];
    for folder in [".", ".ci", ".ci/jobs", "clients/c", "docs", "docs/performance"].into_iter().chain(examples) {
        for entry in fs::read_dir(root().join(folder)).expect("folder should be readable") {
            let path = entry.expect("file should be listed").path();
            let is_text = path.extension().is_none_or(|extension| extension == "md");
            let Some(text) = fs::read_to_string(&path).ok().filter(|_| is_text) else { continue };
            for filter in test_filters(&text) {
                count += 1;
                let is_known = |part: &str| names.iter().any(|name| name.contains(part));
                if !filter.split("::").all(is_known) {
                    wrong.push(format!("{}: {filter}", path.display()));
                }
            }
        }
    }
    assert!(count > 50, "only {count} filters were found");
    assert!(wrong.is_empty(), "filters that match no test:\n{}", wrong.join("\n"));
}

/// Returns the value of an option in the words of a command.
fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1])
}

/// Regression test: the page of an example named a program that the package does not have.
#[test]
fn programs_of_run_commands_exist() {
    let metadata = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(metadata).current_dir(root()).output().expect("cargo should start");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata should be JSON");
    let mut programs = BTreeSet::new();
    for package in metadata["packages"].as_array().expect("packages should be listed") {
        for target in package["targets"].as_array().expect("targets should be listed") {
            if target["kind"][0] == "bin" {
                programs.insert((package["name"].as_str(), None));
                programs.insert((package["name"].as_str(), target["name"].as_str()));
            }
        }
    }
    let mut folders: Vec<_> = [".", ".ci", "docs", "docs/performance"].map(|folder| root().join(folder)).into();
    for parent in ["clients", "crates", "examples"] {
        let children = fs::read_dir(root().join(parent)).expect("folder should be readable");
        folders
            .extend(children.map(|child| child.expect("file should be listed").path()).filter(|child| child.is_dir()));
    }
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in folders.iter().flat_map(|folder| fs::read_dir(folder).expect("folder should be readable")) {
        let path = path.expect("file should be listed").path();
        let is_text = path.extension().is_none_or(|extension| extension == "md");
        let Some(text) = fs::read_to_string(&path).ok().filter(|_| is_text) else { continue };
        for command in text.replace("\\\n", " ").split("cargo run ").skip(1) {
            let command = command.split(['`', '\n']).next().unwrap_or_default();
            let words: Vec<_> = command.split_whitespace().take_while(|word| *word != "--").collect();
            let (Some(package), None) = (option(&words, "-p"), option(&words, "--manifest-path")) else { continue };
            count += 1;
            if !programs.contains(&(Some(package), option(&words, "--bin"))) {
                wrong.push(format!("{}: cargo run {command}", path.display()));
            }
        }
    }
    assert!(count > 50, "only {count} commands were found");
    assert!(wrong.is_empty(), "programs that do not exist:\n{}", wrong.join("\n"));
}
