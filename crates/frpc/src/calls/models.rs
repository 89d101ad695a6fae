//! Every interleaving of callers and the connection's task, as far as the checker's bounds go.

use super::*;
use loom::future::block_on;
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::future::poll_fn;
use std::time::Duration;

const ADD: Operation = Operation::FIRST_USER;

type Table = Arc<Mutex<Calls>>;

fn with<T>(table: &Table, change: impl FnOnce(&mut Calls) -> T) -> T {
    change(&mut table.lock().expect("nothing panics with it"))
}

/// Waits for the end of a call, as a caller does.
fn wait(table: &Table, ticket: Ticket) -> Ended<usize> {
    block_on(poll_fn(|context| {
        with(table, |calls| {
            calls.take_reply(ticket, context, |body| match body {
                Body::Copied(body) => body.len(),
                Body::Shared(body) => body.len(),
            })
        })
    }))
}

fn reply(table: &Table, ticket: Ticket) {
    let packet = Packet { id: ticket.id, operation: ADD, body: Bytes::from_static(b"reply") };
    let caller = with(table, |calls| calls.handle_reply(packet));
    caller.into_iter().for_each(Waker::wake);
}

fn is_empty(table: &Table) -> bool {
    with(table, |calls| calls.free.len() == calls.slots.len() && calls.given_up == 0)
}

#[test]
fn a_caller_and_its_reply_meet_whoever_comes_first() {
    loom::model(|| {
        let table = Table::default();
        let tickets = [(); 2].map(|()| with(&table, |calls| calls.begin(ADD, None, None)).expect("there is room"));
        let callers = tickets.map(|ticket| {
            let table = table.clone();
            thread::spawn(move || assert!(matches!(wait(&table, ticket), Ended::Reply(5))))
        });
        tickets.into_iter().for_each(|ticket| reply(&table, ticket));
        callers.into_iter().for_each(|caller| caller.join().expect("it gets its reply"));
        assert!(is_empty(&table));
    });
}

#[test]
fn a_call_ends_once_when_reply_deadline_and_end_come_together() {
    loom::model(|| {
        let table = Table::default();
        let now = Instant::now();
        let due = now + Duration::from_secs(1);
        let ticket = with(&table, |calls| calls.begin(ADD, Some(due), None)).expect("there is room");
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
        late.join().expect("it does not panic");
        match caller.join().expect("it does not panic") {
            Ended::Reply(length) => assert_eq!(length, 5),
            Ended::Expired { .. } => {}
            Ended::Lost { status, .. } => panic!("{status}"),
        }
        assert!(is_empty(&table), "the slot is free again");
    });
}

#[test]
fn a_caller_that_gives_up_while_its_reply_comes_leaves_nothing_behind() {
    loom::model(|| {
        let table = Table::default();
        let ticket = with(&table, |calls| calls.begin(ADD, None, None)).expect("there is room");
        let caller = thread::spawn({
            let table = table.clone();
            move || with(&table, |calls| calls.give_up(ticket))
        });
        reply(&table, ticket);
        caller.join().expect("it does not panic");
        assert!(is_empty(&table), "the slot is free again");
    });
}

#[test]
fn a_connection_that_ends_ends_every_call() {
    loom::model(|| {
        let table = Table::default();
        let ticket = with(&table, |calls| calls.begin(ADD, None, None)).expect("there is room");
        let caller = thread::spawn({
            let table = table.clone();
            move || wait(&table, ticket)
        });
        let wake = with(&table, |calls| calls.end(Status::unavailable("it is over")));
        wake.into_iter().for_each(Waker::wake);
        assert!(matches!(caller.join().expect("it does not panic"), Ended::Lost { .. }));
        assert!(is_empty(&table), "the slot is free again");
    });
}
