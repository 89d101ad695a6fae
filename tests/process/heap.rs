//! Tests of allocations, counted for all threads of the process.

mod allocator;
mod bursts;
mod calls;
mod decoding;
mod exports;
mod histories;
mod idle;
mod idle_gateway;
mod idle_tls;
#[path = "../schemas/tests/random.rs"]
mod random;
mod topics;
#[cfg(feature = "uring")]
mod unread;

#[global_allocator]
static ALLOCATOR: allocator::CountingAllocator = allocator::CountingAllocator;
