//! The system's allocator, with counters for all threads. `valgrind --tool=dhat` shows where the counted blocks were
//! allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

static LIVE: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Number of bytes in currently allocated blocks.
pub(crate) fn live() -> usize {
    LIVE.load(Relaxed)
}

/// Number of allocations so far. Resizing a block counts as another allocation.
pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// Total number of bytes of all allocations so far.
pub(crate) fn allocated() -> u64 {
    BYTES.load(Relaxed)
}

thread_local! {
    // Initialized by a constant and without a destructor, so that access does not allocate.
    static IS_COUNTED: Cell<bool> = const { Cell::new(true) };
}

/// Guard that excludes the current thread from all counters. Blocks that the thread allocates under the guard must be
/// freed by the same thread, also under the guard.
pub(crate) struct Uncounted(());

impl Uncounted {
    pub(crate) fn begin() -> Self {
        IS_COUNTED.set(false);
        Self(())
    }
}

impl Drop for Uncounted {
    fn drop(&mut self) {
        IS_COUNTED.set(true);
    }
}

pub(crate) struct CountingAllocator;

impl CountingAllocator {
    fn count(block: *mut u8, size: usize, freed: usize) -> *mut u8 {
        if !block.is_null() && IS_COUNTED.get() {
            // A single wrapping addition. With two operations, other threads could read a sum without the freed bytes.
            LIVE.fetch_add(size.wrapping_sub(freed), Relaxed);
            ALLOCATIONS.fetch_add(1, Relaxed);
            BYTES.fetch_add(size as u64, Relaxed);
        }
        block
    }
}

// SAFETY: All calls are passed to the system's allocator unchanged. Counting neither allocates nor panics.
#[allow(unsafe_code, reason = "the trait of allocators has unsafe methods alone")]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller keeps the contract, which is the same.
        Self::count(unsafe { System.alloc(layout) }, layout.size(), 0)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller keeps the contract, which is the same.
        Self::count(unsafe { System.alloc_zeroed(layout) }, layout.size(), 0)
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: The caller keeps the contract, which is the same.
        Self::count(unsafe { System.realloc(block, layout, size) }, size, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if IS_COUNTED.get() {
            LIVE.fetch_sub(layout.size(), Relaxed);
        }
        // SAFETY: The caller keeps the contract, which is the same.
        unsafe { System.dealloc(block, layout) }
    }
}
