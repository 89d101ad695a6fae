//! What calls and connections take from the allocator. In a process of its own, since the allocator counts for all
//! threads, and one test after the other.

mod bursts;
mod calls;
mod idle;

use tokio::sync::Mutex;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Held by the test that runs.
static ALONE: Mutex<()> = Mutex::const_new(());
