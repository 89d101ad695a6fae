//! Tests of `frpc new`: the files of each kind of project, and its errors. `.ci/new` builds and tests the projects.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn new(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frpc"));
    command.current_dir(folder).arg("new").args(arguments).output().expect("command should start")
}

fn refusal(folder: &Path, arguments: &[&str]) -> String {
    let output = new(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("standard error should be UTF-8")
}

/// Returns the path of the repository's root.
fn checkout() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").display().to_string()
}

#[test]
fn rust_project_depends_on_checkout() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let output = new(folder.path(), &["shop", "--from", &checkout()]);
    assert!(output.status.success(), "{output:?}");
    let manifest = fs::read_to_string(folder.path().join("shop/Cargo.toml")).expect("manifest should exist");
    assert!(manifest.contains("name = \"shop\"") && !manifest.contains('@'), "{manifest}");
    let manifest: toml::Table = manifest.parse().expect("manifest should be valid TOML");
    let path = manifest["build-dependencies"]["frpc-build"]["path"].as_str().expect("dependency should have a path");
    assert!(Path::new(path).join("Cargo.toml").exists(), "{path}");
    assert!(folder.path().join("shop/tests/calls.rs").exists());
}

#[test]
fn url_becomes_git_dependency() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let url = "https://example.com/frisbee.git";
    assert!(new(folder.path(), &["one", "--from", url]).status.success());
    let manifest = fs::read_to_string(folder.path().join("one/Cargo.toml")).expect("manifest should exist");
    assert!(manifest.contains(&format!("git = \"{url}\"")), "{manifest}");
    assert!(new(folder.path(), &["two", "--python", "--from", url]).status.success());
    let requirements =
        fs::read_to_string(folder.path().join("two/requirements.txt")).expect("`requirements.txt` should exist");
    assert!(requirements.contains(&format!("git+{url}#subdirectory=clients/python")), "{requirements}");
    assert!(refusal(folder.path(), &["three", "--typescript", "--from", url]).contains("clone it"));
}

/// Regression test: the short form of an SSH URL was written into the project, where cargo and pip reject it.
#[test]
fn short_ssh_address_becomes_url() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).expect("file should exist");
    let short = "git@example.com:team/frisbee.git";
    let url = "ssh://git@example.com/team/frisbee.git";
    assert!(new(folder.path(), &["one", "--from", short]).status.success());
    assert!(read("one/Cargo.toml").contains(&format!("git = \"{url}\"")));
    assert!(new(folder.path(), &["two", "--python", "--from", short]).status.success());
    assert!(read("two/requirements.txt").contains(&format!("git+{url}#")));
}

#[test]
fn existing_folder_and_bad_names_are_refused() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    fs::create_dir(folder.path().join("shop")).expect("folder should be created");
    assert!(refusal(folder.path(), &["shop", "--from", &checkout()]).contains("shop exists"));
    for name in ["Shop", "1st", "a b", "a\"b", "..", "client", "build", "frpc-rs"] {
        let refusal = refusal(folder.path(), &[name, "--from", &checkout()]);
        assert!(refusal.contains(&format!("invalid project name `{name}`")), "{name}: {refusal}");
    }
    assert!(new(folder.path(), &["client", "--python", "--from", &checkout()]).status.success());
    let here = folder.path().display().to_string();
    assert!(refusal(folder.path(), &["x", "--from", &here]).contains("not a checkout of frisbee"));
    assert!(refusal(folder.path(), &["x", "--python", "--from", &here]).contains("nor a checkout of frisbee"));
    assert!(!folder.path().join("x").exists());
}

/// Regression test: pip ended the URL at a space, and `#` started a fragment.
#[test]
fn path_of_python_library_is_percent_encoded() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let wheel = folder.path().join("a b#1%.whl");
    fs::write(&wheel, "").expect("file should be written");
    assert!(new(folder.path(), &["shop", "--python", "--from", &wheel.display().to_string()]).status.success());
    let requirements = folder.path().join("shop/requirements.txt");
    let requirements = fs::read_to_string(requirements).expect("`requirements.txt` should exist");
    assert!(requirements.lines().any(|line| line.ends_with("/a%20b%231%25.whl")), "{requirements}");
}
