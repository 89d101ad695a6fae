//! The schema lock: what the wire depends on, recorded in a file beside the schema, so that no change of the schema
//! breaks older peers by accident.
//!
//! Owns the order in which that is done. Which lock belongs to which files stands in `lock/places.rs`, what is recorded
//! in `record.rs` and as text in `text.rs`; operations are given out in `numbering.rs`; what a change means is judged in
//! `judge.rs`. docs/schema-lock.md is the document for users.

mod align;
mod canonical;
mod fingerprint;
mod from_schema;
mod history;
mod judge;
mod layout;
mod numbering;
mod options;
mod places;
mod record;
mod refusal;
mod stored;
mod text;

use std::collections::HashMap;
use std::path::PathBuf;

use prost_types::FileDescriptorProto;

pub use fingerprint::{Fingerprint, NotAFingerprint};
pub use layout::Layout;
pub use numbering::Numbering;
pub(crate) use options::LockOptions;
pub use options::LockUpdate;

use crate::cargo::print_rerun_if_env_changed;
use crate::error::{Error, ErrorKind};
use crate::schema::{Index, Schema};
use from_schema::{Source, record_of};
use history::{keep_history, keep_what_is_not_built};
use judge::judge;
use numbering::{Numbered, check_overlaps, number};
use options::{VARIABLE, update_from_environment};
use places::{grouped, print_rerun_if_lock_changed};
use refusal::refuse;
use stored::read;

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
        let mut record = record_of(&sources, index);
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
