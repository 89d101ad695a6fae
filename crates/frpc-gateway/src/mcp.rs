//! The Model Context Protocol: methods of chosen services as tools that agents list and call.
//!
//! `mcp/settings.rs` has the builder, `mcp/tools.rs` the list of tools with the schemas of `mcp/schema.rs`. `mcp/params.rs`
//! reads and checks requests, `mcp/reply.rs` writes results. Messages and calls are those of [`json_rpc`](crate::json_rpc),
//! whose session calls the tools; `mcp/http.rs` is the endpoint for Streamable HTTP, `mcp/in_flight.rs` knows the calls
//! that another request may cancel.
//!
//! Two generations of the protocol are served. Up to 2025-11-25 a client begins with `initialize`. From 2026-07-28 on each
//! request states its version in `_meta`, and there is no session. Both are answered without state, except for the ids of
//! calls in progress.
//!
//! The types of the crate `rmcp` are not used. Version 3.11 without features brings 61 packages, among them `serde_json`,
//! `chrono` and `sha2`, and its messages are trees of `serde_json`, whose numbers and ids are not those of the client to
//! the byte. The results here are ten short texts around JSON that the methods write themselves.

pub(crate) mod http;
mod in_flight;
pub(crate) mod params;
pub(crate) mod reply;
mod schema;
pub(crate) mod settings;
mod tools;

pub(crate) use in_flight::InFlight;
pub(crate) use tools::{ResultShape, Tool};
