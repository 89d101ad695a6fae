//! Gateways that forward calls, serve agents, and answer datagrams.

#[cfg(feature = "forward")]
mod forward;
#[cfg(feature = "mcp")]
mod mcp;
mod udp;
