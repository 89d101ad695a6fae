//! Tests of messages that share a packet.

use super::*;
use crate::mailbox::MailboxReader;
use crate::tests::wake_counter::WakeCounter;

#[tokio::test]
async fn batched_messages_are_charged_like_single_ones() {
    let (end, mut stream) = End::new(&native(0));
    let idle = end.held();
    assert_eq!(end.receive_batch(&[100, 0, 796]), Some(StreamSignal::Nothing));
    assert_eq!(end.shared.view().unread, 896 + 3 * 64);
    assert_eq!(end.held(), idle + 1024);
    assert_eq!(
        end.receive_batch(&[5, 20_000]),
        Some(StreamSignal::Nothing),
        "long message between short ones should be accepted"
    );
    assert_eq!(end.shared.view().unread, 896 + 3 * 64 + 5 + 64 + 128 * 1024 + 64);
    assert_eq!(stream.sender().bytes().received, (1 + 100 + 1 + 2 + 796 + 1 + 5 + 3 + 20_000) as u64);
    assert_eq!([(); 5].map(|()| read(&mut stream)), [100, 0, 796, 5, 20_000]);
    assert!(poll(&mut stream).is_pending());
    assert_eq!((end.shared.view().unread, end.held()), (0, idle));
    assert_eq!(end.receive_batch(&[16 * 1024]), Some(StreamSignal::Nothing));
    assert_eq!(end.shared.view().unread, 128 * 1024 + 64, "shortest long message should be charged with its body");
    end.shared.handle_close();
    assert_eq!(end.receive_batch(&[5]), None);
}

/// Regression test: the last unread message kept the packet of its whole batch in memory, so that megabytes were used
/// while 128 KiB were charged.
#[tokio::test]
async fn last_unread_message_releases_batch() {
    let (end, mut stream) = End::new(&native(100));
    let mut body = Vec::new();
    for length in [50_000, 20_000] {
        tlv::put_varint(&mut body, length);
        body.resize(body.len() + length as usize, 2);
    }
    let (size, body) = (BatchSize::of(&body).expect("batch should contain valid messages"), Bytes::from(body));
    assert_eq!(end.shared.handle_batch(&body, &size), Some(StreamSignal::Nothing));
    assert_eq!(read(&mut stream), 50_000);
    assert!(body.is_unique(), "last message should not share the body of its batch");
    assert_eq!(read(&mut stream), 20_000);
}

#[tokio::test]
async fn longest_message_of_batch_follows_memory() {
    let (end, stream) = End::with(&native(1 << 20), Config::default(), MIB);
    let shortage = || end.connection.charge(MIB - 4096);
    let send = |batch: &mut StreamBatch, length: usize| {
        assert!(matches!(batch.poll_ready(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(()))));
        let put = batch.put(|mut packet| {
            packet.put_slice(&vec![3; length]);
            packet.finish()
        });
        batch.flush().expect("batch should be sent on the open stream");
        drop(end.sent());
        put.is_ok()
    };
    let short = shortage();
    stream.try_send(&Bytes::from_static(b"short")).expect("stream should have space for the message");
    let mut batch = stream.sender().batch();
    assert!(!send(&mut batch, 5000));
    drop(short);
    assert!(send(&mut batch, 5000), "batch should grow once there is memory again");
    let _short = shortage();
    assert!(!send(&mut batch, 5000));
    assert!(send(&mut batch, 1000));
}

/// Regression test: each stream kept a buffer as large as its batches. A connection may have hundreds of streams.
#[tokio::test]
async fn streams_keep_no_buffer_between_batches() {
    let (end, stream) = End::new(&native(1 << 20));
    let senders: Vec<_> = (0..100).map(|_| stream.sender()).collect();
    let mut batches: Vec<_> = senders.iter().map(StreamSender::batch).collect();
    let mut context = Context::from_waker(Waker::noop());
    for batch in &mut batches {
        for _ in 0..20 {
            assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
            batch.put(|mut packet| {
                packet.put_slice(&[3; 3000]);
                packet.finish().expect("message should be within the maximum body size");
            });
        }
        batch.flush().expect("batch should be sent on the open stream");
        assert!(end.shared.handle_credit(&[0x80, 0x80, 0x40]));
        assert!(!end.sent().is_empty());
        assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
        batch.flush().expect("batch should be sent on the open stream");
    }
    assert_eq!(batches.iter().map(StreamBatch::memory).sum::<usize>(), 0, "idle streams should keep no batch memory");
}

#[tokio::test]
async fn batched_messages_reserve_credit_on_send() {
    let (end, stream) = End::new(&native(10_000));
    let sender = stream.sender();
    let mut batch = sender.batch();
    let mut context = Context::from_waker(Waker::noop());
    let put = |batch: &mut StreamBatch, length: usize| {
        batch.put(|mut packet| {
            packet.put_slice(&vec![3; length]);
            packet.finish().expect("message should be within the maximum body size");
        });
    };
    assert!(batch.is_empty());
    assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
    (0..3).for_each(|_| put(&mut batch, 100));
    assert_eq!((batch.is_empty(), end.sent().len()), (false, 0));
    assert!(
        full(&stream.try_send(&Bytes::from_static(b"x"))),
        "stream should have no credit left while a batch holds it"
    );
    let ((woken, waker), mut waiter) = (task(), sender.waiter());
    assert!(waiter.poll_send(&mut Context::from_waker(&waker), |_| ()).is_pending());
    batch.flush().expect("batch should be sent on the open stream");
    assert_eq!((woken.count(), batch.is_empty()), (1, true));
    let sent = end.sent();
    assert_eq!((sent.len(), sent[0].0, sender.bytes().sent), (1, Operation::BATCH, sent[0].1.len() as u64 + 10));
    assert_eq!(end.shared.view().credit, Some(10_000 - 3 * 164));

    assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
    put(&mut batch, 100);
    drop(batch);
    assert_eq!(
        (end.shared.view().credit, end.sent().len()),
        (Some(10_000 - 3 * 164), 0),
        "dropped batch should send nothing and spend no credit"
    );

    let mut batch = sender.batch();
    assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
    batch.flush().expect("batch should be sent on the open stream");
    assert_eq!(end.shared.view().credit, Some(10_000 - 3 * 164), "empty batch should return its credit");
    assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
    put(&mut batch, 9_444);
    assert!(
        batch.poll_ready(&mut Context::from_waker(&waker)).is_pending(),
        "batch should wait once the credit is used up"
    );
    assert_eq!((end.sent().len(), end.shared.view().credit), (1, Some(0)));
    end.shared.handle_credit(&[64]);
    assert_eq!(woken.count(), 2);
    assert!(matches!(batch.poll_ready(&mut context), Poll::Ready(Ok(()))));
    stream.close();
    put(&mut batch, 1);
    assert!(matches!(batch.flush(), Err(SendError::StreamClosed)));
}

#[tokio::test]
async fn large_batch_waits_for_connection_room() {
    let (end, stream) = End::with(&native(1 << 30), Config::default().backlog_max(40_000), 16 * MIB);
    let mut batch = stream.sender().batch();
    let (woken, waker) = task();
    let mut context = Context::from_waker(&waker);
    let mut put = 0;
    while batch.poll_ready(&mut context).is_ready() && put < 1000 {
        batch.put(|mut packet| {
            packet.put_slice(&[4; 1000]);
            packet.finish().expect("message should be within the maximum body size");
        });
        put += 1;
    }
    assert_eq!(put, 33 * 2, "32 KiB and a bit, twice, and the second exceeds the limit");
    assert_eq!((batch.is_empty(), woken.count()), (true, 0));
    let bytes: usize = end.sent().iter().map(|(_, body)| body.len()).sum();
    assert!((66_000..=66 * 1002).contains(&bytes), "{bytes}");
}

/// Regression test: if all streams that were granted turns had no messages, the other streams waited until something
/// else was sent on the connection.
#[tokio::test]
async fn unused_turns_pass_to_other_streams() {
    let (end, stream) = End::new(&native(1 << 30));
    let mailbox = &end.connection.0.mailbox;
    let message = Bytes::from(vec![1; 8 * 1024]);
    while stream.try_send(&message).is_ok() {}
    let mut waiting: Vec<_> = (100..120)
        .map(|id| {
            let shared = Arc::new(end.connection.0.stream(PacketId(id), &native(1 << 30), false));
            (Stream::new(end.connection.0.clone(), shared).sender().batch(), task())
        })
        .collect();
    let is_ready = |(batch, (_, waker)): &mut (StreamBatch, (_, Waker))| {
        batch.poll_ready(&mut Context::from_waker(waker)).is_ready()
    };
    assert!(!waiting.iter_mut().any(is_ready), "all streams should wait for their turns");
    let (mut reader, (_, driver)) = (MailboxReader::default(), task());
    let mut run_driver = || {
        while mailbox.is_notified() {
            let _ = mailbox.take(&mut reader, &driver, true, 0, |inner| {
                inner.outbox.take_bytes();
                0
            });
        }
    };
    run_driver();
    let woken = |waiting: &[(StreamBatch, (Arc<WakeCounter>, Waker))]| {
        waiting.iter().filter(|(_, (woken, _))| woken.count() > 0).count()
    };
    assert_eq!(woken(&waiting), 16, "streams should be granted as many turns as fit into the backlog");
    assert!(waiting[..16].iter_mut().all(is_ready));
    run_driver();
    assert_eq!(woken(&waiting), 20, "unused turns should pass to the other streams");
}
