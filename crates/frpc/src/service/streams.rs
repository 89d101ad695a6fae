//! The server side of streaming calls. Each call runs in its own task.

use crate::ResponseStream;
use crate::api::metadata::Metadata;
use crate::context::{HandlerFuture, InheritedContext};
use crate::observe::observers::ObservedCall;
use crate::schema::method::Method;
use crate::service::caller::Caller;
use crate::service::erased::AcceptedStream;
use crate::service::failures::{end_of_time, is_refusal, log, no_message, overloaded, panicked, takes_too_much};
use crate::service::stream_method::{StreamReply, StreamRequest};
use crate::streaming::{SharedReceiver, is_end, send_all, send_end, send_failure, send_headers};
use crate::wire::body;
use crate::wire::body::{DecodeOptions, Flags, Received, Writing};
use crate::wire::compressed;
use crate::wire::prefix::Prefix;
use crate::wire::translation::Translation;
use crate::{Code, Request, Response, Status};
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::{ParkedFuture, Placement};
use frisbee::{Connection, MemoryCharge, PacketId, Stream, StreamReceiver, StreamSender};
use polyglot::Message;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

/// Maximum time that a stream stays open after its call has ended, until the client ends its sending side. Go clients
/// fail if they end a stream that is already closed. The time is limited, because the stream occupies an id.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of messages on a stream that is closed immediately after its end. Longer streams are closed after a
/// delay, because closing a Go stream loses unread messages if its queue of 8192 entries has wrapped around (frisbee-go
/// v0.11.0 miscounts them).
const CLOSED_AT_ONCE_MAX: usize = 4096;

/// Delay before the stream of a long call is closed, equal to the longest wait in Go.
const CLOSED_LATER: Duration = Duration::from_secs(5);

/// Server side of a streaming call, which receives its requests and sends its responses.
#[derive(Clone, Copy)]
pub(crate) struct ReceivedStream<'a> {
    pub(crate) sender: &'a StreamSender,
    pub(crate) shared_receiver: &'a Arc<SharedReceiver>,
    connection: &'a Connection,
    pub(crate) reading: DecodeOptions,
    pub(crate) translation: Option<&'a Arc<Translation>>,
    /// Whether the HEADERS packet with the response metadata has been sent.
    has_headers: bool,
}

impl ReceivedStream<'_> {
    /// Receives a request that consists of a single message. If this fails, rejects the call and returns `None`.
    pub(crate) async fn receive_one<A: Message>(self, mut receiver: StreamReceiver) -> Option<(A, MemoryCharge)> {
        let Self { sender, shared_receiver, connection, reading, translation, .. } = self;
        let Some(body) = receiver.recv().await else {
            shared_receiver.refuse(sender, &no_message());
            return None;
        };
        if sender.is_native() {
            // Keep the receiver, because a native client ends its sending side with a separate packet after the
            // request.
            let mut back = shared_receiver.back.lock();
            (back.receiver, back.is_single) = (Some(receiver), true);
        } else {
            // The request also ended the client's sending side.
            drop(receiver);
            shared_receiver.back.lock().ended = true;
        }
        let translation = translation.map(|translation| &**translation);
        let prepared = body::prepared(body, compressed::REQUEST, connection, reading, translation);
        let received =
            prepared.and_then(|body| body::request(reading.shared(&body)?, body.len())).and_then(|received| {
                let is_too_large = takes_too_much(connection, received.memory);
                if is_too_large { Err(overloaded()) } else { Ok(received) }
            });
        match received {
            Ok(Received { message, memory, .. }) => Some((message, connection.charge_request(memory))),
            Err(status) => {
                shared_receiver.refuse(sender, &status);
                None
            }
        }
    }

    pub(crate) async fn send_all<B: Message>(
        self,
        replies: ResponseStream<B>,
        writing: Writing<'_>,
    ) -> Result<(), Status> {
        let Self { sender, shared_receiver, connection, has_headers, .. } = self;
        replies.carried_by(connection);
        let failure = |item: Result<B, Status>| item.err().unwrap_or_else(|| unreachable!("item should be a failure"));
        let count = |count| _ = shared_receiver.sent.fetch_add(count, Ordering::Relaxed);
        // Send HEADERS even if no message is ready, because the caller may be waiting for the handler to accept the
        // call.
        let silent = || {
            if !has_headers {
                let _ = send_headers(sender, &Metadata::new());
            }
        };
        send_all(sender, replies, writing, |item| item.as_ref().ok(), failure, count, silent).await
    }
}

/// Serves a streaming call by spawning a task for its handler.
pub(crate) fn serve<A, B, In, Out, H, F>(opened: AcceptedStream<'_>, name: Method, handler: H)
where
    In: StreamRequest<A>,
    Out: StreamReply<B>,
    H: FnOnce(Request<In>) -> F + Send + 'static,
    F: Future<Output = Result<Response<Out>, Status>> + Send + 'static,
{
    let is_layered = opened.chain.is_some();
    let AcceptedStream {
        caller, mut options, stream, reading, placement, observed_call, compresses, translation, ..
    } = opened;
    let (connection, origin, flags) = (caller.connection.clone(), caller.origin(), Flags::COMPRESSED.when(compresses));
    let (timeout, extras) = (options.timeout, options.extras.take());
    let id = stream.id();
    let (sender, receiver) = stream.split();
    let shared_receiver = Arc::<SharedReceiver>::default();
    let call = RunningCall {
        name,
        id,
        sender: sender.clone(),
        shared_receiver: shared_receiver.clone(),
        options,
        is_layered,
        observed_call,
    };
    let work = ParkedFuture::new(async move {
        let (shared_receiver, connection) = (&shared_receiver, &connection);
        let translation = translation.as_ref();
        let stream =
            ReceivedStream { sender: &sender, shared_receiver, connection, reading, translation, has_headers: false };
        let Some((message, _charge)) = In::receive(stream, receiver).await else { return Ok(()) };
        let request = Request::from_parts_with_extras(message, timeout, origin, extras);
        let reply = handler(request).await?;
        let has_headers = !reply.metadata().is_empty();
        if has_headers {
            send_headers(&sender, reply.metadata())?;
        }
        let writing = Writing::new(flags, translation.map(|translation| &**translation));
        reply.into_inner().send(ReceivedStream { has_headers, ..stream }, writing).await
    });
    run(caller, call, placement, work);
}

/// A streaming call with a running handler.
struct RunningCall {
    name: Method,
    id: PacketId,
    sender: StreamSender,
    shared_receiver: Arc<SharedReceiver>,
    options: Box<Prefix>,
    /// Whether the handler runs within middleware.
    is_layered: bool,
    observed_call: Option<ObservedCall>,
}

pub(crate) fn refuse(stream: &Stream, status: &Status) {
    let sender = stream.sender();
    send_failure(&sender, status, true);
    send_end(&sender);
    stream.close();
}

/// Spawns a task that runs a streaming call until it completes or the client closes the stream.
fn run(caller: &Caller, call: RunningCall, placement: Placement, work: ParkedFuture<Result<(), Status>>) {
    let RunningCall { name, id, sender, shared_receiver, options, is_layered, observed_call } = call;
    let Prefix { deadline, trace, expires, memory, .. } = *options;
    let entered = caller.enter(id, name, deadline);
    let hold = (memory > 0).then(|| caller.connection.charge_request(memory));
    let trace = ObservedCall::forwarded_trace(observed_call.as_ref(), trace);
    let work = HandlerFuture { inherited: InheritedContext { deadline, trace }, future: work };
    let connection = caller.connection.clone();
    caller.connection.spawn_at(placement, async move {
        let (_hold, _entered) = (hold, entered);
        let worked = {
            // Drop both at the end of the block, so that a handler releases its values when its deadline passes.
            let (mut work, mut waiter) = (pin!(work), sender.waiter());
            let mut over = pin!(async {
                let Some((at, status)) = end_of_time(deadline, expires) else { return pending().await };
                tokio::time::sleep_until(at.into()).await;
                status()
            });
            let worked = poll_fn(|context| {
                shared_receiver.is_polling.store(true, Ordering::Relaxed);
                // Poll the handler before the deadline, so that a result that is ready is not replaced by a timeout.
                if let Poll::Ready(worked) = work.as_mut().poll(context) {
                    return Poll::Ready(Some(worked));
                }
                if let Poll::Ready(status) = over.as_mut().poll(context) {
                    return Poll::Ready(Some(Ok(Err(status))));
                }
                // Register this task before looking for the receiver, so that another task that drops the stream
                // afterwards wakes it.
                let closed = waiter.poll_closed(context);
                shared_receiver.is_polling.store(false, Ordering::Relaxed);
                // Discard messages that the handler does not read, because they would fill the memory for streams.
                if let Poll::Ready(Err(second_request)) = shared_receiver.poll_drain(context) {
                    return Poll::Ready(Some(Ok(Err(second_request))));
                }
                closed.map(|()| None)
            });
            worked.await
        };
        // The client has closed the stream. Dropping the observed call reports it as cancelled.
        let Some(worked) = worked else { return };
        let worked = worked.unwrap_or_else(|panic| Err(panicked(panic.as_ref(), name, &connection)));
        if let Some(mut observed_call) = observed_call {
            let bytes = sender.bytes();
            observed_call.set_request(bytes.received);
            let refused = shared_receiver.back.lock().refused;
            let code = match (refused, &worked) {
                (Some(code), _) => code,
                (None, Ok(())) => Code::Ok,
                // The handler may have failed because its client has disconnected.
                (None, Err(_)) if sender.is_over() => Code::Cancelled,
                (None, Err(status)) => status.code(),
            };
            observed_call.end(code, bytes.sent);
        }
        if let Err(status) = worked {
            log(&status, name, &connection);
            send_failure(&sender, &status, is_refusal(&status, is_layered));
        }
        send_end(&sender);
        close(&sender, &shared_receiver).await;
    });
}

/// Closes a stream once the client has ended its sending side, or after [`END_TIMEOUT`].
async fn close(sender: &StreamSender, shared_receiver: &SharedReceiver) {
    shared_receiver.is_polling.store(false, Ordering::Relaxed);
    let mut waiter = sender.waiter();
    let ended = poll_fn(|context| {
        // Register this task before looking for the receiver, because another task may return it at any time.
        let closed = waiter.poll_closed(context);
        if shared_receiver.poll_drain(context).is_ready() { Poll::Ready(()) } else { closed }
    });
    let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
    if !sender.is_native() && shared_receiver.sent.load(Ordering::Relaxed) > CLOSED_AT_ONCE_MAX {
        let _ = tokio::time::timeout(CLOSED_LATER, sender.closed()).await;
    }
    // Close the stream, because Go does not and would keep it for the life of the connection.
    sender.close();
}

impl SharedReceiver {
    /// Rejects the call before its handler receives it.
    fn refuse(&self, sender: &StreamSender, status: &Status) {
        // The request may be missing because the client disconnected.
        let code = if sender.is_over() { Code::Cancelled } else { status.code() };
        send_failure(sender, status, true);
        self.back.lock().refused = Some(code);
    }

    /// Discards messages that arrive after the handler has dropped the receiver. Completes when the client has ended
    /// its sending side, or when the stream is closed.
    ///
    /// # Errors
    /// If a call with a single request receives another one, because each additional request would wake the handler
    /// needlessly.
    fn poll_drain(&self, context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let mut back = self.back.lock();
        while !back.ended {
            let Some(receiver) = &mut back.receiver else { return Poll::Pending };
            match std::task::ready!(receiver.poll_recv(context)) {
                Some(body) => back.ended = is_end(&body),
                None => back.ended = true,
            }
            if back.is_single && !back.ended {
                back.is_single = false; // From now on, discard requests without an error.
                return Poll::Ready(Err(Status::invalid_argument("the client sent more than one request")));
            }
        }
        Poll::Ready(Ok(()))
    }
}
