//! The instructions of a build script to cargo.

use std::env;
use std::io::{self, Write as _};
use std::path::Path;

use crate::schema::Schema;

/// Has cargo run the build script again when a file of the schema changes.
pub(crate) fn print_rerun_if_changed(schema: &Schema) {
    for path in schema.files.iter().filter_map(|file| schema.path(file)) {
        print_rerun_if_path_changed(path);
    }
}

/// Has cargo run the build script again when a file changes.
pub(crate) fn print_rerun_if_path_changed(path: &Path) {
    print_line("rerun-if-changed", &path.display().to_string());
}

/// Has cargo run the build script again when an environment variable changes.
pub(crate) fn print_rerun_if_env_changed(variable: &str) {
    print_line("rerun-if-env-changed", variable);
}

/// Whether cargo, or a tool in its place, runs this program, perhaps as a build script.
pub(crate) fn is_running() -> bool {
    ["CARGO", "OUT_DIR"].iter().any(|variable| env::var_os(variable).is_some())
}

/// Shows a warning, in the output of cargo if it is running.
pub(crate) fn print_warning(text: &str) {
    match is_running() {
        true => print_line("warning", &text.replace(['\n', '\r'], " ")),
        false => drop(writeln!(io::stderr(), "warning: {text}")),
    }
}

/// A line break in `text` would start another instruction.
fn print_line(instruction: &str, text: &str) {
    if !text.contains(['\n', '\r']) {
        println!("cargo:{instruction}={text}");
    }
}
