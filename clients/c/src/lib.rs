//! The library for C and C++: calls of frpc, and functions of C served. `include/frisbee.h` declares the exported
//! functions; it is made from these sources.
//!
//! C holds objects by `handle`s, which are numbers, so misuse is an error and not a crash. `raw` is the border: it
//! reads pointers, and turns errors and panics into codes. `client` and `stream` make calls, `completion` and `queue` pass
//! replies to functions and to event loops, `server` serves functions, and `call` and `parameters`
//! are a call as its function sees it. Messages are converted by
//! `payload`, with types of a `schema`; a `body` is their bytes.

// C's functions take pointers and have C's names; that is the purpose of this crate.
#![allow(unsafe_code, non_camel_case_types)]
#![cfg(unix)]

mod body;
pub mod call;
pub mod client;
mod completion;
mod handle;
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
mod unary;
