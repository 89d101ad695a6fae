//! Services of separate builds that have the same operations and may share a server.
//!
//! A build gives its own files different operations. It knows those of other builds if a lock that it reads records
//! them, or if the same build script ran them before.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::layout::Layout;
use super::record::Record;
use super::stored::read;

/// A service and its operations.
#[derive(Clone, Debug)]
pub(crate) struct AdjacentService {
    service: String,
    operations: Vec<u16>,
}

/// The services of a record.
pub(crate) fn recorded(record: &Record) -> impl Iterator<Item = AdjacentService> {
    record.services().map(|service| AdjacentService {
        service: service.name.clone(),
        operations: service.methods.iter().map(|method| method.operation).collect(),
    })
}

/// The services in all locks of a folder. Unreadable locks are left to their own builds.
pub(crate) fn in_folder(folder: &Path) -> Vec<AdjacentService> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut locks: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(".frpc.lock")).collect();
    locks.sort();
    let read = locks.iter().filter_map(|path| read(path).ok().flatten());
    read.flat_map(|lock| recorded(&lock.record).collect::<Vec<_>>()).collect()
}

/// Returns the services of earlier builds in this process, and remembers those of this build.
pub(crate) fn in_process(layouts: &[Layout]) -> Vec<AdjacentService> {
    static BUILT: Mutex<Vec<AdjacentService>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let before = built.clone();
    built.extend(layouts.iter().map(|layout| AdjacentService {
        service: layout.service().to_owned(),
        operations: layout.operations().to_owned(),
    }));
    before
}

/// Returns a warning if a service of this build and one of another build have the same operation.
pub(crate) fn remark(layouts: &[Layout], neighbours: &[AdjacentService]) -> Option<String> {
    let is_built = |neighbour: &&AdjacentService| layouts.iter().any(|layout| layout.service() == neighbour.service);
    let mut pairs: Vec<_> = Vec::new();
    for other in neighbours.iter().filter(|neighbour| !is_built(neighbour)) {
        for layout in layouts {
            let shared = layout.operations().iter().find(|operation| other.operations.contains(operation));
            pairs.extend(shared.map(|operation| (layout.service(), other.service.as_str(), *operation)));
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
