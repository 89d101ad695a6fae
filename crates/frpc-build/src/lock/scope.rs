//! Assigns the files of a schema to locks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorProto;

use super::options::{LockOptions, VARIABLE};
use super::stored::{Lock, read};
use crate::cargo::{print_rerun_if_env_changed, print_rerun_if_path_changed};
use crate::error::{Error, ErrorKind};
use crate::schema::Schema;

/// The files that share a lock: those of one package in one folder. A file without a lock has a scope of its own.
pub(crate) struct Scope<'a> {
    /// The path of the lock, whether or not it exists.
    pub(crate) path: Option<PathBuf>,
    pub(crate) lock: Option<Lock>,
    pub(crate) files: Vec<Member<'a>>,
}

/// A file of a [`Scope`].
pub(crate) struct Member<'a> {
    /// The name of the file in the lock.
    pub(crate) name: String,
    pub(crate) proto: &'a FileDescriptorProto,
}

/// Groups the files of a schema by lock and reads the locks. Files without a lock come last.
///
/// A lock covers files that the build names or that have services. Of other files, it records the types that these use.
pub(crate) fn scopes<'a>(schema: &'a Schema, options: &LockOptions) -> Result<Vec<Scope<'a>>, Error> {
    let mut locked: BTreeMap<PathBuf, Vec<Member<'_>>> = BTreeMap::new();
    let mut others = Vec::new();
    let has_record = |file: &&FileDescriptorProto| {
        !schema.is_import(file) || (!file.service.is_empty() && schema.is_generated(file))
    };
    for proto in schema.files.iter().filter(has_record) {
        let (path, name) = location(proto, schema, options);
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

/// Returns the path of a file's lock, if it has one, and the name of the file in the lock.
fn location(file: &FileDescriptorProto, schema: &Schema, options: &LockOptions) -> (Option<PathBuf>, String) {
    // `schema/check.rs` has checked that the package consists of identifiers and dots.
    let lock = format!("{}.frpc.lock", if file.package().is_empty() { "_" } else { file.package() });
    match (&options.folder, schema.path(file)) {
        _ if options.is_off => (None, file.name().to_owned()),
        (Some(folder), _) => (Some(folder.join(lock)), file.name().to_owned()),
        (None, Some(on_disk)) => {
            let name = on_disk.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            (Some(on_disk.with_file_name(lock)), name)
        }
        (None, None) => (None, file.name().to_owned()),
    }
}

/// Makes cargo rerun the build script when a lock or the environment variable changes.
pub(crate) fn print_rerun_if_locks_changed(scopes: &[Scope<'_>]) {
    print_rerun_if_env_changed(VARIABLE);
    scopes.iter().filter_map(|scope| scope.path.as_deref()).for_each(print_rerun_if_lock_changed);
}

/// Watches a lock, or the future folder of a lock that does not exist, because cargo would rerun the build script each
/// time for a missing path. The folder of the package itself cannot be watched, because cargo writes to it.
fn print_rerun_if_lock_changed(path: &Path) {
    if path.exists() {
        return print_rerun_if_path_changed(path);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() && !folder.join("Cargo.toml").exists() {
        print_rerun_if_path_changed(folder);
    }
}
