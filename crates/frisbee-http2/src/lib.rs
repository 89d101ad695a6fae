//! HTTP/2 without I/O: it turns bytes and time into requests, responses and bytes.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub mod hpack;
