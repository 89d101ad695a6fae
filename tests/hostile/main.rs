//! Tests of broken and hostile peers, and of failing networks.

mod batches;
mod clients;
#[cfg(target_os = "linux")]
mod greedy;
#[path = "../memory/main.rs"]
mod memory;
mod network;
mod packed;
mod servers;
mod siege;
