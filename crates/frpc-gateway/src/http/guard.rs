//! The HTTP/1 transport that hyper reads. It passes only heads that [`Head::parse`] accepts, one request at a time.
//! If the client half-closes the connection, reads stay pending while a response is due.

use super::exchange::Exchange;
use super::half_close::Probe;
use super::head::{self, BodyFraming, FIELDS_MAX, Head, Malformed};
use crate::scratch::{copy_available, poll_read_after};
use bytes::{Buf as _, BytesMut};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

impl<T: AsyncWrite + Unpin> AsyncWrite for Guard<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        self.is_unflushed = false;
        self.exchange.handle_flush();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// Number of bytes per read while waiting for a request head.
const READ: usize = 4096;

/// Last bytes of a chunked body, with or without trailers. A truncated body may end with the same bytes. The client
/// then has until the idle timeout to complete it.
const CHUNKED_ENDS: &[u8; 4] = b"\r\n\r\n";

/// An HTTP/1 connection that passes only valid heads and their bodies to hyper.
///
/// After a request with a chunked body, all bytes pass, so the connection must be closed after its response. A rejected
/// head is never passed. Reads then stay pending, because an error would make hyper drop unwritten responses.
/// [`Exchange::refused`] indicates when to close the connection.
#[derive(Debug)]
pub(crate) struct Guard<T> {
    /// Bytes that were read from the transport before it was wrapped.
    early: BytesMut,
    io: T,
    /// Bytes that were read from the transport and not yet passed to hyper.
    input: BytesMut,
    state: State,
    exchange: Exchange,
    /// Whether the last request used HTTP/1.0.
    is_old: bool,
    /// Whether written bytes were not flushed yet.
    is_unflushed: bool,
    probe: Probe,
}

#[derive(Debug)]
enum State {
    /// Waiting for a complete request head. Contains the number of input bytes already searched for its end.
    Head(usize),
    /// Passing a validated head to hyper, and its body if the length is known. Contains the number of bytes still to be
    /// passed.
    Passing(u64, BodyFraming),
    /// Passing all input to hyper, because it belongs to a chunked body. Contains the last bytes passed.
    Open([u8; CHUNKED_ENDS.len()]),
    Refused,
}

impl<T> Guard<T> {
    /// Wraps a transport. `early` contains bytes that were already read from it.
    pub(crate) fn new(early: BytesMut, io: T, exchange: Exchange) -> Self {
        Self {
            early,
            io,
            input: BytesMut::new(),
            state: State::Head(0),
            exchange,
            is_old: false,
            is_unflushed: false,
            probe: Probe::default(),
        }
    }

    /// Returns the bytes that were not passed to hyper, and the transport.
    pub(crate) fn into_parts(mut self) -> (BytesMut, T) {
        self.input.unsplit(self.early);
        (self.input, self.io)
    }

    /// Records a write: output must be flushed, and a successful write restarts the timeout of a paused response.
    /// Returns the result of the write unchanged.
    fn note(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.is_unflushed = true;
        if let Poll::Ready(Ok(_)) = written {
            self.exchange.handle_written();
        }
        written
    }

    /// Parses the request head at the start of the input and returns the next state. The first `scanned` bytes are
    /// known not to contain the end of the head.
    fn parse_head(&mut self, scanned: usize) -> State {
        self.find(scanned).unwrap_or_else(|malformed| {
            self.exchange.refuse(malformed);
            State::Refused
        })
    }

    fn find(&mut self, scanned: usize) -> Result<State, Malformed> {
        let spaces = self.input.chunks_exact(2).take_while(|line| *line == b"\r\n").count();
        // Ignore empty lines before a request line (RFC 9112, section 2.2).
        self.input.advance(2 * spaces);
        let scanned = if spaces > 0 { 0 } else { scanned };
        let Some(end) = head::end(&self.input, scanned)? else {
            if !self.input.is_empty() {
                self.exchange.handle_head(false);
            }
            return Ok(State::Head(self.input.len()));
        };
        self.exchange.handle_head(true);
        let mut fields = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        let head = Head::parse(self.input.get(..end).unwrap_or_default(), &mut fields)?;
        self.is_old = head.is_old;
        let length = if let BodyFraming::Length(length) = head.framing { length } else { 0 };
        Ok(State::Passing(length.saturating_add(end as u64), head.framing))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Guard<T> {
    /// Handles a client that half-closes the connection after a complete request. Stays pending while a response is
    /// due.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.exchange.handle_end() {
            return Poll::Ready(Ok(()));
        }
        let may_send = !self.is_unflushed && !self.is_old && self.exchange.is_waiting();
        self.probe.check(&mut self.io, context, may_send)?;
        // Return without registering a waker, because the driver of the connection polls this again.
        Poll::Pending
    }

    /// Passes bytes of a head or a body to hyper. `left` is the number of its bytes that have not been passed.
    fn poll_passing(
        &mut self,
        left: u64,
        framing: BodyFraming,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let max = usize::try_from(left).unwrap_or(usize::MAX);
        let passed = if self.input.is_empty() {
            let room = buffer.remaining().min(max);
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
            ready!(poll_read_after(&mut self.early, &mut self.io, context, &mut part))?;
            let count = part.filled().len();
            buffer.advance(count);
            count
        } else {
            copy_available(&mut self.input, max, buffer)
        };
        let left = left.saturating_sub(passed as u64);
        if self.input.is_empty() {
            // Free the buffer, because the connection is idle.
            self.input = BytesMut::new();
        }
        self.state = match framing {
            _ if left > 0 => State::Passing(left, framing),
            BodyFraming::Chunked => State::Open(Default::default()),
            BodyFraming::Length(_) if self.input.is_empty() => State::Head(0),
            BodyFraming::Length(_) => self.parse_head(0),
        };
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guard<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                State::Head(scanned) => {
                    let scanned = *scanned;
                    if this.input.len() > scanned {
                        this.state = this.parse_head(scanned);
                        continue;
                    }
                    let mut bytes = [0; READ];
                    let mut read = ReadBuf::new(&mut bytes);
                    ready!(poll_read_after(&mut this.early, &mut this.io, context, &mut read))?;
                    if read.filled().is_empty() {
                        return this.poll_end(context);
                    }
                    this.input.extend_from_slice(read.filled());
                }
                State::Passing(left, framing) => {
                    let (left, framing) = (*left, *framing);
                    return this.poll_passing(left, framing, context, buffer);
                }
                State::Open(last) => {
                    let before = buffer.filled().len();
                    if this.input.is_empty() {
                        ready!(poll_read_after(&mut this.early, &mut this.io, context, buffer))?;
                    } else {
                        copy_available(&mut this.input, usize::MAX, buffer);
                    }
                    let passed = buffer.filled().get(before..).unwrap_or_default();
                    if passed.is_empty() && last == CHUNKED_ENDS {
                        return this.poll_end(context);
                    }
                    last.rotate_left(passed.len().min(CHUNKED_ENDS.len()));
                    for (slot, byte) in last.iter_mut().rev().zip(passed.iter().rev()) {
                        *slot = *byte;
                    }
                    return Poll::Ready(Ok(()));
                }
                // Give hyper no more input. `serve` sends the refusal once hyper has answered the earlier requests.
                State::Refused => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::half_close::CONTINUE;
    use super::super::head::HEAD_MAX;
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    async fn passed(input: &str) -> (String, Option<Malformed>) {
        let exchange = Exchange::new();
        let mut guard = Guard::new(BytesMut::from(input), tokio::io::empty(), exchange.clone());
        let mut passed = Vec::new();
        tokio::select! {
            biased;
            ended = guard.read_to_end(&mut passed) => drop(ended.unwrap()),
            // Stop reading when the guard is pending, because it then withholds all further bytes.
            () = std::future::ready(()) => {}
        }
        (String::from_utf8(passed).unwrap(), exchange.refused())
    }

    #[tokio::test]
    async fn late_body_passes_into_uninitialized_memory() {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut guard = Guard::new(BytesMut::new(), server, Exchange::new());
        client.write_all(b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\n").await.unwrap();
        let mut passed = BytesMut::with_capacity(1024);
        guard.read_buf(&mut passed).await.unwrap();
        client.write_all(b"body").await.unwrap();
        guard.read_buf(&mut passed).await.unwrap();
        assert!(passed.ends_with(b"\r\n\r\nbody"), "{passed:?}");
    }

    #[tokio::test]
    async fn every_head_is_checked_and_bodies_pass() {
        let good = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\na\nb";
        let bad = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n";
        assert_eq!(passed(&format!("{good}{good}")).await, (format!("{good}{good}"), None));
        assert_eq!(passed(&format!("{good}\r\n\r\n{good}")).await, (format!("{good}{good}"), None));
        assert_eq!(passed(&format!("{good}{bad}")).await, (good.to_owned(), Some(Malformed::TwoLengths)));
        assert_eq!(passed("GET / HTTP/1.1\nhost: a\r\n\r\n").await, (String::new(), Some(Malformed::BareLineFeed)));
        let chunked = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        assert_eq!(passed(&format!("{chunked}anything\n")).await, (format!("{chunked}anything\n"), None));
        let long = format!("POST / HTTP/1.1\r\nx: {}", "a".repeat(HEAD_MAX));
        assert_eq!(passed(&long).await, (String::new(), Some(Malformed::TooLong)));
    }

    /// Feeds a request byte by byte, then shuts down writing. Returns the number of bytes passed to hyper and whether
    /// hyper sees the end of the input.
    async fn passed_with_end(request: &str) -> (usize, bool) {
        let (mut client, server) = tokio::io::duplex(1024);
        let exchange = Exchange::new();
        let _request = exchange.begin();
        let mut guard = Guard::new(BytesMut::new(), server, exchange);
        let (mut passed, mut has_ended) = (0, false);
        for byte in request.bytes() {
            client.write_all(&[byte]).await.unwrap();
            let read = tokio::time::timeout(std::time::Duration::ZERO, guard.read(&mut [0; 1024])).await;
            passed += read.map_or(0, Result::unwrap);
        }
        client.shutdown().await.unwrap();
        let mut rest = [0; 1024];
        while let Ok(read) = tokio::time::timeout(std::time::Duration::ZERO, guard.read(&mut rest)).await {
            match read.unwrap() {
                0 => {
                    has_ended = true;
                    break;
                }
                count => passed += count,
            }
        }
        (passed, has_ended)
    }

    #[tokio::test(start_paused = true)]
    async fn truncated_body_passes_end_before_response() {
        let head = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
        for (body, has_ended) in
            [("", true), ("3\r\nabc\r\n0\r\n", true), ("3\r\nabc\r\n0\r\n\r\n", false), ("0\r\na: b\r\n\r\n", false)]
        {
            let request = format!("{head}{body}");
            assert_eq!(passed_with_end(&request).await, (request.len(), has_ended), "{body:?}");
        }
    }

    #[tokio::test]
    async fn half_closed_client_is_probed_before_response() {
        let (mut client, server) = tokio::io::duplex(1024);
        let exchange = Exchange::new();
        let mut guard = Guard::new(BytesMut::new(), server, exchange.clone());
        client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        client.shutdown().await.unwrap();
        let mut buffer = [0; 256];
        assert!(guard.read(&mut buffer).await.unwrap() > 0);
        let request = exchange.begin();
        let mut probe = vec![0; CONTINUE.len()];
        tokio::select! {
            _ = guard.read(&mut buffer) => panic!("end of the connection should be hidden from the reader"),
            read = client.read_exact(&mut probe) => assert_eq!(read.unwrap(), CONTINUE.len()),
        }
        assert_eq!(probe, CONTINUE);
        drop(request);
        let read = tokio::time::timeout(std::time::Duration::ZERO, guard.read(&mut buffer)).await;
        assert!(read.is_err(), "end should be hidden until the response is written");
        guard.flush().await.unwrap();
        assert_eq!(guard.read(&mut buffer).await.unwrap(), 0);
    }
}
