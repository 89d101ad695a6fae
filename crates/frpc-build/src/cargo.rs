//! Build script instructions for cargo.

use std::env;
use std::io::{self, Write as _};
use std::path::Path;

use crate::schema::Schema;

/// Makes cargo rerun the build script when a schema file changes.
pub(crate) fn print_rerun_if_changed(schema: &Schema) {
    for path in schema.files.iter().filter_map(|file| schema.path(file)) {
        print_rerun_if_path_changed(path);
    }
}

/// Makes cargo rerun the build script when a file changes.
pub(crate) fn print_rerun_if_path_changed(path: &Path) {
    print_line("rerun-if-changed", &path.display().to_string());
}

/// Returns whether the process runs under cargo or a compatible tool, for example as a build script.
pub(crate) fn is_running() -> bool {
    ["CARGO", "OUT_DIR"].iter().any(|variable| env::var_os(variable).is_some())
}

/// Prints a warning, as a cargo instruction if cargo is running.
pub(crate) fn print_warning(text: &str) {
    match is_running() {
        true => print_line("warning", &text.replace(['\n', '\r'], " ")),
        false => drop(writeln!(io::stderr(), "warning: {text}")),
    }
}

/// Prints an instruction on a single line, because a line break in `text` would start another instruction.
fn print_line(instruction: &str, text: &str) {
    if !text.contains(['\n', '\r']) {
        println!("cargo:{instruction}={text}");
    }
}
