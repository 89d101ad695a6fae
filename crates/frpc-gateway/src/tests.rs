//! Connections of gateways, and gateways that forward calls, serve agents, and answer datagrams.

#[cfg(feature = "http")]
mod connections;
#[cfg(feature = "forward")]
mod forward;
#[cfg(feature = "ion")]
mod ion;
#[cfg(feature = "mcp")]
mod mcp;
mod udp;
