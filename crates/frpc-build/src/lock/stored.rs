//! Reads and writes locks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::record::Record;
use super::text;
use crate::error::{Error, ErrorKind, SourcePosition};
use crate::files::write_if_changed;

/// A lock that exists.
pub(crate) struct Lock {
    pub(crate) record: Record,
    pub(crate) text: String,
}

/// Reads the lock at `path`, if it exists.
pub(crate) fn read(path: &Path) -> Result<Option<Lock>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let text = format!("cannot read {}: {error}", path.display());
            return Err(Error::new(ErrorKind::Lock, text).with_source(error));
        }
    };
    match text::read(&text) {
        Ok(record) => Ok(Some(Lock { record, text })),
        Err(text::LockTextError { line, text }) => {
            let position = SourcePosition { file: path.display().to_string(), line, column: 1 };
            Err(Error::at(ErrorKind::Lock, position, text))
        }
    }
}

/// A lock that is new or has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFile {
    /// The path of the lock, in the [`lock_dir`](crate::Builder::lock_dir).
    pub path: PathBuf,
    /// The content of the lock.
    pub text: String,
}

impl LockFile {
    /// Writes the content to the path. A build that reads the lock at the same time sees either the old or the new
    /// content.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        write_if_changed(&self.path, self.text.as_bytes())
    }
}
