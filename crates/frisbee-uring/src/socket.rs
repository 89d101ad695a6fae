//! A connected socket of the worker that the calling task runs on.

use crate::worker::LocalWorker;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A TCP socket on the ring of the [`Worker`](crate::Worker) whose task has made it.
///
/// It may be dropped with anything in flight. A write is ready when its bytes have been copied or sent, as with an
/// ordinary socket; bytes that had been written before the drop are sent as far as the peer accepts them at once.
pub struct Socket {
    local: Rc<LocalWorker>,
    key: usize,
}

impl Socket {
    /// Puts a socket on the ring of this thread.
    ///
    /// # Errors
    /// If this is no task of a worker, or the socket cannot be made to block.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        let local = LocalWorker::current()
            .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "this thread has no ring"))?;
        stream.set_nonblocking(false)?;
        let key = local.sockets.borrow_mut().enter(stream);
        Ok(Self { local, key })
    }
}

impl Socket {
    /// Takes the socket off the ring, with the bytes that have been received and not been read. Nothing is in flight
    /// any more then: later bytes are read by the socket's new owner.
    ///
    /// Bytes that were written are sent before, which takes as long as the peer likes. A caller that must not wait for
    /// ever flushes first, within a time of its own.
    ///
    /// # Errors
    /// If writing has failed, or there is no descriptor left for it.
    pub async fn release(self) -> io::Result<(TcpStream, Vec<u8>)> {
        poll_fn(|context| self.local.sockets.borrow_mut().poll_release(self.key, context)).await
    }
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").field("key", &self.key).finish_non_exhaustive()
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.local.sockets.borrow_mut().poll_read(self.key, context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.local.sockets.borrow_mut().poll_write(self.key, context, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.local.sockets.borrow_mut().poll_write(self.key, context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.local.sockets.borrow_mut().poll_flush(self.key, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sockets = self.local.sockets.borrow_mut();
        ready!(sockets.poll_flush(self.key, context))?;
        Poll::Ready(sockets.shutdown(self.key))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.local.sockets.borrow_mut().leave(self.key);
    }
}
