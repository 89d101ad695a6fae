//! Protocol adapters: handlers of other protocols that share the port with Frisbee. A connection is passed to an
//! adapter if its first bytes are not a frame.

pub(crate) mod peers;

use crate::connection::ConnectionExt;
use crate::debug::opaque_debug;

use crate::account::Traffic;
use crate::clock::now;
use crate::connection::{Connection, Lifetime};
use crate::mailbox::hand_off::HandOffTarget;
use crate::transport::Transport;
use crate::transport::endpoint::EndpointInfo;
use crate::transport::read_pauses::{AbuseAccount, ReadPauses};
use crate::{CloseReason, Config, ConnectionCharge, MemoryCharge, RawTransport, Stats};
use frisbee_core::{ProtocolError, ServerConfig};
use parking_lot::Mutex;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

/// First byte of a connection that begins with a frame. In the current header format it is the first byte of the magic
/// number. In the old format it is the high byte of a packet id below 256.
const FRAME_BEGINS: u8 = 0;

/// First byte of a TLS connection: the record type of a handshake.
#[cfg(feature = "tls")]
const TLS_BEGINS: u8 = 22;

type Accepts = dyn Fn(&[u8]) -> bool + Send + Sync;
type Serve = dyn Fn(RawTransport, AdapterContext) -> Serving + Send + Sync;
type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Phase of a server's lifetime. Handlers of adapter connections watch it to complete their work before a shutdown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum ServerPhase {
    #[default]
    Serving,
    /// The server is shutting down. Connections complete their work in progress.
    Stopping,
    /// The shutdown timeout has expired. The remaining connections are closed.
    Closing,
}

/// An adapter that serves another protocol, such as HTTP, on a server's connections.
#[derive(Clone)]
pub(crate) struct ProtocolAdapter {
    accepts: Arc<Accepts>,
    serve: Arc<Serve>,
    /// Function that starts the hand-off of a connection to the adapter. Stored as a pointer, so that programs without
    /// adapters do not contain this code.
    hand_over: fn(Arc<Serve>, &Connection, &AdapterHost) -> HandOffTarget,
}

impl ProtocolAdapter {
    pub(crate) fn new<A, S, F>(accepts: A, serve: S) -> Self
    where
        A: Fn(&[u8]) -> bool + Send + Sync + 'static,
        S: Fn(RawTransport, AdapterContext) -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self {
            accepts: Arc::new(accepts),
            serve: Arc::new(move |transport, context| Box::pin(serve(transport, context))),
            hand_over,
        }
    }
}

opaque_debug!([] ProtocolAdapter, "ProtocolAdapter");

/// Protocols that the server accepts on a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AllowedProtocols {
    /// Frames and adapter protocols. TLS is also accepted if the server accepts it on the same port.
    Any,
    /// Frames and adapter protocols, on a transport that already uses TLS.
    #[cfg(feature = "tls")]
    Secured,
    /// Frames only. Applies to a frisbee connection nested in an adapter connection.
    Frames,
}

/// The operations of a server that its adapter connections need, without the type of the server's router.
pub(crate) trait AdapterServer: Send + Sync {
    /// Serves the frames of a transport as a connection nested in the adapter connection `outer`. Poll the returned
    /// future in the task of `outer`.
    fn serve_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_>;

    /// Creates a handle for a connectionless peer. Returns `None` if the router rejects the peer.
    fn enter_peer(&self, ends: EndpointInfo, lifetime: Option<Lifetime>) -> Option<Connection>;

    /// Performs a TLS handshake on `transport`, then serves frames or an adapter protocol on it.
    #[cfg(feature = "tls")]
    fn secure_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_>;
}

/// State that a server shares with all connections of its adapters: the shutdown phase, the settings, and the server
/// itself.
#[derive(Clone)]
pub(crate) struct AdapterHost {
    pub(crate) phase: watch::Receiver<ServerPhase>,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) server: Weak<dyn AdapterServer>,
}

/// Future that serves a frisbee connection tunnelled through an adapter connection.
pub(crate) type Inner<'a> = Pin<Box<dyn Future<Output = CloseReason> + Send + 'a>>;

/// Protocol adapters of a server, which serve connections of other protocols.
pub(crate) struct ProtocolAdapters {
    handlers: Vec<ProtocolAdapter>,
    /// Adapter that performs TLS handshakes. Set if the server accepts TLS and plaintext connections on the same port.
    secures: Option<ProtocolAdapter>,
    host: AdapterHost,
}

impl ProtocolAdapters {
    pub(crate) fn new(handlers: Vec<ProtocolAdapter>, host: AdapterHost) -> Self {
        Self { handlers, secures: None, host }
    }

    /// Also accepts connections that start with a TLS handshake.
    #[cfg(feature = "tls")]
    pub(crate) fn securing(self) -> Self {
        let serve = async |transport, context: AdapterContext| {
            context.serve_inner(|server| server.secure_within(transport, &context.connection)).await;
            Ok(())
        };
        let begins = |beginning: &[u8]| beginning.first() == Some(&TLS_BEGINS);
        Self { secures: Some(ProtocolAdapter::new(begins, serve)), ..self }
    }

    /// Finds the adapter that accepts `beginning`, the first bytes of a connection. Returns the target of a hand-off
    /// that runs the adapter in the connection's task. Returns `None` if the bytes begin a frame, no adapter accepts
    /// them, or the connection may carry only frames.
    pub(crate) fn find(
        &self,
        beginning: &[u8],
        connection: &Connection,
        allowed: AllowedProtocols,
    ) -> Option<HandOffTarget> {
        let begins_otherwise = beginning.first().is_some_and(|first| *first != FRAME_BEGINS);
        if !begins_otherwise || allowed == AllowedProtocols::Frames {
            return None;
        }
        let secures = self.secures.iter().filter(|_| allowed == AllowedProtocols::Any);
        let handler = secures.chain(&self.handlers).find(|handler| (handler.accepts)(beginning))?;
        Some((handler.hand_over)(handler.serve.clone(), connection, &self.host))
    }
}

impl fmt::Debug for ProtocolAdapters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.secures.iter().chain(&self.handlers)).finish()
    }
}

/// Returns a hand-off target that passes the transport to the adapter's handler.
fn hand_over(serve: Arc<Serve>, connection: &Connection, host: &AdapterHost) -> HandOffTarget {
    let context = AdapterContext::new(connection, host);
    // Create the guard before the hand-off, so that a connection that is lost during the hand-off is counted as closed.
    let closed = Closed { connection: connection.clone(), reason: CloseReason::OtherProtocol };
    HandOffTarget::in_place(move |transport| Box::pin(run(serve, transport, context, closed)))
}

/// Serves an adapter connection until its handler returns or the shutdown timeout expires.
async fn run(serve: Arc<Serve>, transport: RawTransport, context: AdapterContext, mut closed: Closed) -> CloseReason {
    // `closed` reports this reason if the shutdown timeout expires or this future is dropped before the handler
    // returns.
    closed.reason = CloseReason::Shutdown;
    let mut phase = context.host.phase.clone();
    let (inner, abuse) = (context.inner.clone(), context.abuse.clone());
    // Declared before the handler's future so that it is dropped last, because the handler may use the attachments
    // until it is dropped.
    let _values = context.values.clone();
    // Do not count the traffic of a nested connection, because its adapter connection counts it.
    let transport = if context.connection.0.is_within {
        transport
    } else {
        transport.charged_to(&context.connection.0.mailbox.account)
    };
    let transport = transport.paused(ReadPauses::new(&context.abuse));
    let abort_at = context.connection.0.lifetime.as_ref().and_then(|lifetime| lifetime.abort_at);
    let mut serving = serve(transport, context);
    let mut closing = pin!(reached(&mut phase, ServerPhase::Closing));
    let mut too_old = pin!(past(abort_at));
    // Poll the handler first, so that a handler that has just completed is not reported as aborted.
    let served = poll_fn(|task| match serving.as_mut().poll(task) {
        Poll::Ready(served) => Poll::Ready(Some(served.map_err(CloseReason::from))),
        Poll::Pending if closing.as_mut().poll(task).is_ready() => Poll::Ready(None),
        Poll::Pending => too_old.as_mut().poll(task).map(|()| Some(Err(CloseReason::MaxAge))),
    });
    match served.await {
        // Check the abuse limit before the handler's result. Reads of an abusive peer fail, so the handler would report
        // an I/O error instead of the flood.
        Some(_) if abuse.is_exhausted() => closed.reason = ProtocolError::Flood.into(),
        Some(Ok(())) => closed.reason = inner.lock().take().unwrap_or(CloseReason::OtherProtocol),
        Some(Err(reason)) => closed.reason = reason,
        None => {}
    }
    closed.reason.clone()
}

/// Guard that counts a connection as closed when dropped.
struct Closed {
    connection: Connection,
    reason: CloseReason,
}

impl Drop for Closed {
    fn drop(&mut self) {
        let Self { connection, reason } = self;
        if connection.0.is_within {
            return;
        }
        connection.0.mailbox.account.budget().counts.count_closed(connection.peer_addr(), reason, now());
    }
}

async fn reached(phase: &mut watch::Receiver<ServerPhase>, least: ServerPhase) {
    // An error means that the server no longer exists. Wait forever, because the runtime is about to drop this task.
    if phase.wait_for(|phase| *phase >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits until `due`, or forever if `due` is `None`.
async fn past(due: Option<Instant>) {
    match due {
        // Boxed, because few servers limit the age of connections, and an inline timer would enlarge every idle
        // connection.
        Some(due) => Box::pin(tokio::time::sleep_until(due.into())).await,
        None => std::future::pending().await,
    }
}

/// Context of an adapter connection within its server; see [`ServerBuilder::adapter`](crate::ServerBuilder::adapter).
#[derive(Clone)]
pub struct AdapterContext {
    connection: Connection,
    host: AdapterHost,
    /// Close reason of the frisbee connection that is tunnelled through this connection. `None` until the tunnelled
    /// connection has ended.
    inner: Arc<Mutex<Option<CloseReason>>>,
    abuse: Arc<AbuseAccount>,
    values: Arc<AdapterValues>,
}

/// Guard that drops the [attachments](Connection::attachments) of an adapter connection when its handler returns. The
/// router has already been notified that the connection has ended.
struct AdapterValues(Connection);

impl Drop for AdapterValues {
    fn drop(&mut self) {
        // Enter the runtime, because destructors of attachments may call `tokio::spawn`, which panics outside a
        // runtime.
        let _entered = self.0.0.runtime.enter();
        self.0.0.attachments.drop_values();
    }
}

impl AdapterContext {
    fn new(connection: &Connection, host: &AdapterHost) -> Self {
        Self {
            connection: connection.clone(),
            host: host.clone(),
            inner: Arc::default(),
            abuse: AbuseAccount::new(host.config.common.abuse_rate, &connection.0.mailbox.account),
            values: Arc::new(AdapterValues(connection.clone())),
        }
    }

    /// Returns the limits and timeouts of the server's connections. The handler must enforce them itself.
    pub fn config(&self) -> &Config {
        &self.host.config.common
    }

    /// Returns the timeout for receiving the first request of a client; see
    /// [`first_header_timeout`](crate::ServerBuilder::first_header_timeout).
    pub fn first_header_timeout(&self) -> Duration {
        self.host.config.first_header_timeout
    }

    /// Returns the handle of this connection, which provides its addresses, certificates, limits, memory accounting and
    /// tasks. The handle of an adapter connection cannot send packets.
    ///
    /// The handler runs on the worker of its connection and must not block it. Spawn blocking or CPU-intensive work on
    /// the [runtime](crate::rpc::ConnectionExt::runtime_handle) in which the server was started.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns whether the handler should complete its work in progress and return, because the server is shutting down
    /// or the connection has reached its [maximum age](crate::ServerBuilder::max_connection_age).
    pub fn is_stopping(&self) -> bool {
        self.is_shutting_down()
            || self.connection.0.lifetime.as_ref().is_some_and(|lifetime| lifetime.drain_at <= now())
    }

    /// Returns whether the server is shutting down.
    pub fn is_shutting_down(&self) -> bool {
        // Every request checks this, so call `has_changed` first, because it takes no lock. `host.phase` is never
        // marked as seen, so `has_changed` stays true once the server has left its first phase.
        self.host.phase.has_changed().unwrap_or(true) && *self.host.phase.borrow() >= ServerPhase::Stopping
    }

    /// Waits until the server begins to shut down or the connection has reached its [maximum
    /// age](crate::ServerBuilder::max_connection_age). Handlers that are still running are dropped after the
    /// [`shutdown_timeout`](crate::ServerBuilder::shutdown_timeout) or the grace period of the age.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called any number of times.
    pub async fn stopping(&self) {
        let mut phase = self.host.phase.clone();
        let mut reached = pin!(reached(&mut phase, ServerPhase::Stopping));
        let mut aged = pin!(past(self.connection.0.lifetime.as_ref().map(|lifetime| lifetime.drain_at)));
        poll_fn(|task| match reached.as_mut().poll(task) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => aged.as_mut().poll(task),
        })
        .await;
    }

    /// Creates a context for requests that a trusted proxy forwards on this connection for `client`. Handlers and
    /// access rules see the address of the client, and memory is charged to it.
    ///
    /// Reading from the transport is not paused if one client sends too many useless requests, because other clients
    /// share the transport. Instead, the caller must reject requests while [`is_throttled`](Self::is_throttled) returns
    /// `true`.
    ///
    /// Returns `None` if the router rejects the client or the server no longer exists.
    pub fn on_behalf_of(&self, client: IpAddr) -> Option<Self> {
        let local = self.connection.local_addr();
        let ends = EndpointInfo { peer: Some(SocketAddr::new(client, 0)), local, ..EndpointInfo::default() };
        let lifetime = self.connection.0.lifetime.as_deref().copied();
        let connection = self.host.server.upgrade()?.enter_peer(ends, lifetime)?;
        Some(Self::new(&connection, &self.host))
    }

    /// Returns whether the server's memory limit is reached, so that no new work should begin; see
    /// [`memory_max`](crate::ServerBuilder::memory_max).
    pub fn is_overloaded(&self) -> bool {
        self.connection.is_overloaded()
    }

    /// Returns the connection and traffic counters of the server.
    pub fn stats(&self) -> Stats {
        Stats(self.connection.0.mailbox.account.budget().clone())
    }

    /// Charges `bytes` bytes of input to the server's memory until the returned value is dropped.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        self.connection.charge_request(bytes)
    }

    /// Charges `bytes` bytes for the connection itself until the returned value is dropped. The server charges every
    /// connection 4 KiB, or 44 KiB with TLS. A handler should charge any further memory that it keeps for an idle
    /// connection.
    ///
    /// Returns `None` if the client's share of
    /// [`connection_memory_max`](crate::ServerBuilder::connection_memory_max) is used up. The handler should then close
    /// the connection.
    pub fn charge_connection(&self, bytes: usize) -> Option<ConnectionCharge> {
        self.connection.0.mailbox.account.charge_connection(bytes)
    }

    /// Charges `bytes` bytes for a useless request, which is one that is malformed, rejected, or for an unknown method.
    /// If a client exceeds [`Config::abuse_rate`], reading from its transport is paused, and it is disconnected if it
    /// does not stop.
    pub fn charge_abuse(&self, bytes: usize) {
        self.abuse.charge(bytes);
    }

    /// Returns the unpaid abuse debt of this caller's closed connections. Needed only by adapters with their own
    /// [`AbuseLimiter`](frisbee_core::AbuseLimiter), because [`charge_abuse`](Self::charge_abuse) already includes the
    /// debt.
    pub fn abuse_debt(&self) -> Duration {
        self.connection.0.mailbox.account.debt(now())
    }

    /// Records the unpaid debt of an adapter's own limiter when the connection ends. Later connections of this caller
    /// inherit it.
    pub fn leave_abuse_debt(&self, debt: Duration) {
        self.connection.0.mailbox.account.leave_debt(debt, now());
    }

    /// Credits `bytes` bytes of a useful request, which offset bytes of [useless](Self::charge_abuse) requests.
    #[inline]
    pub fn credit(&self, bytes: usize) {
        self.abuse.credit(bytes);
    }

    /// Returns whether reading from the peer should be paused because it has sent too many
    /// [useless](Self::charge_abuse) requests. The transport of a connection is paused automatically.
    pub fn is_throttled(&self) -> bool {
        self.abuse.paused_until().is_some()
    }

    /// Adds bytes to the server's traffic counters for a peer without a transport, such as a UDP peer.
    pub fn count_bytes(&self, read: usize, written: usize) {
        let account = &self.connection.0.mailbox.account;
        account.count(Traffic::Read, read as u64);
        account.count(Traffic::Written, written as u64);
    }

    /// Serves the byte stream `io` as a frisbee connection of the same server until it ends, and returns the close
    /// reason. For protocols that wrap frames, such as WebSocket. A connection that does not start with a frame is
    /// closed.
    ///
    /// The returned future drives the connection and must be awaited in the task of the handler. The nested connection
    /// shares the memory account, addresses and certificates of the adapter connection. It has the same limits and
    /// timeouts as any other connection and ends with the server. [`Stats`](crate::Stats) counts both as one
    /// connection. If the handler returns without an error, the adapter connection ends with the reason of the nested
    /// one. A handler that serves several nested connections at the same time must limit their number.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection immediately.
    pub async fn serve_frames<T>(&self, io: T) -> CloseReason
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let transport = RawTransport::whole(Transport::of(io));
        self.serve_inner(|server| server.serve_within(transport, &self.connection)).await
    }

    /// Serves a nested frisbee connection and records its close reason.
    async fn serve_inner(&self, serve: impl FnOnce(&dyn AdapterServer) -> Inner<'_>) -> CloseReason {
        let reason = match self.host.server.upgrade() {
            Some(server) => serve(&*server).await,
            None => CloseReason::Shutdown,
        };
        *self.inner.lock() = Some(reason.clone());
        reason
    }
}

opaque_debug!([] AdapterContext, "AdapterContext", |this| connection = this.connection);

#[cfg(test)]
mod nested_tests;
#[cfg(test)]
mod tests;
