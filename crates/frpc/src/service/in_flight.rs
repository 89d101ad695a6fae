//! The calls in progress of one connection, for those who look at a server. Only calls that wait or stream get here, and
//! only at a server that is inspectable.

use crate::schema::method::Method;
use frisbee::PacketId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The calls in progress of one connection. There are no more than a peer may have calls and streams.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<ListedCall>);

#[derive(Default)]
struct ListedCall {
    /// The number given last.
    last: u64,
    /// In the order of their start.
    calls: BTreeMap<u64, InFlightCall>,
}

/// A call in progress.
#[derive(Clone, Copy)]
pub(crate) struct InFlightCall {
    /// The id of its packets, or of its stream.
    pub(crate) id: PacketId,
    pub(crate) name: Method,
    pub(crate) since: Instant,
    pub(crate) deadline: Option<Instant>,
}

/// Held while the call is in progress.
pub(crate) struct InFlightGuard {
    in_flight: Arc<InFlight>,
    number: u64,
}

impl InFlight {
    /// Notes a call until the result is dropped.
    pub(crate) fn enter(in_flight: &Arc<Self>, id: PacketId, name: Method, deadline: Option<Instant>) -> InFlightGuard {
        let note = InFlightCall { id, name, since: crate::deadline::now(), deadline };
        let mut listed = in_flight.0.lock();
        listed.last += 1;
        let number = listed.last;
        listed.calls.insert(number, note);
        drop(listed);
        InFlightGuard { in_flight: in_flight.clone(), number }
    }

    /// How many calls are in progress, and the oldest of them, so many at most.
    pub(crate) fn oldest(&self, max: usize) -> (usize, Vec<InFlightCall>) {
        let listed = self.0.lock();
        (listed.calls.len(), listed.calls.values().take(max).copied().collect())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.in_flight.0.lock().calls.remove(&self.number);
    }
}
