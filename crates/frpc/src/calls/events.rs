//! Events of a server, as reported to load balancers.

use crate::Code;
use crate::wire::report::Report;
use std::fmt;
use std::time::{Duration, Instant};

/// Observer of the connections and replies of one server, for use by a [`Picker`](crate::picker::Picker).
///
/// Called on threads that drive connections, in some cases while the lock of a call table is held. Implementations must
/// be fast, and must neither block nor make calls.
pub trait ServerObserver: fmt::Debug + Send + Sync {
    /// Called for each event of the server's connections.
    fn event(&self, event: ServerEvent);
}

/// Event on a connection that helps a load balancer to choose among servers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A new connection is ready for calls.
    Connected,
    /// The peer has sent its first data on a connection, which shows that it is alive.
    Alive,
    /// A connection no longer accepts new calls.
    Retired,
    /// A call was answered with this status code.
    Answered(Code),
    /// The server reported its load in a reply, while `own` other calls of this channel were in progress.
    Reported {
        /// Load that the server reported with a reply.
        report: Report,
        /// Number of this channel's other calls that were in progress at the server at that time.
        own: usize,
    },
    /// A call was sent at this time, and its duration is measured. Each connection measures one call at a time,
    /// starting with its first call. If a measured call took at least a millisecond, the next call is measured too.
    /// Otherwise, measuring pauses until [`time_next_call`](crate::picker::Link::time_next_call) is called.
    Timed(Instant),
    /// A measured call has ended.
    Measured {
        /// Duration of the measured call.
        took: Duration,
        /// Outcome of the measured call.
        end: MeasuredEnd,
        /// Time at which the measured call ended.
        at: Instant,
    },
    /// A measurement was discarded because its call was not sent or the connection has closed.
    NotMeasured,
    /// A [probe](crate::picker::PickedConnection::probe) call was also sent to a second server, which answered before
    /// the first one.
    Overtaken,
}

/// Outcome of a measured call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredEnd {
    /// The server replied.
    Answered,
    /// The deadline of the call passed before a reply arrived.
    Late,
    /// The caller cancelled the call before a reply arrived.
    Abandoned,
}
