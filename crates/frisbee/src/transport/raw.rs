//! The transport of a connection that was handed off, and the bytes that had been read of it.

use super::read_pauses::ReadPauses;
use crate::budget::{Account, Traffic, TrafficCounts};
use crate::debug::opaque_debug;
#[cfg(unix)]
use crate::transport::send::{poll_send, poll_write_unix};
use crate::transport::{Io, Transport, fill, move_to_current_runtime};
use bytes::Bytes;
use std::any::Any;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// The transport of a connection that was handed off, for any other protocol.
///
/// Reading returns the bytes received before the transport changed hands, and then those of the transport. It belongs
/// to the tokio runtime of the server's start or the client's connection, which has to run for as long as it is used.
///
/// Dropping it closes the transport.
pub struct RawTransport {
    early: Bytes,
    io: Box<dyn Io>,
    /// Where its bytes are counted, if they are.
    traffic: Option<Arc<TrafficCounts>>,
    /// When reading has to pause, at an adapter connection.
    pauses: Option<Box<ReadPauses>>,
}

impl RawTransport {
    /// The transport and the bytes that were read of it, in a runtime. In the current one the transport stays as it is: a
    /// socket that is registered again is not known to be writable, and TLS would keep the first bytes until it is flushed.
    pub(crate) async fn new_in(io: Transport, early: Bytes, runtime: Handle) -> io::Result<Self> {
        if Handle::current().id() == runtime.id() {
            return Ok(Self::with_early(io, early));
        }
        let _entered = runtime.enter();
        Ok(Self::with_early(io.moved()?, early))
    }

    pub(crate) fn with_early(io: Transport, early: Bytes) -> Self {
        let Self { early: rest, io, traffic, pauses } = Self::whole(io);
        let early = if rest.is_empty() { early } else { [early, rest].concat().into() };
        Self { early, io, traffic, pauses }
    }

    /// Counts its bytes as those of a connection.
    pub(crate) fn charged_to(mut self, account: &Account) -> Self {
        self.traffic = account.traffic();
        self
    }

    /// Pauses its reading where its peer sends too many useless requests.
    pub(crate) fn paused(mut self, pauses: ReadPauses) -> Self {
        self.pauses = Some(Box::new(pauses));
        self
    }

    #[inline]
    fn count(&self, what: Traffic, count: usize) {
        if let Some(traffic) = &self.traffic {
            traffic.add(what, count as u64);
        }
    }

    /// A transport without read bytes. One that is wrapped already is not wrapped again.
    pub(crate) fn whole(io: Transport) -> Self {
        let whole = Self { early: Bytes::new(), io: io.into_io(), traffic: None, pauses: None };
        whole.downcast().map_or_else(|whole| whole, |(wrapped, _)| wrapped)
    }

    /// Leaves the reactor of the transport for that of the current runtime.
    pub(crate) fn move_to_current_runtime(&mut self) -> io::Result<()> {
        move_to_current_runtime(&mut *self.io)
    }

    /// The bytes that have come and not been read, as far as they are known here.
    pub fn early(&self) -> &[u8] {
        &self.early
    }

    /// Whether the transport is a `T`: [`TcpStream`](tokio::net::TcpStream), [`UnixStream`](tokio::net::UnixStream),
    /// `TlsStream<RawTransport>`, or a user's type.
    pub fn is<T: 'static>(&self) -> bool {
        let io: &dyn Any = &*self.io;
        io.is::<T>()
    }

    /// The transport as its own type, and the bytes that have been read of it already, which come first.
    ///
    /// Vectored writes of a socket by itself raise SIGPIPE if the peer is gone, which ends a process that does not ignore
    /// it. Those of a `RawTransport` raise none.
    ///
    /// # Errors
    /// If it is something else; nothing has changed then.
    pub fn downcast<T: 'static>(self) -> Result<(T, Bytes), Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        let Self { early, io, .. } = self;
        let io: Box<dyn Any> = io;
        Ok((*io.downcast::<T>().expect("the type has just been checked"), early))
    }
}

impl From<TcpStream> for RawTransport {
    /// Wraps a socket whose writes should raise no SIGPIPE.
    fn from(socket: TcpStream) -> Self {
        Self::whole(Transport::of(socket))
    }
}

impl AsyncRead for RawTransport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.early.is_empty() {
            // Counted when they came.
            fill(buffer, &mut self.early);
            return Poll::Ready(Ok(()));
        }
        if let Some(pauses) = &mut self.pauses {
            ready!(pauses.poll(context));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut *self.io).poll_read(context, buffer))?;
        self.count(Traffic::Read, buffer.filled().len().saturating_sub(before));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for RawTransport {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        #[cfg(unix)]
        let sent = poll_write_unix(&*self.io, context, bytes);
        #[cfg(not(unix))]
        let sent = None;
        let sent = sent.unwrap_or_else(|| Pin::new(&mut *self.io).poll_write(context, bytes));
        let written = ready!(sent)?;
        self.count(Traffic::Written, written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        #[cfg(unix)]
        let sent = poll_send(&*self.io, context, slices);
        #[cfg(not(unix))]
        let sent = None;
        let sent = sent.unwrap_or_else(|| Pin::new(&mut *self.io).poll_write_vectored(context, slices));
        let written = ready!(sent)?;
        self.count(Traffic::Written, written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.io).poll_shutdown(context)
    }
}

opaque_debug!([] RawTransport, "RawTransport", |this| early = this.early.len());
