//! TCP sockets on io_uring: a [`Worker`] is a thread that owns a ring and runs the tasks that use it.
//!
//! A turn of the thread polls the tasks that are ready, hands all operations that they began to the kernel in one
//! system call, which is also the one that waits, and wakes the tasks whose operations have completed. Sockets receive
//! by one operation that stays armed (multishot) and takes its memory from buffers that the whole ring shares, so an
//! idle connection holds none. There is no second event loop: one call a turn, however many sockets took part in it.
//!
//! Tasks never lend memory to the kernel. Bytes to be written are copied to a buffer that belongs to the operation, and
//! received bytes are copied out of the ring's buffers; so a task and its socket may be dropped at any time. Transfers
//! too large for that use ordinary non-blocking calls directly on the task's memory, once the ring has reported that
//! the socket is ready.
//!
//! All `unsafe` is in `ring.rs`. The crate is empty on systems other than Linux.
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
