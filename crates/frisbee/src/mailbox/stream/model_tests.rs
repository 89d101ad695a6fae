//! Explores the interleavings of a stream's handles and the driver task, within the checker's bounds.

use super::*;
use crate::account::Budget;
use frisbee_core::Hello;
use loom::future::block_on;
use loom::thread;
use std::future::poll_fn;

/// Creates a stream that was opened by a peer with the protocol extension. This end may send `credit` bytes on it.
fn stream(credit: u32) -> Arc<StreamShared> {
    let mut hello = Hello::decode(&Bytes::from_static(b"fris\x01")).expect("HELLO should be valid");
    hello.stream_credit = credit;
    let account = Arc::new(Account::alone(Arc::new(Budget::new(usize::MAX, 0))));
    Arc::new(StreamShared::new(PacketId(1), account, 1 << 20, &PeerKind::Native(Arc::new(hello)), false))
}

/// Reads messages until no more arrive. Returns their number. The checker reports a lost wake-up as a deadlock.
fn read_all(stream: &StreamShared, eof: &AtomicBool) -> usize {
    let mut batch = ReadBatch::default();
    let mut count = 0;
    loop {
        block_on(poll_fn(|context| stream.poll_refill(&mut batch, context, eof).0));
        let before = count;
        while let Some(length) = batch.inbox.pop().map(|message| message.len()) {
            batch.count_any(length);
            count += 1;
        }
        if count == before {
            return count;
        }
    }
}

#[test]
fn model_stream_delivers_messages_before_its_end() {
    loom::model(|| {
        let stream = stream(0);
        let driver = thread::spawn({
            let stream = stream.clone();
            move || {
                stream.handle_packet(Bytes::from_static(b"one")).expect("stream should be open");
                assert!(stream.handle_end(&[]), "END should be valid");
            }
        });
        assert_eq!(read_all(&stream, &AtomicBool::new(false)), 1);
        driver.join().expect("thread should not panic");
        assert_eq!(stream.close_reason(), StreamEnd::Ended);
    });
}

#[test]
fn model_end_of_connection_wakes_reader() {
    loom::model(|| {
        let stream = stream(0);
        let eof = loom::sync::Arc::new(AtomicBool::new(false));
        let driver = thread::spawn({
            let (stream, eof) = (stream.clone(), eof.clone());
            move || {
                stream.handle_packet(Bytes::from_static(b"one")).expect("stream should be open");
                eof.store(true, Ordering::Relaxed);
                stream.handle_eof();
            }
        });
        assert_eq!(read_all(&stream, &eof), 1);
        driver.join().expect("thread should not panic");
    });
}

#[test]
fn model_credit_wakes_waiting_sender() {
    loom::model(|| {
        let stream = stream(0);
        let driver = thread::spawn({
            let stream = stream.clone();
            move || assert!(stream.handle_credit(&[100]), "CREDIT should be valid")
        });
        let mut number = 0;
        let sent = block_on(poll_fn(|context| stream.poll_credit(context, &mut number, |credit| credit.spend(10))));
        sent.expect("stream should be open");
        stream.leave(number, 0);
        driver.join().expect("thread should not panic");
    });
}

#[test]
fn model_close_wakes_sender_and_watcher() {
    loom::model(|| {
        let stream = stream(0);
        let driver = thread::spawn({
            let stream = stream.clone();
            move || stream.handle_close()
        });
        let watcher = thread::spawn({
            let stream = stream.clone();
            move || block_on(poll_fn(|context| stream.poll_closed(context, &mut 0)))
        });
        let mut number = 0;
        let sent = block_on(poll_fn(|context| stream.poll_credit(context, &mut number, |_| ())));
        assert!(sent.is_err(), "stream should be closed");
        driver.join().expect("thread should not panic");
        watcher.join().expect("thread should not panic");
    });
}

#[test]
fn model_unread_messages_are_released_once() {
    loom::model(|| {
        let stream = stream(0);
        let driver = thread::spawn({
            let stream = stream.clone();
            move || drop(stream.handle_packet(Bytes::from(vec![0; 8 * MESSAGES_STEP])))
        });
        stream.handle_close();
        stream.discard();
        driver.join().expect("thread should not panic");
        stream.discard();
        assert_eq!(stream.account.charged(), STREAM_COST);
    });
}
