//! The calling end: calls, on a connection that is made anew when it is lost.

use crate::api::hand_off::HandedOff;
use crate::api::middleware::Chain;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::retries::RetryBudget;
use crate::client::servers::Servers;
use crate::client::terms::Terms;
use crate::deadline;
use crate::{Middleware, Request, Status};
use frisbee::Connection;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// How long a call may take, and the opening of a stream, unless told otherwise. A Go server never answers a request
/// that it cannot decode, so there has to be an end; no call within a data centre should come near this one. It is kept
/// here and not sent.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Calls to a server, any number at one time, on one connection.
///
/// Calls may be made and their futures polled on any thread, outside of a tokio runtime as well; the one in which the
/// channel was made has to be there.
///
/// Clones share the connection. When 16 384 calls are in flight, or as many as the server takes, further ones wait for
/// their turn. A connection that is lost, or whose server is about to stop, is replaced by a new one: a call that was
/// not sent yet goes there, one that was sent fails with a status that [says so](Status::may_have_run), unless its
/// method is unary and idempotent by its `idempotency_level`: then it is made once more. Nothing is ever sent twice in
/// silence.
///
/// [`connect_all`](ChannelBuilder::connect_all) makes a channel to several servers, with a connection to each.
///
/// A channel owns the connections that it makes: they are closed when the last of its clones, calls and streams has gone,
/// or when it is [closed](Self::close) and its calls and streams are over. A [`Connection`] is a handle, which owns
/// nothing: it closes when it is told to, and not when it is dropped.
#[derive(Clone)]
pub struct Channel {
    pub(crate) inner: Arc<ChannelShared>,
    /// What runs around calls.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Unary calls ask for the connection, which is put here.
    pub(crate) handed: Option<HandedOff>,
}

pub(crate) struct ChannelShared {
    pub(crate) servers: Servers,
    pub(crate) retries: RetryBudget,
    /// How long calls may take, and the opening of streams, unless their requests say otherwise.
    pub(crate) timeout: Option<Duration>,
    /// Whether a server of ours is told of that.
    pub(crate) is_told: bool,
    pub(crate) strict_presence: bool,
    /// Where calls have their timers if they are made outside of any runtime.
    pub(crate) runtime: Handle,
}

impl Channel {
    /// Calls to the peer of a connection that is there, whichever end dialled it.
    ///
    /// A server calls a client in this way, which offers services by [`ChannelBuilder::add_service`]: from a handler,
    /// by [`Request::channel`], or from [`ServerBuilder::on_connect`](crate::ServerBuilder::on_connect). The generated
    /// clients are the same. All channels of a connection count as one for what may be in flight. When the connection
    /// has ended calls fail with [`Unavailable`](crate::Code::Unavailable), and so they do with
    /// [`Unimplemented`](crate::Code::Unimplemented) if the peer of a server is Go or offers nothing. Dropping the
    /// channel closes nothing.
    ///
    /// The connection has to be one of a [`Server`](crate::Server) or a [`Channel`] of this crate; on others no call is
    /// answered.
    pub fn from_connection(connection: &Connection) -> Self {
        let servers = Servers::One(Links::bound(Link::of(connection)));
        Self {
            inner: Arc::new(ChannelShared {
                servers,
                retries: RetryBudget::default(),
                timeout: Some(TIMEOUT),
                is_told: false,
                strict_presence: false,
                runtime: connection.runtime_handle().clone(),
            }),
            chain: None,
            handed: None,
        }
    }

    /// The same channel with each unary call asking for the connection, and where that is found if the handler agrees;
    /// see [`hand_off`](crate::hand_off). Streaming calls are made as ever.
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
        let asking = Self { handed: Some(handed.clone()), ..self.clone() };
        (asking, handed)
    }

    /// The same channel with something that runs around its calls, inside of what it has already. Clones of `self`
    /// stay as they are.
    pub fn with_middleware(&self, middleware: impl Middleware) -> Self {
        let mut chain = self.chain.as_deref().cloned().unwrap_or_default();
        chain.push(middleware);
        Self { chain: chain.present(), ..self.clone() }
    }

    /// Keeps the channel connected: a connection that is lost, or whose server is about to stop, is made anew at once,
    /// with growing pauses if that fails. Otherwise it is only when a call is made. For ends that are called more than
    /// they call. Channels to several servers are kept so in any case.
    ///
    /// # Cancel safety
    /// To be dropped: for a channel to one server it is ready when that is [closed](Self::close), for one of a
    /// [connection](Self::from_connection) when that has ended as well, and otherwise never.
    pub async fn stay_connected(&self) {
        self.inner.servers.stay_connected().await;
    }

    /// Closes the channel, for all its clones: no call is made by it any more. Calls that follow or have not been sent
    /// fail at once with [`FailedPrecondition`](crate::Code::FailedPrecondition); calls and streams in progress go on,
    /// and the connections are closed when the last of them is over. The connection of a channel
    /// [made of one](Self::from_connection) stays open, for it belongs to somebody else.
    ///
    /// A [`Connection`] that is closed is another matter: the next call makes a new one.
    pub fn close(&self) {
        self.inner.servers.close();
    }

    /// The connection beneath, at the moment; `None` if it is lost and no call has made it anew. Of several the one
    /// that a call would be placed on.
    pub fn connection(&self) -> Option<Connection> {
        self.inner.servers.current().map(|link| link.connection.clone())
    }

    /// Polls a call in the runtime of the channel if it is polled outside of any: its timers need one.
    pub(crate) async fn in_runtime<F: Future>(&self, call: F) -> F::Output {
        let mut call = pin!(call);
        poll_fn(|context| {
            let is_outside = Handle::try_current().is_err();
            let _entered = is_outside.then(|| self.inner.runtime.enter());
            call.as_mut().poll(context)
        })
        .await
    }

    /// The channel without what runs around its calls.
    pub(crate) fn plain(&self) -> Self {
        Self { chain: None, ..self.clone() }
    }

    /// A connection for a call that may take `until` then, and keeps in `begun` since when it has waited for one.
    pub(crate) async fn link(
        &self,
        until: Option<std::time::Instant>,
        begun: &mut Option<Instant>,
    ) -> Result<Arc<Link>, Status> {
        let servers = &self.inner.servers;
        if let Some(link) = servers.current() {
            return Ok(link);
        }
        let connect = servers.connect(*begun.get_or_insert_with(Instant::now));
        match until {
            None => connect.await,
            Some(until) => tokio::time::timeout_at(until.into(), connect).await.unwrap_or_else(|_| Err(servers.late())),
        }
    }

    /// Why a call is over for which there was no connection in time.
    pub(crate) fn late(&self) -> Status {
        self.inner.servers.late()
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.inner.strict_presence
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

impl<T> Request<T> {
    /// In a handler: calls to whoever called, by the same connection; see [`Channel::from_connection`].
    pub fn channel(&self) -> Option<Channel> {
        self.connection().map(Channel::from_connection)
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("to", &self.inner.servers.names()).finish_non_exhaustive()
    }
}
