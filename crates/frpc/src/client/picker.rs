//! The interface for load balancing: a [`Picker`] chooses the connection for each call of a channel.
//!
//! A channel to a single server uses a built-in picker. Other pickers, such as the fleet of the crate `frpc-balance`,
//! are set with [`ChannelBuilder::connect_picker`](crate::ChannelBuilder::connect_picker). A picker uses its
//! [`LinkFactory`] to create [`Links`] for each server, which manage the connections to it. Events of the server are
//! reported to the [`ServerObserver`] of the links.
//!
//! ```
//! use frpc::observe::ServerLoad;
//! use frpc::picker::{BoxFuture, Link, Links, PendingCall, Pick, PickedConnection, Picker, WaitPolicy};
//! use frpc::{Channel, Status};
//! use samples::greeter::{GreeterClient, Name};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// A picker with a single server, which counts calls.
//! struct Counting(Links, AtomicU64);
//!
//! impl Picker for Counting {
//!     fn pick(&self, _call: &PendingCall<'_>) -> Pick {
//!         self.1.fetch_add(1, Ordering::Relaxed);
//!         self.0.current().map_or(Pick::Connecting, |link| Pick::Ready(PickedConnection::new(link)))
//!     }
//!
//!     fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
//!         Box::pin(async move { self.0.connect(wait).await.map(PickedConnection::new) })
//!     }
//!
//!     fn link(&self) -> Option<Arc<Link>> {
//!         self.0.current()
//!     }
//!
//!     fn stay_connected(&self) -> BoxFuture<'_, ()> {
//!         Box::pin(async { while self.0.keep_one().await {} })
//!     }
//!
//!     fn close(&self) {
//!         self.0.close();
//!     }
//!
//!     fn loads(&self) -> Vec<ServerLoad> {
//!         vec![self.0.load()]
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let address = samples::started::greeter().await?;
//! let channel = Channel::builder()
//!     .connect_picker(|factory| Ok(Arc::new(Counting(factory.to_address(address, None)?, AtomicU64::new(0)))))?;
//! GreeterClient::new(channel.clone()).greet(Name { name: "Ada".to_owned() }).await?;
//! let counting = channel.picker::<Counting>().expect("channel should have been created with this picker");
//! assert!(counting.1.load(Ordering::Relaxed) > 0);
//! # Ok(())
//! # }
//! ```

pub use crate::api::BoxFuture;
pub use crate::calls::events::{MeasuredEnd, ServerEvent, ServerObserver};
pub use crate::client::call::PendingCall;
pub use crate::client::factory::LinkFactory;
pub use crate::client::link::Link;
pub use crate::client::links::Links;
pub use crate::wire::report::Report;

use crate::observe::ServerLoad;
use crate::{Connection, Status};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Chooses the connection for each call of a channel, either to a single server or to one of several.
pub trait Picker: Any + Send + Sync {
    /// Chooses a connection for a call without waiting. Must not choose the server of [`PendingCall::avoid`], which
    /// already handles another attempt of the call.
    fn pick(&self, call: &PendingCall<'_>) -> Pick;

    /// Waits for a connection that accepts a call, limited by the [`WaitPolicy`].
    ///
    /// # Errors
    /// If no connection becomes available in time or can become available at all. The call counts as not sent.
    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>>;

    /// Returns a connection that calls may use, if there is one.
    fn link(&self) -> Option<Arc<Link>>;

    /// Keeps replacing lost connections even without calls. Completes when this is no longer possible.
    fn stay_connected(&self) -> BoxFuture<'_, ()>;

    /// Closes the channel. Later calls must not get a connection.
    fn close(&self);

    /// Returns the current load of each server.
    fn loads(&self) -> Vec<ServerLoad>;

    /// Returns whether there are several servers to choose from, so that calls can be
    /// [hedged](crate::ChannelBuilder::hedge_after). Defaults to `false`.
    fn has_several(&self) -> bool {
        false
    }
}

/// Result of choosing a connection for a call.
pub enum Pick {
    /// A connection that the call can be sent on immediately.
    Ready(PickedConnection),
    /// No connection currently accepts the call. [`Picker::connect`] waits for one.
    Connecting,
    /// The call fails with this status and counts as not sent.
    Failed(Status),
}

/// A connection that was chosen for a call.
pub struct PickedConnection {
    pub(crate) link: Arc<Link>,
    /// Time before the call is also sent to another server. Set if the call tests whether its server has recovered.
    pub(crate) probe: Option<Duration>,
}

impl PickedConnection {
    /// Creates the choice of a connection for an ordinary call.
    pub fn new(link: Arc<Link>) -> Self {
        Self { link, probe: None }
    }

    /// Creates the choice of a connection for a call that tests whether its server has recovered. If the call is unary
    /// and idempotent and has no reply after `after`, it is also sent to another server; see
    /// [`ServerEvent::Overtaken`].
    #[must_use]
    pub fn probe(link: Arc<Link>, after: Duration) -> Self {
        Self { link, probe: Some(after) }
    }
}

/// Limit of how long a call waits for a connection.
#[derive(Clone, Copy, Debug)]
pub struct WaitPolicy {
    /// Start of the wait. The channel's reconnect timeout counts from this time.
    pub(crate) since: tokio::time::Instant,
    /// Deadline of the waiting call.
    pub(crate) until: Option<Instant>,
}

impl WaitPolicy {
    /// Returns the end of the wait, and whether it is the deadline of the call rather than the [reconnect
    /// timeout](LinkFactory::reconnect_timeout).
    pub fn end(&self, reconnect_timeout: Duration) -> (Option<tokio::time::Instant>, bool) {
        let (by_timeout, deadline) =
            (self.since.checked_add(reconnect_timeout), self.until.map(tokio::time::Instant::from_std));
        match (by_timeout, deadline) {
            (Some(by_timeout), Some(deadline)) => (Some(by_timeout.min(deadline)), deadline < by_timeout),
            (None, Some(deadline)) => (Some(deadline), true),
            (by_timeout, None) => (by_timeout, false),
        }
    }
}

impl PendingCall<'_> {
    /// Returns whether the call is unary.
    pub fn is_unary(&self) -> bool {
        self.kind == crate::CallKind::Unary
    }

    /// Returns whether the method is idempotent, so that running the call several times is safe.
    pub fn is_idempotent(&self) -> bool {
        self.method.idempotent
    }

    /// Returns the link that another attempt of this call uses. The picker should choose another server or fail the
    /// call.
    pub fn avoid(&self) -> Option<&Arc<Link>> {
        self.avoid
    }
}

impl Link {
    /// Returns the connection that this link belongs to. `None` if the link is that of a gRPC server.
    pub fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Returns whether the peer has sent any data, which shows that it is alive.
    pub fn is_alive(&self) -> bool {
        self.calls.has_shown()
    }

    /// Returns whether the connection accepts new calls.
    pub fn takes_calls(&self) -> bool {
        #[cfg(feature = "grpc")]
        if self.grpc.as_ref().is_some_and(|links| !links.is_connected()) {
            return false;
        }
        !self.calls.is_retired()
    }

    /// Requests that the duration of the next call on this connection be measured, unless a measurement is in progress;
    /// see [`ServerEvent::Timed`].
    pub fn time_next_call(&self) {
        self.calls.calls.lock().time_next();
    }

    /// Returns the number of calls and streams in progress on the connection. Other references to the link are not
    /// counted.
    pub fn in_progress(link: &Arc<Self>) -> usize {
        #[cfg(feature = "grpc")]
        if let Some(links) = &link.grpc {
            return links.in_progress();
        }
        let calls = link.calls.with(|calls| calls.at_work());
        let streams = link.connection.as_ref().map_or(0, |connection| frisbee::inspect::view(connection).stream_count);
        calls.saturating_add(streams)
    }
}
