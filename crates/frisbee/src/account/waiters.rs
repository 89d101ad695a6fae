//! Tasks that wait for memory. Only producers of stream items wait until memory for the next item is available. All
//! other reservations succeed or fail immediately.

use super::{Account, Budget, MemoryCharge};
use crate::debug::opaque_debug;
use crate::sync::{AtomicUsize, Mutex, fence, wake_all};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// Maximum number of callers whose waiting tasks are checked when memory is released. It bounds the cost of a release.
const CALLERS_AT_ONCE: usize = 16;

/// Tasks of a server that are waiting for memory.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    queue: Mutex<WaiterQueue>,
    /// Number of waiting tasks. It can be read without the lock.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct WaiterQueue {
    /// Waiting tasks, ordered by caller and then by time of arrival.
    tasks: BTreeMap<(usize, u64), WaitingTask>,
    /// Number of the task that joined the queue last.
    last: u64,
    /// Last caller number checked by the round-robin selection. The next selection continues after it.
    turn: usize,
}

#[derive(Debug)]
struct WaitingTask {
    account: Arc<Account>,
    bytes: usize,
    waker: Waker,
}

#[cfg(all(test, not(frisbee_loom)))]
impl Waiters {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.lock().tasks.is_empty()
    }
}

impl WaiterQueue {
    /// Removes the first waiting task of each caller that may reserve memory now, starting with the caller `own` and
    /// then in round-robin order. Returns the wakers of these tasks.
    fn take_ready(&mut self, own: usize) -> Vec<Waker> {
        let (mut woken, mut from, start) = (Vec::new(), self.turn.saturating_add(1), self.turn);
        let mut has_wrapped = false;
        // Check the releasing caller separately, because the round-robin limit below could leave it out. It may be the
        // only caller with room, because it now holds less.
        let next = self.tasks.range((own, 0)..=(own, u64::MAX)).next();
        if let Some(key) = next.filter(|(_, task)| task.account.has_room(task.bytes)).map(|(key, _)| *key) {
            woken.extend(self.tasks.remove(&key).map(|task| task.waker));
        }
        let has_own = !woken.is_empty();
        for _ in 0..CALLERS_AT_ONCE {
            let next = self.tasks.range((from, 0)..).next().map(|(key, task)| (*key, task));
            let Some((key, task)) = next else {
                if has_wrapped {
                    break;
                }
                (has_wrapped, from) = (true, 0);
                continue;
            };
            // After the search has wrapped around, stop at the caller where it started.
            if has_wrapped && key.0 > start {
                break;
            }
            (self.turn, from) = (key.0, key.0.saturating_add(1));
            if !(has_own && key.0 == own) && task.account.has_room(task.bytes) {
                woken.extend(self.tasks.remove(&key).map(|task| task.waker));
            }
        }
        woken
    }
}

impl Budget {
    /// Wakes waiting tasks of callers that may take memory now, at most one task per caller. A woken task wakes the
    /// next task of its caller once it has taken its memory. `own` is the number of the caller that has released memory
    /// or left the queue, or 0 if there is none.
    #[inline]
    pub(super) fn wake_waiters(&self, own: usize) {
        // Pairs with the fence in `poll_reserve`, which follows joining the queue. Either the task sees the released
        // memory, or this thread sees the task.
        fence(Ordering::SeqCst);
        if self.waiters.count.load(Ordering::Relaxed) > 0 {
            self.wake_first_waiters(own);
        }
    }

    #[cold]
    fn wake_first_waiters(&self, own: usize) {
        let mut queue = self.waiters.queue.lock();
        let woken = queue.take_ready(own);
        // Store the count before releasing the lock. Otherwise, this store could overwrite the count of a task that
        // joins the queue concurrently, and that task would not be woken.
        self.waiters.count.store(queue.tasks.len(), Ordering::Relaxed);
        drop(queue);
        wake_all(woken);
    }
}

/// A task that waits for memory of the server in a queue with other tasks of the same caller. Dropping it leaves the
/// queue. Created by [`ConnectionExt::memory_waiter`](crate::rpc::ConnectionExt::memory_waiter).
pub struct MemoryWaiter {
    account: Arc<Account>,
    /// Position of this waiter in the queue, or 0 if the waiter is neither queued nor woken.
    number: u64,
}

impl MemoryWaiter {
    pub(crate) fn new(account: &Arc<Account>) -> Self {
        Self { account: account.clone(), number: 0 }
    }

    /// Waits until the caller's share of the memory permits `bytes` more bytes, and reserves them. Reserve memory for
    /// an item before taking it from its producer. If the size of the item turns out to be different,
    /// [adjust](MemoryCharge::try_resize) the reservation.
    pub fn poll_reserve(&mut self, context: &mut Context<'_>, bytes: usize) -> Poll<MemoryCharge> {
        loop {
            if let Some(charge) = MemoryCharge::try_new(&self.account, bytes) {
                // Leave the queue only after reserving the memory. Leaving wakes the next waiter, which could otherwise
                // take these bytes.
                self.leave();
                return Poll::Ready(charge);
            }
            self.enter(context, bytes);
            // Check again, because memory may have been released before the task joined the queue.
            if !self.account.has_room(bytes) {
                return Poll::Pending;
            }
        }
    }

    fn enter(&mut self, context: &Context<'_>, bytes: usize) {
        let waiters = &self.account.budget().waiters;
        // Clone the waker before locking, because cloning may run arbitrary code.
        let waker = context.waker().clone();
        let mut queue = waiters.queue.lock();
        if self.number == 0 {
            queue.last += 1;
            self.number = queue.last;
        }
        let task = WaitingTask { account: self.account.clone(), bytes, waker };
        let earlier = queue.tasks.insert((self.account.caller_number(), self.number), task);
        waiters.count.store(queue.tasks.len(), Ordering::Relaxed);
        drop(queue);
        // Pairs with the fence in `wake_waiters`: either the caller's second check sees the released memory, or the
        // releasing thread sees this task in the count.
        fence(Ordering::SeqCst);
        drop(earlier); // Outside of the lock, because dropping a waker may run arbitrary code.
    }

    fn leave(&mut self) {
        if self.number != 0 {
            self.leave_queue();
        }
    }

    #[cold]
    fn leave_queue(&mut self) {
        let place = (self.account.caller_number(), std::mem::take(&mut self.number));
        let budget = self.account.budget();
        let mut queue = budget.waiters.queue.lock();
        let task = queue.tasks.remove(&place);
        budget.waiters.count.store(queue.tasks.len(), Ordering::Relaxed);
        drop(queue);
        drop(task);
        // Wake another waiter. Only one task of a caller is woken at a time, so a woken task must pass the wake-up on.
        budget.wake_waiters(place.0);
    }
}

impl Drop for MemoryWaiter {
    fn drop(&mut self) {
        self.leave();
    }
}

opaque_debug!([] MemoryWaiter, "MemoryWaiter", |this| number = this.number);
