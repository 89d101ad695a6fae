//! Thread-local I/O buffers, shared by the connections of a thread so that idle connections hold none.

use bytes::BytesMut;
use std::cell::Cell;

/// Maximum number of bytes per read, equal to that of native connections.
pub(crate) const READ_MAX: usize = 64 * 1024;

/// Minimum capacity for a read. With less, the buffer is replaced.
const READ_LEAST: usize = 4 * 1024;

thread_local! {
    static INPUT: Cell<BytesMut> = Cell::default();
}

/// Takes the thread's buffer for a read. It is empty and has sufficient capacity.
pub(crate) fn take_input() -> BytesMut {
    let mut input = INPUT.take();
    if input.capacity() < READ_LEAST {
        input.reserve(READ_MAX);
    }
    input
}

/// Returns the buffer. A part of it may have been [split off](BytesMut::split).
pub(crate) fn put_input(input: BytesMut) {
    INPUT.set(input);
}
