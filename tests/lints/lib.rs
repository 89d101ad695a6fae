//! Includes generated code in a crate that forbids lints. The test is that this crate compiles, and that clippy reports
//! only lints that generated code allows by name.
//!
//! `dead_code` cannot be forbidden, because the derive macro of prost emits `#[allow(dead_code)]`.
#![forbid(deprecated, missing_docs, unreachable_pub)]
#![deny(warnings, clippy::all, clippy::pedantic)]

/// Code generated with default options.
pub mod default {
    include!(concat!(env!("OUT_DIR"), "/all.rs"));
}

/// Code generated with views, JSON and object-safe traits.
pub mod views {
    include!(concat!(env!("OUT_DIR"), "/views/all.rs"));
}
