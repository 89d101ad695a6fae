//! Sends the heads of long messages from separate pages.
//!
//! The kernel copies sent bytes to pages, and starts a new page if all earlier bytes have been received. A copy takes
//! four times as long if its destination is a few bytes above its source, modulo the page size, because the processor
//! assumes that each read depends on a preceding write. This is common for long bodies: large allocations start 16
//! bytes after the start of a page, and the head before them is slightly longer. A head that is sent through a pipe has
//! its own page, so the copy of the body starts at the beginning of a page.

use nix::errno::Errno;
use nix::fcntl::{SpliceFFlags, splice};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::cell::Cell;
use std::io::{self, IoSlice, PipeReader, PipeWriter, Write as _};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::process;

/// Minimum body length in bytes for sending the head separately. Slightly less than a fragment.
const LONG: usize = 60 * 1024;

/// Minimum page size in bytes. The page sizes of all processors are multiples of this.
const PAGE: usize = 4096;

/// Distances from the source of a copy to its destination, modulo the page size, at which copying is slow.
const NEAR: Range<usize> = 0..16;

/// A pipe through which the heads of messages are sent by `splice`. It is empty between uses.
struct Pipe {
    read: PipeReader,
    write: PipeWriter,
    /// Id of the process that created the pipe. After a fork, the child creates its own pipe, because its data must not
    /// mix with its parent's.
    process: u32,
}

thread_local! {
    static PIPE: Cell<Option<Pipe>> = const { Cell::new(None) };
}

/// Returns the slices that precede a long slice, and their total length, if sending them separately makes copying the
/// long slice faster. One slice precedes it, or two if a fragment starts with the head of its message.
#[inline]
fn head<'a, 'b>(from: &'a [IoSlice<'b>]) -> Option<(&'a [IoSlice<'b>], usize)> {
    let count = from.iter().take(3).position(|slice| slice.len() >= LONG)?;
    let (head, rest) = from.split_at_checked(count)?;
    let length = head.iter().map(|slice| slice.len()).sum::<usize>();
    let distance = length.wrapping_sub(rest.first()?.as_ptr().addr()) % PAGE;
    ((1..=PAGE).contains(&length) && NEAR.contains(&distance)).then_some((head, length))
}

/// Sends the head of a long message to a non-blocking TCP socket on its own if this makes the copy of the long slice
/// after it faster. Returns the number of bytes sent, or `None` if all slices should be sent together. For custom
/// transports.
pub fn send_split(socket: BorrowedFd<'_>, from: &[IoSlice<'_>]) -> Option<io::Result<usize>> {
    let (head, length) = head(from)?;
    let here = process::id();
    let mut pipe = PIPE.take().filter(|pipe| pipe.process == here).or_else(|| open(here))?;
    // Send the message as a whole if this fails, for example because memory is exhausted. A persistent error is
    // reported then.
    if !pipe.write.write_vectored(head).is_ok_and(|written| written == length) {
        return None;
    }
    // MORE prevents a segment with only the head, because the body follows immediately.
    let flags = SpliceFFlags::SPLICE_F_MORE | SpliceFFlags::SPLICE_F_NONBLOCK;
    match without_signal(|| splice(&pipe.read, None, socket, None, length, flags)) {
        Ok(sent) => {
            if sent == length {
                PIPE.set(Some(pipe));
            }
            Some(Ok(sent))
        }
        Err(Errno::EAGAIN) => Some(Err(io::ErrorKind::WouldBlock.into())),
        Err(_) => None,
    }
}

#[cold]
fn open(process: u32) -> Option<Pipe> {
    let (read, write) = io::pipe().ok()?;
    Some(Pipe { read, write, process })
}

/// Calls `send` with SIGPIPE blocked, because the signal kills programs that do not ignore it, and `splice` has no flag
/// to suppress it.
fn without_signal(send: impl FnOnce() -> nix::Result<usize>) -> nix::Result<usize> {
    let mut broken = SigSet::empty();
    broken.add(Signal::SIGPIPE);
    let before = broken.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let sent = send();
    if before.contains(Signal::SIGPIPE) {
        return sent;
    }
    if sent == Err(Errno::EPIPE) {
        // Consume the signal, which is pending for this thread. Without a free descriptor, the signal stays blocked.
        SignalFd::with_flags(&broken, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?.read_signal()?;
    }
    before.thread_set_mask()?;
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Handlers, Operation, Packet, PacketId, Server};
    use bytes::Bytes;
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd as _;
    use tokio::sync::mpsc;

    /// Returns the head and the body of a long message, and the number of body bytes to skip. The rest of the body
    /// starts `distance` bytes below the end of the head, modulo the page size.
    fn message(distance: usize) -> (Vec<u8>, Vec<u8>, usize) {
        let (head, body) = (vec![7; 40], (0_u8..=250).cycle().take(LONG + PAGE).collect::<Vec<_>>());
        let skipped = head.len().wrapping_sub(distance).wrapping_sub(body.as_ptr().addr()) % PAGE;
        (head, body, skipped)
    }

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let here = TcpStream::connect(listener.local_addr().expect("socket should have a local address"))
            .expect("server should accept the connection");
        here.set_nonblocking(true).expect("socket should switch to nonblocking mode");
        (here, listener.accept().expect("client should connect").0)
    }

    #[test]
    fn head_is_split_from_nearly_aligned_body() {
        let (here, mut there) = connected();
        for distance in [0, 1, 15] {
            let (head, body, skipped) = message(distance);
            let slices = [IoSlice::new(&head), IoSlice::new(&body[skipped..][..LONG])];
            let sent = send_split(here.as_fd(), &slices)
                .expect("head of the message should be sent separately")
                .expect("socket buffer should have space for the message");
            assert_eq!(sent, head.len());
            (&here).write_all(b"!").expect("socket should accept the byte");
            let mut received = vec![0; sent + 1];
            there.read_exact(&mut received).expect("peer should receive the message");
            assert_eq!((&received[..sent], received[sent]), (&head[..], b'!'));
        }
    }

    #[test]
    fn head_of_two_slices_is_split() {
        let (here, mut there) = connected();
        let (head, body, skipped) = message(4);
        let slices = [&head[..20], &head[20..], &body[skipped..][..LONG]].map(IoSlice::new);
        assert_eq!(send_split(here.as_fd(), &slices).and_then(Result::ok), Some(head.len()));
        let mut received = vec![0; head.len()];
        there.read_exact(&mut received).expect("peer should receive the head");
        assert_eq!(received, head);
    }

    #[tokio::test]
    async fn tcp_connection_sends_long_packet_head_separately() {
        const ECHO: Operation = Operation::FIRST_USER;
        let echoes = Handlers::new().on(ECHO, |_, packet| async { Some(packet) });
        let server = Server::builder().bind("127.0.0.1:0", echoes).await.expect("server should bind to a free address");
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let (packets, mut received) = mpsc::unbounded_channel();
        let handlers = Handlers::new().on(ECHO, move |_, packet| {
            let _ = packets.send(packet);
            async { None }
        });
        let client = Client::builder().connect(address, handlers).await.expect("server should accept the connection");
        let mut echo = async |body: Bytes| {
            client.send(&Packet::new(PacketId(1), ECHO, body)).await.expect("open connection should send the packet");
            received.recv().await.expect("server should reply with an echo of the packet").body
        };
        // Wait for a reply first, so that no bytes precede the head of the next packet.
        assert_eq!(echo(Bytes::from_static(b"short")).await, "short");
        assert!(PIPE.take().is_none(), "short message should be written without a pipe");
        let (_, body, _) = message(0);
        // Skip bytes of the body so that the copy is slow. The head has 10 bytes.
        let skipped = 6_usize.wrapping_sub(body.as_ptr().addr()) % PAGE;
        let long = Bytes::from(body).slice(skipped..).slice(..LONG);
        assert!(echo(long.clone()).await == long);
        assert!(PIPE.take().is_some(), "thread should have created a pipe for the head");
    }

    #[test]
    fn short_or_unaligned_messages_are_not_split() {
        let (here, _there) = connected();
        for distance in [16, 100, PAGE - 1] {
            let (head, body, skipped) = message(distance);
            let slices = [IoSlice::new(&head), IoSlice::new(&body[skipped..][..LONG])];
            assert!(send_split(here.as_fd(), &slices).is_none(), "{distance}");
        }
        let (head, body, skipped) = message(4);
        let slices = [IoSlice::new(&head), IoSlice::new(&body[skipped..][..LONG - 1])];
        assert!(send_split(here.as_fd(), &slices).is_none());
        assert!(send_split(here.as_fd(), &slices[..1]).is_none());
    }

    #[test]
    fn lost_connection_leaves_no_signal_or_bytes() {
        let (here, _there) = connected();
        let (head, body, skipped) = message(4);
        let slices = [IoSlice::new(&head), IoSlice::new(&body[skipped..][..LONG])];
        here.shutdown(std::net::Shutdown::Write).expect("socket should shut down its sending half");
        assert!(
            send_split(here.as_fd(), &slices).is_none(),
            "split write should leave the error to the write of the whole message"
        );
        let mut broken = SigSet::empty();
        broken.add(Signal::SIGPIPE);
        assert!(!SigSet::thread_get_mask().expect("signal mask should be readable").contains(Signal::SIGPIPE));
        broken.thread_block().expect("thread should be able to block the signal");
        let pending =
            SignalFd::with_flags(&broken, SfdFlags::SFD_NONBLOCK).expect("signal descriptor should be created");
        assert!(pending.read_signal().expect("pending signals should be readable").is_none());

        let (here, mut there) = connected();
        send_split(here.as_fd(), &slices)
            .expect("head of the message should be sent separately")
            .expect("socket buffer should have space for the message");
        drop(here);
        let mut received = Vec::new();
        there.read_to_end(&mut received).expect("peer should receive all bytes up to the end");
        assert_eq!(received, head);
    }
}
