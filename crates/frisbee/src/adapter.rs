//! Protocol adapters: handlers of other protocols on the same port, for connections whose first bytes are not a frame.

pub(crate) mod peers;

use crate::debug::opaque_debug;

use crate::MemoryCharge;
use crate::account::Traffic;
use crate::clock::now;
use crate::connection::Connection;
use crate::mailbox::hand_off::HandOffTarget;
use crate::transport::Transport;
use crate::transport::endpoint::EndpointInfo;
use crate::transport::read_pauses::{ReadPauses, WasteAccount};
use crate::{CloseReason, Config, RawTransport, Stats};
use frisbee_core::ServerConfig;
use parking_lot::Mutex;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

/// First byte of every frame: that of the magic number, or of an id below 256 in the old header format.
const FRAME_BEGINS: u8 = 0;

/// First byte of a TLS handshake: the record type.
#[cfg(feature = "tls")]
const TLS_BEGINS: u8 = 22;

type Accepts = dyn Fn(&[u8]) -> bool + Send + Sync;
type Serve = dyn Fn(RawTransport, AdapterContext) -> Serving + Send + Sync;
type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The phase of a server's life, as seen by handlers of adapter connections.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum ServerPhase {
    #[default]
    Serving,
    /// Connections finish their work in progress.
    Stopping,
    /// Remaining connections are closed.
    Closing,
}

/// The handler of another protocol.
#[derive(Clone)]
pub(crate) struct ProtocolAdapter {
    accepts: Arc<Accepts>,
    serve: Arc<Serve>,
    /// A function pointer, so that programs without adapters compile none of the code behind it.
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

/// The protocols with which a connection may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AllowedProtocols {
    /// Frames, TLS if it shares the port with plain connections, and adapter protocols.
    Any,
    /// Frames and adapter protocols, because the transport already uses TLS.
    #[cfg(feature = "tls")]
    Secured,
    /// Frames only, because the connection is nested in an adapter connection.
    Frames,
}

/// The interface of a server to its adapter connections.
pub(crate) trait AdapterServer: Send + Sync {
    /// Serves the frames of a transport as a connection nested in an adapter connection, in the same task.
    fn serve_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_>;

    /// Returns a handle for a peer without a connection, unless the router rejects it.
    fn enter_peer(&self, ends: EndpointInfo) -> Option<Connection>;

    /// Serves a transport after its TLS handshake: frames or another protocol.
    #[cfg(feature = "tls")]
    fn secure_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_>;
}

/// The state and settings of a server that its adapter connections need.
#[derive(Clone)]
pub(crate) struct AdapterHost {
    pub(crate) phase: watch::Receiver<ServerPhase>,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) server: Weak<dyn AdapterServer>,
}

/// The future of a connection nested in an adapter connection.
pub(crate) type Inner<'a> = Pin<Box<dyn Future<Output = CloseReason> + Send + 'a>>;

/// The handlers of a server's adapter connections.
pub(crate) struct ProtocolAdapters {
    handlers: Vec<ProtocolAdapter>,
    /// Performs the TLS handshake at a server that accepts TLS and plain connections on one port.
    secures: Option<ProtocolAdapter>,
    host: AdapterHost,
}

impl ProtocolAdapters {
    pub(crate) fn new(handlers: Vec<ProtocolAdapter>, host: AdapterHost) -> Self {
        Self { handlers, secures: None, host }
    }

    /// Accepts TLS on connections that begin with its handshake.
    #[cfg(feature = "tls")]
    pub(crate) fn securing(self) -> Self {
        let serve = async |transport, context: AdapterContext| {
            context.serve_inner(|server| server.secure_within(transport, &context.connection)).await;
            Ok(())
        };
        let begins = |beginning: &[u8]| beginning.first() == Some(&TLS_BEGINS);
        Self { secures: Some(ProtocolAdapter::new(begins, serve)), ..self }
    }

    /// Returns the handler that accepts a connection with these first bytes, if any. The handler receives the transport
    /// and serves it in the task of the connection.
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

/// Returns the handler as the next owner of the connection's transport.
fn hand_over(serve: Arc<Serve>, connection: &Connection, host: &AdapterHost) -> HandOffTarget {
    let context = AdapterContext::new(connection, host);
    // Also counts a connection that is lost before its handler receives it.
    let closed = Closed { connection: connection.clone(), reason: CloseReason::OtherProtocol };
    HandOffTarget::in_place(move |transport| Box::pin(run(serve, transport, context, closed)))
}

/// Serves an adapter connection until it closes or the shutdown timeout expires.
async fn run(serve: Arc<Serve>, transport: RawTransport, context: AdapterContext, mut closed: Closed) -> CloseReason {
    closed.reason = CloseReason::Shutdown;
    let mut phase = context.host.phase.clone();
    let inner = context.inner.clone();
    let _values = context.values.clone();
    // A nested connection is counted by its adapter connection.
    let transport = if context.connection.0.is_within {
        transport
    } else {
        transport.charged_to(&context.connection.0.mailbox.account)
    };
    let transport = transport.paused(ReadPauses::new(&context.waste));
    let abort_at = context.connection.0.lifetime.as_ref().and_then(|lifetime| lifetime.abort_at);
    let mut serving = serve(transport, context);
    let mut closing = pin!(reached(&mut phase, ServerPhase::Closing));
    let mut too_old = pin!(past(abort_at));
    let served = poll_fn(|task| match serving.as_mut().poll(task) {
        Poll::Ready(served) => Poll::Ready(Some(served.map_err(CloseReason::from))),
        Poll::Pending if closing.as_mut().poll(task).is_ready() => Poll::Ready(None),
        Poll::Pending => too_old.as_mut().poll(task).map(|()| Some(Err(CloseReason::MaxAge))),
    });
    match served.await {
        Some(Ok(())) => closed.reason = inner.lock().take().unwrap_or(CloseReason::OtherProtocol),
        Some(Err(reason)) => closed.reason = reason,
        None => {}
    }
    closed.reason.clone()
}

/// Counts the end of a connection when it is dropped.
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
    // If the server is gone, nothing needs to be closed: its tasks end with its runtime.
    if phase.wait_for(|phase| *phase >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits until a time, or forever if there is none.
async fn past(due: Option<Instant>) {
    match due {
        // Boxed because most servers limit no age and the future takes memory of an idle connection.
        Some(due) => Box::pin(tokio::time::sleep_until(due.into())).await,
        None => std::future::pending().await,
    }
}

/// The server's side of an adapter connection; see [`ServerBuilder::adapter`](crate::ServerBuilder::adapter).
#[derive(Clone)]
pub struct AdapterContext {
    connection: Connection,
    host: AdapterHost,
    /// The close reason of the nested connection.
    inner: Arc<Mutex<Option<CloseReason>>>,
    waste: Arc<WasteAccount>,
    values: Arc<AdapterValues>,
}

/// Drops the [attachments](Connection::attachments) of an adapter connection. Its router has disconnected earlier.
struct AdapterValues(Connection);

impl Drop for AdapterValues {
    fn drop(&mut self) {
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
            waste: WasteAccount::new(host.config.common.waste_rate),
            values: Arc::new(AdapterValues(connection.clone())),
        }
    }

    /// Returns the limits and timeouts of the server's connections. The handler must enforce them itself.
    pub fn config(&self) -> &Config {
        &self.host.config.common
    }

    /// Returns the timeout for a client's first header; see
    /// [`first_header_timeout`](crate::ServerBuilder::first_header_timeout).
    pub fn first_header_timeout(&self) -> Duration {
        self.host.config.first_header_timeout
    }

    /// Returns the connection, for its addresses, certificates, limits, memory and tasks. Packets cannot be sent on it.
    ///
    /// The handler runs on the worker of its connection and must not block it. Spawn work that blocks or computes on
    /// the connection's [runtime](Connection::runtime_handle), on which the server was started.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns whether the handler should finish its work in progress and return, because the server is shutting down
    /// or the connection has reached its [maximum age](crate::ServerBuilder::max_connection_age).
    pub fn is_stopping(&self) -> bool {
        self.is_shutting_down()
            || self.connection.0.lifetime.as_ref().is_some_and(|lifetime| lifetime.drain_at <= now())
    }

    /// Returns whether the server is shutting down.
    pub fn is_shutting_down(&self) -> bool {
        // This is checked for each request. Phases never go back, and this receiver has only seen the first one, so no
        // lock is taken until the phase changes.
        self.host.phase.has_changed().unwrap_or(true) && *self.host.phase.borrow() >= ServerPhase::Stopping
    }

    /// Waits until the server shuts down or the connection has reached its [maximum
    /// age](crate::ServerBuilder::max_connection_age). The server drops remaining handlers after its
    /// [`shutdown_timeout`](crate::ServerBuilder::shutdown_timeout), or after the grace period of that age.
    ///
    /// # Cancel safety
    /// Cancel safe. It may be called any number of times.
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

    /// Returns whether the server's memory limit is reached, so that no new work should begin; see
    /// [`memory_max`](crate::ServerBuilder::memory_max).
    pub fn is_overloaded(&self) -> bool {
        self.connection.is_overloaded()
    }

    /// Returns the counters of the server's connections.
    pub fn stats(&self) -> Stats {
        Stats(self.connection.0.mailbox.account.budget().clone())
    }

    /// Charges `bytes` of input to the server's memory until the returned value is dropped.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        self.connection.charge_request(bytes)
    }

    /// Charges a useless request of `bytes`: a malformed or rejected one, or one for an unknown method. If a client
    /// exceeds [`Config::waste_rate`], its transport is read more slowly.
    pub fn waste(&self, bytes: usize) {
        self.waste.charge(bytes);
    }

    /// Credits a useful request of `bytes`, which compensates for [useless](Self::waste) ones.
    #[inline]
    pub fn credit(&self, bytes: usize) {
        self.waste.credit(bytes);
    }

    /// Returns whether reading from the peer should be delayed because it sent too many [useless](Self::waste)
    /// requests. Transports of connections pause reading automatically.
    pub fn is_throttled(&self) -> bool {
        self.waste.paused_until().is_some()
    }

    /// Adds the bytes of a peer without a transport to the server's traffic counters.
    pub fn count_bytes(&self, read: usize, written: usize) {
        let account = &self.connection.0.mailbox.account;
        account.count(Traffic::Read, read as u64);
        account.count(Traffic::Written, written as u64);
    }

    /// Serves the frames in `io` as a connection of the same server until it ends, and returns the reason. For
    /// protocols that wrap frames, such as WebSocket. A connection that does not begin with a frame is closed, as by a
    /// server without protocol adapters.
    ///
    /// The returned future drives the connection. The handler must await it in its own task. The nested connection
    /// shares the memory account, addresses and certificates of the adapter connection. It has the limits and timeouts
    /// of any other connection and ends with the server. [`Stats`](crate::Stats) count both as one connection: if the
    /// handler returns without an error, the adapter connection ends with the reason of the nested one. A handler that
    /// serves several at once must limit their number.
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

    /// Serves a nested connection and records its close reason.
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
