//! Process-wide pool of memory for large bodies.
//!
//! The allocator maps each allocation of this size separately, and unmaps it when it is freed. The kernel zeroes each
//! new page at its first use, which costs as much as receiving the body. The pool therefore keeps a small amount of
//! memory for a short time, for reuse by later bodies.
//!
//! A peer cannot exploit the pool. The memory of a body grows with the bytes received, regardless of whether it is new
//! or reused. Memory is returned to the pool only when the last [`Bytes`] that share it are dropped.
//!
//! # Decisions
//!
//! A body starts in the middle of a page. Copying from the kernel takes ten times as long if the destination is a few
//! bytes above the source, modulo the page size. If bodies started at a page boundary, as the kernel's buffers do, this
//! would be common. Strings of 64 KiB or more are copied to pooled memory rather than to the outbox.

use bytes::Bytes;
use frisbee_core::{BodyMemory, MemoryPool};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Maximum total size of pooled buffers in bytes, an eighth of a server's default memory limit. A few buffers per core
/// suffice to absorb fluctuations.
const BUFFERS_MAX: usize = 32 * 1024 * 1024;

/// How long unused buffers are kept. Each frisbee connection checks for such buffers periodically, and so does each
/// return of a buffer.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// Buffer pool that the whole process shares.
pub(crate) static POOL: SharedPool = SharedPool(Mutex::new(BufferPool::new(BUFFERS_MAX)));

/// Pool of body buffers that all connections share.
#[derive(Debug)]
pub(crate) struct SharedPool(Mutex<BufferPool>);

impl SharedPool {
    /// Frees buffers that have been unused for some time. Called periodically by every connection.
    pub(crate) fn sweep(&self) {
        // If the pool is locked, skip the sweep. Another connection will soon sweep.
        let Some(mut pool) = self.0.try_lock() else { return };
        let old = pool.sweep(Instant::now());
        drop(pool);
        // Free the buffers outside of the lock, because freeing memory takes time.
        drop(old);
    }
}

impl MemoryPool for SharedPool {
    fn take(&self, least: usize, most: usize) -> Option<Vec<u8>> {
        self.0.lock().take(least, most)
    }

    fn put(&self, memory: Vec<u8>) {
        let surplus = self.0.lock().put(memory, Instant::now());
        drop(surplus); // Outside of the lock, because freeing memory takes time.
    }
}

/// Returns the pool of memory for large bodies, for adapters that receive or send them.
pub fn memory_pool() -> &'static dyn MemoryPool {
    &POOL
}

/// Copies bytes into reference-counted memory that several connections can share.
///
/// The memory of a long copy comes from a pool and returns to it when the last reference is dropped. The pool keeps at
/// most 32 MiB. It frees buffers that have been unused for 10 s, but checks for them only while frisbee connections are
/// open and when another buffer is returned.
pub fn copy_to_share(bytes: &[u8]) -> Bytes {
    if bytes.len() < BodyMemory::POOLED_MIN {
        return Bytes::copy_from_slice(bytes);
    }
    let mut memory = BodyMemory::new(bytes.len(), Some(&POOL));
    memory.buffer().extend_from_slice(bytes);
    memory.freeze()
}

#[derive(Debug)]
struct BufferPool {
    /// Empty buffers, each with the time at which it was returned. The most recently used one is at the end.
    buffers: VecDeque<(Vec<u8>, Instant)>,
    /// Total capacity of the pooled buffers in bytes.
    bytes: usize,
    bytes_max: usize,
}

impl BufferPool {
    const fn new(bytes_max: usize) -> Self {
        Self { buffers: VecDeque::new(), bytes: 0, bytes_max }
    }

    /// Takes the most recently used buffer with a capacity between `least` and `most` bytes, because its memory may
    /// still be in the processor's cache.
    fn take(&mut self, least: usize, most: usize) -> Option<Vec<u8>> {
        let at = self.buffers.iter().rposition(|(memory, _)| (least..=most).contains(&memory.capacity()))?;
        let (memory, _) = self.buffers.remove(at)?;
        self.bytes = self.bytes.saturating_sub(memory.capacity());
        Some(memory)
    }

    /// Adds a buffer to the pool. Removes the buffers that have been unused for too long and, if the pool is full,
    /// those that have been unused for longest. Returns the removed buffers, which the caller must drop.
    fn put(&mut self, mut memory: Vec<u8>, now: Instant) -> Vec<Vec<u8>> {
        // A buffer larger than the whole pool would evict all others and then itself.
        if memory.capacity() > self.bytes_max {
            return vec![memory];
        }
        let mut surplus = self.sweep(now);
        memory.clear();
        self.bytes = self.bytes.saturating_add(memory.capacity());
        self.buffers.push_back((memory, now));
        while self.bytes > self.bytes_max {
            let Some((oldest, _)) = self.buffers.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.capacity());
            surplus.push(oldest);
        }
        surplus
    }

    /// Removes and returns buffers that have been unused for some time.
    fn sweep(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let is_old = |(_, since): &&(Vec<u8>, Instant)| now.saturating_duration_since(*since) >= KEPT_FOR;
        // Buffers are in the order of their return, so the old ones come first.
        let count = self.buffers.iter().take_while(is_old).count();
        let old: Vec<_> = self.buffers.drain(..count).map(|(memory, _)| memory).collect();
        self.bytes = self.bytes.saturating_sub(old.iter().map(Vec::capacity).sum());
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn capacities(memory: &[Vec<u8>]) -> Vec<usize> {
        memory.iter().map(Vec::capacity).collect()
    }

    #[test]
    fn pooled_buffer_is_taken_once_if_fitting() {
        let mut pool = BufferPool::new(1024 * KIB);
        for size in [100, 200, 300] {
            assert!(pool.put(vec![7; size * KIB], Instant::now()).is_empty());
        }
        assert_eq!(pool.take(301 * KIB, 1024 * KIB), None);
        assert_eq!(pool.take(101 * KIB, 199 * KIB), None);
        let used = pool.take(150 * KIB, 250 * KIB).unwrap();
        assert_eq!((used.len(), used.capacity()), (0, 200 * KIB));
        assert_eq!(pool.take(150 * KIB, 250 * KIB), None);
        assert_eq!(pool.bytes, 400 * KIB);
        assert_eq!(pool.take(0, usize::MAX).unwrap().capacity(), 300 * KIB, "buffer used last should be taken");
    }

    #[test]
    fn full_pool_frees_oldest_buffers_first() {
        let mut pool = BufferPool::new(1000 * KIB);
        let now = Instant::now();
        for size in [300, 400, 300] {
            assert!(pool.put(vec![0; size * KIB], now).is_empty());
        }
        assert_eq!(capacities(&pool.put(vec![0; 500 * KIB], now)), [300 * KIB, 400 * KIB]);
        assert_eq!(
            capacities(&pool.put(vec![0; 1001 * KIB], now)),
            [1001 * KIB],
            "buffer that would replace all others should be freed"
        );
        assert_eq!((pool.bytes, pool.buffers.len()), (800 * KIB, 2));
    }

    #[test]
    fn unused_buffers_are_freed_later() {
        let start = Instant::now();
        let mut pool = BufferPool::new(1000 * KIB);
        pool.put(vec![0; 100 * KIB], start);
        pool.put(vec![0; 200 * KIB], start);
        assert!(pool.sweep(start + KEPT_FOR / 2).is_empty());
        let used = pool.take(100 * KIB, 100 * KIB).unwrap();
        pool.put(used, start + KEPT_FOR / 2);
        assert_eq!(capacities(&pool.sweep(start + KEPT_FOR)), [200 * KIB]);
        assert_eq!(capacities(&pool.sweep(start + 2 * KEPT_FOR)), [100 * KIB]);
        assert_eq!((pool.bytes, pool.buffers.len()), (0, 0));
    }

    #[test]
    fn memory_in_use_is_never_reused() {
        let threads: Vec<_> = (0..4_u8)
            .map(|thread| {
                std::thread::spawn(move || {
                    let mut in_use = VecDeque::new();
                    for round in 0..500_usize {
                        let content = thread.wrapping_mul(61).wrapping_add(round as u8);
                        let length = BodyMemory::POOLED_MIN + round % 7;
                        let mut memory = BodyMemory::new(length, Some(&POOL));
                        assert_eq!(memory.len(), 0);
                        memory.buffer().extend(std::iter::repeat_n(content, length));
                        let all = memory.freeze();
                        assert_eq!(all.len(), length);
                        // Keep only a slice: it must keep the memory of the whole body in use.
                        in_use.push_back((all.slice(round % 100..), content));
                        drop(all);
                        if in_use.len() > 5 {
                            let (part, content) = in_use.pop_front().unwrap();
                            assert!(
                                part.iter().all(|byte| *byte == content),
                                "buffer should not be written to by another owner"
                            );
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(POOL.0.lock().bytes <= BUFFERS_MAX);
    }
}
