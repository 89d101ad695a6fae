//! Client end of connections: connects to servers, performs TLS handshakes and starts the drivers.

mod dial;

pub use dial::connect_tcp;
#[cfg(unix)]
pub use dial::connect_unix;

use crate::account::Budget;
use crate::clock::{now, tokio_timer};
use crate::connection::Connection;
use crate::executor::tasks::Job;
use crate::executor::workers::{StartThreads, Worker, Workers, shared_threads, wake_queue};
use crate::runtime::busy::BusyPoll;
use crate::runtime::engine::Engine;
use crate::runtime::pool::WorkerPool;
use crate::runtime::tokio::Driver;
use crate::settings::{MEMORY_MAX, SettingError, check_config, settings};
use crate::transport::Transport;
use crate::transport::endpoint::EndpointInfo;
use crate::transport::raw::RawTransport;
use crate::{Config, Error, HeaderForm, IoBackend, MountError, Router};
use dial::open_socket;
use frisbee_core::{ClientConfig, HelloItems, Operations};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::ToSocketAddrs;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Entry point for connecting to servers.
///
/// [`Client::builder`] configures and creates a [`Connection`]. Packets from the server are passed to a
/// [`Router`](crate::Router).
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Server};
/// use frisbee_requests::Requester;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = Operation::user(10).expect("operation number should be in the user range");
/// # let router = Handlers::new().on(echo, |_connection, packet| async { Some(packet) });
/// # let server = Server::builder().bind("127.0.0.1:0", router).await?;
/// # let address = server.local_addr();
/// # tokio::spawn(server.serve());
/// // This router pairs the replies with the requests.
/// let requests = Requester::new();
/// let connection = Client::builder().connect(address, requests.clone()).await?;
/// let reply = requests.call(&connection, echo, "hello").await?;
/// assert_eq!(reply.body, "hello");
/// connection.close();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Client(());

/// Builder of client connections.
///
/// ```
/// use frisbee::{Client, Config};
/// use std::time::Duration;
///
/// let config = Config::default().idle_timeout(Duration::from_secs(30));
/// let builder = Client::builder().config(config).connect_timeout(Duration::from_secs(3)).memory_max(64 << 20);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ClientBuilder {
    pub(crate) settings: ClientSettings,
    pub(crate) log_settings: Option<fn(&ClientSettings)>,
    threads: Option<StartThreads>,
    /// Shared-memory settings for connections to Unix sockets. If `None`, `unix+shm:` addresses use the default
    /// settings.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    shared_memory: Option<crate::shm::Connector>,
    #[cfg(feature = "tls")]
    tls: Option<crate::tls::ClientTls>,
    #[cfg(feature = "tls")]
    server_name: Option<String>,
}

impl Client {
    /// Checks the syntax of an address for [`connect`](ClientBuilder::connect): `host:port`, `unix:` followed by a path
    /// on Unix, or `unix+shm:` followed by a path on Linux. Does not resolve the name or connect.
    ///
    /// # Errors
    /// If the address is malformed.
    pub fn check_address(address: &str) -> Result<(), Error> {
        let Some(defect) = address_defect(address) else { return Ok(()) };
        let source = io::Error::new(io::ErrorKind::InvalidInput, defect);
        Err(Error::Connect { address: address.to_owned(), source })
    }

    /// Creates a builder with the default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }
}

settings! {
    /// Settings of a [`ClientBuilder`], like [`ServerSettings`](crate::ServerSettings) for servers.
    pub struct ClientSettings of ClientBuilder,
        |settings: &_| tracing::info!(target: "frisbee::client", ?settings, "settings of a client");

    /// Sets the timeout for connecting, including name resolution. Defaults to 10 s.
    connect_timeout: Duration = Duration::from_secs(10), with "humantime_serde";

    /// Sets the timeout for detecting whether the server supports the [protocol extension](crate::PeerKind). Defaults
    /// to 5 s. A Go server replies to a PING immediately.
    peer_kind_timeout: Duration = Duration::from_secs(5), with "humantime_serde";

    /// Sets the maximum total size of unread stream messages on the connection. Defaults to 256 MiB.
    memory_max: usize = MEMORY_MAX, with "frisbee_core::byte_size";

    /// Sets how long the connection busy-polls after activity. Defaults to zero. With shared memory, the server then
    /// wakes the connection without a system call. See [`ServerBuilder::busy_poll`](crate::ServerBuilder::busy_poll).
    busy_poll: Duration = Duration::ZERO, with "humantime_serde";

    /// Sets the threads that drive the connection. Defaults to [`Workers::Caller`], which is the current tokio runtime.
    ///
    /// Other workers are shared by all clients of the process. Bytes then cross threads, which increases the processor
    /// time of a call by at least half. In return, PINGs, streams and other packets are handled even while tasks of the
    /// current runtime keep its threads busy. With a thousand busy connections, none starves, as can happen on tokio's
    /// multi-thread runtime.
    ///
    /// Futures that handlers await or spawn always run on the current runtime, and the connection closes when that
    /// runtime shuts down. However, handlers are first polled on a worker thread. A handler that computes or blocks
    /// there delays all connections of the thread, even of other clients, and tokio's `block_in_place` panics. Pausing
    /// the clock of a test runtime does not affect workers.
    ///
    /// The first client that sets a number of threads starts them, and they inherit the processor affinity of its
    /// thread. They do not exist in a forked child process.
    workers: Workers = Workers::Caller, threads shared_threads;

    /// Sets the I/O interface of the connection. The default and [`IoBackend::Auto`] use the current tokio runtime,
    /// unless other [`workers`](Self::workers) are set.
    ///
    /// [`IoBackend::Uring`] uses threads shared by all such connections of the process. Bytes then cross threads, which
    /// only pays off with a very large number of calls in flight.
    io_backend: IoBackend = IoBackend::default();

    /// Sets the format of packet headers. Use [`HeaderForm::Old`] for servers on frisbee-go up to v0.10.2.
    header_form: HeaderForm = HeaderForm::Current;
}

impl ClientSettings {
    fn check(&self) -> Result<(), SettingError> {
        check_config(&self.connection)?;
        SettingError::check_positive(&[
            ("connect_timeout", self.connect_timeout),
            ("peer_kind_timeout", self.peer_kind_timeout),
        ])?;
        SettingError::check_positive(&[("memory_max", self.memory_max)])?;
        self.workers.check()
    }
}

impl ClientBuilder {
    /// Offers shared memory to servers on Unix sockets, even if the address starts with `unix:`. By default it is only
    /// offered if the address starts with `unix+shm:`, with the settings of
    /// [`Connector::new`](crate::shm::Connector::new).
    ///
    /// If the server does not accept shared memory, the connection uses the socket; see [`shm`](crate::shm).
    ///
    /// ```no_run
    /// use frisbee::{Client, Handlers, shm::Connector};
    /// use std::time::Duration;
    ///
    /// # async fn example() -> Result<(), frisbee::Error> {
    /// let connector = Connector::new().spin(Duration::from_micros(20));
    /// let builder = Client::builder().shared_memory(connector);
    /// let connection = builder.connect("unix:/run/service.sock", Handlers::new()).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(all(feature = "shm", target_os = "linux"))]
    pub fn shared_memory(mut self, connector: crate::shm::Connector) -> Self {
        self.shared_memory = Some(connector);
        self
    }

    /// Enables TLS. Disabled by default. TLS connections are driven by tokio regardless of the
    /// [`io_backend`](Self::io_backend).
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::tls::ClientTls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sets the expected name in the server's certificate. Defaults to the host of the address.
    #[cfg(feature = "tls")]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Connects to `host:port`, such as `"localhost:8080"`, or on Unix to a socket path such as
    /// `unix:/run/service.sock`. The connection is driven by the current tokio runtime, unless other
    /// [`workers`](Self::workers) are set. If a name resolves to several addresses, the next one is tried when the
    /// previous one has failed or has not accepted within 250 ms. The first accepted connection is used.
    ///
    /// On Linux, with the feature `shm`, an address such as `unix+shm:/run/service.sock` offers shared memory to the
    /// server. The connection uses the socket if the server does not accept it.
    ///
    /// With TLS, this also waits until the kind of the server is known, which takes another round trip. Until then, the
    /// server may still reject the client's certificate.
    ///
    /// The connection stays open until it is [closed](Connection::close). Dropping the returned handle does not close
    /// it.
    ///
    /// # Errors
    /// If no address accepts the connection in time, the TLS handshake fails, io_uring is required but not available, a
    /// setting that must not be zero is zero, or the router reports a [defect](crate::Declaration::check).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes its sockets.
    pub async fn connect<R: Router>(
        self,
        address: impl ToSocketAddrs + fmt::Display,
        router: R,
    ) -> Result<Connection, Error> {
        self.connect_shared(address, Arc::new(router)).await
    }

    /// Like [`connect`](Self::connect), but shares the router with other connections.
    ///
    /// # Errors
    /// Same as [`connect`](Self::connect).
    ///
    /// # Cancel safety
    /// Same as [`connect`](Self::connect).
    pub async fn connect_shared<R: Router>(
        self,
        address: impl ToSocketAddrs + fmt::Display,
        router: Arc<R>,
    ) -> Result<Connection, Error> {
        let router = CheckedRouter::new(router)?;
        self.settings.check()?;
        let name = address.to_string();
        let timeout = self.settings.connect_timeout;
        let connected = tokio::time::timeout(timeout, self.dial(address, name.clone(), router)).await;
        connected.unwrap_or_else(|_| Err(Error::ConnectTimeout { address: name }))
    }

    /// Creates a connection over any byte stream, such as [`memory`](crate::memory). It is driven by the current tokio
    /// runtime, unless other [`workers`](Self::workers) are set.
    ///
    /// With TLS, the handshake is performed first, and `server_name` must be set. Tokio sockets are moved to their
    /// worker. Types that wrap a socket stay registered with the current runtime.
    ///
    /// # Errors
    /// If the TLS handshake fails or exceeds the connect timeout, or the router reports a
    /// [defect](crate::Declaration::check).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and drops the transport.
    pub async fn connect_io<T, R>(self, io: T, router: R) -> Result<Connection, Error>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        R: Router,
    {
        let name = String::from("the given transport");
        let router = CheckedRouter::new(Arc::new(router))?;
        self.settings.check()?;
        let timeout = self.settings.connect_timeout;
        let pool = self.pool(false).map_err(|source| Error::Connect { address: name.clone(), source })?;
        let (io, ends) = (Transport::of(io), EndpointInfo::default());
        let connecting = self.begin(io, ends, name.clone(), router, pool.least());
        let connected = tokio::time::timeout(timeout, connecting).await;
        connected.unwrap_or_else(|_| Err(Error::ConnectTimeout { address: name }))
    }

    async fn dial<R: Router>(
        self,
        address: impl ToSocketAddrs,
        name: String,
        router: CheckedRouter<R>,
    ) -> Result<Connection, Error> {
        Client::check_address(&name)?;
        let failed = |source| Error::Connect { address: name.clone(), source };
        #[cfg(all(feature = "shm", target_os = "linux"))]
        if let Some((path, connector)) = self.offers_memory(&name) {
            let pool = self.pool(false).map_err(failed)?;
            let stream = connector.connect(path).await.map_err(failed)?;
            let ends = crate::transport::unix::ends(stream.peer_credentials());
            return self.begin(Transport::Shared(stream), ends, name, router, pool.least()).await;
        }
        let is_path = cfg!(unix) && name.starts_with("unix:");
        // Start the worker threads before opening a socket, so that none is opened if this fails.
        let pool = self.pool(!is_path && !self.is_secured()).map_err(failed)?;
        let (io, ends) = open_socket(address, &name).await.map_err(failed)?;
        #[cfg(all(feature = "uring", target_os = "linux"))]
        let io = match (&pool, io) {
            (WorkerPool::Rings(rings), Transport::Tcp(socket)) => {
                // Deregister the socket from tokio's reactor, because an io_uring worker performs its I/O.
                let socket = socket.into_std().map_err(failed)?;
                let (handle, engine) = self.prepare(ends, router, now());
                rings.drive(socket, |_| engine, Handle::current(), self.settings.busy_poll, tie(&handle));
                return Ok(handle);
            }
            (_, io) => io,
        };
        self.begin(io, ends, name, router, pool.least()).await
    }

    /// Connects to `host:port`, or on Unix to a socket path such as `unix:/run/service.sock`. Returns the transport,
    /// for a client of another protocol. With TLS, the handshake offers the given ALPN protocols.
    ///
    /// # Errors
    /// If no address accepts the connection in time, or the TLS handshake fails.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes its sockets.
    pub async fn connect_transport(&self, address: &str, protocols: &[&str]) -> Result<RawTransport, Error> {
        Client::check_address(address)?;
        let name = || address.to_owned();
        let connecting = async {
            let opened = open_socket(address, address).await;
            let (io, _) = opened.map_err(|source| Error::Connect { address: name(), source })?;
            #[cfg(feature = "tls")]
            if let Some(tls) = &self.tls {
                let tls = tls.clone().alpn_protocols(protocols.iter().copied());
                let secured = io.connect_tls(&tls, address, self.server_name.as_deref()).await;
                let ((secured, _), _) = secured.map_err(|source| Error::Tls { address: name(), source })?;
                return Ok(RawTransport::whole(secured));
            }
            let _ = protocols;
            Ok(RawTransport::whole(io))
        };
        let connected = tokio::time::timeout(self.settings.connect_timeout, connecting).await;
        connected.unwrap_or_else(|_| Err(Error::ConnectTimeout { address: name() }))
    }

    /// Returns the socket path and the shared-memory connector if the client is configured to offer shared memory to
    /// `address`.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    fn offers_memory<'a>(&self, address: &'a str) -> Option<(&'a str, crate::shm::Connector)> {
        let (path, connector) = match (address.strip_prefix("unix+shm:"), &self.shared_memory) {
            (Some(path), connector) => (path, connector.clone().unwrap_or_default()),
            (None, Some(connector)) => (address.strip_prefix("unix:")?, connector.clone()),
            (None, None) => return None,
        };
        // Announce the busy-poll duration, so that the peer does not wake a driver that is busy-polling.
        Some((path, connector.spin_at_least(self.settings.busy_poll)))
    }

    fn pool(&self, takes_rings: bool) -> io::Result<WorkerPool> {
        let rings = takes_rings.then_some(Workers::Caller);
        WorkerPool::start(self.settings.workers, self.threads, self.settings.io_backend, rings)
    }

    /// Returns whether TLS is enabled.
    pub fn is_secured(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    /// Starts a connection over a transport. If the client uses workers, a worker drives it.
    async fn begin<R: Router>(
        self,
        io: Transport,
        ends: EndpointInfo,
        name: String,
        router: CheckedRouter<R>,
        worker: Option<&Worker>,
    ) -> Result<Connection, Error> {
        let not_moved = |source| Error::Connect { address: name.clone(), source };
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let failed = |error| Error::Tls { address: name.clone(), source: error };
            let connected = io.connect_tls(tls, &name, self.server_name.as_deref()).await;
            let ((secured, certificates), may_be_refused) = connected.map_err(failed)?;
            let ends = EndpointInfo { certificates, ..ends };
            // With TLS 1.3, a server rejects the certificate only after the handshake, so wait for its first packet.
            let waits = may_be_refused && self.settings.connection.hello;
            let handle = self.drive(secured, ends, router, worker).map_err(not_moved)?;
            if waits {
                // Abort the connection if this future is dropped while it waits. Otherwise, the connection would stay
                // open although the caller has no handle to it.
                let mut unclaimed = AbortOnDrop(Some(handle.clone()));
                if let Err(crate::SendError::Closed(reason)) = handle.peer_known().await {
                    return Err(match crate::tls::TlsError::of(&reason) {
                        Some(error) => failed(error),
                        None => Error::Connect { address: name, source: io::Error::other(reason.to_string()) },
                    });
                }
                unclaimed.0 = None;
            }
            return Ok(handle);
        }
        self.drive(io, ends, router, worker).map_err(not_moved)
    }

    /// Spawns the driver of the connection. Fails if the transport cannot be moved to its worker.
    fn drive<R: Router>(
        self,
        io: Transport,
        ends: EndpointInfo,
        router: CheckedRouter<R>,
        worker: Option<&Worker>,
    ) -> io::Result<Connection> {
        let (busy, buffers) = (BusyPoll::new(self.settings.busy_poll), io.buffers());
        let (io, now, timer) = {
            // Enter the worker's runtime, because sockets and timers register with the current runtime. In another
            // runtime, each event would have to wake the driver across threads.
            let _entered = worker.map(|worker| worker.handle().enter());
            (if worker.is_some() { io.moved()? } else { io }, now(), tokio_timer())
        };
        let (handle, engine) = self.prepare(ends, router, now);
        let (caller, tied) = (Handle::current(), worker.map(|worker| (worker.driven(), tie(&handle))));
        let mut driver = Driver::new(io, engine, worker.map(|_| caller.clone()), timer, busy).buffering(buffers);
        if worker.is_none() {
            driver = driver.among_callers();
        }
        let driving = async move {
            // When the driver completes, dropping `_tied` ends the task of `tie`, which holds a handle to the
            // connection.
            let _tied = tied;
            if let Err(ended) = driver.run().await.done() {
                ended.hand_over_in_task().await;
            }
        };
        wake_queue::spawn(&caller, worker, driving);
        Ok(handle)
    }

    /// Creates the handle and the protocol engine of a connection. Calls the router's `connected` before the driver
    /// starts.
    fn prepare<R: Router>(
        &self,
        ends: EndpointInfo,
        CheckedRouter { router, operations, hello_items }: CheckedRouter<R>,
        now: Instant,
    ) -> (Connection, Engine<R>) {
        let settings = &self.settings;
        self.log_settings.iter().for_each(|log| log(settings));
        let config = ClientConfig::from(settings.connection.clone())
            .header_form(settings.header_form)
            .peer_kind_timeout(settings.peer_kind_timeout)
            .operations(operations)
            .hello_items(hello_items);
        tracing::debug!(peer = ?ends.peer, "connected");
        let budget = Arc::new(Budget::new(settings.memory_max, settings.connection.stream_buffer_max));
        let handle = Connection::client(&config, budget, Handle::current(), ends);
        let core = frisbee_core::Connection::client(&config, now);
        let engine = Engine::new(core, router, handle.clone());
        (handle, engine)
    }
}

/// A router whose declaration is valid, and the parts of the declaration that its connections need.
struct CheckedRouter<R> {
    router: Arc<R>,
    operations: Option<Arc<Operations>>,
    hello_items: HelloItems,
}

impl<R: Router> CheckedRouter<R> {
    fn new(router: Arc<R>) -> Result<Self, MountError> {
        let declaration = router.declaration();
        declaration.check()?;
        let calls = declaration.calls;
        let operations = (!calls.is_empty()).then(|| Arc::new(Operations { served: Vec::new(), calls }));
        let hello_items = declaration.hello_items.into_iter().collect();
        Ok(Self { router, operations, hello_items })
    }
}

/// Closes the connection when the caller's runtime shuts down, because the connection's tasks run there even if a
/// worker drives it. The caller must drop the returned sender when the connection has ended.
fn tie(connection: &Connection) -> oneshot::Sender<()> {
    let (driven, is_driven) = oneshot::channel::<()>();
    let tied = AbortOnDrop(Some(connection.clone()));
    let tie: Job = Box::pin(async move {
        let _tied = tied;
        let _ = is_driven.await;
    });
    tokio::spawn(tie);
    driven
}

/// Guard that aborts a connection unless it was returned to the caller. Covers failed and cancelled connection
/// attempts.
struct AbortOnDrop(Option<Connection>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(connection) = &self.0 {
            connection.abort_with_work();
        }
    }
}

/// Describes the problem of a malformed address. Returns `None` if the address is well-formed.
fn address_defect(address: &str) -> Option<&'static str> {
    if address.starts_with("unix+shm:") {
        if cfg!(not(target_os = "linux")) {
            return Some("shared memory needs Linux; use unix: and a path elsewhere");
        }
        if cfg!(not(feature = "shm")) {
            return Some("an address with unix+shm: needs the feature shm of frisbee, or of frpc");
        }
    }
    #[cfg(unix)]
    if let Some(path) = address.strip_prefix("unix:").or_else(|| address.strip_prefix("unix+shm:")) {
        let is_path = std::os::unix::net::SocketAddr::from_pathname(path).is_ok();
        return match path {
            "" => Some("the path of a socket is missing after unix: or unix+shm:"),
            _ if !is_path => Some("the path of a socket is at most 107 bytes long, without a zero among them"),
            _ => None,
        };
    }
    if address.contains("://") {
        return Some("an address must be host:port, without a scheme");
    }
    match address.rsplit_once(':') {
        None => Some("an address must be host:port; the port is missing"),
        Some(("", _)) => Some("an address must be host:port; the host is missing"),
        Some((host, _)) if host.contains(char::is_whitespace) => Some("the host contains a space"),
        Some((_, port)) => match port.parse::<u16>() {
            Err(_) => Some("the port is not a number up to 65535"),
            Ok(0) => Some("a server cannot listen on port 0"),
            Ok(_) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_error_names_missing_feature() {
        let wrong = address_defect("unix+shm:/run/service.sock");
        if cfg!(all(feature = "shm", target_os = "linux")) {
            assert_eq!(wrong, None);
            assert!(address_defect("unix+shm:").is_some_and(|wrong| wrong.contains("is missing")));
        } else {
            let missing = if cfg!(target_os = "linux") { "feature shm" } else { "needs Linux" };
            assert!(wrong.is_some_and(|wrong| wrong.contains(missing)), "{wrong:?}");
        }
    }

    #[cfg(all(feature = "shm", target_os = "linux"))]
    #[test]
    fn busy_poll_sets_shared_memory_spin() {
        use crate::shm::Connector;
        let [short, long] = [5, 7].map(Duration::from_millis);
        let spins = |builder: ClientBuilder| format!("{:?}", builder.offers_memory("unix+shm:/socket"));
        let expected = |spin| format!("{:?}", Some(("/socket", Connector::new().spin(spin))));
        let busy = Client::builder().busy_poll(short);
        assert_eq!(spins(busy.clone()), expected(short));
        assert_eq!(spins(busy.shared_memory(Connector::new().spin(long))), expected(long));
        assert_eq!(spins(Client::builder()), expected(Duration::ZERO));
    }
}
