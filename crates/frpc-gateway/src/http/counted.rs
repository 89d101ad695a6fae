//! The transport of HTTP/2 that hyper reads: it counts the bodies that arrive, and brings nothing more while bodies wait and
//! the server has no memory for them.
//!
//! # Decisions
//!
//! hyper reads frames as long as the windows of the connection are open, and shows none of the bodies that it holds. So the
//! frames are counted here, and subtracted when a handler reads them.
//!
//! The account is not exact while requests are in progress. Bodies that arrive for streams that were reset stay charged, up to
//! the window of the connection: hyper shows neither the id of a request's stream nor the bytes that it drops. Padding counts as
//! a body for the same reason: a stream that is reset drops it uncounted. A client that pads holds no more memory of the server
//! than one whose bodies are not read. Charges are made in steps of a frame, so less than one is uncharged.

use super::exchange::Exchange;
use super::head::HTTP2;
use crate::charge::Room;
use frpc::AdapterContext;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The type of frames that carry bodies.
const DATA: u8 = 0;

/// The end of a client's preface.
const PREFACE_END: &[u8] = b"SM\r\n\r\n";

/// A transport whose bodies are counted.
pub(crate) struct CountedTransport<T> {
    io: T,
    frames: Frames,
    exchange: Exchange,
    context: AdapterContext,
    room: Room,
}

impl<T> CountedTransport<T> {
    pub(crate) fn new(io: T, exchange: Exchange, context: AdapterContext) -> Self {
        Self { io, frames: Frames::new(), exchange, context, room: Room::default() }
    }

    pub(crate) fn into_inner(self) -> T {
        self.io
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for CountedTransport<T> {
    fn poll_read(self: Pin<&mut Self>, task: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.exchange.has_unread() {
            ready!(this.room.poll(task, &this.context));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.io).poll_read(task, buffer))?;
        let arrived = this.frames.bodies(buffer.filled().get(before..).unwrap_or_default());
        if arrived > 0 {
            this.exchange.handle_arrived(arrived);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for CountedTransport<T> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(task, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(task)
    }
}

/// The place in a sequence of frames. A frame has a header of nine bytes: the length of its payload in three, its type in
/// one, and five more.
struct Frames {
    header: [u8; 9],
    /// The bytes of the header that have come.
    filled: usize,
    /// The bytes of the payload that have not come.
    left: usize,
    is_body: bool,
}

impl Frames {
    /// The preface of a client comes first, and passes as a payload.
    fn new() -> Self {
        Self { header: [0; 9], filled: 0, left: HTTP2.len() + PREFACE_END.len(), is_body: false }
    }

    /// The number of bytes of bodies among the next bytes.
    fn bodies(&mut self, mut input: &[u8]) -> usize {
        let mut count = 0;
        while !input.is_empty() {
            if self.left > 0 {
                let (payload, rest) = input.split_at(self.left.min(input.len()));
                self.left -= payload.len();
                count += if self.is_body { payload.len() } else { 0 };
                input = rest;
                continue;
            }
            let (part, rest) = input.split_at((self.header.len() - self.filled).min(input.len()));
            self.header.iter_mut().skip(self.filled).zip(part).for_each(|(to, from)| *to = *from);
            self.filled += part.len();
            input = rest;
            if self.filled == self.header.len() {
                let [a, b, c, kind, ..] = self.header;
                self.filled = 0;
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                self.is_body = kind == DATA;
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_counted_however_frames_are_cut() {
        let frame = |kind: u8, payload: &[u8]| {
            let length = u8::try_from(payload.len()).expect("value should fit u8");
            [&[0, 0, length, kind, 0, 0, 0, 0, 1], payload].concat()
        };
        let frames = [frame(4, b""), frame(1, b"head"), frame(DATA, b"one"), frame(DATA, b""), frame(DATA, b"three")];
        let bytes = [HTTP2, PREFACE_END, &frames.concat()].concat();
        for part in 1..bytes.len() {
            let mut counted = Frames::new();
            let count: usize = bytes.chunks(part).map(|part| counted.bodies(part)).sum();
            assert_eq!(count, 8, "in parts of {part}");
        }
    }
}
