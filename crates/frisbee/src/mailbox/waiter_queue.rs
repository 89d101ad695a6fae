//! The tasks that wait for a connection: for room, or for something about it to change.
//!
//! # Decisions
//!
//! Waiters for queue space are woken in rounds. A caller whose reply has arrived has its next request ready before the woken
//! waiters, so with long requests it would win every time and the others would wait for seconds. All current waiters form a round
//! and are woken together, since most packets are short and there is room for many; a waiter without luck is woken again before
//! later arrivals. An exact queue would block on a waiter that was woken and is not polled, such as the other arm of a `select!`.

use super::Mailbox;
use crate::{Outbox, SendError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

/// The wakers of the tasks that wait for one connection. The caller wakes or drops all returned wakers, after it has
/// released the mailbox's lock: either may run anything.
#[derive(Debug, Default)]
pub(crate) struct WaitList {
    /// In a box, since mostly no task waits.
    waiters: Option<Box<WaiterQueue>>,
    /// The number of the last task that had to wait.
    last: u64,
}

#[derive(Debug, Default)]
struct WaiterQueue {
    /// Wait for room, in the order of arrival.
    producers: BTreeMap<u64, WaitingTask>,
    /// The number of the last of the round: those up to here are called before any that came later.
    round: u64,
    /// How many of the round have been called by their [`Waiter`], and have not come yet.
    owed: usize,
    /// The last of them that was entered without a [`Waiter`], which would remove it.
    last_to_stay: u64,
    /// Wait for the end, the kind of the peer, a slot for a stream, or the decision on a hand-off.
    watchers: BTreeMap<u64, WaitingTask>,
}

/// A task that waits. There is one type of map for both kinds, since each would be kilobytes of code in every program.
#[derive(Debug)]
struct WaitingTask {
    waker: Waker,
    /// It waits for room and has a [`Waiter`], so it is known when it comes or leaves.
    is_returning: bool,
}

impl WaitList {
    pub(super) fn is_empty(&self) -> bool {
        self.waiters.is_none()
    }

    /// Removes the tasks that may have the room that there is: those of the round that found none when they came, and
    /// else all, which are the next round. A woken task may never arrive, so after those that do the others have their
    /// turn in any case, if this is called once more. The flag tells whether there are others.
    ///
    /// Without rounds, tasks that have just got a reply would come first with their next request, and those that wait
    /// would wait on.
    pub(super) fn call_producers(&mut self) -> (Vec<Waker>, bool) {
        let Some(waiters) = &mut self.waiters else { return (Vec::new(), false) };
        let mut later = waiters.producers.split_off(&(waiters.round + 1));
        if waiters.producers.is_empty() {
            std::mem::swap(&mut waiters.producers, &mut later);
            waiters.round = self.last;
        }
        let called = std::mem::replace(&mut waiters.producers, later);
        waiters.owed = called.values().filter(|producer| producer.is_returning).count();
        let others_wait = !waiters.producers.is_empty();
        self.free();
        (called.into_values().map(|producer| producer.waker).collect(), others_wait)
    }

    /// Whether a task must not have the room that there is, since others were called that have waited for longer. It is
    /// not known how long a task without a [`Waiter`] has waited.
    #[inline]
    pub(super) fn is_early(&self, waiter: Option<&Waiter<'_>>) -> bool {
        let Some((waiters, waiter)) = self.waiters.as_ref().zip(waiter) else { return false };
        waiters.owed > 0 && (waiter.number == 0 || waiter.number > waiters.round)
    }

    /// Notes that a task has found room. Returns the waker that it had entered, if it was not called.
    #[cold]
    #[inline(never)]
    pub(super) fn finish(&mut self, waiter: &mut Waiter<'_>) -> Option<Waker> {
        let number = waiter.number;
        let Some(waiters) = &mut self.waiters else {
            waiter.number = 0;
            return None;
        };
        let entered = waiters.producers.remove(&number);
        if entered.is_none() {
            waiters.forget_waiter(number);
        }
        waiter.number = 0; // It waits behind others when it waits again.
        self.free();
        entered.map(|producer| producer.waker)
    }

    /// Removes the tasks that wait for something to change.
    pub(crate) fn take_watchers(&mut self) -> Vec<Waker> {
        let watchers = self.waiters.as_mut().map(|waiters| std::mem::take(&mut waiters.watchers));
        self.free();
        watchers.unwrap_or_default().into_values().map(|watcher| watcher.waker).collect()
    }

    /// Removes all.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let waiters = self.waiters.take().unwrap_or_default();
        waiters.producers.into_values().chain(waiters.watchers.into_values()).map(|waiting| waiting.waker)
    }

    /// Enters a task that waits for room. Returns the waker that it had entered before.
    pub(super) fn enter_producer(&mut self, waker: &Waker, waiter: Option<&mut Waiter<'_>>) -> Option<Waker> {
        let is_returning = waiter.is_some();
        let number = match waiter {
            Some(waiter) if waiter.number != 0 => waiter.number,
            Some(waiter) => {
                self.last += 1;
                waiter.number = self.last;
                self.last
            }
            None => {
                // A task that polls repeatedly, in a loop for instance, is not entered each time. The waker that it has
                // entered by a waiter does not count: it is removed together with the waiter.
                let last = self.waiters.as_ref().and_then(|waiters| waiters.producers.get(&waiters.last_to_stay));
                if last.is_some_and(|last| last.waker.will_wake(waker)) {
                    return None;
                }
                self.last += 1;
                let number = self.last;
                self.waiters.get_or_insert_default().last_to_stay = number;
                number
            }
        };
        let waiters = self.waiters.get_or_insert_default();
        let earlier = waiters.producers.insert(number, WaitingTask { waker: waker.clone(), is_returning });
        if earlier.is_none() && is_returning {
            waiters.forget_waiter(number);
        }
        earlier.map(|producer| producer.waker)
    }

    /// Enters a task that waits for something to change. Returns the waker that it had entered before.
    pub(super) fn register_observer(&mut self, waker: &Waker, waiter: &mut Waiter<'_>) -> Option<Waker> {
        if waiter.number == 0 {
            self.last += 1;
            waiter.number = u64::MAX - self.last; // Behind every round of producers.
        }
        let watcher = WaitingTask { waker: waker.clone(), is_returning: false };
        self.waiters.get_or_insert_default().watchers.insert(waiter.number, watcher).map(|earlier| earlier.waker)
    }

    /// Removes the wakers of one waiter.
    fn leave(&mut self, number: u64) -> (Option<Waker>, Option<Waker>) {
        let Some(waiters) = &mut self.waiters else { return (None, None) };
        let producer = waiters.producers.remove(&number).map(|producer| producer.waker);
        let wakers = (producer, waiters.watchers.remove(&number).map(|watcher| watcher.waker));
        if let (None, None) = wakers {
            waiters.forget_waiter(number);
        }
        self.free();
        wakers
    }

    fn free(&mut self) {
        self.waiters.take_if(|waiters| {
            let WaiterQueue { producers, watchers, owed, .. } = &**waiters;
            producers.is_empty() && watchers.is_empty() && *owed == 0
        });
    }
}

impl WaiterQueue {
    /// Removes a task of the current round from those that get the next free slots.
    fn forget_waiter(&mut self, number: u64) {
        if number <= self.round {
            self.owed = self.owed.saturating_sub(1);
        }
    }
}

/// A task that waits for a connection. When it is dropped it removes the task's waker, since the connection would
/// otherwise keep one for each task that ever waited. Made by [`Connection::waiter`](crate::Connection::waiter).
#[derive(Debug)]
pub struct Waiter<'a> {
    mailbox: &'a Mailbox,
    /// 0 until it has to wait.
    number: u64,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(mailbox: &'a Mailbox) -> Self {
        Self { mailbox, number: 0 }
    }

    /// Whether it has had to wait.
    #[inline]
    pub(super) fn has_waited(&self) -> bool {
        self.number != 0
    }

    #[cold]
    fn leave(&self) {
        let mut inner = self.mailbox.lock();
        let wakers = inner.waiters.leave(self.number);
        drop(inner);
        drop(wakers); // Each may be the last reference to a task, whose drop must not run under the lock.
    }

    /// As [`Connection::poll_send`](crate::Connection::poll_send).
    ///
    /// # Errors
    /// As there.
    pub fn poll_send<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        self.mailbox.poll_write(Some(context), Some(self), write)
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.has_waited() {
            self.leave();
        }
    }
}

/// Wakes a task. No lock may be held, since a waker may run anything.
pub(crate) fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}

/// As [`wake`], for many. If one waker panics, which is its own defect, the others are still woken.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
            tracing::error!(target: "frisbee::connection", "a waker panicked; the others are woken");
        }
    }
}
