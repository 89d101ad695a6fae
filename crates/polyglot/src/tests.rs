//! Tests of the guarantees of this crate: encoded bytes, limits, errors, presence, and views.

mod errors;
mod limits;
mod nesting;
mod presence;
mod properties;
mod schema;
mod vectors;
mod views;
