//! Memory of large bodies, which is used again.
//!
//! Memory of this size goes back to the system when it is freed, and comes from there page by page, each filled with
//! zeros when it is touched first: for a body that costs as much as receiving it. So what a body has lain in is kept
//! for the next ones, little of it and not for long.
//!
//! A peer gains nothing by that. How much memory a body gets is decided by what has been received of it, whether it is
//! new or used; and memory comes back here when the last [`Bytes`] that share it are gone, never earlier.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shorter memory is left to the allocator, which keeps what is freed of it.
pub(crate) const POOLED_MIN: usize = 64 * 1024;

/// What is kept at most, in bytes, by the whole process. What bodies lie in goes up and down by some bodies for each
/// core; this is an eighth of what a server may hold of input unless told otherwise.
const KEPT_MAX: usize = 32 * 1024 * 1024;

/// What is not used for this long is freed, and at the latest after twice the time.
const KEPT_FOR: Duration = Duration::from_secs(10);

static POOL: Mutex<Pool> = Mutex::new(Pool::new(KEPT_MAX));

/// Where in a page a body begins. Memory of this size begins at a page, and so does what a large write leaves in the
/// kernel, but for a few bytes. Copying between addresses that differ by a few bytes modulo the size of a page takes
/// ten times as long as otherwise on some processors, which mistake what was written last for what is read next; half a
/// page apart it never happens.
const BEGIN: usize = PAGE / 2;
const PAGE: usize = 4096;

/// Memory that goes back to the pool when it is dropped.
///
/// However it was come by, it has room for as much as was asked for: what a connection does must not depend on what
/// others have left.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    bytes: Vec<u8>,
    /// What is held begins here.
    start: usize,
    /// How many bytes it may hold.
    room: usize,
}

impl Memory {
    /// Empty memory with room for so many bytes. If it is used it may in truth be longer, by a quarter at most.
    pub(crate) fn take(room: usize) -> Self {
        if room < POOLED_MIN {
            return Self { bytes: Vec::with_capacity(room), start: 0, room };
        }
        let capacity = room.saturating_add(PAGE);
        let used = lock().take(capacity, capacity.saturating_add(room / 4));
        let mut bytes = used.unwrap_or_else(|| Vec::with_capacity(capacity));
        let start = BEGIN.wrapping_sub(bytes.as_ptr().addr()) % PAGE;
        bytes.resize(start, 0);
        Self { bytes, start, room }
    }

    /// How many bytes it holds.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    /// How many bytes it may hold.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// How many more bytes it may hold.
    pub(crate) fn left(&self) -> usize {
        self.room.saturating_sub(self.len())
    }

    /// The buffer to append to. What stands in it already must stay.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What it holds, to be shared.
    pub(crate) fn freeze(mut self) -> Bytes {
        if self.bytes.capacity() < POOLED_MIN {
            return std::mem::take(&mut self.bytes).into();
        }
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.bytes.capacity() >= POOLED_MIN {
            let surplus = lock().put(std::mem::take(&mut self.bytes));
            drop(surplus); // With the lock released, since the system takes its time.
        }
    }
}

/// Copies bytes that are to be shared. Where they are many, the memory is used again once nobody has them any more, as
/// that of large bodies is: 32 MiB of it are kept at most, for 20 s at most.
pub fn copy_to_share(bytes: &[u8]) -> Bytes {
    if bytes.len() < POOLED_MIN {
        return Bytes::copy_from_slice(bytes);
    }
    let mut memory = Memory::take(bytes.len());
    memory.buffer().extend_from_slice(bytes);
    memory.freeze()
}

/// Frees what has not been used for long. Called now and then by every connection there is.
pub(crate) fn sweep(now: Instant) {
    let Ok(mut pool) = POOL.try_lock() else { return };
    let old = pool.sweep(now);
    drop(pool);
    drop(old);
}

fn lock() -> std::sync::MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Pool {
    /// Empty, the one used last at the end, each with the sweep after which it came.
    kept: VecDeque<(Vec<u8>, u32)>,
    /// The sum of their capacities.
    bytes: usize,
    bytes_max: usize,
    sweeps: u32,
    swept: Option<Instant>,
}

impl Pool {
    const fn new(bytes_max: usize) -> Self {
        Self { kept: VecDeque::new(), bytes: 0, bytes_max, sweeps: 0, swept: None }
    }

    /// One with a capacity in the range. Of those the one used last, which may still be in the processor's cache.
    fn take(&mut self, least: usize, most: usize) -> Option<Vec<u8>> {
        let at = self.kept.iter().rposition(|(memory, _)| (least..=most).contains(&memory.capacity()))?;
        let (memory, _) = self.kept.remove(at)?;
        self.bytes = self.bytes.saturating_sub(memory.capacity());
        Some(memory)
    }

    /// Keeps memory, in place of what has not been used for longest; gives what there is no room for.
    fn put(&mut self, mut memory: Vec<u8>) -> Vec<Vec<u8>> {
        let mut surplus = Vec::new();
        if memory.capacity() > self.bytes_max {
            surplus.push(memory);
            return surplus;
        }
        memory.clear();
        self.bytes = self.bytes.saturating_add(memory.capacity());
        self.kept.push_back((memory, self.sweeps));
        while self.bytes > self.bytes_max {
            let Some((oldest, _)) = self.kept.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.capacity());
            surplus.push(oldest);
        }
        surplus
    }

    /// Gives what has not been used since the sweep before, if that was long enough ago.
    fn sweep(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut old = Vec::new();
        // Clocks of tests may stand behind each other.
        let since = self.swept.filter(|swept| *swept <= now).map(|swept| now.saturating_duration_since(swept));
        match since {
            Some(since) if since < KEPT_FOR => return old,
            Some(_) => {}
            None => {
                self.swept = Some(now);
                return old;
            }
        }
        while self.kept.front().is_some_and(|(_, sweeps)| *sweeps != self.sweeps) {
            let Some((memory, _)) = self.kept.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(memory.capacity());
            old.push(memory);
        }
        self.swept = Some(now);
        self.sweeps = self.sweeps.wrapping_add(1);
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
    fn memory_is_given_out_once_and_only_where_it_fits() {
        let mut pool = Pool::new(1024 * KIB);
        for size in [100, 200, 300] {
            assert!(pool.put(vec![7; size * KIB]).is_empty());
        }
        assert_eq!(pool.take(301 * KIB, 1024 * KIB), None);
        assert_eq!(pool.take(101 * KIB, 199 * KIB), None);
        let used = pool.take(150 * KIB, 250 * KIB).unwrap();
        assert_eq!((used.len(), used.capacity()), (0, 200 * KIB));
        assert_eq!(pool.take(150 * KIB, 250 * KIB), None);
        assert_eq!(pool.bytes, 400 * KIB);
        assert_eq!(pool.take(0, usize::MAX).unwrap().capacity(), 300 * KIB, "the one used last");
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_gives_way() {
        let mut pool = Pool::new(1000 * KIB);
        assert!(pool.put(vec![0; 300 * KIB]).is_empty());
        assert!(pool.put(vec![0; 400 * KIB]).is_empty());
        assert!(pool.put(vec![0; 300 * KIB]).is_empty());
        assert_eq!(capacities(&pool.put(vec![0; 500 * KIB])), [300 * KIB, 400 * KIB]);
        assert_eq!(capacities(&pool.put(vec![0; 1001 * KIB])), [1001 * KIB], "it would take the place of all others");
        assert_eq!((pool.bytes, pool.kept.len()), (800 * KIB, 2));
    }

    #[test]
    fn what_is_not_used_is_freed_after_a_while() {
        let start = Instant::now();
        let mut pool = Pool::new(1000 * KIB);
        assert!(pool.sweep(start).is_empty());
        pool.put(vec![0; 100 * KIB]);
        pool.put(vec![0; 200 * KIB]);
        assert!(pool.sweep(start + KEPT_FOR / 2).is_empty());
        assert!(pool.sweep(start + KEPT_FOR).is_empty(), "it may have come just now");
        let used = pool.take(100 * KIB, 100 * KIB).unwrap();
        pool.put(used);
        assert_eq!(capacities(&pool.sweep(start + 2 * KEPT_FOR)), [200 * KIB]);
        assert_eq!(capacities(&pool.sweep(start + 3 * KEPT_FOR)), [100 * KIB]);
        assert_eq!((pool.bytes, pool.kept.len()), (0, 0));
    }

    #[test]
    fn memory_that_somebody_still_has_is_never_given_to_another() {
        let threads: Vec<_> = (0..4_u8)
            .map(|thread| {
                std::thread::spawn(move || {
                    let mut held = VecDeque::new();
                    for round in 0..500_usize {
                        let content = thread.wrapping_mul(61).wrapping_add(round as u8);
                        let length = POOLED_MIN + round % 7;
                        let mut memory = Memory::take(length);
                        assert_eq!(memory.len(), 0);
                        memory.buffer().extend(std::iter::repeat_n(content, length));
                        let all = memory.freeze();
                        assert_eq!((all.len(), all.as_ptr().addr() % PAGE), (length, BEGIN));
                        // A part outlives the whole.
                        held.push_back((all.slice(round % 100..), content));
                        drop(all);
                        if held.len() > 5 {
                            let (part, content) = held.pop_front().unwrap();
                            assert!(part.iter().all(|byte| *byte == content), "somebody else has written into it");
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(lock().bytes <= KEPT_MAX);
    }
}
