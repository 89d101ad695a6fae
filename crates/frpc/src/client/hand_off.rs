//! The client side of calls that request a hand-off.

use crate::api::BoxedCall;
use crate::api::hand_off::HandOffSlot;
use crate::calls::failures::{closed_status, expired, out_of_time};
use crate::client::attempt::AnyReply;
use crate::client::call::PendingCall;
use crate::client::channel::Channel;
use crate::client::picker::PickedConnection;
use crate::client::retrying::yield_once;
use crate::clock;
use crate::context;
use crate::wire::body::{self, AnyMessage, DecodeOptions, EncodeBody, Flags, Writing, alone};
use crate::wire::translation::Translation;
use crate::{Code, Response, Status};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, HandOffAccepted, HandOffError, PacketId};
use polyglot::{Form, Message};
use std::mem;
use std::time::{Duration, Instant};

/// Makes a call that requests a connection hand-off. The future is boxed, so that it is compiled once rather than for
/// each method.
pub(crate) fn call<'a>(
    channel: &'a Channel,
    call: PendingCall<'a>,
    message: &'a AnyMessage,
    read_reply: ReadReply,
    handed: &'a HandOffSlot,
) -> BoxedCall<'a, AnyReply> {
    Box::pin(channel.in_runtime(async move {
        handed.take();
        let (method, trace) = (call.method, context::trace());
        let call = PendingCall { trace: trace.as_ref(), ..call };
        let until = clock::after(call.options.timeout);
        let mut is_requested = false;
        let call = HandOffCall { channel, call, handed, read_reply, until };
        let requesting = call.request(message, &mut is_requested);
        let answered = clock::within(&channel.inner.runtime, until, requesting).await;
        answered.unwrap_or_else(|_| Err(if is_requested { expired(method) } else { out_of_time() }))
    }))
}

/// Type of the function [`call`]. Channels store it as a function pointer, so that only programs that use hand-offs
/// link its code.
pub(crate) type MakeCall =
    for<'a> fn(&'a Channel, PendingCall<'a>, &'a AnyMessage, ReadReply, &'a HandOffSlot) -> BoxedCall<'a, AnyReply>;

/// Function that decodes a reply, an instance of [`read_reply`].
pub(crate) type ReadReply = fn(&Bytes, Reading<'_>, &Connection) -> Result<Response<AnyReply>, Status>;

/// Options for decoding a reply, and the translation of its message if the peer uses another wire layout.
pub(crate) type Reading<'a> = (DecodeOptions, Option<&'a Translation>);

/// Decodes a reply with a message of type `B`.
pub(crate) fn read_reply<B: Message + Send + 'static>(
    body: &Bytes,
    (reading, translation): Reading<'_>,
    by: &Connection,
) -> Result<Response<AnyReply>, Status> {
    Ok(body::reply::<B>(body, reading, by, translation)?.map(|message| Box::new(message) as AnyReply))
}

/// A call that asks the server to hand off its connection.
struct HandOffCall<'a> {
    channel: &'a Channel,
    call: PendingCall<'a>,
    handed: &'a HandOffSlot,
    read_reply: ReadReply,
    until: Option<Instant>,
}

/// Upper bound of the delay before a hand-off request is repeated because the connection was busy. A peer may not have
/// cleaned up after its last call or stream yet. The delay starts at a millisecond and doubles, so that the request
/// fails after about a second.
const BUSY_MAX: Duration = Duration::from_secs(1);

impl HandOffCall<'_> {
    /// Sends the hand-off request. If the connection closes before that, retries on a new one. Sets `is_requested` once
    /// the request has been sent.
    async fn request(&self, message: &AnyMessage, is_requested: &mut bool) -> Result<Response<AnyReply>, Status> {
        let Self { channel, call, .. } = *self;
        let method = call.method;
        let (mut started, mut delay) = (None, Duration::from_millis(1));
        let mut is_repeated = false;
        loop {
            if mem::replace(&mut is_repeated, true) {
                yield_once().await;
            }
            let PickedConnection { link, .. } = channel.link_for(&call, self.until, &mut started).await?;
            let connection = link.native()?;
            let peer = link.unless_abandoned(connection.peer_known()).await;
            let Some(Ok(_)) = peer else { continue };
            let prepared = link.unless_abandoned(link.prepare(method)).await;
            let Some((operation, translation)) = prepared.transpose()? else { continue };
            link.describe(method.layout);
            let writing = Writing::new(Flags::default(), translation.as_deref());
            let reading = (link.reading(), translation.as_deref());
            let left = clock::left(self.until);
            if left.is_some_and(|left| left.is_zero()) {
                return Err(out_of_time());
            }
            let prefix = || call.prefix(left.filter(|_| call.options.sends_timeout));
            let mut encoded = Ok(());
            let body = alone(|outbox| {
                let packet = outbox.packet(PacketId(0), operation);
                encoded = body::put_message(packet, &(message as &dyn EncodeBody), Form::Extended, writing, prefix);
            });
            encoded.map_err(body::PutError::into_status)?;
            let pause = || link.calls.pause().inspect(|_| *is_requested = true);
            let answered = connection.hand_off_if(operation, body, pause).await;
            if !*is_requested && matches!(answered, Err(HandOffError::Closed(_))) {
                // Retry on another connection, because the request was not sent.
                continue;
            }
            // Do not wait for other calls that are in flight, because more may follow them.
            let may_be_ending = *is_requested || link.calls.is_idle();
            if matches!(answered, Err(HandOffError::Busy)) && may_be_ending && delay < BUSY_MAX {
                *is_requested = false;
                if clock::wait_until(&channel.inner.runtime, clock::now() + delay).await {
                    delay *= 2;
                    continue;
                }
            }
            let is_reply = matches!(answered, Ok(_) | Err(HandOffError::Refused(_)));
            let reply = self.take(answered, reading, connection);
            if is_reply {
                link.calls.handle_answer(reply.as_ref().map_or_else(Status::code, |_| Code::Ok));
            }
            return reply;
        }
    }

    /// Decodes the reply to a hand-off request and stores the handed-off transport in the slot.
    fn take(
        &self,
        answered: Result<HandOffAccepted, HandOffError>,
        reading: Reading<'_>,
        by: &Connection,
    ) -> Result<Response<AnyReply>, Status> {
        let status = match answered {
            Ok(accepted) => {
                let reply = (self.read_reply)(&accepted.reply, reading, by);
                return reply.inspect(|_| self.handed.put(accepted.transport));
            }
            Err(HandOffError::Refused(reply)) => return (self.read_reply)(&reply, reading, by),
            Err(HandOffError::Closed(reason)) => return Err(closed_status(&reason)),
            // In the remaining cases, the handler has not run.
            Err(error @ HandOffError::Busy) => Status::failed_precondition(error.to_string()),
            Err(error @ HandOffError::TooLong(_)) => Status::resource_exhausted(error.to_string()),
            Err(HandOffError::NotServed) => {
                Status::unimplemented(format!("the server does not hand off connections for {}", self.call.method))
            }
            Err(error) => Status::unimplemented(error.to_string()),
        };
        Err(status.not_run())
    }
}
