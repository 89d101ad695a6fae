//! [`UnaryCall`]: a unary call, from its arguments to its reply for C.

use crate::body::Body;
use crate::client::{CallArguments, Prepared, frisbee_client, until_cancelled};
use crate::handle::InUse;
use crate::payload::{Format, Payload};
use crate::reply::{NewReply, entries, frisbee_reply};
use crate::schema::Callable;
use frpc::codegen::{self, BoxFuture};
use frpc::hand_off::RawTransport;
use frpc::{Channel, Request, Response, Status};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A unary call, as a future of its reply. `Err` contains the reply of a failed call.
pub(crate) enum UnaryCall {
    /// A call of a known method without options other than a timeout. Nearly all calls take this path, which does not
    /// allocate.
    Plain(PlainCall),
    Other(BoxFuture<'static, Ended>),
    /// The call failed before it was sent. `None` once its reply has been taken.
    Refused(Option<NewReply>),
}

pub(crate) type Ended = Result<NewReply, NewReply>;

pub(crate) struct PlainCall {
    /// Future of the sent call, which borrows the channel of `client`. Declared before `client` so that it is dropped
    /// first.
    sent: codegen::UnaryCall<'static, Payload, NewReply>,
    client: InUse<frisbee_client>,
    index: usize,
    format: Format,
}

impl UnaryCall {
    /// Creates a call in `place`. Its request is sent when the future is polled.
    ///
    /// # Errors
    /// If there is no such method, or an option is invalid.
    #[inline(always)] // Writes the call only once.
    pub(crate) fn begin(arguments: CallArguments<'_>, place: &mut Option<Self>) -> Result<(), Status> {
        let (Some(index), Some(timeout)) = (arguments.method_index()?, arguments.only_timeout()) else {
            return Self::begin_other(arguments, place);
        };
        let CallArguments { client, format, data, .. } = arguments;
        let callable = client.method(index)?;
        let method = match callable.unary_method() {
            Ok(method) => method,
            Err(status) => return Self::refuse(&status, place),
        };
        let message = match callable.request.to_native(format, Body::copy(data)) {
            Ok(message) => message,
            Err(status) => return Self::refuse(&status, place),
        };
        let mut request = Request::new(message);
        if let Some(timeout) = timeout {
            request.set_timeout(timeout);
        }
        let channel = &raw const client.channel;
        // SAFETY: The channel is not moved while `client` is in use, which ends after `sent` is dropped.
        let channel: &'static Channel = unsafe { &*channel };
        *place = Some(Self::Plain(PlainCall { sent: channel.unary(method, request), client, index, format }));
        Ok(())
    }

    fn begin_other(arguments: CallArguments<'_>, place: &mut Option<Self>) -> Result<(), Status> {
        let call = arguments.prepare()?;
        let channel = call.target.client.channel.clone();
        *place = Some(Self::Other(Box::pin(make(call, channel))));
        Ok(())
    }

    fn refuse(status: &Status, place: &mut Option<Self>) -> Result<(), Status> {
        *place = Some(Self::Refused(Some(NewReply::new(frisbee_reply::refused(status)))));
        Ok(())
    }
}

impl Future for UnaryCall {
    type Output = Ended;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ended> {
        match self.get_mut() {
            Self::Plain(call) => Poll::Ready(match ready!(Pin::new(&mut call.sent).poll(context)) {
                // A reply in the native encoding needs no conversion.
                Ok(response) if call.format == Format::Native && response.metadata().is_empty() => {
                    Ok(response.into_inner())
                }
                ended => reply(ended, call.client.method(call.index), call.format),
            }),
            Self::Other(call) => call.as_mut().poll(context),
            Self::Refused(reply) => reply.take().map_or(Poll::Pending, |reply| Poll::Ready(Err(reply))),
        }
    }
}

/// Makes a call that requests a hand-off. Also returns the connection if the server has handed it off.
pub(crate) async fn hand_off(call: Prepared) -> (Ended, Option<RawTransport>) {
    let (channel, handed) = call.target.client.channel.request_hand_off();
    (make(call, channel).await, handed.take())
}

/// Makes a call that owns its arguments, fetching the schema first if necessary.
async fn make(mut call: Prepared, channel: Channel) -> Ended {
    let method = match call.fetch_schema().await {
        Ok(()) => call.unary_method(),
        Err(status) => Err(status),
    };
    let method = method.map_err(|status| NewReply::new(frisbee_reply::refused(&status)))?;
    let Prepared { target, request, cancel } = call;
    let ended = until_cancelled(cancel.as_ref(), channel.unary(method, request)).await;
    reply(ended, target.callable(), target.format)
}

/// Converts the outcome of a call to a reply for C.
fn reply(ended: Result<Response<NewReply>, Status>, callable: Result<&Arc<Callable>, Status>, format: Format) -> Ended {
    let (response, callable) = match ended.and_then(|response| Ok((response, callable?))) {
        Ok(known) => known,
        Err(status) => return Err(NewReply::failure(&status)),
    };
    let metadata = entries(response.metadata());
    let show = |body| frisbee_reply::new(&callable.reply, format, body, metadata);
    let shown = response.into_inner().into_reply(show);
    if shown.is_failure() { Err(NewReply::new(shown)) } else { Ok(NewReply::new(shown)) }
}
