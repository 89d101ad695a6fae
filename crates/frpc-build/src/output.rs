//! Generated files, the output folder and loaded schemas.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, ErrorKind};
use crate::files::write_if_changed;
use crate::plan::Layout;

/// The folder into which a build writes the generated files.
pub(crate) struct Folder {
    path: PathBuf,
    /// Whether the folder is cargo's `OUT_DIR`. If so, generated code can include files of the folder by
    /// `env!("OUT_DIR")`.
    pub(crate) is_cargos: bool,
}

impl Folder {
    /// Creates a folder from the path `chosen`, or from cargo's `OUT_DIR` if it is `None`.
    pub(crate) fn new(chosen: Option<PathBuf>) -> Result<Self, Error> {
        if let Some(path) = chosen {
            return Ok(Self { path, is_cargos: false });
        }
        let Some(path) = env::var_os("OUT_DIR") else {
            let text = "OUT_DIR is not set: this is not a build script, so name a folder with `out_dir`";
            return Err(Error::new(ErrorKind::Option, text));
        };
        Ok(Self { path: path.into(), is_cargos: true })
    }

    /// Writes the generated files to the folder. The name of a package consists of identifiers and dots (see
    /// `schema/check.rs`), so its path cannot leave the folder.
    ///
    /// Warns if the same build script has already written a file of this name with other content to `OUT_DIR`.
    pub(crate) fn write(&self, files: &[OutputFile], warn: &mut dyn FnMut(String)) -> Result<(), Error> {
        static WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        for OutputFile { name, text } in files.iter().filter(|_| self.is_cargos) {
            let path = self.path.join(name);
            let is_other = fs::read(&path).is_ok_and(|before| before != text.as_bytes());
            let is_first = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
            if !is_first && is_other {
                warn(format!(
                    "{name} was written twice by this build script, with other content: build the files of a package \
                     together, and give each build an `include_file` or an `out_dir` of its own"
                ));
            }
        }
        files.iter().try_for_each(|file| write_if_changed(&self.path.join(&file.name), file.text.as_bytes()))
    }
}

/// Result of generating code with [`Builder::generate`](crate::Builder::generate).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// Generated files, which the program must write.
    pub files: Vec<OutputFile>,
    /// Warnings that cargo would show for a build script. Excludes warnings about option paths without a match, because
    /// a program may use the same options for several schemas.
    pub warnings: Vec<String>,
}

/// Result of reading a schema with [`Builder::load_protos`](crate::Builder::load_protos).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedProtos {
    /// The schema as an encoded `FileDescriptorSet` with comments.
    pub descriptors: Vec<u8>,
    /// Wire layouts of the schema's services.
    pub layouts: Vec<Layout>,
}

/// A generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputFile {
    /// Path relative to the output folder: the package name with the extension `.rs`, or the name of the
    /// [`include_file`](crate::Builder::include_file).
    pub name: String,
    /// Source text to write to the file.
    pub text: String,
}

impl OutputFile {
    /// Creates an output file with a path relative to the output folder.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}
