//! [`Serving`]: a client that also serves functions to its server. Dedicated threads drive its connection, because
//! calls can arrive at any time. It connects immediately, and reconnects when the connection is lost.

use crate::client::Offered;
use crate::drive::RuntimeGuard;
use crate::handler::Function;
use crate::lanes::{Lane, Settings, Site};
use crate::server::{Functions, services};
use frpc_reflection::Reflection;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// A channel of a client that also serves functions to the server.
pub(crate) struct Serving {
    pub(crate) channel: frpc::Channel,
    /// Runtime that drives the connection.
    runtime: RuntimeGuard,
    /// Task that keeps the channel connected even without calls.
    staying: AbortHandle,
    /// The functions that are served.
    functions: Vec<Arc<Function>>,
    timeout: Option<f64>,
}

impl Serving {
    pub(crate) fn new(py: Python<'_>, settings: Settings, offered: Offered) -> PyResult<Self> {
        let (functions, report, shows_errors, threads, event_loop) = offered;
        let runtime = RuntimeGuard::with_threads("frisbee-rpc-client", 1, threads)?;
        let pool = Arc::new(Semaphore::new(threads.clamp(1, Semaphore::MAX_PERMITS)));
        let services = services(py, functions, report.bind(py), shows_errors, &pool, event_loop.as_ref())?;
        let functions = services.iter().flat_map(Functions::functions).cloned().collect();
        // Enter the runtime, because the channel is bound to the one that is current when it is built.
        let context = runtime.enter();
        let channel = settings.channel_with(|builder| {
            services.into_iter().fold(builder.add_service(Reflection::new()), frpc::ChannelBuilder::add_service)
        })?;
        drop(context);
        let stays = channel.clone();
        let staying = runtime.spawn(async move { stays.stay_connected().await }).abort_handle();
        Ok(Self { channel, runtime, staying, functions, timeout: settings.timeout })
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    pub(crate) fn lane(&self) -> Lane {
        let site = Site::Thread(self.handle().clone());
        Lane { channel: self.channel.clone(), site, timeout: self.timeout }
    }

    /// Shows the functions to Python's garbage collector. They end with this client, although its connection also
    /// refers to them.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.functions.iter().try_for_each(|function| {
            visit.call(&function.call)?;
            visit.call(&function.report)
        })
    }

    /// Prevents further calls. The connection closes when the calls in flight have ended.
    pub(crate) fn close(&self) {
        // Abort the reconnecting task first, because it would replace the closed connection.
        self.staying.abort();
        self.channel.close();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.close();
    }
}
