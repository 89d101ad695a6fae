//! The threads that drive connections.
//!
//! # Decisions
//!
//! Connections are driven by the runtime of the caller, at both ends: handlers and callers share its threads, and a program
//! has no others. Beside a client on the same kind of runtime this takes less processor time than a thread for each core (16
//! connections, ten calls in flight: 2.04 in place of 2.09 us, one call: 17.4 in place of 20.4), and two cores that both ends
//! share have two threads less to schedule (p99 of one call: 0.43 in place of 1.8 ms). Threads of their own are the choice
//! where both ends have them (1.7 to 1.98 us) and for many cores. Futures that handlers spawn or await belong to the runtime
//! that called `serve` or `connect`. A worker polls 32 sockets at a time instead of tokio's 1024: data of many sockets leaves
//! the cache before it is processed. Connections with more work at the end of a turn continue four at a time between two polls
//! of the sockets, so that a thousand flooding clients delay the others by four turns.

pub(crate) mod executor;
mod task;
#[cfg(test)]
mod tests;
pub(crate) mod wake_queue;
pub(crate) mod watchdog;

use crate::IoBackend;
use crate::inspect::WorkerWatch;
#[cfg(all(feature = "uring", target_os = "linux"))]
use crate::runtime::uring::Rings;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

pub(crate) use executor::Worker;

/// The threads that drive connections.
///
/// Each server has separate threads. Clients, which have one connection each, share theirs: all of a process that are
/// given the same number of threads, which then live as long as the process.
///
/// ```
/// use frisbee::{Client, Server, Workers};
///
/// // Half of a machine with eight cores, since other programs run there as well.
/// let server = Server::builder().workers(Workers::Threads(4));
/// // Threads of their own instead of the caller's runtime, for a thousand busy connections.
/// let client = Client::builder().workers(Workers::PerCore);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Workers {
    /// One thread for each core, each with a runtime of its own. The first accepts, and a connection goes to the one
    /// that has the fewest. For servers of busy clients, whose connections then share nothing. If a handler blocks a
    /// thread or computes for long, another thread takes its place; threads of io_uring have none.
    PerCore,
    /// So many such threads, at least one.
    Threads(usize),
    /// The runtime of the server's start or the client's connection. The default. If io_uring is required, it is
    /// threads that the whole process shares, since a ring belongs to one thread.
    #[default]
    Caller,
}

impl Workers {
    /// Whether rings cost less than sockets. On the caller's runtime, handles and driver share threads; on a ring each call would
    /// cross them twice.
    fn benefits_from_rings(self) -> bool {
        self != Self::Caller
    }

    /// How many threads they are, unless they are the caller's.
    fn count(self) -> Option<usize> {
        match self {
            Self::PerCore => Some(thread::available_parallelism().map_or(1, usize::from)),
            Self::Threads(count) => Some(count.max(1)),
            Self::Caller => None,
        }
    }
}

/// Running workers. Dropping them ends their threads and the connections on them.
#[derive(Debug)]
pub(crate) enum WorkerPool {
    /// The caller's runtime drives.
    Caller,
    Threads(Threads),
    /// The workers of clients.
    SharedThreads(&'static Threads),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Rings(Rings),
    /// The rings of the process drive.
    #[cfg(all(feature = "uring", target_os = "linux"))]
    SharedRings(&'static Rings),
}

/// The worker of one connection.
pub(crate) enum WorkerAssignment<'a> {
    Caller,
    Worker(&'a Worker),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Ring(&'a Rings),
}

impl<'a> WorkerAssignment<'a> {
    /// The worker, if its sockets are tokio's.
    pub(crate) fn worker(self) -> Option<&'a Worker> {
        if let Self::Worker(worker) = self { Some(worker) } else { None }
    }
}

#[derive(Debug)]
pub(crate) struct Threads {
    workers: Vec<Worker>,
    next: AtomicUsize,
}

impl WorkerPool {
    /// Workers of a server, with rings if the sockets are of the kind, and `runtime` and the environment say so.
    pub(crate) fn start(workers: Workers, io_backend: IoBackend, takes_rings: bool) -> io::Result<Self> {
        if takes_rings
            && let Some(rings) = io_backend.start(workers.benefits_from_rings(), || Self::start_rings(workers))?
        {
            return Ok(rings);
        }
        workers.count().map_or(Ok(Self::Caller), |count| Threads::start(count).map(Self::Threads))
    }

    /// Workers of a client, which are its caller's runtime or shared by all clients.
    pub(crate) fn of_client(workers: Workers, io_backend: IoBackend, takes_rings: bool) -> io::Result<Self> {
        if takes_rings
            && let Some(rings) =
                io_backend.start(workers.benefits_from_rings(), || Self::start_rings(Workers::Caller))?
        {
            return Ok(rings);
        }
        workers.count().map_or(Ok(Self::Caller), |count| Threads::shared(count).map(Self::SharedThreads))
    }

    #[cfg(all(feature = "uring", target_os = "linux"))]
    fn start_rings(workers: Workers) -> io::Result<Self> {
        match workers {
            Workers::PerCore => Rings::start(None).map(Self::Rings),
            Workers::Threads(count) => Rings::start(Some(count)).map(Self::Rings),
            Workers::Caller => Rings::shared().map(Self::SharedRings),
        }
    }

    #[cfg(not(all(feature = "uring", target_os = "linux")))]
    fn start_rings(_workers: Workers) -> io::Result<Self> {
        Err(no_rings())
    }

    /// Lets its threads be looked at, except those of rings.
    pub(crate) fn watch(&self) -> Vec<WorkerWatch> {
        match self {
            Self::Threads(threads) => threads.workers.iter().map(Worker::watch).collect(),
            Self::SharedThreads(threads) => threads.workers.iter().map(Worker::watch).collect(),
            _ => Vec::new(),
        }
    }

    /// The first of a server's workers, which accepts.
    pub(crate) fn first(&self) -> Option<&Worker> {
        if let Self::Threads(threads) = self { threads.workers.first() } else { None }
    }

    /// The worker of a server's next connection: of tokio's the one that has the fewest.
    pub(crate) fn least(&self) -> WorkerAssignment<'_> {
        match self {
            Self::Threads(threads) => threads
                .workers
                .iter()
                .min_by_key(|worker| worker.load())
                .map_or(WorkerAssignment::Caller, WorkerAssignment::Worker),
            _ => self.next(),
        }
    }

    /// The worker of the next connection, each in turn.
    pub(crate) fn next(&self) -> WorkerAssignment<'_> {
        match self {
            Self::Caller => WorkerAssignment::Caller,
            Self::Threads(threads) => WorkerAssignment::Worker(threads.next()),
            Self::SharedThreads(threads) => WorkerAssignment::Worker(threads.next()),
            #[cfg(all(feature = "uring", target_os = "linux"))]
            Self::Rings(rings) => WorkerAssignment::Ring(rings),
            #[cfg(all(feature = "uring", target_os = "linux"))]
            Self::SharedRings(rings) => WorkerAssignment::Ring(rings),
        }
    }
}

impl Threads {
    fn start(count: usize) -> io::Result<Self> {
        let workers = (0..count).map(Worker::start).collect::<io::Result<_>>()?;
        Ok(Self { workers, next: AtomicUsize::new(0) })
    }

    /// Those that all clients share which want so many.
    fn shared(count: usize) -> io::Result<&'static Self> {
        static SHARED: Mutex<Vec<(usize, &'static Threads)>> = Mutex::new(Vec::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, threads)) = shared.iter().find(|(other, _)| *other == count) {
            return Ok(threads);
        }
        let threads: &'static Self = Box::leak(Box::new(Self::start(count)?));
        shared.push((count, threads));
        Ok(threads)
    }

    /// The worker of the next connection.
    fn next(&self) -> &Worker {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.workers.len();
        &self.workers[next]
    }
}

/// Why there are no rings in this build.
#[cfg(not(all(feature = "uring", target_os = "linux")))]
fn no_rings() -> io::Error {
    let reason = "io_uring needs Linux and the feature `uring`, which this build lacks";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}
