//! Events of a server, reported to the observer that a picker has for it.

use crate::Code;
use crate::wire::report::Report;
use std::fmt;
use std::time::{Duration, Instant};

/// Observes a server for a [`Picker`](crate::picker::Picker): its connections and its answers.
///
/// It is called on threads that drive connections, partly under the lock of the calls of a connection: it must be fast, and
/// must not block or make calls.
pub trait ServerObserver: fmt::Debug + Send + Sync {
    /// Something has happened.
    fn event(&self, event: ServerEvent);
}

/// An event of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// There is a new connection, which takes calls.
    Connected,
    /// The peer has sent something, so it is alive.
    Alive,
    /// A connection takes no new calls.
    Retired,
    /// A call was answered with this code.
    Answered(Code),
    /// The server has reported its load in front of a reply, with `own` further calls of this channel in progress.
    Reported {
        /// The report.
        report: Report,
        /// The number of calls.
        own: usize,
    },
    /// A call was sent at this time whose duration is measured. On each connection one call at a time is measured: the
    /// first, and after one that took a millisecond or more the next; otherwise
    /// [`time_next_call`](crate::picker::Link::time_next_call) chooses the next.
    Timed(Instant),
    /// The measured call has ended.
    Measured {
        /// Its duration.
        took: Duration,
        /// How it ended.
        end: MeasuredEnd,
        /// When it ended.
        at: Instant,
    },
    /// The measured call was not sent, or its connection has ended.
    NotMeasured,
    /// A [trial](crate::picker::PickedConnection::trial) was not answered before another server answered the call.
    Overtaken,
}

/// How a measured call has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeasuredEnd {
    /// With a reply.
    Answered,
    /// Its deadline has passed.
    Late,
    /// Its caller has dropped it.
    Abandoned,
}
