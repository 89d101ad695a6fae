//! The settings of a server, and the ways to bind one.

#[cfg(unix)]
use super::UnixServer;
use super::adapter::peers::AdapterPeers;
use super::adapter::{AdapterContext, AdapterSetup};
use super::{Acceptor, Server};
use crate::debug::opaque_debug;
use crate::endpoint::Endpoint;
use crate::endpoint::offer::{OfferBuilder, ServiceOffer, offering_setters};
use crate::settings::{connection_setters, forwarded_setters};
use crate::{Error, Middleware, Policy};
use frisbee::{ServerSettings, SettingError};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{ToSocketAddrs, lookup_host};

type Binding = dyn FnOnce(io::Result<Vec<SocketAddr>>) -> Result<Server, Error> + Send;

impl Server {
    /// The default settings.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            inner: frisbee::Server::builder(),
            offering: Arc::default(),
            log_settings: None,
            adapters: Vec::new(),
        }
    }
}

/// The settings of a [`Server`], and its services.
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
}

opaque_debug!([] ServerBuilder, "ServerBuilder", |this| inner = this.inner, offering = this.offering);

offering_setters!(ServerBuilder);
connection_setters!(ServerBuilder, |builder: &Self| {
    tracing::info!(target: "frpc::server", settings = ?builder.to_settings(), "settings of a server");
});

forwarded_setters! { ServerBuilder:
    /// Sets how long a client may take to send its first header. Default: 10 s.
    first_header_timeout(timeout: Duration);

    /// Sets how many bytes may be held for clients, over all connections. Default: 256 MiB. Requests beyond it are
    /// refused with `ResourceExhausted` before a handler begins; see [`frisbee::ServerBuilder::memory_max`].
    memory_max(bytes: usize);

    /// Sets how many connections may be open that wait for the client's first packet, or for its part of a TLS
    /// handshake. Default: 4096. When one more comes, the oldest is closed; see
    /// [`frisbee::ServerBuilder::silent_max`].
    silent_max(count: usize);

    /// Expects each connection to begin with a header of the PROXY protocol, version 1 or 2, with the address of a load
    /// balancer's client: that of calls, of the log and of shares of memory from then on. Default: none is expected.
    /// **Let the load balancer alone reach the port**; see [`frisbee::ServerBuilder::proxy_protocol`].
    proxy_protocol();

    /// Sets how long connections may take to finish after a shutdown has begun. Default: 20 s.
    shutdown_timeout(timeout: Duration);

    /// Sets the age at which a connection is drained, within a tenth of it that varies at random. Default: any age.
    ///
    /// A client makes new calls on a new connection, and the old one is closed when its calls have ended: no call is
    /// lost. Connections of other protocols end with GOAWAY on HTTP/2, `connection: close` on HTTP/1.1 and code 1001 on
    /// WebSocket. See [`frisbee::ServerBuilder::max_connection_age`].
    max_connection_age(age: Duration);

    /// Sets how long calls in progress may take after the [maximum age](Self::max_connection_age), until their
    /// connection is closed. Default: any time.
    max_connection_age_grace(grace: Duration);

    /// Offers further protocols by ALPN in handshakes of TLS; see [`frisbee::ServerBuilder::alpn_protocols`].
    alpn_protocols(protocols: impl IntoIterator<Item = impl Into<Vec<u8>>>);

    /// Shares memory with clients that offer to on a Unix socket; see [`frisbee::ServerBuilder::shared_memory`]. Default:
    /// with none.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    shared_memory(sharing: crate::shm::ListenerBuilder);

    /// Speaks TLS on every connection; see [`frisbee::ServerBuilder::tls`]. Default: no TLS.
    #[cfg(feature = "tls")]
    tls(tls: frisbee::tls::ServerTls);

    /// Speaks TLS on connections that begin with its handshake, and serves others in plain text on the same port; see
    /// [`frisbee::ServerBuilder::tls_or_plain`]. In place of [`tls`](Self::tls). Calls by plain connections have no
    /// [`peer_certificates`](crate::Request::peer_certificates); a middleware may refuse them.
    #[cfg(feature = "tls")]
    tls_or_plain(tls: frisbee::tls::ServerTls);
}

impl ServerBuilder {
    /// Sets everything that `settings` has. Later calls of other setters prevail.
    ///
    /// # Errors
    /// If a value is out of range, or contradicts another.
    pub fn settings(mut self, settings: &ServerSettings) -> Result<Self, SettingError> {
        self.inner = self.inner.settings(settings)?;
        Ok(self)
    }

    /// The settings in effect.
    pub fn to_settings(&self) -> ServerSettings {
        self.inner.to_settings()
    }

    /// Runs a middleware around the calls of all services, inside of earlier ones. Calls of clients that request [the
    /// connection](crate::hand_off) are included.
    ///
    /// Inside of it runs the middleware of a service and of a method, which the service brings:
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
    /// // `log` runs first, for all services; `admit` only for one method of this one.
    /// let service = GreeterServer::new(Polite).with_method_middleware("Greet", admit);
    /// let server = Server::builder().middleware(log).add_service(service);
    /// ```
    ///
    /// **Middleware does not run around mounted routers.**
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.offering().chain.push(middleware);
        self
    }

    /// Sets where handlers run. Default: [`Policy::Inline`]. [`Policy::AtMost`] limits the handlers of one unary method
    /// on one connection; those of streaming methods run as with [`Policy::Concurrent`] then. For a limit across the
    /// server use [`middleware`](Self::middleware) and the crate `frpc-tower`.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.offering().policy = policy;
        self
    }

    /// Sets where the handlers of one method run. Its name is `package.Service/Method`. [`Policy::AtMost`] is for unary
    /// methods only.
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

    /// Lets callers of a unary method request a hand-off of the connection; the handler decides each time. The name of
    /// the method is `package.Service/Method`. See [`hand_off`](crate::hand_off). Such requests by other methods fail
    /// with [`Unimplemented`](crate::Code::Unimplemented), before a handler is called.
    pub fn method_hand_off(mut self, method: impl Into<String>) -> Self {
        self.offering().method(method.into()).hands_off = true;
        self
    }

    /// Compresses the replies of these methods, with names like `package.Service/Method`, and their streamed messages,
    /// for clients that [take it](Self::accept_compressed); the server takes it as well then. Default: nothing is
    /// compressed.
    ///
    /// Messages of 1 KiB and more are packed by zstd, one by one, where that saves a sixteenth or more. Errors,
    /// hand-offs and topics are not packed, nor is anything for Go, for peers that have not said that they unpack, and for
    /// other protocols. [`bind`](Self::bind) fails if there is no such method.
    ///
    /// **The compressed length of a message reveals content.** Do not name methods whose messages have a secret
    /// together with text that another party has chosen: docs/compression.md.
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
        methods.into_iter().for_each(|method| offering.method(method.into()).packs = true);
        self.accept_compressed()
    }

    /// Adds a handler of adapter connections, which begin with something else than a frame, so that another protocol
    /// shares the port of the services.
    ///
    /// `accepts` gets the first bytes of a connection, one at least, and `serve` the transport with all bytes; see
    /// [`frisbee::ServerBuilder::adapter`]. By [`AdapterContext::methods`] it calls the services of this server, within
    /// their middleware, policies, deadlines and limits.
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

    /// Adds a listener for adapter peers without connections; see [`frisbee::ServerBuilder::adapter_listener`]. Peers
    /// that it [enters](AdapterPeers::enter) call the services of this server by [`AdapterContext::methods`].
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

    /// Notes the calls in progress of each connection, with their age and deadline, for an
    /// [`Inspector`](crate::Inspector). Default: they are not noted.
    ///
    /// Noted are calls whose handlers wait, or stream. A handler that is ready at once costs nothing more; one that waits
    /// costs an allocation and an entry in a table of its connection.
    pub fn inspectable(mut self) -> Self {
        self.offering().is_inspectable = true;
        self
    }

    /// Binds a listening socket at `host:port`, such as `127.0.0.1:8080` or `[::]:8080`; port 0 is a free one.
    ///
    /// # Errors
    /// If no address can be bound, if two services or mounted routers overlap, or if a policy, a hand-off or a
    /// middleware names a method that does not exist; policies and hand-offs are for unary methods only.
    ///
    /// # Cancel safety
    /// Dropping the future binds nothing.
    pub async fn bind(self, address: impl ToSocketAddrs + fmt::Debug) -> Result<Server, Error> {
        let bind = self.binding(format!("{address:?}"))?;
        bind(lookup_host(address).await.map(Iterator::collect))
    }

    /// Binds a server to the addresses of a name. It is boxed, so that programs do not compile it once more.
    fn binding(self, name: String) -> Result<Box<Binding>, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(Box::new(move |addresses| Ok(Server { inner: inner.bind_resolved(name, addresses, endpoint)?, offer })))
    }

    /// Binds a Unix socket at `path`; see [`frisbee::ServerBuilder::bind_unix`].
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
    /// As [`bind`](Self::bind), and if another server listens there.
    ///
    /// # Cancel safety
    /// The future is ready at once.
    #[cfg(unix)]
    pub async fn bind_unix(self, path: impl AsRef<std::path::Path>) -> Result<UnixServer, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(UnixServer { inner: inner.bind_unix(path, endpoint).await?, offer })
    }

    /// Makes a server of a TCP socket that listens already, such as one that the process before has passed; see
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
    /// As [`bind`](Self::bind), and if the socket does not listen.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn listen_on(self, listener: impl Into<std::net::TcpListener>) -> Result<Server, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(Server { inner: inner.listen_on(listener, endpoint)?, offer })
    }

    /// Makes a server of a Unix socket that listens already, whose file stays when the server is dropped; see
    /// [`frisbee::ServerBuilder::listen_on_unix`].
    ///
    /// # Errors
    /// As [`listen_on`](Self::listen_on).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[cfg(unix)]
    pub fn listen_on_unix(self, listener: impl Into<std::os::unix::net::UnixListener>) -> Result<UnixServer, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(UnixServer { inner: inner.listen_on_unix(listener, endpoint)?, offer })
    }

    /// Creates a server without a socket, for connections that the program brings.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn build(self) -> Result<Acceptor, Error> {
        let (inner, endpoint, offer) = self.done()?;
        Ok(Acceptor { inner: inner.build(endpoint)?, offer })
    }

    fn done(self) -> Result<(frisbee::ServerBuilder, Endpoint, Arc<ServiceOffer>), Error> {
        self.log_settings.iter().for_each(|log| log(&self));
        let offer = self.offering.done()?;
        let inner = self.adapters.into_iter().fold(self.inner, |inner, adapter| adapter(inner, offer.clone()));
        Ok((inner, Endpoint::serving(offer.clone()), offer))
    }
}
