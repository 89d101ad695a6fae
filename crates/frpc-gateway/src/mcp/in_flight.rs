//! HTTP calls that a later request may cancel. Clients of protocol versions up to 2025-11-25 cancel a call with a
//! separate request on any connection, so calls in progress are registered by session and request id.

use crate::json_rpc::Canceller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

/// Tool calls in progress on the server, so that clients can cancel them with another HTTP request.
#[derive(Default)]
pub(crate) struct InFlight {
    calls: Mutex<HashMap<Key, Canceller>>,
    sessions: Sessions,
}

/// Key of a tool call: its session and the request id as JSON.
type Key = (Box<[u8]>, Box<str>);

impl InFlight {
    /// Creates a session id of 128 random bits. The id must not be guessable, because its owner can cancel the
    /// session's calls.
    pub(crate) fn new_session(&self) -> String {
        self.sessions.next()
    }

    /// Cancels a tool call if it is in progress.
    pub(crate) fn cancel(&self, session: &[u8], id: &str) {
        if let Some(call) = self.calls.lock().get(&(session.into(), id.into()) as &Key) {
            call.cancel();
        }
    }

    /// Registers a tool call until the returned guard is dropped. Returns `None` if the session already has a call with
    /// this id.
    pub(crate) fn register(self: &Arc<Self>, session: &[u8], id: &str, call: Canceller) -> Option<Registered> {
        let key: Key = (session.into(), id.into());
        // Hold the lock from the check to the insertion, so that two concurrent calls with the same id cannot both
        // succeed.
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

/// Guard of a registered tool call. Dropping it deregisters the call.
pub(crate) struct Registered {
    in_flight: Arc<InFlight>,
    key: Key,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.in_flight.calls.lock().remove(&self.key);
    }
}

/// Generator of session ids, which are SipHash values of a counter with two random keys.
#[derive(Default)]
struct Sessions {
    keys: [RandomState; 2],
    next: Mutex<u64>,
}

impl Sessions {
    fn next(&self) -> String {
        let mut next = self.next.lock();
        *next += 1;
        // Hash the counter with secret keys, so that a client cannot guess the session ids of others.
        let [first, second] = [0, 1].map(|at| self.keys.get(at).map_or(0, |key: &RandomState| key.hash_one(*next)));
        format!("{first:016x}{second:016x}")
    }
}
