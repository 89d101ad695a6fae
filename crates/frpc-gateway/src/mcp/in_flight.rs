//! Calls by HTTP that a later request may cancel. A client of 2025-11-25 cancels by a request of its own, on any
//! connection, so the calls in progress are known by session and id.

use crate::json_rpc::Canceller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

/// The calls in progress of one server.
#[derive(Default)]
pub(crate) struct InFlight {
    calls: Mutex<HashMap<Key, Canceller>>,
    sessions: Sessions,
}

/// A session and the id of a request, unparsed.
type Key = (Box<[u8]>, Box<str>);

impl InFlight {
    /// The id of a new session: 128 bits that others cannot guess, since they give the right to cancel its calls.
    pub(crate) fn new_session(&self) -> String {
        self.sessions.next()
    }

    /// Cancels a call if it is in progress.
    pub(crate) fn cancel(&self, session: &[u8], id: &str) {
        if let Some(call) = self.calls.lock().get(&(session.into(), id.into()) as &Key) {
            call.cancel();
        }
    }

    /// Registers a call until the guard is dropped. `None` if the session has one with this id.
    pub(crate) fn register(self: &Arc<Self>, session: &[u8], id: &str, call: Canceller) -> Option<Registered> {
        let key: Key = (session.into(), id.into());
        let mut calls = self.calls.lock();
        if calls.contains_key(&key) {
            return None;
        }
        calls.insert(key.clone(), call);
        Some(Registered { in_flight: self.clone(), key })
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight").field("calls", &self.calls.lock().len()).finish()
    }
}

/// A call that can be cancelled. It is deregistered when this is dropped.
pub(crate) struct Registered {
    in_flight: Arc<InFlight>,
    key: Key,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.in_flight.calls.lock().remove(&self.key);
    }
}

/// Ids of sessions: SipHash of a counter under two keys that the system has chosen at random.
#[derive(Default)]
struct Sessions {
    keys: [RandomState; 2],
    next: Mutex<u64>,
}

impl Sessions {
    fn next(&self) -> String {
        let mut next = self.next.lock();
        *next += 1;
        let [first, second] = [0, 1].map(|at| self.keys.get(at).map_or(0, |key: &RandomState| key.hash_one(*next)));
        format!("{first:016x}{second:016x}")
    }
}
