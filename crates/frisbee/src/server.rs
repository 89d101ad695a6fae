//! Servers: settings and life cycle. Accepting is in `server/accepting.rs`, inherited sockets are in
//! `server/inherited.rs`, and adapters for other protocols are in `server/adapter.rs`.

mod accepting;
mod adapter;
mod inherited;
#[cfg(unix)]
pub(crate) mod unix;

use self::accepting::Listening;
use crate::acceptor::{Acceptor, ServerShared};
use crate::account::{Budget, Stats};
use crate::adapter::peers::AdapterListener;
use crate::adapter::{AdapterHost, ProtocolAdapter, ProtocolAdapters};
use crate::connection::AgeLimit;
use crate::executor::tasks::Job;
use crate::executor::workers::{StartThreads, Workers, start_threads};
use crate::inspect::Inspector;
use crate::inspect::open_connections::{CloseOnDrop, OpenConnections};
use crate::runtime::pending_handshakes::{HandshakeLimiter, SILENT_MAX};
use crate::runtime::pool::WorkerPool;
use crate::settings::{CONNECTION_MEMORY_MAX, MEMORY_MAX, SettingError, check_config, settings};
use crate::transport::endpoint::EndpointInfo;
use crate::transport::proxied::{self, ReadHeader};
use crate::transport::{Transport, second};
use crate::{Config, Declaration, Error, IoBackend, Router};
use frisbee_core::{Operations, ServerConfig};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, io};
use tokio::net::{TcpListener, TcpSocket, ToSocketAddrs, lookup_host};
use tokio::runtime::Handle;

#[cfg(unix)]
use self::unix::UnixServer;
#[cfg(unix)]
use crate::transport::unix::{Sharing, UnixSocket};
#[cfg(unix)]
use std::path::Path;

/// Maximum length of the listen backlog, equal to the default limit of Linux. It should be large enough for all clients
/// that reconnect at the same time, because a client retries only after a second if its SYN is dropped.
const BACKLOG: u32 = 4096;

/// A listening socket with the settings of its connections.
///
/// ```
/// use frisbee::{Handlers, Operation, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frisbee::Error> {
/// let echo = Operation::user(10).expect("operation number should be in the user range");
/// let router = Handlers::new().on(echo, |_connection, packet| async { Some(packet) });
/// let server = Server::builder().bind("127.0.0.1:0", router).await?;
/// println!("listening on {}", server.local_addr());
///
/// // In a program, a future of `tokio::signal` for instance.
/// let terminated = async {};
/// server.serve_with_shutdown(terminated).await
/// # }
/// ```
#[derive(Debug)]
pub struct Server<R, L = TcpSocketListener> {
    pub(crate) listener: L,
    budget: Arc<Budget>,
    open: Arc<OpenConnections>,
    builder: ServerBuilder,
    router: Arc<R>,
}

/// A listening socket.
pub trait Listener: Send + 'static {
    /// Whether connections accepted by this listener can be driven by io_uring.
    const TAKES_RINGS: bool;

    /// Moves the socket from its previous runtime's reactor to that of the current runtime.
    fn move_to_current_runtime(&mut self) -> io::Result<()>;

    /// Polls for the next accepted connection.
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(Transport, EndpointInfo)>>;
}

/// A listening TCP socket with its local address.
#[derive(Debug)]
pub struct TcpSocketListener {
    listener: TcpListener,
    local: SocketAddr,
}

impl Listener for TcpSocketListener {
    const TAKES_RINGS: bool = true;

    fn move_to_current_runtime(&mut self) -> io::Result<()> {
        self.listener = TcpListener::from_std(second(&self.listener)?.into())?;
        Ok(())
    }

    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(Transport, EndpointInfo)>> {
        self.listener.poll_accept(context).map_ok(|(socket, peer)| {
            // Not needed on Linux, where a socket inherits the option from its listener.
            #[cfg(not(target_os = "linux"))]
            let _ = socket.set_nodelay(true);
            let ends = EndpointInfo { peer: Some(peer), local: socket.local_addr().ok(), ..EndpointInfo::default() };
            (Transport::Tcp(socket), ends)
        })
    }
}

/// Settings of a [`Server`].
///
/// ```
/// use frisbee::{Config, Handlers, Server, Workers};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frisbee::Error> {
/// let server = Server::builder()
///     .config(Config::default().body_max(64 * 1024).idle_timeout(Duration::from_secs(30)))
///     .memory_max(64 << 20)
///     .workers(Workers::Threads(2))
///     .bind("127.0.0.1:0", Handlers::new())
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ServerBuilder {
    pub(crate) settings: ServerSettings,
    pub(crate) log_settings: Option<fn(&ServerSettings)>,
    threads: Option<StartThreads>,
    proxied: Option<ReadHeader>,
    added: Arc<ProtocolSettings>,
    #[cfg(all(feature = "shm", target_os = "linux"))]
    shared_memory: Option<crate::shm::ListenerBuilder>,
    #[cfg(feature = "tls")]
    tls: Option<crate::tls::ServerTls>,
    #[cfg(feature = "tls")]
    takes_plain: bool,
}

/// Settings of protocol adapters, stored behind a pointer so that programs without adapters do not contain the code
/// that drops them.
#[derive(Clone, Debug, Default)]
struct ProtocolSettings {
    #[cfg_attr(not(feature = "tls"), allow(dead_code))]
    alpn: Vec<Vec<u8>>,
    adapters: Vec<ProtocolAdapter>,
    listeners: Vec<AdapterListener>,
}

impl Server<()> {
    /// Creates a builder with the default settings.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }
}

settings! {
    /// Settings of a [`ServerBuilder`]. The fields are documented at the builder methods of the same names.
    ///
    /// With the feature `serde` they can be read and written in any serde format. Durations are written as `5s`,
    /// `250ms` or `2min`, and sizes as a number of bytes or as `64KiB`. Unknown fields are errors.
    ///
    /// ```
    /// use frisbee::{Server, ServerSettings};
    /// use std::time::Duration;
    ///
    /// let mut settings = ServerSettings::default();
    /// settings.memory_max = 64 << 20;
    /// settings.connection.idle_timeout = Duration::from_secs(30);
    /// let builder = Server::builder().settings(&settings)?;
    /// assert_eq!(builder.to_settings(), settings);
    ///
    /// settings.connection.idle_timeout = Duration::ZERO;
    /// let error = Server::builder().settings(&settings).expect_err("zero idle timeout should be rejected");
    /// assert_eq!(error.to_string(), "idle_timeout = 0ns: must be greater than zero");
    /// # Ok::<(), frisbee::SettingError>(())
    /// ```
    pub struct ServerSettings of ServerBuilder,
        |settings: &_| tracing::info!(target: "frisbee::server", ?settings, "settings of a server");

    /// Sets the timeout for receiving a client's first packet header. Defaults to 10 s.
    first_header_timeout: Duration = Duration::from_secs(10), with "humantime_serde";

    /// Sets the maximum memory held for peers, over all connections. Defaults to 256 MiB.
    ///
    /// This includes bodies that are being received, unread stream messages, requests with pending handlers, pending
    /// writes, and a client's HELLO for the life of its connection if it is longer than 4 KiB.
    ///
    /// Once half of the memory is in use, the connections of one caller may together hold three times as much as is
    /// free. A single caller is thus limited to three quarters of the memory. If another caller holds more than 1/256
    /// of the memory, the share is 1/16 of the free memory, so that new callers always find memory. A caller is an IPv4
    /// address, an IPv6 /64 network, or the user of a Unix socket. While at least 1/16 of the memory is free, each
    /// connection may hold 8 KiB regardless of the other connections of its caller. 1/64 of the memory is reserved for
    /// replies.
    ///
    /// A new caller beside one that holds three quarters gets 1/68 of the memory. Set at least 70 times the length of
    /// the largest request, and at least 9 MiB, because a body of 16 to 64 KiB may count as 128 KiB.
    ///
    /// Requests and streams beyond the share of a caller are rejected before their handlers run, and the connection
    /// stays open: fRPC callers receive `ResourceExhausted`. A [`Router`](crate::Router) can decide differently by
    /// using [`is_overloaded`](crate::rpc::ConnectionExt::is_overloaded) and implementing
    /// [`discarded`](Router::discarded). Without an implementation of the latter, as in [`Handlers`](crate::Handlers),
    /// the connection is closed. Work in progress may exceed the limit by one request. A reply that does not fit is
    /// replaced by `ResourceExhausted`. Other packets to such a connection wait or fail with
    /// [`SendError::TooLong`](crate::SendError::TooLong). Memory that handlers allocate is not counted.
    memory_max: usize = MEMORY_MAX, with "frisbee_core::byte_size";

    /// Sets the maximum memory of the connections themselves, which [`memory_max`](Self::memory_max) does not include.
    /// Defaults to 512 MiB.
    ///
    /// A connection counts as 4 KiB, or as 44 KiB if the server has TLS settings, and protocol adapters
    /// [add](crate::AdapterContext::charge_connection) what they need. The rules of `memory_max` determine the share of
    /// a caller: a single caller has at most three quarters, which is 98 000 connections without TLS. A connection
    /// beyond the share evicts another one that still waits for its client's first packet. If there is none, the new
    /// connection is closed. The same rules apply to the number of files that the process may open (`RLIMIT_NOFILE`
    /// when the server is created).
    connection_memory_max: usize = CONNECTION_MEMORY_MAX, with "frisbee_core::byte_size";

    /// Sets the maximum number of open connections that wait for the client's first packet or for the client in a TLS
    /// handshake. Defaults to 4096.
    ///
    /// A further connection evicts the oldest one of the address with the most such connections, as if its first header
    /// or handshake had timed out. Connections are also evicted when the process has no file descriptor left for a new
    /// one. Before an evicted connection is closed, bytes received by then are read. No connection is evicted in its
    /// first second, because thousands of clients may reconnect at once.
    silent_max: usize = SILENT_MAX;

    /// Sets how long the server still accepts connections after [a shutdown](Server::serve_with_shutdown) has begun.
    /// Defaults to zero.
    ///
    /// If a program reports during this time that it is not ready, no client is lost: load balancers stop choosing it
    /// before its socket closes. [`shutdown_timeout`](Self::shutdown_timeout) begins after this time.
    drain_delay: Duration = Duration::ZERO, with "humantime_serde";

    /// Sets how long a shutdown waits for connections to finish their work. Defaults to 20 s, because orchestrators
    /// such as Kubernetes kill a process after 30 s.
    shutdown_timeout: Duration = Duration::from_secs(20), with "humantime_serde";

    /// Sets the age at which a connection is drained, varied randomly by up to 10 %. Defaults to no limit.
    ///
    /// A client that supports the [protocol extension](crate::PeerKind) receives GOING_AWAY, as in a
    /// [shutdown](Server::serve_with_shutdown). It makes new calls on a new connection, and the old one is closed when
    /// nothing is in progress. The new connection may reach another server through a load balancer, and presents the
    /// client's current certificate. [Adapter](Self::adapter) connections are notified by
    /// [stopping](crate::AdapterContext::stopping). Go clients do not support GOING_AWAY, so their connections are
    /// closed when idle.
    ///
    /// ```
    /// use frisbee::Server;
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let builder = Server::builder().max_connection_age(hour).max_connection_age_grace(hour / 60);
    /// ```
    max_connection_age: Option<Duration> = None, from Duration, with "humantime_serde";

    /// Sets how long work in progress may continue after the [maximum age](Self::max_connection_age). The connection is
    /// then closed with [`CloseReason::MaxAge`](crate::CloseReason). Defaults to no limit, so no call is lost.
    max_connection_age_grace: Option<Duration> = None, from Duration, with "humantime_serde";

    /// Sets how long each connection busy-polls after activity. Defaults to zero.
    ///
    /// Busy polling saves the microseconds that waking a thread takes. It suits a few connections with request-reply
    /// traffic. It uses a whole core even without work, and slows down everything else on that core. Clients with
    /// shared memory can then wake the server without a system call.
    busy_poll: Duration = Duration::ZERO, with "humantime_serde";

    /// Sets the threads that drive connections. Defaults to [`Workers::Caller`], the caller's runtime.
    workers: Workers = Workers::default(), threads start_threads;

    /// Sets the I/O interface that drives connections. Defaults to [`IoBackend::default`].
    io_backend: IoBackend = IoBackend::default();
}

/// Estimated memory of an open connection in bytes. It is twice the heap size of an idle connection, to cover the
/// buffers that the first call allocates.
const CONNECTION_COST: usize = 4 * 1024;

/// Additional memory of a TLS connection in bytes: 8 KiB for its keys and state, and the 32 KiB that rustls allocates
/// for an incomplete record. `idle_tls_connections_are_charged` in `tests/process/heap/idle_tls.rs` measures it.
#[cfg(feature = "tls")]
const TLS_COST: usize = 40 * 1024;

impl ServerSettings {
    fn check(&self) -> Result<(), SettingError> {
        check_config(&self.connection)?;
        SettingError::check_positive(&[("first_header_timeout", self.first_header_timeout)])?;
        SettingError::check_positive(&[("memory_max", self.memory_max), ("silent_max", self.silent_max)])?;
        SettingError::check_positive(&[("connection_memory_max", self.connection_memory_max)])?;
        self.workers.check()?;
        SettingError::check_positive(&[("max_connection_age", self.max_connection_age.unwrap_or(Duration::MAX))])
    }
}

impl ServerBuilder {
    /// Requires each connection to begin with a PROXY protocol header (version 1 or 2). A load balancer states the
    /// address of its client in it. Disabled by default.
    ///
    /// The address in the header becomes the [peer address](crate::Connection::peer_addr) for routers, handlers, the
    /// log and [memory](Self::memory_max) shares. If the header has no address, as in health checks of the balancer,
    /// the socket's address is used. The header precedes TLS. A connection that does not send it within
    /// [`first_header_timeout`](Self::first_header_timeout) is closed and logged.
    ///
    /// **Any client that can reach the port can claim any address.** Make the port reachable for the load balancer
    /// only.
    ///
    /// Such connections are driven by tokio regardless of [`io_backend`](Self::io_backend).
    pub fn proxy_protocol(mut self) -> Self {
        self.proxied = Some(|io| Box::pin(proxied::read(io)));
        self
    }

    /// Offers further protocols by ALPN in TLS handshakes, for [protocol adapters](Self::adapter). Defaults to none.
    /// Has no effect if the TLS settings already contain ALPN protocols.
    ///
    /// A client without ALPN is accepted. The handshake rejects a client that requests only other protocols.
    pub fn alpn_protocols(mut self, protocols: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        Arc::make_mut(&mut self.added).alpn.extend(protocols.into_iter().map(Into::into));
        self
    }

    /// Accepts offers of shared memory from clients on a Unix socket; see [`shm`](crate::shm). Disabled by default, in
    /// which case a client with such an offer connects again without it.
    ///
    /// Limits, shutdowns, [`Stats`], credentials and workers apply to these connections as to all others. A [protocol
    /// adapter](Self::adapter) then receives the transport of every connection on the socket as a
    /// [`shm::Stream`](crate::shm::Stream). Other listeners are not affected.
    ///
    /// ```
    /// use frisbee::{Client, Handlers, Server, shm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("frisbee-shared-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("socket");
    /// let builder = Server::builder().shared_memory(shm::Listener::builder().shared_max(100));
    /// let server = builder.bind_unix(&path, Handlers::new()).await?;
    /// # tokio::spawn(server.serve());
    /// let address = format!("unix+shm:{}", path.display());
    /// let connection = Client::builder().connect(address, Handlers::new()).await?;
    /// # connection.peer_known().await?;
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(all(feature = "shm", target_os = "linux"))]
    pub fn shared_memory(mut self, sharing: crate::shm::ListenerBuilder) -> Self {
        self.shared_memory = Some(sharing);
        self
    }

    /// Requires TLS on every connection. Defaults to no TLS.
    ///
    /// A handshake has a timeout of 10 s. Handshakes that wait for the client count towards
    /// [`silent_max`](Self::silent_max). At most 512 other handshakes run at the same time. Further ones wait for their
    /// turn, within the same timeout. TLS connections are driven by tokio regardless of
    /// [`io_backend`](Self::io_backend).
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::tls::ServerTls) -> Self {
        (self.tls, self.takes_plain) = (Some(tls), false);
        self
    }

    /// Accepts both TLS and plain connections on the same port, distinguished by their first bytes. Replaces
    /// [`tls`](Self::tls). The limits of `tls` apply to the TLS connections.
    ///
    /// Clients can then connect without TLS or without a certificate. The router must check
    /// [`peer_certificates`](crate::Connection::peer_certificates) where this matters. Adapter protocols work with and
    /// without TLS, but TLS cannot be nested.
    ///
    /// Plain connections are not slower than without this setting, with or without io_uring. TLS connections are driven
    /// by tokio: on the accepting worker, or on the caller's runtime if the worker uses io_uring.
    #[cfg(feature = "tls")]
    pub fn tls_or_plain(mut self, tls: crate::tls::ServerTls) -> Self {
        (self.tls, self.takes_plain) = (Some(tls), true);
        self
    }

    /// Binds a listening socket at `host:port`. Port 0 selects a free port. For several protocols, see
    /// [`Mounts`](crate::Mounts).
    ///
    /// # Errors
    /// If no address can be bound, or the router reports a [defect](crate::Declaration::check).
    ///
    /// # Cancel safety
    /// Dropping the future binds nothing.
    pub async fn bind<R: Router>(
        self,
        address: impl ToSocketAddrs + fmt::Debug,
        router: R,
    ) -> Result<Server<R>, Error> {
        router.declaration().check()?;
        let name = format!("{address:?}");
        let addresses = lookup_host(address).await.map(Iterator::collect);
        self.bind_resolved(name, addresses, router)
    }

    /// Like [`bind`](Self::bind), but takes resolved addresses and listens on the first one that can be bound. `name`
    /// identifies the addresses in errors.
    ///
    /// # Errors
    /// If the lookup failed, no address can be bound, or a setting that must not be zero is zero.
    pub fn bind_resolved<R: Router>(
        self,
        name: String,
        addresses: io::Result<Vec<SocketAddr>>,
        router: R,
    ) -> Result<Server<R>, Error> {
        let listener = addresses.and_then(listen).map_err(|source| Error::Bind { address: name, source })?;
        let local = listener.local_addr().map_err(Error::Workers)?;
        self.bound(TcpSocketListener { listener, local }, router)
    }

    /// Binds a Unix socket at `path`. The umask determines the permissions of the socket file, which control which
    /// processes may connect. A stale socket file is replaced. The file is removed when the server is dropped.
    ///
    /// # Errors
    /// If another process listens at the path, the path is not a socket, the socket cannot be bound, shared memory
    /// requires io_uring but it is unavailable, or the router reports a [defect](crate::Declaration::check).
    ///
    /// # Cancel safety
    /// The future resolves immediately.
    #[cfg(unix)]
    pub async fn bind_unix<R: Router>(self, path: impl AsRef<Path>, router: R) -> Result<UnixServer<R>, Error> {
        router.declaration().check()?;
        let path = path.as_ref();
        let failed = |source| Error::Bind { address: path.display().to_string(), source };
        let sharing = self.sharing().map_err(failed)?;
        let listener = UnixSocket::bind(path).map_err(failed)?.sharing(sharing);
        self.bound(listener, router)
    }

    /// Creates a server without a socket, for connections that the program supplies. Each connection is driven by the
    /// runtime that it is supplied in. Handlers run on the current runtime.
    ///
    /// # Errors
    /// If the router reports a [defect](crate::Declaration::check).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn build<R: Router>(self, router: R) -> Result<Acceptor<R>, Error> {
        router.declaration().check()?;
        Ok(Acceptor(self.bound((), router)?.into_host().1))
    }

    /// Returns the shared-memory settings for a Unix socket, or `None` if shared memory is disabled.
    #[cfg(unix)]
    fn sharing(&self) -> io::Result<Option<Sharing>> {
        #[cfg(all(feature = "shm", target_os = "linux"))]
        // Announce the busy-poll duration, so that the client does not wake a driver that is busy-polling.
        return self
            .shared_memory
            .clone()
            .map(|sharing| sharing.spin_at_least(self.settings.busy_poll).sharing())
            .transpose();
        #[cfg(not(all(feature = "shm", target_os = "linux")))]
        Ok(None)
    }

    fn bound<L, R: Router>(self, listener: L, router: R) -> Result<Server<R, L>, Error> {
        let settings = &self.settings;
        settings.check()?;
        self.log_settings.iter().for_each(|log| log(settings));
        #[cfg(feature = "tls")]
        let tls = match &self.tls {
            Some(tls) => {
                tls.check()?;
                TLS_COST
            }
            None => 0,
        };
        #[cfg(not(feature = "tls"))]
        let tls = 0;
        let budget = Budget::new(settings.memory_max, settings.connection.stream_buffer_max)
            .with_connections(settings.connection_memory_max, CONNECTION_COST + tls);
        let budget = Arc::new(budget);
        Ok(Server { listener, budget, open: Arc::default(), builder: self, router: Arc::new(router) })
    }
}

impl<R: Router> Server<R> {
    /// Returns the address of the listening socket, with the actual port if port 0 was bound.
    pub fn local_addr(&self) -> SocketAddr {
        self.listener.local
    }
}

impl<R: Router, L: Listener> Server<R, L> {
    /// Returns the connection and traffic counters of the server, which can be read at any time.
    pub fn stats(&self) -> Stats {
        Stats(self.budget.clone())
    }

    /// Returns an inspector, which lists the server's connections, workers and work in progress.
    pub fn inspector(&self) -> Inspector {
        Inspector { budget: self.budget.clone(), open: self.open.clone() }
    }

    /// Accepts and serves connections until the future is dropped.
    ///
    /// # Errors
    /// If the workers cannot be started, or io_uring is required but unavailable. Failures to accept are retried.
    ///
    /// # Cancel safety
    /// Dropping the future closes all connections immediately.
    pub async fn serve(self) -> Result<(), Error> {
        self.serve_with_shutdown(pending()).await
    }

    /// Serves connections until `shutdown` completes. The server then stops accepting after
    /// [`drain_delay`](ServerBuilder::drain_delay), waits for the work in progress of its connections, and closes each
    /// connection when it is idle.
    ///
    /// # Errors
    /// Same as [`serve`](Self::serve).
    ///
    /// # Cancel safety
    /// Same as [`serve`](Self::serve).
    pub async fn serve_with_shutdown(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let ServerBuilder { settings: ServerSettings { workers, io_backend, drain_delay, .. }, threads, .. } =
            self.builder;
        let rings = self.takes_rings().then_some(workers);
        let pool = WorkerPool::start(workers, threads, io_backend, rings).map_err(Error::Workers)?;
        let (listener, host) = self.into_host();
        // Cannot fail, because this is the only place that sets the field.
        let _ = host.open.workers.set(pool.watch());
        let _open = CloseOnDrop(Arc::downgrade(&host.open));
        let pool = Arc::new(pool);
        let (listening, accepting) = Listening::new(listener, &host, &pool).map_err(Error::Workers)?;
        let accepting: Job = Box::pin(accepting);
        match pool.first() {
            Some(worker) => worker.spawn(accepting),
            None => drop(host.runtime.spawn(accepting)),
        }
        shutdown.await;
        if !drain_delay.is_zero() {
            tokio::time::sleep(drain_delay).await;
        }
        // Close the listening socket before the drain, so that no more connections are admitted.
        drop(listening);
        host.drain().await;
        Ok(())
    }

    /// Returns whether io_uring can drive the connections, which is supported for TCP without TLS only.
    fn takes_rings(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.builder.tls.is_some() && !self.builder.takes_plain {
            return false;
        }
        L::TAKES_RINGS && self.builder.proxied.is_none()
    }
}

impl<R: Router, L> Server<R, L> {
    fn into_host(self) -> (L, Arc<ServerShared<R>>) {
        let Self { listener, budget, open, builder, router } = self;
        let (settings, added) = (builder.settings, Arc::unwrap_or_clone(builder.added));
        let Declaration { operations, calls, hello_items, .. } = router.declaration();
        let config = ServerConfig::from(settings.connection)
            .first_header_timeout(settings.first_header_timeout)
            .operations(Some(Arc::new(Operations { served: operations, calls })))
            .hello_items(hello_items.into_iter().collect());
        let host = Arc::new_cyclic(|host: &Weak<ServerShared<R>>| {
            let host = AdapterHost { phase: open.phase(), config: Arc::new(config.clone()), server: host.clone() };
            let adapters = ProtocolAdapters::new(added.adapters, host);
            #[cfg(feature = "tls")]
            let adapters = if builder.takes_plain { adapters.securing() } else { adapters };
            ServerShared {
                budget,
                open,
                pending_handshakes: HandshakeLimiter::new(settings.silent_max, adapters),
                runtime: Handle::current(),
                router,
                config,
                busy_poll: settings.busy_poll,
                shutdown_timeout: settings.shutdown_timeout,
                age_limit: AgeLimit { max: settings.max_connection_age, grace: settings.max_connection_age_grace },
                proxied: builder.proxied,
                listeners: OnceLock::new(),
                #[cfg(feature = "tls")]
                tls: builder.tls.map(|tls| crate::tls::Handshakes::new(tls, added.alpn)),
                #[cfg(feature = "tls")]
                takes_plain: builder.takes_plain,
            }
        });
        host.listen(added.listeners);
        (listener, host)
    }
}

/// Creates a listening socket on the first of the addresses that can be bound.
fn listen(addresses: Vec<SocketAddr>) -> io::Result<TcpListener> {
    let none = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name resolves to no address"));
    addresses.into_iter().fold(none, |bound, address| bound.or_else(|_| listen_on(address)))
}

/// Like `TcpListener::bind`, but with a longer listen backlog than the standard library's 128.
fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Not set on Windows, because this option would let other processes listen on the same port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    #[cfg(target_os = "linux")]
    set_options(&socket)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Sets the options of a listening socket, which accepted connections inherit.
#[cfg(target_os = "linux")]
fn set_options(listener: &impl std::os::fd::AsFd) -> io::Result<()> {
    crate::transport::limit_unsent(listener);
    let listener = socket2::SockRef::from(listener);
    // Disable Nagle's algorithm. Each write is already a batch, so it would only add delay.
    listener.set_tcp_nodelay(true)?;
    // Probe silent clients, because adapter protocols have no PING, and a client's host may disappear. The first probe
    // is sent after a minute of silence; Linux sends nine by default.
    let probes = socket2::TcpKeepalive::new().with_time(Duration::from_secs(60)).with_interval(Duration::from_secs(10));
    listener.set_tcp_keepalive(&probes)
}
