//! Calls to a gRPC server. Messages are forwarded as bytes. `grpc/link.rs` has the connections, `grpc/status.rs` the
//! statuses and metadata.
//!
//! The deadline of a call is enforced by its handler here, which drops the call. It is also sent to the server. Trailing
//! metadata is returned to HTTP callers. Native callers receive it only with an error, because native replies have no
//! trailers.
//!
//! # Decisions
//!
//! **A caller cannot exhaust the streams of the server.** On each connection its calls hold at most half of the streams
//! that others leave free. An unread reply exhausts only the window of its own stream, because `frisbee_http2` returns
//! the credit of the connection when bytes arrive.
//!
//! **Calls fail during the pause after a failed connection attempt**, like gRPC calls without `wait_for_ready`, because
//! queued calls would need unbounded memory.

mod link;
mod status;

use super::message::{MessageEncoding, MessageType, RawMessage};
use super::requests::{Failure, ForwardedReplies, Requests};
use super::shares::{Caller, caller};
use super::{ForwardFields, ForwardedMethod, Reply};
use crate::clock::{after, now};
use crate::connect::envelope;
use crate::trailers::{LateTrailers, Trailers};
use bytes::{Bytes, BytesMut};
use frisbee_http2::Head;
use frisbee_requests::Backoff;
use frpc::{Code, Metadata, Request, Response, ResponseStream, Status, Streaming};
use futures_core::Stream;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use futures_util::future::Shared;
use link::{Call, Io, Link, Sender};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

/// Maximum number of connections to the backend. Another one is opened when the caller can open no further stream on
/// the existing ones.
const LINKS_MAX: usize = 4;

/// Maximum number of attempts of a call that the server has not processed.
const ATTEMPTS_MAX: usize = 3;

/// Minimum and maximum pause after a failed connection attempt, as in native channels.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Header fields that the gateway sets itself and therefore does not copy from the caller. Hop-by-hop fields have
/// already been removed.
const OF_REQUEST: [&str; 9] = [
    "content-length",
    "content-type",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-message",
    "grpc-message-type",
    "grpc-status",
    "grpc-timeout",
    "host",
];

type Transport = Pin<Box<dyn Io>>;

type Connect = dyn Fn() -> BoxFuture<'static, io::Result<Transport>> + Send + Sync;

type Dial = Shared<BoxFuture<'static, Result<Arc<Link>, Arc<str>>>>;

/// A backend that speaks gRPC over HTTP/2.
pub(super) struct Grpc {
    scheme: &'static str,
    authority: Arc<str>,
    message_max: u32,
    connect: Box<Connect>,
    backoff: Backoff,
    pool: Mutex<Pool>,
}

/// Open connections to the backend, and the recent failures that delay new ones.
#[derive(Default)]
struct Pool {
    links: Vec<Arc<Link>>,
    dialling: Option<Dial>,
    /// Number of consecutive connections that failed or closed without a single reply.
    failures: u32,
    retry_at: Option<Instant>,
    last_error: Arc<str>,
}

/// A call whose response head has arrived from the backend.
struct BegunCall {
    call: Call,
    head: Head,
    /// Whether the response head already contains the trailers, so that no messages follow.
    is_end: bool,
    deadline: Option<Instant>,
    authority: Arc<str>,
}

type ReplyState = (BegunCall, Arc<MessageType>, LateTrailers, u32, Arc<ForwardFields>, Option<Sending>);

/// Task that sends the rest of the request stream while replies are received. Aborted on drop.
struct Sending(JoinHandle<()>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The request messages of a forwarded call.
enum Body {
    /// The single message of a unary request, in its envelope.
    Whole(Bytes),
    Stream(RequestStream),
}

struct RequestStream {
    requests: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    has_sent: bool,
}

impl RequestStream {
    /// Sends request messages until the stream is pending or has ended, or the call has failed.
    fn poll_send(&mut self, call: &Sender, task: &mut Context<'_>) -> Poll<()> {
        loop {
            if ready!(call.poll_writable(task)).is_err() {
                return Poll::Ready(());
            }
            let next = ready!(self.requests.as_mut().poll_next(task));
            self.has_sent = true;
            let is_end = next.is_none();
            if call.send(next.unwrap_or_default(), is_end).is_err() || is_end {
                return Poll::Ready(());
            }
        }
    }
}

impl Grpc {
    pub(super) fn new<C, F, T>(address: &str, connect: C, message_max: u32) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (scheme, authority) = match address.split_once("://") {
            Some(("https", authority)) => ("https", authority),
            Some((_, authority)) => ("http", authority),
            None => ("http", address),
        };
        let connect = Box::new(move || {
            let connecting = connect();
            async move { Ok(Box::pin(connecting.await?) as Transport) }.boxed()
        });
        let backoff = Backoff::new(PAUSE_MIN, PAUSE_MAX);
        Self { scheme, authority: authority.into(), message_max, connect, backoff, pool: Mutex::default() }
    }

    pub(super) async fn unary(&self, method: &ForwardedMethod, request: Request<RawMessage>) -> Reply {
        let begun = self.call_one(method, request).await?;
        self.single(begun, method, None).await
    }

    pub(super) async fn server_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<RawMessage>,
    ) -> super::StreamResult {
        Ok(self.stream(self.call_one(method, request).await?, method, None, None))
    }

    pub(super) async fn client_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> Reply {
        let (request, mut failure) = bodies(request, method);
        let call = async {
            let (begun, sending) = self.call_stream(method, request).await?;
            self.single(begun, method, Some(sending)).await
        };
        failure.unless(call).await
    }

    pub(super) async fn streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> super::StreamResult {
        let (request, mut failure) = bodies(request, method);
        let (begun, sending) = failure.unless(self.call_stream(method, request)).await?;
        Ok(self.stream(begun, method, Some(failure), Some(sending)))
    }

    async fn call_one(&self, method: &ForwardedMethod, request: Request<RawMessage>) -> Result<BegunCall, Status> {
        let mut message = Ok(Bytes::new());
        let request = request.map(|request| message = request.into_protobuf(&method.request));
        let mut body = Body::Whole(enveloped(&message?)?);
        self.call(method, &request, &mut body).await
    }

    async fn call_stream(
        &self,
        method: &ForwardedMethod,
        request: Request<impl Stream<Item = Bytes> + Send + 'static>,
    ) -> Result<(BegunCall, Sending), Status> {
        let mut body = None;
        let request = request.map(|requests| body = Some(requests));
        let Some(requests) = body else { unreachable!("`map` calls its function") };
        let mut body = Body::Stream(RequestStream { requests: Box::pin(requests), has_sent: false });
        let begun = self.call(method, &request, &mut body).await?;
        // The rest is sent by a task, because replies may be polled only after the server has received further requests.
        let sender = begun.call.sender().clone();
        let sending = tokio::spawn(async move {
            if let Body::Stream(mut requests) = body {
                poll_fn(|task| requests.poll_send(&sender, task)).await;
            }
        });
        Ok((begun, Sending(sending)))
    }

    /// Starts a call of any kind and waits for the head of the reply. Retries calls that the server has not processed.
    async fn call(
        &self,
        method: &ForwardedMethod,
        request: &Request<()>,
        body: &mut Body,
    ) -> Result<BegunCall, Status> {
        let caller = caller(request);
        let head = self.head(method, request);
        let deadline = request.timeout().map(|timeout| after(now(), timeout));
        let mut refused_by = None;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let whole = match body {
                Body::Whole(message) => Some(&*message),
                Body::Stream(_) => None,
            };
            let mut call = self.open(caller, &head, whole, refused_by.as_ref()).await?;
            let mut is_sending = true;
            let reply = poll_fn(|task| {
                if let Body::Stream(requests) = body {
                    is_sending = is_sending && requests.poll_send(call.sender(), task).is_pending();
                }
                call.poll_head(task)
            });
            match reply.await {
                Ok((head, is_end)) => {
                    let begun = BegunCall { call, head, is_end, deadline, authority: self.authority.clone() };
                    status::check_head(&begun.head).map_err(|status| begun.explain(status))?;
                    return Ok(begun);
                }
                Err(error) => {
                    let can_repeat = !matches!(body, Body::Stream(RequestStream { has_sent: true, .. }));
                    if attempt == ATTEMPTS_MAX || !error.has_not_run() || !can_repeat {
                        return Err(explain(error.status(&self.authority), deadline, &self.authority));
                    }
                    refused_by = Some(call.sender().link().clone());
                }
            }
        }
    }

    fn head(&self, method: &ForwardedMethod, request: &Request<()>) -> Head {
        let path = format!("/{}/{}", method.descriptor.parent_service().full_name(), method.descriptor.name());
        let mut head = Head::request("POST", self.scheme, &self.authority, &path);
        head.push("te", "trailers");
        head.push("content-type", "application/grpc");
        if let Some(timeout) = request.timeout() {
            head.push("grpc-timeout", status::timeout(timeout));
        }
        for (key, value) in request.metadata().iter().filter(|(key, _)| !OF_REQUEST.contains(key)) {
            match key {
                _ if key.ends_with("-bin") => head.push(key, crate::base64::encode(value)),
                "authorization" | "cookie" => head.push_sensitive(key, value.trim_ascii()),
                _ => head.push(key, value.trim_ascii()),
            }
        }
        head
    }

    /// Opens a stream on an existing connection other than `refused_by`, or on a new connection.
    async fn open(
        &self,
        caller: Caller,
        head: &Head,
        message: Option<&Bytes>,
        refused_by: Option<&Arc<Link>>,
    ) -> Result<Call, Status> {
        loop {
            let dial = {
                let pool = &mut *self.pool.lock();
                self.remove_closing(pool);
                let is_allowed = |link: &&Arc<Link>| refused_by.is_none_or(|refused| !Arc::ptr_eq(link, refused));
                let mut links = pool.links.iter().filter(is_allowed);
                if let Some(call) = links.find_map(|link| link.call(caller, head, message)) {
                    return Ok(call);
                }
                if pool.links.len() >= LINKS_MAX {
                    return Err(Status::resource_exhausted(format!(
                        "too many calls to {} are in progress; this one has not run",
                        self.authority
                    )));
                }
                if pool.retry_at.is_some_and(|retry_at| now() < retry_at) {
                    return Err(self.unreachable(&pool.last_error));
                }
                pool.dialling.get_or_insert_with(|| dial((self.connect)())).clone()
            };
            let opened = dial.clone().await;
            let pool = &mut *self.pool.lock();
            if pool.dialling.as_ref().is_some_and(|dialling| dialling.ptr_eq(&dial)) {
                pool.dialling = None;
                match &opened {
                    Ok(link) => pool.links.push(link.clone()),
                    Err(error) => self.pause(pool, error.clone()),
                }
            }
            opened.map_err(|error| self.unreachable(&error))?;
        }
    }

    /// Removes connections that accept no further calls. After two consecutive connections without a reply, new
    /// attempts are delayed. A single one causes no delay, because the server may have shut it down just before the
    /// call, which is then retried at once.
    fn remove_closing(&self, pool: &mut Pool) {
        let mut failed = None;
        pool.links.retain(|link| {
            match link.early_end() {
                None => pool.failures = 0,
                Some(reason) if link.is_closing() => failed = Some(reason),
                Some(_) => {}
            }
            !link.is_closing()
        });
        match failed {
            Some(_) if pool.failures == 0 => pool.failures = 1,
            Some(reason) => self.pause(pool, reason),
            None => {}
        }
    }

    fn pause(&self, pool: &mut Pool, error: Arc<str>) {
        pool.retry_at = Some(after(now(), self.backoff.pause(pool.failures)));
        pool.failures = pool.failures.saturating_add(1);
        pool.last_error = error;
    }

    fn unreachable(&self, error: &str) -> Status {
        Status::unavailable(format!("no connection to {}: {error}", self.authority))
    }

    /// Returns the message of a response that must contain exactly one.
    async fn single(&self, mut begun: BegunCall, method: &ForwardedMethod, sending: Option<Sending>) -> Reply {
        let message = begun.message(self.message_max).await?;
        if message.is_some() && begun.message(self.message_max).await?.is_some() {
            return Err(Status::internal("the server sent more than one message"));
        }
        let trailers = begun.trailers()?;
        drop(sending);
        let message = message.ok_or_else(|| Status::internal("the server sent no message"))?;
        let mut response = Response::new(RawMessage::reply(MessageEncoding::Protobuf, message, &method.reply));
        begun.set_metadata(&mut response);
        if !trailers.is_empty() {
            response.extensions_mut().insert(Trailers(trailers));
        }
        Ok(response)
    }

    fn stream(
        &self,
        begun: BegunCall,
        method: &ForwardedMethod,
        failure: Option<Failure>,
        sending: Option<Sending>,
    ) -> Response<ResponseStream<RawMessage>> {
        let late = LateTrailers::default();
        let mut response = Response::new(());
        response.extensions_mut().insert(late.clone());
        begun.set_metadata(&mut response);
        let state = (begun, method.reply.clone(), late, self.message_max, method.fields.clone(), sending);
        let replies = Box::pin(futures_util::stream::try_unfold(state, next));
        response.map(|()| ResponseStream::new(ForwardedReplies { replies, failure }))
    }
}

impl std::fmt::Debug for Grpc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grpc").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.links.iter().for_each(|link| link.close());
    }
}

fn dial(connecting: BoxFuture<'static, io::Result<Transport>>) -> Dial {
    async move {
        let opened = async { Link::open(connecting.await?).await }.await;
        opened.map_err(|error| error.to_string().into())
    }
    .boxed()
    .shared()
}

fn enveloped(message: &[u8]) -> Result<Bytes, Status> {
    let mut body = BytesMut::new();
    envelope::put(&mut body, 0, message)?;
    Ok(body.freeze())
}

/// Reports a cancellation by the server as `DEADLINE_EXCEEDED` if the call's deadline has passed, because servers
/// cancel expired calls.
fn explain(status: Status, deadline: Option<Instant>, authority: &str) -> Status {
    if status.code() == Code::Cancelled && deadline.is_some_and(|deadline| now() >= deadline) {
        return Status::deadline_exceeded(format!("the deadline passed before {authority} answered"));
    }
    status
}

impl BegunCall {
    fn explain(&self, status: Status) -> Status {
        explain(status, self.deadline, &self.authority)
    }

    async fn message(&mut self, message_max: u32) -> Result<Option<Bytes>, Status> {
        let message = poll_fn(|task| self.call.poll_message(message_max, &self.authority, task)).await;
        message.map_err(|status| self.explain(status))
    }

    /// Returns the trailing metadata of a call whose messages have ended, or the call's error.
    fn trailers(&self) -> Result<Metadata, Status> {
        let missing = || Status::internal("the reply ended without trailers");
        let trailers = self.call.trailers().ok_or_else(missing)?;
        status::outcome(&trailers).map_err(|status| self.explain(status))?;
        Ok(status::metadata(&trailers))
    }

    fn set_metadata<T>(&self, response: &mut Response<T>) {
        let metadata = if self.is_end { Metadata::new() } else { status::metadata(&self.head) };
        if !metadata.is_empty() {
            *response.metadata_mut() = metadata;
        }
    }
}

/// Converts the request stream. Metadata and extensions of the call are kept.
fn bodies(
    request: Request<Streaming<RawMessage>>,
    method: &ForwardedMethod,
) -> (Request<impl Stream<Item = Bytes> + Send + use<>>, Failure) {
    let convert = |message: RawMessage, of: &MessageType| enveloped(&message.into_protobuf(of)?);
    let mut failure = None;
    let request = request.map(|requests| {
        let (requests, failed) = Requests::new(requests, &method.request, convert);
        failure = Some(failed);
        requests
    });
    (request, failure.unwrap_or_else(|| unreachable!("`map` calls its function")))
}

/// Polls for the next message of the reply. Stores the trailers when the stream ends.
async fn next(
    (mut begun, of, late, message_max, fields, sending): ReplyState,
) -> Result<Option<(RawMessage, ReplyState)>, Status> {
    let Some(message) = begun.message(message_max).await? else {
        let mut trailers = begun.trailers()?;
        fields.adapt_trailers(&mut trailers);
        // Setting fails if the value was set before, but the stream ends only once.
        let _ = late.0.set(trailers);
        return Ok(None);
    };
    let message = RawMessage::reply(MessageEncoding::Protobuf, message, &of);
    Ok(Some((message, (begun, of, late, message_max, fields, sending))))
}
