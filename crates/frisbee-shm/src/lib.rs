//! Connections between two processes of one host that go through shared memory instead of the kernel.
//!
//! A client connects to a Unix socket and [offers](connect) to share memory. A [`Listener`] accepts that: it makes memory
//! with a ring of bytes for each direction, and passes it through the socket. From then on bytes are copied to the ring and
//! out of it, without a system call while both ends are busy; an end that sleeps is woken by a pipe. The socket stays open
//! and carries nothing: its end is how an end learns that the other one is gone.
//!
//! The result is a [`Stream`] that reads and writes as a socket does, so that any protocol on tokio runs on it
//! unchanged. Peers that do not know such offers, or refuse them, are served over the Unix socket, at either end.
//!
//! Servers and channels of frisbee and frpc take it by their feature `shm`: `ServerBuilder::shared_memory`, and addresses
//! of the form `unix+shm:/run/service.sock`. By itself the crate serves any acceptor:
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
//! # Powers of a peer
//!
//! A peer may write anything to the memory at any time, and harm its own connection only:
//!
//! * The memory cannot become shorter while it is mapped, which the seals of its file guarantee. Both ends verify them.
//! * Bytes are copied out once, and only the copy is decoded. Positions are kept in private memory; those of the peer are
//!   checked against the size of the ring each time, and impossible ones end the connection with an error.
//! * No system call blocks, for any use of the shared descriptors by a peer. A peer that rings its bell for nothing
//!   repeatedly is disconnected.
//! * Memory is shared with processes of the same user, unless others are [allowed](ListenerBuilder::allow_user).
//!
//! It can see and change the contents of the rings, which it sends and receives anyway, and nothing else: each
//! connection has memory of its own. All unsafe code is in `memory.rs`, but for one call that registers a pipe.
//!
//! A system that counts memory strictly (`vm.overcommit_memory=2`) might have none left when a ring is first touched, which
//! would end the process. No memory is shared there.
//!
//! The crate is empty on systems other than Linux.
#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate self as frisbee_shm;

#[cfg_attr(frisbee_loom, allow(dead_code))]
mod exchange;
#[cfg_attr(frisbee_loom, path = "memory/model.rs", allow(dead_code, unsafe_code))]
mod memory;
#[cfg_attr(frisbee_loom, allow(dead_code))]
mod ring;
mod sleep;
#[cfg_attr(frisbee_loom, allow(dead_code))]
mod wakers;

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
