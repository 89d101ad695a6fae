//! Registry of the calls in progress on a connection, for introspection. Contains only streaming calls and calls with a
//! pending handler, and only if the server is inspectable.

use crate::schema::method::Method;
use frisbee::PacketId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// Registry of the calls in progress on a connection. The limits on calls and streams bound its size. The key of a call
/// is greater than those of older calls.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<BTreeMap<u64, InFlightCall>>);

/// Entry of a call in progress, as shown to operators.
#[derive(Clone, Copy)]
pub(crate) struct InFlightCall {
    /// Id of the call's packets. For a streaming call, the id of its stream.
    pub(crate) id: PacketId,
    pub(crate) name: Method,
    pub(crate) since: Instant,
    pub(crate) deadline: Option<Instant>,
}

/// Guard that removes a call from the registry of calls in progress when dropped.
pub(crate) struct InFlightGuard {
    in_flight: Arc<InFlight>,
    key: u64,
}

impl InFlight {
    /// Registers a call as in progress until the guard is dropped.
    #[inline(never)] // Most servers are not inspectable.
    pub(crate) fn enter(in_flight: &Arc<Self>, id: PacketId, name: Method, deadline: Option<Instant>) -> InFlightGuard {
        let note = InFlightCall { id, name, since: crate::clock::now(), deadline };
        let mut calls = in_flight.0.lock();
        let key = calls.last_key_value().map_or(0, |(last, _)| last + 1);
        calls.insert(key, note);
        InFlightGuard { in_flight: in_flight.clone(), key }
    }

    /// Returns the number of calls in progress and the `max` oldest of them.
    pub(crate) fn oldest(&self, max: usize) -> (usize, Vec<InFlightCall>) {
        let calls = self.0.lock();
        (calls.len(), calls.values().take(max).copied().collect())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut calls = self.in_flight.0.lock();
        calls.remove(&self.key);
        if calls.is_empty() {
            *calls = BTreeMap::new(); // Free the memory of an idle connection.
        }
    }
}
