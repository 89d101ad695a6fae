//! Tests of how calls begin, end and expire, without a connection.

mod replies;
pub(crate) mod wakers;

use super::*;
use std::time::Duration;

const ADD: Operation = Operation::FIRST_USER;

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn packet(id: PacketId, operation: Operation, body: &'static [u8]) -> Packet {
    Packet { id, operation, body: Bytes::from_static(body) }
}

fn take(calls: &mut Calls, ticket: CallTicket) -> Poll<CallOutcome<Vec<u8>>> {
    calls.take_reply(ticket, &context(), |body| match body {
        Body::Copied(body) => body.to_vec(),
        Body::Shared(body) => body.to_vec(),
    })
}

fn reply(calls: &mut Calls, ticket: CallTicket) -> Vec<u8> {
    match take(calls, ticket) {
        Poll::Ready(CallOutcome::Reply(body)) => body,
        Poll::Ready(CallOutcome::Expired) => panic!("call should not expire"),
        Poll::Ready(CallOutcome::Disconnected(status)) => panic!("{status}"),
        Poll::Pending => panic!("reply should have arrived"),
    }
}

/// Cancels a call. Returns whether a CANCEL packet must be sent.
fn cancels(calls: &mut Calls, ticket: CallTicket) -> bool {
    let mut cancelled = None;
    calls.abandon(ticket, |id, operation| cancelled = Some((id, operation)));
    assert!(cancelled.is_none_or(|call| call == (ticket.id, ADD)));
    cancelled.is_some()
}

#[test]
fn calls_pause_only_when_idle() {
    let mut calls = Calls::default();
    let (answered, abandoned) =
        (calls.begin(ADD, None, Waker::noop()).unwrap(), calls.begin(ADD, None, Waker::noop()).unwrap());
    assert!(!calls.pause(), "connection should not pause with two calls in flight");
    calls.handle_reply(packet(answered.id, ADD, b"sum"));
    reply(&mut calls, answered);
    cancels(&mut calls, abandoned);
    assert!(!calls.pause(), "connection should not pause before the last reply");
    calls.handle_reply(packet(abandoned.id, ADD, b"late"));
    assert!(calls.pause());
    assert!(!calls.pause(), "connection should pause only once");
    assert_eq!(calls.at_work(), 0, "free slots should not count as calls while paused");
    let mut place = PermitPlace::default();
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)));
    drop(calls.queue.enter(&mut place, &context()));
    assert!(calls.grant_slots().0.is_empty());
    calls.resume();
    assert_eq!(calls.grant_slots().0.len(), 1);
    assert!(calls.begin_in_turn(ADD, None, Waker::noop(), &mut place).is_ok());
}

#[test]
fn limits_announced_during_pause_apply_at_resume() {
    let mut calls = Calls::default();
    assert!(calls.pause());
    calls.handle_peer_known(Some(1));
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)));
    calls.resume();
    calls.begin(ADD, None, Waker::noop()).unwrap();
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)));
}

#[test]
fn replies_in_any_order_reach_their_callers() {
    let mut calls = Calls::default();
    let tickets: Vec<_> = (0..100).map(|_| calls.begin(ADD, None, Waker::noop()).unwrap()).collect();
    let bodies: Vec<&'static [u8]> = (0..100_u8).map(|n| &*vec![n].leak()).collect();
    for at in (0..100).rev() {
        assert!(take(&mut calls, tickets[at]).is_pending());
        assert!(calls.handle_reply(packet(tickets[at].id, ADD, bodies[at])).is_some());
    }
    for at in 0..100 {
        assert_eq!(reply(&mut calls, tickets[at]), bodies[at]);
    }
    assert_eq!(calls.unmatched(), 0);
}

#[test]
fn duplicate_reply_does_not_answer_next_call() {
    let mut calls = Calls::default();
    let first = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.handle_reply(packet(first.id, ADD, b"first"));
    calls.handle_reply(packet(first.id, ADD, b"again"));
    assert_eq!(reply(&mut calls, first), b"first");
    let second = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.handle_reply(packet(first.id, ADD, b"and again"));
    assert!(take(&mut calls, second).is_pending());
    assert_eq!(calls.unmatched(), 2);
}

#[test]
fn reply_of_another_operation_is_unmatched() {
    let mut calls = Calls::default();
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.handle_reply(packet(ticket.id, Operation::user(11).unwrap(), b""));
    calls.handle_reply(packet(PacketId(77), ADD, b""));
    assert!(take(&mut calls, ticket).is_pending());
    assert_eq!(calls.unmatched(), 2);
}

#[test]
fn cancelled_call_id_is_reserved_until_answered() {
    let mut calls = Calls::default();
    let abandoned = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.handle_peer_known(Some(u32::MAX));
    assert!(cancels(&mut calls, abandoned));
    assert_eq!(calls.abandoned(), 1);
    let next = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert_ne!(next.slot, abandoned.slot);
    calls.handle_reply(packet(abandoned.id, ADD, b"late"));
    assert_eq!((calls.unmatched(), calls.abandoned()), (0, 0));
    let reused = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert_eq!(reused.slot, abandoned.slot);
    assert_ne!(reused.id, abandoned.id);
}

#[test]
fn unsent_and_cancelled_calls_release_their_slots() {
    let mut calls = Calls::default();
    calls.handle_peer_known(Some(u32::MAX));
    let unsent = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.revoke(unsent);
    assert!(calls.is_idle());
    let answered = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.handle_reply(packet(answered.id, ADD, b"sum"));
    assert!(!cancels(&mut calls, answered), "no CANCEL should be sent for a call with a reply");
    assert!(calls.is_idle());
}

#[test]
fn expired_call_ignores_late_reply() {
    let start = Instant::now();
    let mut calls = Calls::default();
    let soon = calls.begin(ADD, Some(start + Duration::from_millis(5)), Waker::noop()).unwrap();
    let later = calls.begin(ADD, Some(start + Duration::from_millis(50)), Waker::noop()).unwrap();
    let mut wake = Vec::new();
    assert_eq!(calls.handle_time(start, &mut wake), Some(start + Duration::from_millis(5)));
    assert!(take(&mut calls, soon).is_pending());
    let next = calls.handle_time(start + Duration::from_millis(6), &mut wake);
    assert_eq!(next, Some(start + Duration::from_millis(50)));
    assert_eq!(wake.len(), 1);
    calls.handle_reply(packet(soon.id, ADD, b"late"));
    assert!(matches!(take(&mut calls, soon), Poll::Ready(CallOutcome::Expired)));
    assert!(!cancels(&mut calls, soon), "no CANCEL should be sent for a call with a reply");
    calls.handle_reply(packet(later.id, ADD, b"in time"));
    assert_eq!(reply(&mut calls, later), b"in time");
    assert_eq!(calls.free.len(), 2);
}

#[test]
fn ended_connection_fails_and_blocks_calls() {
    let mut calls = Calls::default();
    let pending = calls.begin(ADD, None, Waker::noop()).unwrap();
    let answered = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert!(take(&mut calls, pending).is_pending());
    calls.handle_reply(packet(answered.id, ADD, b"before"));
    assert_eq!(calls.end(Status::unavailable("gone")).len(), 1);
    assert!(matches!(take(&mut calls, pending), Poll::Ready(CallOutcome::Disconnected(_))));
    assert_eq!(reply(&mut calls, answered), b"before");
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Over(_))));
}

#[test]
fn call_table_frees_slot_on_end() {
    let mut calls = Calls::default();
    let tickets: Vec<_> = (0..CALLS_MAX).map(|_| calls.begin(ADD, None, Waker::noop()).unwrap()).collect();
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)));
    let mut place = PermitPlace::default();
    drop(calls.queue.enter(&mut place, &context()));
    assert!(calls.grant_slots().0.is_empty());
    calls.handle_reply(packet(tickets[3].id, ADD, b""));
    reply(&mut calls, tickets[3]);
    assert_eq!(calls.grant_slots().0.len(), 1);
    assert!(
        matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)),
        "permit should be granted to the waiting caller"
    );
    calls.begin_in_turn(ADD, None, Waker::noop(), &mut place).unwrap();
}

#[test]
fn calls_in_flight_respect_server_limit() {
    let mut calls = Calls::default();
    calls.handle_peer_known(Some(3));
    assert_eq!(calls.server, ServerKind::Native);
    let tickets: Vec<_> = (0..3).map(|_| calls.begin(ADD, None, Waker::noop()).unwrap()).collect();
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)));
    calls.handle_reply(packet(tickets[0].id, ADD, b""));
    reply(&mut calls, tickets[0]);
    calls.begin(ADD, None, Waker::noop()).unwrap();
}

#[test]
fn long_reply_is_shared_not_copied() {
    let mut calls = Calls::default();
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    let body = Bytes::from(vec![1; COPY_MAX + 1]);
    calls.handle_reply(Packet { id: ticket.id, operation: ADD, body: body.clone() });
    let shared = calls.take_reply(ticket, &context(), |reply| match reply {
        Body::Shared(reply) => reply.as_ptr() == body.as_ptr(),
        Body::Copied(_) => false,
    });
    assert!(matches!(shared, Poll::Ready(CallOutcome::Reply(true))));
}

#[test]
fn free_slot_notifies_only_waiting_callers() {
    let mut calls = Calls::default();
    assert!(calls.grant_slots().0.is_empty(), "no caller should be waiting");
    let [mut one, mut other] = [(); 2].map(|()| PermitPlace::default());
    for place in [&mut one, &mut other] {
        drop(calls.queue.enter(place, &context()));
    }
    drop(calls.queue.leave(&mut one));
    assert_eq!(calls.grant_slots().0.len(), 1, "one caller should be waiting");
    drop(calls.queue.leave(&mut other));
    assert!(calls.grant_slots().0.is_empty(), "no caller should be waiting any more");
}

#[test]
fn lost_call_returns_deadline_for_retry() {
    let mut calls = Calls::default();
    let until = Instant::now() + Duration::from_secs(5);
    let timed = calls.begin(ADD, Some(until), Waker::noop()).unwrap();
    let endless = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert_eq!((calls.deadline(timed), calls.deadline(endless)), (Some(until), None));
    calls.end(Status::unavailable("gone"));
    for (ticket, deadline) in [(timed, Some(until)), (endless, None)] {
        assert!(matches!(take(&mut calls, ticket), Poll::Ready(CallOutcome::Disconnected(_))));
        assert_eq!(calls.deadline(ticket), deadline);
    }
}

#[test]
fn unanswered_cancelled_calls_wear_out_connection() {
    let mut calls = Calls::default();
    calls.handle_peer_known(Some(2));
    let tickets = [(); 2].map(|()| calls.begin(ADD, None, Waker::noop()).unwrap());
    assert!(!calls.is_worn_out(), "pending calls should still be waited for");
    calls.abandon(tickets[0], |_, _| {});
    assert!(!calls.is_worn_out(), "table should not be worn out while a slot is left");
    calls.abandon(tickets[1], |_, _| {});
    assert!(calls.is_worn_out());
    calls.handle_reply(packet(tickets[0].id, ADD, b"late"));
    assert!(!calls.is_worn_out(), "table should not be worn out after a reply");
}

#[test]
fn packet_matches_call_by_id_and_operation() {
    let mut calls = Calls::default();
    let other = Operation::user(11).unwrap();
    let [first, second, third] = [(); 3].map(|()| calls.begin(ADD, None, Waker::noop()).unwrap());
    calls.abandon(third, |_, _| {});
    for ticket in [first, second, third] {
        assert!(calls.is_pending(ticket.id, ADD));
        assert!(!calls.is_pending(ticket.id, other), "call of another operation should not be pending");
    }
    assert!(
        !calls.is_pending(PacketId(first.id.0 + CALLS_MAX as u16), ADD),
        "later call in the same slot should not be pending"
    );
    assert!(!calls.is_pending(PacketId(3), ADD), "unknown call should not be pending");
    calls.handle_reply(packet(second.id, ADD, b"sum"));
    assert!(!calls.is_pending(second.id, ADD), "call with a reply should not be pending");
    reply(&mut calls, second);
    assert!(!calls.is_pending(calls.slots[1].id, ADD), "call of a free slot should not be pending");
}

#[test]
fn reply_length_equals_body_length() {
    let mut calls = Calls::default();
    for length in [0, 2, COPY_MAX, COPY_MAX + 1] {
        let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
        calls.handle_reply(Packet { id: ticket.id, operation: ADD, body: vec![7; length].into() });
        let reply = calls.take_reply(ticket, &context(), |body| body.len());
        assert!(matches!(reply, Poll::Ready(CallOutcome::Reply(reply)) if reply == length));
    }
}
