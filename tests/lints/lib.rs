//! Includes generated code in a crate that forbids lints. The test is that the crate compiles, and that clippy reports
//! only lints that generated code allows by name.
// `dead_code` cannot be forbidden: the derive macro of prost writes `#[allow(dead_code)]`.
#![forbid(deprecated, missing_docs, unreachable_pub)]
#![deny(warnings, clippy::all, clippy::pedantic)]

/// Everything with default options.
pub mod default {
    include!(concat!(env!("OUT_DIR"), "/all.rs"));
}

/// Everything with views, JSON and traits for trait objects.
pub mod views {
    include!(concat!(env!("OUT_DIR"), "/views/all.rs"));
}
