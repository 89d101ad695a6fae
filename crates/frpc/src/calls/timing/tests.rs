use super::*;
use bytes::Bytes;
use frisbee::{Operation, Packet};
use parking_lot::Mutex;
use std::task::Waker;

const CALLED: Operation = Operation::FIRST_USER;

/// An observer that stores all events of a server.
#[derive(Default, Debug)]
pub(crate) struct Events(Mutex<Vec<ServerEvent>>);

impl ServerObserver for Events {
    fn event(&self, event: ServerEvent) {
        self.0.lock().push(event);
    }
}

impl Events {
    /// Takes the events that occurred since the last call of this function.
    pub(crate) fn take(&self) -> Vec<ServerEvent> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Returns the duration and outcome of the call that was measured last.
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
    let ticket = calls.begin(CALLED, Some(until), Waker::noop()).expect("call table should have a free slot");
    if calls.times_next {
        calls.time(ticket, Some(at));
    }
    ticket
}

fn answer(calls: &mut Calls, ticket: CallTicket) {
    let reply = Packet { id: ticket.id, operation: CALLED, body: Bytes::new() };
    assert!(calls.handle_reply(reply).is_some(), "caller should be woken by the reply");
}

#[test]
fn timed_call_keeps_deadlines_of_others() {
    let ((events, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
    let at = |millis: u64| start + Duration::from_millis(millis);
    let one = begin(&mut calls, start, 1_000);
    begin(&mut calls, start, 50);
    assert!(!calls.times_next && events.measured().is_none());
    answer(&mut calls, one);
    assert_eq!(calls.handle_time(at(20), &mut wake), Some(at(50)), "next deadline should be that of the other call");
    assert_eq!(events.measured(), answered(20));
    assert!(calls.times_next && wake.is_empty());
    calls.handle_time(at(50), &mut wake);
    assert_eq!(wake.len(), 1);
}

#[test]
fn deadline_beside_timed_call_is_honoured() {
    let ((events, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
    let at = |millis: u64| start + Duration::from_millis(millis);
    let one = begin(&mut calls, start, 1_000);
    begin(&mut calls, start, 50);
    answer(&mut calls, one);
    assert_eq!(calls.handle_time(at(60), &mut wake), None);
    assert_eq!((wake.len(), events.measured()), (1, answered(60)));
}

#[test]
fn timing_events_carry_call_times() {
    let (events, mut calls) = table();
    let start = Instant::now();
    let at = |millis: u64| start + Duration::from_millis(millis);
    let unsent = begin(&mut calls, at(1), 1_000);
    calls.revoke(unsent);
    assert!(matches!(events.take()[..], [ServerEvent::Timed(started), ServerEvent::NotMeasured] if started == at(1)));
    let one = begin(&mut calls, at(2), 1_000);
    answer(&mut calls, one);
    calls.handle_time(at(10), &mut Vec::new());
    let [ServerEvent::Timed(started), ServerEvent::Measured { took, at: end, .. }] = events.take()[..] else {
        panic!("timed call should have been measured");
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
    assert_eq!(calls.handle_time(at(70), &mut wake), Some(at(120)), "next deadline should be that of the last call");
    assert_eq!(events.measured(), Some((Duration::from_millis(40), MeasuredEnd::Abandoned)));
    answer(&mut calls, next);
}

#[test]
fn next_timing_after_short_call_needs_request() {
    let ((_, mut calls), start, mut wake) = (table(), Instant::now(), Vec::new());
    let one = begin(&mut calls, start, 1_000);
    answer(&mut calls, one);
    calls.handle_time(start + Duration::from_micros(10), &mut wake);
    assert!(!calls.times_next);
    calls.time_next();
    assert!(calls.times_next);
    let other = begin(&mut calls, start, 1_000);
    calls.time_next();
    assert!(!calls.times_next, "one call should be timed");
    calls.revoke(other);
    assert!(calls.times_next, "call that was not sent should not count as timed");
}
