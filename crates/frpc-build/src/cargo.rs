//! What a build script says to cargo.

use std::path::Path;

use crate::schema::Schema;

/// Asks cargo to run the build script again when a file of the schema has changed.
pub(crate) fn print_rerun_if_changed(schema: &Schema) {
    for path in schema.read_files() {
        print_rerun_if_path_changed(path);
    }
}

/// Asks cargo to run the build script again when a file has changed.
pub(crate) fn print_rerun_if_path_changed(path: &Path) {
    print_line("rerun-if-changed", &path.display().to_string());
}

/// Asks cargo to run the build script again when a variable of the environment has changed.
pub(crate) fn print_rerun_if_env_changed(variable: &str) {
    print_line("rerun-if-env-changed", variable);
}

/// Shows a warning in the output of cargo.
pub(crate) fn print_warning(text: &str) {
    print_line("warning", text);
}

/// A line break in `text` would begin an instruction of its own.
fn print_line(instruction: &str, text: &str) {
    if !text.contains(['\n', '\r']) {
        println!("cargo:{instruction}={text}");
    }
}
