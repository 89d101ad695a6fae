//! Enforces the limits of a server on the transports of adapter connections.
//!
//! A server disconnects native peers that send or read too slowly. Handlers of
//! [adapter connections](frisbee::ServerBuilder::adapter) apply the same limits to other protocols by wrapping the
//! transport in an [`AdapterDriver`]: writes fail if the client reads too slowly, and messages must arrive at the
//! [minimum rate](frisbee::Config::least_rate).
//!
//! ```
//! use frisbee::{AdapterContext, Handlers, RawTransport, Server};
//! use frpc_gateway::driver::AdapterDriver;
//! use std::future::poll_fn;
//! use std::io;
//! use std::pin::Pin;
//! use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
//!
//! /// Answers lines by lines.
//! async fn serve(transport: RawTransport, context: AdapterContext) -> io::Result<()> {
//!     let mut driver = AdapterDriver::new(transport, context.config());
//!     let mut line = Vec::new();
//!     loop {
//!         let mut buffer = [0; 256];
//!         let mut read = ReadBuf::new(&mut buffer);
//!         poll_fn(|task| {
//!             let polled = Pin::new(&mut driver).poll_read(task, &mut read);
//!             // An idle client may be silent; one that has begun a line may not.
//!             if polled.is_pending() && !line.is_empty() {
//!                 return driver.poll_too_slow(task).map(|()| Err(io::ErrorKind::TimedOut.into()));
//!             }
//!             polled
//!         })
//!         .await?;
//!         if read.filled().is_empty() || line.len() > 4096 {
//!             return driver.close().await;
//!         }
//!         line.extend_from_slice(read.filled());
//!         while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
//!             let reply: Vec<u8> = line.drain(..=end).collect();
//!             driver.write_all(&reply.to_ascii_uppercase()).await?;
//!         }
//!         if line.is_empty() {
//!             driver.message_complete();
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::builder().adapter(|beginning| beginning[0].is_ascii_alphabetic(), serve);
//! # use tokio::io::AsyncReadExt;
//! # let acceptor = server.build(Handlers::new())?;
//! # let (mut here, there) = frisbee::memory();
//! # tokio::spawn(async move { acceptor.serve_connection(there).await });
//! # here.write_all(b"hello\n").await?;
//! # let mut reply = [0; 6];
//! # here.read_exact(&mut reply).await?;
//! # assert_eq!(&reply, b"HELLO\n");
//! # Ok(())
//! # }
//! ```

use crate::clock::now;
use frisbee::Config;
use frisbee_core::{ReadProgress, WriteProgress};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Sleep, sleep_until};

/// Maximum time for which input is read and discarded before a connection is closed, as for native connections.
/// Closing with unread input would send a TCP reset, which may destroy the last reply.
pub const LINGER: Duration = Duration::from_secs(1);

/// A transport whose writes fail with [`TimedOut`](io::ErrorKind::TimedOut) if the peer reads too slowly; see
/// [`Config::write_timeout`]. It also detects [slow messages](Self::poll_too_slow) if the reader reports the end of
/// each message.
#[derive(Debug)]
pub struct AdapterDriver<T> {
    io: T,
    arrival: MessagePace,
    progress: WriteProgress,
    stalled: LazyTimer,
    made: Instant,
}

impl<T> AdapterDriver<T> {
    /// Wraps a transport with the limits in `config`.
    pub fn new(io: T, config: &Config) -> Self {
        Self {
            io,
            arrival: MessagePace::new(config),
            progress: WriteProgress::new(config.write_timeout, config.least_rate),
            stalled: LazyTimer::default(),
            made: now(),
        }
    }

    /// Returns the transport without its limits.
    pub fn into_inner(self) -> T {
        self.io
    }

    /// Records that a message was received completely, which stops the measurement of its rate.
    #[inline]
    pub fn message_complete(&mut self) {
        self.arrival.complete();
    }

    /// Completes if the current message arrives more slowly than [`Config::least_rate`]. The measurement starts with
    /// the first call after [`message_complete`](Self::message_complete).
    pub fn poll_too_slow(&mut self, task: &mut Context<'_>) -> Poll<()> {
        self.arrival.poll_too_slow(task)
    }

    /// Completes at `due`, for example at the end of an idle timeout. A task may poll several deadlines, because the
    /// single timer of the driver wakes it at the earliest of them.
    pub fn poll_deadline(&mut self, task: &mut Context<'_>, due: Instant) -> Poll<()> {
        self.arrival.alarm.poll(task, due)
    }

    /// Returns the result of a write of `offered` bytes, or `TimedOut` if the client reads too slowly.
    fn judge(
        &mut self,
        task: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
        offered: usize,
    ) -> Poll<io::Result<usize>> {
        let received = self.arrival.received;
        match written {
            Poll::Ready(Ok(count)) => {
                let is_timed = self.progress.is_stalled() || count < offered;
                // Do not read the clock unless output is or was pending, because the time is not used otherwise.
                let now = if is_timed { now() } else { self.made };
                self.progress.handle_written(count, count < offered, received, now);
                Poll::Ready(Ok(count))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.progress.handle_written(0, true, received, now());
                loop {
                    let Some(due) = self.progress.deadline() else { return Poll::Pending };
                    ready!(self.stalled.poll(task, due));
                    if self.progress.is_too_slow(offered, received, now()) {
                        let error = io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly");
                        return Poll::Ready(Err(error));
                    }
                }
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AdapterDriver<T> {
    /// Shuts down writing, then discards further input from the client for up to one second.
    ///
    /// # Errors
    /// If the transport fails or does not shut down within a second.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the transport open. Its write half may already be shut down, and input may have
    /// been discarded.
    pub async fn close(&mut self) -> io::Result<()> {
        tokio::time::timeout(LINGER, self.shutdown()).await??;
        drain(&mut self.io).await;
        Ok(())
    }
}

/// Discards further bytes from a client, such as the body of a rejected request, until it closes the connection or
/// [a second](LINGER) has passed. Closing a socket with unread bytes would reset it and destroy replies that the client
/// has not received.
///
/// # Cancel safety
/// Dropping the future only stops discarding.
pub async fn drain(io: &mut (impl AsyncRead + Unpin)) {
    let mut discarded = [0; 1024];
    let reading = async {
        while let Ok(1..) = io.read(&mut discarded).await {
            tokio::task::yield_now().await;
        }
    };
    // Ignore the result, because the connection is closed in either case.
    let _ = tokio::time::timeout(LINGER, reading).await;
}

impl<T: AsyncRead + Unpin> AsyncRead for AdapterDriver<T> {
    fn poll_read(mut self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(task, buffer);
        self.arrival.handle_read(buffer.filled().len() - before);
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for AdapterDriver<T> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(task, bytes);
        self.judge(task, written, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(task, slices);
        let offered = slices.iter().map(|slice| slice.len()).sum();
        self.judge(task, written, offered)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(task).map_ok(|()| 1);
        self.judge(task, flushed, 1).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(task).map_ok(|()| 1);
        self.judge(task, shut, 1).map_ok(|_| ())
    }
}

/// Measures how fast a message arrives, for readers that do not own the transport. An [`AdapterDriver`] contains one.
///
/// ```
/// use frisbee::Config;
/// use frpc_gateway::driver::MessagePace;
/// use std::future::poll_fn;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let window = Duration::from_millis(10);
/// let mut pace = MessagePace::new(&Config::default().least_rate_window(window).least_rate(100_000));
/// pace.handle_read(10);
/// // No further part arrives.
/// poll_fn(|task| pace.poll_too_slow(task)).await;
/// # }
/// ```
#[derive(Debug)]
pub struct MessagePace {
    pace: ReadProgress,
    /// Total number of bytes received, including earlier messages.
    received: u64,
    alarm: LazyTimer,
}

impl MessagePace {
    /// Creates a meter that enforces [`Config::least_rate`] over [`Config::least_rate_window`].
    pub fn new(config: &Config) -> Self {
        Self {
            pace: ReadProgress::new(config.least_rate_window, config.least_rate),
            received: 0,
            alarm: LazyTimer::default(),
        }
    }

    /// Records that `count` bytes of the current message were received.
    #[inline]
    pub fn handle_read(&mut self, count: usize) {
        self.received = self.received.saturating_add(count as u64);
    }

    /// Records that a message was received completely, which stops the measurement of its rate.
    #[inline]
    pub fn complete(&mut self) {
        self.pace.complete();
    }

    /// Completes if the current message arrives too slowly. The measurement starts with the first call after
    /// [`complete`](Self::complete).
    pub fn poll_too_slow(&mut self, task: &mut Context<'_>) -> Poll<()> {
        loop {
            self.pace.waiting(self.received, now());
            let Some(due) = self.pace.deadline() else { return Poll::Pending };
            ready!(self.alarm.poll(task, due));
            if self.pace.is_too_slow(self.received, now()) {
                return Poll::Ready(());
            }
        }
    }
}

/// A timer for deadlines that change far more often than they expire. A later deadline does not reschedule the timer.
/// Instead, the timer checks the deadline when it fires.
///
/// ```
/// use frpc_gateway::driver::LazyTimer;
/// use std::future::poll_fn;
/// use std::time::Duration;
/// use tokio::time::Instant;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut alarm = LazyTimer::default();
/// let due = Instant::now() + Duration::from_millis(1);
/// poll_fn(|task| alarm.poll(task, due.into_std())).await;
/// assert!(Instant::now() >= due);
/// # }
/// ```
#[derive(Debug, Default)]
pub struct LazyTimer {
    sleep: Option<Pin<Box<Sleep>>>,
    /// Waker of the task that waits for the timer.
    waker: Option<Waker>,
}

impl LazyTimer {
    /// Completes at `due`.
    ///
    /// # Panics
    /// If called outside of a tokio runtime with timers.
    pub fn poll(&mut self, task: &mut Context<'_>, due: Instant) -> Poll<()> {
        let Self { sleep, waker } = self;
        let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        if sleep.deadline().into_std() > due {
            sleep.as_mut().reset(due.into());
            *waker = None;
        }
        if waker.as_ref().is_some_and(|waker| waker.will_wake(task.waker())) && !sleep.is_elapsed() {
            return Poll::Pending;
        }
        loop {
            if sleep.as_mut().poll(task).is_pending() {
                *waker = Some(task.waker().clone());
                return Poll::Pending;
            }
            *waker = None;
            if now() >= due {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(due.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    const SECOND: Duration = Duration::from_secs(1);

    fn config() -> Config {
        Config::default().least_rate_window(5 * SECOND).least_rate(1000).write_timeout(10 * SECOND)
    }

    #[tokio::test(start_paused = true)]
    async fn write_fails_when_client_reads_nothing() {
        let (here, _there) = tokio::io::duplex(64);
        let mut driver = AdapterDriver::new(here, &config());
        let began = now();
        let error = driver.write_all(&[0; 65]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(now() - began >= 10 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn only_trickling_message_is_too_slow() {
        let (here, mut there) = tokio::io::duplex(16 * 1024);
        let mut driver = AdapterDriver::new(here, &config());
        let mut late = async |part: usize| {
            there.write_all(&vec![0; part]).await.unwrap();
            let mut buffer = vec![0; part];
            driver.read_exact(&mut buffer).await.unwrap();
            tokio::time::timeout(4 * SECOND, poll_fn(|task| driver.poll_too_slow(task))).await.is_ok()
        };
        assert!(!late(10).await, "progress window should last 5 s");
        assert!(!late(6000).await, "progress should be enough for the interval");
        assert!(late(10).await);
    }

    #[tokio::test(start_paused = true)]
    async fn complete_message_stops_clock() {
        let mut pace = MessagePace::new(&config());
        for _ in 0..3 {
            pace.handle_read(1);
            let waited = tokio::time::timeout(4 * SECOND, poll_fn(|task| pace.poll_too_slow(task))).await;
            waited.expect_err("message should have 5 s to arrive");
            pace.complete();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn deadlines_of_one_driver_are_each_met() {
        let (here, _there) = tokio::io::duplex(64);
        let mut driver = AdapterDriver::new(here, &config());
        let began = now();
        for [first, second] in [[7, 1], [1, 7]] {
            let due = [first, second].map(|seconds| now() + seconds * SECOND);
            let ready = poll_fn(|task| {
                let ready = due.map(|due| driver.poll_deadline(task, due).is_ready());
                if ready == [false; 2] { Poll::Pending } else { Poll::Ready(ready) }
            });
            assert_eq!(ready.await, [first, second].map(|seconds| seconds == 1));
        }
        assert_eq!(now() - began, 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn close_waits_one_second_for_client() {
        let (here, mut there) = tokio::io::duplex(64);
        let mut driver = AdapterDriver::new(here, &config());
        let began = now();
        driver.close().await.unwrap();
        assert_eq!(now() - began, SECOND);
        assert_eq!(there.read(&mut [0]).await.unwrap(), 0);
    }
}
