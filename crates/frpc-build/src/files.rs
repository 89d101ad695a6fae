//! Writes files atomically, and only if their content changed.

use std::fs;
use std::io;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, ErrorKind};

/// Writes a file if its content differs. An unchanged file is not touched, so that cargo does not recompile it.
///
/// The file is replaced atomically, so a concurrent build never reads a partial file and a killed build never leaves
/// one. Permissions are preserved, and a read-only file is not replaced.
pub(crate) fn write_if_changed(path: &Path, content: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|before| before == content) {
        return Ok(());
    }
    let written = match fs::metadata(path) {
        Ok(found) if !found.is_file() => fs::write(path, content), // Devices and pipes cannot be replaced.
        _ => replace(path, content),
    };
    written.map_err(|error| {
        Error::new(ErrorKind::Output, format!("cannot write {}: {error}", path.display())).with_source(error)
    })
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()); // Symbolic links are preserved.
    let permissions = match fs::OpenOptions::new().write(true).open(&path) {
        Ok(file) => Some(file.metadata()?.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // The temporary name does not contain the file's name, which may already have the maximum length.
    let name = format!(".frpc-build.{}.{}", process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    let temporary = path.with_file_name(name);
    let replaced = fs::write(&temporary, content)
        .and_then(|()| permissions.map_or(Ok(()), |permissions| fs::set_permissions(&temporary, permissions)))
        .and_then(|()| fs::rename(&temporary, &path));
    if replaced.is_err() {
        let _ = fs::remove_file(temporary);
    }
    replaced
}
