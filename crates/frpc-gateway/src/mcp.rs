//! The Model Context Protocol. Agents list and call selected methods as tools.
//!
//! A session of [`json_rpc`](crate::json_rpc) handles the messages and calls the tools.
//!
//! * `mcp/settings.rs`: builder
//! * `mcp/tools.rs`: list of tools, with the schemas of `mcp/schema.rs`
//! * `mcp/params.rs`: parsing and validation of requests
//! * `mcp/reply.rs`: encoding of results
//! * `mcp/http.rs`: endpoint for the Streamable HTTP transport
//! * `mcp/in_flight.rs`: calls that another request may cancel
//!
//! Two generations of the protocol are supported. Until 2025-11-25, a client starts with `initialize`. From 2026-07-28,
//! each request states its version in `_meta`, and there is no session. Both are served without state, except for the
//! ids of calls in progress.
//!
//! The crate `rmcp` is not used, because version 3.11 without features depends on 61 packages, among them `serde_json`,
//! `chrono` and `sha2`. Its messages are `serde_json` trees, which do not preserve numbers and ids byte for byte. Here,
//! the methods themselves write JSON, and ten short texts around it suffice.

pub(crate) mod http;
mod in_flight;
pub(crate) mod params;
pub(crate) mod reply;
mod schema;
pub(crate) mod settings;
mod tools;

pub(crate) use in_flight::InFlight;
pub(crate) use tools::{ResultShape, Tool};
