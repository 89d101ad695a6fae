//! The call table of a connection, shared by callers and the driver.
//!
//! # Decisions
//!
//! An id consists of the slot index, a bit that alternates between calls in the slot, and a bit for the side that makes
//! the call. The alternating bit prevents a duplicate reply from being mistaken for the reply to the next call. The id
//! of a cancelled call stays reserved until the peer has replied. Small replies are copied into the slot, because a
//! shared reply would prevent the reuse of the read buffer.

use crate::calls::Calls;
use crate::calls::events::{ServerEvent, ServerObserver};
use crate::calls::offers::CalledServices;
use crate::observe::observers::Observers;
use crate::wire::layouts::takes_calls;
use crate::wire::report::Report;
use crate::{Code, Status};
use frisbee::rpc::{ConnectionExt, wake_all, with_guarded_waker};
use frisbee::{PeerKind, PermitPlace};
use parking_lot::{Mutex, MutexGuard};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use tokio::sync::SetOnce;

/// Call table of a connection, with additional state that is accessed without the table's lock.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    pub(crate) calls: Mutex<Calls>,
    /// Set when the connection stops accepting calls. The queue for slots cannot be used to wait for this, because it
    /// wakes only one caller per free slot.
    retired: SetOnce<()>,
    /// Whether the peer has sent its first packet, and is thus known to be alive and to be native or compat.
    shown: AtomicBool,
    /// Whether the server has answered at least one call.
    answered: AtomicBool,
    /// Observer of the server's events. Set if the server belongs to a load-balanced channel.
    server: Option<Arc<dyn ServerObserver>>,
    /// Owner of the link to this connection, which drops the link when the connection stops accepting calls.
    owner: OnceLock<Weak<dyn ReleaseLink>>,
}

/// Object that holds the link to a connection, and must drop it once the connection accepts no new calls.
pub(crate) trait ReleaseLink: Send + Sync {
    /// Drops the link if it belongs to the connection of this call table.
    fn release_link(&self, calls: &CallTable);
}

impl CallTable {
    /// Creates the call table of a dialled connection that calls the services of `offers`, with optional observers and
    /// timing. The default value is the table of an accepted connection.
    pub(crate) fn new(
        offers: CalledServices,
        observers: Option<&Arc<Observers>>,
        server: Option<&Arc<dyn ServerObserver>>,
    ) -> Self {
        let table = Self { server: server.cloned(), ..Self::default() };
        let mut calls = table.calls.lock();
        calls.set_dialler();
        calls.offers = offers;
        observers.into_iter().for_each(|observers| calls.observe_by(observers));
        calls.set_server(server);
        drop(calls);
        table
    }

    /// Calls `change` with the call table locked. Afterwards, wakes the next queued callers if slots are free, and
    /// drops stale wakers once the lock is released.
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
        // Release the lock first, because wakers may run arbitrary code when woken or dropped.
        drop(stale);
        wake_all(callers);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Removes a caller from the queue for free slots.
    pub(crate) fn leave(&self, place: &mut PermitPlace) {
        if place.has_waited() {
            let waker = self.with(|calls| calls.queue.leave(place));
            drop(waker);
        }
    }

    /// Creates the call table of a connection that belongs to no channel. All calls on it fail.
    pub(crate) fn of_nobody() -> Arc<Self> {
        let calls = Arc::new(Self::default());
        drop(calls.calls.lock().end(Status::failed_precondition("the connection has ended or belongs to no channel")));
        calls.retire();
        calls
    }

    /// Records that the peer has sent its first packet, which makes its kind known.
    pub(crate) fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
        self.report(ServerEvent::Alive);
    }

    /// Returns whether the kind of the peer is known.
    pub(crate) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    /// Records the kind of the client that dialled this connection.
    pub(crate) fn handle_client_known(&self, client: &PeerKind) {
        let hello = client.hello().filter(|_| takes_calls(client));
        self.with(|calls| {
            calls.handle_peer_known(hello.map(|hello| hello.calls_max));
            calls.offers.handle_peer_known(client);
        });
    }

    /// Returns whether the server has answered at least one call.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Records the status code of a reply, which shows whether a load-balanced server is healthy.
    pub(crate) fn handle_answer(&self, code: Code) {
        if !self.has_answered() {
            self.answered.store(true, Ordering::Relaxed);
        }
        self.report(ServerEvent::Answered(code));
    }

    /// Records the load report in the prefix of a reply, if the server belongs to a load-balanced channel.
    pub(crate) fn handle_prefix(&self, body: &[u8]) {
        if self.server.is_some()
            && let Some(report) = Report::of_reply(body)
        {
            // Exclude the call that this reply completes. If one poll receives several replies, the calls of the
            // remaining replies still count.
            let own = self.calls.lock().at_work().saturating_sub(1);
            self.report(ServerEvent::Reported { report, own });
        }
    }

    /// Returns whether the server belongs to a load-balanced channel.
    pub(crate) fn is_of_fleet(&self) -> bool {
        self.server.is_some()
    }

    /// Reports an event to the observer of the server, if it has one.
    pub(crate) fn report(&self, event: ServerEvent) {
        if let Some(server) = &self.server {
            server.event(event);
        }
    }

    /// Blocks new calls until the guard is dropped. Returns `None` if calls are in flight, including cancelled ones.
    pub(crate) fn pause(self: &Arc<Self>) -> Option<PauseGuard> {
        self.calls.lock().pause().then(|| PauseGuard(self.clone()))
    }

    /// Returns whether no call is in flight on the connection.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.lock().is_idle()
    }

    /// Stops new calls on the connection and releases its link. The link is released immediately rather than at the
    /// next call, because there may be no further call, and a server that shuts down waits for the connection to close.
    pub(crate) fn retire(&self) {
        // Set the flag before waking the waiters. Otherwise, a waiter could queue again for a slot.
        let is_first = self.retired.set(()).is_ok();
        let waiters: Vec<_> = self.calls.lock().queue.take_all().collect();
        wake_all(waiters);
        if is_first {
            self.report(ServerEvent::Retired);
        }
        // Pairs with the fence in `set_owner`: either this thread sees the owner, or the owner sees that the connection
        // is retired.
        fence(Ordering::SeqCst);
        if let Some(owner) = self.owner.get().and_then(Weak::upgrade) {
            owner.release_link(self);
        }
    }

    /// Returns whether the connection accepts no new calls.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.initialized()
    }

    /// Sets the channel object that owns the link to this connection.
    pub(crate) fn set_owner(&self, owner: Weak<dyn ReleaseLink>) {
        let is_first = self.owner.set(owner).is_ok();
        debug_assert!(is_first, "new connection should belong to a single channel");
        // Pairs with the fence in `retire`: if `retire` did not see the owner, the check below sees that the connection
        // is retired.
        fence(Ordering::SeqCst);
        if self.is_retired() {
            self.retire(); // The connection was retired before it had an owner.
        }
    }

    /// Waits until the connection accepts no new calls.
    pub(crate) async fn retired(&self) {
        with_guarded_waker(self.retired.wait()).await;
    }

    /// Fails all current and future calls with `status`, because the connection has closed. Wakes their callers.
    pub(crate) fn end(&self, status: Status) {
        // Retire first, so that woken callers that retry choose another connection. Then fail the calls even if the
        // observer of the server has panicked.
        let retired = catch_unwind(AssertUnwindSafe(|| self.retire()));
        let mut calls = self.calls.lock();
        let forgotten = catch_unwind(AssertUnwindSafe(|| calls.forget_timed()));
        let wake = calls.end(status);
        drop(calls);
        wake_all(wake);
        retired.and(forgotten).unwrap_or_else(|panic| resume_unwind(panic));
    }
}

/// Guard that allows new calls again when dropped.
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
    use crate::calls::tests::wakers::{Broken, Counted};
    use crate::calls::timing::tests::Events;
    use crate::wire::prefix::{PrefixFields, put};
    use frisbee::Operation;
    use std::sync::atomic::AtomicU64;
    use std::task::{Context, Wake, Waker};
    use std::time::Duration;

    fn of_fleet() -> (Arc<Events>, CallTable) {
        let events = Arc::<Events>::default();
        let server: Arc<dyn ServerObserver> = events.clone();
        (events, CallTable::new(CalledServices::default(), None, Some(&server)))
    }

    #[test]
    fn connection_answers_and_states_are_reported() {
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
        table.end(Status::unavailable("lost"));
        assert!(events.take().is_empty(), "connection should be reported as retired only once");
    }

    #[test]
    fn load_report_excludes_own_waiting_calls() {
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
        assert!(events.take().is_empty(), "message without a prefix should contain no load report");
        for _ in 0..3 {
            table
                .calls
                .lock()
                .begin(Operation::FIRST_USER, None, Waker::noop())
                .expect("call table should have a free slot");
        }
        table.handle_prefix(&body);
        let [ServerEvent::Reported { report, own }] = events.take()[..] else { panic!("one event should be recorded") };
        assert_eq!(
            (report.in_progress, report.micros, own),
            (3, 400, 2),
            "report should exclude the two calls without a reply"
        );
    }

    /// A waker that holds the last reference to a task and accesses the call table when it is woken or dropped.
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
    fn wakers_are_woken_and_dropped_without_lock() {
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
                caller.expect("caller should be waiting for the reply").wake();
            }),
            ("the connection ends", |table, _| table.end(Status::unavailable("lost"))),
        ];
        for (event, end) in ends {
            let (table, counts) = (Arc::new(CallTable::default()), Arc::<[AtomicU64; 2]>::default());
            let waker = Waker::from(Arc::new(LastReference(table.clone(), counts.clone())));
            let ticket = table
                .calls
                .lock()
                .begin(Operation::FIRST_USER, None, &waker)
                .expect("call table should have a free slot");
            drop(waker);
            end(&table, ticket);
            let counts = counts.each_ref().map(|count| count.load(Ordering::SeqCst) > 0);
            assert_eq!(counts, [true, false], "{event}");
        }
    }

    /// Returns a counting waker, placed between two wakers that panic.
    fn wakers() -> (Arc<Counted>, [Waker; 3]) {
        let counted = Arc::<Counted>::default();
        (counted.clone(), [Arc::new(Broken).into(), counted.into(), Arc::new(Broken).into()])
    }

    #[test]
    fn panicking_waker_lets_others_wake() {
        let table = CallTable::default();
        let (caller, callers) = wakers();
        for waker in &callers {
            table.calls.lock().begin(Operation::FIRST_USER, None, waker).expect("call table should have a free slot");
        }
        table.end(Status::unavailable("lost"));
        assert_eq!(caller.0.load(Ordering::SeqCst), 1);
        assert!(table.calls.lock().begin(Operation::FIRST_USER, None, Waker::noop()).is_err());
    }

    #[test]
    fn panicking_waker_does_not_block_other_wakers() {
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

    /// Server observer that panics on every event, except when a measurement begins.
    #[derive(Debug)]
    struct BrokenObserver;

    impl ServerObserver for BrokenObserver {
        fn event(&self, event: ServerEvent) {
            assert!(matches!(event, ServerEvent::Timed(_)), "{event:?}");
        }
    }

    /// Regression test: a panicking observer of the server kept the calls of an ended connection pending forever.
    #[test]
    fn panicking_observer_of_server_does_not_block_callers() {
        let server: Arc<dyn ServerObserver> = Arc::new(BrokenObserver);
        let table = CallTable::new(CalledServices::default(), None, Some(&server));
        let caller = Arc::<Counted>::default();
        let waker = caller.clone().into();
        let ticket =
            table.calls.lock().begin(Operation::FIRST_USER, None, &waker).expect("call table should have a free slot");
        table.calls.lock().time(ticket, None);
        assert!(catch_unwind(AssertUnwindSafe(|| table.end(Status::unavailable("lost")))).is_err());
        assert_eq!(caller.0.load(Ordering::SeqCst), 1);
    }

    /// Regression test: a task that waited for the connection to be retired consumed the wake-up for a free slot, so a
    /// caller kept waiting.
    #[test]
    fn free_slot_wakes_caller_not_retirement_waiter() {
        let (table, counted) = (CallTable::default(), Arc::<Counted>::default());
        let mut retired = Box::pin(table.retired());
        assert!(retired.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let waker = counted.clone().into();
        table.with(|calls| drop(calls.queue.enter(&mut PermitPlace::default(), &Context::from_waker(&waker))));
        assert_eq!(counted.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn call_without_channel_fails_immediately() {
        let table = CallTable::of_nobody();
        assert!(table.is_retired());
        let result = table.calls.lock().begin(Operation::FIRST_USER, None, Waker::noop());
        assert!(
            matches!(result, Err(crate::calls::NotSent::Over(status)) if status.code() == Code::FailedPrecondition)
        );
    }

    #[test]
    fn fleet_connection_measures_first_call() {
        let (events, table) = of_fleet();
        let started = std::time::Instant::now();
        let ticket = table
            .calls
            .lock()
            .begin(Operation::FIRST_USER, None, Waker::noop())
            .expect("call table should have a free slot");
        assert!(table.calls.lock().times_next, "first call should be timed");
        table.calls.lock().time(ticket, Some(started));
        let reply = frisbee::Packet { id: ticket.id, operation: Operation::FIRST_USER, body: bytes::Bytes::new() };
        table.with(|calls| calls.handle_reply(reply));
        table.calls.lock().handle_time(started + Duration::from_millis(20), &mut Vec::new());
        assert_eq!(events.measured(), Some((Duration::from_millis(20), MeasuredEnd::Answered)));
    }
}
