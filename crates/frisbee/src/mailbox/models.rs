//! Every interleaving of handles and task, as far as the checker's bounds go.

use super::*;
use bytes::Bytes;
use loom::future::block_on;
use loom::thread;
use std::future::poll_fn;

const BACKLOG_MAX: usize = 1024 * 1024;

fn send(outbox: &mut Outbox, length: usize) {
    let operation = Operation::user(10).expect("users have 10");
    outbox.push(PacketId(1), operation, &Bytes::from(vec![0; length])).expect("it is short");
}

/// What the task remembers.
#[derive(Default)]
struct Task {
    yielded: bool,
    backlog: usize,
    told: Option<usize>,
}

/// What the task does at the beginning of a turn; see `Engine::take_mail`. The bytes that it has got.
fn take_mail(mailbox: &Mailbox, context: &Context<'_>, task: &mut Task) -> usize {
    if !mailbox.is_notified() {
        if task.told == Some(task.backlog) {
            return 0;
        }
    } else if !task.yielded {
        task.yielded = true;
        context.waker().wake_by_ref();
        return 0;
    }
    task.yielded = false;
    let mut inner = mailbox.lock_by_task();
    if !inner.task.as_ref().is_some_and(|task| task.will_wake(context.waker())) {
        inner.task = Some(context.waker().clone());
    }
    let taken = inner.outbox.take_bytes().len();
    task.backlog += taken;
    inner.backlog = task.backlog;
    task.told = Some(task.backlog);
    let producers = inner.take_producers(mailbox.backlog_max);
    drop(inner);
    producers.into_iter().for_each(Waker::wake);
    taken
}

#[test]
fn what_handles_send_reaches_the_task_whoever_comes_first() {
    loom::model(|| {
        let mailbox = loom::sync::Arc::new(Mailbox::new(1_000, BACKLOG_MAX));
        let handles: Vec<_> = (0..2)
            .map(|_| {
                let mailbox = mailbox.clone();
                thread::spawn(move || mailbox.write(|outbox| send(outbox, 0)).expect("it is open"))
            })
            .collect();
        let (mut taken, mut task) = (0, Task::default());
        // A lost wake-up is a deadlock, which the checker reports.
        block_on(poll_fn(|context| {
            taken += take_mail(&mailbox, context, &mut task);
            task.backlog = 0;
            if taken == 20 { Poll::Ready(()) } else { Poll::Pending }
        }));
        handles.into_iter().for_each(|handle| handle.join().expect("it does not panic"));
    });
}

#[test]
fn a_producer_that_waits_for_room_is_woken_when_there_is_some() {
    loom::model(|| {
        let mailbox = loom::sync::Arc::new(Mailbox::new(u32::MAX, BACKLOG_MAX));
        mailbox.write(|outbox| send(outbox, BACKLOG_MAX)).expect("it is open");
        let producer = thread::spawn({
            let mailbox = mailbox.clone();
            move || block_on(poll_fn(|context| mailbox.poll_write(context, |outbox| send(outbox, 0))))
        });
        let (mut taken, mut task) = (0, Task::default());
        block_on(poll_fn(|context| {
            taken += take_mail(&mailbox, context, &mut task);
            // The socket takes all of it; see `Engine::handle_written`.
            let before = std::mem::take(&mut task.backlog);
            if before >= BACKLOG_MAX {
                let mut inner = mailbox.lock();
                inner.backlog = 0;
                task.told = Some(0);
                let producers = inner.take_producers(mailbox.backlog_max);
                drop(inner);
                producers.into_iter().for_each(Waker::wake);
            }
            if taken == BACKLOG_MAX + 20 { Poll::Ready(()) } else { Poll::Pending }
        }));
        producer.join().expect("it does not panic").expect("it is open");
    });
}

#[test]
fn whoever_waits_when_a_connection_ends_is_told() {
    loom::model(|| {
        let mailbox = loom::sync::Arc::new(Mailbox::new(u32::MAX, BACKLOG_MAX));
        mailbox.write(|outbox| send(outbox, BACKLOG_MAX)).expect("it is open");
        let producer = thread::spawn({
            let mailbox = mailbox.clone();
            move || block_on(poll_fn(|context| mailbox.poll_write(context, |outbox| send(outbox, 0))))
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
        assert!(producer.join().expect("it does not panic").is_err());
        assert!(matches!(watcher.join().expect("it does not panic"), CloseReason::Local));
    });
}
