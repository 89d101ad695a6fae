//! Writes to sockets without raising SIGPIPE.
//!
//! The system raises SIGPIPE in a thread that writes to a socket whose peer has closed it, and the default action of
//! the signal ends the process. Rust's `main` ignores the signal, but hosts in C or C++ and programs that reset it do
//! not. `write_vectored` of std uses `writev`, which has no flag against the signal, so slices are sent with `sendmsg`.
//! Apple's systems have a socket option instead. std and mio set it on their own sockets, and [`disable_signal`] sets
//! it on all others.

#[cfg(target_os = "linux")]
use super::split_send::send_split;
use socket2::SockRef;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::{TcpStream, UnixStream};

#[cfg(not(target_vendor = "apple"))]
const FLAGS: i32 = libc::MSG_NOSIGNAL;
#[cfg(target_vendor = "apple")]
const FLAGS: i32 = 0;

/// Maximum number of slices per system call, which is `IOV_MAX` on Linux and Apple systems.
const SLICES_MAX: usize = 1024;

/// Calls `$send` whenever the socket is writable, until it returns a result other than `WouldBlock`.
macro_rules! poll_until_sent {
    ($socket:expr, $context:expr, $send:expr) => {
        loop {
            ready!($socket.poll_write_ready($context))?;
            match $socket.try_io(Interest::WRITABLE, $send) {
                // The next readiness check registers this task to be woken.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    };
}

/// Sends slices to a TCP socket. The head of a long message may be sent separately.
pub(crate) fn poll_send_tcp(
    socket: &TcpStream,
    context: &mut Context<'_>,
    from: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    poll_until_sent!(socket, context, || {
        #[cfg(target_os = "linux")]
        if let Some(sent) = send_split(socket.as_fd(), from) {
            return sent;
        }
        send(socket, from)
    })
}

/// Sends slices to a Unix socket, in a single vectored write.
pub(crate) fn poll_send_unix(
    socket: &UnixStream,
    context: &mut Context<'_>,
    from: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    poll_until_sent!(socket, context, || send(socket, from))
}

fn send(socket: &impl AsFd, from: &[IoSlice<'_>]) -> io::Result<usize> {
    SockRef::from(socket).send_vectored_with_flags(from.get(..SLICES_MAX).unwrap_or(from), FLAGS)
}

/// Disables SIGPIPE on a socket that other code has created, or on a listener for all sockets that it accepts.
#[cfg_attr(not(target_vendor = "apple"), allow(unused_variables))]
pub(crate) fn disable_signal(socket: &impl AsFd) {
    // Ignore the error: the call fails if the peer has already closed the socket. The first write may then raise the
    // signal.
    #[cfg(target_vendor = "apple")]
    let _ = SockRef::from(socket).set_nosigpipe(true);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::RawTransport;
    use crate::transport::Transport;
    use nix::sys::signal::{SigSet, Signal};
    use nix::sys::signalfd::{SfdFlags, SignalFd};
    use std::net::Shutdown;
    use tokio::io::{AsyncWrite, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Writes to a transport after its sending half was shut down, and asserts that the thread has no pending SIGPIPE.
    async fn expect_no_signal(mut io: impl AsyncWrite + Unpin) {
        let mut broken = SigSet::empty();
        broken.add(Signal::SIGPIPE);
        // Block the signal, because a blocked signal stays pending although tests ignore it.
        broken.thread_block().expect("thread should be able to block the signal");
        let pending =
            SignalFd::with_flags(&broken, SfdFlags::SFD_NONBLOCK).expect("signal descriptor should be created");
        let failed = [
            io.write(b"lost").await.expect_err("write to a closed socket should fail"),
            io.write_vectored(&[IoSlice::new(b"lo"), IoSlice::new(b"st")])
                .await
                .expect_err("write to a closed socket should fail"),
        ];
        assert_eq!(failed.map(|error| error.kind()), [io::ErrorKind::BrokenPipe; 2]);
        assert!(pending.read_signal().expect("pending signals should be readable").is_none());
    }

    #[tokio::test]
    async fn write_to_lost_peer_raises_no_signal() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("socket should bind to the loopback address");
        let address = listener.local_addr().expect("listener should have an address");
        let tcp = async || {
            let socket = TcpStream::connect(address).await.expect("listener should accept the connection");
            SockRef::from(&socket).shutdown(Shutdown::Write).expect("socket should shut down its sending half");
            Transport::of(socket)
        };
        let unix = || Transport::of(UnixStream::pair().expect("socket pair should be created").0);
        expect_no_signal(tcp().await).await;
        expect_no_signal(unix()).await;
        expect_no_signal(RawTransport::whole(tcp().await)).await;
        expect_no_signal(RawTransport::whole(unix())).await;
    }
}
