//! Tasks that wait for memory: producers of stream items, which take an item only when there is room for it. All other
//! requests for memory are granted or rejected at once.

use super::{Account, Budget, MemoryCharge};
use crate::debug::opaque_debug;
use crate::sync::{AtomicUsize, Mutex, fence, wake_all};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// Maximum number of callers whose first task is considered when memory is released, so that many waiting callers do
/// not make each release expensive.
const CALLERS_AT_ONCE: usize = 16;

/// The waiting tasks of a server.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    queue: Mutex<WaiterQueue>,
    /// Length of the queue.
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct WaiterQueue {
    /// The waiting tasks by caller and arrival.
    tasks: BTreeMap<(usize, u64), WaitingTask>,
    /// The number of the latest arrival.
    last: u64,
    /// The caller considered last.
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
    /// Removes the first tasks of the next callers that have room, and returns their wakers.
    fn take_ready(&mut self) -> Vec<Waker> {
        let (mut woken, mut from, start) = (Vec::new(), self.turn.saturating_add(1), self.turn);
        let mut has_wrapped = false;
        for _ in 0..CALLERS_AT_ONCE {
            let next = self.tasks.range((from, 0)..).next().map(|(key, task)| (*key, task));
            let Some((key, task)) = next else {
                if has_wrapped {
                    break;
                }
                (has_wrapped, from) = (true, 0);
                continue;
            };
            if has_wrapped && key.0 > start {
                break;
            }
            (self.turn, from) = (key.0, key.0.saturating_add(1));
            if task.account.has_room(task.bytes) {
                woken.extend(self.tasks.remove(&key).map(|task| task.waker));
            }
        }
        woken
    }
}

impl Budget {
    /// Wakes tasks that may take memory now, at most one per caller. A task that takes its memory wakes the next one.
    #[inline]
    pub(super) fn wake_waiters(&self) {
        // A task that is added has such a fence as well: either it sees the released memory, or this sees the task.
        fence(Ordering::SeqCst);
        if self.waiters.count.load(Ordering::Relaxed) > 0 {
            self.wake_first_waiters();
        }
    }

    #[cold]
    fn wake_first_waiters(&self) {
        let mut queue = self.waiters.queue.lock();
        let woken = queue.take_ready();
        self.waiters.count.store(queue.tasks.len(), Ordering::Relaxed);
        drop(queue);
        wake_all(woken);
    }
}

/// A task that waits for memory of the server, in the order of its caller's tasks. Dropping it gives up the place. Created
/// by [`Connection::memory_waiter`](crate::Connection::memory_waiter).
pub struct MemoryWaiter {
    account: Arc<Account>,
    /// The number of its place, or 0 unless it waits or was woken.
    number: u64,
}

impl MemoryWaiter {
    pub(crate) fn new(account: &Arc<Account>) -> Self {
        Self { account: account.clone(), number: 0 }
    }

    /// Reserves `bytes` once the caller's share allows them. Reserve the length of an item before you take it from its
    /// producer, and [resize](MemoryCharge::try_resize) the reservation afterwards.
    pub fn poll_reserve(&mut self, context: &mut Context<'_>, bytes: usize) -> Poll<MemoryCharge> {
        loop {
            if let Some(charge) = MemoryCharge::try_new(&self.account, bytes) {
                self.leave();
                return Poll::Ready(charge);
            }
            self.enter(context, bytes);
            // Memory may have been released before the task was added.
            if !self.account.has_room(bytes) {
                return Poll::Pending;
            }
        }
    }

    fn enter(&mut self, context: &Context<'_>, bytes: usize) {
        let waiters = &self.account.budget().waiters;
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
        fence(Ordering::SeqCst);
        drop(earlier); // A waker may run anything when it is dropped.
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
        // This task may have been woken in place of the next one.
        budget.wake_waiters();
    }
}

impl Drop for MemoryWaiter {
    fn drop(&mut self) {
        self.leave();
    }
}

opaque_debug!([] MemoryWaiter, "MemoryWaiter", |this| number = this.number);
