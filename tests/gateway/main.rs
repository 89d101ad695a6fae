//! The doors of a server to other protocols.

mod json_rpc;
mod support;
