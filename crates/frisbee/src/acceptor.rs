//! Turns accepted sockets into connections with a driver, and tracks the open ones.
//!
//! # Decisions
//!
//! * **Accepting is separate from listening.** Listeners pass sockets to workers, and programs pass transports to an
//!   `Acceptor`, which performs the TLS handshake and drives the connection on its worker. All transports use the same
//!   driver.
//! * **The futures that drive connections are implemented by hand.** The future of an `async fn` stores its arguments
//!   in addition to the values created from them, which would double the memory of an idle connection.
//! * **A connection counts as open from the moment it is accepted.** Otherwise a shutdown would drop connections that
//!   are queued or in a TLS handshake. A client that has not sent anything gets one second for its first bytes, so that
//!   a restart with a successor process loses no requests.

use crate::account::{Admission, Budget, Stats};
use crate::adapter::peers::{AdapterListener, AdapterPeers};
use crate::adapter::{AdapterHost, AdapterServer, AllowedProtocols, Inner, ServerPhase};
use crate::clock::{TokioTimer, now, tokio_timer};
use crate::connection::{AgeLimit, Connection, Lifetime};
use crate::debug::opaque_debug;
use crate::executor::tasks::Job;
use crate::inspect::Inspector;
use crate::inspect::open_connections::{OpenConnection, OpenConnections};
use crate::runtime::busy::BusyPoll;
use crate::runtime::engine::Engine;
use crate::runtime::pending_handshakes::HandshakeLimiter;
use crate::runtime::tokio::{DriveFuture, Driver, run_apart};
use crate::transport::Transport;
use crate::transport::endpoint::EndpointInfo;
use crate::transport::proxied::ReadHeader;
use crate::{CloseReason, RawTransport, Router};
use frisbee_core::ServerConfig;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

#[cfg(feature = "tls")]
use crate::{tls::HANDSHAKE_COST, transport::Secured};

/// Acceptor that serves connections on transports that the program supplies. A transport may be any byte stream.
///
/// Clones share the router and the memory limits, and are shut down together. Created by
/// [`ServerBuilder::build`](crate::ServerBuilder::build).
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = Operation::user(10).expect("operation number should be in the user range");
/// let acceptor = Server::builder().build(Handlers::new().on(echo, |_connection, packet| async { Some(packet) }))?;
/// let (here, there) = frisbee::memory();
/// tokio::spawn(async move { acceptor.serve_connection(there).await });
/// let connection = Client::builder().connect_io(here, Handlers::new()).await?;
/// # connection.peer_known().await?;
/// # Ok(())
/// # }
/// ```
pub struct Acceptor<R>(pub(crate) Arc<ServerShared<R>>);

impl<R> Clone for Acceptor<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Router> Acceptor<R> {
    /// Serves a connection until it ends, and returns the close reason. The connection is driven by the current tokio
    /// runtime. Handlers run on the runtime that the acceptor was created in.
    ///
    /// If TLS is configured, the connection starts with a TLS handshake.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection immediately.
    pub async fn serve_connection<T>(&self, io: T) -> CloseReason
    where
        T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let host = self.0.clone();
        let Some(entry) = OpenConnections::admit(&host.open) else { return CloseReason::Shutdown };
        let context = Some(host.runtime.clone()).filter(|runtime| runtime.id() != Handle::current().id());
        let ends = EndpointInfo::default();
        let admission = host.budget.enter(ends.caller());
        let arrived = Box::new(AcceptedConnection { io: Transport::of(io), ends, admission, entry });
        let driving = Box::pin(tokio::task::unconstrained(async move { host.serve(arrived, context).await }));
        // The panic hook has already reported a panic of the router.
        run_apart(&Handle::current(), driving).await
    }

    /// Returns the connection and traffic counters of the server.
    pub fn stats(&self) -> Stats {
        Stats(self.0.budget.clone())
    }

    /// Returns an inspector, which lists the open connections.
    pub fn inspector(&self) -> Inspector {
        Inspector { budget: self.0.budget.clone(), open: self.0.open.clone() }
    }

    /// Stops accepting connections, then waits until each open connection has become idle and has been closed.
    ///
    /// # Cancel safety
    /// Dropping the future stops waiting. Connections are still closed when they are idle, without a timeout. The
    /// method may be called again.
    pub async fn shutdown(&self) {
        self.0.drain().await;
    }
}

opaque_debug!([R] Acceptor<R>, "Acceptor");

/// State shared by the connections of a server.
pub(crate) struct ServerShared<R> {
    pub(crate) router: Arc<R>,
    pub(crate) config: ServerConfig,
    pub(crate) busy_poll: Duration,
    pub(crate) budget: Arc<Budget>,
    pub(crate) open: Arc<OpenConnections>,
    pub(crate) pending_handshakes: Arc<HandshakeLimiter>,
    pub(crate) shutdown_timeout: Duration,
    pub(crate) age_limit: AgeLimit,
    /// Reader of the PROXY protocol header that a load balancer sends at the start of each connection. `None` if no
    /// header is expected.
    pub(crate) proxied: Option<ReadHeader>,
    /// Tasks of connectionless listeners, which are aborted when the server is dropped.
    pub(crate) listeners: OnceLock<JoinSet<()>>,
    /// Runtime in which the server was started. Handlers that are pending after their first poll run on it.
    pub(crate) runtime: Handle,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<crate::tls::Handshakes>,
    /// Whether the server accepts plaintext connections on its TLS port.
    #[cfg(feature = "tls")]
    pub(crate) takes_plain: bool,
}

impl<R: Router> ServerShared<R> {
    /// Starts the connectionless listeners on the current runtime.
    pub(crate) fn listen(self: &Arc<Self>, listeners: Vec<AdapterListener>) {
        let server: Weak<dyn AdapterServer> = Arc::<Self>::downgrade(self);
        let host = AdapterHost { phase: self.open.phase(), config: Arc::new(self.config.clone()), server };
        let mut tasks = JoinSet::new();
        for listener in listeners {
            // Register the listener like a connection, because a shutdown waits for it too.
            let Some(entry) = OpenConnections::admit(&self.open) else { return };
            let peers = AdapterPeers(host.clone());
            let listening: Job = Box::pin(async move {
                let _entry = entry;
                (listener.0)(peers).await;
            });
            tasks.spawn(listening);
        }
        let _ = self.listeners.set(tasks);
    }

    /// Stops accepting connections and waits until the accepted ones have ended.
    pub(crate) async fn drain(&self) {
        self.open.drain(self.shutdown_timeout, &self.pending_handshakes).await;
    }

    /// Registers an accepted connection and returns a closure that creates its protocol engine. Returns `None` if the
    /// server's shutdown timeout has expired. Call the closure on the thread that will drive the connection, because it
    /// calls the router.
    #[cfg(all(feature = "uring", target_os = "linux"))]
    pub(crate) fn connect(
        &self,
        ends: EndpointInfo,
        admission: Admission,
        entry: &OpenConnection,
    ) -> Option<impl FnOnce(Instant) -> Engine<R> + Send + use<R>> {
        self.enter(self.greet(ends, admission), AllowedProtocols::Any, entry)
    }

    fn greet(&self, ends: EndpointInfo, admission: Admission) -> Connection {
        tracing::debug!(peer = ?ends.peer, "connection accepted");
        let lifetime = self.age_limit.lifetime(now());
        Connection::accepted(&self.config, admission, self.runtime.clone(), ends, false, lifetime)
    }

    /// Reserves memory and a file descriptor for a connection of this peer. If the caller's share is used up, evicts a
    /// pending handshake to make room. If none can be evicted, counts and logs the refusal and returns its reason.
    pub(crate) fn admit(&self, ends: &EndpointInfo) -> Result<Admission, CloseReason> {
        if let Some(admission) = self.budget.admit(ends.caller()) {
            return Ok(admission);
        }
        if self.pending_handshakes.make_place() {
            return Ok(self.budget.enter(ends.caller()));
        }
        Err(self.refuse(ends))
    }

    /// Counts and logs the refusal of a connection whose caller's share is used up, and returns its reason.
    fn refuse(&self, ends: &EndpointInfo) -> CloseReason {
        let text = "no memory or file descriptor for the connection: see connection_memory_max and RLIMIT_NOFILE";
        let reason = CloseReason::Router(text.into());
        self.budget.counts.count_refused(ends.peer, &reason, now());
        reason
    }

    fn enter(
        &self,
        handle: Connection,
        allowed: AllowedProtocols,
        entry: &OpenConnection,
    ) -> Option<impl FnOnce(Instant) -> Engine<R> + Send + use<R>> {
        if !entry.connect(&handle) {
            return None;
        }
        let pending_handshake = HandshakeLimiter::enter(&self.pending_handshakes, handle.clone(), allowed);
        let (router, config) = (self.router.clone(), self.config.clone());
        Some(move |now| {
            let mut core = frisbee_core::Connection::server(&config, now);
            core.inherit_abuse(handle.0.mailbox.account.debt(now));
            Engine::new(core, router, handle).entered(pending_handshake)
        })
    }

    /// Drives a connection on the current runtime, including its TLS handshake.
    ///
    /// `context` is the runtime of the handlers, if it differs from the current one. Spawn the future as an
    /// `unconstrained` task, because the driver yields on its own schedule.
    #[allow(clippy::boxed_local)] // Boxed by the caller, because a task keeps the memory of its initial state.
    pub(crate) fn serve(&self, arrived: Box<AcceptedConnection>, context: Option<Handle>) -> ServedConnection<'_, R> {
        if let Some(read) = self.proxied {
            return ServedConnection::Rare(Box::pin(self.serve_proxied(read, *arrived, context)));
        }
        self.begin(*arrived, context)
    }

    /// Like [`serve`](Self::serve), but first reads the PROXY protocol header with the address of the client.
    async fn serve_proxied(
        &self,
        read: ReadHeader,
        arrived: AcceptedConnection,
        context: Option<Handle>,
    ) -> CloseReason {
        let AcceptedConnection { mut io, mut ends, mut admission, entry } = arrived;
        let read = {
            let mut reading = read(&mut io);
            let waiting = HandshakeLimiter::wait(&self.pending_handshakes, ends.caller(), reading.as_mut());
            tokio::time::timeout(self.config.first_header_timeout, waiting).await
        };
        let reason = match read {
            Ok(Some(Ok(stated))) => {
                if stated.is_some() {
                    ends.peer = stated;
                    // Release the admission of the proxy's address first. Otherwise, the connection would be charged to
                    // both addresses, and the client could be rejected for lack of memory.
                    drop(admission);
                    admission = match self.admit(&ends) {
                        Ok(admission) => admission,
                        Err(reason) => return reason,
                    };
                }
                let arrived = AcceptedConnection { io, ends, admission, entry };
                return Box::pin(self.begin(arrived, context)).await;
            }
            Ok(Some(Err(error))) if error.kind() != io::ErrorKind::InvalidData => {
                // Not reported as an error of the peer, because health checks of load balancers connect and close.
                let reason = match error.kind() {
                    io::ErrorKind::UnexpectedEof => CloseReason::ClosedByPeer,
                    _ => error.into(),
                };
                self.budget.counts.count_opened();
                self.budget.counts.count_closed(ends.peer, &reason, now());
                return reason;
            }
            Ok(Some(Err(error))) => error.into(),
            Ok(None) | Err(_) => CloseReason::NoFirstHeader,
        };
        self.budget.counts.count_refused(ends.peer, &reason, now());
        reason
    }

    /// Drives a connection from its TLS handshake or, without TLS, from its first frame.
    fn begin(&self, arrived: AcceptedConnection, context: Option<Handle>) -> ServedConnection<'_, R> {
        let AcceptedConnection { io, ends, admission, entry } = arrived;
        #[cfg(feature = "tls")]
        if let Some(tls) = self.tls.as_ref().filter(|_| !self.takes_plain) {
            let handshake = Box::pin(io.accept_tls(tls, self.pending_handshakes.of(ends.caller())));
            return ServedConnection::Rare(Box::pin(self.serve_secured(handshake, (ends, admission), context, entry)));
        }
        self.drive(io, self.greet(ends, admission), AllowedProtocols::Any, context, entry)
    }

    /// Like [`serve`](Self::serve), but first performs a TLS handshake. The handshake is a separate allocation, which
    /// is freed as soon as it completes.
    #[cfg(feature = "tls")]
    async fn serve_secured(
        &self,
        handshake: Pin<Box<impl Future<Output = Result<Secured, CloseReason>>>>,
        (ends, mut admission): (EndpointInfo, Admission),
        context: Option<Handle>,
        entry: OpenConnection,
    ) -> CloseReason {
        let charge = admission.charge(HANDSHAKE_COST);
        if charge.is_none() && !self.pending_handshakes.make_place() {
            return self.refuse(&ends);
        }
        let shaken = handshake.await;
        drop(charge);
        let (secured, certificates) = match shaken {
            Ok(shaken) => shaken,
            Err(reason) => {
                // Normally, `Engine::new` counts the connection as opened. Count it here, because otherwise the close
                // would make `Stats::open` one too low.
                self.budget.counts.count_opened();
                self.budget.counts.count_closed(ends.peer, &reason, now());
                return reason;
            }
        };
        let is_identified = certificates.is_some();
        let ends = EndpointInfo { certificates, ..ends };
        if is_identified {
            // Release the admission of the address first, so that the connection is not charged to both the address and
            // the caller that the certificate identifies.
            drop(admission);
            admission = match self.admit(&ends) {
                Ok(admission) => admission,
                Err(reason) => return reason,
            };
        }
        let handle = self.greet(ends, admission);
        let secured = Transport::secured(secured, &handle.0.mailbox.account);
        Box::pin(self.drive(secured, handle, AllowedProtocols::Secured, context, entry)).await
    }

    fn drive(
        &self,
        io: Transport,
        handle: Connection,
        allowed: AllowedProtocols,
        context: Option<Handle>,
        entry: OpenConnection,
    ) -> ServedConnection<'_, R> {
        let Some(engine) = self.enter(handle, allowed, &entry) else { return ServedConnection::Refused };
        let busy = BusyPoll::new(self.busy_poll);
        let is_among_callers = context.is_none();
        let now = now();
        let engine = {
            let _entered = context.as_ref().map(Handle::enter);
            engine(now)
        };
        let buffers = io.buffers();
        let mut driver = Driver::new(io, engine, context, tokio_timer(), busy).buffering(buffers);
        if is_among_callers {
            driver = driver.among_callers();
        }
        ServedConnection::Driven(driver.run(), Some(entry))
    }

    fn serve_inner(&self, transport: Transport, handle: Connection, allowed: AllowedProtocols) -> Inner<'_> {
        let context = Some(self.runtime.clone()).filter(|runtime| runtime.id() != Handle::current().id());
        // Admit nested connections until `Closing`, because the outer connection is still served while the server
        // drains.
        let Some(entry) = OpenConnections::admit_until(&self.open, ServerPhase::Closing) else {
            return Box::pin(async { CloseReason::Shutdown });
        };
        // Drive the connection in an ordinary task, even on an io_uring worker, because ring operations support only
        // plain sockets.
        Box::pin(tokio::task::unconstrained(self.drive(transport, handle, allowed, context, entry)))
    }
}

impl<R: Router> AdapterServer for ServerShared<R> {
    fn serve_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_> {
        let handle = outer.within(&self.config, outer.ends().clone());
        self.serve_inner(Transport::Other(Box::new(transport)), handle, AllowedProtocols::Frames)
    }

    fn enter_peer(&self, ends: EndpointInfo, lifetime: Option<Lifetime>) -> Option<Connection> {
        let admission = if ends.is_connectionless {
            let admission = self.budget.admit_without_socket(ends.caller());
            if admission.is_none() {
                self.budget.counts.count_rejected();
            }
            admission?
        } else {
            self.budget.enter_without_socket(ends.caller())
        };
        let handle = Connection::accepted(&self.config, admission, self.runtime.clone(), ends, true, lifetime);
        let core = frisbee_core::Connection::server(&self.config, now());
        let _entered = self.runtime.enter();
        let made = catch_unwind(AssertUnwindSafe(|| Engine::new(core, self.router.clone(), handle.clone())));
        // The panic hook has already reported a panic of the router.
        let mut engine = made.ok()?;
        // An order in the mailbox at this point means that `Router::connected` has closed the connection.
        let is_refused = handle.0.mailbox.lock().order.is_some();
        // End the engine at once, because a connectionless peer never sends frames. The router is notified of the end,
        // as it is when a connection is passed to an adapter.
        engine.end(&CloseReason::OtherProtocol);
        if is_refused {
            handle.0.attachments.drop_values();
            return None;
        }
        Some(handle)
    }

    #[cfg(feature = "tls")]
    fn secure_within(&self, transport: RawTransport, outer: &Connection) -> Inner<'_> {
        let Some(tls) = &self.tls else { return Box::pin(async { CloseReason::Shutdown }) };
        let transport = Transport::Other(Box::new(transport));
        let handshake = Box::pin(transport.accept_tls(tls, self.pending_handshakes.of(outer.ends().caller())));
        let charge = outer.0.mailbox.account.charge_connection(HANDSHAKE_COST);
        if charge.is_none() && !self.pending_handshakes.make_place() {
            let reason = self.refuse(outer.ends());
            return Box::pin(async { reason });
        }
        let outer = outer.clone();
        Box::pin(async move {
            let shaken = handshake.await;
            drop(charge);
            let (secured, certificates) = match shaken {
                Ok(secured) => secured,
                Err(reason) => return reason,
            };
            let handle = outer.within(&self.config, EndpointInfo { certificates, ..outer.ends().clone() });
            drop(outer);
            let secured = Transport::secured(secured, &handle.0.mailbox.account);
            self.serve_inner(secured, handle, AllowedProtocols::Secured).await
        })
    }
}

/// Future that serves a connection and resolves to its close reason.
///
/// Implemented by hand with rare states boxed, because it takes up most of the memory of a connection.
#[allow(clippy::large_enum_variant)] // Most connections are in the large variant most of the time.
pub(crate) enum ServedConnection<'a, R: Router> {
    /// The connection is closed immediately, because the server's shutdown timeout has expired.
    Refused,
    Driven(DriveFuture<Transport, R, TokioTimer>, Option<OpenConnection>),
    /// Rare states: the connection performs a TLS handshake, reads a PROXY header, or hands off its transport to
    /// another owner.
    Rare(Pin<Box<dyn Future<Output = CloseReason> + Send + 'a>>),
}

impl<R: Router> Future for ServedConnection<'_, R> {
    type Output = CloseReason;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CloseReason> {
        if let Self::Driven(running, entry) = &mut *self {
            let ended = ready!(Pin::new(running).poll(context));
            let entry = entry.take();
            match ended.done() {
                Ok(reason) => return Poll::Ready(reason),
                Err(ended) => {
                    *self = Self::Rare(Box::pin(async move {
                        // Keep the entry until the new owner of the transport has finished, because a shutdown waits
                        // for all entries.
                        let _entry = entry;
                        ended.hand_over_in_task().await
                    }));
                }
            }
        }
        match &mut *self {
            Self::Rare(future) => future.as_mut().poll(context),
            _ => Poll::Ready(CloseReason::Shutdown),
        }
    }
}

/// An accepted connection on its way to a worker. Boxed, because otherwise the task that serves the connection would
/// keep space for this initial state.
pub(crate) struct AcceptedConnection {
    pub(crate) io: Transport,
    pub(crate) ends: EndpointInfo,
    pub(crate) admission: Admission,
    pub(crate) entry: OpenConnection,
}

impl AcceptedConnection {
    /// Registers the accepted socket with the I/O driver of the current runtime.
    pub(crate) fn moved(self) -> io::Result<Self> {
        Ok(Self { io: self.io.moved()?, ..self })
    }
}
