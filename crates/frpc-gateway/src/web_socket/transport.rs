//! A byte transport over binary WebSocket messages, independent of message boundaries, for native frames.

use super::frame::{CloseCode, Decoder, Event, Fault, Kind, Role};
use super::sending::FrameSender;
use crate::clock::now;
use crate::driver::{LINGER, drain};
use crate::scratch::poll_read_after;
use bytes::BytesMut;
use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

/// Maximum number of consecutive reads that yield only control frames before the task yields.
const READS_AT_ONCE: usize = 4;

/// Close code and reason to be sent when a transport is closed.
pub(crate) type Ending = (CloseCode, String);

/// Function that returns the close code to send when the transport is dropped.
pub(crate) type Goodbye = Arc<dyn Fn() -> CloseCode + Send + Sync>;

/// A WebSocket connection that carries native frames, as a byte transport.
///
/// The connection is read and written like a socket, and each write is a message.
/// [`poll_shutdown`](AsyncWrite::poll_shutdown) performs the closing handshake. Dropping the value closes the transport
/// without a handshake.
pub struct WebSocket<T> {
    /// State of the connection. `None` once it was returned by `back`.
    wire: Option<WebSocketState<T>>,
    goodbye: Goodbye,
    /// Sender that returns the connection when the transport is dropped, so that it can be closed with a handshake.
    back: Option<oneshot::Sender<WebSocketState<T>>>,
}

/// A transport with the frame decoder and the frame queue of its WebSocket connection.
pub(crate) struct WebSocketState<T> {
    /// Bytes that were read together with the upgrade request.
    early: BytesMut,
    pub(crate) io: T,
    pub(crate) decoder: Decoder,
    pub(crate) sending: FrameSender,
    /// Close code that the peer has sent.
    pub(crate) closed_by: Option<CloseCode>,
    pub(crate) fault: Option<Fault>,
    /// Whether the write half of the transport was shut down.
    is_shut: bool,
}

impl<T: AsyncRead + AsyncWrite + Unpin> WebSocketState<T> {
    /// Creates the state of a connection with messages of at most `length_max` bytes.
    pub(crate) fn new(early: BytesMut, io: T, end: Role, length_max: u64) -> Self {
        let decoder = Decoder::new(end, length_max, now());
        Self { early, io, decoder, sending: FrameSender::new(end), closed_by: None, fault: None, is_shut: false }
    }

    /// Handles a control frame.
    pub(crate) fn handle(&mut self, event: &Event) {
        match event {
            Event::Ping => self.sending.pong(self.decoder.control()),
            Event::Close(code) => self.closed_by = *code,
            Event::Pong | Event::Data { .. } => {}
        }
    }

    fn poll_read(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        for _ in 0..READS_AT_ONCE {
            if let Some(fault) = self.fault {
                return Poll::Ready(Err(fault.into()));
            }
            if self.decoder.has_closed() {
                return Poll::Ready(Ok(()));
            }
            let before = buffer.filled().len();
            ready!(poll_read_after(&mut self.early, &mut self.io, context, buffer))?;
            let input = buffer.filled_mut().get_mut(before..).unwrap_or_default();
            if input.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let count = self.take_data(input);
            buffer.set_filled(before + count);
            // Write PONGs now. Otherwise, they would wait for the next data.
            let _ = self.sending.poll_unsent(context, Pin::new(&mut self.io))?;
            if count > 0 {
                return Poll::Ready(Ok(()));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Decodes the input in place: moves message payload to its start and returns the payload's length.
    fn take_data(&mut self, input: &mut [u8]) -> usize {
        let (mut at, mut count) = (0, 0);
        loop {
            match self.decoder.next(input, &mut at, now) {
                Ok(None) => return count,
                Ok(Some(Event::Data { kind: Kind::Binary, range, .. })) => {
                    let length = range.len();
                    input.copy_within(range, count);
                    count += length;
                }
                Ok(Some(Event::Data { kind: Kind::Text, .. })) => {
                    self.fault = Some(Fault::new(CloseCode::UNSUPPORTED, "a text, where frames are binary"));
                    return count;
                }
                Ok(Some(event)) => self.handle(&event),
                Err(fault) => {
                    self.fault = Some(fault);
                    return count;
                }
            }
        }
    }

    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.sending.poll_unsent(context, Pin::new(&mut self.io)))?;
        Pin::new(&mut self.io).poll_flush(context)
    }

    /// Sends a CLOSE frame unless one was sent, and shuts down writing.
    fn poll_close(
        &mut self,
        context: &mut Context<'_>,
        ending: impl FnOnce() -> (Option<CloseCode>, String),
    ) -> Poll<io::Result<()>> {
        if self.is_shut {
            return Poll::Ready(Ok(()));
        }
        if !self.sending.has_closed() {
            let (code, reason) = if self.decoder.has_closed() && self.fault.is_none() {
                (self.closed_by, String::new())
            } else {
                ending()
            };
            self.sending.close(code, &reason);
        }
        ready!(self.poll_flush(context))?;
        ready!(Pin::new(&mut self.io).poll_shutdown(context))?;
        self.is_shut = true;
        Poll::Ready(Ok(()))
    }

    /// Closes the connection. Waits up to one second for the peer to close it too.
    pub(crate) async fn close(mut self, (code, reason): Ending) {
        // Read the flag before `poll_close`, which sets it when it shuts the connection down.
        let was_shut = self.is_shut;
        let (code, reason) = match self.fault {
            Some(fault) => (fault.code, fault.text.to_owned()),
            None => (code, reason),
        };
        let closing = async {
            std::future::poll_fn(|context| self.poll_close(context, || (Some(code), reason.clone()))).await?;
            if was_shut {
                return Ok(());
            }
            // Drain first, because closing with unread bytes would reset the connection and lose the CLOSE frame.
            drain(&mut self.io).await;
            io::Result::Ok(())
        };
        // Ignore the result, because the connection ends here.
        let _ = tokio::time::timeout(LINGER, closing).await;
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> WebSocket<T> {
    /// Wraps a transport after the handshake. The returned receiver yields the connection when the wrapper is dropped.
    pub(crate) fn new(
        early: BytesMut,
        io: T,
        end: Role,
        goodbye: Goodbye,
    ) -> (Self, oneshot::Receiver<WebSocketState<T>>) {
        let (back, returned) = oneshot::channel();
        // Do not limit the size of messages, because native frames have their own limits.
        (Self { wire: Some(WebSocketState::new(early, io, end, u64::MAX)), goodbye, back: Some(back) }, returned)
    }

    fn wire(&mut self) -> io::Result<&mut WebSocketState<T>> {
        self.wire.as_mut().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<T> Drop for WebSocket<T> {
    fn drop(&mut self) {
        if let (Some(wire), Some(back)) = (self.wire.take(), self.back.take()) {
            // Ignore the error. If the receiver was dropped, the connection is closed without a reason.
            let _ = back.send(wire);
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncRead for WebSocket<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.wire()?.poll_read(context, buffer)
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WebSocket<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.wire()?;
        wire.sending.poll_data(context, Pin::new(&mut wire.io), &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wire = self.wire()?;
        wire.sending.poll_data(context, Pin::new(&mut wire.io), slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let goodbye = self.goodbye.clone();
        self.wire()?.poll_close(context, || (Some(goodbye()), String::new()))
    }
}

impl<T> fmt::Debug for WebSocket<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket").finish_non_exhaustive()
    }
}
