//! Inspection of a running server. Adds the calls in progress to the inspector of frisbee.

use crate::Connection;
use crate::clock::now;
use crate::debug::opaque_debug;
use crate::endpoint::offer::ServiceOffer;
use crate::observe::BatchObserver;
use crate::service::in_flight::InFlight;
use crate::service::lifecycle::OfferedService;
use frisbee::PacketId;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// Inspector of a running server. Provides the counters, connections and workers of [`frisbee::inspect::Inspector`],
/// and the calls in progress. Clones inspect the same server.
///
/// ```
/// use frpc::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frpc::Error> {
/// let server = Server::builder().inspectable().bind("127.0.0.1:0").await?;
/// let inspector = server.inspector();
/// tokio::spawn(server.serve());
/// for listed in inspector.connections(None, 100) {
///     let (count, oldest) = inspector.calls(&listed.connection, 10);
///     println!("{:?} has {count} calls in progress, the oldest: {:?}", listed.connection.peer_addr(), oldest.first());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Inspector {
    inner: frisbee::inspect::Inspector,
    offer: Arc<ServiceOffer>,
}

/// A call in progress.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallView {
    /// Id of the call's packets. For a streaming call, the id of its stream.
    pub id: PacketId,
    /// Full name of the called method, as `package.Service/Method`.
    pub method: String,
    /// Time since the handler first returned pending, or since the stream was opened.
    pub age: Duration,
    /// Time left until the call's deadline, if it has one.
    pub time_left: Option<Duration>,
}

impl Inspector {
    pub(crate) fn new(inner: frisbee::inspect::Inspector, offer: Arc<ServiceOffer>) -> Self {
        Self { inner, offer }
    }

    /// Returns the number of calls in progress on a connection, and the `max` oldest of them. Empty unless the server
    /// is [inspectable](crate::ServerBuilder::inspectable).
    ///
    /// Calls over other protocols are not included.
    pub fn calls(&self, connection: &Connection, max: usize) -> (usize, Vec<CallView>) {
        let Some(in_flight) = connection.attachments().get::<InFlight>() else { return (0, Vec::new()) };
        let (count, oldest) = in_flight.oldest(max);
        let now = now();
        let view = |note: crate::service::in_flight::InFlightCall| CallView {
            id: note.id,
            method: note.name.to_string(),
            age: now.saturating_duration_since(note.since),
            time_left: note.deadline.map(|deadline| deadline.saturating_duration_since(now)),
        };
        (count, oldest.into_iter().map(view).collect())
    }

    /// Returns the [batch observer](crate::ServerBuilder::batch_observer) of the server if its type is `T`.
    pub fn batch_observer<T: BatchObserver>(&self) -> Option<&T> {
        self.offer.observers.as_ref()?.batches()
    }

    /// Returns the services that the server offers. Empty unless the server is
    /// [inspectable](crate::ServerBuilder::inspectable) or its calls are observed.
    pub fn services(&self) -> Vec<OfferedService> {
        self.offer.offered.clone()
    }
}

impl Deref for Inspector {
    type Target = frisbee::inspect::Inspector;

    fn deref(&self) -> &frisbee::inspect::Inspector {
        &self.inner
    }
}

opaque_debug!([] Inspector, "Inspector", |this| inner = this.inner);
