//! Returns memory that the allocator keeps to the system, where that is the allocator of the GNU C library.
//!
//! The call is the only unsafe code of this crate: no safe interface to it exists.
#![allow(unsafe_code)]

/// Returns the pages that lie within freed memory to the system; `true` if there were any.
///
/// The allocator by itself returns only the free end of its heaps, so a server that has served a burst keeps most of the
/// memory of the burst. Each arena is locked while it is searched, some milliseconds for 100 MB, so call this rarely and
/// from a thread that may wait. Does nothing with another C library or system; memory of another global allocator is not
/// touched.
pub(crate) fn malloc_trim() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` has no preconditions: it takes any padding, may be called by any thread at any time, and
    // changes no memory that is in use.
    unsafe {
        libc::malloc_trim(0) == 1
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn trim_leaves_memory_in_use_unchanged() {
        let blocks: Vec<_> = (0..10_000_u32).map(|number| vec![number; 100]).collect();
        let freed: Vec<_> = (0..10_000_u32).map(|number| vec![number; 100]).collect();
        drop(freed);
        super::malloc_trim();
        assert!(blocks.iter().zip(0..).all(|(memory, number)| memory.iter().all(|found| *found == number)));
    }
}
