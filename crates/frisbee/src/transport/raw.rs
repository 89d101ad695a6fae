//! Transport of a connection that was handed off, with the bytes already read from it.

use super::read_pauses::ReadPauses;
use crate::account::{Account, Traffic, TrafficCounts};
use crate::debug::opaque_debug;
use crate::transport::{Transport, fill};
use bytes::Bytes;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// Transport of a connection that was handed off, for use with any other protocol.
///
/// Reading first returns the bytes that were received before the hand-off, and then reads from the transport. The
/// transport belongs to the tokio runtime that started the server or connected the client. That runtime must run as
/// long as the transport is used.
///
/// Dropping the value closes the transport.
pub struct RawTransport {
    early: Bytes,
    io: Transport,
    /// Number of bytes read so far, which wraps around.
    received: usize,
    /// Traffic counters of the server that count the bytes of this transport, if any.
    traffic: Option<Arc<TrafficCounts>>,
    /// State that pauses reading while the client of a protocol adapter sends too many useless requests. `None` for
    /// other connections.
    pauses: Option<Box<ReadPauses>>,
}

impl RawTransport {
    /// Creates a transport in `runtime` from `io` and the bytes already read from it. A transport that already belongs
    /// to `runtime` is not registered again, because a newly registered socket is not known to be writable, and TLS
    /// would hold back the first bytes until it is flushed.
    pub(crate) async fn new_in(io: Transport, early: Bytes, runtime: Handle) -> io::Result<Self> {
        if Handle::current().id() == runtime.id() {
            return Ok(Self::with_early(io, early));
        }
        let _entered = runtime.enter();
        Ok(Self::with_early(io.moved()?, early))
    }

    pub(crate) fn with_early(io: Transport, early: Bytes) -> Self {
        let whole = Self::whole(io);
        let early = if whole.early.is_empty() { early } else { [&*early, &*whole.early].concat().into() };
        Self { early, ..whole }
    }

    /// Adds the bytes of this transport to the traffic counters of the account's server.
    pub(crate) fn charged_to(mut self, account: &Account) -> Self {
        self.traffic = account.traffic();
        self
    }

    /// Enables pauses in reading, for a peer that sends too many useless requests.
    pub(crate) fn paused(mut self, pauses: ReadPauses) -> Self {
        self.pauses = Some(Box::new(pauses));
        self
    }

    /// Returns the number of bytes read so far, which wraps around.
    #[cfg(feature = "tls")]
    pub(crate) fn received(&self) -> usize {
        self.received
    }

    #[inline]
    fn count(&self, what: Traffic, count: usize) {
        if let Some(traffic) = &self.traffic {
            traffic.add(what, count as u64);
        }
    }

    /// Creates a raw transport without [early](Self::early) bytes. Does not wrap a `RawTransport` again.
    pub(crate) fn whole(io: Transport) -> Self {
        let whole = Self { early: Bytes::new(), io, received: 0, traffic: None, pauses: None };
        whole.downcast().map_or_else(|whole| whole, |(wrapped, _)| wrapped)
    }

    /// Moves the transport from its previous reactor to that of the current runtime.
    pub(crate) fn move_to_current_runtime(&mut self) -> io::Result<()> {
        let nothing = Transport::Other(Box::new(tokio::io::empty()));
        self.io = std::mem::replace(&mut self.io, nothing).moved()?;
        Ok(())
    }

    /// Returns the bytes that were received before the hand-off and have not been read yet.
    pub fn early(&self) -> &[u8] {
        &self.early
    }

    /// Returns whether the underlying transport is a `T`: [`TcpStream`](tokio::net::TcpStream),
    /// [`UnixStream`](tokio::net::UnixStream), `TlsStream<RawTransport>`, or a type of the user.
    pub fn is<T: 'static>(&self) -> bool {
        self.io.as_any().is::<T>()
    }

    /// Converts the transport into its own type. Also returns the bytes already read from it, which precede its input.
    ///
    /// Vectored writes of a plain socket raise SIGPIPE if the peer has closed it, which ends a process that does not
    /// ignore the signal. Vectored writes of a `RawTransport` do not.
    ///
    /// # Errors
    /// Returns the unchanged transport if it has another type.
    pub fn downcast<T: 'static>(self) -> Result<(T, Bytes), Self> {
        if !self.is::<T>() {
            return Err(self);
        }
        let io = self.io.into_any().downcast::<T>();
        Ok((*io.expect("transport should be convertible to the type that was checked"), self.early))
    }
}

impl From<TcpStream> for RawTransport {
    /// Wraps a TCP socket, and makes sure that writing to it never raises SIGPIPE.
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
        let before = buffer.filled().len();
        if !self.early.is_empty() {
            // Not counted as traffic again, because these bytes were counted on arrival.
            fill(buffer, &mut self.early);
            self.received = self.received.wrapping_add(buffer.filled().len() - before);
            return Poll::Ready(Ok(()));
        }
        if let Some(pauses) = &mut self.pauses {
            ready!(pauses.poll(context))?;
        }
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        let count = buffer.filled().len().saturating_sub(before);
        self.received = self.received.wrapping_add(count);
        self.count(Traffic::Read, count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for RawTransport {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write(context, bytes))?;
        self.count(Traffic::Written, written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write_vectored(context, slices))?;
        self.count(Traffic::Written, written);
        Poll::Ready(Ok(written))
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

opaque_debug!([] RawTransport, "RawTransport", |this| early = this.early.len());
