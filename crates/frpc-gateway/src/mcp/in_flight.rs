//! HTTP calls that a later request may cancel. Clients of protocol versions up to 2025-11-25 cancel a call with a
//! separate request on any connection, so calls in progress are registered by session and request id.

use crate::json_rpc::Canceller;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tool calls in progress on the server, so that clients can cancel them with another HTTP request.
#[derive(Default)]
pub(crate) struct InFlight {
    calls: Mutex<HashMap<Key, Canceller>>,
    /// Number of session ids that were created.
    sessions: AtomicU64,
    /// Secret keys of the session ids, so that clients cannot guess the ids of others.
    keys: [RandomState; 2],
}

/// Key of a tool call: its session and the request id as JSON.
type Key = (Box<[u8]>, Box<str>);

impl InFlight {
    /// Creates a session id of 128 random bits, which are SipHash values of a counter. The id must not be guessable,
    /// because its owner can cancel the session's calls.
    pub(crate) fn new_session(&self) -> String {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let [first, second] = self.keys.each_ref().map(|key| key.hash_one(number));
        format!("{first:016x}{second:016x}")
    }

    /// Cancels a tool call if it is in progress.
    pub(crate) fn cancel(&self, session: &[u8], id: &str) {
        let call = self.calls.lock().get(&(session.into(), id.into()) as &Key).cloned();
        // Cancel outside of the lock, because this wakes the task of the call.
        if let Some(call) = call {
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
        let call = self.in_flight.calls.lock().remove(&self.key);
        // Drop the call outside of the lock, because it may own the results of handlers.
        drop(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    /// Waker of a call. When it is woken or dropped, counts whether the table of calls is unlocked or locked.
    struct Spy {
        in_flight: Arc<InFlight>,
        seen: Arc<[AtomicUsize; 2]>,
    }

    impl Spy {
        fn look(&self) {
            let is_locked = self.in_flight.calls.is_locked();
            self.seen[usize::from(is_locked)].fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Wake for Spy {
        fn wake(self: Arc<Self>) {
            self.look();
        }
    }

    impl Drop for Spy {
        fn drop(&mut self) {
            self.look();
        }
    }

    /// Regression test: the tasks of calls were woken, and their results dropped, while the table of calls was locked.
    #[test]
    fn calls_are_cancelled_and_dropped_unlocked() {
        let (in_flight, seen) = (Arc::<InFlight>::default(), Arc::<[AtomicUsize; 2]>::default());
        for is_cancelled in [true, false] {
            let spy = Arc::new(Spy { in_flight: in_flight.clone(), seen: seen.clone() });
            let registered = in_flight.register(b"session", "1", Canceller::waking(&spy.into()));
            if is_cancelled {
                in_flight.cancel(b"session", "1");
            }
            drop(registered);
        }
        assert_eq!(seen.each_ref().map(|count| count.load(Ordering::Relaxed)), [3, 0]);
    }
}
