//! Additional protocols on the port of an frpc server: JSON-RPC, HTTP and WebSocket.
//!
//! If a connection does not start with a frame of the native frpc protocol, its protocol is detected from its first
//! bytes. Calls in all protocols reach the same service implementations and are subject to the same middleware,
//! policies, deadlines and limits. Every protocol must be enabled in the [`Gateway`].
//!
//! # Features
//!
//! * `console`: a web page for exploring and calling services, `Console`.
//! * `forward`: services that forward their calls to another server, `Forward`; with the feature `grpc` of frpc also to
//!   a gRPC server.
//! * `http` (default): HTTP and WebSocket. Without it, only JSON-RPC over TCP is available.
//! * `ion`: Amazon Ion as an encoding of JSON-RPC messages over HTTP.
//! * `mcp`: tools for agents, `Mcp`.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(test)]
extern crate self as frpc_gateway;

#[cfg(feature = "http")]
mod base64;
mod charge;
mod clock;
#[cfg(feature = "http")]
mod connect;
#[cfg(feature = "console")]
mod console;
pub mod driver;
#[cfg(feature = "forward")]
mod forward;
mod gateway;
#[cfg(feature = "http")]
mod grpc;
#[cfg(feature = "http")]
mod gzip;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod inbound;
mod json_rpc;
#[cfg(feature = "http")]
mod locks;
mod mailbox;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(any(feature = "forward", feature = "http"))]
mod proxies;
#[cfg(any(feature = "forward", feature = "http"))]
mod reserved_fields;
mod scratch;
#[cfg(feature = "http")]
mod streams;
mod udp;
#[cfg(feature = "http")]
mod web;
#[cfg(feature = "http")]
pub mod web_socket;

#[cfg(feature = "console")]
pub use console::Console;
#[cfg(feature = "forward")]
pub use forward::{Forward, ForwardFields, ForwardService};
pub use frpc::Trailers;
pub use gateway::{Gateway, ServeGateway};
#[cfg(feature = "http")]
pub use http::settings::Http;
#[cfg(feature = "mcp")]
pub use mcp::settings::Mcp;
pub use udp::Udp;

#[cfg(test)]
mod tests;
