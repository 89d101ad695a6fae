//! A bring-your-own-protocol messaging framework on tokio.
//!
//! Frisbee carries *packets*: an id, an operation and a body behind a header of ten bytes. The meaning of operations is
//! up to you. Implement [`Router`] to define a protocol with pipelining, batching, streams, keepalive and limits. The
//! wire format is compatible with Loophole Labs' Frisbee for Go, so either peer may be a Go program.
//!
//! The [`guide`] has one page per subject.
//!
//! * [`Router`] receives each packet in wire order, on the task of its connection, and may reply in place. Further
//!   methods handle streams, the end of a batch, overload and hand-off.
//! * [`Handlers`] is a ready-made router: a table of async functions by operation.
//! * [`Mounts`] combines several routers, each with its own range of operations.
//! * The crate `frisbee-requests` has a router that sends requests and waits for replies, and clients that reconnect.
//!   The crate `frisbee-pubsub` has a pub/sub broker, which is also a router, and its clients.
//! * [`Server`] and [`Client`] own sockets; [`Connection`] and [`Stream`] are handles that can be used from anywhere.
//! * [`Connection::hand_off`] transfers the transport to another protocol. [`Stream::into_io`] converts a stream into a
//!   byte stream.
//!
//! ```
//! use frisbee::{Client, Handlers, Operation, Packet, PacketId, Server};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shout = Operation::user(10).expect("operation number should be in the user range");
//! let handlers = Handlers::new().on(shout, |_connection, packet| async move {
//!     let text = packet.body.to_ascii_uppercase();
//!     Some(Packet::new(packet.id, packet.operation, text))
//! });
//! let server = Server::builder().bind("127.0.0.1:0", handlers).await?;
//! let address = server.local_addr();
//! tokio::spawn(server.serve());
//!
//! let (answers, mut answer) = tokio::sync::mpsc::unbounded_channel();
//! let connection = Client::builder()
//!     .connect(address, Handlers::new().on(shout, move |_connection, packet| {
//!         answers.send(packet.body).ok();
//!         async { None }
//!     }))
//!     .await?;
//! connection.send(&Packet::new(PacketId(1), shout, "hello")).await?;
//! assert_eq!(answer.recv().await.unwrap(), "HELLO");
//! # Ok(())
//! # }
//! ```
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod acceptor;
mod account;
mod adapter;
mod client;
mod clock;
mod connection;
mod debug;
mod error;
mod executor;
pub mod guide;
pub mod inspect;
mod log_limit;
mod mailbox;
#[cfg(target_os = "linux")]
mod malloc_trim;
mod pool;
mod router;
pub mod rpc;
mod runtime;
mod server;
mod settings;
mod shares;
mod sync;
pub mod testing;
#[cfg(test)]
mod tests {
    pub(crate) mod echo;
    pub(crate) mod wake_counter;
}
#[cfg(feature = "timer")]
pub mod timer;
#[cfg(feature = "tls")]
pub mod tls;
mod transport;

pub use acceptor::Acceptor;
pub use account::{ConnectionCharge, MemoryBudget, MemoryCharge, MemoryWaiter, Stats, body_memory};
pub use adapter::AdapterContext;
pub use adapter::peers::AdapterPeers;
pub use bytes;
#[doc(hidden)] // For other crates of the project that open sockets.
pub use client::connect_tcp;
#[cfg(unix)]
#[doc(hidden)]
pub use client::connect_unix;
pub use client::{Client, ClientBuilder, ClientSettings};
pub use connection::attachments::Attachments;
pub use connection::hand_off::HandOffRequest;
pub use connection::stream::io::StreamIo;
pub use connection::stream::{Stream, StreamBatch, StreamReceiver, StreamSender, StreamWaiter};
pub use connection::{AbortHandle, Connection};
pub use error::{Error, HandOffError, MountError, SendError, TrySendError};
pub use executor::tasks::Policy;
pub use executor::workers::Workers;
pub use frisbee_core::{
    BODY_MAX, BODY_MAX_LEAST, Body, CloseKind, CloseReason, Config, Header, HeaderForm, Hello, Operation, Outbox,
    Packet, PacketId, PacketWriter, PeerKind, ProtocolError, TooLong, extension, tlv,
};
#[cfg(all(feature = "shm", target_os = "linux"))]
pub use frisbee_shm as shm;
pub use log_limit::{LineLimit, LogLimit};
pub use mailbox::Waiter;
pub use mailbox::hand_off::{HandOffAccepted, HandOffTarget};
pub use mailbox::inbox::Message as StreamMessage;
pub use mailbox::permits::{PermitPlace, PermitQueue};
pub use mailbox::stream::{StreamBytes, StreamEnd};
pub use pool::{copy_to_share, memory_pool};
pub use router::handlers::{Handler, HandlerTable, Handlers};
pub use router::mounts::{Mounts, MountsSession};
pub use router::{BatchEnd, ConnectionEvent, Declaration, OverflowPolicy, Routed, Router, opening};
pub use runtime::choose::IoBackend;
#[cfg(unix)]
pub use server::unix::UnixServer;
pub use server::{Server, ServerBuilder, ServerSettings};
pub use settings::SettingError;
#[cfg(unix)]
pub use transport::endpoint::UnixCredentials;
pub use transport::memory;
pub use transport::raw::RawTransport;
#[cfg(target_os = "linux")]
pub use transport::split_send::send_split;
