//! Streams over shared memory, asynchronous and blocking.
#![cfg(target_os = "linux")]

mod blocking;
mod streams;
