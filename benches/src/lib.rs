//! Common code of the benchmarks: the schemas, the rivals, and their loads.
//!
//! `cargo bench -p benches` compares calls with tonic and measures our parts individually. `cargo run --release -p cost
//! --bin hot_path -- check` checks the instructions of a call against a threshold.

pub mod background;
pub mod cost;
pub mod flows;
pub mod load;
pub mod proto;
pub mod rivals;
pub mod text;
pub mod updates;

/// Any error ends a benchmark.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
