//! JSON-RPC 2.0.
//!
//! * `json_rpc/body.rs`: messages in HTTP bodies
//! * `json_rpc/connection.rs`: connections that carry only JSON-RPC
//! * `json_rpc/framing.rs`: search for the end of a message
//! * `json_rpc/envelope.rs`: parsing of messages
//! * `json_rpc/session.rs`: calls of a connection
//! * `json_rpc/reply.rs`: encoding of replies
//! * `json_rpc/ion.rs`: conversion from and to Amazon Ion

#[cfg(feature = "http")]
mod body;
mod connection;
mod discover;
pub(crate) mod envelope;
mod framing;
#[cfg(feature = "ion")]
mod ion;
mod mailbox;
mod metadata;
pub(crate) mod reply;
mod session;

#[cfg(feature = "http")]
pub(crate) use body::{answer, complete};
pub(crate) use connection::serve;
#[cfg(feature = "ion")]
pub(crate) use ion::answer as answer_ion;
#[cfg(feature = "mcp")]
pub(crate) use mailbox::Canceller;
pub(crate) use reply::fitting;
#[cfg(feature = "mcp")]
pub(crate) use session::NAMED;
pub(crate) use session::Session;
