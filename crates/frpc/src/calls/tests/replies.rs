//! Tests of which replies a call table accepts, and how long it keeps them.

use super::*;
use std::sync::{Arc, Weak};

/// Returns a body that is too long to be copied, and a weak reference to its bytes.
fn tracked() -> (Bytes, Weak<Vec<u8>>) {
    struct Tracked(Arc<Vec<u8>>);
    impl AsRef<[u8]> for Tracked {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let bytes = Arc::new(vec![7; COPY_MAX + 1]);
    let kept = Arc::downgrade(&bytes);
    (Bytes::from_owner(Tracked(bytes)), kept)
}

#[test]
fn body_is_released_with_its_call() {
    let mut calls = Calls::default();
    for is_cancelled in [false, true] {
        let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
        let (body, kept) = tracked();
        calls.handle_reply(Packet { id: ticket.id, operation: ADD, body });
        assert!(kept.upgrade().is_some(), "reply should be kept for its caller");
        if is_cancelled {
            cancels(&mut calls, ticket);
        } else {
            reply(&mut calls, ticket);
        }
        assert!(kept.upgrade().is_none(), "free slot should not keep the body of a reply");
    }
}

#[test]
fn short_replies_are_shared_only_for_translation() {
    let mut calls = Calls::default();
    let is_copied = |calls: &mut Calls, ticket: CallTicket| {
        calls.handle_reply(Packet { id: ticket.id, operation: ADD, body: vec![7; COPY_MAX].into() });
        let copied = calls.take_reply(ticket, &context(), |body| matches!(body, Body::Copied(_)));
        matches!(copied, Poll::Ready(CallOutcome::Reply(true)))
    };
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.share_reply(ticket);
    assert!(!is_copied(&mut calls, ticket), "reply to be translated should not be copied");
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert!(is_copied(&mut calls, ticket));
    // Revoked and cancelled calls must not affect the next call in their slot.
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.share_reply(ticket);
    calls.revoke(ticket);
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert!(is_copied(&mut calls, ticket), "revoked call should not affect the next");
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    calls.share_reply(ticket);
    cancels(&mut calls, ticket);
    calls.handle_reply(packet(ticket.id, ADD, b"late"));
    let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
    assert!(is_copied(&mut calls, ticket), "cancelled call should not affect the next");
}

#[test]
fn only_ids_of_used_slots_have_been_made() {
    let mut calls = Calls::default();
    calls.set_dialler();
    assert!(!calls.has_made(PacketId(0)), "no call has been made");
    let tickets = [(); 2].map(|()| calls.begin(ADD, None, Waker::noop()).unwrap());
    assert_eq!([0, 1, 2, 3].map(|id| calls.has_made(PacketId(id))), [true, true, false, false]);
    for ticket in tickets {
        calls.revoke(ticket);
    }
    drop(calls.release());
    assert!(calls.has_made(PacketId(1)), "late reply to a call before the release should be recognized");
    assert!(!calls.has_made(PacketId(2)));
}

#[test]
fn dialler_starts_few_calls_before_hello() {
    let mut calls = Calls::default();
    calls.set_dialler();
    for _ in 0..EARLY_CALLS_MAX {
        let ticket = calls.begin(ADD, None, Waker::noop()).unwrap();
        assert!(!is_of_accepting_end(ticket.id) && ticket.is_early);
    }
    assert!(matches!(calls.begin(ADD, None, Waker::noop()), Err(NotSent::Full)));
    calls.handle_peer_known(None);
    assert!(!calls.begin(ADD, None, Waker::noop()).unwrap().is_early, "compat servers announce no limit");
}

#[test]
fn calls_of_ended_connection_free_their_slots() {
    let mut calls = Calls::default();
    let tickets = [(); 2].map(|()| calls.begin(ADD, None, Waker::noop()).unwrap());
    calls.end(Status::unavailable("gone"));
    assert!(matches!(take(&mut calls, tickets[0]), Poll::Ready(CallOutcome::Disconnected(_))));
    assert!(!cancels(&mut calls, tickets[1]), "no CANCEL should be sent on an ended connection");
    assert!(calls.is_idle());
    assert_eq!(calls.abandoned(), 0, "no reply can arrive any more");
}
