//! Copies of short values in memory blocks that are reused once all their copies are dropped.

use bytes::{Bytes, BytesMut};
use std::cell::Cell;

/// Size in bytes of a memory block that several short copies share. Small (about the size of a handler's task), because
/// a single remaining copy keeps the whole block in memory.
const SHARED: usize = 2 << 10;

/// Maximum length in bytes of a value that is copied to a shared memory block. Longer values have their own
/// allocations.
const SHORT_MAX: usize = SHARED / 2;

thread_local! {
    static ROOM: Cell<BytesMut> = Cell::default();
}

/// Returns the number of bytes that a copy of `length` bytes may keep in memory beyond its own length.
pub(super) fn surplus(length: usize) -> usize {
    if length > SHORT_MAX { 0 } else { SHARED.saturating_sub(length) }
}

/// Copies bytes, to a shared memory block if they are short. The block is reused once all its copies have been dropped,
/// so short-lived copies need no allocation.
pub(super) fn copy(bytes: &[u8]) -> Bytes {
    if bytes.len() > SHORT_MAX {
        return Bytes::copy_from_slice(bytes);
    }
    let mut room = ROOM.take();
    if room.capacity() < bytes.len() {
        // Reuse the block from its start if all copies in it have been dropped.
        room.reserve(SHARED);
    }
    room.extend_from_slice(bytes);
    let copy = room.split().freeze();
    ROOM.set(room);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;

    #[test]
    fn remaining_slice_is_charged_for_retained_memory() {
        for (length, charged) in [(1, 2047), (1024, 1024), (1025, 0), (100_000, 0)] {
            let input = Bytes::from(vec![7; length]);
            let mut decoder = Decoder::shared(&input);
            let before = decoder.container_memory();
            assert_eq!(decoder.take_rest(), input);
            assert_eq!(before - decoder.container_memory(), charged, "{length} bytes should be charged");
        }
    }

    #[test]
    fn only_short_copies_share_one_block() {
        // Use a new thread, which has an unused block.
        let offsets = std::thread::spawn(|| {
            let lengths = [100, SHORT_MAX, SHORT_MAX + 1, SHARED - SHORT_MAX - 100];
            let copies: Vec<_> = lengths.into_iter().map(|length| copy(&vec![7; length])).collect();
            copies.iter().map(|copy| copy.as_ptr().addr()).collect::<Vec<_>>()
        });
        let [first, second, long, last] = offsets.join().unwrap()[..] else {
            panic!("four values should have been copied")
        };
        assert_eq!([second, last], [first + 100, first + 100 + SHORT_MAX]);
        assert!(!(first..first + SHARED).contains(&long), "long value should have an allocation of its own");
    }

    #[test]
    fn reused_copy_memory_leaves_kept_copies_unchanged() {
        let first = copy(&[1; 100]);
        let start = first.as_ptr();
        drop(first);
        let offsets: Vec<_> = (0..1000).map(|_| copy(&[2; 100]).as_ptr().addr() - start.addr()).collect();
        assert!(offsets.iter().all(|offset| *offset < SHARED), "{offsets:?}");
        let copies: Vec<_> = (0..=u8::MAX).map(|byte| copy(&vec![byte; 4 * usize::from(byte)])).collect();
        for (byte, copies) in copies.iter().enumerate() {
            assert!(copies.len() == 4 * byte && copies.iter().all(|byte_of| usize::from(*byte_of) == byte));
        }
    }
}
