//! Permits for TLS handshakes. Waiting callers get them in turn, so that a caller with many handshakes delays another
//! one by at most one handshake per permit.

use crate::account::CallerKey;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use tokio::sync::oneshot;

#[derive(Debug)]
pub(super) struct Turns(Mutex<TurnQueue>);

#[derive(Debug)]
struct TurnQueue {
    free: usize,
    waiting: BTreeMap<CallerKey, VecDeque<oneshot::Sender<Turn>>>,
    /// Caller that got the last permit.
    last: CallerKey,
}

/// A permit, which is passed to the next caller when dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<Turns>);

impl Turns {
    pub(super) fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self(Mutex::new(TurnQueue {
            free: permits.max(1),
            waiting: BTreeMap::new(),
            last: CallerKey::Unknown,
        })))
    }

    /// Waits for a permit.
    ///
    /// # Cancel safety
    /// If the future has been granted a permit, dropping it passes the permit to the next caller.
    pub(super) async fn acquire(turns: &Arc<Self>, caller: CallerKey) -> Turn {
        let granted = {
            let mut queue = turns.0.lock();
            if queue.free > 0 {
                queue.free -= 1;
                return Turn(turns.clone());
            }
            let (grant, granted) = oneshot::channel();
            let caller = caller.among(&queue.waiting);
            queue.waiting.entry(caller).or_default().push_back(grant);
            granted
        };
        granted.await.expect("waiting handshake should stay in the queue until it gets a permit")
    }
}

impl TurnQueue {
    /// Removes and returns the first waiting handshake of the next caller. Handshakes that have been cancelled are
    /// skipped.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        loop {
            let after = (Bound::Excluded(self.last), Bound::Unbounded);
            let caller = *self.waiting.range(after).next().or_else(|| self.waiting.first_key_value())?.0;
            self.last = caller;
            let of_caller = self.waiting.get_mut(&caller)?;
            let next = of_caller.pop_front();
            if of_caller.is_empty() {
                self.waiting.remove(&caller);
            }
            if next.as_ref().is_some_and(|grant| !grant.is_closed()) {
                return next;
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = self.0.0.lock();
        // Hand the permit to the next waiter under the lock. If it were returned to `free` first, a handshake that has
        // just begun could acquire it ahead of the waiters.
        let next = queue.next();
        queue.free += usize::from(next.is_none());
        drop(queue);
        if let Some(grant) = next {
            // If the handshake has been cancelled in the meantime, dropping the rejected permit passes it on.
            drop(grant.send(Self(self.0.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn greedy_caller_delays_others_by_one_handshake() {
        let context = &mut Context::from_waker(Waker::noop());
        let turns = Turns::new(1);
        let begin = |user| Box::pin(Turns::acquire(&turns, CallerKey::User(user)));
        let Poll::Ready(turn) = pin!(begin(1)).poll(context) else { panic!("first handshake should begin at once") };
        let mut greedy: Vec<_> = std::iter::repeat_with(|| begin(1)).take(1000).collect();
        assert!(greedy.iter_mut().all(|waiting| waiting.as_mut().poll(context).is_pending()));
        let (mut small, mut cancelled) = (begin(2), begin(3));
        assert!(small.as_mut().poll(context).is_pending() && cancelled.as_mut().poll(context).is_pending());
        drop(cancelled);
        drop(turn);
        assert!(small.as_mut().poll(context).is_pending(), "caller that came first should be first");
        let mut ready = greedy.iter_mut().filter_map(|waiting| match waiting.as_mut().poll(context) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        });
        drop(ready.next().expect("first caller should get the permit"));
        let Poll::Ready(turn) = small.as_mut().poll(context) else { panic!("next caller should get the permit") };
        drop((greedy, turn));
        assert!(pin!(begin(4)).poll(context).is_ready(), "permit should be returned by cancelled handshakes");
    }
}
