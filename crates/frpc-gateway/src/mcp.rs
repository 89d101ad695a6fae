//! The Model Context Protocol. Agents list and call selected methods as tools.
//!
//! `mcp/settings.rs` has the builder, and `mcp/tools.rs` the list of tools with the schemas of `mcp/schema.rs`.
//! `mcp/params.rs` parses and checks requests, and `mcp/reply.rs` encodes results. Messages and calls are handled by a
//! session of [`json_rpc`](crate::json_rpc), which calls the tools. `mcp/http.rs` is the Streamable HTTP endpoint, and
//! `mcp/in_flight.rs` tracks calls that another request may cancel.
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
