use super::Sockets;
use crate::ring::Ring;
use std::cell::Cell;
use std::io::{IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::ReadBuf;

/// Runs a task that reads everything and always has more to write than its peer reads.
fn run_batch(sockets: &mut Sockets, key: usize) {
    let context = Context::from_waker(Waker::noop());
    let mut buffer = vec![0; 64 * 1024];
    while sockets.poll_read(key, &context, &mut ReadBuf::new(&mut buffer)).is_ready() {}
    while let Poll::Ready(written) = sockets.poll_write(key, &context, &[IoSlice::new(&[0; 128 * 1024])]) {
        written.unwrap();
    }
    sockets.submit(Some(Some(Duration::from_millis(1)))).unwrap();
    sockets.complete(&mut Vec::new());
}

#[test]
fn socket_has_one_waiter_per_direction() {
    let Ok(ring) = Ring::new() else { return eprintln!("SKIPPED: there are no rings here") };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut sockets = Sockets::new(ring);
    let key = sockets.enter(listener.accept().unwrap().0, Rc::new(drop));
    while !sockets.table[key].reading.is_bulk {
        peer.write_all(&[0; 100_000]).unwrap();
        run_batch(&mut sockets, key);
    }
    for _ in 0..100 {
        peer.write_all(&[0; 5000]).unwrap();
        run_batch(&mut sockets, key);
        let operations = sockets.table[key].operations;
        assert!(operations <= 4, "{operations} operations are in flight");
    }
}

/// Checks that no bytes are sent after a gap. The peer would interpret them as the rest of a truncated packet.
#[test]
fn no_bytes_follow_cancelled_send() {
    let Ok(ring) = Ring::new() else { return eprintln!("SKIPPED: there are no rings here") };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut sockets = Sockets::new(ring);
    let key = sockets.enter(listener.accept().unwrap().0, Rc::new(drop));
    let state = &mut sockets.table[key];
    // State of a dropped socket whose send was cancelled after a part was sent.
    (state.dropped, state.cancelled, state.operations) = (true, true, 1);
    (state.writing.in_flight, state.writing.staged) = (100, vec![7; 50]);
    sockets.handle_sent(key, vec![0; 100], Ok(40), &mut Vec::new());
    while !sockets.is_empty() {
        sockets.submit(Some(Some(Duration::from_secs(1)))).unwrap();
        sockets.complete(&mut Vec::new());
    }
    let mut received = Vec::new();
    peer.read_to_end(&mut received).unwrap();
    assert_eq!(received.len(), 0);
}

/// A flushed socket is removed from the ring immediately, so a caller needs a timeout only for the flush.
#[test]
fn flushed_socket_leaves_its_ring_at_once() {
    let Ok(ring) = Ring::new() else { return eprintln!("SKIPPED: there are no rings here") };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut sockets = Sockets::new(ring);
    let key = sockets.enter(listener.accept().unwrap().0, Rc::new(drop));
    let context = Context::from_waker(Waker::noop());
    let mut buffer = [0; 16];
    assert!(sockets.poll_read(key, &context, &mut ReadBuf::new(&mut buffer)).is_pending());
    let run_batch = |sockets: &mut Sockets| {
        sockets.submit(Some(Some(Duration::from_millis(1)))).unwrap();
        sockets.complete(&mut Vec::new());
    };
    // Write until the ring holds bytes that the peer does not read.
    let mut written = 0;
    while let Poll::Ready(count) = sockets.poll_write(key, &context, &[IoSlice::new(&[7; 15_000])]) {
        written += count.unwrap();
        run_batch(&mut sockets);
    }
    for _ in 0..3 {
        assert!(sockets.poll_flush(key, &context).is_pending(), "{written} bytes should exceed the socket buffers");
        run_batch(&mut sockets);
    }
    let reading = std::thread::spawn(move || {
        peer.read_exact(&mut vec![0; written]).unwrap();
        peer
    });
    while sockets.poll_flush(key, &context).is_pending() {
        run_batch(&mut sockets);
    }
    // The socket is flushed, so the result no longer depends on whether the thread is still reading.
    let mut batches = 0;
    while sockets.poll_release(key, &context).is_pending() {
        run_batch(&mut sockets);
        batches += 1;
    }
    assert!(batches <= 10, "cancelling a receive took {batches} turns");
    reading.join().unwrap();
}

/// Regression test: up to 64 KiB of replies and 64 KiB of requests of each connection belonged to nobody's account.
#[test]
fn gauge_shows_bytes_that_wait() {
    let Ok(ring) = Ring::new() else { return eprintln!("SKIPPED: there are no rings here") };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut sockets = Sockets::new(ring);
    let gauge = Rc::new(Cell::new(0));
    let set = gauge.clone();
    let key = sockets.enter(listener.accept().unwrap().0, Rc::new(move |bytes| set.set(bytes)));
    let context = Context::from_waker(Waker::noop());
    let run_batch = |sockets: &mut Sockets| {
        sockets.submit(Some(Some(Duration::from_millis(1)))).unwrap();
        sockets.complete(&mut Vec::new());
        sockets.take_deferred().run();
    };
    let mut written = 0;
    while let Poll::Ready(count) = sockets.poll_write(key, &context, &[IoSlice::new(&[7; 15_000])]) {
        written += count.unwrap();
        run_batch(&mut sockets);
    }
    let writing = &sockets.table[key].writing;
    let kept = writing.staged.len() + writing.in_flight;
    assert!((1..=gauge.get()).contains(&kept), "{kept} bytes are unsent, and the gauge shows {}", gauge.get());
    let reading = std::thread::spawn(move || {
        peer.read_exact(&mut vec![0; written]).unwrap();
        peer
    });
    while sockets.poll_flush(key, &context).is_pending() {
        run_batch(&mut sockets);
    }
    let mut peer = reading.join().unwrap();
    assert_eq!(gauge.get(), 0);

    let mut buffer = [0; 3000];
    assert!(sockets.poll_read(key, &context, &mut ReadBuf::new(&mut buffer)).is_pending());
    peer.write_all(&[7; 3000]).unwrap();
    while gauge.get() < 3000 {
        run_batch(&mut sockets);
    }
    assert!(sockets.poll_read(key, &context, &mut ReadBuf::new(&mut buffer)).is_ready());
    run_batch(&mut sockets);
    assert_eq!(gauge.get(), 0);
}

/// Regression test: the system rejects more than 1024 slices, so the write failed.
#[test]
fn long_write_may_have_any_number_of_slices() {
    let Ok(ring) = Ring::new() else { return eprintln!("SKIPPED: there are no rings here") };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut sockets = Sockets::new(ring);
    let key = sockets.enter(listener.accept().unwrap().0, Rc::new(drop));
    let slices = [IoSlice::new(&[7; 16]); 2000];
    let written = sockets.poll_write(key, &Context::from_waker(Waker::noop()), &slices);
    let Poll::Ready(Ok(count)) = written else { panic!("socket should accept a part of the bytes: {written:?}") };
    let mut received = vec![0; count];
    peer.read_exact(&mut received).unwrap();
    assert!(count > 0 && received.iter().all(|byte| *byte == 7));
}
