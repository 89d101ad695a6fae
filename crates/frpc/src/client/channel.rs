//! The channel that a client makes calls on. The channel replaces lost connections.

use crate::api::hand_off::HandOffSlot;
use crate::api::middleware::{CallKind, Chain};
use crate::calls::attachments::ConnectionEnd;
use crate::client::call::{CallOptions, PendingCall};
use crate::client::hand_off;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::picker::{Pick, PickedConnection, Picker, WaitPolicy};
use crate::client::retries::AttemptBudget;
use crate::client::retrying::ATTEMPTS_MAX;
use crate::context;
use crate::debug::opaque_debug;
use crate::observe::observers::{CallStart, ObservedCall, Observers};
use crate::observe::{CallSide, LoadSource, ObservedMethod, ServerLoad};
use crate::schema::method::Method;
use crate::{Middleware, Request, Status};
use frisbee::Connection;
use frisbee::rpc::ConnectionExt;
use std::any::Any;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Instant;

/// A channel to a server. Any number of calls can be made on it concurrently, over one connection.
///
/// Calls may be made and polled on any thread, even outside of a tokio runtime. The runtime that the channel was
/// created in must still exist.
///
/// Clones share the connection. If the number of calls in flight reaches 16 384 or the limit of the server, further
/// calls wait. A connection is replaced when it is lost or its server begins to shut down. Unsent calls are then sent
/// on the new connection. Calls that were already sent fail with a status that [may have run](Status::may_have_run).
/// Only unary calls of methods that are declared idempotent (`idempotency_level`) are retried after a short delay; see
/// [`attempts_max`](crate::ChannelBuilder::attempts_max). No other call is sent twice.
///
/// The crate `frpc-balance` provides channels to several servers, with a connection to each.
///
/// A channel owns its connections. They are closed when the last clone, call and stream of the channel is dropped, or
/// when the channel is [closed](Self::close) and its calls and streams have ended. In contrast, a [`Connection`] is a
/// non-owning handle: dropping it does not close the connection.
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
    /// Layers around each call, such as middleware. `None` if there are none, so that ordinary calls need only one
    /// check.
    pub(crate) layers: Option<Arc<Layers>>,
}

/// Optional settings that affect each call of a channel: middleware, hand-off, observation, hedging and gRPC.
#[derive(Clone, Default)]
pub(crate) struct Layers {
    /// Middleware that wraps the calls of the channel.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Slot that receives the transport of a handed-off connection. If set, unary calls request a hand-off.
    pub(crate) handed: Option<(HandOffSlot, hand_off::MakeCall)>,
    /// Observed call that surrounds the middleware. Set in the copy of a channel that makes the innermost call, so that
    /// the call is not observed twice.
    pub(crate) observed: Option<CallStart>,
    /// Whether idempotent calls may be hedged, that is, also sent to a second server.
    pub(crate) hedges: bool,
    /// Whether calls use gRPC.
    pub(crate) is_grpc: bool,
}

impl Layers {
    /// Returns the layers, or `None` if none is used.
    pub(crate) fn present(self) -> Option<Arc<Self>> {
        let Self { chain, handed, observed, hedges, is_grpc } = &self;
        let is_present = chain.is_some() || handed.is_some() || observed.is_some() || *hedges || *is_grpc;
        is_present.then(|| Arc::new(self))
    }
}

pub(crate) struct ChannelShared {
    pub(crate) picker: Arc<dyn Picker>,
    /// Retry budget. Each successful call adds a tenth of a retry.
    pub(crate) retries: AttemptBudget<10>,
    /// Time without a reply before an idempotent call is also sent to a second server.
    pub(crate) hedge_after: Option<Duration>,
    pub(crate) hedges: AttemptBudget<2>,
    /// Maximum number of attempts for an idempotent call.
    pub(crate) attempts_max: u32,
    /// Default options for calls and for opening streams.
    pub(crate) options: CallOptions,
    /// Runtime that provides timers for calls polled outside of any runtime.
    pub(crate) runtime: Handle,
    pub(crate) observer: Option<Arc<Observers>>,
}

impl LoadSource for ChannelShared {
    fn loads(&self) -> Vec<ServerLoad> {
        self.picker.loads()
    }
}

impl Channel {
    /// Creates a channel that makes calls on an existing connection, regardless of which end has dialled it.
    ///
    /// Servers use this to call services that a client offers with
    /// [`ChannelBuilder::add_service`](crate::ChannelBuilder::add_service): in a handler through [`Request::channel`],
    /// or in [`ServerBuilder::on_connect`](crate::ServerBuilder::on_connect). The generated clients are the same. All
    /// channels of a connection share its limit of calls in flight. Calls fail with
    /// [`Unavailable`](crate::Code::Unavailable) after the connection has ended, and with
    /// [`Unimplemented`](crate::Code::Unimplemented) if the client is a compat peer or offers no service. They are
    /// observed like other calls of this server. Dropping the channel does not close the connection.
    ///
    /// The connection must belong to a [`Server`](crate::Server) or [`Channel`] of this crate. Calls on other
    /// connections fail.
    pub fn from_connection(connection: &Connection) -> Self {
        let end = ConnectionEnd::of(connection);
        let picker = Arc::new(Links::bound(Link::of(connection, &end)));
        Self {
            inner: Arc::new(ChannelShared {
                picker,
                retries: AttemptBudget::full(),
                hedge_after: None,
                hedges: AttemptBudget::default(),
                attempts_max: ATTEMPTS_MAX,
                options: CallOptions::default(),
                runtime: connection.runtime_handle().clone(),
                observer: end.observers.clone(),
            }),
            layers: None,
        }
    }

    /// Creates a channel for unary calls that request a hand-off, and the slot that receives the transport if the
    /// handler accepts; see [`hand_off`](crate::hand_off). Streaming calls are not affected.
    ///
    /// A connection cannot be handed off while other calls or streams are in progress on it. If the client has other
    /// calls in flight, the call fails immediately with [`Code::FailedPrecondition`](crate::Code::FailedPrecondition).
    /// Otherwise, the request is repeated for up to a second, so that streams can end.
    ///
    /// ```no_run
    /// # async fn open(channel: frpc::Channel) -> Result<(), frpc::Status> { Ok(()) }
    /// # async fn example(channel: frpc::Channel) -> Result<(), frpc::Status> {
    /// let (asking, handed) = channel.request_hand_off();
    /// let reply = open(asking).await?; // A call by a generated client: `GatewayClient::new(asking).open(…)`.
    /// let raw = handed.take().expect("handler should have accepted the hand-off");
    /// # Ok(())
    /// # }
    /// ```
    pub fn request_hand_off(&self) -> (Self, HandOffSlot) {
        let handed = HandOffSlot::default();
        (self.with(|layers| layers.handed = Some((handed.clone(), hand_off::call))), handed)
    }

    /// Creates a channel with a middleware around its calls, inside of the existing middleware. `self` and its clones
    /// do not change.
    ///
    /// ```
    /// # async fn example(channel: frpc::Channel) -> Result<(), Box<dyn std::error::Error>> {
    /// use frpc::{Call, Next};
    ///
    /// let observed = channel.with_middleware(async |call: Call, next: Next| next.run(call).await);
    /// # let _ = observed;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_middleware(&self, middleware: impl Middleware) -> Self {
        let mut chain = self.chain().map(|chain| Chain::clone(&chain)).unwrap_or_default();
        chain.push(middleware);
        self.with(|layers| layers.chain = chain.present())
    }

    /// Keeps the channel connected. If the connection is lost or its server begins to shut down, it is replaced
    /// immediately, with exponential backoff after failures. Without this, only the next call replaces it. Use this for
    /// clients that receive more calls than they make. Channels to several servers always stay connected.
    ///
    /// The future completes when the channel is [closed](Self::close). If the channel was [created from a
    /// connection](Self::from_connection), the future also completes when that connection has ended. It never completes
    /// for a channel to several servers.
    ///
    /// ```
    /// # async fn example(channel: frpc::Channel) -> Result<(), Box<dyn std::error::Error>> {
    /// // In a task, so that the connection is remade even without calls.
    /// tokio::spawn(async move { channel.stay_connected().await });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// Safe. The channel is kept connected only while the future exists.
    pub async fn stay_connected(&self) {
        self.inner.picker.stay_connected().await;
    }

    /// Closes the channel and all its clones. Unsent and later calls fail immediately with
    /// [`FailedPrecondition`](crate::Code::FailedPrecondition). Calls and streams in progress continue, and the
    /// connections are closed when the last of them has ended. If the channel was [created from a
    /// connection](Self::from_connection), the connection stays open, because the channel does not own it, and calls
    /// that wait for a slot are still sent.
    ///
    /// Closing a [`Connection`] of the channel has a different effect: once it [has closed](Connection::closed), the
    /// next call opens a new one.
    pub fn close(&self) {
        self.inner.picker.close();
    }

    /// Returns whether the channel calls a gRPC server.
    pub fn is_grpc(&self) -> bool {
        self.layers.as_ref().is_some_and(|layers| layers.is_grpc)
    }

    /// Returns the current connection, or `None` if there is none. If the channel has several connections, returns one
    /// that its calls may use.
    pub fn connection(&self) -> Option<Connection> {
        self.inner.picker.link()?.connection.clone()
    }

    /// Polls a call. Outside of any runtime, enters the runtime of the channel first, because timers require a runtime.
    pub(crate) async fn in_runtime<F: Future>(&self, call: F) -> F::Output {
        let mut call = pin!(call);
        poll_fn(|context| self.poll_in_runtime(|| call.as_mut().poll(context))).await
    }

    /// Calls `poll`. If the current thread is not in a runtime, enters the channel's runtime first.
    pub(crate) fn poll_in_runtime<T>(&self, poll: impl FnOnce() -> T) -> T {
        // Check for a task first, because this is faster and a task implies a runtime.
        let is_outside = tokio::task::try_id().is_none() && Handle::try_current().is_err();
        let _entered = is_outside.then(|| self.inner.runtime.enter());
        poll()
    }

    /// Returns a copy of the channel with layers modified by `change`.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Layers)) -> Self {
        let mut layers = self.layers.as_deref().cloned().unwrap_or_default();
        change(&mut layers);
        Self { inner: self.inner.clone(), layers: layers.present() }
    }

    /// Returns the middleware around calls, if there is any.
    pub(crate) fn chain(&self) -> Option<Arc<Chain>> {
        self.layers.as_ref()?.chain.clone()
    }

    /// Returns a copy of the channel without middleware, for the innermost call. `observed` is the observed call around
    /// the middleware.
    pub(crate) fn within(&self, observed: Option<CallStart>) -> Self {
        let layers = self.layers.as_deref();
        let is_kept =
            |layers: &&Layers| observed.is_some() || layers.handed.is_some() || layers.hedges || layers.is_grpc;
        let outer = layers.filter(is_kept);
        let layers = outer.map(|outer| Arc::new(Layers { chain: None, observed, ..outer.clone() }));
        Self { inner: self.inner.clone(), layers }
    }

    /// Starts observing a call. Returns `None` if the channel has no observer, or if the call is the innermost call of
    /// an observed one. `start` is set if the call has already begun.
    pub(crate) fn observe(&self, method: &Method, kind: CallKind, start: Option<CallStart>) -> Option<ObservedCall> {
        let observer = self.inner.observer.as_ref()?;
        if self.layers.as_ref().is_some_and(|layers| layers.observed.is_some()) {
            return None; // The call around the middleware is already observed.
        }
        let method_observer = observer.method_observer(ObservedMethod::new(CallSide::Client, *method, kind));
        Some(match start {
            Some(start) if observer.has_observer() => method_observer.start(start, 0),
            // For calls that are only counted, the call table stores no trace.
            Some(start) => method_observer.start(CallStart { trace: context::trace(), ..start }, 0),
            None => method_observer.begin(context::trace()),
        })
    }

    /// Returns a connection for a call, waiting until the deadline `until` if necessary. When the call waits for the
    /// first time, `since` is set to the current time.
    pub(crate) async fn link_for(
        &self,
        call: &PendingCall<'_>,
        until: Option<std::time::Instant>,
        since: &mut Option<Instant>,
    ) -> Result<PickedConnection, Status> {
        let picker = &self.inner.picker;
        match picker.pick(call) {
            Pick::Ready(picked) => Ok(picked),
            Pick::Failed(status) => Err(status.not_run()),
            Pick::Connecting => {
                let since = *since.get_or_insert_with(Instant::now);
                picker.connect(WaitPolicy { since, until }).await.map_err(Status::not_run)
            }
        }
    }

    /// Returns the picker that was set by [`connect_picker`](crate::ChannelBuilder::connect_picker), if it has this
    /// type.
    pub fn picker<P: Picker>(&self) -> Option<&P> {
        let picker: &dyn Any = &*self.inner.picker;
        picker.downcast_ref()
    }

    /// Returns the options of a call with the request timeout `own`. If a handler makes the call, the handler's
    /// deadline also limits it.
    pub(crate) fn options(&self, own: Option<Duration>) -> CallOptions {
        let CallOptions { timeout, sends_timeout, strict } = self.inner.options;
        CallOptions {
            timeout: context::allowed(own.or(timeout)),
            sends_timeout: sends_timeout || own.is_some() || context::is_inherited(),
            strict,
        }
    }
}

impl<T> Request<T> {
    /// Returns a channel to the caller, over the connection of the request, for use in a handler; see
    /// [`Channel::from_connection`].
    ///
    /// ```
    /// use frpc::{Request, Status};
    ///
    /// fn client_of<M>(request: &Request<M>) -> Result<frpc::Channel, Status> {
    ///     request.channel().ok_or_else(|| Status::failed_precondition("the client accepts no calls"))
    /// }
    /// ```
    pub fn channel(&self) -> Option<Channel> {
        self.connection().map(Channel::from_connection)
    }
}

opaque_debug!(
    [] Channel, "Channel", |this| to = this.inner.picker.loads().into_iter().map(|load| load.server).collect::<Vec<_>>()
);
