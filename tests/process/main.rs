//! Tests that measure the whole process, its memory and its threads, or listen to its log. Each runs in a process of
//! its own, one at a time.

mod blocked;
mod busy_polling;
#[cfg(target_os = "linux")]
mod descriptors;
mod heap;
mod hostile_peers;
mod log;
#[path = "../memory/resident.rs"]
mod resident;
