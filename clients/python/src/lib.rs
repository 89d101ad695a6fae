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

use pyo3::prelude::*;

/// The native extension module of the Python package `frisbee_rpc`.
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
