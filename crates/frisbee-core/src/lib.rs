//! The Frisbee protocol without I/O: a state machine that converts received bytes and time into packets and bytes to
//! send.
//!
//! This crate contains the transport-independent part of a connection: packet framing ([`Header`], [`Decoder`],
//! [`Outbox`]), keepalive ([`Keepalive`]), automatic replies, and close reasons ([`Connection`], [`CloseReason`]). It
//! owns no sockets, reads no clock, spawns no tasks and has no `async fn`. The `frisbee` crate runs it on tokio.
//!
//! ```
//! use bytes::Bytes;
//! use frisbee_core::{ClientConfig, Connection, Event, Operation, PacketId, ServerConfig};
//! use std::time::Instant;
//!
//! let now = Instant::now();
//! let mut client = Connection::client(&ClientConfig::default(), now);
//! let mut server = Connection::server(&ServerConfig::default(), now);
//!
//! let echo = Operation::user(10).expect("operation number should be in the user range");
//! client.outbox().push(PacketId(1), echo, Bytes::from_static(b"hello"))?;
//!
//! let mut wire = client.outbox().take_bytes();
//! let mut packets = Vec::new();
//! while let Some(event) = server.poll_event(&mut wire, now)? {
//!     match event {
//!         Event::Packet(packet) => packets.push(packet),
//!         Event::PeerKnown => assert!(server.peer().hello().is_some(), "server should have received HELLO"),
//!         other => assert_eq!(other, Event::Nothing, "PING should be answered without an event"),
//!     }
//! }
//! assert_eq!(packets[0].body, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

#[cfg(test)]
extern crate self as frisbee_core;

mod abuse;
mod batch;
mod body;
mod bucket;
#[cfg(feature = "serde")]
pub mod byte_size;
mod close;
mod config;
mod connection;
mod decode;
mod event;
pub mod extension;
pub mod flow;
mod header;
mod hello;
mod idle_tracker;
mod keepalive;
mod memory;
mod other_protocol;
mod outbox;
mod packet;
mod read_progress;
mod stream;
pub mod tlv;
mod write_progress;

pub use abuse::AbuseLimiter;
pub use batch::{Batch, BatchSize};
pub use body::Body;
pub use bucket::Bucket;
pub use close::{CloseKind, CloseReason};
pub use config::{ClientConfig, Config, Role, ServerConfig};
pub use connection::Connection;
pub use connection::hand_off::{HandOffAnswer, HandOffEvent};
pub use decode::{Decoder, FragmentError, ProtocolError};
pub use event::{Event, PeerKind};
pub use header::{Header, HeaderForm, MAGIC, Operation, PacketId};
pub use hello::{Hello, HelloError, HelloItems};
pub use keepalive::{Keepalive, Liveness, earlier};
pub use memory::{BodyMemory, MemoryPool};
pub use other_protocol::OtherProtocol;
pub use outbox::{MessageBatch, Outbox, PacketWriter, TooLong};
pub use packet::Packet;
pub use read_progress::ReadProgress;
pub use stream::{PeerStreamIds, StreamSignal, StreamState};
pub use write_progress::WriteProgress;

/// Default maximum body size in bytes. Equal to the limit of Go's frisbee, which closes a connection that announces a
/// larger body.
pub const BODY_MAX: u32 = 5 * 1024 * 1024;

/// Lower bound of the maximum body size. Every peer that supports the protocol extension accepts bodies of this size,
/// and errors, resets and similar protocol packets never exceed it.
pub const BODY_MAX_LEAST: u32 = 1024;

/// Version of the protocol extension that is announced in HELLO. Peers may announce any version above 0.
pub const PROTOCOL_VERSION: u8 = 1;

#[cfg(test)]
mod tests;
