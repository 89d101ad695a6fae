//! The timing of calls on a connection of a fleet: one at a time, so that it costs next to nothing however many there are.
//!
//! The state of the timed call in the table says that it is timed, so no other call and no turn is checked for it.

use super::{CallTicket, Calls, State};
use crate::calls::events::{MeasuredEnd, ServerEvent, ServerObserver};
use crate::clock;
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
        let started = started.unwrap_or_else(|| self.now(clock::now));
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
pub(super) mod tests;
