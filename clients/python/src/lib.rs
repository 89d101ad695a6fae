//! The native module of the Python package `frisbee_rpc`: frpc channels and servers for Python.
//!
//! Messages are converted directly between Python objects and the wire format. A [`plan`] describes the Python form and
//! the wire form of each message, and `encode`, `decode` and `json` follow it. `client` makes calls. `drive` runs them
//! for blocking callers, and `loop_runtime` for event loops. Tasks of an event loop wait for a `reply`. `server` serves
//! Python functions, which `handler` calls, and `serving` serves the functions of a client. Features implemented in
//! Python, such as schemas from type hints, are in the Python files of the package.

mod batch;
mod buffer;
mod client;
mod decode;
mod drive;
mod encode;
mod fork;
mod handler;
mod image;
mod inbox;
mod incoming;
mod json;
mod lanes;
mod loop_runtime;
mod payload;
mod plan;
mod proto;
mod ready;
mod reply;
mod requests;
mod schema;
mod server;
mod serving;
mod socket;
mod status;
mod tensor;
mod time;
mod topics;
mod untyped;

/// The native extension module of the Python package `frisbee_rpc`.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        buffer::View,
        client::{AsyncMessages, Channel, Messages, Started},
        fork::forked,
        handler::{Completion, Context},
        inbox::Inbox,
        incoming::Incoming,
        reply::Reply,
        requests::Requests,
        schema::{Api, Schema},
        server::Server,
        topics::{Subscribed, Topics},
    };
}
