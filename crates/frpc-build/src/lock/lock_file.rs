//! A lock that is to be written.

use std::path::PathBuf;

use crate::error::Error;
use crate::files::write_if_changed;

/// A lock that is new or has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockFile {
    /// Where it belongs.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

impl LockFile {
    /// Writes it to its path. Another build that reads it at the same time sees the old content or the new one.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self) -> Result<(), Error> {
        write_if_changed(&self.path, self.text.as_bytes())
    }
}
