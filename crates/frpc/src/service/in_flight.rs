//! Registry of the calls in progress on a connection, for introspection. Contains only streaming calls and calls with a
//! pending handler, and only if the server is inspectable.

use crate::schema::method::Method;
use frisbee::PacketId;
use parking_lot::Mutex;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Instant;

/// Registry of the calls in progress on a connection. The limits on calls and streams bound its size.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<ListedCall>);

#[derive(Default)]
struct ListedCall {
    /// Most recently assigned sequence number. The numbers order the calls by age.
    last: u64,
    calls: Vec<Option<(u64, InFlightCall)>>,
    free: Vec<usize>,
}

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
    place: usize,
}

impl InFlight {
    /// Registers a call as in progress until the guard is dropped.
    #[inline(never)] // Most servers are not inspectable.
    pub(crate) fn enter(in_flight: &Arc<Self>, id: PacketId, name: Method, deadline: Option<Instant>) -> InFlightGuard {
        let note = InFlightCall { id, name, since: crate::clock::now(), deadline };
        let listed = &mut *in_flight.0.lock();
        listed.last += 1;
        let place = listed.free.pop().unwrap_or_else(|| {
            listed.calls.push(None);
            listed.calls.len() - 1
        });
        listed.calls[place] = Some((listed.last, note));
        InFlightGuard { in_flight: in_flight.clone(), place }
    }

    /// Returns the number of calls in progress and the `max` oldest of them.
    pub(crate) fn oldest(&self, max: usize) -> (usize, Vec<InFlightCall>) {
        let listed = self.0.lock();
        let place = |(place, call): (usize, &Option<(u64, InFlightCall)>)| Some((call.as_ref()?.0, place));
        let calls: BinaryHeap<_> = listed.calls.iter().enumerate().filter_map(place).collect();
        let oldest = calls.into_sorted_vec().into_iter().filter_map(|(_, at)| Some(listed.calls[at]?.1));
        (listed.calls.len() - listed.free.len(), oldest.take(max).collect())
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut listed = self.in_flight.0.lock();
        listed.calls[self.place] = None;
        listed.free.push(self.place);
        if listed.free.len() == listed.calls.len() {
            (listed.calls, listed.free) = Default::default(); // Free the memory of an idle connection.
        }
    }
}
