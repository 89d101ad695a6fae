//! Where handles leave what the connection's own task is to send, and what both have to know of each other.

use crate::stream::Shared as StreamShared;
use crate::{CloseReason, Frame, Operation, Outbox, PacketId, SendError};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// How much may wait to be written before producers wait, in bytes. One packet may overdraw it, or it could not be
/// sent at all. Enough for the bandwidth-delay product of 1 Gbit/s over 8 ms.
pub(crate) const BACKLOG_MAX: usize = 1024 * 1024;

/// The meeting point of a connection's handles and its task.
#[derive(Debug)]
pub(crate) struct Mailbox {
    inner: Mutex<Inner>,
    /// The task has been woken and has not looked yet. Written with the lock held, read without.
    notified: AtomicBool,
}

#[derive(Debug)]
pub(crate) struct Inner {
    /// What handles have sent since the task last looked.
    pub(crate) outbox: Outbox,
    /// What waits at the task, as it last said.
    pub(crate) backlog: usize,
    /// Wakes the task.
    pub(crate) task: Option<Waker>,
    /// Producers that wait for room.
    producers: Vec<Waker>,
    /// What handles ask for.
    pub(crate) order: Option<Order>,
    /// The streams that are open, by id.
    pub(crate) streams: BTreeMap<PacketId, Arc<StreamShared>>,
    /// The id after the one given to the last stream opened from here.
    next_stream: u16,
    /// Set when the connection has ended. Nothing is accepted from then on.
    pub(crate) closed: Option<CloseReason>,
    /// Those who wait for the end.
    watchers: Vec<Waker>,
}

/// What a handle asks of the connection's task.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Close once nothing is in progress.
    WhenIdle(CloseReason),
    /// Write what waits and close.
    Flush(CloseReason),
    /// Close now.
    Now(CloseReason),
}

impl Order {
    fn rank(&self) -> u8 {
        match self {
            Self::WhenIdle(_) => 0,
            Self::Flush(_) => 1,
            Self::Now(_) => 2,
        }
    }
}

impl Mailbox {
    pub(crate) fn new(content_max: u32) -> Self {
        let mut outbox = Outbox::default();
        outbox.set_limit(content_max);
        let inner = Inner {
            outbox,
            backlog: 0,
            task: None,
            producers: Vec::new(),
            order: None,
            streams: BTreeMap::new(),
            next_stream: 1,
            closed: None,
            watchers: Vec::new(),
        };
        Self { inner: Mutex::new(inner), notified: AtomicBool::new(false) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Lets `fill` write packets, whether there is room or not, and wakes the task.
    pub(crate) fn write<T>(&self, fill: impl FnOnce(&mut Outbox) -> T) -> Result<T, SendError> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        let filled = fill(&mut inner.outbox);
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
        Ok(filled)
    }

    /// As [`write`](Self::write) for one packet, if there is room; otherwise the caller is woken when there is.
    pub(crate) fn poll_write<T>(
        &self,
        context: &mut Context<'_>,
        fill: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        if inner.is_full() {
            inner.producers.push(context.waker().clone());
            return Poll::Pending;
        }
        let filled = fill(&mut inner.outbox);
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
        Poll::Ready(Ok(filled))
    }

    /// Asks the task to close. A more urgent order replaces a less urgent one.
    pub(crate) fn order(&self, order: Order) {
        let mut inner = self.inner.lock();
        if inner.order.as_ref().is_none_or(|earlier| earlier.rank() < order.rank()) {
            inner.order = Some(order);
        }
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
    }

    /// Wakes the task, so that it looks at what has changed.
    pub(crate) fn notify(&self) {
        let inner = self.inner.lock();
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
    }

    /// Whether the task has something to look at. Said without a lock; what happens at the same time may be missed.
    #[inline]
    pub(crate) fn is_notified(&self) -> bool {
        self.notified.load(Ordering::Relaxed)
    }

    /// Locks for the task, which thereby has looked.
    pub(crate) fn lock_by_task(&self) -> MutexGuard<'_, Inner> {
        let inner = self.inner.lock();
        self.notified.store(false, Ordering::Relaxed);
        inner
    }

    /// The waker to call, unless the task has been woken already.
    fn to_wake(&self, inner: &Inner) -> Option<Waker> {
        if self.notified.swap(true, Ordering::Relaxed) { None } else { inner.task.clone() }
    }

    /// Why the connection has ended, or registers the caller to be woken then.
    pub(crate) fn poll_closed(&self, context: &mut Context<'_>) -> Poll<CloseReason> {
        let mut inner = self.inner.lock();
        if let Some(reason) = &inner.closed {
            return Poll::Ready(reason.clone());
        }
        if !inner.watchers.iter().any(|watcher| watcher.will_wake(context.waker())) {
            inner.watchers.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Ends it all: nothing is accepted from now on, streams are closed, everybody who waits is woken.
    pub(crate) fn close(&self, reason: &CloseReason) {
        let mut inner = self.inner.lock();
        if inner.closed.is_some() {
            return;
        }
        inner.closed = Some(reason.clone());
        inner.outbox = Outbox::default();
        inner.task = None;
        let streams = std::mem::take(&mut inner.streams);
        let mut waiting = std::mem::take(&mut inner.producers);
        waiting.append(&mut inner.watchers);
        drop(inner);
        streams.into_values().for_each(|stream| stream.handle_close());
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Wakes without a lock held, since a waker may run anything.
fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}

impl Inner {
    pub(crate) fn check_open(&self) -> Result<(), SendError> {
        match &self.closed {
            Some(reason) => Err(SendError::Closed(reason.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.outbox.len().saturating_add(self.backlog) >= BACKLOG_MAX
    }

    /// Takes those who wait for room, if there is room now.
    pub(crate) fn take_producers(&mut self) -> Vec<Waker> {
        if self.producers.is_empty() || self.is_full() { Vec::new() } else { std::mem::take(&mut self.producers) }
    }

    /// Enters a stream under an id that is free, counting from 1 for the connection; `None` if all are taken.
    pub(crate) fn enter_stream(&mut self, make: impl FnOnce(PacketId) -> Arc<StreamShared>) -> Option<PacketId> {
        // Go servers accept any id. 0 is left out since Go clients never use it, and so never test it.
        for _ in 0..u16::MAX {
            let id = PacketId(self.next_stream);
            self.next_stream = self.next_stream.checked_add(1).unwrap_or(1);
            if let Entry::Vacant(free) = self.streams.entry(id) {
                free.insert(make(id));
                return Some(id);
            }
        }
        None
    }

    /// Writes a stream packet into the outbox, in the order in which the lock was taken.
    pub(crate) fn stream_frame(&mut self, id: PacketId) -> Frame<'_> {
        self.outbox.frame(id, Operation::STREAM)
    }
}
