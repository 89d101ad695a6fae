//! Observation of the calls on a connection. The records of observed calls are stored separately from the slots of the
//! call table.

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

/// State for reporting the calls of a connection to observers. All times are in nanoseconds since the creation of this
/// state.
pub(crate) struct ObservedCalls {
    observers: Arc<Observers>,
    /// Whether there is an observer of individual calls in addition to the batch observer.
    has_observer: bool,
    made: Instant,
    /// Time of the latest driver poll that received replies. Calls answered by these replies count as ended at this
    /// time.
    turned: u64,
    /// Send time, method and record of the last call. They usually apply to the next call too, because calls that are
    /// sent in one poll of the driver often have the same method.
    sent: (Instant, Option<&'static Method>, CallRecord),
    /// Records of the observed calls, indexed by slot.
    records: Vec<CallRecord>,
    /// Calls that were sent at the same time and answered in the current driver poll, and are therefore counted
    /// together.
    answered: AnsweredBatch,
    /// Number of replies in this driver poll to calls that had already ended.
    late: u32,
    /// Identity of the call in each slot, for the observer of individual calls. Empty if there is none.
    tracked: Vec<TrackedCall>,
    /// Methods that have been called, each with the id that the batch observer assigned to it.
    rows: Vec<(&'static Method, Option<u32>)>,
    /// Index in `rows` of the most recently used method, which is checked first.
    last: usize,
}

/// Data about a call in flight that is needed to report its end.
#[derive(Clone, Copy)]
struct CallRecord {
    /// Send time of the call in nanoseconds, or [`COUNTED`] plus its duration once the call has been counted. Also has
    /// the flag [`COUNTED`] if the call is not observed.
    time: u64,
    /// Id that the batch observer assigned to the method.
    row: u32,
    /// Whether the end of the call must be reported to an observer of individual calls.
    has_observer: bool,
}

/// Calls of one method that were sent at the same time and answered in the same driver poll.
#[derive(Clone, Copy)]
struct AnsweredBatch {
    /// Send time of the calls in nanoseconds.
    time: u64,
    row: u32,
    calls: u32,
}

/// Flag in a record's send time. Set if the end of the call must not be counted, or has been counted already.
const COUNTED: u64 = 1 << 63;

impl CallRecord {
    /// Record of a call that is not counted.
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

/// An observed call that has ended but was not reported yet.
pub(crate) struct EndedCall {
    /// Time at which the call was sent.
    pub(crate) started: Instant,
    /// Duration of the call in nanoseconds.
    nanos: u64,
    /// Whether the call has already been counted as successful.
    is_counted: bool,
    pub(crate) tracked: TrackedCall,
}

/// Replies to calls that had already ended, received in one driver poll.
pub(crate) struct LateReplies {
    observers: Arc<Observers>,
    count: u32,
}

impl LateReplies {
    /// Reports the late replies to the observers. Must be called outside of the call table's lock, because an observer
    /// may make calls.
    pub(crate) fn count(self) {
        (0..self.count).for_each(|_| self.observers.late_reply());
    }
}

/// Identity of a call for the observer of individual calls, used to report its end.
#[derive(Clone, Copy, Default)]
pub(crate) struct TrackedCall {
    pub(crate) token: Token,
    /// Trace context that was sent with the call.
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

    /// Counts the call in this slot as successful. Its reply arrived in the current driver poll.
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

    /// Reports all calls counted since the last report to the batch observer.
    fn flush(&mut self) {
        let AnsweredBatch { time, row, calls } = std::mem::replace(&mut self.answered, AnsweredBatch::NONE);
        if calls > 0 {
            let nanos = self.turned.saturating_sub(time);
            self.observers.ended(row, Code::Ok, calls.into(), nanos);
        }
    }

    /// Stores the record of the call in this slot, with the send time and method that [`prepare`](Self::prepare) set
    /// last.
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

    /// Sets the send time and method for calls of `method` that are sent at `now`. `slot` is the slot of the first such
    /// call.
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
    /// Starts reporting calls to the observers, unless calls are already observed.
    pub(crate) fn observe_by(&mut self, observers: &Arc<Observers>) {
        self.observed.get_or_insert_with(|| Box::new(ObservedCalls::new(observers)));
    }

    /// Records the start time of a driver poll that receives replies, if calls are observed.
    pub(crate) fn begin_batch(&mut self, now: Instant) {
        if let Some(observed) = &mut self.observed {
            observed.turned = observed.since(now);
        }
    }

    /// Starts observing a call that is about to be sent.
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

    /// Stores the record of a call whose method or send time differs from that of the previous call, or whose slot has
    /// no record yet.
    #[cold]
    fn observe_first(&mut self, slot: usize, method: &'static Method, token: Token, trace: Option<&TraceContext>) {
        let now = self.now(clock::now);
        if let Some(observed) = &mut self.observed {
            observed.prepare(slot, now, method);
            observed.record(slot, token, trace);
        }
    }

    /// Sets the request length of an observed call.
    pub(crate) fn set_request_size(&mut self, ticket: CallTicket, length: usize) {
        let tracked = self.observed.as_mut().and_then(|observed| observed.tracked.get_mut(usize::from(ticket.slot)));
        if let Some(tracked) = tracked {
            tracked.sizes.request = length as u64;
        }
    }

    /// Completes calls with the replies of a driver poll that began at `now`, adding their callers to `wake`.
    /// Successful calls are counted together, because most of them were sent at the same time. Returns the number of
    /// late replies, which the caller must report after releasing the lock.
    pub(crate) fn handle_replies(
        &mut self,
        replies: &mut Vec<Packet>,
        now: Instant,
        wake: &mut Vec<Waker>,
    ) -> Option<LateReplies> {
        self.begin_batch(now);
        for packet in replies.drain(..) {
            let slot = Self::slot_of(packet.id);
            // The body is an uncompressed message without a prefix. Whether it can be decoded is not known yet.
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

    /// Returns whether the calls of this connection are observed.
    pub(crate) fn is_observed(&self) -> bool {
        self.observed.is_some()
    }

    /// Counts a call as successful, unless it has been counted already. Its reply arrived in the current driver poll.
    /// If an observer must be notified of the end of the call, returns the call's token and the length of its request.
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

    /// Takes the observation record of a call that has ended in the current driver poll, so that it is not counted
    /// again.
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

    /// Takes the observation record of a call that has ended with this outcome. A call without a reply ends now.
    pub(crate) fn over_as(&mut self, ended: &CallOutcome<()>, ticket: CallTicket) -> Option<EndedCall> {
        if matches!(ended, CallOutcome::Reply(())) { self.over(ticket) } else { self.over_now(ticket) }
    }

    /// Takes the observation record of a call that ends now, without a reply.
    pub(crate) fn over_now(&mut self, ticket: CallTicket) -> Option<EndedCall> {
        self.begin_batch(clock::now());
        self.over(ticket)
    }

    /// Counts a call that has ended. If it has already been counted as successful, corrects its status code.
    pub(crate) fn count(&mut self, method: &'static Method, code: Code, over: &EndedCall) {
        let Some(observed) = &mut self.observed else { return };
        let Some(row) = observed.row(method) else { return };
        if !over.is_counted {
            observed.observers.ended(row, code, 1, over.nanos);
        } else if code != Code::Ok {
            observed.observers.reclassified(row, code, over.nanos);
        }
    }

    /// Removes the observation record of a call, because its request was not sent.
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

    /// Frees the observation records of this slot and all following ones.
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
