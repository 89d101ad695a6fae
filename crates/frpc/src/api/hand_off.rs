//! Connections that are handed off by a call: after its reply, their bytes belong to another protocol.
//!
//! The server names the methods by which that may be, each with one message each way, by
//! [`method_hand_off`](crate::ServerBuilder::method_hand_off). The client calls one of them through a channel that
//! [asks](crate::Channel::handing_off) for the connection. Middleware, policy and deadline are those of any call; the
//! handler sees in its [request](crate::Request::hand_off) that it is asked for the connection, and decides.
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
//! A handler that fails, or answers without having accepted, refuses: the client gets its answer as of any call, and
//! the connection goes on. A client that gives its call up has the handler dropped, as with any call. While calls are in flight or streams open, in either direction, the connection is not handed
//! off, and the handler is not called; calls that were given up count until they have been answered.
//!
//! From the request on, calls on the channel and its clones wait for the answer. If the connection is handed off, they
//! go to a new one.

use frisbee::TakeOver;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

pub use frisbee::RawTransport;

/// In a handler: the caller asks for the connection.
#[derive(Clone, Default)]
pub struct HandOff(Arc<Mutex<Option<TakeOver>>>);

impl HandOff {
    /// Agrees. If the handler then succeeds, `take` gets the transport as soon as the reply has been written; its
    /// future becomes a task of the runtime in which the server was started, which belongs to nobody. If the handler
    /// fails, `take` is dropped.
    pub fn accept<F>(&self, take: impl FnOnce(RawTransport) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        *self.0.lock() = Some(TakeOver::new(take));
    }

    pub(crate) fn taking(&self) -> Option<TakeOver> {
        self.0.lock().take()
    }
}

impl fmt::Debug for HandOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandOff").finish_non_exhaustive()
    }
}

/// Where a client finds the connection that it has asked for; see
/// [`Channel::handing_off`](crate::Channel::handing_off).
#[derive(Clone, Debug, Default)]
pub struct HandedOff(Arc<Mutex<Option<RawTransport>>>);

impl HandedOff {
    pub(crate) fn put(&self, transport: RawTransport) {
        *self.0.lock() = Some(transport);
    }

    /// The transport, if the last call through the channel was answered and the handler has handed it off.
    pub fn take(&self) -> Option<RawTransport> {
        self.0.lock().take()
    }
}
