//! The error for a schema that differs from its lock.

use std::fmt::Write as _;
use std::path::Path;

use super::compare::{Change, LockComparison, Verdict};
use super::options::{LockOptions, LockUpdate};
use super::record::{Origin, Record};
use super::stored::Lock;
use super::text;
use crate::error::{Error, ErrorKind, SourcePosition};
use crate::schema::Schema;

/// The maximum number of differences in an error.
const SHOWN_MAX: usize = 20;

/// The advice for appended fields.
const FOR_GO: &str = "Go peers that send a message with an appended field have to be rebuilt first: frpc peers refuse \
                      what they send without it";

/// Returns a warning for the differences that are being recorded.
pub(crate) fn remark(lock: &Path, found: &LockComparison) -> Option<String> {
    let concerns_go = found.changes.iter().any(|change| change.verdict == Verdict::SafeForNative);
    concerns_go.then(|| format!("{} records appended fields. {FOR_GO}", lock.display()))
}

/// Returns an error if there are differences that must not be recorded.
pub(crate) fn refuse(
    schema: &Schema,
    path: &Path,
    lock: &Lock,
    record: &Record,
    found: &LockComparison,
    options: &LockOptions,
    update: LockUpdate,
) -> Result<(), Error> {
    let breaking = found.changes.iter().filter(|change| change.verdict == Verdict::Breaking).count();
    let may = match update {
        LockUpdate::Never => found.changes.is_empty() && text::write(record) == text::write(&lock.record),
        LockUpdate::Safe => breaking == 0,
        LockUpdate::Breaking => true,
    };
    if may {
        return Ok(());
    }
    let location = |origin: &Origin| match origin {
        Origin::Lock(line) => SourcePosition { file: path.display().to_string(), line: *line, column: 1 },
        Origin::Schema(file, at) => match schema.files.iter().find(|candidate| candidate.name() == file) {
            Some(file) => schema.position(file, at),
            None => SourcePosition { file: file.clone(), line: 0, column: 0 },
        },
    };
    let lock = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let Some(first) = found.changes.first() else {
        let text = format!(
            "{lock} describes the layout of the schema in other words, for example because a service was moved to \
             another file; {} updates it",
            options.recording_build(LockUpdate::Safe)
        );
        return Err(Error::at(
            ErrorKind::Lock,
            SourcePosition { file: path.display().to_string(), line: 1, column: 1 },
            text,
        ));
    };
    let mut text = format!("the schema differs from {lock}");
    for Change { verdict, origin, text: what, advice } in found.changes.iter().take(SHOWN_MAX) {
        let verdict = match verdict {
            Verdict::Safe => "safe",
            Verdict::SafeForNative => "safe between frpc peers",
            Verdict::Breaking => "breaks older peers",
        };
        let _ = write!(text, "\n  {}: {verdict}: {what}", location(origin));
        if let Some(advice) = advice {
            let _ = write!(text, "\n    instead: {advice}");
        }
    }
    let more = found.changes.len().saturating_sub(SHOWN_MAX);
    if more > 0 {
        let _ = write!(text, "\n  and {more} more");
    }
    if found.changes.iter().any(|change| change.verdict == Verdict::SafeForNative) {
        let _ = write!(text, "\n{FOR_GO}");
    }
    if breaking == 0 {
        let _ = write!(text, "\n{} records this", options.recording_build(LockUpdate::Safe));
    } else {
        text.push_str(match update {
            LockUpdate::Safe => "\nnothing was recorded, because not all of this is safe; ",
            _ => "\nto break them all the same: ",
        });
        let build = options.recording_build(LockUpdate::Breaking);
        let _ = write!(text, "{build} records all of it, after which peers that are not rebuilt are refused");
    }
    Err(Error::at(ErrorKind::Lock, location(&first.origin), text))
}
