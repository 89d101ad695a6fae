//! Where handles leave what the connection's own task is to send, and what both have to know of each other.

use crate::hand_off::Step;
use crate::stream::StreamShared;
use crate::sync::{AtomicBool, Mutex, MutexGuard};
use crate::{CloseReason, Operation, Outbox, PacketId, PeerKind, SendError};
use frisbee_core::{Role, StreamSignal};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// The meeting point of a connection's handles and its task.
#[derive(Debug)]
pub(crate) struct Mailbox {
    inner: Mutex<MailboxState>,
    /// The task has been woken and has not looked yet. Written with the lock held, read without.
    notified: AtomicBool,
    /// See [`frisbee_core::Config::backlog_max`].
    pub(crate) backlog_max: usize,
}

#[derive(Debug)]
pub(crate) struct MailboxState {
    /// What handles have sent since the task last looked.
    pub(crate) outbox: Outbox,
    /// What waits at the task, as it last said.
    pub(crate) backlog: usize,
    /// Wakes the task.
    pub(crate) task: Option<Waker>,
    /// What handles ask for.
    pub(crate) order: Option<Box<Order>>,
    /// What handles want done about a hand-off.
    pub(crate) hand_off: Option<Box<Step>>,
    /// Whether a hand-off is under way.
    pub(crate) handing_off: HandingOff,
    /// The streams that are open, by id.
    pub(crate) streams: BTreeMap<PacketId, Arc<StreamShared>>,
    /// How many of them were opened from here.
    opened_here: usize,
    /// The id after the one given to the last stream opened from here.
    next_stream: u16,
    /// What the peer is, as far as it has shown.
    pub(crate) peer: PeerKind,
    /// The peer takes nothing new any more.
    pub(crate) going_away: bool,
    /// The client has no more time for its first header.
    pub(crate) hurried: bool,
    /// Set when the connection has ended. Nothing is accepted from then on.
    pub(crate) closed: Option<Box<CloseReason>>,
    /// And what waited has been written, or is lost.
    over: bool,
    /// In a box, since mostly nobody waits.
    waiting: Option<Box<Waiting>>,
    /// The number of the last that had to wait.
    waits: u64,
}

/// Who waits for the connection's task.
#[derive(Debug, Default)]
struct Waiting {
    /// For room.
    producers: BTreeMap<u64, Waker>,
    /// The last of them that no [`Waiter`] takes along.
    last_to_stay: u64,
    /// For the end, the verdict on the peer, a place for a stream, or what becomes of a hand-off.
    watchers: BTreeMap<u64, Waker>,
}

/// How far a hand-off has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HandingOff {
    No,
    Undecided,
    /// Undecided, and the peer, which has asked, no longer waits for the answer.
    GivenUp,
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
    /// Give the transport to its next owner. Given by the task itself.
    HandOver,
}

impl Order {
    /// Puts an order where one may wait already. It replaces one that is less urgent.
    pub(crate) fn put(order: Self, place: &mut Option<Box<Self>>) {
        if place.as_ref().is_none_or(|earlier| earlier.rank() < order.rank()) {
            *place = Some(Box::new(order));
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::WhenIdle(_) => 0,
            Self::Flush(_) => 1,
            Self::Now(_) => 2,
            Self::HandOver => 3,
        }
    }
}

impl Mailbox {
    pub(crate) fn new(body_max: u32, backlog_max: usize) -> Self {
        let mut outbox = Outbox::default();
        outbox.set_limit(body_max);
        let inner = MailboxState {
            outbox,
            backlog: 0,
            task: None,
            order: None,
            hand_off: None,
            handing_off: HandingOff::No,
            streams: BTreeMap::new(),
            opened_here: 0,
            next_stream: 0,
            peer: PeerKind::Unknown,
            going_away: false,
            hurried: false,
            closed: None,
            over: false,
            waiting: None,
            waits: 0,
        };
        Self { inner: Mutex::new(inner), notified: AtomicBool::new(false), backlog_max: backlog_max.max(1) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, MailboxState> {
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
        self.poll_write_as(context, None, fill)
    }

    /// As [`poll_write`](Self::poll_write), on behalf of somebody who may go.
    pub(crate) fn poll_write_as<T>(
        &self,
        context: &mut Context<'_>,
        waiter: Option<&mut Waiter<'_>>,
        fill: impl FnOnce(&mut Outbox) -> T,
    ) -> Poll<Result<T, SendError>> {
        let mut inner = self.inner.lock();
        inner.check_open()?;
        if inner.is_full(self.backlog_max) {
            MailboxState::wait_for_room(inner, context, waiter);
            return Poll::Pending;
        }
        let filled = fill(&mut inner.outbox);
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
        Poll::Ready(Ok(filled))
    }

    /// Ready when there is room for a packet; otherwise the caller is woken when there is.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Result<Poll<()>, SendError> {
        let inner = self.inner.lock();
        inner.check_open()?;
        if inner.is_full(self.backlog_max) {
            MailboxState::wait_for_room(inner, context, None);
            return Ok(Poll::Pending);
        }
        Ok(Poll::Ready(()))
    }

    /// Asks the task to close. A more urgent order replaces a less urgent one.
    pub(crate) fn order(&self, order: Order) {
        let mut inner = self.inner.lock();
        Order::put(order, &mut inner.order);
        let task = self.to_wake(&inner);
        drop(inner);
        wake(task);
    }

    /// Tells the task that the client has no more time for its first header.
    pub(crate) fn hurry(&self) {
        let mut inner = self.inner.lock();
        inner.hurried = true;
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
    pub(crate) fn lock_by_task(&self) -> MutexGuard<'_, MailboxState> {
        let inner = self.inner.lock();
        self.notified.store(false, Ordering::Relaxed);
        inner
    }

    /// The waker to call, unless the task has been woken already.
    fn to_wake(&self, inner: &MailboxState) -> Option<Waker> {
        // Nobody else writes while the lock is held, so this need not be one step.
        if self.notified.load(Ordering::Relaxed) {
            return None;
        }
        self.notified.store(true, Ordering::Relaxed);
        inner.task.clone()
    }

    /// Why the connection has ended, or registers the caller to be woken then.
    pub(crate) fn poll_closed(&self, context: &mut Context<'_>, watch: &mut Waiter<'_>) -> Poll<CloseReason> {
        let inner = self.inner.lock();
        if let Some(reason) = inner.closed.as_ref().filter(|_| inner.over) {
            return Poll::Ready(CloseReason::clone(reason));
        }
        MailboxState::watch(inner, context, watch);
        Poll::Pending
    }

    /// What the peer is, once it has shown.
    pub(crate) fn poll_peer(
        &self,
        context: &mut Context<'_>,
        watch: &mut Waiter<'_>,
    ) -> Poll<Result<PeerKind, SendError>> {
        let inner = self.inner.lock();
        if inner.peer != PeerKind::Unknown {
            return Poll::Ready(Ok(inner.peer.clone()));
        }
        inner.check_open()?;
        MailboxState::watch(inner, context, watch);
        Poll::Pending
    }

    /// Takes in what the peer is.
    pub(crate) fn handle_peer_known(&self, peer: PeerKind) {
        let mut inner = self.inner.lock();
        inner.peer = peer;
        let watchers = inner.take_watchers();
        drop(inner);
        wake_all(watchers);
    }

    /// Ready when the peer no longer waits for the answer to a hand-off, or the connection has ended.
    pub(crate) fn poll_given_up(&self, context: &mut Context<'_>, watch: &mut Waiter<'_>) -> Poll<()> {
        let inner = self.inner.lock();
        if inner.handing_off == HandingOff::GivenUp || inner.closed.is_some() {
            return Poll::Ready(());
        }
        MailboxState::watch(inner, context, watch);
        Poll::Pending
    }

    /// Takes in how far a hand-off has come.
    pub(crate) fn set_handing_off(&self, handing_off: HandingOff) {
        let mut inner = self.inner.lock();
        inner.handing_off = handing_off;
        let watchers = inner.take_watchers();
        drop(inner);
        wake_all(watchers);
    }

    /// Takes a stream that is over out of the table, unless its id has a later one.
    pub(crate) fn leave_stream(&self, stream: &Arc<StreamShared>) {
        let mut inner = self.inner.lock();
        let watchers = inner.leave_stream(stream);
        drop(inner);
        wake_all(watchers);
    }

    /// Says that a connection which has ended has written what it could.
    pub(crate) fn finish(&self) {
        let mut inner = self.inner.lock();
        inner.over = true;
        let task = inner.task.take();
        let watchers = inner.take_watchers();
        drop(inner);
        drop(task);
        wake_all(watchers);
    }

    /// Ends it all: nothing is accepted from now on, streams are closed, everybody who waits is woken.
    pub(crate) fn close(&self, reason: &CloseReason) {
        let mut inner = self.inner.lock();
        if inner.closed.is_some() {
            return;
        }
        inner.closed = Some(Box::new(reason.clone()));
        // What is shared with their owners is let go of without the lock.
        let (unsent, step) = (std::mem::take(&mut inner.outbox), inner.hand_off.take());
        let streams = std::mem::take(&mut inner.streams);
        inner.opened_here = 0;
        let waiting = inner.waiting.take();
        drop(inner);
        streams.into_values().for_each(|stream| stream.handle_close());
        if let Some(waiting) = waiting {
            wake_all(waiting.producers.into_values().chain(waiting.watchers.into_values()));
        }
        drop((unsent, step));
    }
}

/// Somebody who waits for a connection, and takes the waker along when that is over: a connection would keep one for
/// each that ever waited. Made by [`Connection::waiter`](crate::Connection::waiter).
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
        let wakers = inner
            .waiting
            .as_mut()
            .map(|waiting| (waiting.producers.remove(&self.number), waiting.watchers.remove(&self.number)));
        inner.forget_waiting();
        drop(inner);
        drop(wakers); // Which may be the last of a task, without the lock.
    }
}

/// Wakes without a lock held, since a waker may run anything.
fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}

/// As [`wake`]. One whose waker panics, which is a defect of that one, keeps none of the others asleep.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
            tracing::error!("a waker panicked");
        }
    }
}

impl MailboxState {
    pub(crate) fn check_open(&self) -> Result<(), SendError> {
        match &self.closed {
            Some(reason) => Err(SendError::Closed(CloseReason::clone(reason))),
            None => Ok(()),
        }
    }

    fn is_full(&self, max: usize) -> bool {
        self.outbox.len().saturating_add(self.backlog) >= max
    }

    /// Takes those who wait for room, if there is room now.
    pub(crate) fn take_producers(&mut self, backlog_max: usize) -> Vec<Waker> {
        if self.waiting.is_none() || self.is_full(backlog_max) {
            return Vec::new();
        }
        let producers = self.waiting.as_mut().map(|waiting| std::mem::take(&mut waiting.producers));
        self.forget_waiting();
        producers.unwrap_or_default().into_values().collect()
    }

    /// Takes those who wait for the peer to change.
    pub(crate) fn take_watchers(&mut self) -> Vec<Waker> {
        let watchers = self.waiting.as_mut().map(|waiting| std::mem::take(&mut waiting.watchers));
        self.forget_waiting();
        watchers.unwrap_or_default().into_values().collect()
    }

    fn forget_waiting(&mut self) {
        self.waiting.take_if(|waiting| waiting.producers.is_empty() && waiting.watchers.is_empty());
    }

    /// Registers a task that is woken when there is room, and unlocks.
    #[cold]
    fn wait_for_room(mut inner: MutexGuard<'_, Self>, context: &Context<'_>, waiter: Option<&mut Waiter<'_>>) {
        if context.waker().will_wake(Waker::noop()) {
            return;
        }
        let number = match waiter {
            Some(waiter) => inner.number(waiter),
            None => {
                // A task that asks again and again, in a loop say, is not entered each time. What it has entered by a
                // waiter does not count: that goes when the waiter does.
                let last = inner.waiting.as_ref().and_then(|waiting| waiting.producers.get(&waiting.last_to_stay));
                if last.is_some_and(|last| last.will_wake(context.waker())) {
                    return;
                }
                inner.waits += 1;
                let number = inner.waits;
                inner.waiting.get_or_insert_default().last_to_stay = number;
                number
            }
        };
        let earlier = inner.waiting.get_or_insert_default().producers.insert(number, context.waker().clone());
        drop(inner);
        drop(earlier); // As a waiter drops them.
    }

    /// The number under which somebody waits.
    fn number(&mut self, waiter: &mut Waiter<'_>) -> u64 {
        if waiter.number == 0 {
            self.waits += 1;
            waiter.number = self.waits;
        }
        waiter.number
    }

    /// Registers a task that is woken when something changes, and unlocks.
    pub(crate) fn watch(mut inner: MutexGuard<'_, Self>, context: &Context<'_>, watch: &mut Waiter<'_>) {
        let number = inner.number(watch);
        let earlier = inner.waiting.get_or_insert_default().watchers.insert(number, context.waker().clone());
        drop(inner);
        drop(earlier); // As a waiter drops them.
    }

    /// Enters a stream that is opened from here, under an id that is free; `None` if as many are open as may be.
    ///
    /// Ids count for the connection. Between two of ours each end has a range of its own; a Go server takes any id,
    /// and 0 is left out since Go clients never use it.
    pub(crate) fn enter_stream(
        &mut self,
        role: Role,
        make: impl FnOnce(PacketId) -> Arc<StreamShared>,
    ) -> Option<PacketId> {
        let (ids, places) = match (&self.peer, role) {
            (PeerKind::Extended(hello), Role::Client) => (1..=0x7FFF, hello.streams_max),
            (PeerKind::Extended(hello), Role::Server) => (0x8000..=u16::MAX, hello.streams_max),
            (PeerKind::Plain | PeerKind::Unknown, _) => (1..=u16::MAX, u32::MAX),
        };
        if self.opened_here >= usize::try_from(places).unwrap_or(usize::MAX) {
            return None;
        }
        for _ in ids.clone() {
            if !ids.contains(&self.next_stream) {
                self.next_stream = *ids.start();
            }
            let id = PacketId(self.next_stream);
            self.next_stream = self.next_stream.wrapping_add(1);
            if let Entry::Vacant(free) = self.streams.entry(id) {
                free.insert(make(id));
                self.opened_here += 1;
                return Some(id);
            }
        }
        None
    }

    /// Streams that the peer has opened.
    pub(crate) fn opened_by_peer(&self) -> usize {
        self.streams.len() - self.opened_here
    }

    /// Takes a stream out of the table, unless its id has a later one; those to wake.
    #[must_use]
    pub(crate) fn leave_stream(&mut self, stream: &Arc<StreamShared>) -> Vec<Waker> {
        let Entry::Occupied(entry) = self.streams.entry(stream.id()) else { return Vec::new() };
        if !Arc::ptr_eq(entry.get(), stream) {
            return Vec::new();
        }
        entry.remove();
        if !stream.is_opened_here() {
            return Vec::new();
        }
        self.opened_here -= 1;
        self.take_watchers()
    }

    /// Writes a packet about a stream, in the order in which the lock was taken.
    pub(crate) fn tell(&mut self, tell: StreamSignal, id: PacketId, reset: &[u8]) {
        let (operation, content) = match tell {
            StreamSignal::Nothing => return,
            StreamSignal::Close => (Operation::STREAM, &[][..]),
            StreamSignal::End => (Operation::END, &[][..]),
            StreamSignal::Reset => (Operation::END, reset),
        };
        // Whoever resets may say a lot, and the peer may take little. It puts up with a text that is cut anywhere.
        let most = usize::try_from(self.outbox.limit()).unwrap_or(usize::MAX);
        let content = content.get(..most).unwrap_or(content);
        let mut frame = self.outbox.frame(id, operation);
        frame.put_slice(content);
        let sent = frame.finish();
        debug_assert!(sent.is_ok(), "the text has been cut to the limit");
    }
}

/// Every interleaving of handles and task, as far as the checker's bounds go.
#[cfg(all(test, frisbee_loom))]
mod models {
    use super::*;
    use bytes::Bytes;
    use loom::future::block_on;
    use loom::thread;
    use std::future::poll_fn;

    const BACKLOG_MAX: usize = 1024 * 1024;

    fn send(outbox: &mut Outbox, length: usize) {
        let operation = Operation::user(10).expect("users have 10");
        outbox.push(PacketId(1), operation, &Bytes::from(vec![0; length])).expect("it is short");
    }

    /// What the task remembers.
    #[derive(Default)]
    struct Task {
        yielded: bool,
        backlog: usize,
        told: Option<usize>,
    }

    /// What the task does at the beginning of a turn; see `Engine::take_mail`. The bytes that it has got.
    fn take_mail(mailbox: &Mailbox, context: &Context<'_>, task: &mut Task) -> usize {
        if !mailbox.is_notified() {
            if task.told == Some(task.backlog) {
                return 0;
            }
        } else if !task.yielded {
            task.yielded = true;
            context.waker().wake_by_ref();
            return 0;
        }
        task.yielded = false;
        let mut inner = mailbox.lock_by_task();
        if !inner.task.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
            inner.task = Some(context.waker().clone());
        }
        let taken = inner.outbox.take_bytes().len();
        task.backlog += taken;
        inner.backlog = task.backlog;
        task.told = Some(task.backlog);
        let producers = inner.take_producers(mailbox.backlog_max);
        drop(inner);
        producers.into_iter().for_each(Waker::wake);
        taken
    }

    #[test]
    fn what_handles_send_reaches_the_task_whoever_comes_first() {
        loom::model(|| {
            let mailbox = loom::sync::Arc::new(Mailbox::new(1_000, BACKLOG_MAX));
            let handles: Vec<_> = (0..2)
                .map(|_| {
                    let mailbox = mailbox.clone();
                    thread::spawn(move || mailbox.write(|outbox| send(outbox, 0)).expect("it is open"))
                })
                .collect();
            let (mut taken, mut task) = (0, Task::default());
            // A lost wake-up is a deadlock, which the checker reports.
            block_on(poll_fn(|context| {
                taken += take_mail(&mailbox, context, &mut task);
                task.backlog = 0;
                if taken == 20 { Poll::Ready(()) } else { Poll::Pending }
            }));
            handles.into_iter().for_each(|handle| handle.join().expect("it does not panic"));
        });
    }

    #[test]
    fn a_producer_that_waits_for_room_is_woken_when_there_is_some() {
        loom::model(|| {
            let mailbox = loom::sync::Arc::new(Mailbox::new(u32::MAX, BACKLOG_MAX));
            mailbox.write(|outbox| send(outbox, BACKLOG_MAX)).expect("it is open");
            let producer = thread::spawn({
                let mailbox = mailbox.clone();
                move || block_on(poll_fn(|context| mailbox.poll_write(context, |outbox| send(outbox, 0))))
            });
            let (mut taken, mut task) = (0, Task::default());
            block_on(poll_fn(|context| {
                taken += take_mail(&mailbox, context, &mut task);
                // The socket takes all of it; see `Engine::handle_written`.
                let before = std::mem::take(&mut task.backlog);
                if before >= BACKLOG_MAX {
                    let mut inner = mailbox.lock();
                    inner.backlog = 0;
                    task.told = Some(0);
                    let producers = inner.take_producers(mailbox.backlog_max);
                    drop(inner);
                    producers.into_iter().for_each(Waker::wake);
                }
                if taken == BACKLOG_MAX + 20 { Poll::Ready(()) } else { Poll::Pending }
            }));
            producer.join().expect("it does not panic").expect("it is open");
        });
    }

    #[test]
    fn whoever_waits_when_a_connection_ends_is_told() {
        loom::model(|| {
            let mailbox = loom::sync::Arc::new(Mailbox::new(u32::MAX, BACKLOG_MAX));
            mailbox.write(|outbox| send(outbox, BACKLOG_MAX)).expect("it is open");
            let producer = thread::spawn({
                let mailbox = mailbox.clone();
                move || block_on(poll_fn(|context| mailbox.poll_write(context, |outbox| send(outbox, 0))))
            });
            let watcher = thread::spawn({
                let mailbox = mailbox.clone();
                move || {
                    let mut watch = Waiter::new(&mailbox);
                    block_on(poll_fn(|context| mailbox.poll_closed(context, &mut watch)))
                }
            });
            mailbox.close(&CloseReason::Local);
            mailbox.finish();
            assert!(producer.join().expect("it does not panic").is_err());
            assert!(matches!(watcher.join().expect("it does not panic"), CloseReason::Local));
        });
    }
}
