//! The Frisbee protocol without I/O: a state machine that converts received bytes and time into packets and bytes to
//! send.
//!
//! This crate contains the transport-independent part of a connection. It owns no sockets, reads no clock, spawns no
//! tasks and has no `async fn`. The `frisbee` crate runs it on tokio.
//!
//! * [`Connection`] converts received bytes into [`Event`]s, replies to PINGs, and determines the [`CloseReason`]. It
//!   consists of a [`Decoder`] for [`Header`]s and bodies, an [`Outbox`] for packets to send, and a [`Keepalive`]
//!   timer.
//! * [`ClientConfig`] and [`ServerConfig`] contain the limits and timeouts of a connection.
//! * [`StreamState`] is the state of a stream, and the module [`flow`] its flow control. [`Batch`] decodes several
//!   messages in one packet.
//! * [`AbuseLimiter`], [`ReadProgress`] and [`WriteProgress`] detect peers that send useless packets, send too slowly,
//!   or do not read.
//! * [`MemoryPool`] provides memory for large bodies.
//!
//! # Protocol extension
//!
//! The base protocol is that of Go's frisbee. Peers that also support the protocol extension announce it by sending a
//! [`Hello`] with their version and limits. The extension adds flow control of streams, cancellation, batches and the
//! packets in [`extension`]. [`PeerKind`] tells whether the peer supports the extension.
//!
//! # Examples
//!
//! A client sends a packet to a server. [`Connection::client`] has already put a HELLO and a PING into the outbox, so
//! the server decodes three packets. [`poll_event`](Connection::poll_event) decodes one packet per call and returns
//! `None` once the input is exhausted. For the PING it returns [`Event::Nothing`], because the connection itself
//! replies to PINGs. The caller can ignore this event, but must poll again, because more input may follow.
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
//!         other => assert_eq!(other, Event::Nothing, "PING should be handled internally"),
//!     }
//! }
//! assert_eq!(packets[0].body, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
// The input of this crate is untrusted, so operations that could panic or overflow are denied outside of tests.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

// The module `tests` imports the crate by its public name, as a dependent crate would.
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

pub use abuse::{AbuseLimiter, cost};
pub use batch::{Batch, BatchSize};
pub use body::Body;
pub use bucket::Bucket;
pub use close::{CloseKind, CloseReason};
pub use config::{ClientConfig, Config, Operations, Role, ServerConfig};
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

/// Lower bound for the maximum body size that a peer may set. Every peer that supports the [protocol
/// extension](crate#protocol-extension) therefore accepts bodies of this size. Errors, resets and similar protocol
/// packets never exceed it.
pub const BODY_MAX_LEAST: u32 = 1024;

/// Version of the [protocol extension](crate#protocol-extension) that is announced in HELLO. Peers may announce any
/// version above 0. A HELLO with version 0 is an error. A peer without the extension sends no HELLO.
pub const PROTOCOL_VERSION: u8 = 1;

#[cfg(test)]
mod tests;
