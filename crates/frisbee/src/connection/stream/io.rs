//! Streams used as byte streams. Message boundaries are not preserved.

use super::{Stream, StreamEnd, StreamPlaces};
use crate::SendError;
use crate::transport::fill;
use bytes::Bytes;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum size in bytes of the messages that a byte stream sends. The limit is lower if either end has a lower limit.
/// It is a quarter of a stream's default credit, so that several messages can be in flight, and small enough not to
/// delay other packets for long.
const MESSAGE_MAX: usize = 64 * 1024;

/// A [`Stream`] used as a byte stream, for tunnels within a connection.
///
/// Writing waits if the peer does not read, as on a socket. [Shutting down](tokio::io::AsyncWriteExt::shutdown) ends
/// the sending direction only. It has no effect with a Go peer, which does not support this. Dropping the value closes
/// both directions immediately. The peer may use a `StreamIo` too, or send and receive messages.
///
/// Reading ends when the peer has ended its direction. If the peer has closed or reset the stream, or the connection
/// has ended, reading returns an error once all received bytes have been read. With a Go peer, a closed stream is a
/// regular end.
///
/// ```
/// use frisbee::{Acceptor, Client, Connection, Handlers, Routed, Outbox, Packet, Router, Server, Stream};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// /// Echoes the bytes of each stream.
/// struct Echo;
///
/// impl Router for Echo {
///     type Session = Connection;
///
///     fn connected(&self, connection: &Connection) -> Connection {
///         connection.clone()
///     }
///
///     fn route(&self, _connection: &mut Connection, _packet: Packet, _outbox: &mut Outbox) -> Routed {
///         Routed::Continue
///     }
///
///     fn stream(&self, connection: &mut Connection, _first: bytes::Bytes, stream: Stream) -> Routed {
///         connection.spawn(async move {
///             let (mut read, mut write) = tokio::io::split(stream.into_io());
///             let _ = tokio::io::copy(&mut read, &mut write).await;
///             let _ = write.shutdown().await;
///         });
///         Routed::Continue
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let acceptor = Server::builder().build(Echo)?;
/// let (here, there) = frisbee::memory();
/// tokio::spawn(async move { acceptor.serve_connection(there).await });
/// let connection = Client::builder().connect_io(here, Handlers::new()).await?;
///
/// let mut tunnel = connection.open_stream(&"an echo, please".into()).await?.into_io();
/// tunnel.write_all(b"hello").await?;
/// tunnel.shutdown().await?;
/// let mut echoed = String::new();
/// tunnel.read_to_string(&mut echoed).await?;
/// assert_eq!(echoed, "hello");
/// # Ok(())
/// # }
/// ```
pub struct StreamIo {
    stream: Stream,
    /// Rest of the last received message, which exceeded the caller's buffer.
    rest: Bytes,
    places: StreamPlaces,
}

impl Stream {
    /// Converts the stream to a byte stream, which starts with the messages that have already been received.
    pub fn into_io(self) -> StreamIo {
        StreamIo { stream: self, rest: Bytes::new(), places: StreamPlaces::default() }
    }
}

impl StreamIo {
    /// Returns the result of a read after the last message: `Ok` if the peer ended the stream regularly, otherwise an
    /// error.
    fn end(&self) -> io::Result<()> {
        match self.stream.close_reason() {
            StreamEnd::Ended => Ok(()),
            StreamEnd::Closed if !self.stream.is_native() => Ok(()),
            StreamEnd::Closed => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the stream was closed")),
            StreamEnd::Reset { message, .. } | StreamEnd::Refused { message, .. } => {
                Err(io::Error::new(io::ErrorKind::ConnectionReset, message))
            }
            StreamEnd::Overflowed => Err(io::Error::new(
                io::ErrorKind::OutOfMemory,
                "the memory limit for unread messages of the stream is reached",
            )),
        }
    }
}

fn failed(error: SendError) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, error)
}

impl AsyncRead for StreamIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Skip empty messages, because a read of 0 bytes would mean the end of the stream.
        while self.rest.is_empty() {
            match ready!(self.stream.poll_recv(context)) {
                Some(message) => self.rest = message,
                None => return Poll::Ready(self.end()),
            }
        }
        fill(buffer, &mut self.rest);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for StreamIo {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0)); // An empty message would close a stream to a Go peer.
        }
        let Self { stream, places, .. } = &mut *self;
        let sent = stream.0.poll_send(context, places, |mut packet| {
            let most = usize::try_from(packet.limit()).unwrap_or(usize::MAX).min(MESSAGE_MAX);
            let message = bytes.get(..most).unwrap_or(bytes);
            packet.put_slice(message);
            packet.finish().map(|()| message.len())
        });
        let sent = ready!(sent).and_then(|finished| finished.map_err(SendError::from));
        Poll::Ready(sent.map_err(failed))
    }

    /// Does nothing, because written bytes have already been queued for sending.
    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.end();
        Poll::Ready(Ok(()))
    }
}

impl Drop for StreamIo {
    fn drop(&mut self) {
        self.places.leave(&self.stream.0);
    }
}

impl fmt::Debug for StreamIo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamIo").field("stream", &self.stream).field("rest", &self.rest.len()).finish()
    }
}
