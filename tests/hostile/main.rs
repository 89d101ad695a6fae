//! Broken and hostile peers, and networks that fail.

mod clients;
mod network;
mod servers;
mod siege;
