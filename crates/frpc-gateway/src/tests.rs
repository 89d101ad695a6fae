//! Tests of gateway connections, forwarding, tools for agents, and JSON-RPC over UDP.

#[cfg(feature = "http")]
mod buffers;
#[cfg(feature = "http")]
mod connections;
#[cfg(feature = "forward")]
mod forward;
#[cfg(feature = "http")]
mod http2;
#[cfg(feature = "http")]
mod http2_client;
#[cfg(feature = "ion")]
mod ion;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "http")]
mod paths;
#[cfg(feature = "http")]
mod turns;
mod udp;
