//! Tasks that wait for a connection: for room, or for a change of its state.
//!
//! # Decisions
//!
//! Waiters for queue space are woken in rounds. A caller whose reply has been received sends its next request before
//! the woken waiters run. With long requests it would win every time, and the others would wait for seconds. All
//! current waiters form a round and are woken together, because most packets are short and there is room for many. A
//! waiter that found no room is woken again before later arrivals.
//!
//! An exact queue would block on a waiter that was woken but is not polled, for example the other arm of a `select!`.

use super::Mailbox;
use crate::{Outbox, SendError};
use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

/// The wakers of the tasks that wait for one connection. The caller wakes or drops all returned wakers after it has
/// released the mailbox's lock, because either may run arbitrary code.
#[derive(Debug, Default)]
pub(crate) struct WaitList {
    /// Boxed because usually no task waits.
    waiters: Option<Box<WaiterQueue>>,
    /// Number of the last task that had to wait.
    last: u64,
}

#[derive(Debug, Default)]
struct WaiterQueue {
    /// Tasks that wait for room, in order of arrival.
    producers: BTreeMap<u64, Waker>,
    /// Last number of the current round. Tasks up to it are woken before later ones.
    round: u64,
    /// Number of tasks of the round that were woken and have not arrived yet.
    owed: usize,
    /// Tasks that wait for the end, the kind of the peer, a stream slot, or the decision on a hand-off.
    watchers: BTreeMap<u64, Waker>,
}

/// The place of one task in the queues of a connection; 0 until it has to wait. The owner frees it with
/// [`Mailbox::leave`] when it is dropped, so that there is at most one waker per owner.
#[derive(Default, Debug)]
pub(crate) struct Place(u64);

impl WaitList {
    pub(super) fn is_empty(&self) -> bool {
        self.waiters.is_none()
    }

    /// Removes the tasks that may use the available room: those of the round that found none, or else all, which form
    /// the next round. Because a woken task may never arrive, calling this once more gives the others their turn. The
    /// flag reports whether there are others.
    ///
    /// Without rounds, tasks that have just received a reply would win with their next request, and the waiting tasks
    /// would starve.
    pub(super) fn call_producers(&mut self) -> (Vec<Waker>, bool) {
        let Some(waiters) = &mut self.waiters else { return (Vec::new(), false) };
        let mut later = waiters.producers.split_off(&(waiters.round + 1));
        if waiters.producers.is_empty() {
            std::mem::swap(&mut waiters.producers, &mut later);
            waiters.round = self.last;
        }
        let called = std::mem::replace(&mut waiters.producers, later);
        waiters.owed = called.len();
        let others_wait = !waiters.producers.is_empty();
        self.free();
        (called.into_values().collect(), others_wait)
    }

    /// Returns whether a task must not use the available room, because tasks that have waited for longer were woken.
    #[inline]
    pub(crate) fn is_early(&self, place: &Place) -> bool {
        let Some(waiters) = &self.waiters else { return false };
        waiters.owed > 0 && (place.0 == 0 || place.0 > waiters.round)
    }

    /// Removes the tasks that wait for a change.
    pub(crate) fn take_watchers(&mut self) -> Vec<Waker> {
        let watchers = self.waiters.as_mut().map(|waiters| std::mem::take(&mut waiters.watchers));
        self.free();
        watchers.unwrap_or_default().into_values().collect()
    }

    /// Removes all tasks.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let waiters = self.waiters.take().unwrap_or_default();
        waiters.producers.into_values().chain(waiters.watchers.into_values())
    }

    /// Registers a task that waits for room. Returns its previous waker.
    pub(super) fn enter_producer(&mut self, waker: &Waker, place: &mut Place) -> Option<Waker> {
        if place.0 == 0 {
            self.last += 1;
            place.0 = self.last;
        }
        let waiters = self.waiters.get_or_insert_default();
        let earlier = waiters.producers.insert(place.0, waker.clone());
        if earlier.is_none() {
            waiters.forget_waiter(place.0);
        }
        earlier
    }

    /// Registers a task that waits for a change. Returns its previous waker.
    pub(super) fn register_observer(&mut self, waker: &Waker, place: &mut Place) -> Option<Waker> {
        if place.0 == 0 {
            self.last += 1;
            place.0 = u64::MAX - self.last; // Behind every round of producers.
        }
        self.waiters.get_or_insert_default().watchers.insert(place.0, waker.clone())
    }

    /// Removes a task that has found room or no longer waits. Returns its wakers that were not called.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, place: &mut Place) -> (Option<Waker>, Option<Waker>) {
        let number = std::mem::take(&mut place.0); // It waits behind others when it waits again.
        let Some(waiters) = &mut self.waiters else { return (None, None) };
        let wakers = (waiters.producers.remove(&number), waiters.watchers.remove(&number));
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

impl Place {
    /// Returns whether the task has had to wait.
    #[inline]
    pub(crate) fn has_waited(&self) -> bool {
        self.0 != 0
    }
}

impl Mailbox {
    /// Removes the wakers of a task that no longer waits.
    #[inline]
    pub(crate) fn leave(&self, place: &mut Place) {
        if place.has_waited() {
            self.leave_place(place);
        }
    }

    #[cold]
    fn leave_place(&self, place: &mut Place) {
        let mut inner = self.lock();
        let wakers = inner.waiters.leave(place);
        drop(inner);
        drop(wakers); // Each may be the last reference to a task, whose drop must not run under the lock.
    }
}

/// A task that waits for a connection. Dropping it removes the task's waker, because the connection would otherwise
/// keep one for each task that ever waited. Created by [`Connection::waiter`](crate::Connection::waiter).
#[derive(Debug)]
pub struct Waiter<'a> {
    mailbox: &'a Mailbox,
    pub(crate) place: Place,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(mailbox: &'a Mailbox) -> Self {
        Self { mailbox, place: Place::default() }
    }

    pub(crate) fn mailbox(&self) -> &'a Mailbox {
        self.mailbox
    }

    /// Calls `write` with the connection's outbox once the pending writes are below
    /// [`backlog_max`](crate::Config::backlog_max).
    ///
    /// The packets of one call are sent contiguously. `write` runs under the connection's lock and must be short.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn poll_send<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        self.mailbox.poll_write(Some(context), &mut self.place, write)
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        self.mailbox.leave(&mut self.place);
    }
}
