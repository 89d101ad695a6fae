//! The channel: a client's handle for calls, over connections that are replaced when they are lost.

use crate::api::hand_off::HandedOff;
use crate::api::middleware::{CallKind, Chain};
use crate::calls::attached;
use crate::client::fleet::choice::Chosen;
use crate::client::hedging::Hedging;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::retries::RetryBudget;
use crate::client::retrying::ATTEMPTS_MAX;
use crate::client::servers::Servers;
use crate::client::terms::Terms;
use crate::deadline;
use crate::observe::watching::{Begun, Watched, Watching};
use crate::observe::{About, Side};
use crate::schema::method::Method;
use crate::{Middleware, Request, Status};
use frisbee::Connection;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// The default timeout of a call, and of the opening of a stream. A Go server never answers a request that it cannot
/// decode, so calls need an end; no call within a data centre should come near this one. The server does not learn this
/// timeout.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// A handle for calls to a server, any number of them at once over one connection.
///
/// Calls may be made and polled on any thread, also outside of a tokio runtime. The runtime in which the channel was
/// made has to exist.
///
/// Clones share the connection. When 16 384 calls are in flight, or as many as the server accepts, further calls wait.
/// A connection that is lost, or whose server is about to stop, is replaced. Calls that were not sent go to the new
/// connection. Calls that were sent fail with a status that [may have run](Status::may_have_run), unless the method is
/// unary and idempotent by its `idempotency_level`: such a call is made once more, after a short pause; see
/// [`attempts_max`](crate::ChannelBuilder::attempts_max). No other call is sent twice.
///
/// [`connect_all`](crate::ChannelBuilder::connect_all) makes a channel to several servers, with a connection to each.
///
/// A channel owns its connections. They close when the last clone, call and stream of the channel is gone, or when the
/// channel is [closed](Self::close) and its calls and streams have ended. A [`Connection`] is a handle that owns
/// nothing: dropping it does not close the connection.
///
/// ```
/// use samples::greeter::{GreeterClient, Name};
/// use frpc::Channel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let address = samples::started::greeter().await?;
/// let channel = Channel::connect(address).await?;
/// // Clients of all services share the channel, and each task may have a clone.
/// let client = GreeterClient::new(channel.clone());
/// let (ada, grace) = tokio::join!(
///     client.greet(Name { name: "Ada".to_owned() }),
///     client.greet(Name { name: "Grace".to_owned() }),
/// );
/// assert_eq!(ada?.get_ref().text, "Hello, Ada!");
/// assert_eq!(grace?.get_ref().text, "Hello, Grace!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Channel {
    pub(crate) inner: Arc<ChannelShared>,
    /// What is done beside making a call.
    pub(crate) beside: Option<Arc<Beside>>,
}

/// What is done beside making a call. In one place, so that other calls pay for a single look.
#[derive(Clone, Default)]
pub(crate) struct Beside {
    /// The middleware around calls.
    pub(crate) chain: Option<Arc<Chain>>,
    /// If present, unary calls request a hand-off and put the transport here.
    pub(crate) handed: Option<HandedOff>,
    /// Who observes calls.
    pub(crate) watching: Option<Arc<Watching>>,
    /// Calls may be made at a second server as well, or servers are asked before them.
    pub(crate) deliberates: bool,
    /// Calls are counted, and nothing else is done.
    pub(crate) only_counts: bool,
    /// Calls are counted and an observer is told of them, and nothing else is done.
    pub(crate) only_tells: bool,
    /// Calls have middleware, and nothing else is done around it.
    pub(crate) only_wraps: bool,
}

impl Beside {
    /// Whether an observer is told of each call.
    pub(crate) fn is_told(&self) -> bool {
        self.watching.as_ref().is_some_and(|watching| watching.is_told())
    }

    /// The same, unless it is nothing.
    pub(crate) fn present(mut self) -> Option<Arc<Self>> {
        let only_observes = self.chain.is_none() && self.handed.is_none() && !self.deliberates;
        (self.only_counts, self.only_tells) = (only_observes && !self.is_told(), only_observes && self.is_told());
        self.only_wraps = self.chain.is_some() && self.handed.is_none() && self.watching.is_none();
        let is_present = !only_observes || self.watching.is_some();
        is_present.then(|| Arc::new(self))
    }
}

pub(crate) struct ChannelShared {
    pub(crate) servers: Servers,
    pub(crate) retries: RetryBudget,
    pub(crate) hedging: Option<Hedging>,
    /// The most attempts at an idempotent call.
    pub(crate) attempts_max: u32,
    /// The default timeout of calls, and of the opening of streams.
    pub(crate) timeout: Option<Duration>,
    /// Whether an extended server gets the default timeout.
    pub(crate) is_told: bool,
    pub(crate) strict_presence: bool,
    /// The runtime for the timers of calls that are made outside of any runtime.
    pub(crate) runtime: Handle,
    /// Who observes calls.
    pub(crate) watching: Option<Arc<Watching>>,
}

impl Channel {
    /// Creates a channel to the peer of an existing connection, which either end may have dialled.
    ///
    /// In this way a server calls services that a client offers by
    /// [`ChannelBuilder::add_service`](crate::ChannelBuilder::add_service): from a handler by
    /// [`Request::channel`], or from [`ServerBuilder::on_connect`](crate::ServerBuilder::on_connect). The generated
    /// clients are the same. All channels of a connection share its limit of calls in flight. Calls fail with
    /// [`Unavailable`](crate::Code::Unavailable) when the connection has ended, and with
    /// [`Unimplemented`](crate::Code::Unimplemented) if the client is plain or offers no service. They are observed as the
    /// other calls of this end. Dropping the channel
    /// does not close the connection.
    ///
    /// The connection has to belong to a [`Server`](crate::Server) or a [`Channel`] of this crate. On other connections
    /// calls fail.
    pub fn from_connection(connection: &Connection) -> Self {
        let watching = attached::watching(connection);
        let servers = Servers::One(Links::bound(Link::of(connection, watching.as_ref())));
        Self {
            inner: Arc::new(ChannelShared {
                servers,
                retries: RetryBudget::default(),
                hedging: None,
                attempts_max: ATTEMPTS_MAX,
                timeout: Some(TIMEOUT),
                is_told: false,
                strict_presence: false,
                runtime: connection.runtime_handle().clone(),
                watching: watching.clone(),
            }),
            beside: Beside { watching, ..Beside::default() }.present(),
        }
    }

    /// Creates a channel whose unary calls request a hand-off of the connection, and the place where the transport is
    /// found if the handler accepts; see [`hand_off`](crate::hand_off). Streaming calls are made as usual.
    ///
    /// ```no_run
    /// # async fn open(channel: frpc::Channel) -> Result<(), frpc::Status> { Ok(()) }
    /// # async fn example(channel: frpc::Channel) -> Result<(), frpc::Status> {
    /// let (asking, handed) = channel.handing_off();
    /// let reply = open(asking).await?; // A call by a generated client: `GatewayClient::new(asking).open(…)`.
    /// let raw = handed.take().expect("the handler has agreed");
    /// # Ok(())
    /// # }
    /// ```
    pub fn handing_off(&self) -> (Self, HandedOff) {
        let handed = HandedOff::default();
        (self.with(|beside| beside.handed = Some(handed.clone())), handed)
    }

    /// Creates a channel with a middleware around its calls, inside of the middleware that `self` has. `self` and its
    /// clones do not change.
    pub fn with_middleware(&self, middleware: impl Middleware) -> Self {
        let mut chain = self.chain().map(|chain| Chain::clone(&chain)).unwrap_or_default();
        chain.push(middleware);
        self.with(|beside| beside.chain = chain.present())
    }

    /// Keeps the channel connected: a connection that is lost, or whose server is about to stop, is replaced at once,
    /// and after growing pauses if that fails. Without this the next call replaces it. For clients that are called more
    /// often than they call. Channels to several servers stay connected in any case.
    ///
    /// The future is ready when the channel is [closed](Self::close), or when the connection of a channel [made from
    /// one](Self::from_connection) has ended. Of a channel to several servers it is never ready.
    ///
    /// # Cancel safety
    /// Safe: dropping the future ends the effect.
    pub async fn stay_connected(&self) {
        self.inner.servers.stay_connected().await;
    }

    /// Closes the channel and all its clones. Calls that have not been sent, and all later calls, fail at once with
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition). Calls and streams in progress go on, and the
    /// connections close when the last of them has ended. The connection of a channel [made from
    /// one](Self::from_connection) stays open, since the channel does not own it.
    ///
    /// Closing a [`Connection`] of the channel is different: the next call makes a new one.
    pub fn close(&self) {
        self.inner.servers.close();
    }

    /// The current connection. `None` if it is lost and has not been replaced. Of several connections, one that a call
    /// might use.
    pub fn connection(&self) -> Option<Connection> {
        self.inner.servers.connection().map(|link| link.connection.clone())
    }

    /// Polls a call in the channel's runtime if it is polled outside of any runtime: its timers need one.
    pub(crate) async fn in_runtime<F: Future>(&self, call: F) -> F::Output {
        let mut call = pin!(call);
        poll_fn(|context| self.poll_in_runtime(|| call.as_mut().poll(context))).await
    }

    /// Polls a part of a call in the channel's runtime, if that happens outside of any.
    #[inline]
    pub(crate) fn poll_in_runtime<T>(&self, poll: impl FnOnce() -> T) -> T {
        let is_outside = !is_in_task() && Handle::try_current().is_err();
        let _entered = is_outside.then(|| self.inner.runtime.enter());
        poll()
    }

    /// The channel with something else done beside calls.
    fn with(&self, change: impl FnOnce(&mut Beside)) -> Self {
        let mut beside = self.beside.as_deref().cloned().unwrap_or_default();
        change(&mut beside);
        Self { inner: self.inner.clone(), beside: beside.present() }
    }

    /// The middleware around calls.
    pub(crate) fn chain(&self) -> Option<Arc<Chain>> {
        self.beside.as_ref()?.chain.clone()
    }

    /// The channel without middleware and observers, which are around the call already.
    #[inline]
    pub(crate) fn plain(&self) -> Self {
        let kept = self.beside.as_ref().filter(|beside| beside.handed.is_some() || beside.deliberates);
        let beside = kept.map(|kept| {
            Arc::new(Beside { handed: kept.handed.clone(), deliberates: kept.deliberates, ..Beside::default() })
        });
        Self { inner: self.inner.clone(), beside }
    }

    /// A call that begins, as its observer knows it. `begun` is given if it has begun before.
    pub(crate) fn watched(&self, method: &Method, kind: CallKind, begun: Option<Begun>) -> Option<Watched> {
        let watching = self.beside.as_ref()?.watching.as_ref()?;
        let watcher = watching.watcher(About::named(Side::Client, *method, kind));
        let trace = deadline::trace();
        Some(match begun {
            Some(begun) if watching.is_told() => watcher.begun(begun, 0),
            Some(begun) => watcher.begun(Begun { trace, ..begun }, 0),
            None => watcher.begin(trace),
        })
    }

    /// A connection for a call with the deadline `until`. The start of the wait for a connection is kept in `begun`.
    pub(crate) async fn link(
        &self,
        until: Option<std::time::Instant>,
        begun: &mut Option<Instant>,
    ) -> Result<Chosen, Status> {
        let servers = &self.inner.servers;
        if let Some(chosen) = servers.chosen() {
            return Ok(chosen);
        }
        let connect = servers.connect(*begun.get_or_insert_with(Instant::now));
        match until {
            None => connect.await,
            Some(until) => {
                let connected = deadline::timeout_at(&self.inner.runtime, until, connect).await;
                connected.unwrap_or_else(|_| Err(servers.late()))
            }
        }
    }

    /// The status of a call for which there was no connection in time.
    pub(crate) fn late(&self) -> Status {
        self.inner.servers.late()
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.inner.strict_presence
    }

    /// The terms of a call that inherits nothing.
    #[inline]
    pub(crate) fn own_terms(&self, own: Option<Duration>) -> Terms {
        let ChannelShared { timeout, is_told, strict_presence, .. } = *self.inner;
        Terms { timeout: own.or(timeout), told: is_told || own.is_some(), strict: strict_presence }
    }

    #[inline]
    pub(crate) fn terms(&self, own: Option<Duration>) -> Terms {
        let ChannelShared { timeout, is_told, strict_presence, .. } = *self.inner;
        Terms {
            timeout: deadline::allowed(own.or(timeout)),
            told: is_told || own.is_some() || deadline::is_inherited(),
            strict: strict_presence,
        }
    }
}

/// Whether a task is being polled, which is in a runtime. This is quickly asked.
#[inline]
pub(crate) fn is_in_task() -> bool {
    tokio::task::try_id().is_some()
}

impl<T> Request<T> {
    /// In a handler: a channel to the caller, over the connection of the request; see [`Channel::from_connection`].
    pub fn channel(&self) -> Option<Channel> {
        self.connection().map(Channel::from_connection)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("to", &self.inner.servers.names()).finish_non_exhaustive()
    }
}
