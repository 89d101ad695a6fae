//! Settings of a channel, and the ways to connect one.

use crate::api::middleware::Chain;
use crate::client::channel::{Channel, ChannelShared, TIMEOUT};
use crate::client::dial::{Address, Connector, Dialler, Given};
use crate::client::links::Links;
use crate::client::making::Maker;
use crate::client::retries::RetryBudget;
use crate::client::servers::{Servers, Several};
use crate::endpoint::offer::{Offer, Offering, offering_setters};
use crate::{Error, IoBackend, Middleware, Workers};
use frisbee::{Client, ClientBuilder, HeaderForm};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a call waits for a lost connection to be made anew.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

impl Channel {
    /// Connects to `host:port`, or on Unix to the socket at a path as in `unix:/run/service.sock`.
    ///
    /// # Errors
    /// If no address that the name stands for accepts the connection within 10 s.
    pub async fn connect(address: impl Into<String>) -> Result<Self, Error> {
        Self::builder().connect(address).await
    }

    /// Makes a channel of anything that reads and writes bytes. It cannot be made anew: when that connection is lost,
    /// calls fail with [`Unavailable`](crate::Code::Unavailable) and say so.
    ///
    /// # Errors
    /// None, without TLS.
    pub async fn connect_io<T>(io: T) -> Result<Self, Error>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self::builder().connect_io(io).await
    }

    /// Settings to begin with.
    pub fn builder() -> ChannelBuilder {
        ChannelBuilder::new()
    }
}

offering_setters!(ChannelBuilder);

/// Settings of a [`Channel`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ChannelBuilder {
    client: ClientBuilder,
    timeout: Option<Duration>,
    is_told: bool,
    strict_presence: bool,
    patience: Duration,
    offering: Offering,
    connect_timeout: Duration,
    /// The middleware around the calls that are made.
    chain: Chain,
}

impl ChannelBuilder {
    /// What is set unless told otherwise.
    pub(crate) fn new() -> Self {
        Self {
            client: Client::builder(),
            timeout: Some(TIMEOUT),
            is_told: false,
            strict_presence: false,
            patience: CONNECT_PATIENCE,
            offering: Offering::default(),
            connect_timeout: CONNECT_TIMEOUT,
            chain: Chain::default(),
        }
    }

    /// Runs a middleware around the calls that the channel makes, inside of what has been added before, as
    /// [`Channel::with_middleware`] does. A service that this end [offers](Self::add_service) brings its own middleware:
    /// `add_service(AgentServer::new(agent).with_middleware(…))`.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.chain.push(middleware);
        self
    }

    /// Sets how long a call may take unless its request says otherwise. Default: 30 s, of which the server is not told.
    ///
    /// A call with streams may take that long to be opened, until its first message can be sent, and to give a single
    /// reply once the last message has been sent; the streams last as long as they like unless the request has a
    /// timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self.is_told = true;
        self
    }

    /// Lets calls take as long as they like. A Go server never answers a request that it cannot decode.
    pub fn dangerous_no_timeout(mut self) -> Self {
        self.timeout = None;
        self.is_told = false;
        self
    }

    /// Refuses calls to a Go server whose messages its wire cannot express, with
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition), instead of sending defaults for what is absent.
    pub fn strict_presence(mut self, strict: bool) -> Self {
        self.strict_presence = strict;
        self
    }

    /// Sets how long the server may take to show whether it is an extended peer; see
    /// [`frisbee::ClientBuilder::peer_kind_timeout`]. Default: 5 s.
    pub fn peer_kind_timeout(mut self, timeout: Duration) -> Self {
        self.client = self.client.peer_kind_timeout(timeout);
        self
    }

    /// Sets how long connecting may take. Default: 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.client = self.client.connect_timeout(timeout);
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long a call that was not sent waits for a lost connection to be made anew. Default: 5 s. Connecting
    /// goes on without it, for the next call.
    pub fn reconnect_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the form of headers: [`HeaderForm::Old`] for servers on frisbee-go up to v0.10.2.
    pub fn header_form(mut self, form: HeaderForm) -> Self {
        self.client = self.client.header_form(form);
        self
    }

    /// Sets which threads drive the connection. Default: [`Workers::Caller`], the current tokio runtime; see
    /// [`frisbee::ClientBuilder::workers`].
    pub fn workers(mut self, workers: Workers) -> Self {
        self.client = self.client.workers(workers);
        self
    }

    /// Sets what moves the bytes of the connection. Default: the current tokio runtime; see
    /// [`frisbee::ClientBuilder::runtime`].
    pub fn io_backend(mut self, backend: IoBackend) -> Self {
        self.client = self.client.io_backend(backend);
        self
    }

    /// Sets for how long the connection keeps its thread awake after something has happened on it. Default: not at
    /// all. See [`frisbee::ServerBuilder::busy_poll`].
    pub fn busy_poll(mut self, time: Duration) -> Self {
        self.client = self.client.busy_poll(time);
        self
    }

    /// Sets the limits and times of the connection.
    pub fn config(mut self, config: frisbee::Config) -> Self {
        self.client = self.client.config(config);
        self
    }

    /// Speaks TLS; see [`frisbee::ClientBuilder::tls`]. Default: no TLS.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: frisbee::tls::ClientTls) -> Self {
        self.client = self.client.tls(tls);
        self
    }

    /// Sets the name that the server's certificate has to be for. Default: the host of the address.
    #[cfg(feature = "tls")]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.client = self.client.server_name(name);
        self
    }

    /// Connects to `host:port`, or on Unix to the socket at a path as in `unix:/run/service.sock`.
    ///
    /// # Errors
    /// As [`Channel::connect`], and if two services or mounted routers overlap.
    pub async fn connect(self, address: impl Into<String>) -> Result<Channel, Error> {
        self.connect_using(Box::new(Address::new(address)?)).await
    }

    /// Connects by a function that makes a transport: anything that reads and writes bytes. It is called again
    /// whenever the connection has been lost and a call is to be made.
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
    /// What the function says the first time, or if it takes longer than
    /// [`connect_timeout`](Self::connect_timeout).
    pub async fn connect_with_connector<C, F, T>(self, connector: C) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let to = Connector { connector, timeout: self.connect_timeout };
        self.connect_using(Box::new(to)).await
    }

    /// As [`connect`](Self::connect), but at once: the connection is made when a call needs it, which waits as one does
    /// whose connection [was lost](Self::reconnect_patience), or by [`Channel::stay_connected`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), frpc::Error> {
    /// // Nobody has to listen there yet.
    /// let channel = frpc::Channel::builder().connect_lazy("127.0.0.1:8080")?;
    /// assert!(channel.connection().is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there can never be a connection to the address, since it is not of that form, or two services or mounted
    /// routers overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which is to drive the connection.
    pub fn connect_lazy(self, address: impl Into<String>) -> Result<Channel, Error> {
        self.connect_lazy_by(Box::new(Address::new(address)?))
    }

    /// As [`connect_with_connector`](Self::connect_with_connector), but at once, as [`connect_lazy`](Self::connect_lazy).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn connect_lazy_with_connector<C, F, T>(self, connector: C) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let timeout = self.connect_timeout;
        self.connect_lazy_by(Box::new(Connector { connector, timeout }))
    }

    /// Connects to several servers that offer the same services, each by an address as in [`connect`](Self::connect),
    /// and is ready when the first connection is there.
    ///
    /// A call goes to the server with fewer calls and streams of this channel in progress, of two that are drawn at
    /// random among those that are connected; one that was not sent, or may be made once more, is placed anew. A server
    /// that answers with [`Unavailable`](crate::Code::Unavailable) or
    /// [`ResourceExhausted`](crate::Code::ResourceExhausted) gets one in 64 of the calls for which it is drawn with
    /// another, until it answers with something else. Each connection is made anew when it is lost, whether there are
    /// calls or not, with growing pauses while its server is away. An address that is given several times gets as many
    /// connections, and a name that stands for several addresses gets one.
    ///
    /// What is done for a connection and not for a call, such as logging in once, has no place here: each call may go
    /// elsewhere.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), frpc::Error> {
    /// let channel = frpc::Channel::builder().connect_all(["10.0.0.1:8080", "10.0.0.2:8080"]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If no server accepts a connection, with what the last of them has failed by; if there is no address, or one to
    /// which there can never be a connection; if two services or mounted routers overlap.
    pub async fn connect_all<A: Into<String>>(self, addresses: impl IntoIterator<Item = A>) -> Result<Channel, Error> {
        let diallers: Vec<_> = addresses.into_iter().map(Address::new).collect::<Result<_, _>>()?;
        self.connect_all_by(diallers.into_iter()).await
    }

    /// As [`connect_all`](Self::connect_all), each connection by a function as in [`connect_with_connector`](Self::connect_with_connector).
    ///
    /// # Errors
    /// As there.
    pub async fn connect_all_with_connectors<C, F, T>(
        self,
        connectors: impl IntoIterator<Item = C>,
    ) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let timeout = self.connect_timeout;
        self.connect_all_by(connectors.into_iter().map(|connector| Connector { connector, timeout })).await
    }

    /// As [`Channel::connect_io`].
    ///
    /// # Errors
    /// As there.
    pub async fn connect_io<T>(self, io: T) -> Result<Channel, Error>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.connect_using(Box::new(Given(Mutex::new(Some(io))))).await
    }

    async fn connect_using(mut self, dialler: Box<dyn Dialler>) -> Result<Channel, Error> {
        let offer = self.offer()?;
        let links = self.links(dialler, &offer, &Arc::default());
        links.connect_first().await?;
        Ok(self.channel(Servers::One(links)))
    }

    fn connect_lazy_by(mut self, dialler: Box<dyn Dialler>) -> Result<Channel, Error> {
        let offer = self.offer()?;
        let links = self.links(dialler, &offer, &Arc::default());
        Ok(self.channel(Servers::One(links)))
    }

    async fn connect_all_by(mut self, diallers: impl Iterator<Item = impl Dialler>) -> Result<Channel, Error> {
        let offer = self.offer()?;
        let made = Arc::default();
        let all = diallers.map(|dialler| self.links(Box::new(dialler), &offer, &made)).collect();
        let Some(several) = Several::connected(all, made, self.patience, &Handle::current()).await else {
            return Err(Error::NoServers);
        };
        Ok(self.channel(Servers::Several(several?)))
    }

    /// What all connections offer.
    fn offer(&mut self) -> Result<Arc<Offer>, Error> {
        Ok(Arc::new(std::mem::take(&mut self.offering).done()?))
    }

    /// Connections that are still to be made, of which `made` tells.
    fn links(&self, dialler: Box<dyn Dialler>, offer: &Arc<Offer>, made: &Arc<Notify>) -> Links {
        Links::by(Maker {
            client: self.client.clone(),
            dialler: dialler.into(),
            patience: self.patience,
            offer: offer.clone(),
            runtime: Handle::current(),
            made: made.clone(),
        })
    }

    fn channel(self, servers: Servers) -> Channel {
        Channel {
            inner: Arc::new(ChannelShared {
                servers,
                retries: RetryBudget::default(),
                timeout: self.timeout,
                is_told: self.is_told,
                strict_presence: self.strict_presence,
                runtime: Handle::current(),
            }),
            chain: self.chain.present(),
            handed: None,
        }
    }
}
