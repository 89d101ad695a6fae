//! A transport that prints the frames passing through it.

use crate::decode::frames::WatchedConnection;
use crate::schema::Schema;
use crate::show::Screen;
use frisbee_core::Role;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Prints the frames of a connection to standard error.
#[derive(Clone)]
pub(crate) struct FramePrinter {
    conversation: Arc<Mutex<WatchedConnection>>,
    screen: Screen,
}

impl FramePrinter {
    pub(crate) fn new(schema: Arc<Schema>, screen: Screen) -> Self {
        Self { conversation: Arc::new(Mutex::new(WatchedConnection::new(Some(schema), None))), screen }
    }

    fn see(&self, side: Role, bytes: &[u8]) {
        let mut conversation = self.conversation.lock().unwrap_or_else(PoisonError::into_inner);
        conversation.feed(side, bytes, &mut |frame| self.screen.remark(3, || frame.text()));
    }
}

/// A client's transport that prints all frames passing through it.
pub(crate) struct TappedTransport<T> {
    io: T,
    watcher: FramePrinter,
}

impl<T> TappedTransport<T> {
    pub(crate) fn new(io: T, watcher: FramePrinter) -> Self {
        Self { io, watcher }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for TappedTransport<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        self.watcher.see(Role::Server, buffer.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for TappedTransport<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write(context, bytes))?;
        self.watcher.see(Role::Client, bytes.get(..written).unwrap_or_default());
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
