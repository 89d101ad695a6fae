//! Observation of a connection's calls, whose records are separate from their slots in the table.

#[cfg(test)]
mod tests;

use super::{CallOutcome, CallTicket, Calls};
use crate::Code;
use crate::clock;
use crate::debug::opaque_debug;
use crate::observe::observers::{CallSizes, Observers, nanos};
use crate::observe::{ObservedMethod, Token, TraceContext};
use crate::schema::method::Method;
use frisbee::Packet;
use polyglot::Kind;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

/// State for reporting a connection's calls to observers. Times are in nanoseconds since its creation.
pub(crate) struct ObservedCalls {
    observers: Arc<Observers>,
    /// Whether there is an observer of individual calls, in addition to the batch observer.
    has_observer: bool,
    made: Instant,
    /// Time of the latest driver poll that received replies. Calls answered in it count as ended at this time.
    turned: u64,
    /// Time, method and record of the last call. They usually apply to the next call too, because several calls of the
    /// same method are often sent in one poll of the driver.
    sent: (Instant, Option<&'static Method>, CallRecord),
    /// Records of the observed calls, by slot.
    records: Vec<CallRecord>,
    /// Calls that were sent at the same time and answered in the current poll of the driver. They are counted together.
    answered: AnsweredBatch,
    /// Number of replies, received in this poll of the driver, to calls that had already ended.
    late: u32,
    /// Identity of the call in each slot for the observer of individual calls, if there is one.
    tracked: Vec<TrackedCall>,
    /// Methods that were called, each with its id at the batch observer, if there is one.
    rows: Vec<(&'static Method, Option<u32>)>,
    /// Index in `rows` of the method used last, which is checked first.
    last: usize,
}

/// Data about an in-flight call that its end is reported with.
#[derive(Clone, Copy)]
struct CallRecord {
    /// Time of sending. [`COUNTED`] plus the duration if the call has been counted or is not observed.
    time: u64,
    /// Id by which the batch observer identifies the method.
    row: u32,
    /// Whether the end of the call must be reported to an observer.
    has_observer: bool,
}

/// Calls of one method that were sent at the same time and answered in the same poll of the driver.
#[derive(Clone, Copy)]
struct AnsweredBatch {
    /// Time of sending.
    time: u64,
    row: u32,
    calls: u32,
}

/// Bit in the send time of a record. Set if the end of the call must not be counted, or already was.
const COUNTED: u64 = 1 << 63;

impl CallRecord {
    /// Record of a call that need not be counted.
    const NOTHING: Self = Self { time: COUNTED, row: 0, has_observer: false };

    fn is_counted(self) -> bool {
        self.time & COUNTED != 0
    }

    /// Flags the call as counted and stores its duration.
    fn count(&mut self, nanos: u64) {
        self.time = nanos | COUNTED;
    }
}

impl AnsweredBatch {
    const NONE: Self = Self { time: 0, row: 0, calls: 0 };
}

/// An observed call that has ended and was not yet reported.
pub(crate) struct EndedCall {
    /// Time of sending.
    pub(crate) started: Instant,
    /// Duration in nanoseconds.
    nanos: u64,
    /// Whether the call was already counted as answered successfully.
    is_counted: bool,
    pub(crate) tracked: TrackedCall,
}

/// Replies, received in one poll of the driver, to calls that had already ended.
pub(crate) struct LateReplies {
    observers: Arc<Observers>,
    count: u32,
}

impl LateReplies {
    /// Reports the replies to the observers. The lock of the call table must not be held, because an observer may make
    /// calls.
    pub(crate) fn count(self) {
        (0..self.count).for_each(|_| self.observers.late_reply());
    }
}

/// Identifies a call to the observer of individual calls, by which its end is reported.
#[derive(Clone, Copy, Default)]
pub(crate) struct TrackedCall {
    pub(crate) token: Token,
    /// Trace context sent with the call.
    pub(crate) trace: Option<TraceContext>,
    pub(crate) sizes: CallSizes,
}

impl ObservedCalls {
    fn new(observers: &Arc<Observers>) -> Self {
        let made = clock::now();
        Self {
            observers: observers.clone(),
            has_observer: observers.has_observer(),
            made,
            turned: 0,
            sent: (made, None, CallRecord::NOTHING),
            records: Vec::new(),
            answered: AnsweredBatch::NONE,
            late: 0,
            tracked: Vec::new(),
            rows: Vec::new(),
            last: 0,
        }
    }

    fn since(&self, at: Instant) -> u64 {
        nanos(at.saturating_duration_since(self.made))
    }

    fn row(&mut self, method: &'static Method) -> Option<u32> {
        match self.rows.get(self.last) {
            Some((last, row)) if std::ptr::eq(*last, method) => *row,
            _ => self.find_row(method),
        }
    }

    fn find_row(&mut self, method: &'static Method) -> Option<u32> {
        let position = self.rows.iter().position(|(position, _)| std::ptr::eq(*position, method));
        self.last = position.unwrap_or_else(|| {
            self.rows.push((method, self.observers.register(&ObservedMethod::of_unary(method))));
            self.rows.len() - 1
        });
        self.rows.get(self.last).and_then(|(_, row)| *row)
    }

    /// Counts the call in a slot, which was answered successfully in the current poll of the driver.
    fn count_ok(&mut self, slot: usize) {
        let Some(record) = self.records.get_mut(slot).filter(|record| !record.is_counted()) else { return };
        let CallRecord { time, row, .. } = *record;
        record.count(self.turned.saturating_sub(time));
        if (self.answered.time, self.answered.row) != (time, row) {
            self.flush();
            self.answered = AnsweredBatch { time, row, calls: 0 };
        }
        self.answered.calls += 1;
    }

    /// Reports the calls counted since the last report.
    fn flush(&mut self) {
        let AnsweredBatch { time, row, calls } = std::mem::replace(&mut self.answered, AnsweredBatch::NONE);
        if calls > 0 {
            let nanos = self.turned.saturating_sub(time);
            self.observers.ended(row, Code::Ok, calls.into(), nanos);
        }
    }

    /// Stores the record of the call in a slot. Its send time and method are those of the call that was prepared last.
    fn record(&mut self, slot: usize, token: Token, trace: Option<&TraceContext>) {
        let has_observer = self.has_observer && token != Token::NO_END;
        if self.has_observer
            && let Some(tracked) = self.tracked.get_mut(slot)
        {
            (tracked.token, tracked.trace) = (token, trace.copied());
        }
        if let Some(record) = self.records.get_mut(slot) {
            *record = CallRecord { has_observer, ..self.sent.2 };
        }
    }

    /// Prepares the records for calls of a method that are sent at `now`, the first of which is in this slot.
    fn prepare(&mut self, slot: usize, now: Instant, method: &'static Method) {
        if self.records.len() <= slot {
            self.records.resize(slot + 1, CallRecord::NOTHING);
        }
        if self.has_observer && self.tracked.len() <= slot {
            self.tracked.resize(slot + 1, TrackedCall::default());
        }
        let record = self.row(method).map(|row| CallRecord { time: self.since(now), row, has_observer: false });
        self.sent = (now, Some(method), record.unwrap_or(CallRecord::NOTHING));
    }
}

impl Calls {
    pub(super) fn set_observers(&mut self, observers: Option<&Arc<Observers>>) {
        self.observed = observers.map(|observers| Box::new(ObservedCalls::new(observers)));
    }

    /// Starts observing calls, unless they are already observed.
    pub(super) fn observe_by(&mut self, observers: &Arc<Observers>) {
        self.observed.get_or_insert_with(|| Box::new(ObservedCalls::new(observers)));
    }

    /// Records the start of a driver poll that receives replies, if calls are observed.
    pub(crate) fn begin_batch(&mut self, now: Instant) {
        if let Some(observed) = &mut self.observed {
            observed.turned = observed.since(now);
        }
    }

    /// Records a call that is being sent.
    pub(crate) fn observe(
        &mut self,
        ticket: CallTicket,
        method: &'static Method,
        token: Token,
        trace: Option<&TraceContext>,
    ) {
        let slot = usize::from(ticket.slot);
        let Some(observed) = self.observed.as_deref_mut() else { return };
        let (sent, last, _) = observed.sent;
        let is_same = self.now == Some(sent) && last.is_some_and(|last| std::ptr::eq(last, method));
        if is_same && slot < observed.records.len() {
            observed.record(slot, token, trace);
        } else {
            self.observe_first(slot, method, token, trace);
        }
    }

    /// Stores the record of a call that differs from the previous one in time or method, or whose slot has no record
    /// yet.
    #[cold]
    fn observe_first(&mut self, slot: usize, method: &'static Method, token: Token, trace: Option<&TraceContext>) {
        let now = self.now(clock::now);
        if let Some(observed) = &mut self.observed {
            observed.prepare(slot, now, method);
            observed.record(slot, token, trace);
        }
    }

    /// Sets the length of an observed call's request.
    pub(crate) fn set_request_size(&mut self, ticket: CallTicket, length: usize) {
        let tracked = self.observed.as_mut().and_then(|observed| observed.tracked.get_mut(usize::from(ticket.slot)));
        if let Some(tracked) = tracked {
            tracked.sizes.request = length as u64;
        }
    }

    /// Handles the replies of a driver poll that began at `now`, adding callers to `wake`. Successful replies are
    /// counted together, because most of the calls were sent at the same time.
    pub(crate) fn handle_replies(
        &mut self,
        replies: &mut Vec<Packet>,
        now: Instant,
        wake: &mut Vec<Waker>,
    ) -> Option<LateReplies> {
        self.begin_batch(now);
        for packet in replies.drain(..) {
            let slot = Self::slot_of(packet.id);
            // The body has no prefix and is not compressed. It may still turn out to be malformed.
            let is_message = packet.body.first() == Some(&Kind::U8.byte());
            let Some(caller) = self.handle_reply(packet) else { continue };
            wake.push(caller);
            if is_message
                && let Some(observed) = &mut self.observed
                && observed.records.get(slot).is_some_and(|record| !record.has_observer)
            {
                observed.count_ok(slot);
            }
        }
        let observed = self.observed.as_mut()?;
        observed.flush();
        let count = std::mem::take(&mut observed.late);
        if count == 0 { None } else { Some(LateReplies { observers: observed.observers.clone(), count }) }
    }

    /// Returns whether calls are observed.
    pub(crate) fn is_observed(&self) -> bool {
        self.observed.is_some()
    }

    /// Counts a call that was answered successfully in the current poll of the driver. Returns its token and the length
    /// of its request, if its end must be reported to an observer.
    pub(crate) fn observe_ok(&mut self, ticket: CallTicket) -> Option<(Token, u64)> {
        let observed = self.observed.as_mut()?;
        let slot = usize::from(ticket.slot);
        if observed.records.get(slot).is_some_and(|record| !record.is_counted()) {
            observed.count_ok(slot);
            observed.flush();
        }
        let tracked = observed.tracked.get(slot).filter(|tracked| tracked.token != Token::NO_END)?;
        Some((tracked.token, tracked.sizes.request))
    }

    /// Returns the record of a call that has ended in the current poll of the driver.
    pub(crate) fn over(&mut self, ticket: CallTicket) -> Option<EndedCall> {
        let observed = self.observed.as_mut()?;
        let slot = usize::from(ticket.slot);
        let record = observed.records.get_mut(slot)?;
        let tracked = observed.tracked.get_mut(slot).map(std::mem::take).unwrap_or_default();
        let is_counted = record.is_counted();
        let (started, nanos) = match is_counted {
            true => (0, record.time & !COUNTED),
            false => (record.time, observed.turned.saturating_sub(record.time)),
        };
        record.count(nanos);
        let started = observed.made.checked_add(Duration::from_nanos(started))?;
        Some(EndedCall { started, nanos, is_counted, tracked })
    }

    /// Returns the record of a call that has ended with this outcome.
    pub(crate) fn over_as(&mut self, ended: &CallOutcome<()>, ticket: CallTicket) -> Option<EndedCall> {
        if matches!(ended, CallOutcome::Reply(())) { self.over(ticket) } else { self.over_now(ticket) }
    }

    /// Returns the record of a call that its caller is cancelling.
    pub(crate) fn over_now(&mut self, ticket: CallTicket) -> Option<EndedCall> {
        self.begin_batch(clock::now());
        self.over(ticket)
    }

    /// Counts a call that has ended. If it was counted as answered successfully, corrects its code.
    pub(crate) fn count(&mut self, method: &'static Method, code: Code, over: &EndedCall) {
        let Some(observed) = &mut self.observed else { return };
        let Some(row) = observed.row(method) else { return };
        if !over.is_counted {
            observed.observers.ended(row, code, 1, over.nanos);
        } else if code != Code::Ok {
            observed.observers.reclassified(row, code, over.nanos);
        }
    }

    /// Removes the record of a call whose request was not sent.
    pub(super) fn forget_observed(&mut self, slot: usize) {
        if let Some(record) = self.observed.as_mut().and_then(|observed| observed.records.get_mut(slot)) {
            *record = CallRecord::NOTHING;
        }
    }

    /// Counts a reply to a call that had already ended.
    pub(super) fn note_late(&mut self) {
        if let Some(observed) = &mut self.observed {
            observed.late += 1;
        }
    }

    /// Frees the records of this slot and all following ones.
    pub(super) fn release_observed(&mut self, slot: usize) {
        if let Some(observed) = &mut self.observed {
            observed.records.truncate(slot);
            observed.records.shrink_to_fit();
            observed.tracked.truncate(slot);
            observed.tracked.shrink_to_fit();
        }
    }
}

opaque_debug!([] ObservedCalls, "ObservedCalls", |this| observers = this.observers);
