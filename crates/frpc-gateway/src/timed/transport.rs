//! A transport whose peer has to take bytes in time.

use super::{Alarm, now};
use frisbee::Config;
use frisbee_core::WriteProgress;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A transport that fails with [`TimedOut`](io::ErrorKind::TimedOut) when its peer takes bytes too slowly, by the rule
/// for native packets: [`Config::write_timeout`]. Reading is not timed here, since only readers know the beginning and
/// the end of an input.
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
