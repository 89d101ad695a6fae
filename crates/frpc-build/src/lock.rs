//! The schema lock: what the wire depends on, recorded in a file beside the schema, so that no change of the schema
//! breaks older peers by accident.
//!
//! Owns which lock belongs to which files, when it is read and when written, and what the user is told. What is
//! recorded stands in `lock/record.rs`, as text in `lock/text.rs`; what a change means is judged in `lock/judge.rs`;
//! operations are given out in `lock/numbering.rs`. docs/schema-lock.md is the document for users.

mod align;
mod fingerprint;
mod judge;
mod layout;
mod numbering;
mod record;
mod text;

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prost_types::FileDescriptorProto;

pub use fingerprint::{Fingerprint, NotAFingerprint};
use judge::{Change, Judgement, carry_history, judge};
pub use layout::Layout;
pub(crate) use numbering::Bases;
pub use numbering::Numbering;
use numbering::{Numbered, check_overlaps, number};
use record::{File, Origin, Record, Source, of_schema};

use crate::cargo::{print_rerun_if_env_changed, print_rerun_if_path_changed};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind, Place};
use crate::schema::{Index, Schema};

/// The variable that allows a build to write locks.
const VARIABLE: &str = "FRPC_UPDATE_LOCK";

/// How many differences an error shows.
const SHOWN_MAX: usize = 20;

/// What of a change of the schema is recorded in its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LockUpdate {
    /// Nothing: a change that is not recorded is an error.
    Never,
    /// Changes that leave older peers working. Also writes a lock where there is none yet.
    Safe,
    /// All changes.
    Breaking,
}

/// What the user has said about locks and numbers.
#[derive(Debug)]
pub(crate) struct LockOptions {
    pub(crate) is_on: bool,
    /// Where all locks are, instead of beside the schema.
    pub(crate) folder: Option<PathBuf>,
    /// Instead of what the environment says.
    pub(crate) update: Option<LockUpdate>,
    pub(crate) numbering: Numbering,
    pub(crate) bases: Bases,
    /// Whether to tell cargo what the build depends on.
    pub(crate) asks_cargo: bool,
    pub(crate) codec: Codec,
}

impl Default for LockOptions {
    fn default() -> Self {
        Self {
            is_on: true,
            folder: None,
            update: None,
            numbering: Numbering::Go,
            bases: Bases::default(),
            asks_cargo: false,
            codec: Codec::default(),
        }
    }
}

/// What follows for a build.
#[derive(Default)]
pub(crate) struct Plan {
    /// For each file, for each service, the operations of its methods, all in the order of declaration.
    operations: HashMap<String, Vec<Vec<u16>>>,
    /// Locks to be written once the build has succeeded.
    pub(crate) updates: Vec<(PathBuf, String)>,
    pub(crate) layouts: Vec<Layout>,
}

impl Plan {
    /// The operations of a file, for each service.
    pub(crate) fn operations<'a>(&'a self, file: &FileDescriptorProto) -> impl Iterator<Item = &'a [u16]> {
        self.operations.get(file.name()).into_iter().flatten().map(Vec::as_slice)
    }

    /// The layout of a service.
    pub(crate) fn layout(&self, service: &str) -> Result<&Layout, Error> {
        self.layouts.iter().find(|layout| layout.service() == service).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, format!("the layout of the service `{service}` was not recorded"))
        })
    }
}

/// Numbers the methods of a checked schema and compares it with its locks.
///
/// # Errors
///
/// If a lock cannot be read, or the schema differs from it and that may not be recorded.
pub(crate) fn plan(
    schema: &Schema,
    index: &Index<'_>,
    options: &LockOptions,
    warn: &mut dyn FnMut(String),
) -> Result<Plan, Error> {
    options.bases.check(schema)?;
    let update = match options.update {
        Some(update) => update,
        None => update_from_environment()?,
    };
    if options.asks_cargo && options.is_on {
        print_rerun_if_env_changed(VARIABLE);
    }
    let mut plan = Plan::default();
    let mut missing = Vec::new();
    let mut all = Vec::new();
    for (path, files) in grouped(schema, options)? {
        let lock = match &path {
            Some(path) => {
                if options.asks_cargo {
                    print_rerun_if_lock_changed(path);
                }
                read(path)?
            }
            None => None,
        };
        let mut sources = Vec::new();
        for (name, file) in files {
            let recorded = lock.as_ref().map(|lock| &lock.record);
            let numbered = number(file, &name, recorded, options.numbering, &options.bases)?;
            sources.push(Source { name, proto: file, operations: numbered.operations.clone() });
            all.push(numbered);
        }
        let mut record = of_schema(&sources, index);
        record.set_codec(options.codec);
        let Some(path) = path else {
            if let Some(source) = sources.iter().find(|source| !source.proto.service.is_empty())
                && options.numbering == Numbering::Lock
            {
                let text = format!(
                    "`Numbering::Lock` needs a lock, and {:?} has none: the lock is switched off, or the schema was not \
                     read from files and there is no `lock_dir`",
                    source.name
                );
                return Err(Error::new(ErrorKind::Option, text));
            }
            plan.layouts.extend(layout::layouts(&record));
            continue;
        };
        if let Some(lock) = &lock {
            keep_what_is_not_built(&lock.record, &mut record, &path, options);
            let found = judge(&lock.record, &record, options.numbering);
            keep_history(&lock.record, &mut record, &found, options.numbering);
            refuse(schema, &path, lock, &record, &found, update)?;
        } else if update == LockUpdate::Never {
            missing.push(path.display().to_string());
        }
        let text = text::write(&record);
        if update > LockUpdate::Never && lock.is_none_or(|lock| lock.text != text) {
            plan.updates.push((path, text));
        }
        plan.layouts.extend(layout::layouts(&record));
    }
    check_overlaps(schema, &all)?;
    if !missing.is_empty() {
        let text = format!(
            "there is no {} yet, so a change of the schema that breaks peers goes unnoticed; `{VARIABLE}=1 cargo build` \
             writes it, to be committed with the schema",
            missing.join(" and no ")
        );
        warn(text);
    }
    plan.operations =
        all.into_iter().map(|Numbered { file, operations, .. }| (file.name().to_owned(), operations)).collect();
    Ok(plan)
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

fn update_from_environment() -> Result<LockUpdate, Error> {
    match env::var_os(VARIABLE) {
        None => Ok(LockUpdate::Never),
        Some(value) => match value.to_str() {
            Some("" | "0") => Ok(LockUpdate::Never),
            Some("1") => Ok(LockUpdate::Safe),
            Some("breaking") => Ok(LockUpdate::Breaking),
            _ => {
                let text = format!("{VARIABLE} is {value:?}; it can be `1` or `breaking`");
                Err(Error::new(ErrorKind::Option, text))
            }
        },
    }
}

/// The files of a schema by the lock that they belong to, each with its name in there. Files without a lock come last,
/// one by one.
///
/// A lock is for the files of one package in one folder that were named for the build or have services; other files are
/// recorded as far as those use them.
#[expect(clippy::type_complexity, reason = "a name for it would hide more than it tells")]
fn grouped<'a>(
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

/// A lock that was there.
struct Lock {
    record: Record,
    text: String,
}

fn read(path: &Path) -> Result<Option<Lock>, Error> {
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
        Err(text::Unreadable { line, text }) => {
            let place = Place { file: path.display().to_string(), line, column: 1 };
            Err(Error::at(ErrorKind::Lock, place, text))
        }
    }
}

/// Files of a package can be built apart from each other. What is recorded of those that still exist stays.
fn keep_what_is_not_built(old: &Record, new: &mut Record, path: &Path, options: &LockOptions) {
    let is_built = |file: &File| new.files.iter().any(|built| built.name == file.name);
    let exists = |file: &File| options.folder.is_none() && path.with_file_name(&file.name).exists();
    let kept: Vec<_> = old.files.iter().filter(|file| !is_built(file) && exists(file)).cloned().collect();
    if kept.is_empty() {
        return;
    }
    let mut kept = kept;
    for file in &mut kept {
        file.services.retain(|service| new.service(&service.name).is_none());
    }
    new.files.extend(kept);
    // Which of the types belong to those files is not recorded.
    for (name, message) in &old.messages {
        new.messages.entry(name.clone()).or_insert_with(|| message.clone());
    }
    for (name, found) in &old.enums {
        new.enums.entry(name.clone()).or_insert_with(|| found.clone());
    }
    new.set_codec(options.codec);
}

/// Completes the record of a schema with what only its lock knows.
fn keep_history(old: &Record, new: &mut Record, found: &Judgement, numbering: Numbering) {
    carry_history(old, new, found);
    let removed = new.files.iter().map(|file| {
        let has = |service: &str| file.services.iter().any(|it| it.name == service);
        let mut removed = Vec::new();
        for before in old.origins(&file.name, has) {
            removed.extend(before.removed.iter().cloned());
            // What is in another file now is recorded there, and must not be given out here.
            let is_there = |service: &str, method: &str| {
                file.has(service, method)
                    || (before.name != file.name && new.files.iter().any(|file| file.has(service, method)))
            };
            for service in before.services.iter().filter(|_| numbering == Numbering::Lock) {
                let methods = service.methods.iter().filter(|method| !is_there(&service.name, &method.name));
                removed.extend(methods.map(|method| (method.operation, format!("{}.{}", service.name, method.name))));
            }
        }
        removed
    });
    let removed: Vec<_> = removed.collect();
    for (file, removed) in new.files.iter_mut().zip(removed) {
        file.removed = removed;
        let is_used = |operation: u16| {
            file.services.iter().flat_map(|service| &service.methods).any(|method| method.operation == operation)
        };
        file.removed.retain(|(operation, _)| !is_used(*operation));
        file.removed.sort();
        file.removed.dedup();
    }
}

/// An error if there are differences that may not be recorded.
fn refuse(
    schema: &Schema,
    path: &Path,
    lock: &Lock,
    record: &Record,
    found: &Judgement,
    update: LockUpdate,
) -> Result<(), Error> {
    let breaking = found.changes.iter().filter(|change| !change.is_safe).count();
    let may = match update {
        LockUpdate::Never => found.changes.is_empty() && text::write(record) == text::write(&lock.record),
        LockUpdate::Safe => breaking == 0,
        LockUpdate::Breaking => true,
    };
    if may {
        return Ok(());
    }
    let place = |origin: &Origin| match origin {
        Origin::Lock(line) => Place { file: path.display().to_string(), line: *line, column: 1 },
        Origin::Schema(file, at) => match schema.files.iter().find(|known| known.name() == file) {
            Some(file) => schema.place(file, at),
            None => Place { file: file.clone(), line: 0, column: 0 },
        },
    };
    let lock = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let Some(first) = found.changes.first() else {
        let text = format!(
            "{lock} says the same as the schema, but in other words, as after moving a service to another file; \
             `{VARIABLE}=1 cargo build` writes it anew"
        );
        return Err(Error::at(ErrorKind::Lock, Place { file: path.display().to_string(), line: 1, column: 1 }, text));
    };
    let mut text = format!("the schema is not what {lock} records");
    for Change { is_safe, origin, text: what, advice } in found.changes.iter().take(SHOWN_MAX) {
        let verdict = if *is_safe { "safe" } else { "breaks older peers" };
        let _ = write!(text, "\n  {}: {verdict}: {what}", place(origin));
        if let Some(advice) = advice {
            let _ = write!(text, "\n    instead: {advice}");
        }
    }
    let more = found.changes.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        let _ = write!(text, "\n  and {more} more");
    }
    text.push_str(&match (breaking, update) {
        (0, _) => format!("\n`{VARIABLE}=1 cargo build` records this"),
        (_, LockUpdate::Safe) => format!(
            "\nnothing was recorded: `{VARIABLE}=1` is for safe changes. `{VARIABLE}=breaking cargo build` records all, \
             and peers that are not rebuilt are refused from then on"
        ),
        _ => format!(
            "\nif it has to be: `{VARIABLE}=breaking cargo build` records this, and peers that are not rebuilt are \
             refused from then on"
        ),
    });
    Err(Error::at(ErrorKind::Lock, place(&first.origin), text))
}
