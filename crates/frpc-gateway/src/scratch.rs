//! The buffers of a thread. Its connections read into them and write from them in turn: an idle connection holds none.

use bytes::BytesMut;
use std::cell::Cell;

/// How much one read takes at most, in bytes; as that of native connections.
pub(crate) const READ_MAX: usize = 64 * 1024;

/// A read of this much is worthwhile; with less room, the buffer is renewed.
const READ_LEAST: usize = 4 * 1024;

thread_local! {
    static INPUT: Cell<BytesMut> = Cell::default();
}

/// Takes the thread's buffer for one read. It has room, and nothing in it.
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
