//! Preserves information that a schema does not contain: earlier layouts, operations of removed methods, and files
//! outside of the build.

use std::path::Path;

use super::compare::LockComparison;
use super::layout::Fingerprint;
use super::options::{LockOptions, LockUpdate, Numbering};
use super::record::{File, Record};
use crate::codec::Codec;
use crate::error::{Error, ErrorKind};

/// Maximum number of fingerprints of earlier layouts in a lock. Peers exchange as many.
const COMPATIBLE_MAX: usize = 32;

/// Preserves the records of existing files that are not part of this build, because the files of a package can be built
/// separately.
///
/// # Errors
///
/// If the codec changes from protobuf to Polyglot, because the lock then knows no fields of these files.
pub(crate) fn keep_what_is_not_built(
    old: &Record,
    new: &mut Record,
    path: &Path,
    options: &LockOptions,
    update: LockUpdate,
) -> Result<(), Error> {
    let is_built = |file: &File| new.files.iter().any(|built| built.name == file.name);
    let exists = |file: &File| options.folder.is_none() && path.with_file_name(&file.name).exists();
    let kept: Vec<_> = old.files.iter().filter(|file| !is_built(file) && exists(file)).cloned().collect();
    if kept.is_empty() {
        return Ok(());
    }
    if update == LockUpdate::Breaking && (old.codec, new.codec) == (Codec::Protobuf, Codec::Polyglot) {
        let names: Vec<_> = kept.iter().map(|file| file.name.as_str()).collect();
        let text = format!(
            "{} knows no fields of {}, which is not part of this build, since it was recorded with protobuf: build all \
             files of the package together to record another codec",
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy(),
            names.join(", ")
        );
        return Err(Error::new(ErrorKind::Lock, text));
    }
    let mut kept = kept;
    for file in &mut kept {
        file.services.retain(|service| new.service(&service.name).is_none());
    }
    new.files.extend(kept);
    // The lock does not record which file declares a type.
    for (name, message) in &old.messages {
        new.messages.entry(name.clone()).or_insert_with(|| message.clone());
    }
    for (name, found) in &old.enums {
        new.enums.entry(name.clone()).or_insert_with(|| found.clone());
    }
    new.set_codec(options.codec);
    Ok(())
}

/// Adds the history in `old` to the record of the schema.
pub(crate) fn keep_history(old: &Record, new: &mut Record, found: &LockComparison, numbering: Numbering) {
    carry_history(old, new, found);
    let removed = new.files.iter().map(|file| {
        let has = |service: &str| file.services.iter().any(|it| it.name == service);
        let mut removed = Vec::new();
        for before in old.origins(&file.name, has) {
            removed.extend(before.removed.iter().cloned());
            // A method that has moved to another file is recorded there. Its operation must not be reused here.
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

/// Adds earlier fingerprints and marks appended fields.
fn carry_history(old: &Record, new: &mut Record, found: &LockComparison) {
    if old.codec == new.codec {
        carry_added(old, new, found);
    }
    let layouts = new.clone();
    for service in new.files.iter_mut().flat_map(|file| &mut file.services) {
        let Some(before) = old.service(&service.name) else {
            service.generation = old.removed_services.get(&service.name).copied().unwrap_or(0);
            continue;
        };
        let is_broken = found.broken_services.contains(&service.name)
            || old.reach(before.roots()).into_iter().any(|name| found.broken_types.contains(name));
        if is_broken {
            service.generation = before.generation.saturating_add(1);
            continue;
        }
        service.generation = before.generation;
        let now = Fingerprint::of(service, &layouts);
        service.compatible = before.compatible.clone();
        service.compatible.push(Fingerprint::of(before, old));
        service.compatible.retain(|earlier| *earlier != now);
        let surplus = service.compatible.len().saturating_sub(COMPATIBLE_MAX);
        service.compatible.drain(..surplus);
    }
    new.removed_services = old.removed_services.clone();
    new.removed_services.extend(old.services().map(|it| (it.name.clone(), it.generation.saturating_add(1))));
    new.removed_services.retain(|name, _| layouts.service(name).is_none());
}

/// Marks the fields that older peers may not send.
fn carry_added(old: &Record, new: &mut Record, found: &LockComparison) {
    for (name, message) in &mut new.messages {
        // The old messages with this name, and those that this message has replaced.
        let replaced = found.renamed.iter().filter(|(_, now)| now == name).map(|(before, _)| before);
        let known = std::iter::once(name).chain(replaced).filter(|name| !found.broken_types.contains(*name));
        let before: Vec<_> = known.filter_map(|name| old.messages.get(name)).collect();
        for (at, field) in message.fields.iter_mut().enumerate() {
            field.is_added = before.iter().any(|before| before.fields.get(at).is_none_or(|field| field.is_added));
        }
    }
}
