//! HTTP/2 without I/O: it turns bytes and time into requests, responses and bytes.
//!
//! A [`Connection`] is either end of RFC 9113, as pure state in the manner of `frisbee_core`: it owns no socket, reads no
//! clock and spawns nothing. [`hpack`] is the header compression of RFC 7541. Left out are server push, priorities, the
//! upgrade from HTTP/1.1, and extended CONNECT.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod connection;
mod error;
mod event;
mod frame;
mod head;
pub mod hpack;
mod limits;
mod memo;
mod output;
mod streams;
mod window;

pub use connection::{Connection, OpenError};
pub use error::{ConnectionError, ErrorCode};
pub use event::Event;
pub use head::Head;
pub use streams::{SendError, StreamKey};
