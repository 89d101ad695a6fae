//! Allocations, counted for all threads of a process. Each test runs in a process
//! of its own, one at a time.

mod bursts;
mod calls;
mod idle;
mod topics;
mod web_sockets;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;
