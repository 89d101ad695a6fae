//! Foreign connections: those whose first bytes are no frame, served by a handler of another protocol on the same port.

use crate::connection::Connection;
use crate::hand_off::TakeOver;
use crate::runtime::timer::now;
use crate::support::Hold;
use crate::{CloseReason, Config, RawTransport};
use frisbee_core::ServerConfig;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The first byte of every frame: that of the magic, and of an id below 256 in the old form of headers.
const FRAME_BEGINS: u8 = 0;

type Accepts = dyn Fn(&[u8]) -> bool + Send + Sync;
type Serve = dyn Fn(RawTransport, ForeignContext) -> Serving + Send + Sync;
type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The phase of a server's life, as handlers of foreign connections see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Phase {
    Serving,
    /// Connections finish their work in progress.
    Stopping,
    /// Connections that are left are closed.
    Closing,
}

/// The handler of one foreign protocol.
#[derive(Clone)]
pub(crate) struct ForeignHandler {
    accepts: Arc<Accepts>,
    serve: Arc<Serve>,
}

impl ForeignHandler {
    pub(crate) fn new<A, S, F>(accepts: A, serve: S) -> Self
    where
        A: Fn(&[u8]) -> bool + Send + Sync + 'static,
        S: Fn(RawTransport, ForeignContext) -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self {
            accepts: Arc::new(accepts),
            serve: Arc::new(move |transport, context| Box::pin(serve(transport, context))),
        }
    }
}

impl fmt::Debug for ForeignHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignHandler").finish_non_exhaustive()
    }
}

/// The handlers of a server's foreign connections.
#[derive(Debug)]
pub(crate) struct ForeignHandlers {
    handlers: Vec<ForeignHandler>,
    phase: watch::Receiver<Phase>,
    config: Arc<ServerConfig>,
}

impl ForeignHandlers {
    pub(crate) fn new(handlers: Vec<ForeignHandler>, phase: watch::Receiver<Phase>, config: &ServerConfig) -> Self {
        Self { handlers, phase, config: Arc::new(config.clone()) }
    }

    /// The handler that accepts a connection which begins with these bytes, if one does: it gets the transport, and
    /// serves it in the task of the connection.
    pub(crate) fn find(&self, beginning: &[u8], connection: &Connection) -> Option<TakeOver> {
        if beginning.first().is_none_or(|first| *first == FRAME_BEGINS) {
            return None;
        }
        let serve = self.handlers.iter().find(|handler| (handler.accepts)(beginning))?.serve.clone();
        let context =
            ForeignContext { connection: connection.clone(), phase: self.phase.clone(), config: self.config.clone() };
        Some(TakeOver::in_place(move |transport| Box::pin(run(serve, transport, context))))
    }
}

/// Serves a foreign connection to its end, or to that of the server's time to stop.
async fn run(serve: Arc<Serve>, transport: RawTransport, context: ForeignContext) -> CloseReason {
    let mut closed = Closed { connection: context.connection.clone(), reason: CloseReason::Shutdown };
    let mut phase = context.phase.clone();
    let mut serving = serve(transport, context);
    let mut closing = pin!(reached(&mut phase, Phase::Closing));
    let served = poll_fn(|task| match serving.as_mut().poll(task) {
        Poll::Ready(served) => Poll::Ready(Some(served)),
        Poll::Pending => closing.as_mut().poll(task).map(|()| None),
    });
    match served.await {
        Some(Ok(())) => closed.reason = CloseReason::Foreign,
        Some(Err(error)) => closed.reason = error.into(),
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
        connection.0.mailbox.account.budget().counts.count_closed(connection.peer_addr(), reason, now());
    }
}

async fn reached(phase: &mut watch::Receiver<Phase>, least: Phase) {
    // A server that is gone closes nothing any more: its tasks end with its runtime.
    if phase.wait_for(|phase| *phase >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The server's side of a foreign connection; see [`ServerBuilder::foreign`](crate::ServerBuilder::foreign).
#[derive(Clone, Debug)]
pub struct ForeignContext {
    connection: Connection,
    phase: watch::Receiver<Phase>,
    config: Arc<ServerConfig>,
}

impl ForeignContext {
    /// The limits and times of the server's connections, which the handler has to apply by itself.
    pub fn config(&self) -> &Config {
        &self.config.common
    }

    /// How long a client may take to send its first header; see
    /// [`first_header_timeout`](crate::ServerBuilder::first_header_timeout).
    pub fn first_header_timeout(&self) -> Duration {
        self.config.first_header_timeout
    }

    /// The client's address, if the transport has one.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.connection.peer_addr()
    }

    /// The server's address, if the transport has one.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.connection.local_addr()
    }

    /// The process at the other end of a Unix socket, as the system knows it.
    #[cfg(unix)]
    pub fn peer_credentials(&self) -> Option<crate::UnixCredentials> {
        self.connection.peer_credentials()
    }

    /// The verified certificates of the client; as [`Connection::peer_certificates`](crate::Connection).
    #[cfg(feature = "tls")]
    pub fn peer_certificates(&self) -> Option<&Arc<[crate::tls::CertificateDer<'static>]>> {
        self.connection.peer_certificates()
    }

    /// The connection as the server counts it. Nothing can be sent on it.
    #[doc(hidden)]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The runtime in which the server was started. The handler itself runs on the worker of its connection, which has
    /// no threads to spare: work that blocks or computes belongs here.
    pub fn runtime_handle(&self) -> &Handle {
        self.connection.runtime_handle()
    }

    /// Whether the server is shutting down: the handler should then finish its work in progress and return.
    pub fn is_stopping(&self) -> bool {
        *self.phase.borrow() >= Phase::Stopping
    }

    /// Waits until the server shuts down. It drops the handlers that are left after its
    /// [`shutdown_timeout`](crate::ServerBuilder::shutdown_timeout).
    ///
    /// # Cancel safety
    /// Safe; it may be called any number of times.
    pub async fn stopping(&self) {
        reached(&mut self.phase.clone(), Phase::Stopping).await;
    }

    /// Whether the server's memory limit is reached, so that nothing more should be begun; see
    /// [`memory_max`](crate::ServerBuilder::memory_max).
    pub fn is_overloaded(&self) -> bool {
        self.connection.is_overloaded()
    }

    /// Charges so many bytes of input to the server's memory until the returned value is dropped.
    pub fn hold(&self, bytes: usize) -> Hold {
        self.connection.hold(bytes)
    }
}

#[cfg(test)]
mod tests;
