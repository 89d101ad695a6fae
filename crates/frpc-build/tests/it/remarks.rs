//! Tests of the warnings about options without effect, which a build script prints for cargo.

#[allow(dead_code)]
use std::env;
use std::process::Command;

use crate::support::Build;

/// Environment variable that marks the child process, in which the build of the test prints its instructions for cargo.
const IS_CHILD: &str = "FRPC_BUILD_TEST_REMARKS";

/// Runs a test of this file again in a child process, and returns the warnings that it prints.
fn warnings(test: &str, out_dir: &str) -> Vec<String> {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &format!("remarks::{test}"), "--nocapture"]);
    let output = command.env(IS_CHILD, "1").env("OUT_DIR", out_dir).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_once("cargo:warning=")).map(|(_, w)| w.to_owned()).collect()
}

#[test]
fn overwriting_other_build_output_triggers_warning() {
    if env::var_os(IS_CHILD).is_some() {
        let first = "syntax = \"proto3\"; package test; import \"base.proto\"; message A { base.B b = 1; }";
        let second = first.replace("message A", "message Other");
        let base = "syntax = \"proto3\"; package base; message B {}";
        let build = Build::of_files(&[("first.proto", first), ("second.proto", &second), ("base.proto", base)]);
        for name in ["first.proto", "first.proto", "second.proto"] {
            let path = build.protos.path().join(name);
            frpc_build::configure().compile_protos(&[path], &[build.protos.path()]).unwrap();
        }
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let test = "overwriting_other_build_output_triggers_warning";
    assert_eq!(
        warnings(test, out.path().to_str().unwrap()),
        ["test.rs was written twice by this build script, with other content: build the files of a package together, \
             and give each build an `include_file` or an `out_dir` of its own"]
    );
}

#[test]
fn builds_sharing_include_file_trigger_warning() {
    if env::var_os(IS_CHILD).is_some() {
        let source = |name: &str| format!("syntax = \"proto3\"; package {name}; message M {{}}");
        let (a, b) = (source("a"), source("b"));
        let build = Build::of_files(&[("a.proto", &a), ("b.proto", &b)]);
        for name in ["a.proto", "b.proto"] {
            let path = build.protos.path().join(name);
            let builder = frpc_build::configure().include_file("all.rs");
            builder.compile_protos(&[path], &[build.protos.path()]).unwrap();
        }
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let warnings = warnings("builds_sharing_include_file_trigger_warning", out.path().to_str().unwrap());
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("all.rs was written twice by this build script"),
        "{warnings:?}"
    );
}

#[test]
fn unmatched_options_trigger_cargo_warning() {
    if env::var_os(IS_CHILD).is_some() {
        let build = Build::of("syntax = \"proto3\"; package test; message A { bytes data = 1; }");
        build.text_with(|builder| builder.bytes([".test.A.data", ".test.A.date", "A"]));
        return;
    }
    let warnings = warnings("unmatched_options_trigger_cargo_warning", "");
    assert_eq!(
        warnings,
        [
            r#"`bytes` has no effect for ".test.A.date": the schema has no bytes field at or below this path"#,
            r#"`bytes` has no effect for "A": the schema has no bytes field whose path ends in this, only items of another kind"#,
        ]
    );
}
