//! A lock to write.

use std::path::PathBuf;

use crate::error::Error;
use crate::files::write_if_changed;

/// A lock that is new or has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFile {
    /// The path of the lock, in the [`lock_dir`](crate::Builder::lock_dir).
    pub path: PathBuf,
    /// Its content.
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
