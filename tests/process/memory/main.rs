//! Allocations, counted for all threads of a process. Each test runs in a process
//! of its own, one at a time.

mod bursts;
mod calls;
mod decoding;
mod exports;
mod heap;
mod histories;
mod idle;
#[path = "../../schemas/tests/random.rs"]
mod random;
mod topics;
mod web_sockets;

#[global_allocator]
static ALLOCATOR: heap::CountingAllocator = heap::CountingAllocator;
