//! Calls with streams: what users hold of them, and how they are carried by a frisbee stream.
//!
//! On the wire each message of a stream is a packet; the error text `EOF` ends one direction, any other error fails
//! the call, and a packet without content closes both directions and frees the stream's id.

mod client;
mod elsewhere;
mod respond;
mod server;

pub(crate) use client::{call_client_streaming, call_server_streaming, call_streaming};
pub use respond::{Iter, RequestSender, RequestStream, ResponseSender, ResponseStream, iter};
pub(crate) use server::{refuse, serve_client_streaming, serve_server_streaming, serve_streaming};

use crate::channel::Channel;
use crate::{Status, body};
use bytes::Bytes;
use frisbee::{Operation, SendError, StreamReceiver, StreamSender};
use futures_core::Stream;
use parking_lot::Mutex;
use polyglot::{Message, Root};
use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Sleep;

/// The messages that a peer streams.
///
/// Dropping it on the client closes the stream; on the server the messages that still come are thrown away.
pub struct Streaming<M> {
    /// `None` when the stream is over.
    receiver: Option<StreamReceiver>,
    end: End,
    deadline: Option<Pin<Box<Sleep>>>,
    message: PhantomData<fn() -> M>,
    /// Where messages come from if not from a receiver.
    elsewhere: Option<elsewhere::Elsewhere<M>>,
}

/// What becomes of the receiver when it is no longer needed.
enum End {
    /// The client's: the stream is closed, and the channel kept until then.
    Client { _channel: Channel },
    /// The server's: it goes back to the task that serves the call.
    Server(Arc<Lent>),
}

/// Where a handler's receiver is given back to.
#[derive(Default)]
pub(crate) struct Lent(Mutex<Back>);

#[derive(Default)]
struct Back {
    receiver: Option<StreamReceiver>,
    /// The peer has ended its direction.
    ended: bool,
}

impl<M: Message> Streaming<M> {
    fn of_server(receiver: StreamReceiver, lent: Arc<Lent>) -> Self {
        Self { receiver: Some(receiver), end: End::Server(lent), deadline: None, message: PhantomData, elsewhere: None }
    }

    fn of_client(receiver: StreamReceiver, channel: Channel, deadline: Option<Pin<Box<Sleep>>>) -> Self {
        let end = End::Client { _channel: channel };
        Self { receiver: Some(receiver), end, deadline, message: PhantomData, elsewhere: None }
    }

    /// The next message; `None` when the peer has ended the stream in good order.
    ///
    /// # Errors
    /// If the peer reports a failure, sends what is no message, or is lost. Afterwards the stream is over.
    ///
    /// # Cancel safety
    /// Dropping the future loses no message.
    pub async fn message(&mut self) -> Result<Option<M>, Status> {
        poll_fn(|context| self.poll_message(context)).await.transpose()
    }

    fn poll_message(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<M, Status>>> {
        let Some(receiver) = &mut self.receiver else { return self.poll_elsewhere(context) };
        let Poll::Ready(body) = receiver.poll_recv(context) else {
            let Some(deadline) = &mut self.deadline else { return Poll::Pending };
            std::task::ready!(deadline.as_mut().poll(context));
            self.finish(false);
            return Poll::Ready(Some(Err(Status::deadline_exceeded("the stream did not end in time"))));
        };
        let Some(body) = body else {
            let status = self.broken();
            self.finish(true);
            return Poll::Ready(Some(Err(status)));
        };
        Poll::Ready(match body::message(&body) {
            Ok(Root::Message(message)) => Some(Ok(message)),
            Ok(Root::Error(text)) if text == body::EOF => {
                self.finish(true);
                None
            }
            Ok(Root::Error(text)) => {
                self.finish(false);
                Some(Err(Status::unknown(text)))
            }
            Err(error) => {
                self.finish(false);
                Some(Err(body::undecodable::<M>("message", &error)))
            }
        })
    }

    /// Why a stream is over that was not ended.
    fn broken(&self) -> Status {
        if self.receiver.as_ref().is_some_and(StreamReceiver::overflowed) {
            return Status::resource_exhausted("messages came faster than they were read, and some were lost");
        }
        match &self.end {
            End::Client { _channel: channel } => match channel.connection().close_reason() {
                Some(reason) => crate::channel::lost(&reason),
                None => Status::unavailable("the server closed the stream before its end"),
            },
            End::Server(_) => Status::cancelled("the client closed the stream before its end"),
        }
    }
}

impl<M> Streaming<M> {
    /// Lets go of the receiver. `ended` says that the peer has ended its direction.
    fn finish(&mut self, ended: bool) {
        let Some(receiver) = self.receiver.take() else { return };
        self.deadline = None;
        match &self.end {
            End::Client { .. } => receiver.close(),
            End::Server(lent) => {
                let mut back = lent.0.lock();
                back.ended |= ended;
                back.receiver = Some(receiver);
            }
        }
    }
}

impl<M> Drop for Streaming<M> {
    fn drop(&mut self) {
        self.finish(false);
    }
}

impl<M: Message> Stream for Streaming<M> {
    type Item = Result<M, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_message(context)
    }
}

impl<M> fmt::Debug for Streaming<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streaming").field("open", &self.receiver.is_some()).finish_non_exhaustive()
    }
}

/// Sends one message.
async fn send<M: Message>(sender: &StreamSender, message: M) -> Result<(), Status> {
    let sent = poll_fn(move |context| sender.poll_send(context, |frame| body::put_message(frame, &message))).await;
    sent.map_err(|error: SendError| crate::channel::unsent(&error))?
}

/// Fails the call. The text `EOF` would be taken for the end, so it is not sent bare.
fn send_error(sender: &StreamSender, status: &Status) {
    let message = status.message();
    let bare = message != body::EOF;
    let _ = sender.send_now(|outbox, id| {
        let text = if bare { message.into() } else { Cow::from(format!("{}: {message}", status.code())) };
        body::put_error(outbox, id, Operation::STREAM, &text);
    });
}

/// Ends this end's direction.
fn send_end(sender: &StreamSender) {
    let _ = sender.send_now(|outbox, id| body::put_error(outbox, id, Operation::STREAM, body::EOF));
}

/// Whether a body ends a direction.
fn is_end(body: &Bytes) -> bool {
    let error = polyglot::Decoder::new(body).error_text();
    error.is_ok_and(|text| text == body::EOF)
}

/// The next item of a stream.
async fn next<S: Stream>(stream: &mut Pin<&mut S>) -> Option<S::Item> {
    poll_fn(|context| stream.as_mut().poll_next(context)).await
}
