//! Hand-off of connections: after the reply to a call, another protocol uses the connection.
//!
//! On the server, [`method_hand_off`](crate::ServerBuilder::method_hand_off) declares which unary methods may hand off
//! their connection. The client calls such a method through a channel that [requests a
//! hand-off](crate::Channel::request_hand_off). Middleware, policy and deadline apply like to any call. The handler
//! finds the hand-off request in its [request](crate::Request::hand_off) and decides whether to accept it.
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
//! A handler refuses the hand-off by failing, or by returning a response without accepting. The client then receives an
//! ordinary reply, and the connection stays open. If the client cancels its call, the handler is dropped and the
//! connection is not handed off. If calls are in flight or streams are open in either direction, the request is refused
//! without calling the handler. A cancelled call counts as in flight until it has been answered.
//!
//! After a hand-off request has been sent, other calls on the channel and its clones wait for the reply. If the
//! connection is handed off, they use a new connection.

use crate::debug::opaque_debug;
use frisbee::HandOffTarget;
use parking_lot::Mutex;
use std::sync::Arc;

pub use frisbee::RawTransport;

/// A caller's request to hand off its connection. The handler may accept the request.
#[derive(Clone, Default)]
pub struct HandOff(Arc<Mutex<Option<HandOffTarget>>>);

impl HandOff {
    /// Accepts the request. If the handler succeeds, `take` is called with the transport once the reply has been
    /// written. The future that it returns is spawned as a detached task on the runtime that started the server. If the
    /// handler fails, `take` is dropped. It is also dropped if this end has opened a stream on the connection in the
    /// meantime. The call then fails with [`Aborted`](crate::Code::Aborted).
    pub fn accept<F>(&self, take: impl FnOnce(RawTransport) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let replaced = self.0.lock().replace(HandOffTarget::new(take));
        // Drop the replaced function without the lock, because its values may use this request.
        drop(replaced);
    }

    pub(crate) fn taking(&self) -> Option<HandOffTarget> {
        self.0.lock().take()
    }
}

opaque_debug!([] HandOff, "HandOff");

/// Slot that receives the transport of a handed-off connection; see
/// [`Channel::request_hand_off`](crate::Channel::request_hand_off).
#[derive(Clone, Debug, Default)]
pub struct HandOffSlot(Arc<Mutex<Option<RawTransport>>>);

impl HandOffSlot {
    pub(crate) fn put(&self, transport: RawTransport) {
        let replaced = self.0.lock().replace(transport);
        drop(replaced);
    }

    /// Takes the handed-off transport. Returns `None` unless the last call through the channel succeeded and its
    /// handler accepted the hand-off.
    pub fn take(&self) -> Option<RawTransport> {
        self.0.lock().take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct AcceptOnDrop(HandOff);

    impl Drop for AcceptOnDrop {
        fn drop(&mut self) {
            self.0.accept(|_| async {});
        }
    }

    /// Regression test: the replaced function was dropped while the request was locked.
    #[test]
    fn replaced_function_is_dropped_without_lock() {
        let hand_off = HandOff::default();
        let accepting = AcceptOnDrop(hand_off.clone());
        hand_off.accept(move |_| {
            let _accepting = accepting;
            async {}
        });
        hand_off.accept(|_| async {});
        assert!(hand_off.taking().is_some());
    }
}
