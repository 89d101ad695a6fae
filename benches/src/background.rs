//! Servers on separate threads, for benchmarks within one process.

use crate::BoxError;
use crate::rivals::{Rival, Setup};
use std::net::{SocketAddr, TcpStream as StdStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;

/// Creates a runtime for a separate thread. Like the workers of frpc's servers, it polls 32 sockets at a time and
/// processes their events before it polls again.
///
/// # Errors
/// If the system lacks resources.
pub fn one_core() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_io_events_per_tick(32).event_interval(1024).build()
}

/// Accepts connections on a free loopback port, and distributes them round-robin to one single-threaded runtime per
/// core, which runs `serve`.
///
/// # Errors
/// If the system lacks resources.
pub async fn on_each_core<F>(
    bound: Bound,
    serve: impl Fn(UnboundedReceiver<StdStream>) -> F + Clone + Send + 'static,
) -> Result<(), BoxError>
where
    F: Future<Output = Result<(), BoxError>>,
{
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut workers = Vec::new();
    for _ in 0..std::thread::available_parallelism()?.get() {
        let (worker, connections) = unbounded_channel();
        workers.push(worker);
        let (runtime, serve) = (one_core()?, serve.clone());
        std::thread::spawn(move || {
            if let Err(error) = runtime.block_on(async move { serve(connections).await }) {
                eprintln!("a worker has ended: {error}");
            }
        });
    }
    bound.at(listener.local_addr()?);
    for worker in workers.iter().cycle() {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        worker.send(socket.into_std()?)?;
    }
    Ok(())
}

/// A server with its own thread and runtime, stopped on drop.
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

    /// Starts a server: `serve` reports its address and runs until the `Background` is dropped.
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
            let runtime = Builder::new_multi_thread().enable_all().build().expect("runtime should start");
            let errors = bound.clone();
            runtime.block_on(async move {
                tokio::select! {
                    served = serve(Bound(bound)) => drop(errors.send(served.and(Err("the server ended".into())))),
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        })?;
        let address = address.recv()??;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the address of the server.
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

/// The channel that a server reports its address on once it listens.
#[derive(Debug)]
pub struct Bound(mpsc::Sender<Result<SocketAddr, BoxError>>);

impl Bound {
    /// Sends the address.
    pub fn at(self, address: SocketAddr) {
        let _ = self.0.send(Ok(address));
    }

    /// Creates the sender of an address, and its receiver.
    pub fn channel() -> (Self, mpsc::Receiver<Result<SocketAddr, BoxError>>) {
        let (bound, address) = mpsc::channel();
        (Self(bound), address)
    }
}
