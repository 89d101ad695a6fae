//! Events of a server, reported to a picker's observer.

use crate::Code;
use crate::wire::report::Report;
use std::fmt;
use std::time::{Duration, Instant};

/// Observes the connections and replies of a server for a [`Picker`](crate::picker::Picker).
///
/// It is called on threads that drive connections, partly while the lock of a connection's calls is held. It must be
/// fast, must not block and must not make calls.
pub trait ServerObserver: fmt::Debug + Send + Sync {
    /// Reports an event.
    fn event(&self, event: ServerEvent);
}

/// An event of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A new connection accepts calls.
    Connected,
    /// The peer has sent data, which proves that it is alive.
    Alive,
    /// A connection stopped accepting new calls.
    Retired,
    /// A call was answered with this code.
    Answered(Code),
    /// The server reported its load with a reply, while `own` other calls of this channel were in progress.
    Reported {
        /// The reported load.
        report: Report,
        /// The number of other calls.
        own: usize,
    },
    /// A call whose duration is measured was sent at this time. Each connection measures one call at a time: the first,
    /// and after a call that took a millisecond or more the next. Otherwise
    /// [`time_next_call`](crate::picker::Link::time_next_call) selects the next one.
    Timed(Instant),
    /// The measured call has ended.
    Measured {
        /// The duration of the call.
        took: Duration,
        /// The outcome of the call.
        end: MeasuredEnd,
        /// The time of the end.
        at: Instant,
    },
    /// The measured call was not sent, or its connection has closed.
    NotMeasured,
    /// Another server answered the call before the server of a [trial](crate::picker::PickedConnection::trial) did.
    Overtaken,
}

/// The outcome of a measured call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredEnd {
    /// The server replied.
    Answered,
    /// The deadline passed.
    Late,
    /// The caller dropped the call.
    Abandoned,
}
