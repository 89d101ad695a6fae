//! Connections that are handed off by a call: after its reply, their bytes belong to another protocol.
//!
//! The client calls any unary method of one message each way through a channel that [asks](crate::Channel::handing_off)
//! for the connection. The handler sees that in its [request](crate::Request::hand_off) and decides.
//!
//! ```
//! use frpc::hand_off::Raw;
//! # use frpc::{Request, Response, Status};
//! # struct Open;
//! # struct Opened;
//! # async fn speak(raw: Raw) {}
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
//! the connection goes on. While calls are in flight or streams open, in either direction, the connection is not handed
//! off, and the handler is not called; calls that were given up count until they have been answered.
//!
//! From the request on, calls on the channel and its clones wait for the answer. If the connection is handed off, they
//! go to a new one.

use crate::body::{self, Manner, Style};
use crate::channel::{CallTable, Channel, present, unsent};
use crate::codegen::Method;
use crate::layout;
use crate::request::Along;
use crate::{Request, Response, Status};
use bytes::{Buf, Bytes};
use frisbee::{HandOffError, Header, Outbox, PacketId, Taking};
use parking_lot::Mutex;
use polyglot::{Form, Message};
use std::fmt;
use std::sync::Arc;

pub use frisbee::Raw;

/// In a handler: the caller asks for the connection.
#[derive(Clone, Default)]
pub struct HandOff(Arc<Mutex<Option<Taking>>>);

impl HandOff {
    /// Agrees. If the handler then succeeds, `take` gets the transport as soon as the reply has been written; its
    /// future becomes a task of the runtime in which the server was started, which belongs to nobody. If the handler
    /// fails, `take` is dropped.
    pub fn accept<F>(&self, take: impl FnOnce(Raw) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        *self.0.lock() = Some(Taking::new(take));
    }

    pub(crate) fn taking(&self) -> Option<Taking> {
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
pub struct Handed(Arc<Mutex<Option<Raw>>>);

impl Handed {
    /// The transport, if the last call through the channel was answered and the handler has handed it off.
    pub fn take(&self) -> Option<Raw> {
        self.0.lock().take()
    }
}

/// A message as it stands in packets, without a packet around it.
fn alone(put: impl FnOnce(&mut Outbox)) -> Bytes {
    let mut outbox = Outbox::default();
    outbox.set_limit(u32::MAX);
    put(&mut outbox);
    let mut packet = outbox.take_bytes();
    packet.advance(packet.len().min(Header::MAX_LEN));
    packet
}

/// What a handler has answered.
pub(crate) fn reply<M: Message>(reply: Result<&Response<M>, &Status>, method: Method) -> Bytes {
    let style = Style { form: Form::Rich, backward: false };
    alone(|outbox| body::put_reply(outbox, PacketId(0), method.operation, reply, style))
}

/// Lets calls go on when the hand-off has come to nothing, or its caller has gone.
struct Paused<'a>(&'a CallTable);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        self.0.resume();
    }
}

/// Makes a call by which the connection is asked for.
pub(crate) async fn call<A, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<A>,
    handed: &Handed,
) -> Result<Response<B>, Status>
where
    A: Message,
    B: Message,
{
    handed.take();
    let link = channel.link(None, &mut None).await?;
    let peer = link.connection.verdict().await.map_err(|error| unsent(&error))?;
    let reading = link.reading(layout::rules(method.layout, &peer)?.missing(method));
    let (message, along) = request.into_parts();
    let manner = Manner { metadata: present(Along::sent(along.as_deref())), ..Manner::plain(Form::Rich) };
    let mut encoded = Ok(());
    let body = alone(|outbox| {
        encoded = body::put_message(outbox.frame(PacketId(0), method.operation), &message, &manner);
    });
    encoded.map_err(body::PutError::into_status)?;
    drop(message);
    let mut paused = None;
    let pause = || {
        paused = link.calls.pause().then(|| Paused(&link.calls));
        paused.is_some()
    };
    match link.connection.hand_off_if(method.operation, body, pause).await {
        Ok(accepted) => {
            let reply = body::reply(&accepted.reply, reading);
            *handed.0.lock() = Some(accepted.raw);
            reply
        }
        Err(HandOffError::Refused(reply)) => body::reply(&reply, reading),
        // No handler is called for these.
        Err(error @ HandOffError::Busy) => Err(Status::failed_precondition(error.to_string()).unsent()),
        Err(error @ HandOffError::TooLong(_)) => Err(Status::resource_exhausted(error.to_string()).unsent()),
        Err(error @ (HandOffError::NotServed | HandOffError::Unsupported)) => {
            Err(Status::unimplemented(error.to_string()).unsent())
        }
        Err(error) => Err(Status::unavailable(error.to_string())),
    }
}
