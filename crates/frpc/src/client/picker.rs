//! The way from a call to its connection.

use crate::Status;
use crate::client::call::Call;
use crate::client::fleet::view::FleetView;
use crate::client::link::Link;
use crate::observe::ServerLoad;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A future of a [`Picker`].
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Chooses the connection for each call of a channel: to its only server, or to one of several.
pub(crate) trait Picker: Send + Sync + 'static {
    /// The connection for a call. Does not wait. A picker to one server has none that [avoids](Call::avoid) another.
    fn pick(&self, call: &Call<'_>) -> Pick;

    /// Waits for a connection.
    fn connect(&self, wait: Wait) -> Boxed<'_, Result<Picked, Status>>;

    /// A connection that a call might use.
    fn connection(&self) -> Option<Arc<Link>>;

    /// Replaces lost connections, without calls as well, for as long as that is possible.
    fn stay_connected(&self) -> Boxed<'_, ()>;

    /// Closes the channel: no further call gets a connection.
    fn close(&self);

    /// The names of the servers.
    fn names(&self) -> Vec<String>;

    /// The calls and streams at each server.
    fn loads(&self) -> Vec<ServerLoad>;

    /// The servers, if calls choose among several.
    fn fleet(&self) -> Option<FleetView> {
        None
    }
}

/// The choice for a call.
pub(crate) enum Pick {
    Ready(Picked),
    /// No connection takes the call now. [`Picker::connect`] waits for one.
    Connecting,
    /// The call cannot be made.
    Failed(Status),
}

/// The connection for a call.
pub(crate) struct Picked {
    pub(crate) link: Arc<Link>,
    /// The call is a trial of its server, and is to be hedged after this time.
    pub(crate) trial: Option<Duration>,
}

impl Picked {
    pub(crate) fn usual(link: Arc<Link>) -> Self {
        Self { link, trial: None }
    }
}

/// How long a call waits for a connection.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    /// When the wait began. It ends with the patience of the channel.
    pub(crate) since: Instant,
    /// The deadline of the call.
    pub(crate) until: Option<std::time::Instant>,
}

impl Wait {
    /// The end of the wait by the patience, and whether the deadline of the call comes first.
    pub(crate) fn end(&self, patience: Duration) -> (Option<Instant>, bool) {
        let (patient, deadline) = (self.since.checked_add(patience), self.until.map(Instant::from_std));
        match (patient, deadline) {
            (Some(patient), Some(deadline)) => (Some(patient.min(deadline)), deadline < patient),
            (None, Some(deadline)) => (Some(deadline), true),
            (patient, None) => (patient, false),
        }
    }
}

/// The calls and streams on a link that its channel and the caller hold too.
pub(crate) fn in_progress(link: &Arc<Link>) -> usize {
    Arc::strong_count(link).saturating_sub(2)
}
