//! HTTP/2 without I/O: a state machine that converts bytes and time into requests, responses and bytes to send.
//!
//! A [`Connection`] is one end of an HTTP/2 connection (RFC 9113) as a pure state machine, like `frisbee_core`: it owns
//! no socket, reads no clock and spawns no tasks. [`hpack`] implements the header compression of RFC 7541. Server push,
//! priorities, the upgrade from HTTP/1.1, and extended CONNECT are not supported.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod connection;
mod envelope;
mod error;
mod event;
mod frame;
mod head;
pub mod hpack;
#[cfg(feature = "tokio")]
mod io;
mod limits;
mod memo;
mod output;
mod streams;
mod window;

pub use connection::{Connection, OpenError};
pub use envelope::EnvelopeTracker;
pub use error::{ConnectionError, ErrorCode};
pub use event::Event;
pub use head::Head;
#[cfg(feature = "tokio")]
pub use io::write_some;
pub use streams::{SendError, StreamKey};
