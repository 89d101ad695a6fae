//! The native half of the Python package `frisbee_rpc`: channels and servers of frpc for Python.
//!
//! Messages go between Python's objects and the wire without a tree of values in between: [`plan`] says for each
//! message its form in Python and on the wire, and `encode`, `decode` and `json` follow it. `client` makes calls, which
//! `drive` runs for callers that block, and `loop_runtime` for event loops, whose tasks wait for a `reply`; `server` serves
//! functions of Python, which `handler` calls, and `serving` those of a client. Parts in Python alone, such as schemas
//! of type hints, are in the Python files of the package.

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
mod openrpc;
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

use pyo3::prelude::*;

/// The native half of `frisbee_rpc`.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<buffer::View>()?;
    module.add_class::<client::Channel>()?;
    module.add_class::<client::Messages>()?;
    module.add_class::<client::AsyncMessages>()?;
    module.add_class::<client::Started>()?;
    module.add_class::<reply::Reply>()?;
    module.add_class::<requests::Requests>()?;
    module.add_class::<inbox::Inbox>()?;
    module.add_class::<incoming::Incoming>()?;
    module.add_class::<schema::Schema>()?;
    module.add_class::<schema::Api>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<topics::Topics>()?;
    module.add_class::<topics::Subscribed>()?;
    module.add_class::<handler::Completion>()?;
    module.add_class::<handler::Context>()?;
    module.add_function(wrap_pyfunction!(fork::forked, module)?)?;
    Ok(())
}
