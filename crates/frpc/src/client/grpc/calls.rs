//! Calls of generated clients to gRPC servers. Only the functions that encode and decode messages are generic. All
//! other code is compiled once.

use super::{AbortOnDrop, GrpcCall, GrpcLinks, GrpcReplies, GrpcRequests, enveloped};
use crate::api::BoxedCall;
use crate::api::extras::{Extras, OptionalExtras};
use crate::api::trailers::{LateTrailers, Trailers};
use crate::calls::failures::{expired, out_of_time};
use crate::client::call::CallOptions;
use crate::client::channel::Channel;
use crate::client::connect_task::RUNTIME_ENDED;
use crate::schema::method::Method;
use crate::{GrpcCaller, Metadata, Request, Response, Status, Streaming, clock, context};
use bytes::Bytes;
use futures_core::Stream;
use polyglot::{Message, ProtobufCodec};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Makes a unary call to a gRPC server, inside the channel's middleware.
pub(crate) fn unary<A, B>(
    channel: Channel,
    method: &'static Method,
    options: CallOptions,
    message: &A,
    extras: OptionalExtras,
) -> BoxedCall<'static, B>
where
    A: Message,
    B: Message + Send + 'static,
{
    let request = encode(message);
    Box::pin(async move { single(&channel, method, options, extras, request?).await })
}

/// Makes a client-streaming call to a gRPC server, inside the channel's middleware.
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
    let timeout = context::allowed(request.timeout());
    let options = CallOptions { timeout, sends_timeout: true, strict: false };
    let (messages, extras) = request.into_parts();
    single(channel, method, options, extras, encode_all(messages)?).await
}

/// Makes a server-streaming call to a gRPC server, inside the channel's middleware.
pub(crate) fn server_streaming<A, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<A>,
) -> Result<Response<Streaming<B>>, Status>
where
    A: Message,
    B: Message + 'static,
{
    let timeout = request.timeout();
    let (message, extras) = request.into_parts();
    replies(channel, method, timeout, extras, encode(&message)?)
}

/// Makes a bidirectional streaming call to a gRPC server, inside the channel's middleware.
pub(crate) fn streaming<S, B>(
    channel: &Channel,
    method: &'static Method,
    request: Request<S>,
) -> Result<Response<Streaming<B>>, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
    B: Message + 'static,
{
    let timeout = request.timeout();
    let (messages, extras) = request.into_parts();
    replies(channel, method, timeout, extras, encode_all(messages)?)
}

fn codec<M: Message>() -> Result<ProtobufCodec<M>, Status> {
    M::PROTOBUF.ok_or_else(|| {
        let text = format!("{} has no protobuf encoding for gRPC; generate it with `protobuf(true)`", M::NAME);
        Status::failed_precondition(text).not_run()
    })
}

fn encode<A: Message>(message: &A) -> Result<GrpcRequests, Status> {
    let codec = codec::<A>()?;
    enveloped(|out| (codec.encode)(message, out)).map(GrpcRequests::Whole).map_err(Status::not_run)
}

fn encode_all<S>(messages: S) -> Result<GrpcRequests, Status>
where
    S: Stream + Send + 'static,
    S::Item: Message,
{
    let codec = codec()?;
    Ok(GrpcRequests::Stream(Box::pin(EncodedRequests { messages: Box::pin(messages), codec })))
}

/// Makes a call with a single reply of type `B`.
async fn single<B: Message>(
    channel: &Channel,
    method: &'static Method,
    options: CallOptions,
    extras: OptionalExtras,
    requests: GrpcRequests,
) -> Result<Response<B>, Status> {
    let codec = codec::<B>()?;
    let mut message = None;
    let reply = channel.call_grpc(method, options, extras, requests).await?;
    let reply = reply.map(|bytes| message = Some((codec.decode)(bytes)));
    let message = message.unwrap_or_else(|| unreachable!("`map` calls its function")).map_err(invalid)?;
    Ok(reply.map(|()| message))
}

/// Makes a call with a stream of replies of type `B`.
fn replies<B: Message + 'static>(
    channel: &Channel,
    method: &'static Method,
    timeout: Option<Duration>,
    extras: OptionalExtras,
    requests: GrpcRequests,
) -> Result<Response<Streaming<B>>, Status> {
    let codec = codec()?;
    let timeout = context::allowed(timeout);
    let until = timeout.and_then(|timeout| clock::now().checked_add(timeout));
    let deadline = until.map(|until| Box::pin(clock::sleep_until(&channel.inner.runtime, until)));
    let replies = channel.open_grpc(method, timeout, extras, requests);
    let (headers, trailers) = (replies.headers.clone(), replies.trailers.clone());
    let mut response = Response::new(Streaming::detached(DecodedReplies { replies, codec }, Some(headers), deadline));
    response.extensions_mut().insert(trailers);
    Ok(response)
}

fn invalid(error: impl std::fmt::Display) -> Status {
    Status::internal(format!("the reply is invalid: {error}"))
}

/// Stream that encodes the messages of a request stream.
struct EncodedRequests<S: Stream> {
    messages: Pin<Box<S>>,
    codec: ProtobufCodec<S::Item>,
}

impl<S: Stream> Stream for EncodedRequests<S> {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.messages.as_mut().poll_next(task));
        Poll::Ready(next.map(|message| enveloped(|out| (self.codec.encode)(&message, out))))
    }
}

struct DecodedReplies<B> {
    replies: EncodedReplies,
    codec: ProtobufCodec<B>,
}

impl<B> Stream for DecodedReplies<B> {
    type Item = Result<B, Status>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.replies.poll_next(task));
        Poll::Ready(next.map(|next| (self.codec.decode)(next?).map_err(invalid)))
    }
}

/// Stream of encoded reply messages.
struct EncodedReplies {
    state: ReplyState,
    headers: Arc<OnceLock<Metadata>>,
    trailers: LateTrailers,
}

enum ReplyState {
    /// A task is opening the call. It must not wait for the caller: a server may wait for requests before it sends the
    /// response head, and the caller may wait for the reply stream before it makes requests.
    Opening(AbortOnDrop<Result<GrpcReplies, Status>>),
    Open(GrpcReplies),
    Ended,
}

impl EncodedReplies {
    fn poll_next(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        if let ReplyState::Opening(opening) = &mut self.state {
            let opened = ready!(Pin::new(&mut opening.0).poll(task));
            match opened.unwrap_or_else(|_| Err(Status::unavailable(RUNTIME_ENDED))) {
                Ok(replies) => {
                    // The headers are set only once, because the state changes next.
                    let _ = self.headers.set(replies.metadata());
                    self.state = ReplyState::Open(replies);
                }
                Err(status) => {
                    self.state = ReplyState::Ended;
                    return Poll::Ready(Some(Err(status)));
                }
            }
        }
        let ReplyState::Open(replies) = &mut self.state else { return Poll::Ready(None) };
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
    fn grpc(&self) -> Result<&GrpcLinks, Status> {
        self.picker().ok_or_else(super::no_link)
    }

    /// Makes a call with a single reply, independent of message types.
    async fn call_grpc(
        &self,
        method: &'static Method,
        options: CallOptions,
        extras: OptionalExtras,
        requests: GrpcRequests,
    ) -> Result<Response<Bytes>, Status> {
        if options.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(out_of_time());
        }
        let until = options.timeout.and_then(|timeout| clock::now().checked_add(timeout));
        let timeout = options.timeout.filter(|_| options.sends_timeout);
        let call = GrpcCall::new(method, timeout, extras.as_deref(), context::trace());
        let reply = self.in_runtime(self.grpc()?.call_single(&call, requests));
        match until {
            None => reply.await,
            Some(until) => {
                let reply = clock::timeout_at(&self.inner.runtime, until, reply);
                reply.await.unwrap_or_else(|_| Err(expired(method)))
            }
        }
    }

    /// Starts a call with a stream of replies, independent of message types.
    fn open_grpc(
        &self,
        method: &'static Method,
        timeout: Option<Duration>,
        extras: OptionalExtras,
        requests: GrpcRequests,
    ) -> EncodedReplies {
        let (channel, trace) = (self.clone(), context::trace());
        let opening = self.inner.runtime.spawn(async move {
            let call = GrpcCall::new(method, timeout, extras.as_deref(), trace);
            channel.grpc()?.call(&call, requests).await
        });
        let state = ReplyState::Opening(AbortOnDrop(opening));
        EncodedReplies { state, headers: Arc::default(), trailers: LateTrailers::default() }
    }
}

impl GrpcLinks {
    async fn call_single(&self, call: &GrpcCall<'_>, requests: GrpcRequests) -> Result<Response<Bytes>, Status> {
        let mut replies = self.call(call, requests).await?;
        let (message, trailers) = replies.single().await?;
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
    fn new(
        method: &Method,
        timeout: Option<Duration>,
        extras: Option<&'a Extras>,
        trace: Option<crate::observe::TraceContext>,
    ) -> Self {
        let caller = Extras::extensions(extras).get::<GrpcCaller>().copied();
        Self { path: format!("/{method}"), caller, timeout, metadata: Extras::metadata(extras), trace }
    }
}
