//! [`Serving`]: a client that serves functions as well, so that its server can call it. Threads of its own drive its
//! connection, since calls come at any time; it connects at once, and again when the connection is lost.

use crate::client::Offered;
use crate::lanes::{Lane, Settings, Site};
use crate::server::services;
use frpc_reflection::Reflection;
use pyo3::prelude::*;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

/// A channel with services.
pub(crate) struct Serving {
    channel: frpc::Channel,
    /// `None` once it is dropped.
    runtime: Option<Runtime>,
    /// Stays connected.
    staying: AbortHandle,
    timeout: Option<f64>,
}

impl Serving {
    pub(crate) fn new(py: Python<'_>, settings: Settings, offered: Offered) -> PyResult<Self> {
        let (functions, report, shows_errors, threads, event_loop) = offered;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            // One more looks up names.
            .max_blocking_threads(threads.saturating_add(1))
            .thread_name("frisbee-rpc-client")
            .enable_all()
            .build()?;
        let pool = Arc::new(Semaphore::new(threads.clamp(1, Semaphore::MAX_PERMITS)));
        let services = services(py, functions, report.bind(py), shows_errors, &pool, event_loop.as_ref())?;
        let context = runtime.enter();
        let channel = settings.channel_with(|builder| {
            services.into_iter().fold(builder.add_service(Reflection::new()), frpc::ChannelBuilder::add_service)
        })?;
        drop(context);
        let stays = channel.clone();
        let staying = runtime.spawn(async move { stays.stay_connected().await }).abort_handle();
        Ok(Self { channel, runtime: Some(runtime), staying, timeout: settings.timeout })
    }

    pub(crate) fn channel(&self) -> &frpc::Channel {
        &self.channel
    }

    pub(crate) fn handle(&self) -> &Handle {
        self.runtime.as_ref().expect("it is taken only when it is dropped").handle()
    }

    pub(crate) fn lane(&self) -> Lane {
        let site = Site::Thread(self.handle().clone());
        Lane { channel: self.channel.clone(), site, timeout: self.timeout }
    }

    /// Ends the connection. Calls in flight fail.
    pub(crate) fn close(&self) {
        self.staying.abort();
        self.channel.close();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.close();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
