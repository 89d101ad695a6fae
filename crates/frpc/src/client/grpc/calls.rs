//! Calls of generated clients to gRPC servers. Only the functions that encode and decode messages are generic. All
//! other code is compiled once.

use super::{AbortOnDrop, Failed, GrpcCall, GrpcLinks, GrpcReplies, GrpcRequests, enveloped};
use crate::api::extras::{Extras, OptionalExtras};
use crate::api::middleware::CallKind;
use crate::api::trailers::{LateTrailers, Trailers};
use crate::calls::events::MeasuredEnd;
use crate::calls::failures::{RUNTIME_ENDED, out_of_time, unfinished};
use crate::calls::table::CallTable;
use crate::client::attempt::{AnyReply, Failure, ReplyReader, SentState};
use crate::client::call::{CallOptions, PendingCall};
use crate::client::channel::Channel;
use crate::client::link::Link;
use crate::client::streams::{requests_panicked, unanswered};
use crate::schema::method::Method;
use crate::service::stream_method::Mapped;
use crate::wire::body::{AnyMessage, EncodeBody, protobuf_codec};
use crate::{Code, GrpcCaller, Metadata, Request, Response, Status, Streaming, clock, context};
use bytes::Bytes;
use futures_core::Stream;
use polyglot::{Message, ProtobufCodec};
use std::convert::Infallible;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Makes a client-streaming call to a gRPC server, as the innermost call of the channel's middleware.
pub(crate) async fn client_streaming<S, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<S>,
) -> Result<Response<B>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
    B: Message,
{
    let timeout = request.timeout();
    let (messages, extras) = request.into_parts();
    let (sending, sent) = oneshot::channel();
    let requests = encode_all(messages, Some(sending))?;
    read(channel.call_grpc(method, timeout, extras, requests, sent).await?, decode)
}

pub(crate) fn decode<B: Message>(message: Bytes) -> Result<B, Status> {
    (protobuf_codec::<B>()?.decode)(message).map_err(invalid)
}

/// Encodes the only message of a request.
pub(crate) fn encode(message: &(impl EncodeBody + ?Sized)) -> Result<GrpcRequests, Status> {
    enveloped(|out| message.encode_protobuf(out)).map(GrpcRequests::Whole).map_err(Status::not_run)
}

/// Returns a stream that encodes the requests and drops `sending` after the last one.
pub(crate) fn encode_all<S>(messages: S, sending: Option<Sending>) -> Result<GrpcRequests, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
{
    let codec = protobuf_codec()?;
    Ok(GrpcRequests::Stream(Box::pin(EncodedRequests { messages: Box::pin(messages), codec, sending })))
}

/// Starts a call with a stream of replies, as the innermost call of the channel's middleware. The stream also reports
/// that the call could not be started.
pub(crate) fn streaming<B: Message + 'static>(
    channel: &Channel,
    method: &'static Method,
    request: Request<Result<GrpcRequests, Status>>,
) -> Result<Response<Streaming<B>>, Status> {
    let timeout = context::allowed(request.timeout());
    if timeout.is_some_and(|timeout| timeout.is_zero()) {
        return Err(out_of_time());
    }
    let (requests, extras) = request.into_parts();
    let codec = protobuf_codec()?;
    let until = clock::after(timeout);
    let deadline = until.map(|until| Box::pin(clock::sleep_until(&channel.inner.runtime, until)));
    let replies = channel.open_grpc(method, timeout, extras, requests?);
    let (headers, trailers) = (replies.headers.clone(), replies.trailers.clone());
    let messages = Mapped { stream: replies, map: Some(move |message| (codec.decode)(message).map_err(invalid)) };
    let mut response = Response::new(Streaming::detached(messages, Some(headers), deadline));
    response.extensions_mut().insert(trailers);
    Ok(response)
}

/// Decodes the message of a reply.
fn read<B>(reply: Response<Bytes>, decode: impl FnOnce(Bytes) -> Result<B, Status>) -> Result<Response<B>, Status> {
    let (message, extras) = reply.into_parts_with_extras();
    Ok(Response::from_parts_with_extras(decode(message)?, extras))
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::internal(format!("the reply is invalid: {error}"))
}

/// Sender that sends nothing. Dropping it notifies the receiver that all requests of a stream have been sent.
type Sending = oneshot::Sender<Infallible>;

/// Stream that encodes the messages of a request stream.
struct EncodedRequests<S: Stream> {
    messages: Pin<Box<S>>,
    codec: ProtobufCodec<S::Item>,
    sending: Option<Sending>,
}

impl<S: Stream> Stream for EncodedRequests<S> {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { messages, codec, sending } = &mut *self;
        let encode = |message| {
            enveloped(|out| {
                (codec.encode)(&message, out);
                Ok(())
            })
        };
        let encoded = catch_unwind(AssertUnwindSafe(|| messages.as_mut().poll_next(task).map(|next| next.map(encode))));
        // Fail the call after a panic. Otherwise, the server would wait for further requests, and the caller for the
        // reply.
        let encoded = encoded.unwrap_or_else(|_| Poll::Ready(Some(Err(requests_panicked()))));
        if matches!(encoded, Poll::Ready(None)) {
            *sending = None;
        }
        encoded
    }
}

/// Stream of encoded reply messages.
struct EncodedReplies {
    state: ReplyState,
    headers: Arc<OnceLock<Metadata>>,
    trailers: LateTrailers,
}

enum ReplyState {
    /// A separate task is opening the call. The caller cannot wait for this, because the server may wait for requests
    /// before it sends the response head, while the caller may wait for the reply stream before it makes requests.
    Opening(AbortOnDrop<Result<(GrpcReplies, Arc<Link>), Status>>),
    /// The call is open. Its link is held, because references to a link count as load of its server.
    Open {
        replies: GrpcReplies,
        _link: Arc<Link>,
    },
    Ended,
}

impl Stream for EncodedReplies {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let ReplyState::Opening(opening) = &mut self.state {
            let opened = ready!(Pin::new(&mut opening.0).poll(task));
            match opened.unwrap_or_else(|_| Err(Status::unavailable(RUNTIME_ENDED))) {
                Ok((replies, link)) => {
                    // Cannot fail, because the state changes below and the headers are set only here.
                    let _ = self.headers.set(replies.metadata());
                    self.state = ReplyState::Open { replies, _link: link };
                }
                Err(status) => {
                    self.state = ReplyState::Ended;
                    return Poll::Ready(Some(Err(status)));
                }
            }
        }
        let ReplyState::Open { replies, .. } = &mut self.state else { return Poll::Ready(None) };
        let end = match ready!(replies.poll_message(task)) {
            Ok(Some(message)) => return Poll::Ready(Some(Ok(message))),
            Ok(None) => replies.trailers().map(|trailers| _ = self.trailers.0.set(trailers)),
            Err(status) => Err(status),
        };
        self.state = ReplyState::Ended;
        Poll::Ready(end.err().map(Err))
    }
}

impl Channel {
    /// Chooses the server of a streaming call.
    async fn grpc_link(&self, method: &'static Method, until: Option<Instant>) -> Result<Arc<Link>, Status> {
        let call = PendingCall { kind: CallKind::Streaming, ..PendingCall::new(method, self.options(None), None) };
        Ok(self.link_for(&call, until, &mut None).await?.link)
    }

    /// Makes a call with a single reply. `sent` completes after the last request. Compiled once, because the messages
    /// are encoded.
    async fn call_grpc(
        &self,
        method: &'static Method,
        timeout: Option<Duration>,
        extras: OptionalExtras,
        requests: GrpcRequests,
        sent: oneshot::Receiver<Infallible>,
    ) -> Result<Response<Bytes>, Status> {
        // Without a timeout of its own, the call has no deadline, because its requests may take any time. The default
        // timeout limits the waits before the first and after the last request, as in native calls.
        let (deadline, limit) = (clock::after(context::allowed(timeout)), self.options(timeout).timeout);
        if limit.is_some_and(|limit| limit.is_zero()) {
            return Err(out_of_time());
        }
        let call = GrpcCall::new(method, extras.as_deref(), context::trace());
        let call = GrpcCall { deadline, open_until: clock::after(limit), ..call };
        let mut reply = pin!(self.in_runtime(async {
            let link = self.grpc_link(method, call.open_until).await?;
            links(&link)?.call_single(&call, requests).await.map_err(|(status, _)| status)
        }));
        let runtime = &self.inner.runtime;
        let mut late = pin!(async {
            let _ = sent.await;
            match clock::after(limit) {
                Some(until) => drop(clock::wait_until(runtime, until).await),
                None => pending().await,
            }
        });
        let reply = poll_fn(|task| match reply.as_mut().poll(task) {
            Poll::Pending => late.as_mut().poll(task).map(|()| Err(unanswered())),
            reply => reply,
        });
        clock::within(runtime, deadline, reply).await.unwrap_or_else(|why| Err(unfinished(&why, method)))
    }

    /// Starts a call with a stream of replies. Compiled once, because the messages are encoded.
    fn open_grpc(
        &self,
        method: &'static Method,
        timeout: Option<Duration>,
        extras: OptionalExtras,
        requests: GrpcRequests,
    ) -> EncodedReplies {
        let (channel, trace) = (self.clone(), context::trace());
        let (deadline, open_until) = (clock::after(timeout), clock::after(self.options(timeout).timeout));
        let opening = self.inner.runtime.spawn(async move {
            let link = channel.grpc_link(method, open_until).await?;
            let call = GrpcCall { deadline, open_until, ..GrpcCall::new(method, extras.as_deref(), trace) };
            let replies = links(&link)?.call(&call, requests).await.map_err(|(status, _)| status)?;
            Ok((replies, link))
        });
        let state = ReplyState::Opening(AbortOnDrop(opening));
        EncodedReplies { state, headers: Arc::default(), trailers: LateTrailers::default() }
    }
}

/// Returns the connections to the server of a link, or an error if the link is native.
fn links(link: &Link) -> Result<&GrpcLinks, Status> {
    link.grpc.as_ref().ok_or_else(|| Status::internal("a gRPC channel has a link of another protocol").not_run())
}

impl PendingCall<'_> {
    /// Makes an attempt of a unary call at a gRPC server.
    pub(crate) async fn attempt_grpc(
        &self,
        message: &AnyMessage,
        reader: ReplyReader,
        (table, links): (&CallTable, &GrpcLinks),
        is_sent: &AtomicBool,
        runtime: &Handle,
    ) -> Result<Response<AnyReply>, Box<Failure>> {
        let requests = encode(message).map_err(|status| Failure::new(status, SentState::Never))?;
        let CallOptions { timeout, sends_timeout, .. } = self.options;
        let until = clock::after(timeout);
        let call = GrpcCall::new(self.method, self.extras, self.trace.copied());
        let (deadline, is_sent) = (until.filter(|_| sends_timeout), Some(is_sent));
        let call = GrpcCall { deadline, open_until: until, is_sent, ..call };
        let mut timer = CallTimer::start(table);
        let reply = links.call_single(&call, requests);
        let reply = match clock::within(runtime, until, reply).await {
            Ok(reply) => reply,
            Err(why) => {
                timer.end(Some(MeasuredEnd::Late));
                return Err(Failure::new(unfinished(&why, self.method), SentState::Answered));
            }
        };
        let reply = reply.and_then(|reply| read(reply, reader.decode).map_err(|status| (status, SentState::Answered)));
        let is_retried = self.method.idempotent && table.is_of_fleet();
        let (status, sent) = match reply {
            Ok(reply) => {
                timer.end(Some(MeasuredEnd::Answered));
                table.handle_answer(Code::Ok);
                return Ok(reply);
            }
            // Treat UNAVAILABLE as a refusal, so that an idempotent call is retried on another server of the fleet.
            Err((status, SentState::Answered)) if status.code() == Code::Unavailable && is_retried => {
                (status, SentState::Refused)
            }
            // If the call is not retried, the refusal is its reply.
            Err((status, SentState::Refused)) if !is_retried => (status, SentState::Answered),
            Err(failed) => failed,
        };
        let is_answered = matches!(sent, SentState::Answered | SentState::Refused);
        timer.end(is_answered.then_some(MeasuredEnd::Answered));
        if is_answered {
            table.handle_answer(status.code());
        }
        Err(Failure::new(status, sent))
    }
}

/// Measures the duration of a call, if the picker has requested this. A dropped call counts as abandoned.
struct CallTimer<'a>(Option<&'a CallTable>);

impl<'a> CallTimer<'a> {
    fn start(table: &'a CallTable) -> Self {
        Self(table.calls.lock().time_grpc(clock::now()).then_some(table))
    }

    fn end(&mut self, end: Option<MeasuredEnd>) {
        // Take the table, so that `drop` does not measure the call again.
        if let Some(table) = self.0.take() {
            table.calls.lock().measure_grpc(end, clock::now());
        }
    }
}

impl Drop for CallTimer<'_> {
    fn drop(&mut self) {
        self.end(Some(MeasuredEnd::Abandoned));
    }
}

impl GrpcLinks {
    async fn call_single(&self, call: &GrpcCall<'_>, requests: GrpcRequests) -> Result<Response<Bytes>, Failed> {
        let mut replies = self.call(call, requests).await?;
        let (message, trailers) = replies.single().await.map_err(|status| (status, SentState::Answered))?;
        let mut response = Response::new(message);
        let metadata = replies.metadata();
        if !metadata.is_empty() {
            *response.metadata_mut() = metadata;
        }
        if !trailers.is_empty() {
            response.extensions_mut().insert(Trailers(trailers));
        }
        Ok(response)
    }
}

impl<'a> GrpcCall<'a> {
    /// Creates a call without deadlines.
    fn new(method: &Method, extras: Option<&'a Extras>, trace: Option<crate::observe::TraceContext>) -> Self {
        let caller = Extras::extensions(extras).get::<GrpcCaller>().copied();
        let (path, metadata) = (format!("/{method}"), Extras::metadata(extras));
        Self { path, caller, deadline: None, open_until: None, metadata, trace, is_sent: None }
    }
}
