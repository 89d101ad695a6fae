//! A connected socket on the ring of the current worker.

use crate::worker::LocalWorker;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A TCP socket on the ring of the [`Worker`](crate::Worker) that runs the current task.
///
/// It can be dropped with operations in flight. As with ordinary sockets, a write completes when its bytes were copied
/// or sent. When the socket is dropped, bytes that were written before are sent as far as the peer accepts them
/// immediately.
pub struct Socket {
    local: Rc<LocalWorker>,
    key: usize,
}

impl Socket {
    /// Adds a TCP socket to the ring of the current worker.
    ///
    /// `gauge` is called on the worker when the memory changes that the socket uses for bytes that the peer or the task
    /// does not take. Its argument is the number of bytes. It is not called for bytes that are passed on immediately.
    ///
    /// # Errors
    /// If the current task does not run on a worker, or the socket cannot be set to blocking mode.
    pub fn new(stream: TcpStream, gauge: impl Fn(usize) + 'static) -> io::Result<Self> {
        let local = LocalWorker::current()
            .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "this thread has no ring"))?;
        stream.set_nonblocking(false)?;
        let key = local.sockets.borrow_mut().enter(stream, Rc::new(gauge));
        Ok(Self { local, key })
    }
}

impl Socket {
    /// Removes the socket from the ring and returns it with the bytes that were received and not read. No operation is
    /// in flight afterwards, so later bytes are read by the new owner.
    ///
    /// Written bytes are sent first, which has no time limit. To bound the wait, flush with a timeout before.
    ///
    /// # Errors
    /// If a write failed, or no file descriptor is available.
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
