//! What the benchmarks share: the schemas, the rivals, and loads to put on them.
//!
//! `cargo bench -p benches` compares with tonic call by call and measures our parts alone;
//! `cargo run --release -p cost --bin hot_path -- check` holds the instructions of a call against a threshold.

pub mod background;
pub mod cost;
pub mod flows;
pub mod load;
pub mod proto;
pub mod rivals;
pub mod text;
pub mod updates;

/// Whatever goes wrong in a benchmark ends it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
