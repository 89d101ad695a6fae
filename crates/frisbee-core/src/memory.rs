//! Memory of large bodies.

use bytes::Bytes;
use std::fmt;

/// Smaller buffers are left to the allocator, which caches freed memory of this size.
const POOLED_MIN: usize = 64 * 1024;

/// Pool of memory for large bodies. Optionally provided by the driver; the core keeps no memory beyond its connections.
pub trait MemoryPool: fmt::Debug + Sync {
    /// Takes an empty buffer with a capacity of `least` to `most` bytes, if there is one.
    fn take(&self, least: usize, most: usize) -> Option<Vec<u8>>;

    /// Returns a buffer of at least 64 KiB that is no longer used.
    fn put(&self, memory: Vec<u8>);
}

/// Offset within a page at which a body starts. Buffers of this size start at a page boundary, and so do large writes
/// in the kernel, except for a few bytes. On some processors, copying between addresses that differ by a few bytes
/// modulo the page size takes ten times as long, because they mistake the last write for the next read. Half a page
/// apart this never happens.
const BEGIN: usize = PAGE / 2;
const PAGE: usize = 4096;

/// A buffer that returns to its pool when dropped.
///
/// Whether new or reused, it accepts exactly the requested number of bytes, because the behaviour of a connection must
/// not depend on the memory that others have used.
#[derive(Debug, Default)]
pub struct BodyMemory {
    bytes: Vec<u8>,
    pool: Option<&'static dyn MemoryPool>,
    /// Offset at which the bytes start.
    start: usize,
    /// Number of bytes that it accepts.
    room: usize,
}

impl BodyMemory {
    /// Creates an empty buffer for `room` bytes, from the pool if possible. The capacity of a reused buffer may be
    /// larger by up to a quarter.
    pub fn new(room: usize, pool: Option<&'static dyn MemoryPool>) -> Self {
        if room < POOLED_MIN {
            return Self { bytes: Vec::with_capacity(room), pool: None, start: 0, room };
        }
        let capacity = room.saturating_add(PAGE);
        let used = pool.and_then(|pool| pool.take(capacity, capacity.saturating_add(room / 4)));
        let mut bytes = used.unwrap_or_else(|| Vec::with_capacity(capacity));
        let start = BEGIN.wrapping_sub(bytes.as_ptr().addr()) % PAGE;
        bytes.resize(start, 0);
        Self { bytes, pool, start, room }
    }

    /// Returns the number of bytes in the buffer.
    pub fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    /// Returns whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes that the buffer accepts in total.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Returns the number of bytes that can be appended.
    pub fn available(&self) -> usize {
        self.room.saturating_sub(self.len())
    }

    /// Returns the buffer to append to. Its present contents must not be changed.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Converts the buffer to shared bytes. The memory returns to the pool with the last reference.
    pub fn freeze(mut self) -> Bytes {
        if self.bytes.capacity() < POOLED_MIN {
            return std::mem::take(&mut self.bytes).into();
        }
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for BodyMemory {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

impl Drop for BodyMemory {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.filter(|_| self.bytes.capacity() >= POOLED_MIN) {
            pool.put(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_begin_in_the_middle_of_a_page() {
        for room in [POOLED_MIN, POOLED_MIN + 1, 5_000_000] {
            let mut memory = BodyMemory::new(room, None);
            assert!(memory.is_empty());
            assert_eq!((memory.len(), memory.available()), (0, room));
            memory.buffer().extend_from_slice(&[7; 100]);
            assert!(!memory.is_empty());
            assert_eq!((memory.len(), memory.available()), (100, room - 100));
            let body = memory.freeze();
            assert_eq!((body.len(), body.as_ptr().addr() % PAGE), (100, BEGIN));
        }
    }
}
