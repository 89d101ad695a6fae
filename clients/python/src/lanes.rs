//! [`Lanes`]: the connections of an asyncio client, one per event loop. Each loop drives its connection, so calls wake
//! no other thread. With TLS, and for callers within a handler, a thread of the process drives one connection for all
//! loops.

use crate::client::duration;
use crate::drive;
use crate::inbox::{Inbox, Sender};
use crate::loop_runtime::LoopRuntime;
use crate::socket::{Socket, Stream};
use crate::status::failed;
use frpc::tls::{Authorities, ClientTls, Identity};
use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// Certificates of the trusted authorities, and the certificate and private key of the client, all as PEM.
pub(crate) type Tls = (Vec<u8>, Option<(Vec<u8>, Vec<u8>)>);

/// Settings of a channel, as passed from Python.
pub(crate) struct Settings {
    address: String,
    tls: Option<ClientTls>,
    server_name: Option<String>,
    pub(crate) timeout: Option<f64>,
    /// Maximum length of message bodies in bytes, or `None` for the default.
    body_max: Option<u32>,
}

impl Settings {
    pub(crate) fn new(
        address: &str,
        tls: Option<Tls>,
        server_name: Option<String>,
        timeout: Option<f64>,
        body_max: Option<u32>,
    ) -> PyResult<Self> {
        let tls = tls.map(|(authorities, identity)| {
            let refused = |error: frpc::tls::TlsError| PyValueError::new_err(format!("tls: {error}"));
            let tls = ClientTls::new(Authorities::from_pem(authorities).map_err(refused)?).map_err(refused)?;
            match identity {
                Some((chain, key)) => {
                    tls.with_identity(Identity::from_pem(chain, key).map_err(refused)?).map_err(refused)
                }
                None => Ok(tls),
            }
        });
        Ok(Self { address: address.to_owned(), tls: tls.transpose()?, server_name, timeout, body_max })
    }

    fn builder(&self) -> PyResult<frpc::ChannelBuilder> {
        let mut builder = frpc::Channel::builder().workers(frpc::Workers::Caller);
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(duration("timeout", timeout)?);
        }
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        if let Some(body_max) = self.body_max {
            builder = builder.config(frpc::frisbee::Config::default().body_max(body_max));
        }
        Ok(match &self.server_name {
            Some(name) => builder.server_name(name.clone()),
            None => builder,
        })
    }

    /// Creates a channel that is driven by the current runtime.
    pub(crate) fn channel(&self) -> PyResult<frpc::Channel> {
        self.channel_with(|builder| builder)
    }

    /// Like [`channel`](Self::channel), but calls `add` to add services that the client offers.
    pub(crate) fn channel_with(
        &self,
        add: impl FnOnce(frpc::ChannelBuilder) -> frpc::ChannelBuilder,
    ) -> PyResult<frpc::Channel> {
        add(self.builder()?).connect_lazy(&*self.address).map_err(failed)
    }

    /// Returns a frisbee client builder with these settings, for connections that do not use frpc.
    pub(crate) fn frisbee_builder(&self) -> frpc::frisbee::ClientBuilder {
        let mut builder = frpc::frisbee::Client::builder();
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        if let Some(name) = &self.server_name {
            builder = builder.server_name(name.clone());
        }
        if let Some(body_max) = self.body_max {
            builder = builder.config(frpc::frisbee::Config::default().body_max(body_max));
        }
        builder
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Creates a channel that is driven by an event loop.
    fn channel_in(&self, loop_runtime: &Arc<LoopRuntime>) -> PyResult<frpc::Channel> {
        let _context = loop_runtime.handle.enter();
        let (address, weak, sender) = (self.address.clone(), Arc::downgrade(loop_runtime), loop_runtime.sender.clone());
        let connector = move || connected(address.clone(), weak.clone(), sender.clone());
        self.builder()?.connect_lazy_with_connector(connector).map_err(failed)
    }
}

/// Connects on the background thread, which has an I/O poller and resolves names.
async fn connected(address: String, loop_runtime: Weak<LoopRuntime>, sender: Sender) -> io::Result<Socket> {
    let (mut done, connected) = oneshot::channel();
    drive::background().map_err(io::Error::other)?.spawn(async move {
        let stream = tokio::select! {
            stream = connect(&address) => {
                stream.map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))
            }
            // The caller has cancelled the call.
            () = done.closed() => return,
        };
        let _ = done.send(stream);
        // Ring, because a result sent from another thread does not wake the event loop that drives the receiver.
        sender.ring();
    });
    let stream = connected.await.map_err(io::Error::other)??;
    Ok(Socket::new(stream, loop_runtime))
}

async fn connect(address: &str) -> io::Result<Stream> {
    if let Some(path) = address.strip_prefix("unix:") {
        return Ok(Stream::Unix(frpc::frisbee::connect_unix(path).await?.into_std()?));
    }
    Ok(Stream::Tcp(frpc::frisbee::connect_tcp(address).await?.into_std()?))
}

/// Connections of an asyncio client, one for each event loop.
pub(crate) struct Lanes {
    settings: Settings,
    /// Channel that is driven by the background thread.
    shared: frpc::Channel,
    by_loop: Mutex<Vec<(Weak<LoopRuntime>, frpc::Channel)>>,
    is_closed: AtomicBool,
}

/// Connection of an asyncio client for one event loop.
pub(crate) struct Lane {
    pub(crate) channel: frpc::Channel,
    pub(crate) site: Site,
    /// Default timeout in seconds of calls on this connection.
    pub(crate) timeout: Option<f64>,
}

impl Lanes {
    pub(crate) fn new(settings: Settings) -> PyResult<Self> {
        let background = drive::background()?;
        let _context = background.enter();
        let shared = settings.channel()?;
        Ok(Self { settings, shared, by_loop: Mutex::default(), is_closed: AtomicBool::new(false) })
    }

    /// Returns the connection for the event loop of this thread.
    pub(crate) fn lane(&self, py: Python<'_>, inbox: &Inbox) -> PyResult<Lane> {
        let timeout = self.settings.timeout;
        // Within a handler, the thread has entered the runtime of its server and cannot run another one. A closed
        // client makes no further connection, and its calls fail.
        let is_closed = self.is_closed.load(Ordering::Relaxed);
        if is_closed || self.settings.tls.is_some() || Handle::try_current().is_ok() {
            return Ok(Lane { channel: self.shared.clone(), site: Site::Thread(drive::background()?), timeout });
        }
        let loop_runtime = inbox.loop_runtime(py)?;
        loop_runtime.catch_up(py)?;
        let mut by_loop = self.by_loop.lock();
        let existing = by_loop.iter().find(|(of, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&loop_runtime)));
        let channel = match existing {
            Some((_, channel)) => channel.clone(),
            None => {
                let channel = self.settings.channel_in(&loop_runtime)?;
                by_loop.retain(|(of, _)| of.strong_count() > 0);
                by_loop.push((Arc::downgrade(&loop_runtime), channel.clone()));
                channel
            }
        };
        Ok(Lane { channel, site: Site::Loop(loop_runtime), timeout })
    }

    /// Prevents further calls. Connections close when the calls in flight have ended. Those driven by event loops of
    /// other threads close when these loops run their runtimes again.
    pub(crate) fn close(&self) -> Vec<Arc<LoopRuntime>> {
        self.is_closed.store(true, Ordering::Relaxed);
        self.shared.close();
        let mut loops = Vec::new();
        for (loop_runtime, channel) in &*self.by_loop.lock() {
            channel.close();
            if let Some(loop_runtime) = loop_runtime.upgrade() {
                // Wake the loop, because the connection closes only when the loop drives its runtime.
                loop_runtime.sender.ring();
                loops.push(loop_runtime);
            }
        }
        loops
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.close();
    }
}

/// Executor of the tasks of a call.
#[derive(Clone)]
pub(crate) enum Site {
    /// An event loop, which runs the tasks whenever it drives its runtime.
    Loop(Arc<LoopRuntime>),
    /// A runtime with its own threads, such as the background thread of the process.
    Thread(Handle),
}

impl Site {
    /// Spawns a task whose result the loop of `inbox` waits for. [`begin`](Self::begin) must be called afterwards.
    /// The task ends when the loop is closed.
    pub(crate) fn spawn(&self, inbox: &Inbox, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        match self {
            Self::Loop(loop_runtime) => loop_runtime.spawn(work),
            Self::Thread(runtime) => runtime.spawn(inbox.sender().until_closed(work)).abort_handle(),
        }
    }

    /// Starts the work that was spawned with [`spawn`](Self::spawn).
    pub(crate) fn begin(&self, py: Python<'_>) -> PyResult<()> {
        match self {
            Self::Loop(loop_runtime) => loop_runtime.begin(py),
            Self::Thread(_) => Ok(()),
        }
    }

    /// Runs work in the background, which no event loop waits for.
    pub(crate) fn run(&self, work: impl Future<Output = ()> + Send + 'static) {
        match self {
            Self::Loop(loop_runtime) => {
                loop_runtime.handle.spawn(work);
                loop_runtime.sender.ring();
            }
            Self::Thread(runtime) => {
                runtime.spawn(work);
            }
        }
    }

    /// Ensures that a deadline is noticed in time. Deadlines of a second or more need no timer, because the runtime is
    /// run periodically.
    pub(crate) fn expect(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        match (self, timeout) {
            // Run the runtime a millisecond late, so that the deadline has passed when it checks its timers.
            (Self::Loop(loop_runtime), Some(timeout)) if timeout < 1.0 => loop_runtime.run_after(py, timeout + 0.001),
            _ => Ok(()),
        }
    }

    /// Wakes the event loop after a task has been cancelled.
    pub(crate) fn ring(&self) {
        if let Self::Loop(loop_runtime) = self {
            loop_runtime.sender.ring();
        }
    }
}
