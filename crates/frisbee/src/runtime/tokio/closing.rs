//! The end of a connection's socket: the final flush, the shutdown, and the wait for the peer to close its half.

use super::{Driver, SocketPhase, yield_last};
use crate::Router;
use crate::clock::{NEVER, Timer, now};
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// How long a closed connection waits for the peer to close its half. If the socket were closed earlier, the connection
/// could be reset and the last bytes lost.
const LINGER: Duration = Duration::from_secs(1);

/// Like [`LINGER`], but for a client that has replied to GOING_AWAY. Such a client closes the connection once it has
/// read all output, which may take a long time. Equals the default shutdown timeout of a server.
const LINGER_FOR_PEER: Duration = Duration::from_secs(20);

/// Maximum number of reads per driver poll after the connection has closed. Their bytes, at most 4 KiB each, are
/// discarded.
const DISCARDS_PER_POLL: usize = 16;

impl<T, R, C> Driver<T, R, C>
where
    T: AsyncRead + AsyncWrite + Unpin,
    R: Router,
    C: Timer,
{
    /// Drives a connection that is closing. Completes when it is closed, or with `true` when the transport can be
    /// passed to its new owner.
    #[inline(never)]
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<bool> {
        // Check for an abort first. Otherwise, a peer that does not read the last output would delay it until the flush
        // timeout.
        if self.engine.is_aborted() {
            return Poll::Ready(false);
        }
        if self.phase == SocketPhase::HandingOver {
            return match self.poll_write(context, now()) {
                Ok(Poll::Ready(())) => Poll::Ready(true),
                Ok(Poll::Pending) => self.poll_flush_timer(context).map(|()| false),
                Err(_) => Poll::Ready(false),
            };
        }
        self.poll_closing(context).map(|()| false)
    }

    /// Completes when the final flush has exceeded its deadline, or when the peer has accepted no bytes for too long.
    fn poll_flush_timer(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let by = self.engine.core.flushed_by().unwrap_or_else(|| now() + NEVER);
        // Reset the timer only if its deadline has changed, because this takes a lock that all timers of the runtime
        // share.
        if by != self.timer.deadline() {
            self.timer.reset(by);
        }
        self.timer.poll_due(context)
    }

    fn poll_closing(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.phase == SocketPhase::Flushing {
            match self.poll_write(context, now()) {
                Ok(Poll::Ready(())) => {}
                Ok(Poll::Pending) => return self.poll_flush_timer(context),
                Err(_) => return Poll::Ready(()),
            }
            match Pin::new(&mut self.io).poll_shutdown(context) {
                Poll::Ready(Ok(())) => {}
                Poll::Pending => return self.poll_flush_timer(context),
                Poll::Ready(Err(_)) => return Poll::Ready(()),
            }
            self.phase = SocketPhase::Lingering;
            let linger = if self.engine.waits_for_peer() { LINGER_FOR_PEER } else { LINGER };
            self.timer.reset(now() + linger);
        }
        for _ in 0..DISCARDS_PER_POLL {
            match self.poll_discard(context) {
                Ok(Poll::Pending) => return self.timer.poll_due(context),
                Ok(Poll::Ready(0)) | Err(_) => return Poll::Ready(()),
                Ok(Poll::Ready(_)) => {}
            }
        }
        // Yield, because a peer that keeps sending must not delay other connections. Its deadline is the same as for a
        // silent peer.
        yield_last(context);
        self.timer.poll_due(context)
    }

    #[inline(never)] // Keeps the buffer off the caller's stack frame.
    fn poll_discard(&mut self, context: &mut Context<'_>) -> io::Result<Poll<usize>> {
        let mut discarded = [MaybeUninit::uninit(); 4096];
        let mut buffer = tokio::io::ReadBuf::uninit(&mut discarded);
        let read = Pin::new(&mut self.io).poll_read(context, &mut buffer)?;
        Ok(read.map(|()| buffer.filled().len()))
    }
}
