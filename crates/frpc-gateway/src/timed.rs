//! Transports whose peers have to take bytes in time, and the timers of connections that are mostly in time.

use frisbee::Config;
use frisbee_core::WriteProgress;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep_until};

/// The runtime's clock, which tests may stop.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// For how long a client may still send bytes that are discarded, so that the system does not take back the last
/// response. A connection of native clients has as long to close.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Discards what a client still sends, such as the body of a request that was refused by its head, for some time.
pub(crate) async fn linger(io: &mut (impl AsyncRead + Unpin), time: Duration) {
    let mut discarded = [0; 1024];
    let reading = async {
        while let Ok(1..) = io.read(&mut discarded).await {
            tokio::task::yield_now().await;
        }
    };
    // It has ended either way.
    let _ = tokio::time::timeout(time, reading).await;
}

/// A timer whose time is moved far more often than it is reached: it sleeps on, and looks again when it wakes.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleep: Option<Pin<Box<Sleep>>>,
    /// Who is woken by it.
    waker: Option<Waker>,
}

impl Alarm {
    /// Ready at `due`.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>, due: Instant) -> Poll<()> {
        let Self { sleep, waker } = self;
        let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        if sleep.deadline().into_std() > due {
            sleep.as_mut().reset(due.into());
            *waker = None;
        }
        if waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) && !sleep.is_elapsed() {
            return Poll::Pending;
        }
        loop {
            if sleep.as_mut().poll(context).is_pending() {
                *waker = Some(context.waker().clone());
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

/// A transport that fails with [`TimedOut`](io::ErrorKind::TimedOut) when its peer takes bytes too slowly, by the rule
/// for native packets: [`Config::write_timeout`]. Reading is not timed here, since only readers know the beginning and
/// the end of what they read.
#[derive(Debug)]
pub(crate) struct Timed<T> {
    io: T,
    uptake: WriteProgress,
    alarm: Alarm,
    made: Instant,
}

impl<T> Timed<T> {
    pub(crate) fn new(io: T, config: &Config) -> Self {
        Self {
            io,
            uptake: WriteProgress::new(config.write_timeout, config.least_rate),
            alarm: Alarm::default(),
            made: now(),
        }
    }

    pub(crate) fn into_inner(self) -> T {
        self.io
    }

    /// Judges an attempt to write `waiting` bytes.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
        waiting: usize,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(count)) => {
                if self.uptake.is_stalled() || count < waiting {
                    self.uptake.handle_written(count, count < waiting, 0, now());
                } else {
                    // Nothing waits or did, so that the time is of no importance.
                    self.uptake.handle_written(count, false, 0, self.made);
                }
                Poll::Ready(Ok(count))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.uptake.handle_written(0, true, 0, now());
                loop {
                    let Some(due) = self.uptake.deadline() else { return Poll::Pending };
                    ready!(self.alarm.poll(context, due));
                    if self.uptake.is_too_slow(waiting, 0, now()) {
                        return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                    }
                }
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Timed<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Timed<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.judge(context, written, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        let waiting = slices.iter().map(|slice| slice.len()).sum();
        self.judge(context, written, waiting)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(context).map_ok(|()| 1);
        self.judge(context, flushed, 1).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(context).map_ok(|()| 1);
        self.judge(context, shut, 1).map_ok(|_| ())
    }
}
