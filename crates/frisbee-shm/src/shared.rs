//! A connection through shared memory: its rings, its bells, and the socket that reports the death of the peer.
//!
//! ```text
//!           bytes, or room for them                nothing to read, or no room
//!  awake <-------------------------- looks once more ------------------------> flag set, asleep
//!    ^                                                                            |
//!    +------------------- bell, or the end of the socket -------------------------+
//! ```
//!
//! Before sleeping, an end registers its task with the bell and the socket, sets its flag, and checks once more, in
//! this order. If the task wakes for another reason and finds nothing, the flag stays set for its next sleep.

use crate::bell::Bells;
use crate::blocking::{self, BlockingStream};
use crate::exchange::{Exchange, PeerLink};
use crate::handshake::Permit;
use crate::memory::{End, Memory};
use crate::ring_socket;
use crate::wakers::{WaitEvent, Wakers};
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::task::coop;

/// Maximum number of attempts to read or write per poll after a wake-up. The task then yields to other tasks.
const LOOKS_MAX: u32 = 3;

/// Shared memory and wake-up pipes of a connection after the handshake.
#[derive(Debug)]
pub(crate) struct HandshakeResult {
    pub(crate) head: Memory,
    pub(crate) bells: Bells,
    /// Maximum ring size of both ends in bytes.
    pub(crate) ring_max: u32,
}

/// A connection through shared memory.
#[derive(Debug)]
pub(crate) struct SharedStream {
    exchange: Exchange,
    line: Line,
    waiters: Wakers,
    spin: Spin,
    /// Permit to share memory with the server, held until the connection is dropped.
    permit: Option<Permit>,
}

impl SharedStream {
    /// Deregisters the connection from its runtime and converts it to a blocking one.
    pub(crate) fn into_blocking(self) -> io::Result<BlockingStream> {
        let Self { exchange, line: Line { bells, socket }, spin, permit, .. } = self;
        let socket = socket.into_std()?;
        let (own, peer) = bells.into_pipes();
        let line = blocking::Line { own, peer, socket };
        let shared = blocking::BlockingShared { exchange, line, spin: spin.most, timeout: None, _permit: permit };
        Ok(BlockingStream::shared(shared))
    }
}

/// Socket and wake-up pipes of a connection, registered with the runtime.
#[derive(Debug)]
struct Line {
    bells: Bells,
    socket: UnixStream,
}

impl PeerLink for Line {
    fn ring_bell(&self) -> io::Result<()> {
        self.bells.ring()
    }

    fn send_ring(&self, size: u32) -> io::Result<Memory> {
        ring_socket::send_ring(self.socket.as_fd(), size)
    }

    fn receive_ring(&self, ring_max: u32) -> io::Result<Option<Memory>> {
        ring_socket::receive_ring(self.socket.as_fd(), ring_max)
    }
}

impl SharedStream {
    pub(crate) fn new(
        end: End,
        made: HandshakeResult,
        socket: UnixStream,
        spin: Duration,
        permit: Option<Permit>,
    ) -> Self {
        let HandshakeResult { head, bells, ring_max } = made;
        Self {
            exchange: Exchange::new(end, head, ring_max),
            line: Line { bells, socket },
            waiters: Wakers::default(),
            spin: Spin { most: spin, since: None },
            permit,
        }
    }

    /// Returns the socket of the connection.
    pub(crate) fn socket(&self) -> &UnixStream {
        &self.line.socket
    }

    /// Moves the connection from its previous runtime to the current one.
    pub(crate) fn move_to_current_runtime(&mut self) -> io::Result<()> {
        self.line.bells.move_to_current_runtime()?;
        crate::stream::renew(&mut self.line.socket)
    }

    /// Like [`AsyncRead::poll_read`](tokio::io::AsyncRead::poll_read).
    pub(crate) fn poll_read(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let budget = ready!(coop::poll_proceed(context));
        for _ in 0..LOOKS_MAX {
            // Check for the end first, because bytes written before the end are then visible to the following read.
            let is_over = self.exchange.is_over();
            let has_read = self.exchange.read(&self.line, into)?;
            if has_read {
                self.progressed(WaitEvent::Data);
            }
            if has_read || is_over {
                budget.made_progress();
                return Poll::Ready(Ok(()));
            }
            ready!(self.poll_wait(WaitEvent::Data, context))?;
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Like [`AsyncWrite::poll_write_vectored`](tokio::io::AsyncWrite::poll_write_vectored).
    pub(crate) fn poll_write(&mut self, context: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if from.iter().all(|slice| slice.is_empty()) {
            return Poll::Ready(Ok(0));
        }
        let budget = ready!(coop::poll_proceed(context));
        for _ in 0..LOOKS_MAX {
            if self.exchange.is_closed() {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let written = self.exchange.write(&self.line, from)?;
            if written > 0 {
                self.progressed(WaitEvent::Room);
                budget.made_progress();
                return Poll::Ready(Ok(written));
            }
            ready!(self.poll_wait(WaitEvent::Room, context))?;
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Shuts down writing.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        self.exchange.close(&self.line)
    }

    fn progressed(&mut self, wait: WaitEvent) {
        self.waiters.leave(wait);
        self.spin.since = None;
    }

    /// Completes once bytes or space may be available. Otherwise registers the task to be woken then.
    fn poll_wait(&mut self, wait: WaitEvent, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Keep a spinning task runnable instead of setting the sleep flag, so that the peer makes no system call to
        // wake it.
        if self.spin.goes_on() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.poll_announced(wait, context)?.is_ready() {
            return Poll::Ready(Ok(()));
        }
        // Set the sleep flag only after the waker is registered. `may_sleep` then checks for progress once more, so
        // that no wake-up is missed.
        if self.exchange.may_sleep(wait) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    /// Completes after a wake-up from the peer or at the end of the socket. Otherwise registers the task to be woken by
    /// either.
    fn poll_announced(&mut self, wait: WaitEvent, context: &Context<'_>) -> io::Result<Poll<()>> {
        let Self { exchange, line, .. } = self;
        let mut context = Context::from_waker(self.waiters.enter(wait, context.waker()));
        if line.bells.poll_rung(&mut context)?.is_ready() {
            exchange.handle_bell()?;
            return Ok(Poll::Ready(()));
        }
        // Do not poll a socket that has ended. It stays readable, so it would wake the task in a loop.
        if exchange.has_ended() {
            return Ok(Poll::Pending);
        }
        if line.socket.poll_read_ready(&mut context)?.is_pending() {
            return Ok(Poll::Pending);
        }
        let peeked = line.socket.try_io(Interest::READABLE, || ring_socket::peek(&line.socket));
        exchange.handle_socket(line, peeked)?;
        Ok(Poll::Ready(()))
    }
}

/// State of busy polling, which precedes sleeping.
#[derive(Debug)]
struct Spin {
    most: Duration,
    since: Option<Instant>,
}

impl Spin {
    /// Returns whether to poll the shared memory once more before sleeping.
    fn goes_on(&mut self) -> bool {
        !self.most.is_zero() && self.since.get_or_insert_with(Instant::now).elapsed() < self.most
    }
}
