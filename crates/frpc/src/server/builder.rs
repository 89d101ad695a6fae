//! Configuration of servers, and the functions that bind them.

#[cfg(unix)]
use super::UnixServer;
use super::adapter::peers::AdapterPeers;
use super::adapter::{AdapterContext, AdapterSetup};
use super::{Acceptor, Server};
use crate::api::hints::UnboundAddress;
use crate::debug::opaque_debug;
use crate::endpoint::Endpoint;
use crate::endpoint::offer::{OfferBuilder, ServiceOffer, offering_setters};
use crate::settings::{connection_setters, forwarded_setters};
use crate::{Error, Middleware, Policy};
use frisbee::{ServerSettings, SettingError};
use std::fmt;
use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{ToSocketAddrs, lookup_host};

type Binding = dyn FnOnce(io::Result<Vec<SocketAddr>>) -> Result<Server, Error> + Send;

impl Server {
    /// Creates a server builder with the default settings.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            inner: frisbee::Server::builder(),
            offering: Arc::default(),
            log_settings: None,
            adapters: Vec::new(),
            invalid: None,
        }
    }
}

/// Builder of a [`Server`].
///
/// ```
/// use samples::greeter::{GreeterClient, GreeterServer, Name};
/// use frpc::{Config, Policy, Server};
/// use std::time::Duration;
/// # use samples::started::Polite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder()
///     .config(Config::default().idle_timeout(Duration::from_secs(30)))
///     .memory_max(64 << 20)
///     .max_connection_age(Duration::from_secs(3600))
///     .shutdown_timeout(Duration::from_secs(10))
///     .method_policy("greeter.Greeter/Greet", Policy::AtMost(16))
///     .add_service(GreeterServer::new(Polite))
///     .bind("127.0.0.1:0")
///     .await?;
/// # let client = server.local_addr().to_string();
/// # tokio::spawn(server.serve());
/// # let client = GreeterClient::connect(client).await?;
/// # client.greet(Name { name: "Ada".to_owned() }).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct ServerBuilder {
    pub(crate) inner: frisbee::ServerBuilder,
    pub(crate) offering: Arc<OfferBuilder>,
    pub(crate) log_settings: Option<fn(&Self)>,
    adapters: Vec<AdapterSetup>,
    /// First error that an extension has reported by [`reject_setting`](Self::reject_setting).
    invalid: Option<SettingError>,
}

opaque_debug!([] ServerBuilder, "ServerBuilder", |this| inner = this.inner, offering = this.offering);

offering_setters!(ServerBuilder);
connection_setters!(ServerBuilder, |builder: &Self| {
    tracing::info!(target: "frpc::server", settings = ?builder.to_settings(), "settings of a server");
});

forwarded_setters! { ServerBuilder:
    /// Sets the timeout for receiving the first packet header of a client. Defaults to 10 s.
    first_header_timeout(timeout: Duration);

    /// Sets the maximum number of bytes buffered for clients, over all connections. Defaults to 256 MiB. Requests that
    /// would exceed it fail with `ResourceExhausted` before a handler runs; see [`frisbee::ServerBuilder::memory_max`].
    memory_max(bytes: usize);

    /// Sets the maximum memory used for connection state, excluding buffered data. Defaults to 512 MiB. A connection
    /// counts 4 KiB, or 28 KiB if TLS is configured, and more in protocols other than the native one; see
    /// [`frisbee::ServerBuilder::connection_memory_max`].
    connection_memory_max(bytes: usize);

    /// Sets the maximum number of open connections from clients that have not yet sent their first packet or completed
    /// the TLS handshake. Defaults to 4096. Beyond this, each new connection evicts an old one; see
    /// [`frisbee::ServerBuilder::silent_max`].
    silent_max(count: usize);

    /// Requires every connection to start with a PROXY protocol header (version 1 or 2). A load balancer states the
    /// address of its client in it. Calls, logs and memory limits use this address. Disabled by default. **Only the
    /// load balancer may have access to the port**; see [`frisbee::ServerBuilder::proxy_protocol`].
    proxy_protocol();

    /// Sets how long the server still accepts connections after a shutdown has begun. Defaults to zero. During this
    /// time, health services report NOT_SERVING and `/readyz` of a gateway returns 503, so that load balancers stop
    /// choosing this server before its socket closes; see [`frisbee::ServerBuilder::drain_delay`].
    drain_delay(time: Duration);

    /// Sets the maximum duration of a graceful shutdown. Remaining connections are then closed. Defaults to 20 s.
    shutdown_timeout(timeout: Duration);

    /// Sets the maximum age of connections. Older ones are drained. The actual age varies randomly by up to 10 %.
    /// Unlimited by default.
    ///
    /// No call is lost: the client makes new calls on a new connection, and the old one closes when its calls have
    /// ended. Connections of other protocols are drained with GOAWAY in HTTP/2, `connection: close` in HTTP/1.1, and
    /// code 1001 in WebSocket. See [`frisbee::ServerBuilder::max_connection_age`].
    max_connection_age(age: Duration);

    /// Sets how long calls in progress may continue after a connection has reached its [maximum
    /// age](Self::max_connection_age) before the connection is closed. Unlimited by default.
    max_connection_age_grace(grace: Duration);

    /// Offers additional protocols by ALPN in TLS handshakes; see [`frisbee::ServerBuilder::alpn_protocols`].
    alpn_protocols(protocols: impl IntoIterator<Item = impl Into<Vec<u8>>>);

    /// Accepts shared memory from clients on a Unix socket that offer it; see
    /// [`frisbee::ServerBuilder::shared_memory`]. Disabled by default.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    shared_memory(sharing: crate::shm::ListenerBuilder);

    /// Requires TLS on every connection; see [`frisbee::ServerBuilder::tls`]. Disabled by default.
    #[cfg(feature = "tls")]
    tls(tls: frisbee::tls::ServerTls);

    /// Accepts both TLS and plaintext connections on the same port; see [`frisbee::ServerBuilder::tls_or_plain`].
    /// Replaces [`tls`](Self::tls). Calls on plaintext connections have no
    /// [`peer_certificates`](crate::Request::peer_certificates), so a middleware can reject them.
    #[cfg(feature = "tls")]
    tls_or_plain(tls: frisbee::tls::ServerTls);
}

impl ServerBuilder {
    /// Applies all settings, replacing the settings of previous method calls.
    ///
    /// # Errors
    /// If a setting is out of range or contradicts another one.
    pub fn settings(mut self, settings: &ServerSettings) -> Result<Self, SettingError> {
        self.inner = self.inner.settings(settings)?;
        Ok(self)
    }

    /// Returns the current settings.
    pub fn to_settings(&self) -> ServerSettings {
        self.inner.to_settings()
    }

    /// Adds a middleware around the calls of all services, inside of the existing ones. Calls that request a
    /// [hand-off](crate::hand_off) are included.
    ///
    /// To add middleware to a single service or method, call a method of the service, as in this example. Such
    /// middleware runs inside of the middleware of the server:
    ///
    /// ```
    /// use samples::greeter::GreeterServer;
    /// use frpc::{Call, CallResponse, Next, Server, Status};
    /// # use samples::started::Polite;
    ///
    /// async fn log(call: Call, next: Next) -> Result<CallResponse, Status> {
    ///     println!("{}/{}", call.service(), call.method());
    ///     next.run(call).await
    /// }
    ///
    /// async fn admit(call: Call, next: Next) -> Result<CallResponse, Status> {
    ///     let admitted = call.metadata().get("tenant").is_some();
    ///     if admitted { next.run(call).await } else { Err(Status::unauthenticated("no tenant")) }
    /// }
    ///
    /// // `log` runs first, around the calls of all services. `admit` runs only around calls of `Greet`.
    /// let service = GreeterServer::new(Polite).with_method_middleware("Greet", admit);
    /// let server = Server::builder().middleware(log).add_service(service);
    /// ```
    ///
    /// **Middleware does not run around mounted routers.**
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.offering().chain.push(middleware);
        self
    }

    /// Sets where handlers run. Defaults to [`Policy::Inline`]. [`Policy::AtMost`] limits the concurrent handlers of a
    /// unary method for each connection. Streaming methods then run as with [`Policy::Concurrent`]. For a limit over
    /// all connections, use [`middleware`](Self::middleware) and the crate `frpc-tower`.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.offering().policy = policy;
        self
    }

    /// Sets where the handlers of one method run. The name of the method has the form `package.Service/Method`.
    /// [`Policy::AtMost`] requires a unary method.
    ///
    /// ```
    /// use frpc::{Policy, Server};
    ///
    /// let builder = Server::builder().method_policy("greet.Greeter/Greet", Policy::Concurrent);
    /// ```
    pub fn method_policy(mut self, method: impl Into<String>, policy: Policy) -> Self {
        self.offering().method(method.into()).policy = Some(policy);
        self
    }

    /// Permits callers of a unary method to request a hand-off of the connection, which the handler may accept. The
    /// name of the method has the form `package.Service/Method`. See [`hand_off`](crate::hand_off). Requests to other
    /// methods fail with [`Unimplemented`](crate::Code::Unimplemented) before a handler runs.
    pub fn method_hand_off(mut self, method: impl Into<String>) -> Self {
        self.offering().method(method.into()).hands_off = true;
        self
    }

    /// Compresses the responses and streamed messages of these methods, given as `package.Service/Method`, for clients
    /// that [accept compression](Self::accept_compressed). The server then accepts compressed messages too. By default
    /// no messages are compressed.
    ///
    /// Messages of at least 1 KiB are compressed individually with zstd if that saves at least a sixteenth. Errors,
    /// hand-offs and topics are never compressed. Nothing is compressed for Go clients, for peers that have not
    /// announced support, or over other protocols. [`bind`](Self::bind) fails if a method does not exist.
    ///
    /// **The length of a compressed message leaks information about its content.** Do not compress messages that
    /// combine a secret with text chosen by another party; see docs/compression.md.
    ///
    /// ```
    /// use samples::greeter::{GreeterClient, GreeterServer};
    /// use frpc::{Channel, Server};
    /// # use samples::started::Polite;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder().add_service(GreeterServer::new(Polite)).compress(["greeter.Greeter/GreetAll"]);
    /// let server = server.bind("127.0.0.1:0").await?;
    /// # let address = server.local_addr().to_string();
    /// # tokio::spawn(server.serve());
    /// let channel = Channel::builder().accept_compressed().connect(address).await?;
    /// let client = GreeterClient::new(channel);
    /// # let _ = client;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "zstd")]
    pub fn compress<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        let offering = self.offering();
        methods.into_iter().for_each(|method| offering.method(method.into()).compresses = true);
        self.accept_compressed()
    }

    /// Adds a handler for another protocol, which then shares the port of the services.
    ///
    /// `accepts` receives the first bytes of a connection, at least one, and `serve` the transport including these
    /// bytes; see [`frisbee::ServerBuilder::adapter`]. The handler calls the services of this server through
    /// [`AdapterContext::methods`]. Their middleware, policies, deadlines and limits apply.
    pub fn adapter<A, S, F>(mut self, accepts: A, serve: S) -> Self
    where
        A: Fn(&[u8]) -> bool + Send + Sync + 'static,
        S: Fn(frisbee::RawTransport, AdapterContext) -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        self.adapters.push(Box::new(|server, offer| {
            server.adapter(accepts, move |transport, context| serve(transport, AdapterContext::new(context, &offer)))
        }));
        self
    }

    /// Adds a listener for a connectionless protocol, such as one over UDP; see
    /// [`frisbee::ServerBuilder::adapter_listener`]. Peers that it [registers](AdapterPeers::enter) call the services
    /// of this server through [`AdapterContext::methods`].
    pub fn adapter_listener<L, F>(mut self, listen: L) -> Self
    where
        L: Fn(AdapterPeers) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        self.adapters.push(Box::new(|server, offer| {
            server.adapter_listener(move |inner| listen(AdapterPeers { inner, offer: offer.clone() }))
        }));
        self
    }

    /// Makes binding or building the server fail with this error, unless another one was reported earlier. For
    /// extensions of the builder, such as the gateway, that cannot return errors for invalid settings.
    pub fn reject_setting(mut self, error: SettingError) -> Self {
        self.invalid.get_or_insert(error);
        self
    }

    /// Records the calls in progress on each connection, with their age and deadline, for an
    /// [`Inspector`](crate::Inspector). Disabled by default.
    ///
    /// Only calls with a pending handler or a stream are recorded. They cost an allocation and an entry in a table of
    /// the connection. Handlers that are ready immediately have no additional cost.
    pub fn inspectable(mut self) -> Self {
        self.offering().is_inspectable = true;
        self
    }

    /// Binds a TCP socket to `host:port`, such as `127.0.0.1:8080` or `[::]:8080`. Port 0 selects a free port.
    ///
    /// # Errors
    /// If no address can be bound, if two services or mounted routers overlap, if a policy, a hand-off or middleware is
    /// set for a nonexistent method, or if [`Policy::AtMost`] or a hand-off is set for a streaming method.
    ///
    /// # Cancel safety
    /// Dropping the future binds nothing.
    pub async fn bind(self, address: impl ToSocketAddrs + fmt::Debug) -> Result<Server, Error> {
        let bind = self.binding(format!("{address:?}"))?;
        bind(lookup_host(address).await.map(Iterator::collect))
    }

    #[doc(hidden)]
    pub fn serve(self, _: impl UnboundAddress) -> Ready<Result<(), Error>> {
        ready(Ok(()))
    }

    #[cfg(not(feature = "tls"))]
    #[doc(hidden)]
    pub fn tls(self, _: impl crate::api::hints::TlsFeature) -> Self {
        self
    }

    /// Prepares binding to the addresses that `name` resolves to. The result is boxed, so that the server's code is not
    /// compiled again in each program.
    fn binding(self, name: String) -> Result<Box<Binding>, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(Box::new(move |addresses| Ok(Server { inner: inner.bind_resolved(name, addresses, endpoint)?, offer })))
    }

    /// Binds a Unix socket to `path`; see [`frisbee::ServerBuilder::bind_unix`].
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = frpc::Server::builder().bind_unix("/run/shop.sock").await?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Like [`bind`](Self::bind), or if another server is listening on the path.
    ///
    /// # Cancel safety
    /// The future completes immediately.
    #[cfg(unix)]
    pub async fn bind_unix(self, path: impl AsRef<std::path::Path>) -> Result<UnixServer, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(UnixServer { inner: inner.bind_unix(path, endpoint).await?, offer })
    }

    /// Creates a server from a listening TCP socket, such as one inherited from the previous process; see
    /// [`frisbee::ServerBuilder::listen_on`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// let server = frpc::Server::builder().listen_on(listener)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Like [`bind`](Self::bind), or if the socket is not listening.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn listen_on(self, listener: impl Into<std::net::TcpListener>) -> Result<Server, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(Server { inner: inner.listen_on(listener, endpoint)?, offer })
    }

    /// Creates a server from a listening Unix socket. The socket's file is not removed when the server is dropped; see
    /// [`frisbee::ServerBuilder::listen_on_unix`].
    ///
    /// # Errors
    /// Like [`listen_on`](Self::listen_on).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[cfg(unix)]
    pub fn listen_on_unix(self, listener: impl Into<std::os::unix::net::UnixListener>) -> Result<UnixServer, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(UnixServer { inner: inner.listen_on_unix(listener, endpoint)?, offer })
    }

    /// Creates a server without a listening socket. The program supplies its connections.
    ///
    /// # Errors
    /// Like [`bind`](Self::bind).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn build(self) -> Result<Acceptor, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(Acceptor { inner: inner.build(endpoint)?, offer })
    }

    fn done(self) -> Result<(frisbee::ServerBuilder, Endpoint, Arc<ServiceOffer>), Error> {
        self.log_settings.iter().for_each(|log| log(&self));
        if let Some(error) = self.invalid {
            return Err(frisbee::Error::from(error).into());
        }
        let offer = self.offering.done()?;
        offer.check_compat()?;
        let inner = self.adapters.into_iter().fold(self.inner, |inner, adapter| adapter(inner, offer.clone()));
        Ok((inner, Endpoint::serving(offer.clone()), offer))
    }
}
