//! Tests of notifications between handles and the driver, without a connection.

use super::*;
use crate::account::{Budget, CallerKey, MemoryWaiter};
use crate::tests::wake_counter::{calling_waker, task};
use crate::{Operation, PacketId};
use std::sync::atomic::AtomicUsize;

const MIB: usize = 1 << 20;

fn mailbox(backlog_max: usize) -> Mailbox {
    let budget = Arc::new(Budget::new(1024 * MIB, 0));
    Mailbox::new(crate::BODY_MAX, backlog_max, Arc::new(Account::of_peer(budget.enter(CallerKey::Unknown))))
}

/// Sends a packet without waiting, like a handle. Returns whether the mailbox had space for it.
fn sends_now(mailbox: &Mailbox, fill: impl FnOnce(&mut Outbox)) -> bool {
    let sent = mailbox.poll_write(None, &mut Place::default(), fill);
    sent.map(|sent| sent.expect("connection should be open")).is_ready()
}

/// Appends a packet with a total length of `length` bytes, including its header of 10 bytes.
fn push(outbox: &mut Outbox, length: usize) {
    let body = vec![0; length - 10];
    outbox.push(PacketId(1), Operation::FIRST_USER, &body[..]).expect("packet should be within the maximum body size");
}

/// A connection's driver that takes packets from the mailbox but does not write them.
#[derive(Default)]
struct Driver {
    reader: MailboxReader,
    pending: usize,
}

impl Driver {
    fn take(&mut self, mailbox: &Mailbox, waker: &Waker, yielded: bool) -> TakeOutcome {
        let mut pending = self.pending;
        let taken = mailbox.take(&mut self.reader, waker, yielded, pending, |inner| {
            pending += inner.outbox.take_bytes().len();
            pending
        });
        self.pending = pending;
        taken
    }
}

#[test]
fn driver_is_woken_once_until_it_polls() {
    let (mailbox, mut driver) = (mailbox(1000), Driver::default());
    let (woken, waker) = task();
    assert_eq!(driver.take(&mailbox, &waker, false), TakeOutcome::Messages, "handles do not know its waker before");
    assert_eq!(driver.take(&mailbox, &waker, false), TakeOutcome::Nothing);
    for _ in 0..2 {
        mailbox.write(|outbox| push(outbox, 15)).expect("open mailbox should accept the packet");
    }
    assert_eq!((woken.count(), mailbox.is_notified()), (1, true));
    assert_eq!(driver.take(&mailbox, &waker, false), TakeOutcome::Yield);
    assert_eq!(driver.take(&mailbox, &waker, true), TakeOutcome::Messages);
    assert_eq!((driver.pending, mailbox.is_notified()), (30, false));
    driver.pending = 0;
    assert_eq!(
        driver.take(&mailbox, &waker, false),
        TakeOutcome::Messages,
        "handles are to know that it has been written"
    );
    assert_eq!(mailbox.lock().queued(), 0);
    mailbox.order(Order::Now(CloseReason::Local));
    assert_eq!(woken.count(), 2);
}

#[test]
fn senders_wait_until_queue_is_below_limit() {
    let (mailbox, mut driver) = (mailbox(100), Driver::default());
    let ((_, waker), (sender, sending)) = (task(), task());
    let context = Context::from_waker(&sending);
    driver.take(&mailbox, &waker, true);
    let mut place = Place::default();
    assert!(mailbox.poll_write(Some(&context), &mut place, |outbox| push(outbox, 60)).is_ready());
    assert!(
        mailbox.poll_write(Some(&context), &mut place, |outbox| push(outbox, 90)).is_ready(),
        "mailbox should have space for a small packet"
    );
    assert!(mailbox.poll_write(Some(&context), &mut place, |outbox| push(outbox, 10)).is_pending());
    assert_eq!(mailbox.lock().queued(), 150);
    driver.take(&mailbox, &waker, true);
    assert_eq!((driver.pending, mailbox.lock().queued()), (150, 150), "backlog of the driver should be counted");
    assert!(mailbox.is_full(100) && !mailbox.is_full(99));
    mailbox.handle_drained(&mut driver.reader, 100);
    assert!(mailbox.poll_write(Some(&context), &mut place, |_| ()).is_pending());
    assert_eq!(sender.count(), 0);
    mailbox.handle_drained(&mut driver.reader, 99);
    assert_eq!(
        (sender.count(), mailbox.lock().queued()),
        (1, 99),
        "sender should be woken once, after any number of polls"
    );
    assert!(!mailbox.lock().is_full(100));
    driver.pending = 99;
    assert_eq!(driver.take(&mailbox, &waker, true), TakeOutcome::Nothing, "handles know it");
}

#[test]
fn waiting_senders_precede_later_ones() {
    let (mailbox, mut driver) = (mailbox(100), Driver::default());
    let (_, waker) = task();
    let tasks = [(); 3].map(|()| task());
    let [mut one, mut two, mut late] = [(); 3].map(|()| Waiter::new(&mailbox));
    let [mut first, mut second, mut third] = tasks.each_ref().map(|(_, waker)| Context::from_waker(waker));
    let woken = || tasks.each_ref().map(|(woken, _)| woken.count());
    let fill = |outbox: &mut Outbox| push(outbox, 100);
    mailbox.write(fill).expect("open mailbox should accept the packet");
    assert!(one.poll_send(&mut first, fill).is_pending() && two.poll_send(&mut second, fill).is_pending());
    let mut drain = || {
        driver.take(&mailbox, &waker, true);
        mailbox.handle_drained(&mut driver.reader, std::mem::take(&mut driver.pending) - 100);
    };
    drain();
    assert_eq!(woken(), [1, 1, 0]);
    assert!(!sends_now(&mailbox, fill), "sender should not take space for which others were woken");
    assert!(late.poll_send(&mut third, fill).is_pending(), "sender should not take space for which others were woken");
    assert!(two.poll_send(&mut second, fill).is_ready(), "of those that were called any may come first");
    assert!(one.poll_send(&mut first, fill).is_pending(), "sender should wait once the space is used");
    drain();
    assert_eq!(woken(), [2, 1, 0], "tasks of the round should be woken before the one that came later");
    assert!(mailbox.is_notified(), "driver should be notified");
    assert!(late.poll_send(&mut third, fill).is_pending());
    assert!(one.poll_send(&mut first, fill).is_ready());
    assert!(two.poll_send(&mut second, fill).is_pending(), "sender should wait again");
    drain();
    assert_eq!(woken(), [2, 2, 1]);
    assert!(late.poll_send(&mut third, fill).is_ready());
}

#[test]
fn nonwaiting_sender_gets_unclaimed_room() {
    let (mailbox, mut driver) = (mailbox(100), Driver::default());
    let ((_, waker), (called, coming)) = (task(), task());
    let mut one = Waiter::new(&mailbox);
    let fill = |outbox: &mut Outbox| push(outbox, 100);
    mailbox.write(fill).expect("open mailbox should accept the packet");
    assert!(one.poll_send(&mut Context::from_waker(&coming), fill).is_pending());
    driver.take(&mailbox, &waker, true);
    mailbox.handle_drained(&mut driver.reader, std::mem::take(&mut driver.pending) - 100);
    assert_eq!(called.count(), 1);
    assert!(!sends_now(&mailbox, fill), "sender should not take space for which another one was woken");
    assert!(mailbox.is_notified(), "driver should be notified, because nothing else may wake it");
    driver.take(&mailbox, &waker, true);
    assert!(sends_now(&mailbox, fill), "sender should take the space, because the woken one has not polled");
}

#[test]
fn unresponsive_woken_sender_does_not_block_others() {
    let (mailbox, mut driver) = (mailbox(100), Driver::default());
    let (_, waker) = task();
    let ((_, forgetful), (called, coming)) = (task(), task());
    let mut context = Context::from_waker(&coming);
    for leaves in [false, true] {
        let [mut one, mut other] = [(); 2].map(|()| Waiter::new(&mailbox));
        let before = called.count();
        mailbox.write(|outbox| push(outbox, 100)).expect("open mailbox should accept the packet");
        assert!(one.poll_send(&mut Context::from_waker(&forgetful), |_| ()).is_pending());
        driver.take(&mailbox, &waker, true);
        mailbox.handle_drained(&mut driver.reader, std::mem::take(&mut driver.pending) - 100);
        if leaves {
            drop(one);
            assert!(
                other.poll_send(&mut context, |_| ()).is_ready(),
                "sender should get the space, because no other task was woken"
            );
        } else {
            assert!(other.poll_send(&mut context, |_| ()).is_pending());
            assert!(mailbox.is_notified());
            driver.take(&mailbox, &waker, true);
            assert_eq!(called.count(), before + 1);
            assert!(other.poll_send(&mut context, |_| ()).is_ready());
        }
        driver.take(&mailbox, &waker, true);
    }
    assert!(mailbox.lock().waiters.is_empty());
}

#[test]
fn senders_wait_for_server_memory() {
    let budget = Arc::new(Budget::new(8 * MIB, 0));
    let [account, other] = [(); 2].map(|()| Arc::new(Account::of_peer(budget.enter(CallerKey::Unknown))));
    let (mailbox, mut driver) = (Mailbox::new(crate::BODY_MAX, MIB, account), Driver::default());
    let ((woken, waker), (sender, sending)) = (task(), task());
    let context = Context::from_waker(&sending);
    driver.take(&mailbox, &waker, true);
    other.charge(8 * MIB);
    let mut place = Place::default();
    let sent =
        (0..100).take_while(|_| mailbox.poll_write(Some(&context), &mut place, |outbox| push(outbox, 1000)).is_ready());
    assert_eq!(sent.count(), 5, "4 KiB and one more packet should be accepted");
    assert!(mailbox.is_full(0), "driver should report even small writes");
    driver.take(&mailbox, &waker, true);
    driver.pending = 0;
    let before = woken.count();
    other.charge(1);
    driver.take(&mailbox, &waker, true);
    assert_eq!(sender.count(), 1, "sender should be woken for the free space");
    (0..5).for_each(|_| mailbox.write(|outbox| push(outbox, 1000)).expect("open mailbox should accept the packet"));
    assert!(woken.count() > before);
    assert!(mailbox.poll_write(Some(&context), &mut place, |_| ()).is_pending());
    driver.take(&mailbox, &waker, true);
    assert_eq!((sender.count(), mailbox.is_full(0)), (1, true), "queue of the driver should count");
    other.release(8 * MIB + 1);
    mailbox.notify();
    driver.take(&mailbox, &waker, true);
    assert_eq!((sender.count(), mailbox.is_full(0)), (2, false));
}

/// Regression test: a sender that had waited since before memory became short was not woken after the last write.
#[test]
fn memory_short_while_sender_waits_wakes_it() {
    let budget = Arc::new(Budget::new(64 * MIB, 0));
    let [account, other] = [(); 2].map(|()| Arc::new(Account::of_peer(budget.enter(CallerKey::Unknown))));
    let (mailbox, mut driver) = (Mailbox::new(crate::BODY_MAX, MIB, account), Driver::default());
    let ((_, waker), (sender, sending)) = (task(), task());
    let context = Context::from_waker(&sending);
    mailbox.write(|outbox| push(outbox, MIB)).expect("open mailbox should accept the packet");
    assert!(mailbox.poll_write(Some(&context), &mut Place::default(), |_| ()).is_pending());
    driver.take(&mailbox, &waker, true);
    assert!(!mailbox.is_full(100_000), "driver need not report small writes while memory is not short");
    other.charge(64 * MIB);
    mailbox.handle_drained(&mut driver.reader, 100_000);
    assert_eq!((sender.count(), mailbox.is_full(100_000)), (0, true), "driver should report even small writes");
    mailbox.handle_drained(&mut driver.reader, 0);
    assert_eq!(sender.count(), 1);
}

#[test]
fn nonwaiting_sender_triggers_small_write_reports() {
    let budget = Arc::new(Budget::new(8 * MIB, 0));
    let [account, other] = [(); 2].map(|()| Arc::new(Account::of_peer(budget.enter(CallerKey::Unknown))));
    let (mailbox, mut driver) = (Mailbox::new(crate::BODY_MAX, MIB, account), Driver::default());
    driver.take(&mailbox, &task().1, true);
    other.charge(8 * MIB);
    let sent = (0..100).take_while(|_| sends_now(&mailbox, |outbox| push(outbox, 1000)));
    assert_eq!(sent.count(), 5, "4 KiB and one more packet should be accepted");
    assert!(mailbox.is_full(0), "driver should report even small writes");
}

#[test]
fn closed_mailbox_rejects_messages_and_wakes_waiters() {
    let mailbox = mailbox(1);
    let tasks = [(); 4].map(|()| task());
    let [sender, end, kind, decision] = &tasks;
    let [mut first, mut second, mut third] = [(); 3].map(|()| Waiter::new(&mailbox));
    let mut place = Place::default();
    mailbox.write(|outbox| push(outbox, 10)).expect("open mailbox should accept the packet");
    assert!(mailbox.poll_write(Some(&Context::from_waker(&sender.1)), &mut place, |_| ()).is_pending());
    assert!(mailbox.poll_closed(&mut Context::from_waker(&end.1), &mut first).is_pending());
    assert!(mailbox.poll_peer(&mut Context::from_waker(&kind.1), &mut second).is_pending());
    assert!(mailbox.poll_abandoned(&mut Context::from_waker(&decision.1), &mut third).is_pending());
    mailbox.close(&CloseReason::Shutdown);
    mailbox.close(&CloseReason::Local);
    assert_eq!(tasks.each_ref().map(|(woken, _)| woken.count()), [1; 4]);
    let mut context = Context::from_waker(&end.1);
    let refused = |refused: Result<(), SendError>| matches!(refused, Err(SendError::Closed(CloseReason::Shutdown)));
    assert!(refused(mailbox.write(|_| ())));
    assert_eq!(mailbox.poll_write(Some(&context), &mut place, |_| ()).map(refused), Poll::Ready(true));
    let peer = mailbox.poll_peer(&mut context, &mut second);
    assert_eq!(peer.map(|peer| refused(peer.map(|_| ()))), Poll::Ready(true));
    assert!(mailbox.poll_abandoned(&mut context, &mut third).is_ready());
    assert!(mailbox.lock().outbox.is_empty(), "closed mailbox should have dropped its packets");
    assert!(
        mailbox.poll_closed(&mut context, &mut first).is_pending(),
        "connection should not count as closed before its last bytes are written"
    );
    mailbox.finish();
    assert_eq!(end.0.count(), 2);
    assert!(matches!(mailbox.poll_closed(&mut context, &mut first), Poll::Ready(CloseReason::Shutdown)));
}

#[test]
fn peer_cancel_notifies_hand_off_decider() {
    let mailbox = mailbox(1000);
    let (woken, waker) = task();
    let (mut context, mut waiter) = (Context::from_waker(&waker), Waiter::new(&mailbox));
    for (state, is_over) in
        [(HandOffState::No, false), (HandOffState::Undecided, false), (HandOffState::Abandoned, true)]
    {
        let before = woken.count();
        mailbox.set_hand_off_state(HandOffState::No);
        assert!(mailbox.poll_abandoned(&mut context, &mut waiter).is_pending());
        mailbox.set_hand_off_state(state);
        assert_eq!(mailbox.poll_abandoned(&mut context, &mut waiter).is_ready(), is_over, "{state:?}");
        assert!(woken.count() > before, "each change should wake the driver");
    }
}

#[test]
fn peer_kind_wakes_waiters_and_persists() {
    let mailbox = mailbox(1000);
    let (woken, waker) = task();
    let (mut context, mut waiter) = (Context::from_waker(&waker), Waiter::new(&mailbox));
    assert!(mailbox.poll_peer(&mut context, &mut waiter).is_pending());
    mailbox.handle_peer_known(PeerKind::Compat);
    assert_eq!(woken.count(), 1);
    mailbox.close(&CloseReason::Local);
    assert!(matches!(mailbox.poll_peer(&mut context, &mut waiter), Poll::Ready(Ok(PeerKind::Compat))));
}

#[test]
fn waiter_stores_single_non_noop_waker() {
    let mailbox = mailbox(1);
    mailbox.write(|outbox| push(outbox, 10)).expect("open mailbox should accept the packet");
    assert!(!sends_now(&mailbox, |_| ()));
    assert!(mailbox.lock().waiters.is_empty());
    let [(first, one), (second, two)] = [(); 2].map(|()| task());
    let [mut waiter, mut other] = [(); 2].map(|()| Waiter::new(&mailbox));
    for _ in 0..3 {
        assert!(waiter.poll_send(&mut Context::from_waker(&one), |_| ()).is_pending());
        assert!(mailbox.poll_closed(&mut Context::from_waker(&one), &mut waiter).is_pending());
        assert!(other.poll_send(&mut Context::from_waker(&two), |_| ()).is_pending());
    }
    assert_eq!([&first, &second].map(Arc::strong_count), [4, 3], "the test has two of each");
    drop(waiter);
    assert_eq!([&first, &second].map(Arc::strong_count), [2, 3]);
    drop(Waiter::new(&mailbox));
    assert!(!mailbox.lock().waiters.is_empty());
    drop(other);
    assert_eq!(Arc::strong_count(&second), 2);
    assert!(mailbox.lock().waiters.is_empty());
    // A future that different tasks poll is still a single waiter.
    let mut place = Place::default();
    for waker in [&one, &two].into_iter().cycle().take(100) {
        assert!(mailbox.poll_write(Some(&Context::from_waker(waker)), &mut place, |_| ()).is_pending());
    }
    assert_eq!([&first, &second].map(Arc::strong_count), [2, 3]);
    mailbox.leave(&mut place);
    assert!(mailbox.lock().waiters.is_empty());
}

#[test]
fn handle_packets_are_charged_until_collected() {
    let mailbox = mailbox(MIB);
    let mut outbox = Outbox::default();
    mailbox.write(|outbox| push(outbox, 100_000)).expect("open mailbox should accept the packet");
    assert!(mailbox.account.charged() >= 96_000, "{}", mailbox.account.charged());
    mailbox.collect(&mut outbox);
    assert_eq!((outbox.len(), mailbox.lock().queued(), mailbox.account.charged()), (100_000, 0, 0));
    mailbox.write(|outbox| (0..20).for_each(|_| push(outbox, 1000))).expect("open mailbox should accept the packet");
    {
        let mut inner = mailbox.lock();
        inner.outbox.take_bytes();
        assert!(inner.outbox.memory() > 0, "outbox should keep memory for the next packets");
    }
    mailbox.release();
    assert_eq!((mailbox.lock().outbox.memory(), mailbox.account.charged()), (0, 0));
}

/// A waker may hold the last reference to a task whose destructor uses the connection. Dropping such a waker under the
/// lock would cause a deadlock.
#[test]
fn wakers_are_woken_and_dropped_without_lock() {
    let mailbox = Arc::new(mailbox(100));
    let [free, locked] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let last_reference = || {
        let (mailbox, free, locked) = (mailbox.clone(), free.clone(), locked.clone());
        calling_waker(move || {
            let count = if mailbox.is_locked() { &locked } else { &free };
            count.fetch_add(1, Ordering::SeqCst);
        })
    };
    let expect_call = |text: &str| assert!(free.swap(0, Ordering::SeqCst) > 0, "{text}");
    let mut driver = Driver::default();
    let poll_write = |waiter: &mut Waiter<'_>| {
        waiter.poll_send(&mut Context::from_waker(&last_reference()), |outbox| push(outbox, 100))
    };

    driver.take(&mailbox, &last_reference(), true);
    mailbox.write(|outbox| push(outbox, 100)).expect("open mailbox should accept the packet");
    expect_call("the driver is woken");
    driver.take(&mailbox, &last_reference(), true);
    expect_call("it is polled by another task");

    let [mut producer, mut other, mut closed, mut peer, mut abandoned] = [(); 5].map(|()| Waiter::new(&mailbox));
    assert!(poll_write(&mut producer).is_pending());
    assert!(poll_write(&mut producer).is_pending());
    expect_call("a waiter for room has another waker");
    assert!(poll_write(&mut other).is_pending());
    for _ in 0..2 {
        assert!(mailbox.poll_closed(&mut Context::from_waker(&last_reference()), &mut closed).is_pending());
        assert!(mailbox.poll_peer(&mut Context::from_waker(&last_reference()), &mut peer).is_pending());
        assert!(mailbox.poll_abandoned(&mut Context::from_waker(&last_reference()), &mut abandoned).is_pending());
    }
    expect_call("and so have those that wait for a change");
    drop(other);
    drop(peer);
    expect_call("two no longer wait");
    driver.pending = 0;
    driver.take(&mailbox, &last_reference(), true);
    mailbox.handle_drained(&mut driver.reader, 0);
    expect_call("the driver has another waker, and the waiter for room is woken and dropped");
    assert!(poll_write(&mut producer).is_ready());
    assert!(poll_write(&mut producer).is_pending());
    mailbox.lock().outbox.take_bytes();
    free.store(0, Ordering::SeqCst);
    assert!(poll_write(&mut producer).is_ready());
    expect_call("it finds room before it is called");

    mailbox.set_hand_off_state(HandOffState::No);
    expect_call("two are woken and dropped");
    assert!(mailbox.poll_closed(&mut Context::from_waker(&last_reference()), &mut closed).is_pending());
    mailbox.close(&CloseReason::Local);
    expect_call("the connection has ended");
    mailbox.finish();
    expect_call("the driver has ended");
    assert_eq!(locked.load(Ordering::SeqCst), 0);
}

/// Regression test: tasks that wait for memory were woken under the lock of the mailbox that released it.
#[test]
fn memory_waiters_are_woken_without_lock() {
    let budget = Arc::new(Budget::new(MIB, 0));
    let account = |user| Arc::new(Account::of_peer(budget.enter(CallerKey::User(user))));
    let (account, other) = (account(1), account(2));
    let mailbox = Arc::new(Mailbox::new(crate::BODY_MAX, MIB, account.clone()));
    let [free, locked] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let waker = {
        let (mailbox, free, locked) = (mailbox.clone(), free.clone(), locked.clone());
        calling_waker(move || {
            let count = if mailbox.is_locked() { &locked } else { &free };
            count.fetch_add(1, Ordering::SeqCst);
        })
    };
    let changes: [fn(&Mailbox); 4] = [
        |mailbox| {
            mailbox.take(&mut MailboxReader::default(), Waker::noop(), true, 0, |inner| {
                Outbox::default().append(&mut inner.outbox);
                0
            });
        },
        |mailbox| mailbox.collect(&mut Outbox::default()),
        |mailbox| {
            mailbox.lock().outbox.take_bytes();
            mailbox.release();
        },
        |mailbox| mailbox.close(&CloseReason::Local),
    ];
    for change in changes {
        mailbox.write(|outbox| push(outbox, 200_000)).expect("open mailbox should accept the packet");
        let rest = budget.available().unsigned_abs();
        other.charge(rest);
        let mut waiter = MemoryWaiter::new(&account);
        assert!(waiter.poll_reserve(&mut Context::from_waker(&waker), 1000).is_pending());
        change(&mailbox);
        assert_eq!([&free, &locked].map(|count| count.swap(0, Ordering::SeqCst)), [1, 0]);
        other.release(rest);
    }
}

#[test]
fn leaving_observer_gives_late_senders_no_room() {
    let (mailbox, mut driver) = (mailbox(100), Driver::default());
    let (_, waker) = task();
    let mut context = Context::from_waker(&waker);
    driver.take(&mailbox, &waker, true);
    let mut observer = Waiter::new(&mailbox);
    assert!(mailbox.poll_peer(&mut context, &mut observer).is_pending());
    assert!(sends_now(&mailbox, |outbox| push(outbox, 100)));
    let mut first = Waiter::new(&mailbox);
    assert!(first.poll_send(&mut context, |outbox| push(outbox, 100)).is_pending());
    driver.take(&mailbox, &waker, true);
    driver.pending = 0;
    mailbox.handle_drained(&mut driver.reader, 0);
    mailbox.handle_peer_known(PeerKind::Compat);
    drop(observer);
    assert!(!sends_now(&mailbox, |outbox| push(outbox, 100)), "space should be left to the woken sender");
    assert!(first.poll_send(&mut context, |outbox| push(outbox, 100)).is_ready());
}
