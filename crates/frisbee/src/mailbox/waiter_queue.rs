//! Tasks that wait for space in the outbox of a connection, or for a change of its state.
//!
//! # Decisions
//!
//! Waiters for queue space are woken in rounds. Without rounds, a caller that has received its reply would send its
//! next request before the woken waiters run. With long requests this would happen every time, and the other waiters
//! would starve for seconds. All current waiters form a round and are woken together, because most packets are short
//! and many fit. A waiter that found no space is woken again before later arrivals.
//!
//! Streams take turns by deficit round robin: turns are ordered by the number of bytes sent, and a stream that overruns
//! its turn waits longer for the next one. Streams are not part of the rounds, because a call must not wait for a
//! stream.
//!
//! A strict FIFO queue would block on a waiter that was woken but is not polled, for example in another branch of a
//! `select!`.

use super::Mailbox;
use super::permits::{PermitPlace, PermitQueue};
use crate::{Outbox, SendError};
use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};

/// Wakers of the tasks that wait on a connection. The caller must release the lock of the mailbox before it wakes or
/// drops a returned waker, because both may run arbitrary code.
#[derive(Debug, Default)]
pub(crate) struct WaitList {
    /// Waiting tasks. Boxed because usually there are none.
    waiters: Option<Box<WaiterQueue>>,
    /// Number of the task that began to wait most recently.
    last: u64,
    /// Rank in bytes of the latest turn to send. Ranks order the turns of streams.
    turn: u64,
}

#[derive(Debug, Default)]
struct WaiterQueue {
    /// Tasks that are waiting for space in the outbox, in the order of their arrival.
    producers: BTreeMap<u64, Waker>,
    /// Number of the last task in the current round of wake-ups. Tasks that arrive later are woken only after this
    /// round.
    round: u64,
    /// Number of tasks in the current round that were woken but have not been polled since.
    owed: usize,
    /// Tasks that are waiting for the end of the connection, the kind of the peer, permission to open a stream, or the
    /// reply to a hand-off request.
    watchers: BTreeMap<u64, Waker>,
    /// Tasks that are waiting to send on a stream, in the order of their turns.
    turns: PermitQueue,
}

/// Place of a task in the wait queues of a connection, or 0 if the task has not had to wait. The owner must free the
/// place by [`Mailbox::leave`] before dropping it. A connection thus holds at most one waker per owner.
#[derive(Default, Debug)]
pub(crate) struct Place(u64);

impl WaitList {
    pub(super) fn is_empty(&self) -> bool {
        self.waiters.is_none()
    }

    /// Removes the tasks that may use the available space and returns their wakers: the tasks of the current round that
    /// found no space, or else all waiting tasks, which form the next round. The flag tells whether other tasks remain.
    /// If so, call this again later, because a woken task may never be polled.
    pub(super) fn call_producers(&mut self) -> (Vec<Waker>, bool) {
        let Some(waiters) = &mut self.waiters else { return (Vec::new(), false) };
        let mut later = waiters.producers.split_off(&(waiters.round + 1));
        // The current round is exhausted, so begin the next one with all tasks that have arrived since.
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

    /// Returns whether a task must leave the available space to tasks that have waited longer and were woken to use it.
    #[inline]
    pub(crate) fn is_early(&self, place: &Place) -> bool {
        let Some(waiters) = &self.waiters else { return false };
        waiters.owed > 0 && (place.0 == 0 || place.0 > waiters.round)
    }

    /// Removes and returns the wakers of the tasks that are waiting for a change of the connection's state.
    pub(crate) fn take_watchers(&mut self) -> Vec<Waker> {
        let watchers = self.waiters.as_mut().map(|waiters| std::mem::take(&mut waiters.watchers));
        self.free();
        watchers.unwrap_or_default().into_values().collect()
    }

    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let waiters = self.waiters.take().unwrap_or_default();
        let WaiterQueue { producers, watchers, mut turns, .. } = *waiters;
        producers.into_values().chain(watchers.into_values()).chain(turns.take_all())
    }

    /// Returns the tasks that are waiting for a turn to send, or `None` if there are none.
    pub(super) fn turns(&mut self) -> Option<&mut PermitQueue> {
        Some(&mut self.waiters.as_mut()?.turns).filter(|turns| !turns.is_empty())
    }

    /// Returns whether a task may use one of the `free` turns to send; see [`PermitQueue::take`].
    #[inline]
    pub(super) fn take_turn(&mut self, place: &mut PermitPlace, free: usize) -> bool {
        if self.waiters.is_none() { free > 0 } else { self.take_turn_in_order(place, free) }
    }

    #[cold]
    fn take_turn_in_order(&mut self, place: &mut PermitPlace, free: usize) -> bool {
        let rank = place.rank();
        // Take a granted turn even if calls have used the space since.
        let takes = self.waiters.as_mut().is_some_and(|waiters| {
            let free = free.max(waiters.turns.granted());
            waiters.turns.take(place, free)
        });
        if takes {
            self.turn = self.turn.max(rank);
        }
        self.free();
        takes
    }

    /// Registers a task that waits for its stream's turn to send. `start` returns the task's rank, given the rank of
    /// the latest turn. Drop the returned waker without holding a lock.
    pub(super) fn enter_turn(
        &mut self,
        context: &Context<'_>,
        place: &mut PermitPlace,
        start: impl FnOnce(u64) -> u64,
    ) -> Option<Waker> {
        // A task that is already queued keeps the rank that is part of its place.
        let rank = if place.has_waited() { 0 } else { start(self.turn) };
        self.waiters.get_or_insert_default().turns.enter_at(rank, place, context)
    }

    /// Removes a task that no longer waits for a turn to send. The returned waker must be dropped without holding a
    /// lock.
    pub(super) fn leave_turn(&mut self, place: &mut PermitPlace) -> Option<Waker> {
        let left = self.waiters.as_mut().and_then(|waiters| waiters.turns.leave(place));
        self.free();
        left
    }

    /// Registers a task that is waiting for space in the outbox. Returns its previous waker.
    pub(super) fn enter_producer(&mut self, waker: &Waker, place: &mut Place) -> Option<Waker> {
        if place.0 == 0 {
            self.last += 1;
            place.0 = self.last;
        }
        let waiters = self.waiters.get_or_insert_default();
        let earlier = waiters.producers.insert(place.0, waker.clone());
        // A missing entry means that the task was woken, polled again and found no space. The round no longer waits for
        // its poll.
        if earlier.is_none() {
            waiters.forget_waiter(place.0);
        }
        earlier
    }

    /// Registers a task that is waiting for a change of the connection's state. Returns its previous waker.
    pub(super) fn register_observer(&mut self, waker: &Waker, place: &mut Place) -> Option<Waker> {
        if place.0 == 0 {
            self.last += 1;
            place.0 = u64::MAX - self.last; // Larger than all rounds of tasks that wait for space.
        }
        self.waiters.get_or_insert_default().watchers.insert(place.0, waker.clone())
    }

    /// Removes a task that has found space or no longer waits. Returns its wakers that have not been woken, which must
    /// be dropped without holding a lock.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&mut self, place: &mut Place) -> (Option<Waker>, Option<Waker>) {
        let number = std::mem::take(&mut place.0); // If the task waits again, it is queued behind the others.
        let Some(waiters) = &mut self.waiters else { return (None, None) };
        let wakers = (waiters.producers.remove(&number), waiters.watchers.remove(&number));
        // A missing waker means that the task was woken before it left. The round must not wait for its poll.
        if let (None, None) = wakers {
            waiters.forget_waiter(number);
        }
        self.free();
        wakers
    }

    fn free(&mut self) {
        self.waiters.take_if(|waiters| {
            let WaiterQueue { producers, watchers, owed, turns, .. } = &**waiters;
            producers.is_empty() && watchers.is_empty() && *owed == 0 && turns.is_empty()
        });
    }
}

impl WaiterQueue {
    /// Records that a woken task of the current round was polled or has stopped waiting.
    fn forget_waiter(&mut self, number: u64) {
        if number <= self.round {
            self.owed = self.owed.saturating_sub(1);
        }
    }
}

impl Place {
    /// Returns whether the task has had to wait for space.
    #[inline]
    pub(crate) fn has_waited(&self) -> bool {
        self.0 != 0
    }
}

impl Mailbox {
    /// Removes the wakers of a task that no longer waits on the connection.
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
        drop(wakers); // Without the lock: a waker may be the last reference to a task.
    }
}

/// A task that is waiting on a connection. Dropping the waiter removes its waker. Otherwise, the connection would keep
/// a waker for each task that ever waited. Created by [`ConnectionExt::waiter`](crate::rpc::ConnectionExt::waiter).
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

    /// Waits until the pending output is below [`backlog_max`](crate::Config::backlog_max), and then calls `write` with
    /// the outbox of the connection.
    ///
    /// Packets appended by one call are sent contiguously. `write` runs under the lock of the connection and must be
    /// short.
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
