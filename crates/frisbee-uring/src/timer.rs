//! Timers of a worker: the thread waits no longer than until the earliest.

use crate::worker::LocalWorker;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The wakers by time. The number distinguishes timers of the same time.
#[derive(Default)]
pub(crate) struct Timers {
    timers: BTreeMap<(Instant, u64), Waker>,
    next: u64,
}

impl Timers {
    /// How long the thread may wait.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let (earliest, _) = self.timers.first_key_value()?.0;
        Some(earliest.saturating_duration_since(Instant::now()))
    }

    /// Removes those whose time has come.
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

/// Wakes a task when its time has come. For tasks of a [`Worker`](crate::Worker), as [`Socket`](crate::Socket).
pub struct Timer {
    local: Rc<LocalWorker>,
    deadline: Instant,
    entry: Option<(Instant, u64)>,
}

impl Timer {
    /// A timer that is due at `deadline`. `None` if this is no task of a worker.
    pub fn new(deadline: Instant) -> Option<Self> {
        Some(Self { local: LocalWorker::current()?, deadline, entry: None })
    }

    /// When it is due.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Makes it due at another time.
    pub fn reset(&mut self, deadline: Instant) {
        self.remove();
        self.deadline = deadline;
    }

    /// Ready once the time has come; until then, the task that polled first is woken at that time.
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
