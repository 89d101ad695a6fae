//! Model tests of the call table: loom runs the callers and the connection's task in all interleavings within its
//! bounds.

use super::*;
use loom::future::block_on;
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::future::poll_fn;
use std::time::Duration;

const ADD: Operation = Operation::FIRST_USER;

type Table = Arc<Mutex<Calls>>;

fn with<T>(table: &Table, change: impl FnOnce(&mut Calls) -> T) -> T {
    change(&mut table.lock().expect("table lock should not be poisoned"))
}

/// Creates the call table of a connection to a native server.
fn ours() -> Table {
    let table = Table::default();
    with(&table, |calls| calls.handle_peer_known(Some(u32::MAX)));
    table
}

/// Blocks until the call of `ticket` has ended and returns its outcome. Polls the call table like a caller's future
/// does.
fn wait(table: &Table, ticket: CallTicket) -> CallOutcome<usize> {
    block_on(poll_fn(|context| {
        with(table, |calls| {
            calls.take_reply(ticket, context, |body| match body {
                Body::Copied(body) => body.len(),
                Body::Shared(body) => body.len(),
            })
        })
    }))
}

fn reply(table: &Table, ticket: CallTicket) {
    let packet = Packet { id: ticket.id, operation: ADD, body: Bytes::from_static(b"reply") };
    let caller = with(table, |calls| calls.handle_reply(packet));
    caller.into_iter().for_each(Waker::wake);
}

fn is_empty(table: &Table) -> bool {
    with(table, |calls| calls.free.len() == calls.slots.len() && calls.abandoned == 0)
}

#[test]
fn caller_gets_reply_in_any_interleaving() {
    loom::model(|| {
        let table = Table::default();
        let tickets =
            [(); 2].map(|()| with(&table, |calls| calls.begin(ADD, None, Waker::noop())).expect("slot should be free"));
        let callers = tickets.map(|ticket| {
            let table = table.clone();
            thread::spawn(move || assert!(matches!(wait(&table, ticket), CallOutcome::Reply(5))))
        });
        tickets.into_iter().for_each(|ticket| reply(&table, ticket));
        callers.into_iter().for_each(|caller| caller.join().expect("caller thread should not panic"));
        assert!(is_empty(&table));
    });
}

#[test]
fn reply_racing_deadline_ends_call_once() {
    loom::model(|| {
        let table = ours();
        let now = Instant::now();
        let due = now + Duration::from_secs(1);
        let ticket = with(&table, |calls| calls.begin(ADD, Some(due), Waker::noop()))
            .expect("call table should have a free slot");
        let caller = thread::spawn({
            let table = table.clone();
            move || wait(&table, ticket)
        });
        let late = thread::spawn({
            let table = table.clone();
            move || {
                let mut wake = Vec::new();
                with(&table, |calls| calls.handle_time(due, &mut wake));
                wake.into_iter().for_each(Waker::wake);
            }
        });
        reply(&table, ticket);
        late.join().expect("caller thread should not panic");
        match caller.join().expect("caller thread should not panic") {
            CallOutcome::Reply(length) => assert_eq!(length, 5),
            CallOutcome::Expired => {
                with(&table, |calls| calls.abandon(ticket, |_, _| panic!("CANCEL should not be sent after the reply")))
            }
            CallOutcome::Disconnected(status) => panic!("{status}"),
        }
        assert!(is_empty(&table), "slot should be free again");
    });
}

#[test]
fn caller_cancelling_during_reply_leaves_no_state() {
    loom::model(|| {
        let table = Table::default();
        let ticket =
            with(&table, |calls| calls.begin(ADD, None, Waker::noop())).expect("call table should have a free slot");
        let caller = thread::spawn({
            let table = table.clone();
            move || with(&table, |calls| calls.abandon(ticket, |_, _| {}))
        });
        reply(&table, ticket);
        caller.join().expect("caller thread should not panic");
        assert!(is_empty(&table), "slot should be free again");
    });
}

/// A packet sent through the connection's mailbox in this test.
#[derive(PartialEq)]
enum Sent {
    Request(PacketId),
    Cancel(PacketId),
}

#[test]
fn cancel_precedes_later_call_with_id() {
    loom::model(|| {
        let (table, mailbox) = (ours(), Arc::new(Mutex::new(Vec::new())));
        // Locks and changes the mailbox and the table in the same order as `PendingCall::send`.
        let begin = |table: &Table, mailbox: &Mutex<Vec<Sent>>| {
            let mut mailbox = mailbox.lock().expect("mailbox lock should not be poisoned");
            let ticket =
                with(table, |calls| calls.begin(ADD, None, Waker::noop())).expect("call table should have a free slot");
            mailbox.push(Sent::Request(ticket.id));
            ticket
        };
        let ticket = begin(&table, &mailbox);
        // Locks and changes the mailbox and the table in the same order as `Link::abandon`.
        let caller = thread::spawn({
            let (table, mailbox) = (table.clone(), mailbox.clone());
            move || {
                let mut mailbox = mailbox.lock().expect("mailbox lock should not be poisoned");
                with(&table, |calls| calls.abandon(ticket, |id, _| mailbox.push(Sent::Cancel(id))));
            }
        });
        // The server replies, and the slot is reused until its first packet id recurs.
        reply(&table, ticket);
        for _ in 0..4 {
            let next = begin(&table, &mailbox);
            reply(&table, next);
            assert!(matches!(wait(&table, next), CallOutcome::Reply(5)));
        }
        caller.join().expect("caller thread should not panic");
        let mailbox = mailbox.lock().expect("mailbox lock should not be poisoned");
        let cancelled = mailbox.iter().position(|sent| *sent == Sent::Cancel(ticket.id));
        let before = mailbox.iter().take(cancelled.unwrap_or(0));
        let requests = before.filter(|sent| **sent == Sent::Request(ticket.id)).count();
        assert_eq!(requests, usize::from(cancelled.is_some()), "CANCEL should follow the request of its call");
        assert!(is_empty(&table));
    });
}

#[test]
fn ended_connection_ends_every_call() {
    loom::model(|| {
        let table = Table::default();
        let ticket =
            with(&table, |calls| calls.begin(ADD, None, Waker::noop())).expect("call table should have a free slot");
        let caller = thread::spawn({
            let table = table.clone();
            move || wait(&table, ticket)
        });
        let wake = with(&table, |calls| calls.end(Status::unavailable("it is over")));
        wake.into_iter().for_each(Waker::wake);
        assert!(matches!(caller.join().expect("caller thread should not panic"), CallOutcome::Disconnected(_)));
        assert!(is_empty(&table), "slot should be free again");
    });
}
