//! What cargo is told about options that do nothing.

#[allow(dead_code)]
mod support;

use std::env;
use std::process::Command;

use support::Build;

/// Set in the process in which the test's build prints what cargo would read.
const IS_CHILD: &str = "FRPC_BUILD_TEST_REMARKS";

#[test]
fn cargo_warns_of_options_whose_path_names_nothing_that_they_are_for() {
    if env::var_os(IS_CHILD).is_some() {
        let build = Build::of("syntax = \"proto3\"; package test; message A { bytes data = 1; }");
        build.text_with(|builder| builder.bytes([".test.A.data", ".test.A.date", "A"]).schema_lock(false));
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "cargo_warns_of_options_whose_path_names_nothing_that_they_are_for", "--nocapture"]);
    let output = command.env(IS_CHILD, "1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let warnings: Vec<_> = text.lines().filter_map(|line| line.split_once("cargo:warning=")).map(|(_, w)| w).collect();
    assert_eq!(
        warnings,
        [
            r#"`bytes` does nothing for ".test.A.date": the schema has no bytes field at or below this path"#,
            r#"`bytes` does nothing for "A": the schema has no bytes field whose path ends in this, only things of another kind"#,
        ]
    );
}
