//! Promises of the crate: bytes, verdicts, limits, errors, presence, views.

mod errors;
mod limits;
mod nesting;
mod presence;
mod properties;
mod schema;
mod vectors;
mod views;
