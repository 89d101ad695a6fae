//! Builds of schemas that are given as text in a test.

use std::fs;
use std::path::Path;

use frpc_build::{Builder, Error};
use tempfile::TempDir;

/// A temporary folder with `.proto` files and an output folder. Nothing may be written outside of the output folder.
pub(crate) struct Build {
    pub(crate) protos: TempDir,
    pub(crate) around: TempDir,
}

impl Build {
    /// Creates a build of one file, `test.proto`, that contains `source`.
    pub(crate) fn of(source: &str) -> Self {
        Self::of_files(&[("test.proto", source)])
    }

    pub(crate) fn of_files(files: &[(&str, &str)]) -> Self {
        let build = Self { protos: tempfile::tempdir().unwrap(), around: tempfile::tempdir().unwrap() };
        fs::create_dir(build.out()).unwrap();
        for (name, source) in files {
            let path = build.protos.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, source).unwrap();
        }
        build
    }

    pub(crate) fn out(&self) -> std::path::PathBuf {
        self.around.path().join("out")
    }

    pub(crate) fn run(&self, configure: impl FnOnce(Builder) -> Builder, protos: &[&str]) -> Result<(), Error> {
        let protos: Vec<_> = protos.iter().map(|name| self.protos.path().join(name)).collect();
        configure(frpc_build::configure().out_dir(self.out()).emit_rerun_if_changed(false))
            .compile_protos(&protos, &[self.protos.path()])
    }

    /// Returns the code generated for `test.proto`, whose package is `test`.
    pub(crate) fn text(&self) -> String {
        self.text_with(|builder| builder)
    }

    pub(crate) fn text_with(&self, configure: impl FnOnce(Builder) -> Builder) -> String {
        self.run(configure, &["test.proto"]).unwrap();
        self.read("test.rs")
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.out().join(name)).unwrap()
    }

    /// Returns the error for `test.proto`, without the path of the temporary folder.
    pub(crate) fn error(&self) -> String {
        let error = self.run(|builder| builder, &["test.proto"]).unwrap_err();
        assert_eq!(files_in(&self.out()), [""; 0], "no output should precede an error");
        let folder = format!("{}/", self.protos.path().display());
        error.to_string().replace(&folder, "")
    }
}

/// Returns the names of all files and folders in a folder.
pub(crate) fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

/// Returns whether `text` contains `part`, regardless of line breaks.
pub(crate) fn has(text: &str, part: &str) -> bool {
    squeezed(text).contains(&squeezed(part))
}

/// Removes white space and the commas at line breaks from `text`.
pub(crate) fn squeezed(text: &str) -> String {
    let text: String = text.split_whitespace().collect();
    text.replace(",)", ")").replace(",>", ">").replace(",}", "}")
}
