//! TCP sockets on io_uring. A [`Worker`] is a thread that owns a ring and runs the tasks that use it.
//!
//! In one turn the thread polls all ready tasks, submits the operations that they started and waits for completions in
//! a single system call, and wakes the tasks of completed operations. Each socket receives with one multishot operation
//! into buffers shared by the whole ring, so idle connections hold no buffer. There is no second event loop, so a turn
//! costs one system call regardless of the number of sockets.
//!
//! The kernel never accesses memory of tasks. Written bytes are copied to a buffer owned by the operation, and received
//! bytes are copied out of the ring's buffers, so a task and its socket can be dropped at any time. Large transfers use
//! non-blocking system calls directly on the task's memory, once the ring has reported that the socket is ready.
//!
//! All `unsafe` code is in `ring.rs`. The crate is empty on systems other than Linux.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

#[cfg(not(feature = "tokio-uring"))]
mod ring;
#[cfg(not(feature = "tokio-uring"))]
mod socket;
#[cfg(not(feature = "tokio-uring"))]
mod sockets;
#[cfg(not(feature = "tokio-uring"))]
mod timer;
#[cfg(not(feature = "tokio-uring"))]
mod worker;
#[cfg(not(feature = "tokio-uring"))]
pub use {
    socket::Socket,
    timer::Timer,
    worker::{Spawner, Worker, probe},
};

#[cfg(feature = "tokio-uring")]
mod tokio_uring;
#[cfg(feature = "tokio-uring")]
pub use tokio_uring::{Socket, Spawner, Timer, Worker, probe};
