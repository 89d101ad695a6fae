//! Services of builds that are apart from each other, which may share a server all the same.
//!
//! A build gives its own files different operations. Of the others it knows what their locks record, and what was built
//! before by the same build script.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::layout::Layout;
use super::record::Record;
use super::stored::read;

/// A service and its operations.
#[derive(Clone)]
pub(crate) struct Neighbour {
    service: String,
    operations: Vec<u16>,
}

/// The services that are recorded in `record`.
pub(crate) fn recorded(record: &Record) -> impl Iterator<Item = Neighbour> {
    record.services().map(|service| Neighbour {
        service: service.name.clone(),
        operations: service.methods.iter().map(|method| method.operation).collect(),
    })
}

/// The services in all locks of a folder. One that cannot be read is an error of the build that it belongs to.
pub(crate) fn in_folder(folder: &Path) -> Vec<Neighbour> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut locks: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(".frpc.lock")).collect();
    locks.sort();
    let read = locks.iter().filter_map(|path| read(path).ok().flatten());
    read.flat_map(|lock| recorded(&lock.record).collect::<Vec<_>>()).collect()
}

/// The services of earlier builds of this process. Adds those of this one.
pub(crate) fn in_process(layouts: &[Layout]) -> Vec<Neighbour> {
    static BUILT: Mutex<Vec<Neighbour>> = Mutex::new(Vec::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let before = built.clone();
    built.extend(
        layouts.iter().map(|layout| Neighbour {
            service: layout.service().to_owned(),
            operations: layout.operations().to_owned(),
        }),
    );
    before
}

/// A warning if a service of this build has an operation of one that is built apart.
pub(crate) fn remark(layouts: &[Layout], neighbours: &[Neighbour]) -> Option<String> {
    let is_built = |neighbour: &&Neighbour| layouts.iter().any(|layout| layout.service() == neighbour.service);
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
        "the services `{service}` and `{other}`, which are built apart, both have operation {operation}{more}, so that no \
         server can serve both: name their files in one build, choose where one of them begins with `operation_base`, or \
         set `numbering(Numbering::Go)` if they are for different servers"
    ))
}
