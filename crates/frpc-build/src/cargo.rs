//! Build script instructions for cargo.

use std::env;
use std::io::{self, Write as _};
use std::path::Path;

use crate::schema::Schema;

/// Tells cargo to rerun the build script when any file of the schema changes.
pub(crate) fn print_rerun_if_changed(schema: &Schema) {
    for path in schema.files.iter().filter_map(|file| schema.path(file)) {
        print_rerun_if_path_changed(path);
    }
}

/// Tells cargo to rerun the build script when this file changes.
pub(crate) fn print_rerun_if_path_changed(path: &Path) {
    print_line("rerun-if-changed", &path.display().to_string());
}

/// Returns whether the process was started by cargo or a compatible tool, for example as a build script.
pub(crate) fn is_running() -> bool {
    ["CARGO", "OUT_DIR"].iter().any(|variable| env::var_os(variable).is_some())
}

/// Prints a warning, in the format of a cargo instruction if cargo started the process.
pub(crate) fn print_warning(text: &str) {
    match is_running() {
        true => print_line("warning", &text.replace(['\n', '\r'], " ")),
        false => drop(writeln!(io::stderr(), "warning: {text}")),
    }
}

/// Prints a cargo instruction on a single line, because a line break in `text` would start another instruction.
fn print_line(instruction: &str, text: &str) {
    if !text.contains(['\n', '\r']) {
        println!("cargo:{instruction}={text}");
    }
}
