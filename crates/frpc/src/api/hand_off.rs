//! Connections that are handed off by a call: after its reply, their bytes belong to another protocol.
//!
//! The server names the unary methods that may hand off their connection, by
//! [`method_hand_off`](crate::ServerBuilder::method_hand_off). The client calls one of them through a channel that
//! [requests](crate::Channel::request_hand_off) the connection. Middleware, policy and deadline apply as to any call. The
//! handler finds the request for the connection in its [request](crate::Request::hand_off), and decides.
//!
//! ```
//! use frpc::hand_off::RawTransport;
//! # use frpc::{Request, Response, Status};
//! # struct Open;
//! # struct Opened;
//! # async fn speak(raw: RawTransport) {}
//!
//! async fn open(request: Request<Open>) -> Result<Response<Opened>, Status> {
//!     let Some(asked) = request.hand_off() else {
//!         return Err(Status::failed_precondition("this method hands its connection off"));
//!     };
//!     asked.accept(|raw| speak(raw));
//!     Ok(Response::new(Opened))
//! }
//! ```
//!
//! A handler that fails, or replies without having accepted, refuses: the client gets the reply as of any call, and the
//! connection stays open. When a client cancels its call, the handler is dropped, as with any call. While calls are in
//! flight or streams are open, in either direction, the connection is not handed off and the handler is not called.
//! Cancelled calls count until they have been answered.
//!
//! From the request on, other calls on the channel and its clones wait for the answer. After a hand-off they go to a
//! new connection.

use crate::debug::opaque_debug;
use frisbee::HandOffTarget;
use parking_lot::Mutex;
use std::sync::Arc;

pub use frisbee::RawTransport;

/// In a handler: the caller's request for the connection.
#[derive(Clone, Default)]
pub struct HandOff(Arc<Mutex<Option<HandOffTarget>>>);

impl HandOff {
    /// Accepts. If the handler then succeeds, `take` gets the transport as soon as the reply has been written. Its
    /// future becomes a detached task of the runtime of the server's start. If the handler fails, `take` is dropped.
    pub fn accept<F>(&self, take: impl FnOnce(RawTransport) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        *self.0.lock() = Some(HandOffTarget::new(take));
    }

    pub(crate) fn taking(&self) -> Option<HandOffTarget> {
        self.0.lock().take()
    }
}

opaque_debug!([] HandOff, "HandOff");

/// The slot where a client finds the transport that it has requested; see
/// [`Channel::request_hand_off`](crate::Channel::request_hand_off).
#[derive(Clone, Debug, Default)]
pub struct HandOffSlot(Arc<Mutex<Option<RawTransport>>>);

impl HandOffSlot {
    pub(crate) fn put(&self, transport: RawTransport) {
        *self.0.lock() = Some(transport);
    }

    /// Takes the transport. `None` unless the last call through the channel succeeded and its handler accepted.
    pub fn take(&self) -> Option<RawTransport> {
        self.0.lock().take()
    }
}
