//! Returns free memory of the GNU C library's allocator to the operating system.
//!
//! `malloc_trim` has no safe binding.
#![allow(unsafe_code)]

/// Releases free pages of the allocator to the operating system. Returns whether any pages were released.
///
/// Without this call, the allocator returns only the free ends of its heaps, so a server keeps most of the memory of a
/// burst. Each arena is locked while it is searched, which takes some milliseconds per 100 MB. Call this rarely, and
/// from a thread that may block. Has no effect with other C libraries, on other systems, or for another global
/// allocator.
pub(crate) fn malloc_trim() -> bool {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` has no preconditions. It accepts any padding, may be called by any thread at any time, and
    // does not change memory that is in use.
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
