//! Streams over shared memory, asynchronous and blocking.

mod blocking;
mod streams;
