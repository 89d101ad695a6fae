//! Servers: their settings, and their life. Accepting: `server/accepting.rs`. Sockets that listen already:
//! `server/inherited.rs`. Other protocols: `server/adapter.rs`.

mod accepting;
mod adapter;
mod inherited;
#[cfg(unix)]
pub(crate) mod unix;

use self::accepting::Listening;
use crate::acceptor::{Acceptor, ServerShared};
use crate::adapter::peers::AdapterListener;
use crate::adapter::{AdapterHost, ProtocolAdapter, ProtocolAdapters};
use crate::budget::{Budget, Stats};
use crate::connection::AgeLimit;
use crate::executor::tasks::Job;
use crate::executor::workers::{StartThreads, Workers, start_threads};
use crate::inspect::Inspector;
use crate::inspect::open_connections::{CloseOnDrop, OpenConnections};
use crate::runtime::pending_handshakes::{HandshakeLimiter, SILENT_MAX};
use crate::runtime::pool::WorkerPool;
use crate::settings::{MEMORY_MAX, SettingError, check_config, check_positive, settings};
use crate::transport::endpoint::EndpointInfo;
use crate::transport::proxied::{self, ReadHeader};
use crate::transport::{Transport, second};
use crate::{Config, Error, IoBackend, Protocol};
use frisbee_core::ServerConfig;
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

/// How many connections may wait to be accepted: as many as Linux allows by default. A fleet that reconnects at once
/// should find places, or try again a second later.
const BACKLOG: u32 = 4096;

/// A listening socket, and the treatment of its connections.
///
/// ```
/// use frisbee::{Handlers, Operation, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frisbee::Error> {
/// let echo = Operation::user(10).expect("operation should be in the range of users");
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
    /// Whether an io_uring may drive the connections that it accepts.
    const TAKES_RINGS: bool;

    /// Leaves the reactor it belongs to for that of the current runtime.
    fn move_to_current_runtime(&mut self) -> io::Result<()>;

    /// The next connection.
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(Transport, EndpointInfo)>>;
}

/// A listening TCP socket, and its address.
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
            // On Linux it has the option of its listener.
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
#[derive(Clone, Debug)]
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

/// The settings of further protocols, behind a pointer, so that programs compile no code that drops them.
#[derive(Clone, Debug, Default)]
struct ProtocolSettings {
    #[cfg_attr(not(feature = "tls"), allow(dead_code))]
    alpn: Vec<Vec<u8>>,
    adapters: Vec<ProtocolAdapter>,
    listeners: Vec<AdapterListener>,
}

impl Server<()> {
    /// A builder with the default settings.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            settings: ServerSettings::default(),
            log_settings: None,
            threads: None,
            proxied: None,
            added: Arc::default(),
            #[cfg(all(feature = "shm", target_os = "linux"))]
            shared_memory: None,
            #[cfg(feature = "tls")]
            tls: None,
            #[cfg(feature = "tls")]
            takes_plain: false,
        }
    }
}

settings! {
    /// Settings of a [`ServerBuilder`]. The fields are documented at the builder's methods of the same names.
    ///
    /// With the feature `serde`, any format of serde reads and writes them. Times are written as in `5s`, `250ms` or
    /// `2min`, sizes in bytes or as in `64KiB`. Unknown fields are errors.
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
    /// let error = Server::builder().settings(&settings).expect_err("a connection would close at once");
    /// assert_eq!(error.to_string(), "idle_timeout = 0ns: must be greater than zero");
    /// # Ok::<(), frisbee::SettingError>(())
    /// ```
    pub struct ServerSettings of ServerBuilder,
        |settings: &_| tracing::info!(target: "frisbee::server", ?settings, "settings of a server");

    /// Sets how long a client may take to send its first header. Default: 10 s.
    first_header_timeout: Duration = Duration::from_secs(10), with "humantime_serde";

    /// Sets how many bytes may be held for peers, over all connections. Default: 256 MiB.
    ///
    /// Held are bodies that arrive, messages of streams until they are read, requests while their handlers wait, what
    /// waits to be written, and the HELLO of a client as long as its connection, if it is longer than 4 KiB.
    ///
    /// Once half of the memory is held, each connection may hold as much as is left, and the connections of one
    /// address, which for IPv6 is a network of 64 bits, three times as much together. So one connection gets half of
    /// the memory at most and one address three quarters, and there is room for others, however many come. A connection
    /// that holds less than a 256th of the rest is served regardless of the others of its address.
    ///
    /// Requests and streams of a connection beyond its share are refused before their handlers begin, and the
    /// connection lives: fRPC's callers get `ResourceExhausted`. A [`Router`](crate::Router) decides for itself, by
    /// [`is_overloaded`](crate::Connection::is_overloaded) and [`discarded`](Protocol::discarded); unless it has
    /// another answer, as [`Handlers`](crate::Handlers) have not, the connection is closed. Work in progress may
    /// overdraw the memory by a request. A reply that does not fit is replaced by `ResourceExhausted`; other packets to
    /// such a connection fail with [`SendError::TooLong`](crate::SendError::TooLong) or wait. Memory of handlers
    /// themselves is not counted.
    memory_max: usize = MEMORY_MAX, with "frisbee_core::byte_size";

    /// Sets how many connections may be open that wait for the client's first packet, or for its part of a TLS
    /// handshake. Default: 4096.
    ///
    /// When one more comes, the oldest of them is closed as if its time for the first header, or for the handshake, had
    /// passed. So are some of them when the system has no file descriptor left for a new connection. Bytes that a
    /// client has sent by then are read before it is closed.
    silent_max: usize = SILENT_MAX;

    /// Sets how long a shutdown lets connections finish. Default: 20 s; orchestrators give 30 s before they kill.
    shutdown_timeout: Duration = Duration::from_secs(20), with "humantime_serde";

    /// Sets the age at which a connection is drained, within a tenth of it that varies at random. Default: any age.
    ///
    /// A native client gets GOING_AWAY, as in a [shutdown](Server::serve_with_shutdown): it makes new calls on a new
    /// connection, and this one is closed when nothing is in progress. New connections pass the load balancer, which
    /// may choose another server, and present their current certificate. [Adapter](Self::adapter) connections are
    /// [stopping](crate::AdapterContext::stopping). Go clients have no GOING_AWAY: their connections are closed when idle.
    ///
    /// ```
    /// use frisbee::Server;
    /// use std::time::Duration;
    ///
    /// let hour = Duration::from_secs(3600);
    /// let builder = Server::builder().max_connection_age(hour).max_connection_age_grace(hour / 60);
    /// ```
    max_connection_age: Option<Duration> = None, from Duration, with "humantime_serde";

    /// Sets how long work in progress may take after the [maximum age](Self::max_connection_age), until the connection
    /// is closed with [`CloseReason::MaxAge`](crate::CloseReason). Default: any time, so that no call is lost.
    max_connection_age_grace: Option<Duration> = None, from Duration, with "humantime_serde";

    /// Sets for how long each connection keeps its thread awake after something has happened on it. Default: not at
    /// all.
    ///
    /// Within that time, what arrives is answered at once, without the microseconds that waking a thread takes: for a
    /// few connections at a time that wait for each other's answers. It burns a core for as long as there is nothing
    /// to do, and slows down everything else that wants it. Clients that share memory make no system call to wake it then.
    busy_poll: Duration = Duration::ZERO, with "humantime_serde";

    /// Sets the threads that drive connections. Default: [`Workers::Caller`].
    workers: Workers = Workers::default(), threads start_threads;

    /// Sets the I/O interface of connections. Default: [`IoBackend::default`].
    io_backend: IoBackend = IoBackend::default();
}

impl ServerSettings {
    fn check(&self) -> Result<(), SettingError> {
        check_config(&self.connection)?;
        check_positive(&[("first_header_timeout", self.first_header_timeout)])?;
        check_positive(&[("memory_max", self.memory_max), ("silent_max", self.silent_max)])?;
        self.workers.check()?;
        check_positive(&[("max_connection_age", self.max_connection_age.unwrap_or(Duration::MAX))])
    }
}

impl ServerBuilder {
    /// Expects each connection to begin with a header of the PROXY protocol, version 1 or 2, with the address of a load
    /// balancer's client. Default: none is expected, and none is understood.
    ///
    /// From then on that address is [the peer's](crate::Connection::peer_addr): for routers and handlers, in the log, and
    /// for shares of [memory](Self::memory_max). It stays the address of the socket if the header states none, as those
    /// of checks of the balancer's own. The header comes before TLS. It is required, and has
    /// [`first_header_timeout`](Self::first_header_timeout): a connection without one is closed with a line in the log.
    ///
    /// **Every client of the port can state any address.** Let the load balancer alone reach it.
    ///
    /// Such connections are driven by tokio, whatever [`io_backend`](Self::io_backend) says.
    pub fn proxy_protocol(mut self) -> Self {
        self.proxied = Some(|io| Box::pin(proxied::read(io)));
        self
    }

    /// Offers further protocols by ALPN in handshakes of TLS, as [protocol adapters](Self::adapter) speak them. Default:
    /// none. Nothing is offered beyond the protocols in the settings of TLS, if these offer any.
    ///
    /// A client without ALPN is served as without this. One that requests others is refused by the handshake.
    pub fn alpn_protocols(mut self, protocols: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        Arc::make_mut(&mut self.added).alpn.extend(protocols.into_iter().map(Into::into));
        self
    }

    /// Shares memory with clients that offer to on a Unix socket: see [`shm`](crate::shm). Default: with none, and such a
    /// client connects again without an offer.
    ///
    /// Connections through memory are as any others: for limits, shutdowns, [`Stats`], credentials and workers. To a
    /// [protocol adapter](Self::adapter) the transport of every connection on the socket is a
    /// [`shm::Stream`](crate::shm::Stream) then. Other listeners are not affected.
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

    /// Speaks TLS on every connection. Default: no TLS.
    ///
    /// A connection gets 10 s for its handshake. Those whose client has not begun, or does not continue it, count for
    /// [`silent_max`](Self::silent_max); of the others at most 512 run at once, and the rest wait their turn within the
    /// same time. TLS is driven by tokio, whatever [`io_backend`](Self::io_backend) says.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::tls::ServerTls) -> Self {
        (self.tls, self.takes_plain) = (Some(tls), false);
        self
    }

    /// Speaks TLS on connections that begin with its handshake, and serves others in plain text on the same port. In
    /// place of [`tls`](Self::tls), whose limits apply to the connections with TLS.
    ///
    /// Nothing forces a client to use TLS then, nor to present a certificate: that is the concern of the router, which
    /// can check [`peer_certificates`](crate::Connection::peer_certificates). TLS may carry adapters protocols, as plain
    /// connections may, but is not TLS once more.
    ///
    /// Plain connections cost the same as without TLS, also on io_uring. Those with TLS are driven by tokio: by the
    /// accepting worker, or by the caller's runtime if that was a ring.
    #[cfg(feature = "tls")]
    pub fn tls_or_plain(mut self, tls: crate::tls::ServerTls) -> Self {
        (self.tls, self.takes_plain) = (Some(tls), true);
        self
    }

    /// Binds a listening socket at `host:port`; port 0 is a free one. For several protocols, see [`Mounts`](crate::Mounts).
    ///
    /// # Errors
    /// If no address can be bound, or the router finds something [wrong](Protocol::check) with itself.
    ///
    /// # Cancel safety
    /// Dropping the future binds nothing.
    pub async fn bind<R: Protocol>(
        self,
        address: impl ToSocketAddrs + fmt::Debug,
        router: R,
    ) -> Result<Server<R>, Error> {
        router.check()?;
        let name = format!("{address:?}");
        let addresses = lookup_host(address).await.map(Iterator::collect);
        self.bind_resolved(name, addresses, router)
    }

    /// Binds the first of addresses that were looked up, as [`bind`](Self::bind) does. `name` is their name in errors.
    ///
    /// # Errors
    /// If the lookup has failed, or no address can be bound.
    pub fn bind_resolved<R: Protocol>(
        self,
        name: String,
        addresses: io::Result<Vec<SocketAddr>>,
        router: R,
    ) -> Result<Server<R>, Error> {
        let listener = addresses.and_then(listen).map_err(|source| Error::Bind { address: name, source })?;
        let local = listener.local_addr().map_err(Error::Workers)?;
        Ok(self.bound(TcpSocketListener { listener, local }, router))
    }

    /// Binds a Unix socket at `path`, with the permissions that the umask leaves: a process that may write to the file
    /// may connect. A socket file without a listener is replaced. The file is removed when the server is dropped.
    ///
    /// # Errors
    /// If another process listens there, the path is not a socket, the system refuses, memory is to be shared by rings that
    /// there cannot be, or the router reports a [defect](Protocol::check).
    ///
    /// # Cancel safety
    /// The future is ready at once.
    #[cfg(unix)]
    pub async fn bind_unix<R: Protocol>(self, path: impl AsRef<Path>, router: R) -> Result<UnixServer<R>, Error> {
        router.check()?;
        let path = path.as_ref();
        let failed = |source| Error::Bind { address: path.display().to_string(), source };
        let sharing = self.sharing().map_err(failed)?;
        let listener = UnixSocket::bind(path).map_err(failed)?.sharing(sharing);
        Ok(self.bound(listener, router))
    }

    /// Makes a server without a socket, for connections that the user brings. They are driven by the runtime that
    /// they are brought in, and handlers run in the current one.
    ///
    /// # Errors
    /// If the router finds something [wrong](Protocol::check) with itself.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn build<R: Protocol>(self, router: R) -> Result<Acceptor<R>, Error> {
        router.check()?;
        Ok(Acceptor(self.bound((), router).into_host().1))
    }

    /// What its Unix sockets share with their clients.
    #[cfg(unix)]
    fn sharing(&self) -> io::Result<Option<Sharing>> {
        #[cfg(all(feature = "shm", target_os = "linux"))]
        // As of a client: see `ClientBuilder::offers_memory`.
        return self
            .shared_memory
            .clone()
            .map(|sharing| sharing.spin_at_least(self.settings.busy_poll).sharing())
            .transpose();
        #[cfg(not(all(feature = "shm", target_os = "linux")))]
        Ok(None)
    }

    fn bound<L, R: Protocol>(self, listener: L, router: R) -> Server<R, L> {
        let settings = &self.settings;
        self.log_settings.iter().for_each(|log| log(settings));
        let budget = Arc::new(Budget::new(settings.memory_max, settings.connection.stream_buffer_max));
        Server { listener, budget, open: Arc::default(), builder: self, router: Arc::new(router) }
    }
}

impl<R: Protocol> Server<R> {
    /// The address that is listened on, with the port that the system chose for port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.listener.local
    }
}

impl<R: Protocol, L: Listener> Server<R, L> {
    /// The counts of the server's connections, which may be read at any time.
    pub fn stats(&self) -> Stats {
        Stats(self.budget.clone())
    }

    /// Shows the connections and workers while the server runs, and their work in progress.
    pub fn inspector(&self) -> Inspector {
        Inspector { budget: self.budget.clone(), open: self.open.clone() }
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    /// If the workers cannot be started, or io_uring is required and does not work. Failures to accept are retried.
    ///
    /// # Cancel safety
    /// Dropping the future closes every connection at once.
    pub async fn serve(self) -> Result<(), Error> {
        self.serve_with_shutdown(pending()).await
    }

    /// Serves until `shutdown` is ready, then accepts no more, lets connections finish their work in progress and
    /// closes each when it is idle.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    ///
    /// # Cancel safety
    /// As [`serve`](Self::serve).
    pub async fn serve_with_shutdown(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        let ServerBuilder { settings: ServerSettings { workers, io_backend, .. }, threads, .. } = self.builder;
        let rings = self.takes_rings().then_some(workers);
        let pool = WorkerPool::start(workers, threads, io_backend, rings).map_err(Error::Workers)?;
        let (listener, host) = self.into_host();
        // It is the only one who sets them.
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
        drop(listening);
        host.drain().await;
        Ok(())
    }

    /// Rings carry plain TCP.
    fn takes_rings(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.builder.tls.is_some() && !self.builder.takes_plain {
            return false;
        }
        L::TAKES_RINGS && self.builder.proxied.is_none()
    }
}

impl<R: Protocol, L> Server<R, L> {
    fn into_host(self) -> (L, Arc<ServerShared<R>>) {
        let Self { listener, budget, open, builder, router } = self;
        let (settings, added) = (builder.settings, Arc::unwrap_or_clone(builder.added));
        let config = ServerConfig::from(settings.connection)
            .first_header_timeout(settings.first_header_timeout)
            .served(router.operations().into())
            .hello_items(router.hello_items().into_iter().collect());
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

/// Listens on the first of the addresses that can be bound.
fn listen(addresses: Vec<SocketAddr>) -> io::Result<TcpListener> {
    let none = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name resolves to no address"));
    addresses.into_iter().fold(none, |bound, address| bound.or_else(|_| listen_on(address)))
}

/// As `TcpListener::bind` does, which lets 128 connections wait.
fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows it would let others listen on the same port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    #[cfg(target_os = "linux")]
    set_options(&socket)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Sets the options of a listening socket, which its connections inherit.
#[cfg(target_os = "linux")]
fn set_options(listener: &impl std::os::fd::AsFd) -> io::Result<()> {
    let listener = socket2::SockRef::from(listener);
    // Every write of its connections is a batch already; holding it back for more would only add delay.
    listener.set_tcp_nodelay(true)?;
    // Protocols of adapters have no PING, and the hosts of their clients may vanish. A minute of silence is usual; then the
    // system probes, by default nine times.
    let probes = socket2::TcpKeepalive::new().with_time(Duration::from_secs(60)).with_interval(Duration::from_secs(10));
    listener.set_tcp_keepalive(&probes)
}
