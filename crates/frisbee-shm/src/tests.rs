//! Tests of asynchronous and blocking streams.

mod blocking;
mod streams;
