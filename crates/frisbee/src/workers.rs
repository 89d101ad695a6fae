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
#[cfg(all(feature = "uring", target_os = "linux"))]
use crate::runtime::uring::Rings;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::thread;

pub(crate) use executor::{Worker, WorkerWatch};

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
    /// How many threads they are, unless they are the caller's.
    fn count(self) -> Option<usize> {
        match self {
            Self::PerCore => Some(thread::available_parallelism().map_or(1, usize::from)),
            Self::Threads(count) => Some(count.max(1)),
            Self::Caller => None,
        }
    }
}

/// Running workers. Dropping the last reference ends their threads and the connections on them.
#[derive(Debug)]
pub(crate) enum WorkerPool {
    /// The caller's runtime drives.
    Caller,
    Threads(Arc<[Worker]>),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Rings(Arc<Rings>),
}

impl WorkerPool {
    /// Workers, started by `threads` if they are threads, or rings if `io_backend` and the environment say so. `rings` are
    /// the threads of rings, if the sockets may be theirs.
    pub(crate) fn start(
        workers: Workers,
        threads: Option<StartThreads>,
        io_backend: IoBackend,
        rings: Option<Workers>,
    ) -> io::Result<Self> {
        // On the caller's runtime handles and driver share threads; on a ring each call would cross them twice.
        if let Some(rings) = rings
            && let Some(rings) = io_backend.start(workers != Workers::Caller, || Self::start_rings(rings))?
        {
            return Ok(rings);
        }
        workers.count().zip(threads).map_or(Ok(Self::Caller), |(count, start)| start(count).map(Self::Threads))
    }

    #[cfg(all(feature = "uring", target_os = "linux"))]
    fn start_rings(workers: Workers) -> io::Result<Self> {
        let rings = match workers {
            Workers::PerCore => Rings::start(None).map(Arc::new),
            Workers::Threads(count) => Rings::start(Some(count)).map(Arc::new),
            Workers::Caller => Rings::shared(),
        };
        rings.map(Self::Rings)
    }

    #[cfg(not(all(feature = "uring", target_os = "linux")))]
    fn start_rings(_workers: Workers) -> io::Result<Self> {
        let reason = "io_uring needs Linux and the feature `uring`, which this build lacks";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    /// Its threads, without those of rings.
    fn threads(&self) -> &[Worker] {
        if let Self::Threads(workers) = self { workers } else { &[] }
    }

    /// Lets its threads be looked at, except those of rings.
    pub(crate) fn watch(&self) -> Vec<WorkerWatch> {
        self.threads().iter().map(Worker::watch).collect()
    }

    /// The first of its threads, which accepts the connections of a server.
    pub(crate) fn first(&self) -> Option<&Worker> {
        self.threads().first()
    }

    /// The thread of the next connection: the one that has the fewest.
    pub(crate) fn least(&self) -> Option<&Worker> {
        self.threads().iter().min_by_key(|worker| worker.load())
    }
}

/// Starts so many workers, or finds them.
pub(crate) type StartThreads = fn(usize) -> io::Result<Arc<[Worker]>>;

/// Those of a server.
pub(crate) fn start_threads(count: usize) -> io::Result<Arc<[Worker]>> {
    (0..count).map(Worker::start).collect()
}

/// Those that all clients share which want so many.
pub(crate) fn shared_threads(count: usize) -> io::Result<Arc<[Worker]>> {
    static SHARED: Mutex<Vec<Arc<[Worker]>>> = Mutex::new(Vec::new());
    let mut shared = SHARED.lock();
    if let Some(workers) = shared.iter().find(|workers| workers.len() == count) {
        return Ok(workers.clone());
    }
    let workers = start_threads(count)?;
    shared.push(workers.clone());
    Ok(workers)
}
