//! The calling end of calls with streams.

use crate::api::along::Along;
use crate::api::middleware::{About, CallKind};
use crate::api::streams::carried_by;
use crate::calls::failures::{lost, takes_no_calls};
use crate::calls::offers::rules;
use crate::client::around::around;
use crate::client::channel::Channel;
use crate::client::link::Link;
use crate::deadline;
use crate::schema::method::Method;
use crate::streaming::{Streaming, late, send, send_all, send_end};
use crate::wire::body::{self, Reading};
use crate::wire::layouts::takes_calls;
use crate::{Code, Request, Response, Status};
use frisbee::support::Parked;
use frisbee::{CloseReason, SendError, StreamReceiver, StreamSender};
use futures_core::Stream;
use polyglot::Message;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::time::Sleep;
use tokio::time::error::Elapsed;

impl Channel {
    /// Makes a call that is answered with a stream. For generated clients.
    ///
    /// # Errors
    /// If there is no connection or the request cannot be sent. Later errors come through the stream.
    pub async fn server_streaming<A, B>(
        &self,
        method: &'static Method,
        request: Request<A>,
    ) -> Result<Response<Streaming<B>>, Status>
    where
        A: Message + Send + Sync + 'static,
        B: Message + 'static,
    {
        let (about, plain) = (About::new::<A, B>(*method, CallKind::ServerStreaming), self.plain());
        let call = move |request| async move { call_server_streaming(&plain, method, request).await };
        self.in_runtime(around(self.chain.clone(), about, request, call)).await
    }

    /// Makes a call that sends a stream and is answered with one message. For generated clients.
    ///
    /// # Errors
    /// What the server answered, or why there is no answer.
    pub async fn client_streaming<S, B>(
        &self,
        method: &'static Method,
        request: Request<S>,
    ) -> Result<Response<B>, Status>
    where
        S: Stream + Send + 'static,
        S::Item: Message + Send + Sync,
        B: Message + Send + 'static,
    {
        let (about, plain) = (About::new::<S::Item, B>(*method, CallKind::ClientStreaming), self.plain());
        let call = move |request| async move { call_client_streaming(&plain, method, request).await };
        self.in_runtime(around(self.chain.clone(), about, request, call)).await
    }

    /// Makes a call with a stream each way. For generated clients.
    ///
    /// # Errors
    /// If there is no connection. Later errors come through the stream.
    pub async fn streaming<S, B>(
        &self,
        method: &'static Method,
        request: Request<S>,
    ) -> Result<Response<Streaming<B>>, Status>
    where
        S: Stream + Send + 'static,
        S::Item: Message + Send + Sync,
        B: Message + 'static,
    {
        let (about, plain) = (About::new::<S::Item, B>(*method, CallKind::Streaming), self.plain());
        let call = move |request| async move { call_streaming(&plain, method, request).await };
        self.in_runtime(around(self.chain.clone(), about, request, call)).await
    }
}

async fn call_server_streaming<A, B>(
    channel: &Channel,
    method: &Method,
    request: Request<A>,
) -> Result<Response<Streaming<B>>, Status>
where
    A: Message,
    B: Message,
{
    let terms = Opening::new(channel, request.timeout());
    let (message, along) = request.into_parts();
    let mut begun = None;
    let Opened { sender, receiver, link, reading } = loop {
        let opened = terms.open(channel, method, along.as_deref(), &mut begun).await?;
        // A server that hardly reads may keep what waits from being written.
        match terms.in_time(send::<A>(&opened.sender, &message, channel.is_strict())).await? {
            Ok(()) => break opened,
            // A server begins with the request, which this one did not get.
            Err(status) if status.code() == Code::Unavailable && opened.link.connection.is_closed() => {}
            // It has closed the stream, and said why before, which whoever reads is told.
            Err(status) if status.code() == Code::Unavailable => break opened,
            Err(status) => return Err(status),
        }
    };
    drop(message);
    // With a Go server the request is the end, without saying so.
    sender.end();
    let connection = link.connection.clone();
    connection.runtime_handle().spawn(keep(link, sender));
    Ok(Response::new(Streaming::of_client(receiver, connection, reading, terms.sleep())))
}

/// Keeps the connection of a channel until a stream is over. Whoever reads does not: a server that stops waits for the
/// connection to be closed, and what has come can be read afterwards. It is no work of the connection, which would pass
/// for busy a moment longer than the stream.
async fn keep(_link: Arc<Link>, sender: StreamSender) {
    poll_fn(|context| sender.poll_closed(context)).await;
}

async fn call_client_streaming<S, B>(
    channel: &Channel,
    method: &Method,
    request: Request<S>,
) -> Result<Response<B>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
    B: Message,
{
    let terms = Opening::new(channel, request.timeout());
    let (messages, along) = request.into_parts();
    let Opened { sender, receiver, link, reading } = terms.open(channel, method, along.as_deref(), &mut None).await?;
    carried_by(&messages, &link.connection);
    let mut replies: Streaming<B> = Streaming::of_client(receiver, link.connection.clone(), reading, terms.sleep());
    let strict = channel.is_strict();
    let mut sending = pin!(send_messages(&sender, messages, strict));
    // A server that answers before the end has heard enough.
    let early = poll_fn(|context| match replies.poll_message(context) {
        Poll::Ready(reply) => Poll::Ready(Ok(Some(reply))),
        Poll::Pending => match sending.as_mut().poll(context) {
            // It may have answered and closed just now, which is why sending fails.
            Poll::Ready(Err(status)) => Poll::Ready(match replies.poll_message(context) {
                Poll::Ready(reply @ Some(_)) => Ok(Some(reply)),
                _ => Err(cut_off(status, link.connection.close_reason())),
            }),
            sent => sent.map_ok(|()| None),
        },
    });
    let reply = match early.await? {
        Some(reply) => reply,
        None => {
            within(terms.limit, poll_fn(|context| replies.poll_message(context))).await.map_err(|_| unanswered())?
        }
    };
    let reply = reply.unwrap_or_else(|| Err(Status::internal("the server ended the call without a reply")))?;
    let mut response = Response::new(reply);
    if !replies.metadata().is_empty() {
        *response.metadata_mut() = replies.metadata().clone();
    }
    Ok(response)
}

async fn call_streaming<S, B>(
    channel: &Channel,
    method: &Method,
    request: Request<S>,
) -> Result<Response<Streaming<B>>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message + Send,
    B: Message,
{
    let terms = Opening::new(channel, request.timeout());
    let (messages, along) = request.into_parts();
    let Opened { sender, receiver, link, reading } = terms.open(channel, method, along.as_deref(), &mut None).await?;
    let strict = channel.is_strict();
    let connection = link.connection.clone();
    carried_by(&messages, &connection);
    let replies = Streaming::of_client(receiver, connection.clone(), reading, terms.sleep());
    let failed = replies.failed();
    let mut deadline = terms.sleep();
    connection.runtime_handle().spawn(keep(link, sender.clone()));
    connection.spawn(async move {
        let sent = {
            let mut sending = pin!(Parked::new(async { send_messages(&sender, messages, strict).await }));
            let sent = poll_fn(|context| match sending.as_mut().poll(context) {
                Poll::Ready(sent) => {
                    Poll::Ready(sent.unwrap_or_else(|_| Err(Status::internal("the stream of requests panicked"))))
                }
                Poll::Pending => {
                    if deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
                        return Poll::Ready(Err(late()));
                    }
                    // The call is over; whatever is still to come is not sent.
                    sender.poll_closed(context).map(Ok)
                }
            });
            sent.await
        };
        if let Err(status) = sent {
            // Otherwise it is the server that has ended it, which whoever reads is told.
            if status.code() != Code::Unavailable {
                let _ = failed.set(status.may_run());
            }
            sender.close();
        }
    });
    Ok(Response::new(replies))
}

/// How long a call with streams may take.
struct Opening {
    /// Until when it has to be over, of which a server of ours is told. There is no default: streams may well last.
    until: Option<Instant>,
    /// How long what does not last may take: the opening, and a single reply behind the last request.
    limit: Option<Duration>,
    /// Until when it has to be opened.
    open_until: Option<Instant>,
}

/// A stream for a call.
struct Opened {
    sender: StreamSender,
    receiver: StreamReceiver,
    link: Arc<Link>,
    /// How replies are read.
    reading: Reading,
}

impl Opening {
    fn new(channel: &Channel, timeout: Option<Duration>) -> Self {
        let limit = channel.terms(timeout).timeout;
        let at = |timeout: Option<Duration>| timeout.and_then(|timeout| deadline::now().checked_add(timeout));
        Self { until: at(deadline::allowed(timeout)), limit, open_until: at(limit) }
    }

    /// Opens the stream, on a new connection if the one that is there is over before. Since when the call has waited
    /// for one is kept in `begun`.
    async fn open(
        &self,
        channel: &Channel,
        method: &Method,
        along: Option<&Along>,
        begun: &mut Option<tokio::time::Instant>,
    ) -> Result<Opened, Status> {
        if left(self.open_until).is_some_and(|left| left.is_zero()) {
            return Err(not_opened());
        }
        let open = async {
            loop {
                let link = channel.link(self.open_until, begun).await?;
                let Ok(peer) = link.connection.peer_known().await else { continue };
                if link.backward && !takes_calls(&peer) {
                    return Err(takes_no_calls());
                }
                if peer.hello().is_some_and(|hello| hello.streams_max == 0) {
                    return Err(Status::unimplemented("the peer does not accept streams").unsent());
                }
                let reading = link.reading(rules(method.layout, &peer)?.missing(method));
                let first = if peer.hello().is_some() {
                    body::open(method.operation, left(self.until), Along::sent(along))
                } else {
                    body::open(method.operation, None, None)
                };
                // One that waits for a place goes to the next connection when this one takes nothing new.
                let opening = link.unless_left(link.connection.open_stream(&first));
                let Some(opened) = opening.await else { continue };
                match opened {
                    Ok(stream) => {
                        let (sender, receiver) = stream.split();
                        return Ok(Opened { sender, receiver, link, reading });
                    }
                    Err(SendError::Closed(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        };
        self.in_time(open).await?
    }

    /// Does something that belongs to the opening.
    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, Status> {
        within(left(self.open_until), work).await.map_err(|_| not_opened())
    }

    fn sleep(&self) -> Option<Pin<Box<Sleep>>> {
        self.until.map(|until| Box::pin(tokio::time::sleep_until(until.into())))
    }
}

/// Sends all messages, and their end.
async fn send_messages<S>(sender: &StreamSender, messages: S, strict: bool) -> Result<(), Status>
where
    S: Stream,
    S::Item: Message,
{
    send_all(sender, messages, strict, Ok, |_| {}).await?;
    send_end(sender);
    Ok(())
}

/// Why a call is over of whose messages one could not be sent. Those before may have been heard.
fn cut_off(status: Status, reason: Option<CloseReason>) -> Status {
    match reason {
        Some(reason) if status.code() == Code::Unavailable => lost(&reason),
        _ => status.may_run(),
    }
}

/// How much time is left.
fn left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(deadline::now()))
}

async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    match limit {
        None => Ok(work.await),
        Some(limit) => tokio::time::timeout(limit, work).await,
    }
}

fn not_opened() -> Status {
    Status::deadline_exceeded("not sent: the limit of open streams was reached until the deadline").unsent()
}

fn unanswered() -> Status {
    Status::deadline_exceeded("the call was not answered before its deadline and may have run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_cut_off_while_it_streams_does_not_say_that_it_was_not_sent() {
        let unsent = Status::from(SendError::Closed(CloseReason::IdleTimeout));
        assert!(unsent.message().contains("not sent") && !unsent.may_have_run());
        let status = cut_off(unsent, Some(CloseReason::IdleTimeout));
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true));
        assert!(status.message().contains("may have run"), "{status}");
        let too_long = cut_off(Status::resource_exhausted("too long").unsent(), None);
        assert_eq!((too_long.message(), too_long.may_have_run()), ("too long", true));
    }
}
