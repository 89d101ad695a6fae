//! The command that runs a single test, with its package, target and features.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns the `cargo test` command that runs the given test of this program, or all tests if `test` is `None`.
pub(crate) fn of_test(test: Option<&str>) -> String {
    let program = env::current_exe().unwrap_or_default();
    let package = env::var("CARGO_PKG_NAME").ok();
    let mut parts = vec!["cargo test".to_owned()];
    parts.extend(profile_of(&program));
    parts.extend(package.iter().map(|package| format!("-p {package}")));
    let listed = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    parts.extend(first_source(&listed).and_then(|source| target_of(&source, &program, package.as_deref())));
    if let Some(test) = test {
        parts.push(format!("{test} -- --exact"));
        // Ignored tests must be selected explicitly.
        let includes_ignored = env::args().any(|argument| argument == "--ignored" || argument == "--include-ignored");
        parts.extend(includes_ignored.then(|| "--include-ignored".to_owned()));
    }
    parts.join(" ")
}

/// Returns the build folder of a program, such as `target/debug`, if the path has cargo's layout.
pub(crate) fn build_folder(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    folder.ends_with("deps").then(|| folder.parent()).flatten()
}

fn profile_of(program: &Path) -> Option<String> {
    match build_folder(program)?.file_name()?.to_str()? {
        "debug" => None,
        "release" => Some("--release".to_owned()),
        other => Some(format!("--profile {other}")),
    }
}

/// Returns the root source file of the crate, which the compiler lists first in a program's dependency file.
fn first_source(listed: &str) -> Option<PathBuf> {
    let (_, sources) = listed.lines().next()?.split_once(": ")?;
    // The compiler escapes spaces in names with a backslash.
    let sources = sources.replace("\\ ", "\0");
    let first = sources.split(' ').next().filter(|first| !first.is_empty())?;
    Some(first.replace('\0', " ").into())
}

/// Returns the cargo target with this root source file. Returns `None` if cargo's layout rules do not determine it.
fn target_of(source: &Path, program: &Path, package: Option<&str>) -> Option<String> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let file = source.file_stem()?.to_str()?;
    let folders: Vec<_> = source.ancestors().skip(1).take(2).filter_map(name).collect();
    let (named, within) = match (file, &folders[..]) {
        ("lib", _) => return Some("--lib".to_owned()),
        ("main", [folder, ..]) if folder == "src" => return package.map(|package| format!("--bin {package}")),
        ("main", [named, within @ ..]) => (named.as_str(), within.first()),
        (file, within) => (file, within.first()),
    };
    match within.map(String::as_str) {
        Some("bin") => Some(format!("--bin {named}")),
        Some("src") => None,
        _ => {
            // The program has the name of its crate, with underscores and a hash suffix.
            let (built, _) = program.file_stem()?.to_str()?.rsplit_once('-')?;
            let named = if named.replace('-', "_") == built { named } else { built };
            Some(format!("--test {named}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_target_follows_crate_root() {
        for (source, program, target) in [
            ("tests/leases.rs", "leases", Some("--test leases")),
            ("tests/two-words.rs", "two_words", Some("--test two-words")),
            ("crates/store/tests/leases/main.rs", "leases", Some("--test leases")),
            ("examples/replicated/main.rs", "replicated", Some("--test replicated")),
            ("tests/all.rs", "declared", Some("--test declared")),
            ("src/lib.rs", "store", Some("--lib")),
            ("src/main.rs", "my_store", Some("--bin my-store")),
            ("src/bin/tool.rs", "tool", Some("--bin tool")),
            ("src/bin/a-tool/main.rs", "a_tool", Some("--bin a-tool")),
            ("src/declared.rs", "declared", None),
        ] {
            let program = PathBuf::from(format!("target/debug/deps/{program}-0123456789abcdef"));
            assert_eq!(target_of(source.as_ref(), &program, Some("my-store")).as_deref(), target, "{source}");
        }
    }

    #[test]
    fn first_source_path_may_contain_spaces() {
        let listed = "target/debug/deps/a-1.d: my\\ tests/a.rs tests/b.rs\n\ntests/b.rs:\n";
        assert_eq!(first_source(listed), Some("my tests/a.rs".into()));
        assert_eq!(first_source(""), None);
    }

    #[test]
    fn rebuild_uses_same_cargo_profile() {
        for (program, profile) in [
            ("target/debug/deps/a-1", None),
            ("target/i686-unknown-linux-gnu/release/deps/a-1", Some("--release")),
            ("target/quick/deps/a-1", Some("--profile quick")),
            ("/tmp/a", None),
        ] {
            assert_eq!(profile_of(program.as_ref()).as_deref(), profile, "{program}");
        }
    }
}
