//! The client side of streaming calls.

use crate::api::BoxedCall;
use crate::api::extras::Extras;
use crate::api::middleware::{CallKind, MethodInfo};
use crate::api::streams::carried_by;
use crate::calls::failures::{closed_status, out_of_time, takes_no_calls, unidentified};
use crate::client::call::PendingCall;
use crate::client::channel::Channel;
#[cfg(feature = "grpc")]
use crate::client::grpc;
use crate::client::link::Link;
use crate::client::middleware_call::around;
use crate::client::picker::PickedConnection;
use crate::client::retrying::yield_once;
use crate::clock;
use crate::context;
use crate::observe::observers::ObservedCall;
use crate::schema::method::Method;
use crate::streaming::{ReceiverEnd, Streaming, late, send, send_all, send_end};
use crate::wire::body::{self, DecodeOptions, Flags, Writing};
use crate::wire::layouts::takes_calls;
use crate::wire::prefix::PrefixFields;
use crate::wire::translation::Translation;
use crate::{Code, Request, Response, Status};
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::{Job, ParkedFuture};
use frisbee::{CloseReason, Connection, SendError, StreamBytes, StreamReceiver, StreamSender};
use futures_core::Stream;
use polyglot::Message;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::Sleep;

impl Channel {
    /// Makes a server-streaming call. Called by generated clients.
    ///
    /// # Errors
    /// If there is no connection or the request cannot be sent. Later failures are reported by the stream.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call.
    pub async fn server_streaming<A, B>(
        &self,
        method: &'static Method,
        request: Request<A>,
    ) -> Result<Response<Streaming<B>>, Status>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        let (about, plain) = (MethodInfo::new::<A, B>(*method, CallKind::ServerStreaming), self.within(None));
        let observed_call = self.observe(method, CallKind::ServerStreaming, None);
        let call = move |request| -> BoxedCall<'static, _> {
            Box::pin(async move { call_server_streaming(&plain, method, request).await })
        };
        until_its_end(observed_call, self.in_runtime(around(self, about, request, call))).await
    }

    /// Makes a client-streaming call. Called by generated clients.
    ///
    /// # Errors
    /// The status of the call.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call and drops the stream of requests, including requests that were not sent.
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
        let (about, plain) = (MethodInfo::new::<S::Item, B>(*method, CallKind::ClientStreaming), self.within(None));
        let observed_call = self.observe(method, CallKind::ClientStreaming, None);
        let stream = observed_call.as_ref().map(|_| Arc::default());
        let opened = stream.clone();
        let call = move |request| -> BoxedCall<'static, _> {
            Box::pin(async move { call_client_streaming(&plain, method, request, opened).await })
        };
        let call = self.in_runtime(around(self, about, request, call));
        let Some((call_of_stream, stream)) = observed_call.zip(stream) else { return call.await };
        let mut observed = ObservedStream { call: call_of_stream, stream };
        let result = context::traced(observed.call.trace(), Box::pin(call)).await;
        observed.finish(result.as_ref().map_or_else(Status::code, |_| Code::Ok));
        result
    }

    /// Makes a bidirectional streaming call. Called by generated clients.
    ///
    /// # Errors
    /// If there is no connection. Later failures are reported by the stream.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call and drops the stream of requests, including requests that were not sent.
    pub async fn streaming<S, B>(
        &self,
        method: &'static Method,
        request: Request<S>,
    ) -> Result<Response<Streaming<B>>, Status>
    where
        S: Stream + Send + 'static,
        S::Item: Message + Send + Sync,
        B: Message + Send + 'static,
    {
        let (about, plain) = (MethodInfo::new::<S::Item, B>(*method, CallKind::Streaming), self.within(None));
        let observed_call = self.observe(method, CallKind::Streaming, None);
        let call = move |request| -> BoxedCall<'static, _> {
            Box::pin(async move { call_streaming(&plain, method, request).await })
        };
        until_its_end(observed_call, self.in_runtime(around(self, about, request, call))).await
    }
}

/// Keeps observing a call until its stream of responses ends.
async fn until_its_end<B>(
    observed_call: Option<ObservedCall>,
    call: impl Future<Output = Result<Response<Streaming<B>>, Status>>,
) -> Result<Response<Streaming<B>>, Status> {
    let Some(observed_call) = observed_call else { return call.await };
    let mut result = context::traced(observed_call.trace(), Box::pin(call)).await;
    match &mut result {
        Ok(response) => response.get_mut().observed_call = Some(Box::new(observed_call)),
        Err(status) => observed_call.end(status.code(), 0),
    }
    result
}

/// An observed client-streaming call. If it is dropped before its end, the call is reported as cancelled.
struct ObservedStream {
    call: ObservedCall,
    /// Stream that the call uses, set once it is open.
    stream: Arc<OnceLock<StreamSender>>,
}

impl ObservedStream {
    fn finish(&mut self, code: Code) {
        let StreamBytes { sent, received, .. } = self.stream.get().map(StreamSender::bytes).unwrap_or_default();
        self.call.set_request(sent);
        self.call.finish(code, received);
    }
}

impl Drop for ObservedStream {
    fn drop(&mut self) {
        self.finish(Code::Cancelled);
    }
}

async fn call_server_streaming<A, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<A>,
) -> Result<Response<Streaming<B>>, Status>
where
    A: Message,
    B: Message + 'static,
{
    #[cfg(feature = "grpc")]
    if channel.is_grpc() {
        return grpc::calls::streaming(channel, method, request.map(|message| grpc::calls::encode(&message)));
    }
    let options = OpenDeadlines::new(channel, request.timeout());
    let (message, extras) = request.into_parts();
    let mut started = None;
    let OpenedStream { sender, replies, link, connection, .. } = loop {
        let opened = options.open(channel, method, extras.as_deref(), &mut started).await?;
        // The server may read slowly, so apply the timeout to sending too.
        let writing = Writing::new(opened.flags, opened.translation.as_deref());
        let sent =
            clock::within(&options.runtime, options.open_until, send::<A>(&opened.sender, &message, writing)).await;
        match sent.map_err(|_| not_delivered())? {
            Ok(()) => break opened,
            // The connection closed before the server received the request. Retry on another connection.
            Err(status) if status.code() == Code::Unavailable && opened.connection.is_closed() => {}
            // The server closed the stream. The receiver will report the reason.
            Err(status) if status.code() == Code::Unavailable => break opened,
            Err(status) => return Err(status),
        }
    };
    // Free the request now, so that a long-lived stream does not hold it in memory.
    drop(message);
    // Has no effect on compat servers: they know from the method that no further request follows.
    sender.end();
    keep_link_alive(link, &connection, sender);
    Ok(Response::new(replies.of()))
}

/// Holds the channel's link until a stream ends. The receiver cannot hold the link: its messages may be read much
/// later, and a server that shuts down waits for the connection to close. This is not a task of the connection, because
/// the connection would then count as busy for slightly longer than the stream is open.
fn keep_link_alive(link: Arc<Link>, connection: &Connection, sender: StreamSender) {
    let runtime = connection.runtime_handle().clone();
    let job: Job = Box::pin(async move {
        let _link = link;
        sender.closed().await;
    });
    drop(runtime.spawn(job));
}

async fn call_client_streaming<S, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<S>,
    stream: Option<Arc<OnceLock<StreamSender>>>,
) -> Result<Response<B>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
    B: Message,
{
    #[cfg(feature = "grpc")]
    if channel.is_grpc() {
        return grpc::calls::client_streaming(channel, method, request).await;
    }
    let options = OpenDeadlines::new(channel, request.timeout());
    let (messages, extras) = request.into_parts();
    let OpenedStream { sender, replies, link: _link, connection, flags, translation } =
        options.open(channel, method, extras.as_deref(), &mut None).await?;
    let writing = Writing::new(flags, translation.as_deref());
    let mut replies = replies.of::<B>();
    stream.iter().for_each(|stream| _ = stream.set(sender.clone()));
    carried_by(&messages, &connection);
    let mut sending = pin!(send_messages(&sender, messages, writing));
    // Poll for the reply while sending, because the server may reply before all requests have been sent.
    let early = poll_fn(|context| match replies.poll_message(context) {
        Poll::Ready(reply) => Poll::Ready(Ok(Some(reply))),
        Poll::Pending => match sending.as_mut().poll(context) {
            // Check for a reply. If the server has replied and closed the stream, sending the remaining requests fails.
            Poll::Ready(Err(status)) => Poll::Ready(match replies.poll_message(context) {
                Poll::Ready(reply @ Some(_)) => Ok(Some(reply)),
                _ => Err(cut_off(status, connection.close_reason())),
            }),
            sent => sent.map_ok(|()| None),
        },
    });
    let reply = match early.await? {
        Some(reply) => reply,
        None => {
            let reply = poll_fn(|context| replies.poll_message(context));
            clock::within(&options.runtime, clock::after(options.limit), reply).await.map_err(|_| unanswered())?
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
    method: &'static Method,
    request: Request<S>,
) -> Result<Response<Streaming<B>>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message + Send,
    B: Message + 'static,
{
    #[cfg(feature = "grpc")]
    if channel.is_grpc() {
        return grpc::calls::streaming(
            channel,
            method,
            request.map(|messages| grpc::calls::encode_all(messages, None)),
        );
    }
    let options = OpenDeadlines::new(channel, request.timeout());
    let (messages, extras) = request.into_parts();
    let OpenedStream { sender, replies, link, connection, flags, translation } =
        options.open(channel, method, extras.as_deref(), &mut None).await?;
    let replies = replies.of::<B>();
    let failed = replies.failed();
    carried_by(&messages, &connection);
    let deadline = options.sleep();
    keep_link_alive(link, &connection, sender.clone());
    let sending = {
        let sender = sender.clone();
        ParkedFuture::new(async move {
            let writing = Writing::new(flags, translation.as_deref());
            send_messages(&sender, messages, writing).await
        })
    };
    connection.spawn(send_requests(sending, sender, deadline, failed));
    Ok(Response::new(replies))
}

/// Sends the requests of a streaming call until they end or the deadline passes.
async fn send_requests(
    sending: ParkedFuture<Result<(), Status>>,
    sender: StreamSender,
    mut deadline: Option<Pin<Box<Sleep>>>,
    failed: Arc<OnceLock<Status>>,
) {
    let sent = {
        let (mut sending, mut waiter) = (pin!(sending), sender.waiter());
        let sent = poll_fn(|context| match sending.as_mut().poll(context) {
            Poll::Ready(sent) => Poll::Ready(sent.unwrap_or_else(|_| Err(requests_panicked()))),
            Poll::Pending => {
                if deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
                    return Poll::Ready(Err(late()));
                }
                // The call has ended, so no further requests are sent.
                waiter.poll_closed(context).map(Ok)
            }
        });
        sent.await
    };
    if let Err(status) = sent {
        // `Unavailable` means that the server has ended the call. The receiver will report the reason.
        if status.code() != Code::Unavailable {
            // Store the error before closing the stream, because the close wakes the receiver, which reads it.
            let _ = failed.set(status.may_run());
        }
        sender.close();
    }
}

/// Deadlines and timeouts of a streaming call.
struct OpenDeadlines {
    /// Runtime of the channel, used for timers.
    runtime: Handle,
    /// Deadline of the whole call, which is also sent to a native server. There is no default, because streams may be
    /// long-lived.
    until: Option<Instant>,
    /// Timeout for opening the stream, and for the wait for a single response after the last request.
    limit: Option<Duration>,
    /// Deadline for opening the stream.
    open_until: Option<Instant>,
}

/// An open stream for the requests of a call.
struct OpenedStream {
    sender: StreamSender,
    replies: Replies,
    link: Arc<Link>,
    connection: Connection,
    /// Flags for encoding the requests, for example whether to compress them.
    flags: Flags,
    translation: Option<Arc<Translation>>,
}

/// Stream of a call's responses with its message type erased.
struct Replies {
    receiver: StreamReceiver,
    end: ReceiverEnd,
    reading: DecodeOptions,
    deadline: Option<Pin<Box<Sleep>>>,
    translation: Option<Arc<Translation>>,
}

impl Replies {
    fn of<B: Message>(self) -> Streaming<B> {
        Streaming::new(Some(self.receiver), self.end, self.reading, self.deadline, self.translation)
    }
}

impl OpenDeadlines {
    fn new(channel: &Channel, timeout: Option<Duration>) -> Self {
        let limit = channel.options(timeout).timeout;
        let runtime = channel.inner.runtime.clone();
        Self { runtime, until: clock::after(context::allowed(timeout)), limit, open_until: clock::after(limit) }
    }

    /// Opens the stream of a call. If the connection closes before the stream is open, retries on a new connection.
    /// Sets `started` to the time at which waiting for a connection began.
    ///
    /// The future is boxed, so that it is compiled once rather than for each method.
    fn open<'a>(
        &'a self,
        channel: &'a Channel,
        method: &'static Method,
        extras: Option<&'a Extras>,
        started: &'a mut Option<tokio::time::Instant>,
    ) -> Pin<Box<dyn Future<Output = Result<OpenedStream, Status>> + Send + 'a>> {
        Box::pin(async move {
            // Fail before requesting a connection if the deadline has passed.
            if clock::left(self.open_until).is_some_and(|left| left.is_zero()) {
                return Err(out_of_time());
            }
            let is_unclear = AtomicBool::new(false);
            let open = async {
                loop {
                    let trace = context::trace();
                    let call = PendingCall {
                        kind: CallKind::Streaming,
                        trace: trace.as_ref(),
                        ..PendingCall::new(method, channel.options(None), extras)
                    };
                    if let Some(opened) = self.try_open(channel, &call, &is_unclear, started).await? {
                        return Ok(opened);
                    }
                    yield_once().await;
                }
            };
            let opened = clock::within(&self.runtime, self.open_until, open).await;
            opened
                .unwrap_or_else(|_| Err(if is_unclear.load(Ordering::Relaxed) { unidentified() } else { not_opened() }))
        })
    }

    /// Opens the stream of a call on the connection that the channel selects for it. Returns `None` if the call
    /// must use another connection. `is_unclear` is set while the kind of the server is awaited.
    async fn try_open(
        &self,
        channel: &Channel,
        call: &PendingCall<'_>,
        is_unclear: &AtomicBool,
        started: &mut Option<tokio::time::Instant>,
    ) -> Result<Option<OpenedStream>, Status> {
        let method = call.method;
        let PickedConnection { link, .. } = channel.link_for(call, self.open_until, started).await?;
        let connection = link.native()?.clone();
        // Record this wait, so that a timeout error can state that the kind of the server was still unknown.
        is_unclear.store(true, Ordering::Relaxed);
        let peer = link.unless_abandoned(connection.peer_known()).await;
        is_unclear.store(false, Ordering::Relaxed);
        let Some(Ok(peer)) = peer else { return Ok(None) };
        if link.backward && !takes_calls(&peer) {
            return Err(takes_no_calls());
        }
        if peer.hello().is_some_and(|hello| hello.streams_max == 0) {
            return Err(Status::unimplemented("the peer does not accept streams").not_run());
        }
        let prepared = link.unless_abandoned(link.prepare(method)).await;
        let Some((operation, translation)) = prepared.transpose()? else { return Ok(None) };
        let reading = link.reading();
        // Compute the timeout here, so that it excludes the time spent waiting for a slot.
        let first = || match peer.hello() {
            Some(_) => body::open(operation, call.prefix(clock::left(self.until))),
            None => body::open(operation, PrefixFields::default()),
        };
        // If the connection stops accepting calls, a stream waiting for a slot must use the next connection.
        let opening = link.unless_abandoned(connection.open_stream_with(first));
        let stream = match opening.await {
            Some(Ok(stream)) => stream,
            // The connection closed before anything was sent, so retry on the next one.
            None | Some(Err(SendError::Closed(_))) => return Ok(None),
            Some(Err(error)) => return Err(error.into()),
        };
        let (sender, receiver) = stream.split();
        let flags = Flags::LOSSLESS
            .when(channel.inner.options.strict)
            .with(Flags::COMPRESSED.when(link.compresses(method, &peer)));
        let end = ReceiverEnd::Client(Some(connection.clone()), Arc::default());
        let replies = Replies { receiver, end, reading, deadline: self.sleep(), translation: translation.clone() };
        Ok(Some(OpenedStream { sender, replies, link, connection, flags, translation }))
    }

    fn sleep(&self) -> Option<Pin<Box<Sleep>>> {
        self.until.map(|until| Box::pin(clock::sleep_until(&self.runtime, until)))
    }
}

/// Sends all request messages and then ends the sending side of the stream.
async fn send_messages<S>(sender: &StreamSender, messages: S, writing: Writing<'_>) -> Result<(), Status>
where
    S: Stream,
    S::Item: Message,
{
    let failure = |_| unreachable!("item should be a message");
    send_all(sender, messages, writing, |message| Some(message), failure, |_| {}, || {}).await?;
    send_end(sender);
    Ok(())
}

/// Returns the status of a call with a request message that could not be sent. The server may have received earlier
/// messages.
fn cut_off(status: Status, reason: Option<CloseReason>) -> Status {
    match reason {
        Some(reason) if status.code() == Code::Unavailable => closed_status(&reason),
        _ => status.may_run(),
    }
}

/// Returns the status of a call if its stream of requests panicked.
pub(crate) fn requests_panicked() -> Status {
    Status::internal("the stream of requests panicked")
}

/// Returns the status of a call if the reply to its requests did not arrive in time.
pub(crate) fn unanswered() -> Status {
    Status::deadline_exceeded("the call was not answered before its deadline and may have run")
}

/// Returns the status of a call if its stream was opened but its request could not be sent.
fn not_delivered() -> Status {
    let text = "not sent: the request waited until the deadline for credit of its stream or room on the connection";
    Status::deadline_exceeded(text).not_run()
}

/// Returns the status of a call if its stream could not be opened in time.
fn not_opened() -> Status {
    let text = "not sent: the limit of open streams or of unsent bytes was reached until the deadline";
    Status::deadline_exceeded(text).not_run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_stream_call_is_not_reported_unsent() {
        let unsent = Status::from(SendError::Closed(CloseReason::IdleTimeout));
        assert!(unsent.message().contains("not sent") && !unsent.may_have_run());
        let status = cut_off(unsent, Some(CloseReason::IdleTimeout));
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true));
        assert!(status.message().contains("may have run"), "{status}");
        let too_long = cut_off(Status::resource_exhausted("too long").not_run(), None);
        assert_eq!((too_long.message(), too_long.may_have_run()), ("too long", true));
    }
}
