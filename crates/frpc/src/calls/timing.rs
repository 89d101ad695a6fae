//! Duration measurement of calls on the connections of a load-balanced channel. Only one call at a time is measured, so
//! that the cost is negligible.
//!
//! The measured call has a separate state in the table, so that other calls need no additional check.

use super::{CallTicket, Calls, State};
use crate::calls::events::{MeasuredEnd, ServerEvent, ServerObserver};
use crate::clock;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Minimum duration of a measured call for the next call to be measured too.
const QUICK: Duration = Duration::from_millis(1);

/// Measurement of call durations on a connection, one call at a time. Used to choose among servers.
#[derive(Debug)]
pub(super) struct Timing {
    server: Arc<dyn ServerObserver>,
    timed: Option<TimedCall>,
}

/// The call that is currently being measured.
#[derive(Clone, Copy, Debug)]
struct TimedCall {
    started: Instant,
    /// Outcome of the measured call. Set from its end until the driver reports it, at the end of its current or next
    /// poll.
    end: Option<MeasuredEnd>,
    /// Value of `next_deadline` to restore after the measurement. `None` if another call may start before that, because
    /// the value may then be later than the deadline of that call.
    next: Option<Option<Instant>>,
}

impl Timing {
    fn begin(&mut self, started: Instant) {
        self.server.event(ServerEvent::Timed(started));
        self.timed = Some(TimedCall { started, end: None, next: None });
    }
}

impl Calls {
    /// Enables measuring call durations if the server belongs to a load-balanced channel.
    pub(super) fn set_server(&mut self, server: Option<&Arc<dyn ServerObserver>>) {
        self.times_next = server.is_some();
        self.timing = server.map(|server| Box::new(Timing { server: server.clone(), timed: None }));
    }

    /// Starts measuring the duration of a call that began at `started`, or begins now if `started` is `None`. No other
    /// call is measured until this call has ended.
    pub(crate) fn time(&mut self, ticket: CallTicket, started: Option<Instant>) {
        let started = started.unwrap_or_else(|| self.now(clock::now));
        self.times_next = false;
        if let (Some(timing), Some(entry)) = (&mut self.timing, self.slots.get_mut(usize::from(ticket.slot))) {
            entry.state = State::Timed;
            timing.begin(started);
        }
    }

    /// Starts measuring the duration of a gRPC call, which has no slot in the table, if the next call is to be
    /// measured. Returns whether the measurement has started.
    #[cfg(feature = "grpc")]
    pub(crate) fn time_grpc(&mut self, started: Instant) -> bool {
        let is_timed = std::mem::take(&mut self.times_next);
        if let Some(timing) = self.timing.as_mut().filter(|_| is_timed) {
            timing.begin(started);
        }
        is_timed
    }

    /// Reports the duration of a gRPC call that ended at `now` with the outcome `end`. Discards the measurement if
    /// `end` is `None`.
    #[cfg(feature = "grpc")]
    pub(crate) fn measure_grpc(&mut self, end: Option<MeasuredEnd>, now: Instant) {
        match end {
            None => self.forget_timed(),
            Some(MeasuredEnd::Late) => self.measure_late(now),
            Some(end) => {
                self.end_timed(end, true);
                self.measure_timed(now);
            }
        }
    }

    /// Requests that the duration of the next call be measured, unless a measurement is in progress.
    pub(crate) fn time_next(&mut self) {
        self.times_next = self.timing.as_ref().is_some_and(|timing| timing.timed.is_none());
    }

    /// Records the end of the measured call. Moves the next deadline to the past, so that the driver checks deadlines
    /// at the end of its poll and then reports the duration. Set `is_in_batch` only if no call can start before this
    /// check. In that case, the previous deadline is restored after the check.
    pub(super) fn end_timed(&mut self, end: MeasuredEnd, is_in_batch: bool) {
        let Some(timed) = self.timing.as_mut().and_then(|timing| timing.timed.as_mut()) else { return };
        timed.end = Some(end);
        timed.next = is_in_batch.then_some(self.next_deadline);
        self.next_deadline = Some(timed.started);
    }

    /// Reports the duration of the measured call if it has ended in the current driver poll. Returns `false` if the
    /// driver need not search for expired calls.
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

    /// Reports that the measured call has exceeded its deadline.
    pub(super) fn measure_late(&mut self, now: Instant) {
        if let Some(timing) = &mut self.timing
            && let Some(TimedCall { started, .. }) = timing.timed.take()
        {
            let took = now.saturating_duration_since(started);
            timing.server.event(ServerEvent::Measured { took, end: MeasuredEnd::Late, at: now });
            self.times_next = true;
        }
    }

    /// Discards the current measurement, because the call was not sent or the connection has closed.
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
