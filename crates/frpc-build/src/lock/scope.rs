//! Which lock belongs to which files of a schema, and what cargo has to watch because of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorProto;

use super::options::{LockOptions, VARIABLE};
use super::stored::{Lock, read};
use crate::cargo::{print_rerun_if_env_changed, print_rerun_if_path_changed};
use crate::error::{Error, ErrorKind};
use crate::schema::Schema;

/// The files that share a lock: those of one package in one folder. A file that has no lock is alone.
pub(crate) struct Scope<'a> {
    /// Where the lock is, or will be.
    pub(crate) path: Option<PathBuf>,
    pub(crate) lock: Option<Lock>,
    pub(crate) files: Vec<Member<'a>>,
}

/// A file of a [`Scope`].
pub(crate) struct Member<'a> {
    /// What the lock calls it.
    pub(crate) name: String,
    pub(crate) proto: &'a FileDescriptorProto,
}

/// Sorts the files of a schema by their locks, and reads these. Files without a lock come last.
///
/// A lock is for files that were named for the build or have services; of other files it records what those use.
pub(crate) fn scopes<'a>(schema: &'a Schema, options: &LockOptions) -> Result<Vec<Scope<'a>>, Error> {
    let mut locked: BTreeMap<PathBuf, Vec<Member<'_>>> = BTreeMap::new();
    let mut others = Vec::new();
    let has_record = |file: &&FileDescriptorProto| {
        !schema.is_import(file) || (!file.service.is_empty() && schema.is_generated(file))
    };
    for proto in schema.files.iter().filter(has_record) {
        let (path, name) = place(proto, schema, options);
        let Some(path) = path else {
            others.push(Scope { path: None, lock: None, files: vec![Member { name, proto }] });
            continue;
        };
        if name.split(' ').any(str::is_empty) || name.contains(|letter: char| letter.is_whitespace() && letter != ' ') {
            let text = format!("the name of the file {name:?} cannot be written into a lock: rename the file");
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
        locked.entry(path).or_default().push(Member { name, proto });
    }
    let locked = locked.into_iter().map(|(path, files)| {
        let lock = read(&path)?;
        Ok(Scope { path: Some(path), lock, files })
    });
    locked.chain(others.into_iter().map(Ok)).collect()
}

/// The lock of a file, if it has one, and the name of the file in it.
fn place(file: &FileDescriptorProto, schema: &Schema, options: &LockOptions) -> (Option<PathBuf>, String) {
    // `schema/check.rs` has made sure that the package consists of identifiers and dots.
    let lock = format!("{}.frpc.lock", if file.package().is_empty() { "_" } else { file.package() });
    match (&options.folder, schema.path(file)) {
        _ if !options.is_on => (None, file.name().to_owned()),
        (Some(folder), _) => (Some(folder.join(lock)), file.name().to_owned()),
        (None, Some(on_disk)) => {
            let name = on_disk.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            (Some(on_disk.with_file_name(lock)), name)
        }
        (None, None) => (None, file.name().to_owned()),
    }
}

/// Tells cargo to build again when a lock changes, comes or goes, or more may be recorded.
pub(crate) fn print_rerun_if_locks_changed(scopes: &[Scope<'_>]) {
    print_rerun_if_env_changed(VARIABLE);
    scopes.iter().filter_map(|scope| scope.path.as_deref()).for_each(print_rerun_if_lock_changed);
}

/// For a path that does not exist cargo would run the build script every time. So its folder shows that a lock has
/// come, if there is one, and it is not the package's own, in which cargo itself writes.
fn print_rerun_if_lock_changed(path: &Path) {
    if path.exists() {
        return print_rerun_if_path_changed(path);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() && !folder.join("Cargo.toml").exists() {
        print_rerun_if_path_changed(folder);
    }
}
