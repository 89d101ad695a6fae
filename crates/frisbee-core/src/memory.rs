//! The memory of a large body.

use bytes::Bytes;
use std::fmt;

/// Shorter memory is left to the allocator, which keeps it when it is freed.
const POOLED_MIN: usize = 64 * 1024;

/// Memory that was used before and is kept for further large bodies. The driver may supply one; the core itself keeps
/// nothing but its connections.
pub trait MemoryPool: fmt::Debug + Sync {
    /// Takes empty memory with a capacity of `least` to `most` bytes, if there is any.
    fn take(&self, least: usize, most: usize) -> Option<Vec<u8>>;

    /// Gives back memory of 64 KiB or more that is no longer used.
    fn put(&self, memory: Vec<u8>);
}

/// Where in a page a body begins. Memory of this size begins at a page, and so does a large write in the
/// kernel, but for a few bytes. Copying between addresses that differ by a few bytes modulo the size of a page takes
/// ten times as long as otherwise on some processors, which mistake the last write for the next read; half a
/// page apart it never happens.
const BEGIN: usize = PAGE / 2;
const PAGE: usize = 4096;

/// Memory that goes back to its pool when it is dropped.
///
/// New or used, it has room for exactly as many bytes as requested: the behaviour of a connection must not depend
/// on the memory that others have left.
#[derive(Debug, Default)]
pub struct BodyMemory {
    bytes: Vec<u8>,
    pool: Option<&'static dyn MemoryPool>,
    /// The held bytes begin here.
    start: usize,
    /// How many bytes it may hold.
    room: usize,
}

impl BodyMemory {
    /// Empty memory with room for so many bytes, from the pool if that has some. Used memory may in fact be longer, by
    /// a quarter at most.
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

    /// The number of bytes in it.
    pub fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    /// Whether it holds no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bytes that it may hold.
    pub fn room(&self) -> usize {
        self.room
    }

    /// The number of bytes that may be added.
    pub fn available(&self) -> usize {
        self.room.saturating_sub(self.len())
    }

    /// The buffer to append to. Bytes that it contains already must stay.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Its bytes, to be shared. The memory goes back to the pool with the last reference to them.
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
