//! The timing of calls on a connection of a fleet: one at a time, so that it costs next to nothing however many there are.
//!
//! The state of the timed call in the table says that it is timed, so no other call and no turn is checked for it.

use super::{CallTicket, Calls, State};
use crate::client::picker::{MeasuredEnd, ServerEvent, ServerObserver};
use crate::deadline;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After a call that took less, the next one is not timed: it would say no more, and timing would cost as much as the choice.
const QUICK: Duration = Duration::from_millis(1);

/// The timing of calls of one connection.
#[derive(Debug)]
pub(super) struct Timing {
    server: Arc<dyn ServerObserver>,
    timed: Option<TimedCall>,
}

/// The call that is timed.
#[derive(Clone, Copy, Debug)]
struct TimedCall {
    started: Instant,
    /// How it has ended, if it has, until the end of the turn.
    end: Option<MeasuredEnd>,
    /// The next deadline of all calls, if the end has taken its place; see [`Calls::end_timed`].
    next: Option<Option<Instant>>,
}

impl Calls {
    /// Has calls timed.
    pub(super) fn set_server(&mut self, server: Option<&Arc<dyn ServerObserver>>) {
        self.times_next = server.is_some();
        self.timing = server.map(|server| Box::new(Timing { server: server.clone(), timed: None }));
    }

    /// Times a call, which begins at this instant or else now, and no other before it has ended.
    pub(crate) fn time(&mut self, ticket: CallTicket, started: Option<Instant>) {
        let started = started.unwrap_or_else(|| self.now(deadline::now));
        self.times_next = false;
        let Some(timing) = &mut self.timing else { return };
        if let Some(entry) = self.slots.get_mut(usize::from(ticket.slot)) {
            entry.state = State::Timed;
            timing.server.event(ServerEvent::Timed(started));
            timing.timed = Some(TimedCall { started, end: None, next: None });
        }
    }

    /// Has the next call timed, unless one is.
    pub(crate) fn time_next(&mut self) {
        self.times_next = self.timing.as_ref().is_some_and(|timing| timing.timed.is_none());
    }

    /// Notes that the timed call has ended. The time is known at the end of the turn: as if a deadline of a call had
    /// come, the turn checks for it. `is_in_batch` says that no call begins before.
    pub(super) fn end_timed(&mut self, end: MeasuredEnd, is_in_batch: bool) {
        let Some(timed) = self.timing.as_mut().and_then(|timing| timing.timed.as_mut()) else { return };
        timed.end = Some(end);
        timed.next = is_in_batch.then_some(self.next_deadline);
        self.next_deadline = Some(timed.started);
    }

    /// Measures the timed call if it has ended in this turn. Returns whether deadlines have to be looked at.
    pub(super) fn measure_timed(&mut self, now: Instant) -> bool {
        let Some(timing) = &mut self.timing else { return true };
        let Some(TimedCall { started, end: Some(end), next }) = timing.timed else { return true };
        let took = now.saturating_duration_since(started);
        timing.server.event(ServerEvent::Measured { took, end, at: now });
        timing.timed = None;
        self.times_next = took >= QUICK;
        if let Some(next) = next {
            self.next_deadline = next;
        }
        next.is_none_or(|next| next.is_some_and(|next| next <= now))
    }

    /// Measures the timed call, whose deadline has passed.
    pub(super) fn measure_late(&mut self, now: Instant) {
        if let Some(timing) = &mut self.timing
            && let Some(TimedCall { started, .. }) = timing.timed.take()
        {
            let took = now.saturating_duration_since(started);
            timing.server.event(ServerEvent::Measured { took, end: MeasuredEnd::Late, at: now });
            self.times_next = true;
        }
    }

    /// Forgets the call that is timed: it was not sent, or the connection has ended.
    pub(super) fn forget_timed(&mut self) {
        if let Some(timing) = &mut self.timing
            && timing.timed.take().is_some()
        {
            timing.server.event(ServerEvent::NotMeasured);
            self.times_next = true;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use bytes::Bytes;
    use frisbee::{Operation, Packet};
    use parking_lot::Mutex;
    use std::task::Waker;

    const CALLED: Operation = Operation::FIRST_USER;

    /// Keeps the events of a server.
    #[derive(Default, Debug)]
    pub(crate) struct Events(Mutex<Vec<ServerEvent>>);

    impl ServerObserver for Events {
        fn event(&self, event: ServerEvent) {
            self.0.lock().push(event);
        }
    }

    impl Events {
        /// The events since the last look.
        pub(crate) fn take(&self) -> Vec<ServerEvent> {
            std::mem::take(&mut *self.0.lock())
        }

        /// The duration and the end of the last call that was measured.
        pub(crate) fn measured(&self) -> Option<(Duration, MeasuredEnd)> {
            self.0.lock().iter().rev().find_map(|event| match event {
                ServerEvent::Measured { took, end, .. } => Some((*took, *end)),
                _ => None,
            })
        }
    }

    fn answered(millis: u64) -> Option<(Duration, MeasuredEnd)> {
        Some((Duration::from_millis(millis), MeasuredEnd::Answered))
    }

    fn table() -> (Arc<Events>, Calls) {
        let (events, mut calls) = (Arc::<Events>::default(), Calls::default());
        let server: Arc<dyn ServerObserver> = events.clone();
        calls.set_server(Some(&server));
        (events, calls)
    }

    fn begin(calls: &mut Calls, at: Instant, timeout: u64) -> CallTicket {
        let until = at + Duration::from_millis(timeout);
        let ticket = calls.begin(CALLED, Some(until), Some(Waker::noop())).expect("there is room");
        if calls.times_next {
            calls.time(ticket, Some(at));
        }
        ticket
    }

    fn answer(calls: &mut Calls, ticket: CallTicket) {
        let reply = Packet { id: ticket.id, operation: CALLED, body: Bytes::new() };
        assert!(calls.handle_reply(reply).is_some(), "the caller is woken");
    }

    #[test]
    fn timed_call_keeps_deadlines_of_others() {
        let ((events, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
        let at = |millis: u64| start + Duration::from_millis(millis);
        let one = begin(&mut calls, start, 1_000);
        begin(&mut calls, start, 50);
        assert!(!calls.times_next && events.measured().is_none());
        answer(&mut calls, one);
        assert_eq!(calls.handle_time(at(20), &mut wake), Some(at(50)), "the deadline of the other one");
        assert_eq!(events.measured(), answered(20));
        assert!(calls.times_next && wake.is_empty());
        calls.handle_time(at(50), &mut wake);
        assert_eq!(wake.len(), 1);
    }

    #[test]
    fn deadline_in_batch_of_timed_call_end_is_not_missed() {
        let ((events, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
        let at = |millis: u64| start + Duration::from_millis(millis);
        let one = begin(&mut calls, start, 1_000);
        begin(&mut calls, start, 50);
        answer(&mut calls, one);
        assert_eq!(calls.handle_time(at(60), &mut wake), None);
        assert_eq!((wake.len(), events.measured()), (1, answered(60)));
    }

    #[test]
    fn events_of_unsent_and_answered_calls_have_their_times() {
        let (events, mut calls) = table();
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let unsent = begin(&mut calls, at(1), 1_000);
        calls.revoke(unsent);
        assert!(
            matches!(events.take()[..], [ServerEvent::Timed(started), ServerEvent::NotMeasured] if started == at(1))
        );
        let one = begin(&mut calls, at(2), 1_000);
        answer(&mut calls, one);
        calls.handle_time(at(10), &mut Vec::new());
        let [ServerEvent::Timed(started), ServerEvent::Measured { took, at: end, .. }] = events.take()[..] else {
            panic!("a call was timed, and measured");
        };
        assert_eq!((started, took, end), (at(2), Duration::from_millis(8), at(10)));
    }

    #[test]
    fn timed_out_and_cancelled_timed_calls_are_measured() {
        let ((events, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
        let at = |millis: u64| start + Duration::from_millis(millis);
        begin(&mut calls, start, 30);
        calls.handle_time(at(30), &mut wake);
        assert_eq!((events.measured(), wake.len()), (Some((Duration::from_millis(30), MeasuredEnd::Late)), 1));
        let abandoned = begin(&mut calls, at(30), 1_000);
        calls.abandon(abandoned, |_, _| {});
        let next = begin(&mut calls, at(30), 90);
        assert_eq!(calls.handle_time(at(70), &mut wake), Some(at(120)), "the deadline of the last one");
        assert_eq!(events.measured(), Some((Duration::from_millis(40), MeasuredEnd::Abandoned)));
        answer(&mut calls, next);
    }

    #[test]
    fn after_very_short_call_none_is_timed_until_requested() {
        let ((_, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
        let one = begin(&mut calls, start, 1_000);
        answer(&mut calls, one);
        calls.handle_time(start + Duration::from_micros(10), &mut wake);
        assert!(!calls.times_next);
        calls.time_next();
        assert!(calls.times_next);
        let other = begin(&mut calls, start, 1_000);
        calls.time_next();
        assert!(!calls.times_next, "one is timed");
        calls.revoke(other);
        assert!(calls.times_next, "it was not sent");
    }
}
