//! Connections between two processes of one host through shared memory.
//!
//! A client connects to a Unix socket and [offers](connect) to share memory. A [`Listener`] accepts the offer by
//! creating memory with one ring buffer per direction and passing it over the socket. Bytes are then copied into and
//! out of the rings. While both ends are busy this needs no system calls; a sleeping end is woken by a pipe. The socket
//! stays open and transfers only larger rings. If it closes, each end detects that the other one is gone.
//!
//! The result is a [`Stream`] that reads and writes like a socket, so any tokio protocol runs on it unchanged. Peers
//! that do not support offers or reject them continue over the Unix socket, in both roles.
//!
//! Servers and channels of frisbee and frpc use this crate through their feature `shm`: `ServerBuilder::shared_memory`,
//! and addresses of the form `unix+shm:/run/service.sock`. On its own the crate can serve any acceptor:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("service.sock");
//! let acceptor = frpc::Server::builder().build()?;
//! let listener = frisbee_shm::Listener::bind(&path)?;
//! tokio::spawn(listener.serve(move |stream| {
//!     let acceptor = acceptor.clone();
//!     async move { acceptor.serve_connection(stream).await }
//! }));
//!
//! let channel = frpc::Channel::builder().connect_with_connector(frisbee_shm::connector(&path)).await?;
//! # drop(channel);
//! # Ok(())
//! # }
//! ```
//!
//! # Security
//!
//! A peer may write anything to the shared memory at any time, but can harm only its own connection:
//!
//! * The memory cannot shrink while it is mapped, because its file is sealed. Both ends verify the seals.
//! * Bytes are copied out once, and only the copy is decoded. Each end keeps its own positions in private memory. It
//!   checks the peer's positions against the size of the ring on every access and fails the connection if they are
//!   impossible.
//! * No system call blocks, whatever the peer does with the shared descriptors. A peer that keeps sending wake-ups
//!   without progress is disconnected. However, the kernel closes descriptors that a peer has sent without need in the
//!   thread that reads or closes the socket, as on any Unix socket. Closing a lingering socket takes long.
//! * Memory is shared only with processes of the same user, unless others are [allowed](ListenerBuilder::allow_user).
//!
//! Each connection has separate memory, so a peer can read and modify only the rings of its own connection. All unsafe
//! code is in `memory.rs`, except for one call that registers a pipe.
//!
//! Memory is not shared on systems with strict overcommit accounting (`vm.overcommit_memory=2`). On such a system,
//! touching a ring for the first time could find no memory left and kill the process.
//!
//! The crate is empty on systems other than Linux.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate self as frisbee_shm;

#[cfg_attr(frisbee_loom, allow(dead_code))]
mod exchange;
#[cfg_attr(frisbee_loom, path = "testing/memory.rs", allow(dead_code, unsafe_code))]
mod memory;
#[cfg_attr(frisbee_loom, allow(dead_code))]
mod ring;
mod sleep;
#[cfg_attr(frisbee_loom, allow(dead_code))]
mod wakers;
mod words;

#[cfg(not(frisbee_loom))]
mod bell;
#[cfg(not(frisbee_loom))]
mod blocking;
#[cfg(not(frisbee_loom))]
mod connect;
#[cfg(not(frisbee_loom))]
mod handshake;
#[cfg(all(any(test, feature = "hostile"), not(frisbee_loom)))]
#[cfg_attr(not(feature = "hostile"), allow(dead_code, unreachable_pub))]
#[path = "testing/hostile.rs"]
pub mod hostile;
#[cfg(not(frisbee_loom))]
mod listener;
#[cfg(not(frisbee_loom))]
mod offer;
#[cfg(not(frisbee_loom))]
mod received;
#[cfg(not(frisbee_loom))]
mod ring_socket;
#[cfg(not(frisbee_loom))]
mod shared;
#[cfg(not(frisbee_loom))]
mod sharing;
#[cfg(not(frisbee_loom))]
mod stream;
#[cfg(not(frisbee_loom))]
mod system;
#[cfg(all(test, not(frisbee_loom)))]
mod tests;

#[cfg(not(frisbee_loom))]
pub use {
    blocking::BlockingStream,
    connect::{Connecting, Connector, connect, connector},
    listener::{Listener, ListenerBuilder},
    sharing::Sharing,
    stream::Stream,
    system::{RING_MAX, RING_MIN},
};
