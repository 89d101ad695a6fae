//! The public connection type, over shared memory or a plain socket.

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

/// A connection between two processes of one host, created by [`connect`](crate::connect) or
/// [`Listener::accept`](crate::Listener::accept).
///
/// It reads and writes like a Unix socket. Reading returns the end of input once the peer has shut down its side or is
/// gone, after all bytes it had written. Writing to a peer that is gone fails with
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe). If a peer corrupts the shared memory, operations fail with
/// [`InvalidData`](io::ErrorKind::InvalidData) and the reason; bytes received before are valid.
///
/// One task may read while another writes. The stream belongs to the tokio runtime that it was created in. The I/O
/// driver of the runtime must be enabled. The peer can still read bytes that were written before the stream was
/// dropped.
pub struct Stream {
    state: State,
}

enum State {
    /// Bytes are transferred over the Unix socket.
    Plain(UnixStream),
    /// A server's connection with a client that has not completed the handshake.
    Deciding(Box<PendingConnection>),
    Shared(Box<SharedStream>),
    /// The handshake has failed, so every read and write returns an error.
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

    /// Returns whether the stream transfers bytes through shared memory. A server knows this after the first read.
    pub fn is_shared(&self) -> bool {
        matches!(self.state, State::Shared(_))
    }

    /// Returns the user and process of the peer, as of the time when it connected or started to listen.
    ///
    /// # Errors
    /// If the operating system cannot report them, or the connection has failed.
    pub fn peer_credentials(&self) -> io::Result<UCred> {
        match &self.state {
            State::Plain(socket) => socket.peer_cred(),
            State::Deciding(deciding) => deciding.socket.peer_cred(),
            State::Shared(shared) => shared.socket().peer_cred(),
            State::Failed => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Moves the stream from its previous tokio runtime to the current one.
    ///
    /// # Errors
    /// If no file descriptors are left, because the stream's descriptors are duplicated. The stream then stays in its
    /// runtime or has failed.
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    pub fn move_to_current_runtime(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Plain(socket) => renew(socket),
            State::Deciding(deciding) => deciding.move_to_current_runtime(),
            State::Shared(shared) => shared.move_to_current_runtime(),
            State::Failed => Ok(()),
        }
    }

    /// Converts the stream to one that blocks the calling thread and needs no runtime. At a server, this waits until
    /// the client has completed the handshake or sent other bytes.
    ///
    /// # Errors
    /// If the connection has failed, or the operating system reports an error.
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

    /// Completes once the handshake has determined how bytes are transferred.
    fn poll_decided(&mut self, wait: WaitEvent, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let State::Deciding(deciding) = &mut self.state else { return Poll::Ready(Ok(())) };
        let decision = ready!(deciding.poll(wait, context));
        // If the conversion below returns an error, the state remains `Failed`.
        let State::Deciding(deciding) = std::mem::replace(&mut self.state, State::Failed) else {
            return Poll::Ready(Ok(()));
        };
        self.state = match decision? {
            Decision::Plain => State::Plain(deciding.socket),
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

/// Moves a socket to the current runtime by duplicating its descriptor.
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
            State::Deciding(_) | State::Failed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
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

    /// Does nothing, because written bytes are already in the shared memory or in the socket.
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
