//! Calls to gRPC servers, and the connections of a channel to one server.
//!
//! * `grpc/pool.rs`: choice and opening of connections
//! * `grpc/link.rs`: a connection and its driver
//! * `grpc/status.rs`: statuses and metadata
//! * `grpc/calls.rs`: calls of generated clients

pub(crate) mod calls;
mod link;
mod pool;
mod status;

use crate::api::BoxFuture;
use crate::api::metadata::BASE64;
use crate::calls::events::ServerObserver;
use crate::calls::offers::CalledServices;
use crate::calls::table::CallTable;
use crate::client::attempt::SentState;
use crate::client::dial::is_grpc;
use crate::client::factory::LinkFactory;
use crate::clock::now;
use crate::observe::TraceContext;
use crate::{Code, GrpcCaller, Metadata, Status};
use base64::Engine as _;
use bytes::Bytes;
use frisbee::Client;
use frisbee_http2::Head;
use futures_core::Stream;
pub(crate) use link::Keepalive;
use link::{Call, Changes, Io, Sender};
use parking_lot::Mutex;
use pool::Pool;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Length of the prefix before a gRPC message: a byte of flags and a length of four bytes.
const PREFIX: usize = 5;

/// Maximum number of times that a call is sent. It is sent again if the server has not processed it.
const ATTEMPTS_MAX: usize = 3;

type Transport = Pin<Box<dyn Io>>;

type Connect = dyn Fn() -> BoxFuture<'static, io::Result<Transport>> + Send + Sync;

/// The connections to a gRPC server. Clones share them.
#[derive(Clone)]
pub(crate) struct GrpcLinks(Arc<Shared>);

/// Names of a gRPC server, for errors and for requests.
pub(crate) struct GrpcServer {
    name: String,
    is_tls: bool,
    authority: Arc<str>,
    /// Server name to verify against the certificate. Overrides the name configured for the channel.
    server_name: Arc<Mutex<Option<String>>>,
}

impl GrpcServer {
    pub(crate) fn new(name: &str, is_tls: bool, authority: &str) -> Self {
        Self { name: name.to_owned(), is_tls, authority: authority.into(), server_name: Arc::default() }
    }

    /// Creates the server behind a connector. `name` identifies it in errors, and is the authority of its calls if it
    /// is a valid address.
    pub(crate) fn over_connector(name: &str) -> Self {
        let is_host = !name.starts_with("unix") && Client::check_address(name).is_ok();
        Self::new(name, false, if is_host { name } else { "localhost" })
    }
}

struct Shared {
    server: GrpcServer,
    message_max: u32,
    keepalive: Keepalive,
    connect: Box<Connect>,
    runtime: Handle,
    /// Call table without entries for gRPC calls. It only measures their durations and reports events of the server to
    /// the picker.
    calls: Arc<CallTable>,
    pool: Mutex<Pool>,
    changes: Arc<Changes>,
}

/// A call to a gRPC server.
pub(crate) struct GrpcCall<'a> {
    /// Path of the method: `/package.Service/Method`.
    pub(crate) path: String,
    pub(crate) caller: Option<GrpcCaller>,
    /// Deadline that is sent to the server as the remaining time.
    pub(crate) deadline: Option<Instant>,
    /// Deadline for opening a stream.
    pub(crate) open_until: Option<Instant>,
    pub(crate) metadata: &'a Metadata,
    pub(crate) trace: Option<TraceContext>,
    /// Set once the call is sent on a connection.
    pub(crate) is_sent: Option<&'a AtomicBool>,
}

/// Encoded request messages of a call, each with the [prefix](PREFIX) of gRPC.
pub(crate) enum GrpcRequests {
    /// The only request message.
    Whole(Bytes),
    /// A stream of request messages. An error fails the call, because its message cannot be sent.
    Stream(Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>),
}

/// Replies of a call after its response head has arrived.
pub(crate) struct GrpcReplies {
    call: Call,
    head: Head,
    /// Whether the head already contains the trailers, so that no messages follow.
    is_end: bool,
    deadline: Option<Instant>,
    links: Arc<Shared>,
    /// Task that sends the rest of a request stream while replies are received.
    _sending: Option<AbortOnDrop<()>>,
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends request messages as the stream yields them. Completes when the stream ends or the call fails. Sets `has_sent`
/// when it takes the first message or the end from the stream, before it sends anything.
fn poll_send(
    requests: &mut Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>,
    has_sent: &mut bool,
    call: &Sender,
    task: &mut Context<'_>,
) -> Poll<()> {
    loop {
        // Take the next message only when it can be sent, because it cannot be put back.
        if ready!(call.poll_writable(task)).is_err() {
            return Poll::Ready(());
        }
        let next = ready!(requests.as_mut().poll_next(task));
        // Set the flag as soon as a message is consumed, even if sending it fails: another attempt could not send it
        // again.
        *has_sent = true;
        let is_end = next.is_none();
        let message = match next.transpose() {
            Ok(message) => message.unwrap_or_default(),
            Err(status) => {
                call.fail(status);
                return Poll::Ready(());
            }
        };
        if call.send(message, is_end).is_err() || is_end {
            return Poll::Ready(());
        }
    }
}

impl GrpcLinks {
    /// Creates the connections to a server.
    pub(crate) fn new<C, F, T>(
        factory: &LinkFactory,
        keepalive: Keepalive,
        server: GrpcServer,
        connect: C,
        observer: Option<&Arc<dyn ServerObserver>>,
    ) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + 'static,
    {
        let limit = factory.connect_timeout();
        let connect = Box::new(move || -> BoxFuture<'static, io::Result<Transport>> {
            let connecting = connect();
            Box::pin(async move {
                let late = || io::Error::new(io::ErrorKind::TimedOut, format!("not connected within {limit:?}"));
                let connected = tokio::time::timeout(limit, connecting).await.map_err(|_| late())?;
                Ok(Box::pin(connected?) as Transport)
            })
        });
        Self(Arc::new(Shared {
            server,
            message_max: factory.client.to_settings().connection.body_limit(),
            keepalive,
            connect,
            runtime: factory.runtime.clone(),
            calls: Arc::new(CallTable::new(CalledServices::default(), None, observer)),
            pool: Mutex::default(),
            changes: Arc::default(),
        }))
    }

    /// Creates the connections to the server at an address, which may have a gRPC scheme.
    ///
    /// # Errors
    /// If the address is invalid, or its scheme contradicts the TLS settings.
    pub(crate) fn to_address(
        factory: &LinkFactory,
        keepalive: Keepalive,
        address: &str,
        observer: Option<&Arc<dyn ServerObserver>>,
    ) -> Result<Self, frisbee::Error> {
        let client = factory.client.clone();
        let is_secured = client.is_secured();
        let (scheme, rest) = address.split_once(':').unwrap_or_default();
        let (target, problem) = match (is_grpc(address), scheme, rest.strip_prefix("//")) {
            (false, ..) => (address, None),
            (true, "grpc+unix", _) => (address.trim_start_matches("grpc+"), None),
            (true, "grpc", Some(host)) => (host, is_secured.then_some("the channel has TLS settings; use grpcs://")),
            (true, "grpcs", Some(host)) => {
                (host, (!is_secured).then_some("grpcs:// requires TLS settings; set them by `tls`"))
            }
            _ => (address, Some("invalid gRPC address; use grpc://host:port, grpcs://host or grpc+unix:path")),
        };
        if let Some(problem) = problem {
            let source = io::Error::new(io::ErrorKind::InvalidInput, problem);
            return Err(frisbee::Error::Connect { address: address.to_owned(), source });
        }
        let is_path = target.starts_with("unix:");
        let authority = if is_path { "localhost" } else { target.trim_end_matches('/') };
        let has_port = authority.trim_start_matches('[').contains(':') && !authority.ends_with(']');
        let dialled = match is_path {
            true => target.to_owned(),
            false if is_secured && !has_port => format!("{authority}:443"),
            false => authority.to_owned(),
        };
        Client::check_address(&dialled)?;
        let server = GrpcServer::new(address, is_secured, authority);
        let stated = server.server_name.clone();
        let connect = move || {
            let client = match &*stated.lock() {
                #[cfg(feature = "tls")]
                Some(name) => client.clone().server_name(name),
                _ => client.clone(),
            };
            let dialled = dialled.clone();
            async move { client.connect_transport(&dialled, &["h2"]).await.map_err(io::Error::other) }
        };
        Ok(Self::new(factory, keepalive, server, connect, observer))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.server.name
    }

    pub(crate) fn server_name(&self) -> &Mutex<Option<String>> {
        &self.0.server.server_name
    }

    /// Returns the call table. gRPC calls use it only to measure their durations for load balancing.
    pub(crate) fn calls(&self) -> &Arc<CallTable> {
        &self.0.calls
    }

    /// Makes a call of any kind and waits for the response head. Sends the call again if the server has not processed
    /// it.
    ///
    /// # Errors
    /// The failure of the call before the response head arrives, with the progress of the call, which determines
    /// whether it may be retried.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call.
    pub(crate) async fn call(&self, call: &GrpcCall<'_>, mut requests: GrpcRequests) -> Result<GrpcReplies, Failed> {
        let links = &self.0;
        let deadline = call.deadline;
        let (mut refused_by, mut attempt, mut has_sent) = (None, 0, false);
        loop {
            attempt += 1;
            let whole = match &requests {
                GrpcRequests::Whole(message) => Some(message),
                GrpcRequests::Stream(_) => None,
            };
            let opened = links.open(call, whole, refused_by.as_ref()).await;
            let mut opened = opened.map_err(|status| links.unsent(status))?;
            call.is_sent.iter().for_each(|is_sent| is_sent.store(true, Ordering::Relaxed));
            let mut is_sending = true;
            let reply = poll_fn(|task| {
                if let GrpcRequests::Stream(requests) = &mut requests {
                    is_sending = is_sending && poll_send(requests, &mut has_sent, &opened.sender, task).is_pending();
                }
                opened.poll_head(task)
            });
            match reply.await {
                Ok((head, is_end)) => {
                    // Send the remaining requests in a task, because the caller may poll for replies only after the
                    // server has received them.
                    let sending = match requests {
                        GrpcRequests::Stream(mut requests) if is_sending => {
                            let sender = opened.sender.clone();
                            Some(AbortOnDrop(links.runtime.spawn(async move {
                                poll_fn(|task| poll_send(&mut requests, &mut has_sent, &sender, task)).await;
                            })))
                        }
                        _ => None,
                    };
                    let links = links.clone();
                    let replies = GrpcReplies { call: opened, head, is_end, deadline, links, _sending: sending };
                    status::check_head(&replies.head)
                        .map_err(|status| (replies.explain(status), SentState::Answered))?;
                    return Ok(replies);
                }
                Err(error) => {
                    // Do not retry once a message of the request stream was consumed, because it cannot be sent again.
                    if attempt == ATTEMPTS_MAX || error.sent_state() != SentState::Refused || has_sent {
                        let status = explain(error.status(links.authority()), deadline, links.authority());
                        return Err((status, error.sent_state()));
                    }
                    refused_by = Some(opened.sender.link.clone());
                }
            }
        }
    }
}

type Failed = (Status, SentState);

impl Shared {
    fn authority(&self) -> &str {
        &self.server.authority
    }

    /// Returns the failure of a call that could not open a stream. Another server of a load-balanced channel may accept
    /// the call.
    fn unsent(&self, status: Status) -> Failed {
        let is_unreachable = status.code() == Code::Unavailable && self.calls.is_of_fleet();
        (status, if is_unreachable { SentState::No } else { SentState::Never })
    }

    fn head(&self, call: &GrpcCall<'_>) -> Head {
        let scheme = if self.server.is_tls { "https" } else { "http" };
        let mut head = Head::request("POST", scheme, self.authority(), &call.path);
        head.push("te", "trailers");
        head.push("content-type", "application/grpc");
        if let Some(deadline) = call.deadline {
            head.push("grpc-timeout", status::timeout(deadline.saturating_duration_since(now())));
        }
        if let Some(trace) = call.trace {
            head.push("traceparent", trace.to_string());
        }
        for (key, value) in call.metadata.iter() {
            match key {
                // gRPC or HTTP defines these fields.
                "connection"
                | "content-length"
                | "content-type"
                | "grpc-accept-encoding"
                | "grpc-encoding"
                | "grpc-message"
                | "grpc-message-type"
                | "grpc-status"
                | "grpc-timeout"
                | "host"
                | "keep-alive"
                | "proxy-connection"
                | "te"
                | "transfer-encoding"
                | "upgrade" => {}
                // Skip this `traceparent` if the call has a trace context, which was added above.
                "traceparent" if call.trace.is_some() => {}
                _ if key.ends_with("-bin") => head.push(key, BASE64.encode(value)),
                // Send secrets as never-indexed literals, so that HPACK does not keep them in its dynamic table.
                "authorization" | "cookie" => head.push_sensitive(key, value.trim_ascii()),
                _ => head.push(key, value.trim_ascii()),
            }
        }
        head
    }
}

/// Encodes a message with its gRPC prefix.
fn enveloped(encode: impl FnOnce(&mut Vec<u8>) -> Result<(), Status>) -> Result<Bytes, Status> {
    let mut body = vec![0; PREFIX];
    encode(&mut body)?;
    let Ok(length) = u32::try_from(body.len() - PREFIX) else {
        return Err(Status::resource_exhausted("the message exceeds 2^32 - 1 bytes"));
    };
    if let Some((prefix, _)) = body.split_first_chunk_mut::<PREFIX>() {
        prefix[1..].copy_from_slice(&length.to_be_bytes());
    }
    Ok(body.into())
}

/// Returns `start` plus `time`, or a time in the far future if the sum is not representable.
fn after(start: Instant, time: Duration) -> Instant {
    start.checked_add(time).unwrap_or_else(|| start + link::FAR)
}

/// Converts a cancellation by the server to a timeout if the call's deadline explains it. Servers cancel late calls, in
/// some cases slightly before the deadline at the client.
fn explain(status: Status, deadline: Option<Instant>, authority: &str) -> Status {
    if status.code() == Code::Cancelled && deadline.is_some_and(|deadline| now() >= deadline) {
        return Status::deadline_exceeded(format!("the deadline passed before {authority} answered"));
    }
    status
}

impl GrpcReplies {
    fn explain(&self, status: Status) -> Status {
        explain(status, self.deadline, self.links.authority())
    }

    /// Polls for the next message. Returns `None` after the last message.
    fn poll_message(&mut self, task: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Status>> {
        let message = ready!(self.call.poll_message(self.links.message_max, self.links.authority(), task));
        Poll::Ready(message.map_err(|status| self.explain(status)))
    }

    /// Waits for the only message of a reply. Returns the message and the trailing metadata.
    async fn single(&mut self) -> Result<(Bytes, Metadata), Status> {
        let message = poll_fn(|task| self.poll_message(task)).await?;
        if message.is_some() && poll_fn(|task| self.poll_message(task)).await?.is_some() {
            return Err(Status::internal("the server sent more than one message"));
        }
        let trailers = self.trailers()?;
        message.map(|message| (message, trailers)).ok_or_else(|| Status::internal("the server sent no message"))
    }

    /// Returns the trailing metadata after the last message, or the status of a failed call.
    fn trailers(&self) -> Result<Metadata, Status> {
        let missing = || Status::internal("the reply ended without trailers");
        let trailers = self.call.trailers().ok_or_else(missing)?;
        status::outcome(&trailers).map_err(|status| self.explain(status))?;
        Ok(status::metadata(&trailers))
    }

    /// Returns the metadata of the response head.
    fn metadata(&self) -> Metadata {
        if self.is_end { Metadata::new() } else { status::metadata(&self.head) }
    }
}
