//! Configuration of channels, and the functions that connect them.

use crate::api::BoxFuture;
use crate::api::middleware::Chain;
use crate::client::call::CallOptions;
use crate::client::channel::{Channel, ChannelShared, Layers};
use crate::client::dial::Dialler;
#[cfg(feature = "grpc")]
use crate::client::dial::is_grpc;
use crate::client::factory::LinkFactory;
#[cfg(feature = "grpc")]
use crate::client::grpc::{GrpcLinks, GrpcServer, Keepalive};
use crate::client::links::Links;
use crate::client::picker::Picker;
use crate::client::retries::AttemptBudget;
use crate::client::retrying::ATTEMPTS_MAX;
use crate::endpoint::offer::{OfferBuilder, ServiceOffer, offering_setters};
use crate::observe::ChannelServers;
use crate::settings::{connection_setters, forwarded_setters};
use crate::{Error, Middleware};
use frisbee::{Client, ClientBuilder, HeaderForm, SettingError};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;

/// Default time that calls wait until a lost connection is replaced.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Name of a server behind a custom connector, used in error messages.
const CONNECTOR: &str = "the server";

impl Channel {
    /// Connects to `host:port`, or on Unix to a socket path such as `unix:/run/service.sock`. On Linux, with the
    /// feature `shm`, the address `unix+shm:/run/service.sock` also offers shared memory to the server. The
    /// address may be a text or a [`SocketAddr`](std::net::SocketAddr).
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let channel = frpc::Channel::connect("127.0.0.1:8080").await?;
    /// # let _ = channel;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If none of the addresses that the name resolves to accepts the connection within 10 s.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes a connection that is already open.
    pub async fn connect(address: impl ToString) -> Result<Self, Error> {
        Self::builder().connect(address).await
    }

    /// Creates a channel over `io`, which may be any byte stream. A lost connection cannot be replaced, so further
    /// calls then fail with [`Unavailable`](crate::Code::Unavailable).
    ///
    /// # Errors
    /// If the TLS handshake fails or services conflict. Without a builder, neither is configured, so this function
    /// never fails.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and drops the transport.
    pub async fn connect_io<T>(io: T) -> Result<Self, Error>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::builder().connect_io(io).await
    }

    /// Creates a channel builder with the default settings.
    pub fn builder() -> ChannelBuilder {
        ChannelBuilder::new()
    }
}

offering_setters!(ChannelBuilder);
connection_setters!(ChannelBuilder, |builder: &Self| {
    tracing::info!(target: "frpc::client", settings = ?builder.to_settings(), "settings of a channel");
});

forwarded_setters! { ChannelBuilder:
    /// Sets the timeout for establishing a connection. Defaults to 10 s.
    connect_timeout(timeout: Duration);

    /// Sets the timeout for detecting whether the server supports frpc's protocol extension; see
    /// [`frisbee::ClientBuilder::peer_kind_timeout`]. Defaults to 5 s.
    peer_kind_timeout(timeout: Duration);

    /// Sets the format of packet headers. [`HeaderForm::Old`] is required for servers on frisbee-go up to v0.10.2.
    header_form(form: HeaderForm);

    /// Offers shared memory to all servers on Unix sockets; see [`frisbee::ClientBuilder::shared_memory`]. By default,
    /// it is only offered for addresses that start with `unix+shm:`.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    shared_memory(connector: crate::shm::Connector);

    /// Enables TLS for all connections; see [`frisbee::ClientBuilder::tls`]. Disabled by default.
    #[cfg(feature = "tls")]
    tls(tls: frisbee::tls::ClientTls);

    /// Sets the server name to verify against the server's certificate. Defaults to the host of the address.
    #[cfg(feature = "tls")]
    server_name(name: impl Into<String>);
}

/// Builder of a [`Channel`].
///
/// ```
/// use samples::greeter::{GreeterClient, Name};
/// use frpc::{Call, Channel, Next};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let address = samples::started::greeter().await?;
/// let channel = Channel::builder()
///     .timeout(Duration::from_secs(5))
///     .reconnect_timeout(Duration::from_secs(20))
///     .attempts_max(2)
///     .middleware(async |mut call: Call, next: Next| {
///         call.metadata_mut().insert("tenant", "blue")?;
///         next.run(call).await
///     })
///     .connect(address)
///     .await?;
/// GreeterClient::new(channel).greet(Name { name: "Ada".to_owned() }).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ChannelBuilder {
    pub(crate) inner: ClientBuilder,
    pub(crate) options: CallOptions,
    pub(crate) reconnect_timeout: Duration,
    pub(crate) offering: Arc<OfferBuilder>,
    pub(crate) log_settings: Option<fn(&Self)>,
    accepts_uris: bool,
    hedge_after: Option<Duration>,
    attempts_max: u32,
    /// Whether the servers use gRPC.
    is_grpc: bool,
    #[cfg(feature = "grpc")]
    grpc_keepalive: Keepalive,
    /// Middleware that wraps every call of the channel.
    chain: Chain,
}

impl ChannelBuilder {
    /// Creates a builder with the default settings.
    pub(crate) fn new() -> Self {
        Self {
            inner: Client::builder(),
            options: CallOptions::default(),
            reconnect_timeout: RECONNECT_TIMEOUT,
            offering: Arc::default(),
            log_settings: None,
            accepts_uris: false,
            hedge_after: None,
            attempts_max: ATTEMPTS_MAX,
            is_grpc: false,
            #[cfg(feature = "grpc")]
            grpc_keepalive: Keepalive::default(),
            chain: Chain::default(),
        }
    }

    /// Adds a middleware around the calls of the channel, inside of the existing ones; see also
    /// [`Channel::with_middleware`]. It does not apply to services that this channel [offers](Self::add_service). These
    /// have their own middleware: `add_service(AgentServer::new(agent).with_middleware(…))`.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.chain.push(middleware);
        self
    }

    /// Sets the default timeout of calls, which the client also sends to the server as their deadline. If this method
    /// is not called, calls time out at the client after 30 s, and the server receives no deadline.
    ///
    /// For streaming calls, the timeout limits two waits separately: until the first message can be sent, and for a
    /// single reply after the last message. The stream itself has no time limit, unless the request has a timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        (self.options.timeout, self.options.sends_timeout) = (Some(timeout), true);
        self
    }

    /// Removes the default call timeout. Calls may then wait forever, because a Go server does not reply to a request
    /// that it cannot decode.
    pub fn dangerous_no_timeout(mut self) -> Self {
        (self.options.timeout, self.options.sends_timeout) = (None, false);
        self
    }

    /// Sets whether calls to a compat server fail with [`FailedPrecondition`](crate::Code::FailedPrecondition) if its
    /// encoding cannot represent absent fields of the message. Defaults to `false`, which sends absent fields with
    /// their default values.
    pub fn strict_presence(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    #[cfg(not(feature = "tls"))]
    #[doc(hidden)]
    pub fn tls(self, _: impl crate::api::hints::TlsFeature) -> Self {
        self
    }

    /// Makes [`connect`](Self::connect) and [`connect_lazy`](Self::connect_lazy) accept URIs, for example from existing
    /// configuration files: `http://host:port` on channels without TLS, and `https://host:port` on channels with TLS.
    /// The scheme has no other effect: the channel calls a native server at the host and port.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let builder = frpc::Channel::builder();
    /// assert!(builder.clone().connect_lazy("http://10.0.0.7:8080").is_err());
    /// let builder = builder.accept_uris();
    /// assert!(builder.clone().connect_lazy("http://10.0.0.7:8080/").is_ok());
    /// assert!(builder.connect_lazy("https://10.0.0.7:8080").is_err(), "the channel has no TLS settings");
    /// # }
    /// ```
    pub fn accept_uris(mut self) -> Self {
        self.accepts_uris = true;
        self
    }

    /// Returns the address without the scheme of an [accepted](Self::accept_uris) URI.
    #[expect(clippy::needless_pass_by_value, reason = "texts and addresses are passed alike")]
    fn address(&self, address: impl ToString) -> Result<String, frisbee::Error> {
        let address = address.to_string();
        let problem = match address.split_once("://") {
            Some(("http", _)) if self.accepts_uris && self.inner.is_secured() => {
                "the channel has TLS settings; use https://"
            }
            Some(("https", _)) if self.accepts_uris && !self.inner.is_secured() => {
                "https:// requires TLS settings; set them by `tls`"
            }
            Some(("http" | "https", authority)) if self.accepts_uris => {
                return Ok(authority.trim_end_matches('/').to_owned());
            }
            _ => return Ok(address),
        };
        let source = io::Error::new(io::ErrorKind::InvalidInput, problem);
        Err(frisbee::Error::Connect { address, source })
    }

    /// Sets how long an unsent call waits for a lost connection to be replaced. Defaults to 5 s. After this time
    /// (immediately, if it is zero), the call fails, but reconnecting continues for later calls.
    ///
    /// If the server uses another protocol, the call fails immediately with an error that names the protocol. The
    /// server is not dialled again for 1 to 2 s.
    pub fn reconnect_timeout(mut self, reconnect_timeout: Duration) -> Self {
        self.reconnect_timeout = reconnect_timeout;
        self
    }

    /// Sets the maximum number of attempts of a unary call. Applies to methods that the schema declares idempotent
    /// (`idempotency_level`). The number includes the first attempt and [hedged](Self::hedge_after) ones; 1 disables
    /// retries, and 0 counts as 1. Defaults to 2. Attempts that were not sent do not count. All other calls are sent at
    /// most once.
    ///
    /// A call is retried if its connection was lost or, on a channel to several servers, if the reply is
    /// [`Unavailable`](crate::Code::Unavailable). The first retry is delayed by 5 to 10 ms. The delay doubles with each
    /// further retry, up to 1 s. The calls of a channel share a budget of ten retries, which is refilled by one for
    /// every ten successful calls.
    pub fn attempts_max(mut self, attempts: u32) -> Self {
        self.attempts_max = attempts.max(1);
        self
    }

    /// Sets the time before a call without a reply is hedged: it is also sent to a second server, the first reply is
    /// used, and the other attempt is cancelled. Applies only to unary calls of methods that the schema declares
    /// idempotent (`idempotency_level`), because both servers may run the call. If a server rejects its attempt
    /// [without running it](crate::Status::may_have_run) as [`Unavailable`](crate::Code::Unavailable) or
    /// [`ResourceExhausted`](crate::Code::ResourceExhausted), the reply of the other server is used. Disabled by
    /// default.
    ///
    /// At most 2 % of these calls are hedged. Each hedge also takes one retry from the budget described at
    /// [`attempts_max`](Self::attempts_max), which limits the additional load on overloaded servers. The 99th
    /// percentile of the call duration is a good value. Zero sends both attempts immediately.
    ///
    /// Observers see a single call and its second attempt as a [retry](crate::observe::Observer::retry). Both attempts
    /// have the same deadline and metadata. A call that may be hedged allocates its future and a timer. Calls of a
    /// channel to a single server are never hedged.
    pub fn hedge_after(mut self, time: Duration) -> Self {
        self.hedge_after = Some(time);
        self
    }

    /// Declares that all servers of the channel use gRPC. Addresses without a scheme, which most resolvers return, are
    /// then treated like `grpc://` addresses, or like `grpcs://` addresses if [TLS](Self::tls) is enabled.
    #[cfg(feature = "grpc")]
    pub fn grpc(mut self) -> Self {
        self.is_grpc = true;
        self
    }

    /// Sets the HTTP/2 keepalive of connections to gRPC servers. If the server sends nothing for `interval` after a
    /// call was sent, the client sends a PING. If it receives nothing within `timeout` after the PING, it closes the
    /// connection, whose calls fail. Defaults to 310 s and 20 s.
    ///
    /// Many gRPC servers close a connection when they receive more than one PING on it in five minutes. Set a shorter
    /// interval only for servers that are known to allow it.
    #[cfg(feature = "grpc")]
    pub fn grpc_keepalive(mut self, interval: Duration, timeout: Duration) -> Self {
        self.grpc_keepalive = Keepalive { interval, timeout };
        self
    }

    /// Compresses the requests and streamed messages of these methods, given as `package.Service/Method`, for servers
    /// that [accept compression](Self::accept_compressed). The channel then also accepts compressed messages. By
    /// default no messages are compressed.
    ///
    /// See [`ServerBuilder::compress`](crate::ServerBuilder::compress) for details and exceptions. Calls from a server
    /// to its clients, and the replies to them, are not compressed. Unknown methods are ignored.
    #[cfg(feature = "zstd")]
    pub fn compress<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        let compression = Arc::make_mut(self.offering().compression.get_or_insert_default());
        methods.into_iter().for_each(|method| compression.add(&method.into()));
        self
    }

    /// Connects to `host:port`, or on Unix to a socket path such as `unix:/run/service.sock`. On Linux, with the
    /// feature `shm`, the address `unix+shm:/run/service.sock` also offers shared memory to the server. The connection
    /// continues over the socket if the server does not accept.
    ///
    /// With the feature `grpc`, the addresses `grpc://host:port`, `grpcs://host:port` and `grpc+unix:path` select gRPC
    /// servers. Clients for them are generated with `protobuf(true)`. The channel makes up to four connections to the
    /// server, and resends calls that the server did not process. Calls fail if no connection can be made. All failures
    /// of a streaming call are reported by its stream. A response has the trailing metadata in its extensions, as
    /// [`Trailers`](crate::Trailers) or [`LateTrailers`](crate::LateTrailers).
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let channel = frpc::Channel::builder().connect("127.0.0.1:8080").await?;
    /// # let _ = channel;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If connecting fails, like [`Channel::connect`], or two services or mounted routers overlap.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes a connection that is already open.
    pub async fn connect(self, address: impl ToString) -> Result<Channel, Error> {
        let (channel, links) = self.channel_to(address)?;
        links.dial().await?;
        Ok(channel)
    }

    /// Connects through a function that returns a transport, which may be any byte stream. The function is called again
    /// when a call needs a connection after the previous one was lost.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), frpc::Error> {
    /// let acceptor = frpc::Server::builder().build()?;
    /// let channel = frpc::Channel::builder()
    ///     .connect_with_connector(move || {
    ///         let acceptor = acceptor.clone();
    ///         async move {
    ///             let (here, there) = frpc::memory();
    ///             tokio::spawn(async move { acceptor.serve_connection(there).await });
    ///             Ok(here)
    ///         }
    ///     })
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the first call of the function fails, or does not complete within the
    /// [`connect_timeout`](Self::connect_timeout).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes a connection that is already open.
    pub async fn connect_with_connector<C, F, T>(self, connector: C) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.connect_using(Dialler::connector(CONNECTOR, connector)).await
    }

    /// Creates a channel to an address without connecting. The first call connects, and waits for the connection like
    /// after a [lost connection](Self::reconnect_timeout). [`Channel::stay_connected`] also connects.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), frpc::Error> {
    /// // The server need not listen yet.
    /// let channel = frpc::Channel::builder().connect_lazy("127.0.0.1:8080")?;
    /// assert!(channel.connection().is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the address is invalid, or two services or mounted routers overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connection.
    pub fn connect_lazy(self, address: impl ToString) -> Result<Channel, Error> {
        Ok(self.channel_to(address)?.0)
    }

    /// Creates a channel to an address, and returns it with its connections.
    fn channel_to(mut self, address: impl ToString) -> Result<(Channel, Arc<Links>), Error> {
        let address = self.address(address)?;
        #[cfg(feature = "grpc")]
        {
            self.is_grpc |= is_grpc(&address);
        }
        let offer = self.offer()?;
        let links = Arc::new(self.factory(&offer).to_address(address, None)?);
        Ok((self.channel(links.clone(), &offer), links))
    }

    /// Creates a channel to a gRPC server over the transports of a [connector](Self::connect_with_connector), without
    /// connecting. `address` is the authority (host and port) of the calls, preceded by `https://` if the transports
    /// use TLS.
    ///
    /// A transport is polled under the lock of its connection. It must therefore neither use the channel nor run tasks
    /// that use it, for example by a waker that polls its task immediately.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), frpc::Error> {
    /// use tokio::net::TcpStream;
    ///
    /// let connect = || TcpStream::connect("10.0.0.7:50051");
    /// let channel = frpc::Channel::builder().connect_grpc_with_connector("10.0.0.7:50051", connect)?;
    /// assert!(channel.is_grpc());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If two services or mounted routers overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connections.
    #[cfg(feature = "grpc")]
    pub fn connect_grpc_with_connector<C, F, T>(self, address: &str, connector: C) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (scheme, authority) = address.split_once("://").unwrap_or(("http", address));
        let server = GrpcServer::new(authority, scheme == "https", authority);
        let keepalive = self.grpc_keepalive;
        let mut channel = self.grpc();
        let offer = channel.offer()?;
        let links = GrpcLinks::new(&channel.factory(&offer), keepalive, server, connector, None);
        Ok(channel.channel(Arc::new(Links::to_grpc(links)), &offer))
    }

    /// Creates a channel over the transports of a [connector](Self::connect_with_connector), which connects at the
    /// first call like [`connect_lazy`](Self::connect_lazy).
    ///
    /// # Errors
    /// If two services or mounted routers overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connection.
    pub fn connect_lazy_with_connector<C, F, T>(self, connector: C) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Ok(self.channel_by(Dialler::connector(CONNECTOR, connector))?.0)
    }

    /// Creates a channel that takes its connections from a [`Picker`], such as the load balancer of the crate
    /// `frpc-balance`. `picker` receives a [`LinkFactory`] and creates the picker; see the [module](crate::picker) for
    /// an example.
    ///
    /// # Errors
    /// If the function fails, or two services or mounted routers overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connections.
    pub fn connect_picker<P: Picker>(
        mut self,
        picker: impl FnOnce(&LinkFactory) -> Result<Arc<P>, Error>,
    ) -> Result<Channel, Error> {
        let offer = self.offer()?;
        let picker = picker(&self.factory(&offer))?;
        Ok(self.channel(picker, &offer))
    }

    /// Creates a channel over an existing transport, like [`Channel::connect_io`].
    ///
    /// # Errors
    /// If the TLS handshake fails, or two services or mounted routers overlap.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and drops the transport.
    pub async fn connect_io<T>(self, io: T) -> Result<Channel, Error>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.connect_using(Dialler::transport(io)).await
    }

    /// Connects with `dialler`. The future is boxed, so that the client's code is not compiled again in each program.
    fn connect_using(self, dialler: Dialler) -> BoxFuture<'static, Result<Channel, Error>> {
        Box::pin(async move {
            let (channel, links) = self.channel_by(dialler)?;
            links.dial().await?;
            Ok(channel)
        })
    }

    /// Creates a channel whose connections `dialler` makes. Also returns its connections.
    fn channel_by(mut self, dialler: Dialler) -> Result<(Channel, Arc<Links>), Error> {
        let offer = self.offer()?;
        let links = Arc::new(Links::by(self.factory(&offer), dialler, None));
        Ok((self.channel(links.clone(), &offer), links))
    }

    /// Validates the timeouts, logs the settings if this is enabled, and builds the services that this client offers on
    /// its connections.
    pub(crate) fn offer(&mut self) -> Result<Arc<ServiceOffer>, Error> {
        self.check().map_err(frisbee::Error::from)?;
        self.log_settings.iter().for_each(|log| log(self));
        std::mem::take(&mut self.offering).done()
    }

    /// Returns an error if a timeout is zero.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        SettingError::check_positive(&[
            ("timeout", self.options.timeout.unwrap_or(Duration::MAX)),
            ("connect_timeout", self.inner.to_settings().connect_timeout),
            #[cfg(feature = "grpc")]
            ("grpc_keepalive.interval", self.grpc_keepalive.interval),
            #[cfg(feature = "grpc")]
            ("grpc_keepalive.timeout", self.grpc_keepalive.timeout),
        ])
    }

    pub(crate) fn factory(&self, offer: &Arc<ServiceOffer>) -> LinkFactory {
        LinkFactory {
            client: self.inner.clone(),
            reconnect_timeout: self.reconnect_timeout,
            offer: offer.clone(),
            runtime: Handle::current(),
            #[cfg(feature = "grpc")]
            grpc: self.is_grpc.then_some(self.grpc_keepalive),
        }
    }

    fn channel(self, picker: Arc<dyn Picker>, offer: &ServiceOffer) -> Channel {
        let hedge_after = self.hedge_after.filter(|_| picker.has_several());
        let inner = Arc::new(ChannelShared {
            picker,
            retries: AttemptBudget::full(),
            hedge_after,
            hedges: AttemptBudget::default(),
            attempts_max: self.attempts_max,
            options: self.options,
            runtime: Handle::current(),
            observer: offer.observers.clone(),
        });
        if let Some(batches) = offer.batches() {
            let channel: Weak<ChannelShared> = Arc::downgrade(&inner);
            batches.channel(ChannelServers::new(channel));
        }
        let layers = Layers {
            chain: self.chain.present(),
            hedges: hedge_after.is_some(),
            is_grpc: self.is_grpc,
            ..Layers::default()
        };
        Channel { inner, layers: layers.present() }
    }
}
