//! What users of the crate see.

#[cfg(feature = "json")]
mod json;
mod npy;
mod views;
