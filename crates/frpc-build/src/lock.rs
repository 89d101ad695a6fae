//! The schema lock: a file next to the schema that records the wire layout, so that changes of the schema do not break
//! older peers by accident.
//!
//! This module runs the steps in order. `scope.rs` assigns files to locks and reads them, `operations.rs` numbers
//! methods, `from_schema.rs` creates a `record.rs` from the schema, `compare.rs` compares it with the lock,
//! `history.rs` preserves the past, `refusal.rs` writes the error, and `text.rs` writes the lock. docs/schema-lock.md
//! is the documentation for users.

mod align;
mod compare;
mod from_schema;
mod history;
mod layout;
mod operations;
mod options;
mod record;
mod refusal;
mod scope;
mod stored;
mod text;

use std::path::Path;

use prost_types::FileDescriptorProto;

pub use layout::{Fingerprint, Layout};
pub(crate) use options::LockOptions;
pub use options::{LockUpdate, Numbering};

use crate::error::{Error, ErrorKind};
use crate::schema::{Index, Schema};
use compare::compare;
use from_schema::record_of;
use history::{keep_history, keep_what_is_not_built};
use operations::{Operations, number};
use record::Record;
use refusal::refuse;
use scope::{Member, Scope, print_rerun_if_locks_changed, scopes};
use stored::Lock;
pub use stored::LockFile;

/// The operations and wire layouts of a schema.
#[derive(Debug, Default)]
pub struct Plan {
    operations: Operations,
    /// Locks to write after a successful build.
    pub(crate) updates: Vec<LockFile>,
    pub(crate) layouts: Vec<Layout>,
}

impl Plan {
    /// Returns the operations of the methods of a file, for each of its services, in the order of declaration.
    pub fn operations<'a>(&'a self, file: &FileDescriptorProto) -> impl Iterator<Item = &'a [u16]> {
        self.operations.get(file.name()).into_iter().flatten().map(Vec::as_slice)
    }

    /// Returns the layouts of all services.
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    /// Returns the layout of a service by its full name.
    ///
    /// # Errors
    ///
    /// If the schema has no such service.
    pub fn layout(&self, service: &str) -> Result<&Layout, Error> {
        self.layouts.iter().find(|layout| layout.service() == service).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, format!("the layout of the service `{service}` was not recorded"))
        })
    }
}

/// Numbers the methods of a checked schema and compares it with its locks.
///
/// # Errors
///
/// If a lock cannot be read, or the schema differs from it and the difference must not be recorded.
pub(crate) fn plan(
    schema: &Schema,
    index: &Index<'_>,
    options: &LockOptions,
    warn: &mut dyn FnMut(String),
) -> Result<Plan, Error> {
    options.bases.check(schema)?;
    let update = options.update()?;
    let scopes = scopes(schema, options)?;
    if options.rerun_if_changed && !options.is_off {
        print_rerun_if_locks_changed(&scopes);
    }
    check_locks(&scopes, options.numbering)?;
    let operations = number(schema, &scopes, options.numbering, &options.bases)?;
    let mut plan = Plan { operations, ..Plan::default() };
    let mut missing = Vec::new();
    for scope in &scopes {
        let mut record = record_of(&scope.files, &plan.operations, index);
        record.set_codec(options.codec);
        if let Some(path) = &scope.path {
            if let Some(lock) = &scope.lock {
                record = successor(schema, path, lock, record, options, update, warn)?;
            } else if update == LockUpdate::Never {
                missing.push(path.display().to_string());
            }
            let text = text::write(&record);
            if update > LockUpdate::Never && scope.lock.as_ref().is_none_or(|lock| lock.text != text) {
                plan.updates.push(LockFile { path: path.clone(), text });
            }
        }
        plan.layouts.extend(layout::layouts(&record));
    }
    if !missing.is_empty() {
        warn(missing_remark(&missing, &plan.operations, options));
    }
    if update > LockUpdate::Never && !options.is_off && scopes.iter().all(|scope| scope.path.is_none()) {
        let text = "nothing is recorded, since there is no lock: the schema was not read from files, so `lock_dir` has \
                    to name a folder for locks";
        warn(text.to_owned());
    }
    Ok(plan)
}

/// Returns the warning about missing locks.
fn missing_remark(missing: &[String], operations: &Operations, options: &LockOptions) -> String {
    let build = options.recording_build(LockUpdate::Safe);
    let has_methods = |services: &&Vec<Vec<u16>>| services.iter().any(|methods| !methods.is_empty());
    let is_one_of_several = options.numbering != Numbering::Go && operations.values().filter(has_methods).count() > 1;
    let numbers = if is_one_of_several { ", and operations depend on which files are built together" } else { "" };
    let (what, them) = match missing {
        [path] => (format!("{path} does not exist yet"), "it"),
        paths => (format!("these locks do not exist yet: {}", paths.join(", ")), "them"),
    };
    format!(
        "{what}, so changes of the schema that break older peers go unnoticed{numbers}; {build} creates {them}, to be \
         committed with the schema"
    )
}

/// Rejects `Numbering::Lock` for services without a lock.
fn check_locks(scopes: &[Scope<'_>], numbering: Numbering) -> Result<(), Error> {
    let without = scopes.iter().filter(|scope| scope.path.is_none() && numbering == Numbering::Lock);
    let mut without = without.flat_map(|scope| &scope.files);
    without.find(|file| !file.proto.service.is_empty()).map_or(Ok(()), |Member { name, .. }| {
        let text = format!(
            "`Numbering::Lock` needs a lock, and {name:?} has none: locks are disabled, or the schema was not read \
             from files and there is no `lock_dir`"
        );
        Err(Error::new(ErrorKind::Option, text))
    })
}

/// Returns the record that replaces the content of `lock`.
fn successor(
    schema: &Schema,
    path: &Path,
    lock: &Lock,
    mut record: Record,
    options: &LockOptions,
    update: LockUpdate,
    warn: &mut dyn FnMut(String),
) -> Result<Record, Error> {
    keep_what_is_not_built(&lock.record, &mut record, path, options, update)?;
    let found = compare(&lock.record, &record, options.numbering);
    keep_history(&lock.record, &mut record, &found, options.numbering);
    refuse(schema, path, lock, &record, &found, options, update)?;
    refusal::remark(path, &found).into_iter().for_each(warn);
    Ok(record)
}
