//! The driver on io_uring. It is the tokio driver with the sockets and timers of a thread that owns a ring.

use super::busy::BusyPoll;
use super::engine::Engine;
use super::tokio::Driver;
use super::tokio::closed_connection::Tasks;
use crate::clock::{Timer, now};
use crate::executor::tasks::{Home, Job};
use crate::executor::workers::watchdog::{self, Blocked, PollId, ThreadClock, WatchedThread};
use crate::transport::Transport;
use crate::{RawTransport, Router};
use bytes::Bytes;
use frisbee_uring::{Socket, Spawner, Worker};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Moves a socket from its io_uring thread to its new owner. Does not wait for the peer, because the driver has already
/// flushed the socket.
async fn release(socket: Socket, early: Bytes, runtime: Handle) -> io::Result<RawTransport> {
    let (socket, received) = socket.release().await?;
    socket.set_nonblocking(true)?;
    let _entered = runtime.enter();
    let socket = tokio::net::TcpStream::from_std(socket)?;
    // The bytes that the driver has received precede those that the io_uring thread still held.
    let early = if received.is_empty() { early } else { [early, received.into()].concat().into() };
    Ok(RawTransport::with_early(Transport::Tcp(socket), early))
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

/// State of an io_uring thread for the watchdog. Handlers that block the thread are moved to tasks. Unlike on workers,
/// the thread's other connections cannot move to another thread.
#[derive(Debug, Default)]
struct RingWatch {
    /// Counter that is incremented at the start and at the end of each poll, and thus odd during a poll.
    poll: AtomicU64,
    /// Number of the connection that is being polled.
    polled: AtomicU64,
    culprits: Mutex<HashMap<u64, Arc<dyn Blocked>>>,
    clock: OnceLock<ThreadClock>,
}

impl RingWatch {
    /// Calls `poll` to poll a task of connection `number`.
    fn poll<T>(&self, number: u64, poll: impl FnOnce() -> T) -> T {
        // Store the number before counting the start, because the watchdog would otherwise report another connection.
        self.polled.store(number, Ordering::Relaxed);
        // `is_asleep` requires a sequentially consistent operation before it. Otherwise, the watchdog could miss this
        // poll and fall asleep.
        self.poll.fetch_add(1, Ordering::SeqCst);
        if watchdog::is_asleep() {
            watchdog::wake_watchdog();
        }
        // The guard counts the end of the poll even if the poll panics.
        let _polled = PollGuard(&self.poll);
        poll()
    }

    /// Registers a connection with the watchdog until the returned guard is dropped.
    fn enter(self: &Arc<Self>, culprit: Arc<dyn Blocked>) -> WatchedConnection {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        self.clock.get_or_init(ThreadClock::of_this_thread);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.culprits.lock().insert(number, culprit);
        WatchedConnection { watch: self.clone(), number }
    }
}

impl WatchedThread for RingWatch {
    fn current_poll(&self) -> (PollId, bool) {
        let poll = self.poll.load(Ordering::SeqCst);
        (PollId(poll), poll % 2 == 1)
    }

    fn culprit(&self, poll: PollId) -> Option<Arc<dyn Blocked>> {
        let culprit = self.culprits.lock().get(&self.polled.load(Ordering::Relaxed)).cloned();
        // Compare the poll after the lookup. If it is still running, `polled` belonged to it during the lookup.
        culprit.filter(|_| self.current_poll() == (poll, true))
    }

    fn waited(&self) -> Duration {
        self.clock.get().map(ThreadClock::waited).unwrap_or_default()
    }

    fn hand_over(self: Arc<Self>, _poll: PollId) -> io::Result<()> {
        // Report success without moving anything, because connections of a ring are bound to its thread. The watchdog
        // then only reports the blocked thread.
        Ok(())
    }
}

/// Guard that deregisters a connection from the watchdog.
struct WatchedConnection {
    watch: Arc<RingWatch>,
    number: u64,
}

impl Drop for WatchedConnection {
    fn drop(&mut self) {
        // Drop the connection after releasing the lock, because this may be its last handle.
        let culprit = self.watch.culprits.lock().remove(&self.number);
        drop(culprit);
    }
}

/// Reference from a connection to the io_uring thread that drives it.
#[derive(Debug)]
pub(crate) struct RingHome {
    ring: Spawner,
    watch: Arc<RingWatch>,
    /// Number of the connection in `watch`.
    number: u64,
}

impl Home for RingHome {
    /// Runs a job of the connection on its io_uring thread. Drops the job if the thread has ended.
    fn spawn(&self, mut job: Job) {
        let (watch, number) = (self.watch.clone(), self.number);
        self.ring.spawn(move || poll_fn(move |context| watch.poll(number, || job.as_mut().poll(context))));
    }
}

/// Guard that records the end of a poll when dropped.
struct PollGuard<'a>(&'a AtomicU64);

impl Drop for PollGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

/// Threads that each have one io_uring instance. Connections are assigned to them round-robin.
#[derive(Debug)]
pub(crate) struct Rings {
    workers: Vec<(Worker, Arc<RingWatch>)>,
    next: AtomicUsize,
}

impl Rings {
    /// Starts `count` io_uring threads, at least one. `None` starts one thread per core.
    pub(crate) fn start(count: Option<usize>) -> io::Result<Self> {
        frisbee_uring::probe().map_err(io::Error::other)?;
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let count = count.unwrap_or_else(cores).max(1);
        let start = |number| {
            let worker = Worker::start(format!("frisbee-uring-{number}"))?;
            let watch = Arc::new(RingWatch::default());
            let watched: Arc<dyn WatchedThread> = watch.clone();
            watchdog::register(Arc::downgrade(&watched));
            Ok::<_, io::Error>((worker, watch))
        };
        let workers = (0..count).map(start);
        Ok(Self { workers: workers.collect::<io::Result<_>>()?, next: AtomicUsize::new(0) })
    }

    /// Returns the io_uring threads shared by all servers and clients of the process without their own threads.
    pub(crate) fn shared() -> io::Result<Arc<Self>> {
        static SHARED: OnceLock<Result<Arc<Rings>, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::start(None).map(Arc::new).map_err(|error| error.to_string()));
        shared.clone().map_err(io::Error::other)
    }

    /// Returns the thread for the next connection, round-robin among the threads with working rings. If all rings have
    /// failed, the connection will end immediately.
    fn next_worker(&self) -> &(Worker, Arc<RingWatch>) {
        let (before, from) = self.workers.split_at(self.next.fetch_add(1, Ordering::Relaxed) % self.workers.len());
        from.iter().chain(before).find(|(worker, _)| !worker.has_ended()).unwrap_or(&from[0])
    }

    /// Drives a connection until it has ended, in the context of `runtime`. Keeps `entry` until then.
    pub(crate) fn drive<R: Router>(
        &self,
        socket: TcpStream,
        engine: impl FnOnce(Instant) -> Engine<R> + Send + 'static,
        runtime: Handle,
        busy_poll: Duration,
        entry: impl Send + 'static,
    ) {
        let (worker, watch) = self.next_worker();
        let (watch, ring) = (watch.clone(), worker.spawner());
        worker.spawn(move || async move {
            let _entry = entry;
            let (watching, mut driving) = {
                let _entered = runtime.enter();
                let mut engine = engine(now());
                let charge = RefCell::new(engine.charge(0));
                let started = Socket::new(socket, move |bytes| charge.borrow_mut().resize(bytes));
                let (socket, timer) = match (started, frisbee_uring::Timer::new(Instant::now())) {
                    (Ok(socket), Some(timer)) => (socket, timer),
                    (Err(error), _) => {
                        tracing::warn!(target: "frisbee::worker", %error, "a connection could not be passed to its ring");
                        return engine.end(&error.into());
                    }
                    (_, None) => return tracing::error!(target: "frisbee::worker", "a ring worker has no timers"),
                };
                let watching = watch.enter(engine.culprit());
                if let Some(ring) = ring {
                    engine.set_home(RingHome { ring, watch, number: watching.number });
                }
                (watching, Box::pin(Driver::new(socket, engine, None, timer, BusyPoll::new(busy_poll)).run()))
            };
            let ended = poll_fn(|context| {
                let _entered = runtime.enter();
                watching.watch.poll(watching.number, || driving.as_mut().poll(context))
            });
            ended.await.hand_over(Tasks::OfRing, release).await;
        });
    }
}

// Rings of the crate tokio-uring cannot be stopped.
#[cfg(all(test, not(feature = "tokio-uring")))]
mod tests {
    use super::*;

    /// Regression test: connections were assigned to a ring that had failed, and ended immediately.
    #[test]
    fn connections_go_to_rings_that_run() {
        let Ok(rings) = Rings::start(Some(2)) else { return eprintln!("SKIPPED: there are no rings here") };
        let (ended, _) = &rings.workers[0];
        ended.stop();
        while !ended.has_ended() {
            thread::yield_now();
        }
        assert!((0..4).all(|_| !rings.next_worker().0.has_ended()));
    }
}
