//! Which lock belongs to which files of a schema, and what cargo has to look at because of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorProto;

use super::options::LockOptions;
use crate::cargo::print_rerun_if_path_changed;
use crate::error::{Error, ErrorKind};
use crate::schema::Schema;

/// The files of a schema by the lock that they belong to, each with its name in there. Files without a lock come last,
/// one by one.
///
/// A lock is for the files of one package in one folder that were named for the build or have services; other files are
/// recorded as far as those use them.
#[expect(clippy::type_complexity, reason = "a name for it would hide more than it tells")]
pub(crate) fn grouped<'a>(
    schema: &'a Schema,
    options: &LockOptions,
) -> Result<Vec<(Option<PathBuf>, Vec<(String, &'a FileDescriptorProto)>)>, Error> {
    let mut locked: BTreeMap<PathBuf, Vec<(String, &FileDescriptorProto)>> = BTreeMap::new();
    let mut others = Vec::new();
    for file in schema
        .files
        .iter()
        .filter(|file| !schema.is_import(file) || (!file.service.is_empty() && schema.is_generated(file)))
    {
        let on_disk = schema.path(file);
        // `schema/check.rs` has made sure that the package consists of identifiers and dots.
        let lock = format!("{}.frpc.lock", if file.package().is_empty() { "_" } else { file.package() });
        let (path, name) = match (&options.folder, on_disk) {
            _ if !options.is_on => (None, file.name().to_owned()),
            (Some(folder), _) => (Some(folder.join(lock)), file.name().to_owned()),
            (None, Some(on_disk)) => {
                let name = on_disk.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                (Some(on_disk.with_file_name(lock)), name)
            }
            (None, None) => (None, file.name().to_owned()),
        };
        let Some(path) = path else {
            others.push((None, vec![(name, file)]));
            continue;
        };
        if name.split(' ').any(str::is_empty) || name.contains(|letter: char| letter.is_whitespace() && letter != ' ') {
            let text = format!("the name of the file {name:?} cannot be written into a lock: rename the file");
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        locked.entry(path).or_default().push((name, file));
    }
    Ok(locked.into_iter().map(|(path, files)| (Some(path), files)).chain(others).collect())
}

/// For a path that does not exist cargo would run the build script every time. So its folder shows that a lock has
/// come, if there is one, and it is not the package's own, in which cargo itself writes.
pub(crate) fn print_rerun_if_lock_changed(path: &Path) {
    if path.exists() {
        return print_rerun_if_path_changed(path);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() && !folder.join("Cargo.toml").exists() {
        print_rerun_if_path_changed(folder);
    }
}
