//! Tests that measure the memory or the threads of the whole process, or read its log. Each test runs in a process of
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
