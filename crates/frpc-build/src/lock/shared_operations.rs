//! Services of separate builds that have the same operations and may share a server.
//!
//! A build gives its own files different operations. It knows those of other builds if a lock that it reads records
//! them, or if the same build script ran them before.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::layout::{Layout, layouts};
use super::stored::read;

/// The services in all locks of a folder. Unreadable locks are left to their own builds.
pub(crate) fn in_folder(folder: &Path) -> Vec<Layout> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut locks: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(".frpc.lock")).collect();
    locks.sort();
    let read = locks.iter().filter_map(|path| read(path).ok().flatten());
    read.flat_map(|lock| layouts(&lock.record)).collect()
}

/// Returns the services of earlier builds in this process, and remembers those of this build.
pub(crate) fn in_process(layouts: &[Layout]) -> Vec<Layout> {
    static BUILT: Mutex<Vec<Layout>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let before = built.clone();
    built.extend_from_slice(layouts);
    before
}

/// Returns a warning if a service of this build and one of another build have the same operation.
pub(crate) fn remark(layouts: &[Layout], neighbours: &[Layout]) -> Option<String> {
    let is_built = |neighbour: &&Layout| layouts.iter().any(|layout| layout.service() == neighbour.service());
    let mut pairs: Vec<_> = Vec::new();
    for other in neighbours.iter().filter(|neighbour| !is_built(neighbour)) {
        for layout in layouts {
            let is_shared = |operation: &u16| other.methods().any(|(_, others)| others == *operation);
            let shared = layout.methods().map(|(_, operation)| operation).find(is_shared);
            pairs.extend(shared.map(|operation| (layout.service(), other.service(), operation)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let (service, other, operation) = pairs.first()?;
    let more = if pairs.len() > 1 { format!(", as do {} more pairs", pairs.len() - 1) } else { String::new() };
    Some(format!(
        "the services `{service}` and `{other}`, which separate builds compile, both have operation {operation}{more}, \
         so that no server can serve both: compile their files in one build, set the `operation_base` of one of them, \
         or set `numbering(Numbering::Go)` if they are for different servers"
    ))
}
