//! Connections for blocking threads, which read and write without a runtime.

use crate::exchange::{Exchange, PeerLink};
use crate::handshake::Permit;
use crate::memory::Memory;
use crate::offer;
use crate::ring_socket;
use crate::wakers::WaitEvent;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use tokio::io::ReadBuf;

/// Number of polls of the shared memory between two reads of the clock, because reading the clock costs as much as
/// several polls.
const LOOKS: u32 = 64;

/// Interval at which a spinning thread checks whether the peer has closed the socket.
const SOCKET_EVERY: Duration = Duration::from_millis(1);

/// A blocking connection between two processes of one host, created by
/// [`Stream::into_blocking`](crate::Stream::into_blocking).
///
/// For threads that only send messages and wait for replies, because no task has to be woken and polled in between. If
/// both ends [spin](crate::Connector::spin), the round trip of a short message takes less than a microsecond. End of
/// input, errors and unread bytes behave as for a [`Stream`](crate::Stream).
///
/// ```
/// use std::io::{Read, Write};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("echo.sock");
/// let listener = frisbee_shm::Listener::builder().spin(Duration::from_micros(50)).bind(&path)?;
/// let connector = frisbee_shm::Connector::new().spin(Duration::from_micros(50));
/// let accepting = async { listener.accept().await?.into_blocking().await };
/// let connecting = async { connector.connect(&path).await?.into_blocking().await };
/// let (mut server, mut client) = tokio::try_join!(accepting, connecting)?;
///
/// let echoing = std::thread::spawn(move || -> std::io::Result<()> {
///     let mut frame = [0; 4];
///     server.read_exact(&mut frame)?;
///     server.write_all(&frame)
/// });
///
/// client.write_all(b"ping")?;
/// let mut frame = [0; 4];
/// client.read_exact(&mut frame)?;
/// assert_eq!(&frame, b"ping");
/// # echoing.join().expect("thread should not panic")?;
/// # Ok(())
/// # }
/// ```
pub struct BlockingStream {
    state: State,
}

enum State {
    Plain(UnixStream),
    Shared(Box<BlockingShared>),
}

/// A connection through shared memory with reads and writes that block the calling thread.
pub(crate) struct BlockingShared {
    pub(crate) exchange: Exchange,
    pub(crate) line: Line,
    pub(crate) spin: Duration,
    /// Maximum time that a read or write blocks.
    pub(crate) timeout: Option<Duration>,
    pub(crate) _permit: Option<Permit>,
}

/// Socket and wake-up pipes of a connection that is not registered with a runtime.
pub(crate) struct Line {
    pub(crate) own: OwnedFd,
    pub(crate) peer: OwnedFd,
    pub(crate) socket: UnixStream,
}

impl PeerLink for Line {
    fn ring_bell(&self) -> io::Result<()> {
        crate::bell::ring(&self.peer)
    }

    fn send_ring(&self, size: u32) -> io::Result<Memory> {
        ring_socket::send_ring(self.socket.as_fd(), size)
    }

    fn receive_ring(&self, ring_max: u32) -> io::Result<Option<Memory>> {
        ring_socket::receive_ring(self.socket.as_fd(), ring_max)
    }
}

impl BlockingStream {
    pub(crate) fn plain(socket: UnixStream) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        Ok(Self { state: State::Plain(socket) })
    }

    pub(crate) fn shared(shared: BlockingShared) -> Self {
        Self { state: State::Shared(Box::new(shared)) }
    }

    /// Returns whether the stream transfers bytes through shared memory.
    pub fn is_shared(&self) -> bool {
        matches!(self.state, State::Shared(_))
    }

    /// Sets the maximum time that a read or write blocks. When it expires, shared memory returns
    /// [`TimedOut`](io::ErrorKind::TimedOut), and a socket returns [`WouldBlock`](io::ErrorKind::WouldBlock) like
    /// std's. Unlimited by default.
    ///
    /// # Errors
    /// If the timeout is zero.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the timeout must be greater than zero"));
        }
        match &mut self.state {
            State::Plain(socket) => socket.set_read_timeout(timeout).and_then(|()| socket.set_write_timeout(timeout)),
            State::Shared(shared) => {
                shared.timeout = timeout;
                Ok(())
            }
        }
    }

    /// Shuts down writing. Bytes from the peer can still be read.
    ///
    /// # Errors
    /// If the operating system fails to shut down the socket.
    pub fn shutdown(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Plain(socket) => socket.shutdown(std::net::Shutdown::Write),
            State::Shared(shared) => shared.exchange.close(&shared.line),
        }
    }
}

impl Read for BlockingStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Plain(socket) => socket.read(into),
            State::Shared(shared) => shared.read(into),
        }
    }
}

impl Write for BlockingStream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(from)])
    }

    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.state {
            State::Plain(socket) => offer::send_bytes(socket, from),
            State::Shared(shared) => shared.write(from),
        }
    }

    /// Does nothing, because written bytes are already in the shared memory that the peer reads.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for BlockingStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let carrier = if self.is_shared() { "shared memory" } else { "socket" };
        f.debug_struct("BlockingStream").field("carrier", &carrier).finish()
    }
}

impl BlockingShared {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        let (mut into, mut started) = (ReadBuf::new(into), None);
        loop {
            // Check for the end first, because bytes written before the end are then visible to the following read.
            let is_over = self.exchange.is_over();
            if self.exchange.read(&self.line, &mut into)? || is_over {
                return Ok(into.filled().len());
            }
            self.wait(WaitEvent::Data, &mut started)?;
        }
    }

    fn write(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        if from.iter().all(|slice| slice.is_empty()) {
            return Ok(0);
        }
        let mut started = None;
        loop {
            if self.exchange.is_closed() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let written = self.exchange.write(&self.line, from)?;
            if written > 0 {
                return Ok(written);
            }
            self.wait(WaitEvent::Room, &mut started)?;
        }
    }

    /// Blocks until bytes or space may be available. `started` caches the time of the first wait.
    fn wait(&mut self, wait: WaitEvent, started: &mut Option<Instant>) -> io::Result<()> {
        let started = *started.get_or_insert_with(Instant::now);
        if !self.spin.is_zero() && self.spin(wait, started)? {
            return Ok(());
        }
        // `may_sleep` sets the sleep flag and then checks for progress once more, so that no wake-up is missed.
        if !self.exchange.may_sleep(wait) {
            return Ok(());
        }
        let left = self.timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.sleep(left)
    }

    /// Polls the shared memory until the spin time is over. Returns whether the awaited event has occurred.
    fn spin(&mut self, wait: WaitEvent, started: Instant) -> io::Result<bool> {
        let most = self.timeout.map_or(self.spin, |timeout| timeout.min(self.spin));
        let mut looked = started;
        loop {
            for _ in 0..LOOKS {
                if self.exchange.is_ready(wait) {
                    return Ok(true);
                }
                std::hint::spin_loop();
            }
            let now = Instant::now();
            // Check only occasionally whether the peer has closed the socket, because the check is a system call.
            if now.saturating_duration_since(looked) >= SOCKET_EVERY {
                looked = now;
                self.check_socket()?;
                if self.exchange.has_ended() {
                    return Ok(true);
                }
            }
            if now.saturating_duration_since(started) >= most {
                return Ok(false);
            }
        }
    }

    /// Sleeps until the peer sends a wake-up, the socket becomes readable, or the timeout expires.
    fn sleep(&mut self, most: Option<Duration>) -> io::Result<()> {
        // Wait without a timeout if the system's type cannot represent it.
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        let Line { own, socket, .. } = &self.line;
        let mut watched = [PollFd::new(own, PollFlags::IN), PollFd::new(socket, PollFlags::IN)];
        match rustix::event::poll(&mut watched, most.as_ref()) {
            // The reason of the return does not matter, because the caller checks the shared memory again.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [has_rung, has_come] = watched.map(|watched| !watched.revents().is_empty());
        if has_rung {
            // Drain the wake-ups before reading the shared state. A wake-up that is sent afterwards then ends the next
            // `poll`.
            crate::bell::drain(own);
            self.exchange.handle_bell()?;
        }
        if has_come { self.check_socket() } else { Ok(()) }
    }

    fn check_socket(&mut self) -> io::Result<()> {
        let peeked = ring_socket::peek(&self.line.socket);
        self.exchange.handle_socket(&self.line, peeked)
    }
}
