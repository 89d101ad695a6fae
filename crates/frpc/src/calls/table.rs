//! The table of a connection's calls, shared by callers and the driver.
//!
//! # Decisions
//!
//! An id consists of a slot, an alternating bit, and a bit for the calling end. The slot is the index of the call, and
//! a duplicate reply does not answer the next call in the slot. The id of a cancelled call stays reserved until the
//! peer has answered. Small replies are copied into the slot, because sharing them would prevent reuse of the read
//! buffer.

use crate::calls::Calls;
use crate::calls::events::{ServerEvent, ServerObserver};
use crate::calls::offers::CalledServices;
use crate::observe::observers::Observers;
use crate::wire::layouts::takes_calls;
use crate::wire::report::Report;
use crate::{Code, Status};
use frisbee::{PeerKind, PermitPlace};
use parking_lot::{Mutex, MutexGuard};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use tokio::sync::{Notify, futures::Notified};

/// The calls of a connection, and the callers that wait for a slot.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    pub(crate) calls: Mutex<Calls>,
    /// Set when the connection accepts no new calls.
    retired: AtomicBool,
    /// Separate from the slot queue, which wakes one caller per free slot.
    retirement: Notify,
    /// Set when the kind of the peer is known, which proves that it is alive.
    shown: AtomicBool,
    /// Set when the server has answered a call.
    answered: AtomicBool,
    /// The observer of the server, if it belongs to a fleet.
    server: Option<Arc<dyn ServerObserver>>,
    /// The owner of the link in a channel.
    owner: OnceLock<Weak<dyn ReleaseLink>>,
}

/// A holder of a link, which releases the connection when it accepts no new calls.
pub(crate) trait ReleaseLink: Send + Sync {
    /// Releases the connection of these calls if this is the holder.
    fn release_link(&self, calls: &CallTable);
}

impl CallTable {
    /// Creates the table of a dialled connection that calls the services of `offers`, optionally with observation and timing.
    /// The default value is the table of an accepting end.
    pub(crate) fn new(
        offers: CalledServices,
        observers: Option<&Arc<Observers>>,
        server: Option<&Arc<dyn ServerObserver>>,
    ) -> Self {
        let table = Self { server: server.cloned(), ..Self::default() };
        let mut calls = table.calls.lock();
        calls.set_dialler();
        calls.offers = offers;
        calls.set_observers(observers);
        calls.set_server(server);
        drop(calls);
        table
    }

    /// Starts observation of the accepting end's calls, unless it is already active.
    pub(crate) fn observe_by(&self, observers: &Arc<Observers>) {
        self.calls.lock().observe_by(observers);
    }

    /// Modifies the calls, and wakes the next waiting callers if slots are free. Stale wakers are dropped after the
    /// lock is released.
    #[inline(always)]
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut Calls) -> T) -> T {
        let mut calls = self.calls.lock();
        let result = change(&mut calls);
        if !calls.queue.is_empty() || !calls.stale.is_empty() {
            self.unlock(calls);
        }
        result
    }

    #[cold]
    fn unlock(&self, mut calls: MutexGuard<'_, Calls>) {
        let ((callers, driver), stale) = (calls.grant_slots(), std::mem::take(&mut calls.stale));
        drop(calls);
        drop(stale);
        wake_all(callers);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Removes a caller from the slot queue.
    pub(crate) fn leave(&self, place: &mut PermitPlace) {
        if place.has_waited() {
            let waker = self.with(|calls| calls.queue.leave(place));
            drop(waker);
        }
    }

    /// Wakes all callers in the slot queue because no slot will become free.
    fn dismiss_waiters(&self) {
        let waiters: Vec<_> = self.calls.lock().queue.take_all().collect();
        wake_all(waiters);
    }

    /// Creates the table of a connection that does not belong to a channel.
    pub(crate) fn of_nobody() -> Arc<Self> {
        let calls = Arc::new(Self::default());
        drop(calls.calls.lock().end(Status::failed_precondition("the connection has ended or belongs to no channel")));
        calls.retire();
        calls
    }

    /// Records that the kind of the peer is known.
    pub(crate) fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
        self.report(ServerEvent::Alive);
    }

    /// Returns whether the kind of the peer is known.
    pub(crate) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    /// Records the kind of the peer at the accepting end.
    pub(crate) fn handle_client_known(&self, client: &PeerKind) {
        let hello = client.hello().filter(|_| takes_calls(client));
        self.with(|calls| {
            calls.handle_peer_known(hello.map(|hello| hello.calls_max));
            calls.offers.handle_peer_known(client);
        });
    }

    /// Returns whether the server has answered a call.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Records the code of a reply, which indicates whether a fleet's server is healthy.
    pub(crate) fn handle_answer(&self, code: Code) {
        if !self.has_answered() {
            self.answered.store(true, Ordering::Relaxed);
        }
        self.report(ServerEvent::Answered(code));
    }

    /// Records the load report that precedes a reply of a fleet's server.
    pub(crate) fn handle_prefix(&self, body: &[u8]) {
        if self.server.is_some()
            && let Some(report) = Report::of_reply(body)
        {
            // Excludes the answered call. If several calls are answered together, the later ones are included.
            let own = self.calls.lock().at_work().saturating_sub(1);
            self.report(ServerEvent::Reported { report, own });
        }
    }

    /// Returns whether the connection leads to a server of a fleet.
    pub(crate) fn is_of_fleet(&self) -> bool {
        self.server.is_some()
    }

    /// Reports an event of a fleet's server.
    pub(crate) fn report(&self, event: ServerEvent) {
        if let Some(server) = &self.server {
            server.event(event);
        }
    }

    /// Pauses calls until the guard is dropped, if none is in flight; see [`Calls::pause`].
    pub(crate) fn pause(self: &Arc<Self>) -> Option<PauseGuard> {
        self.calls.lock().pause().then(|| PauseGuard(self.clone()))
    }

    /// Returns whether no call is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.lock().is_idle()
    }

    /// Prevents new calls. The channel releases the connection immediately, because there may be no further call that
    /// would notice, and a server that shuts down waits for the connection to close.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        self.dismiss_waiters();
        self.retirement.notify_waiters();
        self.report(ServerEvent::Retired);
        // Pairs with the fence in `set_owner`: at least one side sees the store of the other.
        fence(Ordering::SeqCst);
        if let Some(owner) = self.owner.get().and_then(Weak::upgrade) {
            owner.release_link(self);
        }
    }

    /// Returns whether the connection accepts no new calls.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// Records the owner of the link in a channel.
    pub(crate) fn set_owner(&self, owner: Weak<dyn ReleaseLink>) {
        let is_first = self.owner.set(owner).is_ok();
        debug_assert!(is_first, "a new connection belongs to one channel");
        fence(Ordering::SeqCst);
        if self.is_retired() {
            self.retire(); // The connection was retired before it had an owner.
        }
    }

    /// Waits until the connection accepts no new calls.
    pub(crate) async fn retired(&self) {
        loop {
            let mut changed = pin!(self.retirement.notified());
            changed.as_mut().enable();
            if self.retired.load(Ordering::Acquire) {
                return;
            }
            poll_fn(|context| poll_notified(changed.as_mut(), context)).await;
        }
    }

    /// Fails all calls; see [`Calls::end`].
    pub(crate) fn end(&self, status: Status) {
        self.retire();
        let wake = self.calls.lock().end(status);
        wake_all(wake);
    }
}

/// Wakes callers. If a waker panics, which is a defect of that waker, the others are still woken and the connection
/// continues.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    let mut wakers = wakers.into_iter();
    while catch_unwind(AssertUnwindSafe(|| wakers.by_ref().for_each(Waker::wake))).is_err() {
        tracing::error!(target: "frpc::client", "a waker panicked; the others are woken");
    }
}

/// Polls a wait for [`CallTable::retired`]. `Notify` would lose the wakers that follow one that panics.
fn poll_notified(notified: Pin<&mut Notified<'_>>, context: &mut Context<'_>) -> Poll<()> {
    let waker = Arc::new(GuardedWaker(context.waker().clone())).into();
    notified.poll(&mut Context::from_waker(&waker))
}

/// A waker that does not panic.
struct GuardedWaker(Waker);

impl Wake for GuardedWaker {
    fn wake(self: Arc<Self>) {
        wake_all([self.0.clone()]);
    }
}

/// Ends a pause when dropped.
pub(crate) struct PauseGuard(Arc<CallTable>);

impl Drop for PauseGuard {
    fn drop(&mut self) {
        self.0.with(Calls::resume);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::CallTicket;
    use crate::calls::events::MeasuredEnd;
    use crate::calls::timing::tests::Events;
    use crate::wire::prefix::{PrefixFields, put};
    use frisbee::Operation;
    use std::sync::atomic::AtomicU64;
    use std::task::Context;
    use std::time::Duration;

    fn of_fleet() -> (Arc<Events>, CallTable) {
        let events = Arc::<Events>::default();
        let server: Arc<dyn ServerObserver> = events.clone();
        (events, CallTable::new(CalledServices::default(), None, Some(&server)))
    }

    #[test]
    fn answers_and_states_of_a_connection_are_reported() {
        let (events, table) = of_fleet();
        assert!(table.is_of_fleet() && !CallTable::default().is_of_fleet());
        table.handle_answer(Code::Unavailable);
        assert!(matches!(events.take()[..], [ServerEvent::Answered(Code::Unavailable)]));
        CallTable::default().handle_answer(Code::Unavailable);
        assert!(!table.has_shown());
        table.show();
        assert!(matches!(events.take()[..], [ServerEvent::Alive]));
        assert!(table.has_shown() && !table.is_retired());
        table.report(ServerEvent::Overtaken);
        table.retire();
        assert!(matches!(events.take()[..], [ServerEvent::Overtaken, ServerEvent::Retired]));
        assert!(table.is_retired());
    }

    #[test]
    fn report_before_a_reply_counts_the_other_calls() {
        let (events, table) = of_fleet();
        table.calls.lock().times_next = false;
        table.calls.lock().time_next();
        assert!(table.calls.lock().times_next);
        let mut body = Vec::new();
        put(
            &mut body,
            PrefixFields { report: Some(Report { in_progress: 3, micros: 400 }), ..PrefixFields::default() },
        );
        body.extend([8, 0]);
        table.handle_prefix(&[8, 0]);
        assert!(events.take().is_empty(), "there was none in front of it");
        for _ in 0..3 {
            table
                .calls
                .lock()
                .begin(Operation::FIRST_USER, None, Waker::noop())
                .expect("table should have a free slot");
        }
        table.handle_prefix(&body);
        let [ServerEvent::Reported { report, own }] = events.take()[..] else { panic!("there was one") };
        assert_eq!((report.in_progress, report.micros, own), (3, 400, 2), "beside two that are not answered yet");
    }

    /// A waker that holds the last reference to a task. Both its drop and the task use the table.
    struct LastReference(Arc<CallTable>, Arc<[AtomicU64; 2]>);

    impl LastReference {
        fn count(&self) {
            let [free, locked] = &*self.1;
            let count = if self.0.calls.is_locked() { locked } else { free };
            count.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Wake for LastReference {
        fn wake(self: Arc<Self>) {
            self.count();
        }
    }

    impl Drop for LastReference {
        fn drop(&mut self) {
            self.count();
        }
    }

    #[test]
    fn wakers_are_woken_and_dropped_without_the_lock() {
        type End = fn(&CallTable, CallTicket);
        let ends: [(&str, End); 5] = [
            ("the caller is polled by another task", |table, ticket| {
                let other = Context::from_waker(Waker::noop());
                table.with(|calls| assert!(calls.take_reply(ticket, &other, |_| {}).is_pending()));
            }),
            ("the call is cancelled", |table, ticket| table.with(|calls| calls.abandon(ticket, |_, _| {}))),
            ("its request was not sent", |table, ticket| table.with(|calls| calls.revoke(ticket))),
            ("it is answered", |table, ticket| {
                let body = bytes::Bytes::new();
                let reply = frisbee::Packet { id: ticket.id, operation: Operation::FIRST_USER, body };
                let caller = table.with(|calls| calls.handle_reply(reply));
                caller.expect("caller should be waiting").wake();
            }),
            ("the connection ends", |table, _| table.end(Status::unavailable("lost"))),
        ];
        for (event, end) in ends {
            let (table, counts) = (Arc::new(CallTable::default()), Arc::<[AtomicU64; 2]>::default());
            let waker = Waker::from(Arc::new(LastReference(table.clone(), counts.clone())));
            let ticket =
                table.calls.lock().begin(Operation::FIRST_USER, None, &waker).expect("table should have a free slot");
            drop(waker);
            end(&table, ticket);
            let counts = counts.each_ref().map(|count| count.load(Ordering::SeqCst) > 0);
            assert_eq!(counts, [true, false], "{event}");
        }
    }

    /// A waker that panics.
    struct Broken;

    impl Wake for Broken {
        fn wake(self: Arc<Self>) {
            panic!("on purpose")
        }
    }

    #[derive(Default)]
    struct Counted(AtomicU64);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns callers whose wakers panic, with a counted waker between them.
    fn wakers() -> (Arc<Counted>, [Waker; 3]) {
        let counted = Arc::<Counted>::default();
        (counted.clone(), [Arc::new(Broken).into(), counted.into(), Arc::new(Broken).into()])
    }

    #[test]
    fn panicking_waker_does_not_prevent_other_wakes_at_end() {
        let table = CallTable::default();
        let (caller, callers) = wakers();
        for waker in &callers {
            table.calls.lock().begin(Operation::FIRST_USER, None, waker).expect("table should have a free slot");
        }
        table.end(Status::unavailable("lost"));
        assert_eq!(caller.0.load(Ordering::SeqCst), 1);
        assert!(table.calls.lock().begin(Operation::FIRST_USER, None, Waker::noop()).is_err());
    }

    #[test]
    fn panicking_waker_does_not_prevent_wakes_for_slots() {
        let table = CallTable::default();
        let (caller, callers) = wakers();
        for waker in &callers {
            let place = &mut PermitPlace::default();
            drop(table.calls.lock().queue.enter(place, &Context::from_waker(waker)));
        }
        let mut retired = Box::pin(table.retired());
        assert!(retired.as_mut().poll(&mut Context::from_waker(&callers[1])).is_pending());
        table.end(Status::unavailable("lost"));
        assert_eq!(caller.0.load(Ordering::SeqCst), 2);
    }

    /// Regression test: a task that waited for the end of the connection consumed the wake-up for a free slot, and the
    /// caller kept waiting.
    #[test]
    fn free_slot_wakes_a_caller_and_not_a_waiter_for_the_end() {
        let (table, counted) = (CallTable::default(), Arc::<Counted>::default());
        let mut retired = Box::pin(table.retired());
        assert!(retired.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let waker = counted.clone().into();
        table.with(|calls| drop(calls.queue.enter(&mut PermitPlace::default(), &Context::from_waker(&waker))));
        assert_eq!(counted.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn calls_of_connection_without_channel_fail_at_once() {
        let table = CallTable::of_nobody();
        assert!(table.is_retired());
        let result = table.calls.lock().begin(Operation::FIRST_USER, None, Waker::noop());
        assert!(
            matches!(result, Err(crate::calls::NotSent::Over(status)) if status.code() == Code::FailedPrecondition)
        );
    }

    #[test]
    fn first_batch_of_fleet_connection_measures_first_call() {
        let (events, table) = of_fleet();
        let started = std::time::Instant::now();
        let ticket = table
            .calls
            .lock()
            .begin(Operation::FIRST_USER, None, Waker::noop())
            .expect("table should have a free slot");
        assert!(table.calls.lock().times_next, "from the beginning on");
        table.calls.lock().time(ticket, Some(started));
        let reply = frisbee::Packet { id: ticket.id, operation: Operation::FIRST_USER, body: bytes::Bytes::new() };
        table.with(|calls| calls.handle_reply(reply));
        table.calls.lock().handle_time(started + Duration::from_millis(20), &mut Vec::new());
        assert_eq!(events.measured(), Some((Duration::from_millis(20), MeasuredEnd::Answered)));
    }
}
