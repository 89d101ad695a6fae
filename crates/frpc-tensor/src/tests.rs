//! Tests of the public interface.

#[cfg(feature = "json")]
mod json;
mod npy;
mod views;
