use super::{BUFFER_LEN, BUFFERS, Buffers, Completion, Page, Ring, STORAGE_LEN, eventfd};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Creates a ring. Returns `None` if the system forbids io_uring.
fn ring() -> Option<Ring> {
    Ring::new().inspect_err(|error| eprintln!("SKIPPED: there are no rings here: {error}")).ok()
}

fn sockets() -> (Rc<TcpStream>, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (Rc::new(listener.accept().unwrap().0), peer)
}

/// Returns the completed sends as token, length of the buffer, and result.
fn sent(ring: &mut Ring) -> Vec<(usize, usize, Result<usize, ErrorKind>)> {
    let mut completions = Vec::new();
    ring.complete(&mut completions);
    let sent = completions.into_iter().map(|completion| match completion {
        Completion::Sent { token, buffer, result } => (token, buffer.len(), result.map_err(|error| error.kind())),
        other => panic!("only sends should complete: {other:?}"),
    });
    sent.collect()
}

/// Also runs where io_uring is forbidden, because it needs no ring.
#[test]
fn buffers_are_contiguous_and_all_offered() {
    let mut buffers = Buffers::new();
    let storage = buffers.storage.cast::<u8>().addr().get();
    let starts = (0..BUFFERS).map(|id| buffers.start(id).addr().get() - storage);
    assert!(starts.eq((0..usize::from(BUFFERS)).map(|id| id * BUFFER_LEN)));
    assert_eq!((buffers.storage.len(), STORAGE_LEN), (usize::from(BUFFERS) * BUFFER_LEN, buffers.storage.len()));
    assert!(buffers.entries.cast::<Page>().is_aligned());
    // Offer each buffer twice, so that the index in the queue wraps around.
    for id in (0..BUFFERS).chain(0..BUFFERS) {
        buffers.offer(id);
        let index = buffers.tail.wrapping_sub(1) % BUFFERS;
        // SAFETY: no other reference to the entry exists.
        let entry = unsafe { buffers.entry(index).as_ref() };
        let (address, length) = (buffers.start(id).addr().get() as u64, BUFFER_LEN as u32);
        assert_eq!((entry.addr(), entry.len(), entry.bid()), (address, length, id));
    }
    assert_eq!(buffers.tail, 2 * BUFFERS);
    let beyond = std::panic::catch_unwind(|| Buffers::new().start(BUFFERS));
    assert!(beyond.is_err(), "buffer beyond the last one should be rejected");
}

#[test]
fn quiet_send_completes_without_kernel_completion() {
    let Some(mut ring) = ring() else { return };
    let (socket, mut peer) = sockets();
    ring.send_quietly(&socket, 7, b"quiet".to_vec());
    assert_eq!(sent(&mut ring), [], "no operation should be submitted");
    assert!(ring.is_quiet());
    ring.submit().unwrap();
    assert_eq!(ring.uring.completion().len(), 0, "completion queue should be empty, so that a wait does not end");
    assert_eq!(sent(&mut ring), [(7, 5, Ok(5))]);
    assert!(!ring.is_quiet() && ring.operations.is_empty());
    let mut received = [0; 5];
    peer.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"quiet");
}

#[test]
fn failed_quiet_send_does_not_disturb_others() {
    let Some(mut ring) = ring() else { return };
    let ((full, mut slow), (socket, _peer)) = (sockets(), sockets());
    let len = 64 << 20;
    ring.send_quietly(&full, 1, vec![1; len]);
    ring.send_quietly(&socket, 2, vec![2; 10]);
    ring.submit().unwrap();
    let first = sent(&mut ring);
    let Some(&(1, _, Ok(count))) = first.first() else {
        panic!("part of the message should have been sent: {first:?}")
    };
    assert!(0 < count && count < len, "socket should accept a part of {len} bytes, but accepted {count}");
    assert_eq!(first[1..], [(2, 10, Ok(10))]);
    assert!(ring.operations.is_empty(), "no operation should remain");

    // Send until the socket is full again, because the kernel may still be moving bytes to the other end, which makes
    // space.
    let mut expected = vec![1; count];
    loop {
        ring.send_quietly(&full, 3, vec![3; 10]);
        ring.send_quietly(&socket, 4, vec![4; 10]);
        ring.submit().unwrap();
        let [first, (4, 10, Ok(10))] = sent(&mut ring)[..] else { panic!("other send should not be disturbed") };
        assert!(ring.operations.is_empty(), "no operation should remain");
        match first {
            (3, 10, Ok(count)) => expected.extend_from_slice(&vec![3; count]),
            (3, 10, Err(ErrorKind::WouldBlock)) => break,
            other => panic!("{other:?}"),
        }
    }

    drop((ring, full));
    let mut received = Vec::new();
    slow.read_to_end(&mut received).unwrap();
    assert!(received == expected, "received bytes should be those reported as sent");
}

/// Regression test: a timeout of several centuries overflowed the kernel's clock, and the wait ended at once.
#[test]
fn far_timeout_does_not_end_wait() {
    let Some(mut ring) = ring() else { return };
    for timeout in [Duration::MAX, Duration::from_millis(u64::MAX), Duration::from_secs(1 << 34)] {
        let event = Arc::new(eventfd().unwrap());
        ring.wait_for_wake(&event);
        let waking = std::thread::spawn(move || (&*event).write_all(&1_u64.to_ne_bytes()));
        ring.submit_and_wait(Some(timeout)).unwrap();
        let mut completions = Vec::new();
        ring.complete(&mut completions);
        assert!(matches!(completions[..], [Completion::Woken]), "{timeout:?}: {completions:?}");
        waking.join().unwrap().unwrap();
    }
}
