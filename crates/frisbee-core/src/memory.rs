//! Memory pools for large bodies.

use bytes::Bytes;
use std::fmt;

/// Pool of memory for large bodies, provided by the driver. Without a pool, memory is allocated for each body.
pub trait MemoryPool: fmt::Debug + Sync {
    /// Takes an empty buffer with a capacity between `least` and `most` bytes from the pool, if it has one.
    fn take(&self, least: usize, most: usize) -> Option<Vec<u8>>;

    /// Returns an unused buffer with a capacity of at least 64 KiB to the pool.
    fn put(&self, memory: Vec<u8>);
}

/// Offset within a page at which a body starts: half a page. Large allocations start at or a few bytes after a page
/// boundary, and so do the kernel's buffers for large writes. On some processors, copying between addresses whose page
/// offsets differ by a few bytes is ten times slower, because the processor mistakes the last store for the source of
/// the next load (4K aliasing).
const BEGIN: usize = PAGE / 2;
const PAGE: usize = 4096;

/// A body buffer that returns its memory to its pool when dropped.
///
/// The buffer accepts exactly the requested number of bytes even if reused memory is larger. Connections thus behave
/// the same with new and with reused memory.
#[derive(Debug, Default)]
pub struct BodyMemory {
    bytes: Vec<u8>,
    pool: Option<&'static dyn MemoryPool>,
    /// Offset of the first byte of the body in `bytes`.
    start: usize,
    /// Number of bytes that the buffer accepts in total, which may be less than its capacity.
    room: usize,
}

impl BodyMemory {
    /// Minimum capacity of pooled buffers in bytes. Smaller buffers are left to the allocator, which caches freed
    /// memory of that size.
    pub const POOLED_MIN: usize = 64 * 1024;

    /// Creates an empty buffer for `room` bytes, from the pool if possible. Reused memory may be up to a quarter
    /// larger.
    pub fn new(room: usize, pool: Option<&'static dyn MemoryPool>) -> Self {
        if room < Self::POOLED_MIN {
            return Self { bytes: Vec::with_capacity(room), pool: None, start: 0, room };
        }
        let capacity = room.saturating_add(PAGE);
        let used = pool.and_then(|pool| pool.take(capacity, capacity.saturating_add(room / 4)));
        let mut bytes = used.unwrap_or_else(|| Vec::with_capacity(capacity));
        let start = BEGIN.wrapping_sub(bytes.as_ptr().addr()) % PAGE;
        bytes.resize(start, 0);
        Self { bytes, pool, start, room }
    }

    /// Wraps a buffer. If it is large, its memory goes to the pool when this is dropped.
    pub fn from_buffer(bytes: Vec<u8>, pool: &'static dyn MemoryPool) -> Self {
        Self { room: bytes.len(), bytes, pool: Some(pool), start: 0 }
    }

    /// Returns the number of bytes in the buffer.
    pub fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    /// Returns whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the total number of bytes that the buffer accepts.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Returns the number of bytes that can still be appended.
    pub fn available(&self) -> usize {
        self.room.saturating_sub(self.len())
    }

    /// Returns the underlying buffer. The caller may only append bytes to it.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Converts the buffer to shared bytes. The memory returns to the pool when the last reference is dropped.
    pub fn freeze(mut self) -> Bytes {
        if self.bytes.capacity() < Self::POOLED_MIN {
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
        if let Some(pool) = self.pool.filter(|_| self.bytes.capacity() >= Self::POOLED_MIN) {
            pool.put(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_start_mid_page() {
        for room in [BodyMemory::POOLED_MIN, BodyMemory::POOLED_MIN + 1, 5_000_000] {
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
