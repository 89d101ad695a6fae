//! The tasks that wait for a connection: for room, or for something about it to change.

use super::Mailbox;
use crate::{Outbox, SendError};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

/// The wakers of the tasks that wait for one connection. Whatever a method returns is woken or dropped by the caller,
/// after it has released the mailbox's lock: either may run anything.
#[derive(Debug, Default)]
pub(crate) struct WaitList {
    /// In a box, since mostly no task waits.
    waiting: Option<Box<Waiting>>,
    /// The number of the last task that had to wait.
    last: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Wait for room.
    producers: BTreeMap<u64, Waker>,
    /// The last of them that was entered without a [`Waiter`], which would remove it.
    last_to_stay: u64,
    /// Wait for the end, the kind of the peer, a place for a stream, or the decision on a hand-off.
    watchers: BTreeMap<u64, Waker>,
}

impl WaitList {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_none()
    }

    /// Removes the tasks that wait for room.
    pub(super) fn take_producers(&mut self) -> Vec<Waker> {
        let producers = self.waiting.as_mut().map(|waiting| std::mem::take(&mut waiting.producers));
        self.free();
        producers.unwrap_or_default().into_values().collect()
    }

    /// Removes the tasks that wait for something to change.
    pub(super) fn take_watchers(&mut self) -> Vec<Waker> {
        let watchers = self.waiting.as_mut().map(|waiting| std::mem::take(&mut waiting.watchers));
        self.free();
        watchers.unwrap_or_default().into_values().collect()
    }

    /// Removes all.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let waiting = self.waiting.take().unwrap_or_default();
        waiting.producers.into_values().chain(waiting.watchers.into_values())
    }

    /// Enters a task that waits for room. Returns the waker that it had entered before.
    pub(super) fn enter_producer(&mut self, waker: &Waker, waiter: Option<&mut Waiter<'_>>) -> Option<Waker> {
        if waker.will_wake(Waker::noop()) {
            return None;
        }
        let number = match waiter {
            Some(waiter) => self.number(waiter),
            None => {
                // A task that asks again and again, in a loop for instance, is not entered each time. The waker that it
                // has entered by a waiter does not count: it is removed together with the waiter.
                let last = self.waiting.as_ref().and_then(|waiting| waiting.producers.get(&waiting.last_to_stay));
                if last.is_some_and(|last| last.will_wake(waker)) {
                    return None;
                }
                self.last += 1;
                let number = self.last;
                self.waiting.get_or_insert_default().last_to_stay = number;
                number
            }
        };
        self.waiting.get_or_insert_default().producers.insert(number, waker.clone())
    }

    /// Enters a task that waits for something to change. Returns the waker that it had entered before.
    pub(super) fn enter_watcher(&mut self, waker: &Waker, waiter: &mut Waiter<'_>) -> Option<Waker> {
        let number = self.number(waiter);
        self.waiting.get_or_insert_default().watchers.insert(number, waker.clone())
    }

    /// Removes the wakers of one waiter.
    fn leave(&mut self, number: u64) -> (Option<Waker>, Option<Waker>) {
        let wakers =
            self.waiting.as_mut().map(|waiting| (waiting.producers.remove(&number), waiting.watchers.remove(&number)));
        self.free();
        wakers.unwrap_or_default()
    }

    fn number(&mut self, waiter: &mut Waiter<'_>) -> u64 {
        if waiter.number == 0 {
            self.last += 1;
            waiter.number = self.last;
        }
        waiter.number
    }

    fn free(&mut self) {
        self.waiting.take_if(|waiting| waiting.producers.is_empty() && waiting.watchers.is_empty());
    }
}

/// A task that waits for a connection. When it is dropped it removes the task's waker, of which the connection would
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

    /// As [`Connection::poll_send`](crate::Connection::poll_send).
    ///
    /// # Errors
    /// As there.
    pub fn poll_send<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        self.mailbox.poll_write_as(context, Some(self), write)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if self.number == 0 {
            return;
        }
        let mut inner = self.mailbox.lock();
        let wakers = inner.waiting.leave(self.number);
        drop(inner);
        drop(wakers); // Each may be the last reference to a task, whose drop must not run under the lock.
    }
}

/// Wakes a task. No lock may be held, since a waker may run anything.
pub(super) fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}

/// As [`wake`], for many. If one waker panics, which is its own defect, the others are still woken.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
            tracing::error!("a waker panicked; the others are woken");
        }
    }
}
