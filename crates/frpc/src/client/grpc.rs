//! Calls to gRPC servers, and the connections of a channel to one server. `grpc/link.rs` contains a connection and its
//! driver, `grpc/status.rs` statuses and metadata, and `grpc/calls.rs` the calls of generated clients.
//!
//! # Decisions
//!
//! **Local calls wait for a stream, but calls on behalf of remote callers do not.** Otherwise, the memory of waiting
//! calls in a gateway would be unlimited. To prevent one remote caller from exhausting the streams of a server, its
//! calls may hold at most half of the streams that other callers leave free on each connection. Unread replies only use
//! up the windows of their streams, because the core returns the connection's credit on arrival.
//!
//! **Calls fail while connecting is paused**, like gRPC calls without "wait for ready".

pub(crate) mod calls;
mod link;
mod status;
#[cfg(test)]
mod tests;

use crate::api::BoxFuture;
use crate::calls::events::{ServerEvent, ServerObserver};
use crate::calls::failures::{closed, unreachable};
use crate::calls::offers::CalledServices;
use crate::calls::table::CallTable;
use crate::client::attempt::SentState;
use crate::client::dial::is_grpc;
use crate::client::factory::LinkFactory;
use crate::clock::{self, now};
use crate::observe::TraceContext;
use crate::{Code, GrpcCaller, Metadata, Status};
use base64::Engine as _;
use bytes::Bytes;
use frisbee::Client;
use frisbee::rpc::ParkedFuture;
use frisbee_http2::Head;
use futures_core::Stream;
pub(crate) use link::Keepalive;
use link::{Call, Changes, Io, Link, Sender};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Length of the prefix before a gRPC message: a byte of flags and a length of four bytes.
const PREFIX: usize = 5;

/// Maximum number of open connections to a gRPC server. Another connection is opened if a caller may not open a stream
/// on the existing ones.
const LINKS_MAX: usize = 4;

/// Maximum number of times that a call is sent. It is sent again if the server has not processed it.
const ATTEMPTS_MAX: usize = 3;

/// Maximum delay after the first failed connection, and its upper bound after further failures. The actual delay is
/// random, and at least half of the current maximum.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Request fields that the client sets itself. Metadata must not override them.
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

    /// Creates the server behind a connector. `name` is an arbitrary text for errors.
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
    /// Call table, which only measures calls and reports events of the server to the picker. The calls themselves are
    /// not in it.
    calls: Arc<CallTable>,
    pool: Mutex<Pool>,
    changes: Arc<Changes>,
}

/// Open connections to the server, and the failures that delay new ones.
#[derive(Default)]
struct Pool {
    links: Vec<Arc<Link>>,
    is_dialling: bool,
    /// Number of completed connection attempts, and the error of the latest one.
    dials: u64,
    dial_error: Option<Arc<str>>,
    /// Number of connections that have failed or ended without a reply, since the last connection that had a reply.
    failures: u32,
    retry_at: Option<Instant>,
    last_error: Arc<str>,
    is_closed: bool,
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
}

/// Request messages of a call, each [enveloped] with the gRPC prefix.
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

/// Sends messages until the stream ends or is pending, or until the call fails. Sets `has_sent` before the first
/// message.
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
        let limit = factory.connect_timeout;
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

    /// Returns whether a connection accepts calls.
    pub(crate) fn is_connected(&self) -> bool {
        self.0.pool.lock().links.iter().any(|link| !link.is_closing())
    }

    pub(crate) fn in_progress(&self) -> usize {
        self.0.pool.lock().links.iter().map(|link| link.in_progress()).sum()
    }

    /// Returns the error of the last connection attempt, if it failed.
    pub(crate) fn failure(&self) -> Option<String> {
        self.0.pool.lock().dial_error.as_deref().map(str::to_owned)
    }

    /// Establishes the first connection.
    ///
    /// # Errors
    /// If the connection attempt fails.
    pub(crate) async fn connect(&self) -> Result<(), frisbee::Error> {
        loop {
            let mut changed = pin!(self.0.changes.links.notified());
            // Register before checking the state, so that a change in between wakes this task.
            changed.as_mut().enable();
            {
                let pool = &mut *self.0.pool.lock();
                match &pool.dial_error {
                    Some(error) => {
                        let source = io::Error::other(&**error);
                        return Err(frisbee::Error::Connect { address: self.0.server.name.clone(), source });
                    }
                    None if pool.dials > 0 => return Ok(()),
                    None => self.0.dial(pool),
                }
            }
            changed.await;
        }
    }

    /// Connects if there is no connection, then waits until none accepts calls. Returns `false` once closed.
    pub(crate) async fn keep_one(&self) -> bool {
        let mut has_connected = false;
        loop {
            let mut changed = pin!(self.0.changes.links.notified());
            // Register before checking the state, so that a change in between wakes this task.
            changed.as_mut().enable();
            let retry_at = {
                let pool = &mut *self.0.pool.lock();
                self.0.remove_closing(pool);
                if pool.is_closed {
                    return false;
                }
                let retry_at = pool.retry_at.filter(|retry_at| now() < *retry_at);
                match (pool.links.is_empty(), retry_at) {
                    (true, _) if has_connected => return true,
                    (true, None) => self.0.dial(pool),
                    (is_empty, _) => has_connected |= !is_empty,
                }
                retry_at.filter(|_| !has_connected)
            };
            match retry_at {
                Some(retry_at) => drop(tokio::time::timeout_at(retry_at.into(), changed).await),
                None => changed.await,
            }
        }
    }

    /// Prevents further calls. The connections close once their calls have ended.
    pub(crate) fn close(&self) {
        let pool = &mut *self.0.pool.lock();
        pool.is_closed = true;
        pool.links.drain(..).for_each(|link| link.close());
        self.0.changes.notify();
    }

    /// Makes a call of any kind and waits for the response head. Sends the call again if the server has not processed
    /// it.
    ///
    /// # Errors
    /// If the call fails before the response head arrives. Also returns whether it was sent.
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
                    if attempt == ATTEMPTS_MAX || !error.has_not_run() || has_sent {
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

    /// Returns the failure of a call that could not open a stream. Another server of the fleet may accept it.
    fn unsent(&self, status: Status) -> Failed {
        let is_unreachable = status.code() == Code::Unavailable && self.calls.is_of_fleet();
        (status, if is_unreachable { SentState::No } else { SentState::Never })
    }

    /// Removes connections that accept no more calls. Reports the end of the last one.
    fn remove_closing(&self, pool: &mut Pool) {
        let was_connected = !pool.links.is_empty();
        pool.remove_closing();
        if was_connected && pool.links.is_empty() {
            self.calls.report(ServerEvent::Retired);
        }
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
        for (key, value) in call.metadata.iter().filter(|(key, _)| !OF_REQUEST.contains(key)) {
            match key {
                // Skip this `traceparent` if the call has a trace context, which was added above.
                "traceparent" if call.trace.is_some() => {}
                _ if key.ends_with("-bin") => head.push(key, status::BASE64.encode(value)),
                // Send secrets as never-indexed literals, so that HPACK does not keep them in its dynamic table.
                "authorization" | "cookie" => head.push_sensitive(key, value.trim_ascii()),
                _ => head.push(key, value.trim_ascii()),
            }
        }
        head
    }

    /// Opens a stream on a connection other than `refused_by`, connecting if necessary.
    async fn open(
        self: &Arc<Self>,
        call: &GrpcCall<'_>,
        message: Option<&Bytes>,
        refused_by: Option<&Arc<Link>>,
    ) -> Result<Call, Status> {
        let (caller, mut has_waited) = (call.caller, false);
        loop {
            // Rebuild the head after each wait, because it contains the remaining time.
            let head = self.head(call);
            // A call of a remote caller waits only while a connection attempt is in progress. The end of a stream wakes
            // a single call, which must be one that may use the stream, and a remote caller may have used up its share.
            let changes = if caller.is_some() { &self.changes.links } else { &self.changes.calls };
            let mut changed = pin!(changes.notified());
            // Register before checking the state, so that a change in between wakes this task.
            changed.as_mut().enable();
            let (dials, retry_at) = {
                let pool = &mut *self.pool.lock();
                if pool.is_closed {
                    return Err(closed());
                }
                self.remove_closing(pool);
                let is_refusing = |link: &&Arc<Link>| refused_by.is_some_and(|refused| Arc::ptr_eq(link, refused));
                let mut links = pool.links.iter().filter(|link| !is_refusing(link));
                let opened = links.find_map(|link| link.call(caller, &head, message));
                // The end of a stream wakes a single call. If that stream was on the refusing connection, a call that
                // ignored it would leave it unused while other calls wait.
                let refusing = || pool.links.iter().find(is_refusing).filter(|_| has_waited);
                let opened = opened.or_else(|| refusing()?.call(caller, &head, message));
                if let Some(call) = opened {
                    if has_waited {
                        // Wake the next waiting call, because there may be room for another stream.
                        self.changes.calls.notify_one();
                    }
                    return call;
                }
                let retry_at = pool.retry_at.filter(|retry_at| now() < *retry_at);
                let may_dial = pool.links.len() < LINKS_MAX;
                match retry_at {
                    None if may_dial => self.dial(pool),
                    Some(_) if pool.links.is_empty() => return Err(self.unreachable(&pool.last_error)),
                    _ if caller.is_some() => return Err(self.busy()),
                    _ => {}
                }
                (pool.dials, retry_at.filter(|_| may_dial))
            };
            // Connect when the pause ends, because no event may occur before the call's deadline.
            let is_woken = match [retry_at, call.open_until].into_iter().flatten().min() {
                Some(at) => clock::timeout_at(&self.runtime, at, changed).await.is_ok(),
                None => {
                    changed.await;
                    true
                }
            };
            if call.open_until.is_some_and(|until| now() >= until) {
                // Pass on a wake-up that came just before the deadline, because the stream is still free.
                if is_woken {
                    changes.notify_one();
                }
                let text = format!("not sent: no connection to {} had room before the deadline", self.authority());
                return Err(Status::deadline_exceeded(text).not_run());
            }
            has_waited = true;
            let pool = self.pool.lock();
            // Fail only if an attempt to connect has ended during the wait, because the server may have recovered from
            // earlier errors.
            if pool.dials != dials
                && let Some(error) = &pool.dial_error
            {
                match (pool.links.is_empty(), caller) {
                    (true, _) => return Err(self.unreachable(error)),
                    (false, Some(_)) => return Err(self.busy()),
                    (false, None) => {}
                }
            }
        }
    }

    /// Returns the status of a remote caller's call if the connections have no room for it. It is not `Unavailable`,
    /// because a channel to several servers would repeat the call, and might choose this server again and again.
    fn busy(&self) -> Status {
        let authority = self.authority();
        let text = format!("too many calls to {authority} are in progress; this one has not run");
        Status::resource_exhausted(text).not_run()
    }

    /// Starts a connection attempt, unless one is in progress. The attempt continues if the caller is dropped.
    fn dial(self: &Arc<Self>, pool: &mut Pool) {
        if std::mem::replace(&mut pool.is_dialling, true) {
            return;
        }
        let links = self.clone();
        self.runtime.spawn(async move {
            let connecting = links.clone();
            // Catch panics of the connector. Otherwise, this task could not record the failure.
            let opened = ParkedFuture::new(async move {
                let Shared { runtime, changes, keepalive, .. } = &*connecting;
                Link::open((connecting.connect)().await?, runtime, changes.clone(), *keepalive).await
            });
            let opened = opened.await.unwrap_or_else(|_| Err(io::Error::other("connecting panicked")));
            let pool = &mut *links.pool.lock();
            pool.is_dialling = false;
            pool.dials += 1;
            pool.dial_error = None;
            match opened {
                // Close a connection that was established after the channel had been closed.
                Ok(link) if pool.is_closed => link.close(),
                Ok(link) => {
                    pool.links.push(link);
                    if pool.links.len() == 1 {
                        links.calls.show();
                        links.calls.report(ServerEvent::Connected);
                    }
                }
                Err(error) => {
                    let error: Arc<str> = error.to_string().into();
                    pool.dial_error = Some(error.clone());
                    pool.pause(error);
                }
            }
            links.changes.notify();
        });
    }

    fn unreachable(&self, error: &str) -> Status {
        unreachable(&format!("no connection to {}: {error}", self.authority()))
    }
}

impl Pool {
    /// Removes connections that accept no more calls. Pauses connecting after the second consecutive connection without
    /// a reply. The first one is ignored, because the server may have begun to shut it down just before the call, which
    /// is then immediately repeated on another connection.
    fn remove_closing(&mut self) {
        let mut failed = None;
        self.links.retain(|link| {
            // Only the first reply on a connection resets the count. Otherwise, a working connection would keep it at zero
            // while attempts to make further connections fail.
            if link.take_first_reply() {
                self.failures = 0;
            }
            let is_closing = link.is_closing();
            failed = link.early_end().filter(|_| is_closing).or(failed.take());
            !is_closing
        });
        match failed {
            Some(_) if self.failures == 0 => self.failures = 1,
            Some(reason) => self.pause(reason),
            None => {}
        }
    }

    fn pause(&mut self, error: Arc<str>) {
        let most = PAUSE_FIRST.saturating_mul(1 << self.failures.min(16)).min(PAUSE_MAX);
        self.retry_at = Some(after(now(), most.mul_f64(0.5 + fastrand::f64() / 2.0)));
        self.failures = self.failures.saturating_add(1);
        self.last_error = error;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.links.iter().for_each(|link| link.close());
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
