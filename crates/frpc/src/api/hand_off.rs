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

use crate::api::request::Along;
use crate::client::attempt::{expired, out_of_time};
use crate::client::channel::{Channel, Terms, present};
use crate::client::link::lost;
use crate::codegen::Method;
use crate::deadline;
use crate::schema::layout;
use crate::service::{given_up, note, panicked};
use crate::wire::body::{self, Manner, Reading, Style};
use crate::{Code, Request, Response, Status};
use bytes::{Buf, Bytes};
use frisbee::support::{Task, Worked};
use frisbee::{HandOffAccepted, HandOffError, Header, Outbox, PacketId, TakeOver};
use parking_lot::Mutex;
use polyglot::{Form, Message};
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

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
    /// The transport, if the last call through the channel was answered and the handler has handed it off.
    pub fn take(&self) -> Option<RawTransport> {
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
    let style = Style { form: Form::Extended, backward: false };
    alone(|outbox| body::put_reply(outbox, PacketId(0), method.operation, reply, style))
}

/// An answer instead of a handler's.
#[cold]
pub(crate) fn refusal(status: &Status, method: Method) -> Bytes {
    let style = Style { form: Form::Extended, backward: false };
    alone(|outbox| body::put_refusal(outbox, PacketId(0), method.operation, status, style))
}

/// Answers a peer that asks for the connection with what comes of the handler, which is dropped if the peer gives up.
/// Its `task` is over before: the peer may ask again as soon as it has the answer.
pub(crate) async fn decide<B: Message>(
    asked: frisbee::HandOffRequest,
    method: Method,
    decision: &HandOff,
    work: impl Future<Output = Worked<Result<Response<B>, Status>>>,
    task: Task,
) {
    let worked = {
        // Dropped with its block, before the answer: what a handler holds, a place among others, is held no longer.
        let (mut work, mut waits) = (pin!(work), pin!(asked.given_up()));
        let worked = poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(worked) => Poll::Ready(worked),
            Poll::Pending => waits.as_mut().poll(context).map(|()| Ok(Err(given_up()))),
        });
        worked.await
    };
    let name = method.full_name();
    let connection = asked.connection().clone();
    let replied = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, &connection)));
    if let Err(status) = &replied {
        note(status, name, &connection);
    }
    let body = reply(replied.as_ref(), method);
    drop(task);
    match decision.taking().filter(|_| replied.is_ok()) {
        Some(taking) => asked.accept(body, taking),
        None => asked.refuse(body),
    }
}

/// Makes a call by which the connection is asked for.
pub(crate) async fn call<A, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<A>,
    handed: &HandedOff,
    terms: Terms,
) -> Result<Response<B>, Status>
where
    A: Message,
    B: Message,
{
    handed.take();
    let until = terms.timeout.and_then(|timeout| deadline::now().checked_add(timeout));
    let mut is_asked = false;
    let call = Asking { channel, method, handed, told: terms.told, until };
    let asking = call.ask(request, &mut is_asked);
    let Some(until) = until else { return asking.await };
    let answered = tokio::time::timeout_at(until.into(), asking).await;
    answered.unwrap_or_else(|_| Err(if is_asked { expired(method) } else { channel.late() }))
}

/// A call by which the connection is asked for.
struct Asking<'a> {
    channel: &'a Channel,
    method: &'static Method,
    handed: &'a HandedOff,
    /// Whether the server is told until when it may take.
    told: bool,
    until: Option<Instant>,
}

impl Asking<'_> {
    /// Asks, on a new connection if the one that is there is over before, and notes when it has asked.
    async fn ask<A: Message, B: Message>(
        &self,
        request: Request<A>,
        is_asked: &mut bool,
    ) -> Result<Response<B>, Status> {
        let Self { channel, method, .. } = *self;
        let (message, along) = request.into_parts();
        let mut begun = None;
        loop {
            let link = channel.link(self.until, &mut begun).await?;
            let Ok(peer) = link.connection.peer_known().await else { continue };
            let reading = link.reading(layout::rules(method.layout, &peer)?.missing(method));
            let left = self.until.map(|until| until.saturating_duration_since(deadline::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(out_of_time());
            }
            let metadata = present(Along::sent(along.as_deref()));
            let manner = Manner { metadata, timeout: left.filter(|_| self.told), ..Manner::plain(Form::Extended) };
            let mut encoded = Ok(());
            let body = alone(|outbox| {
                encoded = body::put_message(outbox.frame(PacketId(0), method.operation), &message, &manner);
            });
            encoded.map_err(body::PutError::into_status)?;
            let pause = || {
                let paused = link.calls.pause();
                *is_asked = paused.is_some();
                paused
            };
            let answered = link.connection.hand_off_if(method.operation, body, pause).await;
            if !*is_asked && matches!(answered, Err(HandOffError::Closed(_))) {
                continue;
            }
            let is_reply = matches!(answered, Ok(_) | Err(HandOffError::Refused(_)));
            let reply = self.take(answered, reading);
            if is_reply {
                link.calls.handle_answer(reply.as_ref().map_or_else(Status::code, |_| Code::Ok));
            }
            return reply;
        }
    }

    /// Makes a reply of what has been answered, and puts the connection where its caller finds it.
    fn take<B: Message>(
        &self,
        answered: Result<HandOffAccepted, HandOffError>,
        reading: Reading,
    ) -> Result<Response<B>, Status> {
        let status = match answered {
            Ok(accepted) => {
                *self.handed.0.lock() = Some(accepted.transport);
                return body::reply(&accepted.reply, reading);
            }
            Err(HandOffError::Refused(reply)) => return body::reply(&reply, reading),
            Err(HandOffError::Closed(reason)) => return Err(lost(&reason)),
            // No handler is called for these.
            Err(error @ HandOffError::Busy) => Status::failed_precondition(error.to_string()),
            Err(error @ HandOffError::TooLong(_)) => Status::resource_exhausted(error.to_string()),
            Err(HandOffError::NotServed) => {
                Status::unimplemented(format!("the server does not hand off connections for {}", self.method))
            }
            Err(error) => Status::unimplemented(error.to_string()),
        };
        Err(status.unsent())
    }
}
