//! Events of a server that are reported to a picker.

use crate::Code;
use crate::wire::report::Report;
use std::fmt;
use std::time::{Duration, Instant};

/// Observer of the connections and replies of a server, for use by a [`Picker`](crate::picker::Picker).
///
/// It is called on threads that drive connections, in some cases while the lock of a call table is held. It must be
/// fast, and must neither block nor make calls.
pub trait ServerObserver: fmt::Debug + Send + Sync {
    /// Called for each event.
    fn event(&self, event: ServerEvent);
}

/// Event that a connection reports for choosing among the servers of a fleet.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A new connection accepts calls.
    Connected,
    /// The peer has sent data for the first time on a connection, so it is alive.
    Alive,
    /// A connection accepts no more calls.
    Retired,
    /// A call was answered with this code.
    Answered(Code),
    /// The server reported its load with a reply, while `own` other calls of this channel were in progress.
    Reported {
        /// Load that the server reported with a reply.
        report: Report,
        /// Number of this channel's other calls that were in progress at the server.
        own: usize,
    },
    /// A call whose duration is measured was sent at this time. Each connection measures one call at a time. It starts
    /// with the first call, and continues with the next one if a measured call took at least a millisecond. Otherwise,
    /// measuring pauses until [`time_next_call`](crate::picker::Link::time_next_call) is called.
    Timed(Instant),
    /// A measured call has ended.
    Measured {
        /// Duration of the call.
        took: Duration,
        /// Outcome of the call.
        end: MeasuredEnd,
        /// Time at which the call ended.
        at: Instant,
    },
    /// A measurement was discarded, because the call was not sent or the connection has closed.
    NotMeasured,
    /// A [trial](crate::picker::PickedConnection::trial) was sent to a second server, which answered before the first.
    Overtaken,
}

/// Outcome of a measured call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredEnd {
    /// The server replied.
    Answered,
    /// The deadline of the call passed.
    Late,
    /// The caller cancelled the call.
    Abandoned,
}
