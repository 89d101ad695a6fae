//! The client and server library for C and C++. `include/frisbee.h` declares the exported functions and is generated
//! from these sources.
//!
//! C programs refer to objects by `handle`s. These are numbers, so misuse causes an error instead of a crash. `raw` is
//! the FFI boundary: it reads pointers, and converts errors and panics to codes. `client` and `stream` make calls, and
//! `completion` and `queue` pass replies to callbacks and event loops. `server` serves C functions; `call` and
//! `parameters` are the function's view of a call. `payload` converts messages with the types of a `schema`, and a
//! `body` holds their bytes. `packets`, `hand_off` and `topics` are for programs that use more than calls.

// The crate exports C functions, which take pointers and have C names.
#![allow(unsafe_code, non_camel_case_types)]
#![cfg(unix)]

mod body;
pub mod call;
pub mod client;
mod completion;
pub mod hand_off;
mod handle;
pub mod packets;
pub mod parameters;
pub mod payload;
pub mod queue;
pub mod raw;
pub mod reply;
mod running;
mod runtime;
mod schema;
pub mod server;
mod signature;
pub mod stream;
pub mod topics;
mod unary;
