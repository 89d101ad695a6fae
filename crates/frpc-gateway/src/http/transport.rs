//! Transports of which something has been read, and those that let only strict heads through to hyper.

use super::head::{self, FIELDS_MAX, Framing, Head, Malformed};
use super::service::Requests;
use bytes::{Buf as _, BytesMut};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A transport whose first bytes have been read already.
#[derive(Debug)]
pub(crate) struct Rewound<T> {
    early: BytesMut,
    io: T,
}

impl<T> Rewound<T> {
    pub(crate) fn new(early: BytesMut, io: T) -> Self {
        Self { early, io }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Rewound<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.early.is_empty() {
            return Pin::new(&mut self.io).poll_read(context, buffer);
        }
        pour(&mut self.early, usize::MAX, buffer);
        if self.early.is_empty() {
            self.early = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

/// Moves as many bytes as there is room for, `max` at most, and returns their number.
fn pour(from: &mut BytesMut, max: usize, to: &mut ReadBuf<'_>) -> usize {
    let count = from.len().min(to.remaining()).min(max);
    to.put_slice(from.get(..count).unwrap_or_default());
    from.advance(count);
    count
}

/// Writing is that of the transport within.
macro_rules! write_within {
    ($type:ident, $flushed:expr) => {
        impl<T: AsyncWrite + Unpin> AsyncWrite for $type<T> {
            fn poll_write(
                mut self: Pin<&mut Self>,
                context: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.io).poll_write(context, bytes)
            }

            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                context: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.io).poll_write_vectored(context, slices)
            }

            fn is_write_vectored(&self) -> bool {
                self.io.is_write_vectored()
            }

            fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                ready!(Pin::new(&mut self.io).poll_flush(context))?;
                $flushed(&*self);
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.io).poll_shutdown(context)
            }
        }
    };
}

write_within!(Rewound, |_| ());
write_within!(Strict, |strict: &Self| strict.requests.handle_flush());

/// A connection of HTTP/1 of which hyper reads nothing but heads that [`Head::parse`] accepts, and their bodies: hyper
/// is more lenient, and looks away where a head states two lengths.
///
/// Behind a request whose body is chunked everything passes. The connection has to end with the response to it. Before
/// a head that is refused hyper waits for ever: it would drop responses that it has not written if it was told.
/// [`Requests::refused`] says when to end it.
#[derive(Debug)]
pub(crate) struct Strict<T> {
    io: T,
    /// What has been read and may not pass yet.
    input: BytesMut,
    state: State,
    requests: Requests,
}

#[derive(Debug)]
enum State {
    /// So many bytes have no end of a head in them.
    Head(usize),
    /// So many bytes of a request are still to pass.
    Passing(u64),
    Open,
    Refused,
}

/// The bytes that are read at once while a head is waited for.
const READ: usize = 4096;

impl<T> Strict<T> {
    pub(crate) fn new(io: T, requests: Requests) -> Self {
        Self { io, input: BytesMut::new(), state: State::Head(0), requests }
    }
}

/// Looks for a head at the start of the input, of which `scanned` bytes have no end of one in them.
fn look(input: &[u8], scanned: usize) -> Result<State, Malformed> {
    let Some(end) = head::end(input, scanned)? else { return Ok(State::Head(input.len())) };
    let mut places = [const { MaybeUninit::uninit() }; FIELDS_MAX];
    let head = Head::parse(input.get(..end).unwrap_or_default(), &mut places)?;
    Ok(match head.framing {
        Framing::Chunked => State::Open,
        Framing::Length(length) => State::Passing(length.saturating_add(end as u64)),
    })
}

impl<T: AsyncRead + Unpin> AsyncRead for Strict<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let Self { io, input, state, requests } = &mut *self;
            match state {
                State::Head(scanned) => {
                    if input.len() > *scanned {
                        *state = look(input, *scanned).unwrap_or_else(|malformed| {
                            requests.refuse(malformed);
                            State::Refused
                        });
                        continue;
                    }
                    let mut bytes = [0; READ];
                    let mut read = ReadBuf::new(&mut bytes);
                    ready!(Pin::new(io).poll_read(context, &mut read))?;
                    if read.filled().is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                    input.extend_from_slice(read.filled());
                }
                State::Passing(left) => {
                    let max = usize::try_from(*left).unwrap_or(usize::MAX);
                    let passed = if input.is_empty() {
                        let room = buffer.remaining().min(max);
                        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
                        ready!(Pin::new(io).poll_read(context, &mut part))?;
                        let count = part.filled().len();
                        buffer.advance(count);
                        count
                    } else {
                        pour(input, max, buffer)
                    };
                    *left = left.saturating_sub(passed as u64);
                    if *left == 0 {
                        self.state = State::Head(0);
                    }
                    return Poll::Ready(Ok(()));
                }
                State::Open if input.is_empty() => return Pin::new(io).poll_read(context, buffer),
                State::Open => {
                    pour(input, usize::MAX, buffer);
                    return Poll::Ready(Ok(()));
                }
                State::Refused => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::head::HEAD_MAX;
    use super::*;
    use tokio::io::AsyncReadExt as _;

    async fn passed(input: &str) -> (String, Option<Malformed>) {
        let requests = Requests::default();
        let mut strict = Strict::new(Rewound::new(BytesMut::from(input), tokio::io::empty()), requests.clone());
        let mut passed = Vec::new();
        tokio::select! {
            biased;
            ended = strict.read_to_end(&mut passed) => drop(ended.unwrap()),
            // Nothing passes any more.
            () = std::future::ready(()) => {}
        }
        (String::from_utf8(passed).unwrap(), requests.refused())
    }

    #[tokio::test]
    async fn a_body_that_comes_later_passes_into_memory_that_is_not_initialized() {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut strict = Strict::new(server, Requests::default());
        tokio::io::AsyncWriteExt::write_all(&mut client, b"POST / HTTP/1.1\r\ncontent-length: 4\r\n\r\n")
            .await
            .unwrap();
        let mut passed = BytesMut::with_capacity(1024);
        strict.read_buf(&mut passed).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut client, b"body").await.unwrap();
        strict.read_buf(&mut passed).await.unwrap();
        assert!(passed.ends_with(b"\r\n\r\nbody"), "{passed:?}");
    }

    #[tokio::test]
    async fn every_head_of_a_connection_is_looked_at_and_bodies_pass() {
        let good = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\na\nb";
        let bad = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n";
        assert_eq!(passed(&format!("{good}{good}")).await, (format!("{good}{good}"), None));
        assert_eq!(passed(&format!("{good}{bad}")).await, (good.to_owned(), Some(Malformed::TwoLengths)));
        assert_eq!(passed("GET / HTTP/1.1\nhost: a\r\n\r\n").await, (String::new(), Some(Malformed::BareLineFeed)));
        let chunked = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
        assert_eq!(passed(&format!("{chunked}anything\n")).await, (format!("{chunked}anything\n"), None));
        let long = format!("POST / HTTP/1.1\r\nx: {}", "a".repeat(HEAD_MAX));
        assert_eq!(passed(&long).await, (String::new(), Some(Malformed::TooLong)));
    }
}
