//! Input buffers: the read buffer of a thread, which its connections share so that idle ones hold none, and input that
//! was already read.

#[cfg(feature = "http")]
use bytes::Buf as _;
use bytes::BytesMut;
use std::cell::Cell;
#[cfg(feature = "http")]
use std::{io, pin::Pin, task::Context, task::Poll};
#[cfg(feature = "http")]
use tokio::io::{AsyncRead, ReadBuf};

/// Maximum number of bytes per read, as for native connections.
pub(crate) const READ_MAX: usize = 64 * 1024;

/// Minimum free capacity for a read. A buffer with less is replaced.
const READ_LEAST: usize = 4 * 1024;

/// If less capacity than this is free, the buffer is reset to its beginning, provided that no earlier input is in
/// use. A lower threshold would make long and short reads alternate while a long body is received.
const RESET_BELOW: usize = READ_MAX - READ_MAX / 4;

thread_local! {
    static INPUT: Cell<BytesMut> = Cell::default();
}

/// Takes the read buffer of this thread. It is empty and has sufficient capacity.
pub(crate) fn take_input() -> BytesMut {
    let mut input = INPUT.take();
    if input.capacity() < RESET_BELOW && !input.try_reclaim(READ_MAX) && input.capacity() < READ_LEAST {
        input.reserve(READ_MAX);
    }
    input
}

/// Returns the read buffer to this thread. Parts of it may have been [split off](BytesMut::split).
pub(crate) fn put_input(input: BytesMut) {
    INPUT.set(input);
}

/// Copies up to `max` bytes into the read buffer and returns the number copied.
#[cfg(feature = "http")]
pub(crate) fn copy_available(from: &mut BytesMut, max: usize, to: &mut ReadBuf<'_>) -> usize {
    let count = from.len().min(to.remaining()).min(max);
    to.put_slice(from.get(..count).unwrap_or_default());
    from.advance(count);
    count
}

/// Reads the bytes in `early`, which were read from the transport before, or else from the transport.
#[cfg(feature = "http")]
pub(crate) fn poll_read_after<T: AsyncRead + Unpin>(
    early: &mut BytesMut,
    io: &mut T,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    if early.is_empty() {
        *early = BytesMut::new();
        return Pin::new(io).poll_read(context, buffer);
    }
    copy_available(early, usize::MAX, buffer);
    Poll::Ready(Ok(()))
}
