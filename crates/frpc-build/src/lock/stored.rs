//! Reads locks.

use std::fs;
use std::io;
use std::path::Path;

use super::record::Record;
use super::text;
use crate::error::{Error, ErrorKind, SourcePosition};

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
