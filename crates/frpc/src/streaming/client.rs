//! The calling end of calls with streams.

use super::{Streaming, next, send, send_end};
use crate::channel::{Channel, lost, unsent};
use crate::codegen::Method;
use crate::{Request, Status, body};
use frisbee::{Cell, StreamReceiver, StreamSender};
use futures_core::Stream;
use polyglot::Message;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::time::Sleep;

pub(crate) async fn call_server_streaming<A, B>(
    channel: &Channel,
    method: Method,
    request: Request<A>,
) -> Result<Streaming<B>, Status>
where
    A: Message,
    B: Message,
{
    let deadline = deadline(request.timeout());
    let (sender, receiver) = open(channel, method)?;
    send(&sender, request.into_inner()).await?;
    Ok(Streaming::of_client(receiver, channel.clone(), deadline))
}

pub(crate) async fn call_client_streaming<S, B>(
    channel: &Channel,
    method: Method,
    request: Request<S>,
    reply_within: Option<Duration>,
) -> Result<B, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
    B: Message,
{
    let limit = request.timeout();
    let (sender, mut receiver) = open(channel, method)?;
    let call = async {
        let mut sending = pin!(send_all(&sender, request.into_inner()));
        // A server that answers before the end has heard enough.
        let early = poll_fn(|context| match receiver.poll_recv(context) {
            Poll::Ready(reply) => Poll::Ready(Ok(Some(reply))),
            Poll::Pending => match sending.as_mut().poll(context) {
                // It may have answered and closed just now, which is why sending fails.
                Poll::Ready(Err(status)) => Poll::Ready(match receiver.poll_recv(context) {
                    Poll::Ready(Some(reply)) => Ok(Some(Some(reply))),
                    _ => Err(status),
                }),
                sent => sent.map_ok(|()| None),
            },
        });
        match early.await? {
            Some(reply) => Ok(reply),
            None => within(reply_within, async { Ok(receiver.recv().await) }).await,
        }
    };
    let reply = within(limit, call).await;
    sender.close();
    match reply? {
        Some(reply) if super::is_end(&reply) => Err(Status::internal("the server ended the call without a reply")),
        Some(reply) => body::reply(&reply),
        None => Err(match channel.connection().close_reason() {
            Some(reason) => lost(&reason),
            None => Status::unavailable("the server closed the stream without a reply"),
        }),
    }
}

pub(crate) async fn call_streaming<S, B>(
    channel: &Channel,
    method: Method,
    request: Request<S>,
) -> Result<Streaming<B>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message + Send,
    B: Message,
{
    let deadline = deadline(request.timeout());
    let (sender, receiver) = open(channel, method)?;
    channel.connection().spawn(async move {
        let requests = request.into_inner();
        let mut sending = pin!(Cell::park(async { send_all(&sender, requests).await }));
        let sent = poll_fn(|context| match sending.as_mut().poll(context) {
            Poll::Ready(sent) => Poll::Ready(matches!(sent, Ok(Ok(())))),
            // The call is over; whatever is still to come is not sent.
            Poll::Pending => sender.poll_closed(context).map(|()| true),
        });
        if !sent.await {
            sender.close();
        }
    });
    Ok(Streaming::of_client(receiver, channel.clone(), deadline))
}

fn open(channel: &Channel, method: Method) -> Result<(StreamSender, StreamReceiver), Status> {
    let stream = channel.connection().open_stream(&body::open(method.operation));
    Ok(stream.map_err(|error| unsent(&error))?.split())
}

async fn send_all<S>(sender: &StreamSender, messages: S) -> Result<(), Status>
where
    S: Stream,
    S::Item: Message,
{
    let mut messages = pin!(messages);
    while let Some(message) = next(&mut messages).await {
        send(sender, message).await?;
        // Messages that are all there, taken away by another thread, would keep everybody else on this one waiting.
        tokio::task::coop::consume_budget().await;
    }
    send_end(sender);
    Ok(())
}

fn deadline(timeout: Option<Duration>) -> Option<Pin<Box<Sleep>>> {
    timeout.map(|timeout| Box::pin(tokio::time::sleep(timeout)))
}

async fn within<T>(limit: Option<Duration>, work: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    match limit {
        None => work.await,
        Some(limit) => match tokio::time::timeout(limit, work).await {
            Ok(done) => done,
            Err(_) => Err(Status::deadline_exceeded("the call was not answered in time, it may have run")),
        },
    }
}
