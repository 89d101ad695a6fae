//! Tests of the ends of streams, with their headers and trailers.

use super::*;

#[tokio::test]
async fn received_messages_precede_reported_end() {
    let end_by = |bodies: &[&[u8]]| {
        let (end, mut stream) = End::new(&native(0));
        let _ = end.comes(3);
        for body in bodies {
            assert!(end.shared.handle_end(body));
        }
        assert_eq!((read(&mut stream), poll(&mut stream)), (3, Poll::Ready(None)));
        stream.close_reason()
    };
    let reset = |code, message: &str| StreamEnd::Reset { code, message: message.to_owned() };
    assert_eq!(end_by(&[b""]), StreamEnd::Ended);
    assert_eq!(end_by(&[b"\x05why"]), reset(5, "why"));
    assert_eq!(end_by(&[b"\x05why", b"\x06other"]), reset(5, "why"), "first END should count");
    assert_eq!(end_by(&[b"", b"\x06other"]), StreamEnd::Ended, "reader should receive all messages before the end");
    let long = [b"\x05".to_vec(), vec![b'a'; 5000]].concat();
    assert_eq!(end_by(&[&long]), reset(5, &"a".repeat(4096)));

    let (end, stream) = End::new(&native(0));
    assert!(!end.shared.handle_end(&[0x80]), "END packet with a malformed code should be rejected");
    end.shared.handle_credit(&[0]);
    assert!(end.shared.handle_end(b"\x08full"));
    assert_eq!(stream.close_reason(), StreamEnd::Refused { code: 8, message: "full".to_owned() });

    let (end, stream) = End::new(&PeerKind::Compat);
    assert!(!end.shared.is_over());
    end.shared.handle_close();
    assert_eq!((stream.close_reason(), end.shared.is_over()), (StreamEnd::Closed, true));
}

#[tokio::test]
async fn stream_end_wakes_waiting_tasks() {
    type EndStream<'a> = &'a dyn Fn(&End);
    let ends: [(EndStream<'_>, [usize; 3]); 4] = [
        (&|end| end.shared.handle_close(), [1, 1, 1]),
        (&|end| assert!(end.shared.handle_end(b"\x01")), [1, 1, 1]),
        (&|end| assert!(end.shared.handle_end(b"")), [1, 1, 1]),
        (&End::half_close, [1, 0, 0]),
    ];
    for (end_it, expected) in ends {
        let (end, mut stream) = End::new(&native(0));
        let tasks = [(); 3].map(|()| task());
        let sender = stream.sender();
        let mut waiter = sender.waiter();
        assert!(stream.poll_recv(&mut Context::from_waker(&tasks[0].1)).is_pending());
        assert!(waiter.poll_send(&mut Context::from_waker(&tasks[1].1), |_| ()).is_pending());
        assert!(waiter.poll_closed(&mut Context::from_waker(&tasks[2].1)).is_pending());
        end_it(&end);
        assert_eq!(tasks.each_ref().map(|(woken, _)| woken.count()), expected);
        assert_eq!(poll(&mut stream), Poll::Ready(None));
    }
}

#[tokio::test]
async fn leaving_stream_reports_reason_to_peer() {
    let packet = |operation, body: &[u8]| vec![(operation, Bytes::copy_from_slice(body))];
    let dropped = b"\x01the stream was dropped";
    type Leave = fn(Stream);
    let ways: [(Leave, &[u8]); 8] = [
        (drop, dropped),
        (|stream| stream.close(), dropped),
        (|stream| stream.reset(5, "why"), b"\x05why"),
        (|stream| stream.sender().close(), dropped),
        (|stream| stream.sender().reset(6, "whyever"), b"\x06whyever"),
        (|stream| stream.split().1.close(), dropped),
        (|stream| drop(stream.split().0), dropped),
        (|stream| drop(stream.into_io()), dropped),
    ];
    for (leave, expected) in ways {
        let (end, stream) = End::new(&native(0));
        assert_eq!(end.connection.0.peer_streams.load(Ordering::Relaxed), 1);
        leave(stream);
        assert_eq!(end.sent(), packet(Operation::END, expected), "END should be sent once");
        assert_eq!((end.is_open(), end.connection.0.peer_streams.load(Ordering::Relaxed)), (false, 0));
        let (end, stream) = End::new(&PeerKind::Compat);
        leave(stream);
        assert_eq!((end.sent(), end.is_open()), (packet(Operation::STREAM, b""), false));
    }

    let (end, stream) = End::new(&native(100));
    let sender = stream.sender();
    sender.end();
    stream.end();
    assert_eq!(end.sent(), packet(Operation::END, b""));
    assert!(end.is_open() && sender.is_closed(), "other direction of the stream should stay open");
    assert!(matches!(stream.try_send(&Bytes::from_static(b"x")), Err(TrySendError::Failed(SendError::StreamClosed))));
    assert!(end.shared.handle_end(b""));
    drop((stream, sender));
    assert!(end.sent().is_empty(), "nothing should be sent once both directions have ended");

    for close in [StreamSender::close, StreamSender::end] {
        let (end, stream) = End::new(&native(100));
        let sender = stream.sender();
        assert!(!sender.is_closed());
        close(&sender);
        assert!(sender.is_closed() && end.sent().len() == 1, "handles should still exist");
    }
    let (end, stream) = End::new(&native(100));
    let (sender, receiver) = stream.split();
    receiver.close();
    assert!(sender.is_closed() && end.sent().len() == 1);

    let (end, stream) = End::new(&native(0));
    stream.forget();
    assert!(end.sent().is_empty() && !end.is_open() && end.connection.0.mailbox.is_notified());

    let (end, stream) = End::new(&native(0));
    end.connection.0.mailbox.close(&crate::CloseReason::Local);
    drop(stream);
    assert!(end.sent().is_empty());
}

#[tokio::test]
async fn headers_and_trailers_need_no_credit() {
    let (end, stream) = End::new(&native(0));
    let (sender, receiver) = stream.split();
    sender.send_headers(b"first").expect("stream should be open");
    sender.end_with(|max| vec![9; max.min(2)]);
    sender.end_with(|_| unreachable!("trailers should not be written after the end of their direction"));
    assert!(sender.is_closed() && matches!(sender.send_headers(b"again"), Err(SendError::StreamClosed)));
    let bodies = [&b"\x07first"[..], b"\x07\x09\x09"].map(|body| (Operation::EXTENSION, Bytes::from_static(body)));
    assert_eq!(end.sent(), bodies);
    assert!(end.is_open(), "other direction of the stream should stay open");
    assert_eq!((receiver.take_headers(), receiver.take_trailers()), (None, None));

    let (end, stream) = End::new(&native(0));
    stream.sender().end_with(|max| vec![9; max + 1]);
    assert_eq!(end.sent(), [(Operation::END, Bytes::new())], "too long");
}

#[tokio::test]
async fn headers_and_trailers_wake_reader_in_order() {
    let (end, stream) = End::new(&native(0));
    let (_sender, mut receiver) = stream.split();
    let (woken, waker) = task();
    let poll = |receiver: &mut StreamReceiver| receiver.poll_recv(&mut Context::from_waker(&waker));
    assert!(poll(&mut receiver).is_pending());
    let before = end.held();
    assert_eq!(end.shared.handle_items(&[7; 5000], false), Some(StreamSignal::Nothing));
    assert!(woken.count() == 1 && poll(&mut receiver).is_pending() && end.held() >= before + 4096);
    assert_eq!(receiver.take_headers().map(|items| items.len()), Some(5000));
    assert!(receiver.take_headers().is_none() && end.held() == before);
    assert_eq!(end.comes(3), StreamSignal::Nothing);
    assert_eq!(end.shared.handle_items(b"late", false), None, "headers after a message should be ignored");
    assert_eq!(end.shared.handle_items(b"last", true), Some(StreamSignal::Nothing));
    assert_eq!(
        end.shared.handle_items(b"again", true),
        Some(StreamSignal::Nothing),
        "packet after the end should be ignored"
    );
    assert!(matches!(poll(&mut receiver), Poll::Ready(Some(message)) if message.len() == 3));
    assert_eq!(poll(&mut receiver), Poll::Ready(None));
    assert_eq!((receiver.close_reason(), receiver.take_trailers().as_deref()), (StreamEnd::Ended, Some(&b"last"[..])));
}

#[tokio::test]
async fn trailers_without_memory_reset_stream() {
    let (end, stream) = End::with(&native(0), Config::default(), MIB);
    let _most = end.connection.charge(MIB - 4096);
    assert_eq!(end.shared.handle_items(&[7; 60_000], true), Some(StreamSignal::Reset));
    assert_eq!(stream.close_reason(), StreamEnd::Overflowed);
}

#[tokio::test]
async fn unfinished_byte_stream_end_is_error() {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, OutOfMemory};
    let plain = PeerKind::Compat;
    let native = native(0);
    type EndStream<'a> = &'a dyn Fn(&End);
    let ends: [(&PeerKind, EndStream<'_>, Option<std::io::ErrorKind>); 5] = [
        (&native, &|end| end.shared.handle_close(), Some(ConnectionAborted)),
        (&plain, &|end| end.shared.handle_close(), None),
        (&native, &|end| assert!(end.shared.handle_end(b"\x05why")), Some(ConnectionReset)),
        (&native, &|end| assert_eq!(end.shared.handle_rejected_body(), StreamSignal::Reset), Some(OutOfMemory)),
        (&native, &|end| assert!(end.shared.handle_end(b"")), None),
    ];
    for (peer, end_it, expected) in ends {
        let (end, stream) = End::new(peer);
        let mut io = stream.into_io();
        end_it(&end);
        let read = io.read(&mut [0; 8]).await;
        assert_eq!(read.as_ref().err().map(std::io::Error::kind), expected);
        assert_eq!(read.unwrap_or(0), 0);
    }
}
