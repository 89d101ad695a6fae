//! Build script instructions for cargo.

use std::env;
use std::io::{self, Write as _};

use crate::schema::Schema;

/// Tells cargo to rerun the build script when any file of the schema changes.
pub(crate) fn print_rerun_if_changed(schema: &Schema) {
    for path in schema.files.iter().filter_map(|file| schema.path(file)) {
        print_line("rerun-if-changed", &path.display().to_string());
    }
}

/// Prints a warning, in the format of a cargo instruction if cargo started the process.
pub(crate) fn print_warning(text: &str) {
    // Cargo and compatible tools set these variables, for example for build scripts.
    let is_cargo = ["CARGO", "OUT_DIR"].iter().any(|variable| env::var_os(variable).is_some());
    match is_cargo {
        true => print_line("warning", &text.replace(['\n', '\r'], " ")),
        false => drop(writeln!(io::stderr(), "warning: {text}")),
    }
}

/// Prints a cargo instruction, unless `text` contains a line break, which would start another instruction.
fn print_line(instruction: &str, text: &str) {
    if !text.contains(['\n', '\r']) {
        println!("cargo:{instruction}={text}");
    }
}
