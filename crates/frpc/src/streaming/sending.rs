//! Sending of messages, metadata, failures and the end on a frisbee stream.

use crate::Status;
use crate::api::metadata::Metadata;
use crate::wire::body::{self, PutError, Writing};
use crate::wire::prefix::{self, PrefixFields};
use frisbee::{Operation, PacketWriter, SendError, StreamBatch, StreamSender};
use futures_core::Stream;
use polyglot::{Form, Message};
use std::borrow::Borrow;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};

/// Returns the encoding of messages to this peer, flat or extended.
fn form(sender: &StreamSender) -> Form {
    if sender.is_native() { Form::Extended } else { Form::Flat }
}

pub(crate) async fn send<M: Message>(
    sender: &StreamSender,
    message: impl Borrow<M>,
    writing: Writing<'_>,
) -> Result<(), Status> {
    let form = form(sender);
    let mut waiter = sender.waiter();
    let sent = poll_fn(move |context| {
        waiter.poll_send(context, |packet| {
            body::put_message(packet, message.borrow(), form, writing, PrefixFields::default)
        })
    });
    sent.await?.map_err(PutError::into_status)
}

/// Maximum number of messages that a task sends before it yields. Equal to tokio's cooperative budget.
const SENT_AT_ONCE: usize = 128;

/// Sends all messages of a stream. Messages that are ready at the same time are sent together.
///
/// `message` extracts the message from an item of the stream. If an item has none, the call fails with the status from
/// `failure`. `count` is called with the number of messages in each batch, and `silent` if no message is ready at the
/// first poll.
pub(crate) async fn send_all<S, M>(
    sender: &StreamSender,
    messages: S,
    writing: Writing<'_>,
    message: impl Fn(&S::Item) -> Option<&M>,
    failure: impl Fn(S::Item) -> Status,
    count: impl Fn(usize),
    silent: impl FnOnce(),
) -> Result<(), Status>
where
    S: Stream,
    M: Message,
{
    let form = form(sender);
    let mut messages = pin!(messages);
    let mut batch = Batch(sender.batch());
    let batch = &mut batch.0;
    let mut silent = Some(silent);
    poll_fn(|context| {
        let (sent, polled) = send_some(
            batch,
            context,
            |context| messages.as_mut().poll_next(context),
            &message,
            move |message, packet| body::put_message(packet, message, form, writing, PrefixFields::default),
            &failure,
        );
        let silent = silent.take();
        if sent > 0 {
            count(sent);
        } else if polled.is_pending()
            && let Some(silent) = silent
        {
            silent();
        }
        polled
    })
    .await
}

/// Sends the messages of a stream that are ready, up to a limit. Returns their number, and the result of the stream if
/// it has ended. `next` polls the next item, `message` extracts its message, and `put` encodes the message as a packet.
fn send_some<T, M>(
    batch: &mut StreamBatch,
    context: &mut Context<'_>,
    mut next: impl FnMut(&mut Context<'_>) -> Poll<Option<T>>,
    message: impl Fn(&T) -> Option<&M>,
    put: impl Fn(&M, PacketWriter<'_>) -> Result<(), PutError>,
    failure: impl Fn(T) -> Status,
) -> (usize, Poll<Result<(), Status>>) {
    let mut sent = 0;
    let last = loop {
        match batch.poll_ready(context) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return (sent, Poll::Ready(Err(error.into()))),
            Poll::Pending => return (sent, Poll::Pending),
        }
        let next = next(context);
        // Borrow the item, because moving it takes as long as encoding a small message.
        let Poll::Ready(Some(item)) = &next else { break Ok(next) };
        let Some(message) = message(item) else { break Ok(next) };
        if let Err(error) = batch.put(|packet| put(message, packet)) {
            break Err(error.into_status());
        }
        sent += 1;
        if sent == SENT_AT_ONCE {
            // Yield. Otherwise, other tasks of this thread would starve if messages are always ready and another thread
            // consumes them.
            context.waker().wake_by_ref();
            break Ok(Poll::Pending);
        }
    };
    // Send the messages of the batch before reporting the end.
    if let Err(error) = batch.flush() {
        return (sent, Poll::Ready(Err(error.into())));
    }
    let ended = match last {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(None)) => Poll::Ready(Ok(())),
        Ok(Poll::Ready(Some(item))) => Poll::Ready(Err(failure(item))),
        Err(status) => Poll::Ready(Err(status)),
    };
    (sent, ended)
}

/// Batch of messages that is sent when dropped. If the stream of messages panics, the peer thus receives all messages
/// before the panic.
struct Batch(StreamBatch);

impl Drop for Batch {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            let _ = self.0.flush();
        }
    }
}

/// Accepts a native peer's call by sending the response metadata. Fails if there is not enough memory for the packet.
pub(crate) fn send_headers(sender: &StreamSender, metadata: &Metadata) -> Result<(), Status> {
    match sender.send_headers(&prefix::headers(metadata)) {
        Err(SendError::TooLong(error)) => Err(Status::resource_exhausted(format!("metadata of the reply: {error}"))),
        // Ignore other errors, because the metadata of a closed stream is never read.
        _ => Ok(()),
    }
}

/// Sends the failure status of a call. To a native peer, this also ends the sending side of the stream, and states
/// whether the call `is_refused`, so that it has not run.
pub(crate) fn send_failure(sender: &StreamSender, status: &Status, is_refused: bool) {
    if sender.is_native() {
        return sender.end_with(|max| prefix::trailers(status, is_refused, max));
    }
    let _ = sender.send_now(|outbox, id| body::put_error(outbox, id, Operation::STREAM, status, Form::Flat));
}

/// Ends the sending side of the stream.
pub(crate) fn send_end(sender: &StreamSender) {
    if sender.is_native() {
        return sender.end();
    }
    let _ = sender.send_now(body::put_end);
}
