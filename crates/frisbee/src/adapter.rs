//! Protocol adapters: handlers of other protocols on the same port, for connections whose first bytes are no frame.

pub(crate) mod peers;

use crate::debug::opaque_debug;

use crate::MemoryCharge;
use crate::budget::Traffic;
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

/// The first byte of every frame: that of the magic, and of an id below 256 in the old form of headers.
const FRAME_BEGINS: u8 = 0;

/// The first byte of a TLS handshake: the type of its record.
#[cfg(feature = "tls")]
const TLS_BEGINS: u8 = 22;

type Accepts = dyn Fn(&[u8]) -> bool + Send + Sync;
type Serve = dyn Fn(RawTransport, AdapterContext) -> Serving + Send + Sync;
type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The phase of a server's life, as handlers of adapter connections see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum ServerPhase {
    #[default]
    Serving,
    /// Connections finish their work in progress.
    Stopping,
    /// Connections that are left are closed.
    Closing,
}

/// The handler of one other protocol.
#[derive(Clone)]
pub(crate) struct ProtocolAdapter {
    accepts: Arc<Accepts>,
    serve: Arc<Serve>,
    /// A pointer, so that programs without adapters compile none.
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

/// The protocols that a connection may begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AllowedProtocols {
    /// Frames, TLS where it shares a port with plain connections, and those of adapters.
    Any,
    /// The same without TLS, which is beneath.
    #[cfg(feature = "tls")]
    Secured,
    /// Frames alone: it is within the connection of an adapter.
    Frames,
}

/// A server, as its adapter connections see it.
pub(crate) trait AdapterServer: Send + Sync {
    /// Serves the frames of a transport as a connection within an adapter connection, in the same task.
    fn serve_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_>;

    /// A handle for a peer without a connection, unless the router refuses it.
    fn enter_peer(&self, ends: EndpointInfo) -> Option<Connection>;

    /// Serves a transport after the handshake of TLS: its frames, or another protocol.
    #[cfg(feature = "tls")]
    fn secure_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_>;
}

/// A server's state and settings, as its adapter connections need them.
#[derive(Clone)]
pub(crate) struct AdapterHost {
    pub(crate) phase: watch::Receiver<ServerPhase>,
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) server: Weak<dyn AdapterServer>,
}

/// A connection within an adapter connection.
pub(crate) type Inner<'a> = Pin<Box<dyn Future<Output = CloseReason> + Send + 'a>>;

/// The handlers of a server's adapter connections.
pub(crate) struct ProtocolAdapters {
    handlers: Vec<ProtocolAdapter>,
    /// Makes the handshake of TLS, at a server that serves TLS and plain connections on one port.
    secures: Option<ProtocolAdapter>,
    host: AdapterHost,
}

impl ProtocolAdapters {
    pub(crate) fn new(handlers: Vec<ProtocolAdapter>, host: AdapterHost) -> Self {
        Self { handlers, secures: None, host }
    }

    /// Has TLS spoken on connections that begin with it.
    #[cfg(feature = "tls")]
    pub(crate) fn securing(self) -> Self {
        let serve = async |transport, context: AdapterContext| {
            context.serve_inner(|server| server.secure_within(transport, &context.connection)).await;
            Ok(())
        };
        let begins = |beginning: &[u8]| beginning.first() == Some(&TLS_BEGINS);
        Self { secures: Some(ProtocolAdapter::new(begins, serve)), ..self }
    }

    /// The handler that accepts a connection which begins with these bytes, if one does: it gets the transport, and
    /// serves it in the task of the connection.
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

/// The handler as the next owner of a connection's transport.
fn hand_over(serve: Arc<Serve>, connection: &Connection, host: &AdapterHost) -> HandOffTarget {
    let context = AdapterContext::new(connection, host);
    // Also counts a connection that is lost before its handler gets it.
    let closed = Closed { connection: connection.clone(), reason: CloseReason::OtherProtocol };
    HandOffTarget::in_place(move |transport| Box::pin(run(serve, transport, context, closed)))
}

/// Serves an adapter connection to its end, or to that of the server's time to stop.
async fn run(serve: Arc<Serve>, transport: RawTransport, context: AdapterContext, mut closed: Closed) -> CloseReason {
    closed.reason = CloseReason::Shutdown;
    let mut phase = context.host.phase.clone();
    let inner = context.inner.clone();
    let _values = context.values.clone();
    // A connection within another one is counted there.
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

/// Counts the end of a connection, however it comes.
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
    // A server that is gone closes nothing any more: its tasks end with its runtime.
    if phase.wait_for(|phase| *phase >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Waits until a time, for ever if there is none.
async fn past(due: Option<Instant>) {
    match due {
        // In a box: most servers limit no age, and the future is memory of an idle connection.
        Some(due) => Box::pin(tokio::time::sleep_until(due.into())).await,
        None => std::future::pending().await,
    }
}

/// The server's side of an adapter connection; see [`ServerBuilder::adapter`](crate::ServerBuilder::adapter).
#[derive(Clone)]
pub struct AdapterContext {
    connection: Connection,
    host: AdapterHost,
    /// Why the connection within this one has ended.
    inner: Arc<Mutex<Option<CloseReason>>>,
    waste: Arc<WasteAccount>,
    values: Arc<AdapterValues>,
}

/// Drops the [attachments](Connection::attachments) of an adapter connection, whose router has ended before.
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

    /// The limits and times of the server's connections, which the handler has to apply by itself.
    pub fn config(&self) -> &Config {
        &self.host.config.common
    }

    /// How long a client may take to send its first header; see
    /// [`first_header_timeout`](crate::ServerBuilder::first_header_timeout).
    pub fn first_header_timeout(&self) -> Duration {
        self.host.config.first_header_timeout
    }

    /// The connection, for its addresses and certificates, limits, memory and tasks. Packets cannot be sent on it.
    ///
    /// The handler itself runs on the worker of its connection, which has no threads to spare: work that blocks or computes
    /// belongs on its [runtime](Connection::runtime_handle), that of the start of the server.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether the server is shutting down, or the connection has reached its [maximum
    /// age](crate::ServerBuilder::max_connection_age): the handler should then finish its work in progress and return.
    pub fn is_stopping(&self) -> bool {
        self.is_shutting_down()
            || self.connection.0.lifetime.as_ref().is_some_and(|lifetime| lifetime.drain_at <= now())
    }

    /// Whether the server is shutting down.
    pub fn is_shutting_down(&self) -> bool {
        // Checked once for each request. Phases only follow one another, and this receiver has seen none but the first:
        // it reads no lock as long as that lasts.
        self.host.phase.has_changed().unwrap_or(true) && *self.host.phase.borrow() >= ServerPhase::Stopping
    }

    /// Waits until the server shuts down or the connection has reached its [maximum
    /// age](crate::ServerBuilder::max_connection_age). The server drops the handlers that are left after its
    /// [`shutdown_timeout`](crate::ServerBuilder::shutdown_timeout), or after the grace for that age.
    ///
    /// # Cancel safety
    /// Safe; it may be called any number of times.
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

    /// Whether the server's memory limit is reached, so that nothing more should be begun; see
    /// [`memory_max`](crate::ServerBuilder::memory_max).
    pub fn is_overloaded(&self) -> bool {
        self.connection.is_overloaded()
    }

    /// The counts of the server's connections.
    pub fn stats(&self) -> Stats {
        Stats(self.connection.0.mailbox.account.budget().clone())
    }

    /// Charges so many bytes of input to the server's memory until the returned value is dropped.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        self.connection.charge_request(bytes)
    }

    /// Charges a useless request of so many bytes: a malformed or rejected one, or one for an unknown method. The
    /// transport of a client that sends more of them than [`Config::waste_rate`] allows is read more slowly.
    pub fn waste(&self, bytes: usize) {
        self.waste.charge(bytes);
    }

    /// Credits a useful request of so many bytes, which pays for [useless](Self::waste) ones.
    #[inline]
    pub fn credit(&self, bytes: usize) {
        self.waste.credit(bytes);
    }

    /// Whether the peer has sent so many [useless](Self::waste) requests that it should be read later. Transports of
    /// connections pause by themselves.
    pub fn is_throttled(&self) -> bool {
        self.waste.paused_until().is_some()
    }

    /// Counts bytes of a peer without a transport in the traffic of the server.
    pub fn count_bytes(&self, read: usize, written: usize) {
        let account = &self.connection.0.mailbox.account;
        account.count(Traffic::Read, read as u64);
        account.count(Traffic::Written, written as u64);
    }

    /// Serves the frames in `io` as a connection of the same server, to its end, and returns the reason. This is for
    /// protocols that wrap frames, such as WebSocket. A connection that begins with something else is closed as by a
    /// server without protocol adapters.
    ///
    /// The connection is driven where the returned future is polled, which the handler has to await in its own task. It
    /// belongs to the same account of memory and has the same addresses and certificates; it has the limits and times
    /// of any other, and ends with the server. [`Stats`](crate::Stats) count the two as one: if the handler returns
    /// without an error, the adapter connection has ended for the reason of the one within. A handler that serves
    /// several at once has to limit their number.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection at once.
    pub async fn serve_frames<T>(&self, io: T) -> CloseReason
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let transport = RawTransport::whole(Transport::of(io));
        self.serve_inner(|server| server.serve_within(transport, &self.connection)).await
    }

    /// Serves a connection within this one, and notes the reason of its end.
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
