//! A connection as users hold it: through shared memory, or over the socket alone.

use crate::blocking::BlockingStream;
use crate::handshake::{Decision, PendingConnection};
use crate::offer;
use crate::shared::SharedStream;
use crate::wakers::WaitEvent;
use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::UCred;

/// A connection between two processes of one host, made by [`connect`](crate::connect) or
/// [`Listener::accept`](crate::Listener::accept).
///
/// It reads and writes as a Unix socket does. The end of input comes when the peer has shut down its side, or is gone;
/// bytes that it had written are read before. Writing to a peer that is gone fails with
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe). A peer that corrupts shared memory causes an error of the kind
/// [`InvalidData`](io::ErrorKind::InvalidData) with the reason, and bytes received before stay valid.
///
/// One task may read while another one writes. The stream belongs to the tokio runtime of its creation, whose I/O has
/// to be enabled. Bytes that were written and not read when a stream is dropped can still be read by the peer.
pub struct Stream {
    state: State,
}

enum State {
    /// The bytes go over the socket.
    Plain(UnixStream),
    /// Of a server, before the first bytes of its client.
    Deciding(Box<PendingConnection>),
    Shared(Box<SharedStream>),
    /// Agreeing on memory has failed.
    Failed,
}

impl Stream {
    pub(crate) fn plain(socket: UnixStream) -> Self {
        Self { state: State::Plain(socket) }
    }

    pub(crate) fn deciding(deciding: PendingConnection) -> Self {
        Self { state: State::Deciding(Box::new(deciding)) }
    }

    pub(crate) fn shared(shared: SharedStream) -> Self {
        Self { state: State::Shared(Box::new(shared)) }
    }

    /// Whether the bytes go through shared memory. At a server this is known once something has been read.
    pub fn is_shared(&self) -> bool {
        matches!(self.state, State::Shared(_))
    }

    /// The user and the process at the other end, as they were when it connected or began to listen.
    ///
    /// # Errors
    /// If the system cannot report it, or if the connection has failed.
    pub fn peer_credentials(&self) -> io::Result<UCred> {
        match &self.state {
            State::Plain(socket) => socket.peer_cred(),
            State::Deciding(deciding) => deciding.socket().peer_cred(),
            State::Shared(shared) => shared.socket().peer_cred(),
            State::Failed => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Leaves the tokio runtime that the stream belongs to for the current one.
    ///
    /// # Errors
    /// If the system has no descriptor to spare: those of the stream are reopened. It stays where it was, or has
    /// failed.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn move_to_current_runtime(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Plain(socket) => renew(socket),
            State::Deciding(deciding) => deciding.move_to_current_runtime(),
            State::Shared(shared) => shared.move_to_current_runtime(),
            State::Failed => Ok(()),
        }
    }

    /// Leaves the runtime for good: the stream that results blocks the threads that use it. At a server this waits until
    /// the client has agreed on memory, or has sent something else.
    ///
    /// # Errors
    /// If the connection has failed, or the system refuses.
    ///
    /// # Cancel safety
    /// Dropping the future drops the stream.
    pub async fn into_blocking(mut self) -> io::Result<BlockingStream> {
        std::future::poll_fn(|context| self.poll_decided(WaitEvent::Data, context)).await?;
        match self.state {
            State::Plain(socket) => BlockingStream::plain(socket.into_std()?),
            State::Shared(shared) => shared.into_blocking(),
            State::Deciding(_) | State::Failed => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Ready when it is decided where the bytes go.
    fn poll_decided(&mut self, wait: WaitEvent, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let State::Deciding(deciding) = &mut self.state else { return Poll::Ready(Ok(())) };
        let decision = ready!(deciding.poll(wait, context));
        let State::Deciding(deciding) = std::mem::replace(&mut self.state, State::Failed) else {
            return Poll::Ready(Ok(()));
        };
        self.state = match decision? {
            Decision::Plain => State::Plain(deciding.into_socket()),
            Decision::Shared => State::Shared(Box::new(deciding.into_shared()?)),
        };
        Poll::Ready(Ok(()))
    }

    fn poll_write_slices(&mut self, context: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        ready!(self.poll_decided(WaitEvent::Room, context))?;
        match &mut self.state {
            State::Plain(socket) => loop {
                ready!(socket.poll_write_ready(context))?;
                match socket.try_io(Interest::WRITABLE, || offer::send_bytes(&*socket, from)) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    sent => return Poll::Ready(sent),
                }
            },
            State::Shared(shared) => shared.poll_write(context, from),
            State::Deciding(_) | State::Failed => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }
}

/// Moves a socket to the current runtime, by a second descriptor of it.
pub(crate) fn renew(socket: &mut UnixStream) -> io::Result<()> {
    *socket = UnixStream::from_std(socket.as_fd().try_clone_to_owned()?.into())?;
    Ok(())
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_decided(WaitEvent::Data, context))?;
        match &mut self.state {
            State::Plain(socket) => Pin::new(socket).poll_read(context, into),
            State::Shared(shared) => shared.poll_read(context, into),
            State::Deciding(_) | State::Failed => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_slices(context, &[IoSlice::new(from)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_slices(context, from)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Does nothing: written bytes are in the memory that the peer reads.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_decided(WaitEvent::Room, context))?;
        match &mut self.state {
            State::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            State::Shared(shared) => Poll::Ready(shared.close()),
            State::Deciding(_) | State::Failed => Poll::Ready(Ok(())),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let carrier = match self.state {
            State::Plain(_) => "socket",
            State::Deciding(_) => "undecided",
            State::Shared(_) => "shared memory",
            State::Failed => "failed",
        };
        f.debug_struct("Stream").field("carrier", &carrier).finish()
    }
}
