//! Timers of a worker. The thread waits at most until the earliest deadline.

use crate::worker::LocalWorker;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Wakers of timers, ordered by deadline. A number distinguishes timers with the same deadline.
#[derive(Default)]
pub(crate) struct Timers {
    timers: BTreeMap<(Instant, u64), Waker>,
    next: u64,
}

impl Timers {
    /// Returns the time until the earliest deadline, or `None` if there are no timers.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let (earliest, _) = self.timers.first_key_value()?.0;
        Some(earliest.saturating_duration_since(Instant::now()))
    }

    /// Removes expired timers and appends their wakers to `wakers`.
    pub(crate) fn expire(&mut self, wakers: &mut Vec<Waker>) {
        if self.timers.is_empty() {
            return;
        }
        let now = Instant::now();
        while let Some(entry) = self.timers.first_entry()
            && entry.key().0 <= now
        {
            wakers.push(entry.remove());
        }
    }
}

/// A timer for tasks of a [`Worker`](crate::Worker).
pub struct Timer {
    local: Rc<LocalWorker>,
    deadline: Instant,
    entry: Option<(Instant, u64)>,
}

impl Timer {
    /// Creates a timer for the current worker. Returns `None` if the current task does not run on a worker.
    pub fn new(deadline: Instant) -> Option<Self> {
        Some(Self { local: LocalWorker::current()?, deadline, entry: None })
    }

    /// Returns the deadline of the timer.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Changes the deadline of the timer.
    pub fn reset(&mut self, deadline: Instant) {
        self.remove();
        self.deadline = deadline;
    }

    /// Completes at the deadline. Only the task that polls first is woken.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if Instant::now() >= self.deadline {
            self.remove();
            return Poll::Ready(());
        }
        if self.entry.is_none() {
            let mut timers = self.local.timers.borrow_mut();
            timers.next += 1;
            let entry = (self.deadline, timers.next);
            timers.timers.insert(entry, context.waker().clone());
            self.entry = Some(entry);
        }
        Poll::Pending
    }

    fn remove(&mut self) {
        if let Some(entry) = self.entry.take() {
            let waker = self.local.timers.borrow_mut().timers.remove(&entry);
            drop(waker);
        }
    }
}

impl std::fmt::Debug for Timer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timer").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.remove();
    }
}
