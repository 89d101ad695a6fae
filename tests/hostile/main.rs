//! Broken and hostile peers, and networks that fail.

mod batches;
mod clients;
mod network;
mod packed;
mod servers;
mod siege;
