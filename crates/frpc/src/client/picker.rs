//! The interface for load balancing: a [`Picker`] chooses the connection for each call of a channel.
//!
//! A channel to one server has a built-in picker. Other pickers, such as the fleet of the crate `frpc-balance`, are
//! passed to [`ChannelBuilder::connect_picker`](crate::ChannelBuilder::connect_picker). A picker creates [`Links`] with
//! its [`LinkFactory`]; each holds the successive connections to one server. A [`ServerObserver`] reports the events of
//! a server.
//!
//! ```
//! use frpc::observe::ServerLoad;
//! use frpc::picker::{BoxFuture, Link, Links, PendingCall, Pick, PickedConnection, Picker, WaitPolicy};
//! use frpc::{Channel, Status};
//! use samples::greeter::{GreeterClient, Name};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! /// Has one server, and counts the calls.
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
//! let counting = channel.picker::<Counting>().expect("it was set");
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

/// Chooses the connection for each call of a channel: to its only server, or to one of several.
pub trait Picker: Any + Send + Sync {
    /// Returns the connection for a call without waiting. [`PendingCall::avoid`] excludes the server of a link.
    fn pick(&self, call: &PendingCall<'_>) -> Pick;

    /// Waits for a connection until the end of the [`WaitPolicy`].
    ///
    /// # Errors
    /// If no connection is available in time, or ever again. The call counts as not sent.
    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>>;

    /// Returns a connection that a call might use.
    fn link(&self) -> Option<Arc<Link>>;

    /// Replaces lost connections, even without calls, for as long as that is possible.
    fn stay_connected(&self) -> BoxFuture<'_, ()>;

    /// Closes the channel. Further calls get no connection.
    fn close(&self);

    /// Returns the load of each server.
    fn loads(&self) -> Vec<ServerLoad>;

    /// Returns whether calls choose among several servers, so that a call can be
    /// [hedged](crate::ChannelBuilder::hedge_after). Defaults to `false`.
    fn has_several(&self) -> bool {
        false
    }
}

/// The choice for a call.
pub enum Pick {
    /// The call is sent on this connection.
    Ready(PickedConnection),
    /// No connection accepts the call now. [`Picker::connect`] waits for one.
    Connecting,
    /// The call fails, and counts as not sent.
    Failed(Status),
}

/// The connection for a call.
pub struct PickedConnection {
    pub(crate) link: Arc<Link>,
    /// Set if the call probes its server. It is hedged after this time.
    pub(crate) trial: Option<Duration>,
}

impl PickedConnection {
    /// Creates the choice of this connection.
    pub fn new(link: Arc<Link>) -> Self {
        Self { link, trial: None }
    }

    /// Marks the call as a probe of its server. If it is unary and idempotent, it is also sent to another server after
    /// this time; see [`ServerEvent::Overtaken`].
    #[must_use]
    pub fn trial(link: Arc<Link>, after: Duration) -> Self {
        Self { link, trial: Some(after) }
    }
}

/// How long a call waits for a connection.
#[derive(Clone, Copy, Debug)]
pub struct WaitPolicy {
    /// Start of the wait. It ends with the reconnect timeout of the channel.
    pub(crate) since: tokio::time::Instant,
    /// Deadline of the call.
    pub(crate) until: Option<Instant>,
}

impl WaitPolicy {
    /// Returns the end of the wait according to the [reconnect timeout](LinkFactory::reconnect_timeout) of the channel,
    /// and whether the deadline of the call comes first.
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

    /// Returns whether the method may safely run more than once.
    pub fn is_idempotent(&self) -> bool {
        self.method.idempotent
    }

    /// Returns the link of another attempt of this call that is in flight. The call should use another server, or fail.
    pub fn avoid(&self) -> Option<&Arc<Link>> {
        self.avoid
    }
}

impl Link {
    /// Returns the connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns whether the peer has sent any data, which proves that it is alive.
    pub fn is_alive(&self) -> bool {
        self.calls.has_shown()
    }

    /// Returns whether the connection accepts new calls.
    pub fn takes_calls(&self) -> bool {
        !self.calls.is_retired()
    }

    /// Measures the duration of the next call on this connection, unless one is already measured; see
    /// [`ServerEvent::Timed`].
    pub fn time_next_call(&self) {
        self.calls.calls.lock().time_next();
    }

    /// Returns the number of calls and streams in progress on the connection. Clones of the link do not count.
    pub fn in_progress(link: &Arc<Self>) -> usize {
        let calls = link.calls.with(|calls| calls.at_work());
        calls.saturating_add(link.connection.view().stream_count)
    }
}
