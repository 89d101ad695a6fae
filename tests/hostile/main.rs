//! Broken and hostile peers, and networks that fail.

mod batches;
mod clients;
#[path = "../memory/main.rs"]
mod memory;
mod network;
mod packed;
mod servers;
mod siege;
