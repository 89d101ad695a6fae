//! The calling end of calls that request a hand-off.

use crate::api::hand_off::HandOffSlot;
use crate::calls::failures::{closed_status, expired, out_of_time};
use crate::calls::offers::rules;
use crate::client::call::{CallOptions, PendingCall};
use crate::client::channel::Channel;
use crate::client::picker::PickedConnection;
use crate::deadline;
use crate::schema::method::Method;
use crate::wire::body::{self, DecodeOptions, EncodeForm, alone};
use crate::{Code, Request, Response, Status};
use frisbee::{Connection, HandOffAccepted, HandOffError, PacketId};
use polyglot::{Form, Message};
use std::time::Instant;

/// Makes a call that requests a hand-off.
pub(crate) async fn call<A, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<A>,
    handed: &HandOffSlot,
    options: CallOptions,
) -> Result<Response<B>, Status>
where
    A: Message,
    B: Message,
{
    handed.take();
    let until = options.timeout.and_then(|timeout| deadline::now().checked_add(timeout));
    let mut is_requested = false;
    let call = HandOffCall { channel, method, handed, options, until };
    let requesting = call.request(request, &mut is_requested);
    let Some(until) = until else { return requesting.await };
    let answered = deadline::timeout_at(&channel.inner.runtime, until, requesting).await;
    answered.unwrap_or_else(|_| Err(if is_requested { expired(method) } else { out_of_time() }))
}

/// A call that requests a hand-off.
struct HandOffCall<'a> {
    channel: &'a Channel,
    method: &'static Method,
    handed: &'a HandOffSlot,
    options: CallOptions,
    until: Option<Instant>,
}

impl HandOffCall<'_> {
    /// Sends the request, on a new connection if the current one ends before. `is_requested` notes that it was sent.
    async fn request<A: Message, B: Message>(
        &self,
        request: Request<A>,
        is_requested: &mut bool,
    ) -> Result<Response<B>, Status> {
        let Self { channel, method, .. } = *self;
        let (message, extras) = request.into_parts();
        let mut started = None;
        loop {
            let call = PendingCall::new(method, self.options, extras.as_deref());
            let PickedConnection { link, .. } = channel.link_for(&call, self.until, &mut started).await?;
            let Ok(peer) = link.connection.peer_known().await else { continue };
            let reading = link.reading(rules(method.layout, &peer)?.missing(method));
            let left = self.until.map(|until| until.saturating_duration_since(deadline::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(out_of_time());
            }
            let prefix = call.prefix(false, left.filter(|_| self.options.sends_timeout));
            let form = EncodeForm { prefix, ..EncodeForm::plain(Form::Extended) };
            let mut encoded = Ok(());
            let body = alone(|outbox| {
                encoded = body::put_message(outbox.packet(PacketId(0), method.operation), &message, &form);
            });
            encoded.map_err(body::PutError::into_status)?;
            let pause = || {
                let paused = link.calls.pause();
                *is_requested = paused.is_some();
                paused
            };
            let answered = link.connection.hand_off_if(method.operation, body, pause).await;
            if !*is_requested && matches!(answered, Err(HandOffError::Closed(_))) {
                continue;
            }
            let is_reply = matches!(answered, Ok(_) | Err(HandOffError::Refused(_)));
            let reply = self.take(answered, reading, &link.connection);
            if is_reply {
                link.calls.handle_answer(reply.as_ref().map_or_else(Status::code, |_| Code::Ok));
            }
            return reply;
        }
    }

    /// Reads the reply, and puts the transport into its slot.
    fn take<B: Message>(
        &self,
        answered: Result<HandOffAccepted, HandOffError>,
        reading: DecodeOptions,
        by: &Connection,
    ) -> Result<Response<B>, Status> {
        let status = match answered {
            Ok(accepted) => {
                self.handed.put(accepted.transport);
                return body::reply(&accepted.reply, reading, by);
            }
            Err(HandOffError::Refused(reply)) => return body::reply(&reply, reading, by),
            Err(HandOffError::Closed(reason)) => return Err(closed_status(&reason)),
            // No handler is called for these.
            Err(error @ HandOffError::Busy) => Status::failed_precondition(error.to_string()),
            Err(error @ HandOffError::TooLong(_)) => Status::resource_exhausted(error.to_string()),
            Err(HandOffError::NotServed) => {
                Status::unimplemented(format!("the server does not hand off connections for {}", self.method))
            }
            Err(error) => Status::unimplemented(error.to_string()),
        };
        Err(status.not_run())
    }
}
