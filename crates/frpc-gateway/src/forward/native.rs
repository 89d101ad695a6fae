//! Calls to a native or Go backend.

use super::message::{MessageEncoding, MessageType, RawMessage};
use super::requests::{Failure, ForwardedReplies, Requests};
use super::{ForwardedMethod, Reply};
use frpc::{Channel, Request, Response, ResponseStream, Status, Streaming};
use frpc_dynamic::Body;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// Connections to the backend, used in turn.
#[derive(Debug)]
pub(super) struct Native {
    channels: Vec<Channel>,
    next: AtomicUsize,
}

impl Native {
    pub(super) fn new(channels: Vec<Channel>) -> Self {
        assert!(!channels.is_empty(), "calls are forwarded by at least one channel");
        Self { channels, next: AtomicUsize::new(0) }
    }

    /// Returns whether a connection is available.
    pub(super) fn is_ready(&self) -> bool {
        let mut connections = self.channels.iter().filter_map(Channel::connection);
        connections.any(|connection| connection.close_reason().is_none() && !connection.is_going_away())
    }

    /// Returns the channel for the next call.
    fn channel(&self) -> &Channel {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.channels.len();
        self.channels.get(next).unwrap_or_else(|| unreachable!("the remainder is below the length"))
    }

    pub(super) async fn unary(&self, method: &ForwardedMethod, request: Request<RawMessage>) -> Reply {
        let channel = self.channel();
        let request = body(channel, method, request)?;
        let reply = channel.unary::<Body, Body>(method.method, request).await?;
        Ok(received(reply, &method.reply))
    }

    pub(super) async fn server_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<RawMessage>,
    ) -> super::StreamResult {
        let channel = self.channel();
        let request = body(channel, method, request)?;
        let replies = channel.server_streaming::<Body, Body>(method.method, request).await?;
        stream(replies.into_inner(), method, None).await
    }

    pub(super) async fn client_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> Reply {
        let channel = self.channel();
        let (request, mut failure) = bodies(channel, method, request);
        let call = async { channel.client_streaming::<_, Body>(method.method, request).await };
        Ok(received(failure.unless(call).await?, &method.reply))
    }

    pub(super) async fn streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> super::StreamResult {
        let channel = self.channel();
        let (request, mut failure) = bodies(channel, method, request);
        let call = async { channel.streaming::<_, Body>(method.method, request).await };
        let replies = failure.unless(call).await?;
        stream(replies.into_inner(), method, Some(failure)).await
    }
}

/// Returns whether the server is known to be native. Messages for other servers are converted to a form that every
/// server accepts.
fn is_native(channel: &Channel) -> bool {
    channel.connection().is_some_and(|connection| connection.peer().hello().is_some())
}

/// Converts the request message, keeping the metadata and extensions of the request.
fn body(channel: &Channel, method: &ForwardedMethod, request: Request<RawMessage>) -> Result<Request<Body>, Status> {
    let mut body = Ok(Body::default());
    let request = request.map(|message| body = message.into_body(&method.request, is_native(channel)));
    let body = body?;
    Ok(request.map(|()| body))
}

/// Converts the request stream, keeping the metadata and extensions of the call.
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

/// Returns the reply stream. Waits for the backend's response first, because its metadata precedes the messages and it
/// may fail.
async fn stream(
    mut replies: Streaming<Body>,
    method: &ForwardedMethod,
    failure: Option<Failure>,
) -> super::StreamResult {
    let mut failure = failure;
    match &mut failure {
        Some(failure) => failure.unless(replies.opened()).await?,
        None => replies.opened().await?,
    }
    let metadata = replies.metadata().clone();
    let replies = Received { replies, of: method.reply.clone() };
    let mut response = Response::new(ResponseStream::new(ForwardedReplies { replies, failure }));
    if !metadata.is_empty() {
        *response.metadata_mut() = metadata;
    }
    Ok(response)
}

/// Stream of the backend's replies, converted for the caller.
struct Received {
    replies: Streaming<Body>,
    of: Arc<MessageType>,
}

impl Stream for Received {
    type Item = Result<RawMessage, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { replies, of } = &mut *self;
        Pin::new(replies).poll_next(context).map_ok(|body| message(&body, of))
    }
}
