//! The settings of a channel, and the ways to connect one.

use crate::api::BoxFuture;
use crate::api::middleware::Chain;
use crate::client::call::CallOptions;
use crate::client::channel::{Channel, ChannelShared, Layers};
use crate::client::dial::Dialler;
use crate::client::factory::LinkFactory;
use crate::client::links::Links;
use crate::client::picker::Picker;
use crate::client::retries::AttemptBudget;
use crate::client::retrying::ATTEMPTS_MAX;
use crate::endpoint::Endpoint;
use crate::endpoint::offer::{OfferBuilder, ServiceOffer, offering_setters};
use crate::observe::ChannelServers;
use crate::settings::{connection_setters, forwarded_setters};
use crate::{Error, Middleware};
use frisbee::{Client, ClientBuilder, HeaderForm, Protocol as _};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;

/// The default timeout of connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a call waits for a lost connection to be replaced.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The name of a server that a connector reaches.
const CONNECTOR: &str = "the server";

impl Channel {
    /// Connects to `host:port`, or on Unix to the socket at a path, as in `unix:/run/service.sock`. On Linux, with the
    /// feature `shm`, `unix+shm:/run/service.sock` offers the server there to share memory.
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
    /// If no address of the name accepts the connection within 10 s.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt; there is no channel then, and an open connection is closed.
    pub async fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Self::builder().connect(address).await
    }

    /// Creates a channel over a transport: anything that reads and writes bytes. The connection cannot be replaced:
    /// when it is lost, calls fail with [`Unavailable`](crate::Code::Unavailable).
    ///
    /// # Errors
    /// None: only TLS and services, which a builder sets, can fail.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and drops the transport.
    pub async fn connect_io<T>(io: T) -> Result<Self, Error>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::builder().connect_io(io).await
    }

    /// The default settings.
    pub fn builder() -> ChannelBuilder {
        ChannelBuilder::new()
    }
}

offering_setters!(ChannelBuilder);
connection_setters!(ChannelBuilder, |builder: &Self| {
    tracing::info!(target: "frpc::client", settings = ?builder.to_settings(), "settings of a channel");
});

forwarded_setters! { ChannelBuilder:
    /// Sets how long the server may take to show whether it is a native peer; see
    /// [`frisbee::ClientBuilder::peer_kind_timeout`]. Default: 5 s.
    peer_kind_timeout(timeout: Duration);

    /// Sets the form of headers: [`HeaderForm::Old`] for servers on frisbee-go up to v0.10.2.
    header_form(form: HeaderForm);

    /// Offers to share memory with servers on Unix sockets, also at addresses that begin with `unix:`; see
    /// [`frisbee::ClientBuilder::shared_memory`]. Default: only at those that begin with `unix+shm:`.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    shared_memory(connector: crate::shm::Connector);

    /// Speaks TLS; see [`frisbee::ClientBuilder::tls`]. Default: no TLS.
    #[cfg(feature = "tls")]
    tls(tls: frisbee::tls::ClientTls);

    /// Sets the name in the server's certificate. Default: the host of the address.
    #[cfg(feature = "tls")]
    server_name(name: impl Into<String>);
}

/// The settings of a [`Channel`].
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
    pub(crate) connect_timeout: Duration,
    pub(crate) log_settings: Option<fn(&Self)>,
    hedge_after: Option<Duration>,
    attempts_max: u32,
    /// The middleware around the channel's calls.
    chain: Chain,
}

impl ChannelBuilder {
    /// The default settings.
    pub(crate) fn new() -> Self {
        Self {
            inner: Client::builder(),
            options: CallOptions::default(),
            reconnect_timeout: RECONNECT_TIMEOUT,
            offering: Arc::default(),
            connect_timeout: CONNECT_TIMEOUT,
            log_settings: None,
            hedge_after: None,
            attempts_max: ATTEMPTS_MAX,
            chain: Chain::default(),
        }
    }

    /// Runs a middleware around the calls that the channel makes, inside of earlier ones, as
    /// [`Channel::with_middleware`] does. A service that this end [offers](Self::add_service) brings its own
    /// middleware: `add_service(AgentServer::new(agent).with_middleware(…))`.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.chain.push(middleware);
        self
    }

    /// Sets the default timeout of calls. Default: 30 s, and then the server does not learn it.
    ///
    /// For a streaming call the timeout bounds the opening until the first message can be sent, and the wait for a
    /// single reply after the last message. The streams themselves have no time limit unless the request has a timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        (self.options.timeout, self.options.sends_timeout) = (Some(timeout), true);
        self
    }

    /// Removes the default timeout. A Go server never answers a request that it cannot decode.
    pub fn dangerous_no_timeout(mut self) -> Self {
        (self.options.timeout, self.options.sends_timeout) = (None, false);
        self
    }

    /// Whether to refuse calls to a compat server whose message its wire cannot express, with
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition). Default: `false`; absent fields are sent as their
    /// defaults.
    pub fn strict_presence(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Sets the timeout of connecting. Default: 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.inner = self.inner.connect_timeout(timeout);
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long a call that was not sent waits for a lost connection to be replaced. Default: 5 s. Connecting goes
    /// on afterwards, for later calls.
    ///
    /// A call does not wait where something has answered that speaks another protocol: it fails at once and says which,
    /// and the port is not dialled again for 1 to 2 s.
    pub fn reconnect_timeout(mut self, reconnect_timeout: Duration) -> Self {
        self.reconnect_timeout = reconnect_timeout;
        self
    }

    /// Sets the most attempts at one unary call of a method that the schema declares idempotent (`idempotency_level`),
    /// the first and a [hedged](Self::hedge_after) one included; 1 turns retries off. Default: 2. An attempt that was
    /// not sent does not count. Other calls are sent at most once.
    ///
    /// A retry follows a lost connection, or at a channel to several servers the answer
    /// [`Unavailable`](crate::Code::Unavailable), after a pause of 5 to 10 ms that doubles with each further retry, up to
    /// 1 s. All calls of a channel share a budget: ten retries, and one for each ten calls that succeed.
    pub fn attempts_max(mut self, attempts: u32) -> Self {
        self.attempts_max = attempts.max(1);
        self
    }

    /// Sets the time after which a call without an answer is made at a second server as well: it is hedged. Only unary calls
    /// of methods are that the schema declares idempotent (`idempotency_level`), since both servers may run them. The first
    /// answer counts, and the other call is cancelled. Default: never.
    ///
    /// At most 2 % of such calls are hedged, and each takes one of the retries that the channel has: ten, and one for each
    /// ten calls that succeed. So servers in trouble do not get more work for it. A time that one call in a hundred takes
    /// makes good use of them. A hedged call is one call for observers, which are notified of the second attempt as of a
    /// [retry](crate::observe::Observer::retry); both attempts have the deadline of the call, and its metadata. Each call
    /// that can be hedged allocates its future and a timer. A channel to a single server hedges nothing.
    pub fn hedge_after(mut self, time: Duration) -> Self {
        self.hedge_after = Some(time);
        self
    }

    /// Compresses the requests of these methods, with names like `package.Service/Method`, and their streamed messages,
    /// for servers that [take it](Self::accept_compressed); the channel takes it as well then. Default: nothing is
    /// compressed.
    ///
    /// [`ServerBuilder::compress`](crate::ServerBuilder::compress) has the details and exceptions. Calls of a server to
    /// its clients, and replies to them, are not packed. A name that no method has is ignored.
    #[cfg(feature = "zstd")]
    pub fn compress<M: Into<String>>(mut self, methods: impl IntoIterator<Item = M>) -> Self {
        let packing = Arc::make_mut(self.offering().packing.get_or_insert_default());
        methods.into_iter().for_each(|method| packing.add(&method.into()));
        self
    }

    /// Connects to `host:port`, or on Unix to the socket at a path, as in `unix:/run/service.sock`. On Linux, with the
    /// feature `shm`, `unix+shm:/run/service.sock` offers the server there to share memory, and continues over the
    /// socket if it does not.
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
    /// As [`Channel::connect`], and if two services or mounted routers overlap.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt; there is no channel then, and an open connection is closed.
    pub async fn connect(self, address: impl Into<String>) -> Result<Channel, Error> {
        self.connect_using(Dialler::address(address.into())?).await
    }

    /// Connects by a function that makes a transport: anything that reads and writes bytes. The function is called
    /// again when the connection has been lost and a call needs one.
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
    /// The first error of the function, or if it takes longer than [`connect_timeout`](Self::connect_timeout).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt; there is no channel then, and an open connection is closed.
    pub async fn connect_with_connector<C, F, T>(self, connector: C) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let dialler = Dialler::connector(CONNECTOR, connector, self.connect_timeout);
        self.connect_using(dialler).await
    }

    /// Creates a channel to an address without connecting yet. The first call connects, and waits as after a [lost
    /// connection](Self::reconnect_timeout); so does [`Channel::stay_connected`].
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
    /// If the address is not of the form that [`connect`](Self::connect) takes, or if two services or mounted routers
    /// overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connection.
    pub fn connect_lazy(self, address: impl Into<String>) -> Result<Channel, Error> {
        self.connect_lazy_by(Dialler::address(address.into())?)
    }

    /// Creates a channel over transports of a [connector](Self::connect_with_connector) without connecting yet, as
    /// [`connect_lazy`](Self::connect_lazy) does.
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
        let dialler = Dialler::connector(CONNECTOR, connector, self.connect_timeout);
        self.connect_lazy_by(dialler)
    }

    /// Creates a channel whose calls get their connections from a [`Picker`], such as the fleet of the crate `frpc-balance`.
    /// The function makes it with the links of the [`LinkFactory`]; see the [module](crate::picker) for an example.
    ///
    /// # Errors
    /// Those of the function, and if two services or mounted routers overlap.
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

    /// Creates a channel over a transport, as [`Channel::connect_io`] does.
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

    /// The future is boxed here, so that programs do not compile the client once more.
    fn connect_using(mut self, dialler: Dialler) -> BoxFuture<'static, Result<Channel, Error>> {
        Box::pin(async move {
            let offer = self.offer()?;
            let links = Links::by(self.factory(&offer), dialler, None);
            links.dial().await?;
            Ok(self.channel(Arc::new(links), &offer))
        })
    }

    fn connect_lazy_by(mut self, dialler: Dialler) -> Result<Channel, Error> {
        let offer = self.offer()?;
        let links = Links::by(self.factory(&offer), dialler, None);
        Ok(self.channel(Arc::new(links), &offer))
    }

    /// The offer on every connection.
    fn offer(&mut self) -> Result<Arc<ServiceOffer>, Error> {
        self.log_settings.iter().for_each(|log| log(self));
        let offer = std::mem::take(&mut self.offering).done()?;
        Endpoint::serving(offer.clone()).check()?;
        Ok(offer)
    }

    fn factory(&self, offer: &Arc<ServiceOffer>) -> LinkFactory {
        LinkFactory {
            client: self.inner.clone(),
            reconnect_timeout: self.reconnect_timeout,
            connect_timeout: self.connect_timeout,
            offer: offer.clone(),
            runtime: Handle::current(),
        }
    }

    fn channel(self, picker: Arc<dyn Picker>, offer: &ServiceOffer) -> Channel {
        let observers = offer.observers.clone();
        let hedge_after = self.hedge_after.filter(|_| picker.has_several());
        let inner = Arc::new(ChannelShared {
            picker,
            retries: AttemptBudget::full(),
            hedge_after,
            hedges: AttemptBudget::default(),
            attempts_max: self.attempts_max,
            options: self.options,
            runtime: Handle::current(),
            observer: observers.clone(),
        });
        if let Some(observers) = &observers {
            let channel: Weak<ChannelShared> = Arc::downgrade(&inner);
            observers.channel(&ChannelServers::new(channel));
        }
        let layers = Layers { chain: self.chain.present(), hedges: hedge_after.is_some(), ..Layers::default() };
        Channel { inner, layers: layers.present() }
    }
}
