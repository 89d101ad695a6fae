//! What the benchmarks share: the schemas, the rivals, and loads to put on them.
//!
//! `cargo bench -p benches` compares with tonic call by call and measures our parts alone;
//! `cargo run --release -p benches --bin hot_path -- check` holds the instructions of a call against a threshold.

pub mod background;
#[cfg(feature = "rivals")]
pub mod contest;
pub mod cost;
pub mod flows;
pub mod load;
#[cfg(feature = "rivals")]
pub mod meter;
#[cfg(feature = "rivals")]
pub mod process;
pub mod proto;
pub mod rivals;
pub mod text;
pub mod updates;

/// Whatever goes wrong in a benchmark ends it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
