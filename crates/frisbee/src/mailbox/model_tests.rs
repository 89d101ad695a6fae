//! Explores the interleavings of handles and the driver task, within the checker's bounds.

use super::*;
use crate::account::Budget;
use crate::{Operation, PacketId};
use bytes::Bytes;
use loom::future::block_on;
use loom::thread;
use std::future::poll_fn;

const BACKLOG_MAX: usize = 1024 * 1024;

fn send(outbox: &mut Outbox, length: usize) {
    let operation = Operation::user(10).expect("operation number should be above the reserved range");
    outbox
        .push(PacketId(1), operation, Bytes::from(vec![0; length]))
        .expect("packet should be within the maximum body size");
}

/// Creates a memory account without a limit, because these tests do not exhaust memory.
fn account() -> Arc<Account> {
    Arc::new(Account::alone(Arc::new(Budget::new(usize::MAX, 0))))
}

/// Driver of a mailbox in these tests, which have no connection.
#[derive(Default)]
struct Task {
    reader: MailboxReader,
    yielded: bool,
    backlog: usize,
}

impl Task {
    /// Takes packets from the mailbox, like a poll of the driver does. Returns the total size of the packets in bytes.
    fn take_messages(&mut self, mailbox: &Mailbox, context: &Context<'_>) -> usize {
        let mut received = 0;
        let Self { reader, yielded, backlog } = self;
        let taken = mailbox.take(reader, context.waker(), *yielded, *backlog, |inner| {
            received = inner.outbox.take_bytes().len();
            *backlog + received
        });
        *yielded = taken == TakeOutcome::Yield;
        if *yielded {
            context.waker().wake_by_ref();
        }
        *backlog += received;
        received
    }

    /// Writes all pending bytes, like a socket that accepts everything.
    fn write(&mut self, mailbox: &Mailbox) {
        if mailbox.is_full(std::mem::take(&mut self.backlog)) {
            mailbox.handle_drained(&mut self.reader, 0);
        }
    }

    /// Takes and writes packets until `bytes` bytes have been taken. The model checker reports a lost wake-up as a
    /// deadlock.
    fn run(mut self, mailbox: &Mailbox, bytes: usize) {
        let mut received = 0;
        block_on(poll_fn(|context| {
            received += self.take_messages(mailbox, context);
            self.write(mailbox);
            if received == bytes { Poll::Ready(()) } else { Poll::Pending }
        }));
    }
}

/// Returns a mailbox with a backlog at its limit.
fn full() -> loom::sync::Arc<Mailbox> {
    let mailbox = Mailbox::new(u32::MAX, BACKLOG_MAX, account());
    mailbox.write(|outbox| send(outbox, BACKLOG_MAX)).expect("open mailbox should accept the packet");
    loom::sync::Arc::new(mailbox)
}

#[test]
fn packets_reach_driver_in_any_interleaving() {
    loom::model(|| {
        let mailbox = loom::sync::Arc::new(Mailbox::new(1_000, BACKLOG_MAX, account()));
        let handles: Vec<_> = (0..2)
            .map(|_| {
                let mailbox = mailbox.clone();
                thread::spawn(move || mailbox.write(|outbox| send(outbox, 0)).expect("connection should be open"))
            })
            .collect();
        Task::default().run(&mailbox, 20);
        handles.into_iter().for_each(|handle| handle.join().expect("thread should not panic"));
    });
}

#[test]
fn freed_room_wakes_waiting_producer() {
    loom::model(|| {
        let mailbox = full();
        let producer = thread::spawn({
            let mailbox = mailbox.clone();
            move || {
                let mut waiter = Waiter::new(&mailbox);
                block_on(poll_fn(|context| waiter.poll_send(context, |outbox| send(outbox, 0))))
            }
        });
        Task::default().run(&mailbox, BACKLOG_MAX + 20);
        producer.join().expect("thread should not panic").expect("connection should be open");
    });
}

#[test]
fn waiting_producers_wake_when_notified_one_leaves() {
    loom::model(|| {
        let mailbox = full();
        let leaving = thread::spawn({
            let mailbox = mailbox.clone();
            move || {
                let mut waiter = Waiter::new(&mailbox);
                block_on(poll_fn(|context| Poll::Ready(waiter.poll_send(context, |_| ()).map(|_| ()))))
            }
        });
        let producer = thread::spawn({
            let mailbox = mailbox.clone();
            move || {
                let mut waiter = Waiter::new(&mailbox);
                block_on(poll_fn(|context| waiter.poll_send(context, |outbox| send(outbox, 0))))
            }
        });
        Task::default().run(&mailbox, BACKLOG_MAX + 20);
        producer.join().expect("thread should not panic").expect("connection should be open");
        let _ = leaving.join().expect("thread should not panic");
    });
}

#[test]
fn connection_end_wakes_waiting_tasks() {
    loom::model(|| {
        let mailbox = full();
        let producer = thread::spawn({
            let mailbox = mailbox.clone();
            move || {
                let mut waiter = Waiter::new(&mailbox);
                block_on(poll_fn(|context| waiter.poll_send(context, |outbox| send(outbox, 0))))
            }
        });
        let watcher = thread::spawn({
            let mailbox = mailbox.clone();
            move || {
                let mut watch = Waiter::new(&mailbox);
                block_on(poll_fn(|context| mailbox.poll_closed(context, &mut watch)))
            }
        });
        mailbox.close(&CloseReason::Local);
        mailbox.finish();
        assert!(producer.join().expect("thread should not panic").is_err());
        assert!(matches!(watcher.join().expect("thread should not panic"), CloseReason::Local));
    });
}
