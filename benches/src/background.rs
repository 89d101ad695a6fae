//! Servers in threads of their own, for benchmarks within one process.

use crate::BoxError;
use crate::rivals::{Rival, Setup};
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// A runtime for a thread of its own. It looks after 32 sockets at one time, as the workers of our servers do, and
/// deals with what they bring before it looks again.
///
/// # Errors
/// If the system refuses what it takes.
pub fn one_core() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_io_events_per_tick(32).event_interval(1024).build()
}

/// A server with a thread and a runtime of its own, stopped when dropped.
#[derive(Debug)]
pub struct Background {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a rival's echo server.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn rival<R: Rival>(setup: Setup) -> Result<Self, BoxError> {
        Self::start(move |bound| R::serve(setup, bound))
    }

    /// Starts a server: `serve` passes on the address when it listens, and serves until it is dropped.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start<F>(serve: impl FnOnce(Bound) -> F + Send + 'static) -> Result<Self, BoxError>
    where
        F: Future<Output = Result<(), BoxError>>,
    {
        let (stop, stopped) = oneshot::channel::<()>();
        let (bound, address) = mpsc::channel();
        let thread = std::thread::Builder::new().name("server".into()).spawn(move || {
            let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
            let failed = bound.clone();
            runtime.block_on(async move {
                tokio::select! {
                    served = serve(Bound(bound)) => drop(failed.send(served.and(Err("the server ended".into())))),
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        })?;
        let address = address.recv()??;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where a server tells its address once it listens.
#[derive(Debug)]
pub struct Bound(mpsc::Sender<Result<SocketAddr, BoxError>>);

impl Bound {
    /// Tells the address.
    pub fn at(self, address: SocketAddr) {
        let _ = self.0.send(Ok(address));
    }

    /// Something to tell an address to, and where it arrives.
    pub fn channel() -> (Self, mpsc::Receiver<Result<SocketAddr, BoxError>>) {
        let (bound, address) = mpsc::channel();
        (Self(bound), address)
    }
}
