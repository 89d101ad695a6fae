//! Calls to the backend: a native, Go or gRPC server.

use super::message::{BackendEncoding, MessageEncoding, MessageType, RawMessage};
use super::requests::{Failure, Requests};
use super::{ForwardedMethod, Reply, StreamResult};
use frisbee::rpc::CallShares;
use frpc::{Channel, GrpcCaller, LateTrailers, Request, Response, ResponseStream, Status, Streaming};
use frpc_dynamic::Body;
use futures_core::Stream;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

/// Connections to the backend, which are used in turn.
#[derive(Debug)]
pub(super) struct Backend {
    links: Vec<Arc<Link>>,
    next: AtomicUsize,
}

/// A connection to the backend, with its unary calls and streams in progress. The backend limits the number of each.
#[derive(Debug)]
struct Link {
    channel: Channel,
    calls: Mutex<CallShares>,
    streams: Mutex<CallShares>,
}

/// A unary call or stream in progress. It counts against its caller's share until it is dropped.
struct Slot {
    link: Arc<Link>,
    caller: Option<IpAddr>,
    is_stream: bool,
}

impl Link {
    fn shares(&self, is_stream: bool) -> &Mutex<CallShares> {
        if is_stream { &self.streams } else { &self.calls }
    }

    /// Counts a call of `caller` and returns its slot. Returns `None` if the caller already uses its share of the
    /// calls that the backend accepts on this connection. Accepts every call until the backend's limits are known,
    /// and on channels to gRPC servers, which divide their streams among callers themselves.
    fn take(self: &Arc<Self>, caller: Option<IpAddr>, is_stream: bool) -> Option<Slot> {
        let peer = self.channel.connection().map(|connection| connection.peer());
        let hello = peer.as_ref().and_then(|peer| peer.hello());
        let max = hello.map_or(u32::MAX, |hello| if is_stream { hello.streams_max } else { hello.calls_max });
        // Hold the lock during both steps, so that two calls cannot take the last slot.
        let mut shares = self.shares(is_stream).lock();
        // Saturate, because the limit may be below the number of calls in progress after a reconnect.
        let free = (max as usize).saturating_sub(shares.total());
        shares.take(caller, free).then(|| Slot { link: self.clone(), caller, is_stream })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.link.shares(self.is_stream).lock().release(self.caller);
    }
}

impl Backend {
    pub(super) fn new(channels: Vec<Channel>) -> Self {
        assert!(!channels.is_empty(), "backend should have at least one channel");
        let link = |channel| Arc::new(Link { channel, calls: Mutex::default(), streams: Mutex::default() });
        Self { links: channels.into_iter().map(link).collect(), next: AtomicUsize::new(0) }
    }

    /// Returns whether any channel has an open connection that is not shutting down. Always true with a gRPC server,
    /// because its connections are opened on demand.
    pub(super) fn is_ready(&self) -> bool {
        self.links.iter().map(|link| &link.channel).any(|channel| {
            let is_open = |it: frpc::Connection| it.close_reason().is_none() && !it.is_going_away();
            channel.is_grpc() || channel.connection().is_some_and(is_open)
        })
    }

    /// Returns a slot on the next connection that accepts another call of this caller.
    fn slot<T>(&self, request: &Request<T>, is_stream: bool) -> Result<Slot, Status> {
        let caller = request.caller_network();
        // Relaxed, because the counter only spreads the calls over the links.
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.links.len();
        let (before, from) = self.links.split_at(next);
        let mut links = from.iter().chain(before);
        links.find_map(|link| link.take(caller, is_stream)).ok_or_else(|| {
            let kind = if is_stream { "streams" } else { "calls" };
            Status::resource_exhausted(format!("too many {kind} to the backend are in progress; this one has not run"))
        })
    }
}

pub(super) async fn unary(method: Arc<ForwardedMethod>, request: Request<RawMessage>) -> Reply {
    let slot = method.backend.slot(&request, false)?;
    let channel = &slot.link.channel;
    let request = body(channel, &method, request)?;
    let reply = channel.unary::<Body, Body>(method.method, request).await?;
    Ok(received(reply, channel, &method.reply))
}

pub(super) async fn server_streaming(method: Arc<ForwardedMethod>, request: Request<RawMessage>) -> StreamResult {
    let slot = method.backend.slot(&request, true)?;
    let channel = &slot.link.channel;
    let request = body(channel, &method, request)?;
    let replies = channel.server_streaming::<Body, Body>(method.method, request).await?;
    stream(replies, &method, Failure::default(), slot).await
}

pub(super) async fn client_streaming(method: Arc<ForwardedMethod>, request: Request<Streaming<RawMessage>>) -> Reply {
    let slot = method.backend.slot(&request, true)?;
    let channel = &slot.link.channel;
    let (request, mut failure) = bodies(channel, &method, request);
    let call = async { channel.client_streaming::<_, Body>(method.method, request).await };
    Ok(received(failure.unless(call).await?, channel, &method.reply))
}

pub(super) async fn streaming(method: Arc<ForwardedMethod>, request: Request<Streaming<RawMessage>>) -> StreamResult {
    let slot = method.backend.slot(&request, true)?;
    let channel = &slot.link.channel;
    let (request, mut failure) = bodies(channel, &method, request);
    let call = async { channel.streaming::<_, Body>(method.method, request).await };
    let replies = failure.unless(call).await?;
    stream(replies, &method, failure, slot).await
}

/// Returns the encoding of requests. If a server is not known to be native, returns an encoding that all servers
/// accept.
fn encoding(channel: &Channel) -> BackendEncoding {
    if channel.is_grpc() {
        return BackendEncoding::Protobuf;
    }
    match channel.connection().is_some_and(|connection| connection.peer().hello().is_some()) {
        true => BackendEncoding::Native,
        false => BackendEncoding::Any,
    }
}

/// Adds the caller to the request, so that the channel can prevent one caller from using all streams of a gRPC server.
fn name_caller<T>(channel: &Channel, request: &mut Request<T>) {
    if channel.is_grpc() {
        let caller = GrpcCaller(request.caller_network());
        request.extensions_mut().insert(caller);
    }
}

/// Converts the request message for the backend. Metadata and extensions of the request are kept.
fn body(
    channel: &Channel,
    method: &ForwardedMethod,
    mut request: Request<RawMessage>,
) -> Result<Request<Body>, Status> {
    name_caller(channel, &mut request);
    let mut body = Ok(Body::default());
    let request = request.map(|message| body = message.into_body(&method.request, encoding(channel)));
    let body = body?;
    Ok(request.map(|()| body))
}

/// Converts the request stream for the backend. Metadata and extensions of the call are kept.
fn bodies(
    channel: &Channel,
    method: &ForwardedMethod,
    mut request: Request<Streaming<RawMessage>>,
) -> (Request<Requests>, Failure) {
    name_caller(channel, &mut request);
    let mut failure = Failure::default();
    let request = request.map(|requests| {
        let (requests, failed) = Requests::new(requests, &method.request, encoding(channel));
        failure = failed;
        requests
    });
    (request, failure)
}

/// Returns the encoding of the backend's replies.
fn reply_encoding(channel: &Channel) -> MessageEncoding {
    if channel.is_grpc() { MessageEncoding::Protobuf } else { MessageEncoding::Native }
}

fn received(reply: Response<Body>, channel: &Channel, of: &Arc<MessageType>) -> Response<RawMessage> {
    reply.map(|body| RawMessage::reply(reply_encoding(channel), body.as_bytes().clone(), of))
}

/// Returns the stream of replies. Waits for the head of the backend's response first, because it contains the metadata
/// or an error.
async fn stream(
    reply: Response<Streaming<Body>>,
    method: &Arc<ForwardedMethod>,
    mut failure: Failure,
    slot: Slot,
) -> StreamResult {
    let backend_trailers = reply.extensions().get::<LateTrailers>().cloned();
    let mut replies = reply.into_inner();
    failure.unless(replies.opened()).await?;
    let metadata = replies.metadata().clone();
    let mut response = Response::new(());
    let trailers = backend_trailers.map(|trailers| (trailers, LateTrailers::default()));
    if let Some((_, adapted)) = &trailers {
        response.extensions_mut().insert(adapted.clone());
    }
    if !metadata.is_empty() {
        *response.metadata_mut() = metadata;
    }
    let encoding = reply_encoding(&slot.link.channel);
    let replies = Received { failure, replies, method: method.clone(), encoding, trailers, _slot: slot };
    Ok(response.map(|()| ResponseStream::new(replies)))
}

/// Stream of the backend's replies, converted to the caller's encoding. Ends with an error if a request message could
/// not be converted.
struct Received {
    failure: Failure,
    replies: Streaming<Body>,
    method: Arc<ForwardedMethod>,
    encoding: MessageEncoding,
    /// Trailing metadata from the backend, and trailing metadata for the caller.
    trailers: Option<(LateTrailers, LateTrailers)>,
    _slot: Slot,
}

impl Stream for Received {
    type Item = Result<RawMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { failure, replies, method, encoding, trailers, .. } = &mut *self;
        if let Poll::Ready(status) = failure.poll(context) {
            return Poll::Ready(Some(Err(status)));
        }
        let next = ready!(Pin::new(replies).poll_next(context));
        if next.is_none()
            && let Some((received, adapted)) = trailers.take()
            && let Some(metadata) = received.0.get()
        {
            let mut metadata = metadata.clone();
            method.fields.adapt_trailers(&mut metadata);
            // Ignore the result: the value is set only once, because `trailers` is empty afterwards.
            let _ = adapted.0.set(metadata);
        }
        let reply = |body: Body| RawMessage::reply(*encoding, body.as_bytes().clone(), &method.reply);
        Poll::Ready(next.map(|next| next.map(reply).map_err(|status| method.fields.adapt_status(status))))
    }
}
