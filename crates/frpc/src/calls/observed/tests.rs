//! Tests of counting observed calls, without a connection.

use super::super::Body;
use super::*;
use crate::observe::{BatchObserver, CallEnd, Observer};
use crate::schema::layout::Layout;
use bytes::Bytes;
use frisbee::Operation;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::task::{Context, Poll};

static LAYOUT: Layout = Layout::new("test.Test", &[10, 11], 1, b"", "");
static ADD: Method = Method::new(&LAYOUT, "Add", 10);
static GET: Method = Method::new(&LAYOUT, "Get", 11);

/// Body of a reply with a message. [`ERROR`] is that of a reply with an error.
const MESSAGE: &[u8] = &[8, 0];
const ERROR: &[u8] = &[6, 5, 1, b'x'];

impl Calls {
    /// Returns whether a ticket's call is observed and has not been counted yet.
    fn is_uncounted(&self, ticket: CallTicket) -> bool {
        let Some(observed) = &self.observed else { return false };
        observed.records.get(usize::from(ticket.slot)).is_some_and(|record| !record.is_counted())
    }
}

/// An observer that sums the reported calls by method and status code.
#[derive(Clone, Default)]
struct Batches(Arc<Mutex<Reported>>);

#[derive(Default)]
struct Reported {
    methods: Vec<&'static str>,
    calls: BTreeMap<(&'static str, u8), (u64, Duration)>,
    late_replies: u32,
}

impl Batches {
    fn add(&self, method: u32, code: Code, calls: i64, nanos: u64) {
        let mut reported = self.0.lock();
        let name = reported.methods[method as usize];
        let (count, sum) = reported.calls.entry((name, code as u8)).or_default();
        *count = count.wrapping_add_signed(calls);
        let duration = Duration::from_nanos(nanos) * calls.unsigned_abs() as u32;
        if calls > 0 { *sum += duration } else { *sum -= duration }
    }
}

impl BatchObserver for Batches {
    fn register(&self, about: &ObservedMethod) -> u32 {
        let methods = &mut self.0.lock().methods;
        methods.push(about.method());
        methods.len() as u32 - 1
    }

    fn ended(&self, method: u32, code: Code, calls: u64, nanos: u64) {
        self.add(method, code, calls as i64, nanos);
    }

    fn reclassified(&self, method: u32, code: Code, nanos: u64) {
        self.add(method, Code::Ok, -1, nanos);
        self.add(method, code, 1, nanos);
    }

    fn late_reply(&self) {
        self.0.lock().late_replies += 1;
    }
}

struct Observed {
    calls: Calls,
    batches: Batches,
    now: Instant,
}

impl Observed {
    fn new() -> Self {
        let batches = Batches::default();
        let observers = Observers { batches: Some(Arc::new(batches.clone())), ..Observers::default() };
        let mut calls = Calls::default();
        calls.observe_by(&Arc::new(observers));
        Self { calls, batches, now: clock::now() }
    }

    fn send(&mut self, method: &'static Method) -> CallTicket {
        let now = self.now;
        let ticket = self.calls.begin(method.operation, None, Waker::noop()).unwrap();
        self.calls.now(|| now);
        self.calls.observe(ticket, method, Token::default(), None);
        ticket
    }

    /// Simulates a driver poll that starts `later` after the previous one and receives replies to these calls.
    fn answer(&mut self, later: Duration, answered: &[(CallTicket, Operation, &'static [u8])]) -> Option<LateReplies> {
        self.now += later;
        let packet = |&(ticket, operation, body): &(CallTicket, Operation, _)| Packet {
            id: ticket.id,
            operation,
            body: Bytes::from_static(body),
        };
        let mut replies = answered.iter().map(packet).collect();
        let late = self.calls.handle_replies(&mut replies, self.now, &mut Vec::new());
        self.calls.handle_time(self.now, &mut Vec::new());
        late
    }

    fn take(&mut self, ticket: CallTicket) {
        let outcome = self.calls.take_reply(ticket, &Context::from_waker(Waker::noop()), |body: Body<'_>| body.len());
        assert!(matches!(outcome, Poll::Ready(CallOutcome::Reply(_))));
    }

    /// Returns the number of ended calls by method and status code.
    fn counts(&self) -> BTreeMap<(&'static str, u8), u64> {
        let calls = self.batches.0.lock().calls.clone();
        calls.into_iter().map(|(key, (count, _))| (key, count)).filter(|(_, count)| *count > 0).collect()
    }
}

#[test]
fn batch_replies_are_counted_per_method() {
    let mut observed = Observed::new();
    let early = observed.send(&ADD);
    observed.answer(Duration::from_millis(10), &[]);
    let tickets = [observed.send(&ADD), observed.send(&GET), observed.send(&ADD)];
    let answered = [(tickets[0], &ADD), (early, &ADD), (tickets[1], &GET), (tickets[2], &ADD)];
    let answered = answered.map(|(ticket, method)| (ticket, method.operation, MESSAGE));
    observed.answer(Duration::from_millis(1), &answered);
    assert_eq!(observed.counts(), BTreeMap::from([(("Add", Code::Ok as u8), 3), (("Get", Code::Ok as u8), 1)]));
    let calls = observed.batches.0.lock().calls.clone();
    let sum = |method| calls[&(method, Code::Ok as u8)].1;
    assert_eq!([sum("Add"), sum("Get")], [Duration::from_millis(13), Duration::from_millis(1)]);
    assert!(!observed.calls.is_uncounted(early) && !observed.calls.is_uncounted(tickets[2]));
}

#[test]
fn cancelled_or_failed_call_counts_once() {
    let mut observed = Observed::new();
    let tickets = [observed.send(&ADD), observed.send(&ADD), observed.send(&ADD)];
    observed.answer(Duration::from_millis(1), &tickets.map(|ticket| (ticket, ADD.operation, MESSAGE)));
    let abandoned = observed.calls.over_now(tickets[0]).unwrap();
    observed.calls.count(&ADD, Code::Cancelled, &abandoned);
    observed.take(tickets[1]);
    let malformed = observed.calls.over_as(&CallOutcome::Reply(()), tickets[1]).unwrap();
    observed.calls.count(&ADD, Code::Internal, &malformed);
    let expected = [Code::Ok, Code::Cancelled, Code::Internal].map(|code| (("Add", code as u8), 1));
    assert_eq!(observed.counts(), BTreeMap::from(expected));
}

#[test]
fn non_bare_reply_counts_when_read() {
    let mut observed = Observed::new();
    let [failed, answered] = [observed.send(&ADD), observed.send(&ADD)];
    let behind_prefix: &[u8] = &[0x10, 3, 99, 1, 7, 8, 0];
    let bodies = [(failed, ADD.operation, ERROR), (answered, ADD.operation, behind_prefix)];
    observed.answer(Duration::from_millis(1), &bodies);
    assert_eq!(observed.counts(), BTreeMap::new());
    for (ticket, code) in [(failed, Code::NotFound), (answered, Code::Ok)] {
        assert!(observed.calls.is_uncounted(ticket));
        observed.take(ticket);
        let over = observed.calls.over_as(&CallOutcome::Reply(()), ticket).unwrap();
        observed.calls.count(&ADD, code, &over);
        assert!(!observed.calls.is_uncounted(ticket));
    }
    assert_eq!(observed.counts(), BTreeMap::from([Code::NotFound, Code::Ok].map(|code| (("Add", code as u8), 1))));
}

#[test]
fn unobserved_call_in_reused_slot_is_uncounted() {
    let mut observed = Observed::new();
    let first = observed.send(&ADD);
    observed.answer(Duration::from_millis(1), &[(first, ADD.operation, MESSAGE)]);
    observed.take(first);
    let revoked = observed.send(&ADD);
    observed.calls.revoke(revoked);
    let second = observed.calls.begin(ADD.operation, None, Waker::noop()).unwrap();
    assert_eq!((second.slot, observed.calls.is_uncounted(second)), (first.slot, false));
    observed.answer(Duration::from_millis(1), &[(second, ADD.operation, MESSAGE)]);
    assert_eq!(observed.counts(), BTreeMap::from([(("Add", Code::Ok as u8), 1)]));
}

#[test]
fn late_replies_are_counted_after_lock_release() {
    let mut observed = Observed::new();
    let ticket = observed.send(&ADD);
    observed.calls.abandon(ticket, |_, _| {});
    let late = observed.answer(Duration::from_millis(1), &[(ticket, ADD.operation, MESSAGE)]);
    assert_eq!(observed.batches.0.lock().late_replies, 0);
    late.expect("reply to the cancelled call should count as late").count();
    assert_eq!(observed.batches.0.lock().late_replies, 1);
    assert!(observed.answer(Duration::from_millis(1), &[]).is_none());
}

/// An observer that samples no calls, so their ends are not reported to it.
struct NoSamples;

impl Observer for NoSamples {
    fn begin(&self, _about: &ObservedMethod, _trace: &mut Option<TraceContext>) -> Token {
        Token::NO_END
    }

    fn end(&self, _about: &ObservedMethod, _token: Token, _ended: &CallEnd) {}
}

#[test]
fn unsampled_call_keeps_trace_for_retry() {
    let observers = Observers { observer: Some(Arc::new(NoSamples)), ..Observers::default() };
    let mut calls = Calls::default();
    calls.observe_by(&Arc::new(observers));
    let trace = TraceContext::new([1; 16], [2; 8], false);
    let ticket = calls.begin(ADD.operation, None, Waker::noop()).unwrap();
    calls.observe(ticket, &ADD, Token::NO_END, trace.as_ref());
    assert_eq!(calls.observe_ok(ticket), None, "observer should not be notified of the end of the call");
    let over = calls.over_now(ticket).expect("observer should have a record of the ended call");
    assert_eq!((over.tracked.token, over.tracked.trace), (Token::NO_END, trace));
}
