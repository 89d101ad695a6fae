//! A transport that returns bytes again that have already been read from it.

use bytes::{Buf as _, BytesMut};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A transport that first returns bytes that have already been read from it.
#[derive(Debug)]
pub(crate) struct RewoundTransport<T> {
    early: BytesMut,
    io: T,
}

impl<T> RewoundTransport<T> {
    pub(crate) fn new(early: BytesMut, io: T) -> Self {
        Self { early, io }
    }

    pub(crate) fn into_parts(self) -> (BytesMut, T) {
        (self.early, self.io)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for RewoundTransport<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.early.is_empty() {
            return Pin::new(&mut self.io).poll_read(context, buffer);
        }
        copy_available(&mut self.early, usize::MAX, buffer);
        if self.early.is_empty() {
            self.early = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for RewoundTransport<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// Copies up to `max` bytes into the read buffer and returns the number copied.
pub(crate) fn copy_available(from: &mut BytesMut, max: usize, to: &mut ReadBuf<'_>) -> usize {
    let count = from.len().min(to.remaining()).min(max);
    to.put_slice(from.get(..count).unwrap_or_default());
    from.advance(count);
    count
}
