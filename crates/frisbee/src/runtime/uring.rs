//! The driver on io_uring: the same one, on the sockets and the clock of a thread that owns a ring.

use super::busy::BusyPoll;
use super::engine::Engine;
use super::timer::{Timer, now};
use super::tokio::{Driver, Tasks};
use crate::{RawTransport, Router};
use bytes::Bytes;
use frisbee_uring::{Socket, Worker};
use std::future::poll_fn;
use std::io;
use std::net::TcpStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Takes a socket off its ring, for its next owner. The driver has flushed it, so that nothing here waits for the peer.
async fn release(socket: Socket, early: Bytes, runtime: Handle) -> io::Result<RawTransport> {
    let (socket, received) = socket.release().await?;
    socket.set_nonblocking(true)?;
    let _entered = runtime.enter();
    let socket = tokio::net::TcpStream::from_std(socket)?;
    // The bytes that the driver has taken came before those that the ring still held.
    RawTransport::new(socket, if received.is_empty() { early } else { [early, received.into()].concat().into() })
}

impl Timer for frisbee_uring::Timer {
    fn deadline(&self) -> Instant {
        Self::deadline(self)
    }

    fn reset(&mut self, deadline: Instant) {
        Self::reset(self, deadline);
    }

    fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.poll(context)
    }
}

/// Threads with a ring each, among which connections are handed round.
#[derive(Debug)]
pub(crate) struct Rings {
    workers: Vec<Worker>,
    next: AtomicUsize,
}

impl Rings {
    /// Starts so many threads, at least one; by default as many as there are cores.
    pub(crate) fn start(count: Option<usize>) -> io::Result<Self> {
        frisbee_uring::probe().map_err(io::Error::other)?;
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let count = count.unwrap_or_else(cores).max(1);
        let workers = (0..count).map(|number| Worker::start(format!("frisbee-uring-{number}")));
        Ok(Self { workers: workers.collect::<io::Result<_>>()?, next: AtomicUsize::new(0) })
    }

    /// The threads of the whole process, for connections that bring none of their own.
    pub(crate) fn shared() -> io::Result<&'static Self> {
        static SHARED: OnceLock<Result<Rings, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::start(None).map_err(|error| error.to_string()));
        shared.as_ref().map_err(|error| io::Error::other(error.clone()))
    }

    /// Drives a connection to its end, within the context of `runtime`. `entry` is dropped then.
    pub(crate) fn drive<R: Router>(
        &self,
        socket: TcpStream,
        engine: impl FnOnce(Instant) -> Engine<R> + Send + 'static,
        runtime: Handle,
        busy_poll: Duration,
        entry: impl Send + 'static,
    ) {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.workers.len();
        self.workers[next].spawn(move || async move {
            let _entry = entry;
            let started = (Socket::new(socket), frisbee_uring::Timer::new(Instant::now()));
            let mut driving = {
                let _entered = runtime.enter();
                let mut engine = engine(now());
                let (socket, timer) = match started {
                    (Ok(socket), Some(timer)) => (socket, timer),
                    (Err(error), _) => {
                        tracing::warn!(%error, "a connection could not be passed to its ring");
                        return engine.end(&error.into());
                    }
                    (_, None) => return tracing::error!("a ring worker has no timers"),
                };
                Box::pin(Driver::new(socket, engine, None, timer, BusyPoll::new(busy_poll)).run())
            };
            let ended = poll_fn(|context| {
                let _entered = runtime.enter();
                driving.as_mut().poll(context)
            });
            ended.await.hand_over(Tasks::OfRing, release).await;
        });
    }
}
