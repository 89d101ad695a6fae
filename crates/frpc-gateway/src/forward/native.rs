//! Calls to a native or Go backend.

use super::message::{MessageEncoding, MessageType, RawMessage};
use super::requests::{Failure, ForwardedReplies, Requests};
use super::shares::{Caller, Shares, caller};
use super::{ForwardedMethod, Reply};
use frpc::{Channel, Request, Response, ResponseStream, Status, Streaming};
use frpc_dynamic::Body;
use futures_core::Stream;
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// Connections to the backend, used in turn.
#[derive(Debug)]
pub(super) struct Native {
    links: Vec<Arc<Link>>,
    next: AtomicUsize,
}

/// A connection to the backend, with its unary calls and streams in progress, both of which the backend limits.
#[derive(Debug)]
struct Link {
    channel: Channel,
    calls: Mutex<Shares>,
    streams: Mutex<Shares>,
}

/// A unary call or stream in progress, which counts against its caller's share until it is dropped.
struct Slot {
    link: Arc<Link>,
    caller: Caller,
    is_stream: bool,
}

impl Link {
    fn shares(&self, is_stream: bool) -> &Mutex<Shares> {
        if is_stream { &self.streams } else { &self.calls }
    }

    /// Counts a call of `caller`. Returns `None` if the caller already holds its share of the calls that the backend
    /// accepts on this connection. Every call is accepted until the backend's limits are known.
    fn take(self: &Arc<Self>, caller: Caller, is_stream: bool) -> Option<Slot> {
        let peer = self.channel.connection().map(|connection| connection.peer());
        let hello = peer.as_ref().and_then(|peer| peer.hello());
        let max = hello.map_or(u32::MAX, |hello| if is_stream { hello.streams_max } else { hello.calls_max });
        let mut shares = self.shares(is_stream).lock();
        let free = (max as usize).saturating_sub(shares.total());
        shares.take(caller, free).then(|| Slot { link: self.clone(), caller, is_stream })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.link.shares(self.is_stream).lock().release(self.caller);
    }
}

impl Native {
    pub(super) fn new(channels: Vec<Channel>) -> Self {
        assert!(!channels.is_empty(), "calls are forwarded by at least one channel");
        let link = |channel| Arc::new(Link { channel, calls: Mutex::default(), streams: Mutex::default() });
        Self { links: channels.into_iter().map(link).collect(), next: AtomicUsize::new(0) }
    }

    /// Returns whether any channel has an open connection that is not shutting down.
    pub(super) fn is_ready(&self) -> bool {
        let mut connections = self.links.iter().filter_map(|link| link.channel.connection());
        connections.any(|connection| connection.close_reason().is_none() && !connection.is_going_away())
    }

    /// Returns a slot on the next connection that accepts another call of this caller.
    fn slot<T>(&self, request: &Request<T>, is_stream: bool) -> Result<Slot, Status> {
        let caller = caller(request);
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.links.len();
        let (before, from) = self.links.split_at(next);
        let mut links = from.iter().chain(before);
        links.find_map(|link| link.take(caller, is_stream)).ok_or_else(|| {
            let kind = if is_stream { "streams" } else { "calls" };
            Status::resource_exhausted(format!("too many {kind} to the backend are in progress; this one has not run"))
        })
    }

    pub(super) async fn unary(&self, method: &ForwardedMethod, request: Request<RawMessage>) -> Reply {
        let slot = self.slot(&request, false)?;
        let channel = &slot.link.channel;
        let request = body(channel, method, request)?;
        let reply = channel.unary::<Body, Body>(method.method, request).await?;
        Ok(received(reply, &method.reply))
    }

    pub(super) async fn server_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<RawMessage>,
    ) -> super::StreamResult {
        let slot = self.slot(&request, true)?;
        let channel = &slot.link.channel;
        let request = body(channel, method, request)?;
        let replies = channel.server_streaming::<Body, Body>(method.method, request).await?;
        stream(replies.into_inner(), method, None, slot).await
    }

    pub(super) async fn client_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> Reply {
        let slot = self.slot(&request, true)?;
        let channel = &slot.link.channel;
        let (request, mut failure) = bodies(channel, method, request);
        let call = async { channel.client_streaming::<_, Body>(method.method, request).await };
        Ok(received(failure.unless(call).await?, &method.reply))
    }

    pub(super) async fn streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> super::StreamResult {
        let slot = self.slot(&request, true)?;
        let channel = &slot.link.channel;
        let (request, mut failure) = bodies(channel, method, request);
        let call = async { channel.streaming::<_, Body>(method.method, request).await };
        let replies = failure.unless(call).await?;
        stream(replies.into_inner(), method, Some(failure), slot).await
    }
}

/// Returns whether the connected server is known to be native. Messages for other servers are converted to an encoding
/// that every server accepts.
fn is_native(channel: &Channel) -> bool {
    channel.connection().is_some_and(|connection| connection.peer().hello().is_some())
}

/// Converts the request message. Metadata and extensions of the request are kept.
fn body(channel: &Channel, method: &ForwardedMethod, request: Request<RawMessage>) -> Result<Request<Body>, Status> {
    let mut body = Ok(Body::default());
    let request = request.map(|message| body = message.into_body(&method.request, is_native(channel)));
    let body = body?;
    Ok(request.map(|()| body))
}

/// Converts the request stream. Metadata and extensions of the call are kept.
fn bodies(
    channel: &Channel,
    method: &ForwardedMethod,
    request: Request<Streaming<RawMessage>>,
) -> (Request<impl Stream<Item = Body> + Send + use<>>, Failure) {
    let is_native = is_native(channel);
    let convert = move |message: RawMessage, of: &MessageType| message.into_body(of, is_native);
    let mut failure = None;
    let request = request.map(|requests| {
        let (requests, failed) = Requests::new(requests, &method.request, convert);
        failure = Some(failed);
        requests
    });
    (request, failure.unwrap_or_else(|| unreachable!("`map` calls its function")))
}

fn received(reply: Response<Body>, of: &Arc<MessageType>) -> Response<RawMessage> {
    reply.map(|body| message(&body, of))
}

fn message(body: &Body, of: &Arc<MessageType>) -> RawMessage {
    RawMessage::reply(MessageEncoding::Native, body.as_bytes().clone(), of)
}

/// Returns the stream of replies. Waits for the head of the backend's response first, because it contains the metadata
/// or an error.
async fn stream(
    mut replies: Streaming<Body>,
    method: &ForwardedMethod,
    mut failure: Option<Failure>,
    slot: Slot,
) -> super::StreamResult {
    match &mut failure {
        Some(failure) => failure.unless(replies.opened()).await?,
        None => replies.opened().await?,
    }
    let metadata = replies.metadata().clone();
    let replies = Received { replies, of: method.reply.clone(), _slot: slot };
    let mut response = Response::new(ResponseStream::new(ForwardedReplies { replies, failure }));
    if !metadata.is_empty() {
        *response.metadata_mut() = metadata;
    }
    Ok(response)
}

/// Stream of the backend's replies, converted to the caller's encoding.
struct Received {
    replies: Streaming<Body>,
    of: Arc<MessageType>,
    _slot: Slot,
}

impl Stream for Received {
    type Item = Result<RawMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { replies, of, .. } = &mut *self;
        Pin::new(replies).poll_next(context).map_ok(|body| message(&body, of))
    }
}
